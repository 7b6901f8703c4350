//! Knows how derived facts are said: a row a fact, and below them how each kind is made.

use super::super::names::{key_words, setting};
use super::super::ruling::{count, shown};
use super::super::{Nodes, Part, Said, Writer};
use crate::report::document::{Node, Prose, Table};
use crate::report::words::Args;
use desk::verdict::{DerivedFact, DerivedKind, KNEE, PLATEAU};
use std::collections::BTreeSet;

/// The table; nothing where nothing follows.
pub(super) fn nodes(writer: &mut Writer, part: &Part<'_>) -> Nodes {
    let all = &part.analysis.derived;
    if all.is_empty() {
        return Ok(Vec::new());
    }
    let columns =
        writer.headed(&["derived-fact", "derived-under", "derived-value", "derived-beside"])?;
    let mut rows = Vec::new();
    for fact in all {
        rows.push(vec![
            kind(writer, fact)?,
            under(part, fact),
            value(writer, fact)?,
            beside(writer, fact)?,
        ]);
    }
    let kinds: BTreeSet<DerivedKind> = all.iter().map(|fact| fact.kind).collect();
    let mut notes = Vec::new();
    for kind in kinds {
        let args = Args::new().quantity("share", KNEE);
        notes.push(writer.say(definition(kind), args.quantity("within", PLATEAU))?);
    }
    if !part.run.plan.factors.is_empty() {
        notes.push(writer.label("derived-baseline")?);
    }
    let caption = writer.label("derived-caption")?;
    Ok(vec![Node::Table(Table { notes, ..writer.table(&caption, columns, rows)? })])
}

fn kind(writer: &Writer, fact: &DerivedFact) -> Said {
    let key = match fact.kind {
        DerivedKind::Clocks => "derived-clocks",
        DerivedKind::CacheSize => match fact.cache {
            Some(level) => {
                return writer.say("derived-cache-level", Args::new().count("level", level));
            }
            None => "derived-cache",
        },
        DerivedKind::PrefetchEnds => "derived-prefetch",
        DerivedKind::Saturation => "derived-saturation",
        DerivedKind::BytesPerClock => "derived-bytes-clock",
        DerivedKind::BytesPerCipherByte => "derived-bytes-cipher",
        DerivedKind::Scaling => "derived-scaling",
        DerivedKind::PerCopy => "derived-per-copy",
    };
    writer.label(key)
}

const fn definition(kind: DerivedKind) -> &'static str {
    match kind {
        DerivedKind::Clocks => "definition-clocks",
        DerivedKind::CacheSize => "definition-cache",
        DerivedKind::PrefetchEnds => "definition-prefetch",
        DerivedKind::Saturation => "definition-saturation",
        DerivedKind::BytesPerClock => "definition-bytes-clock",
        DerivedKind::BytesPerCipherByte => "definition-bytes-cipher",
        DerivedKind::Scaling => "definition-scaling",
        DerivedKind::PerCopy => "definition-per-copy",
    }
}

/// The load, and what of its sweeps holds for all cells of the fact.
fn under(part: &Part<'_>, fact: &DerivedFact) -> Prose {
    let load = part.run.plan.load(&fact.load);
    let swept = load.into_iter().flat_map(|load| &load.over).map(|(name, _)| name);
    let told = swept.filter_map(|name| Some(setting(name, &fact.params.get(name)?.to_string())));
    let name = Prose::verbatim(&key_words(&fact.load));
    let all: Vec<Prose> = std::iter::once(name).chain(told).collect();
    Prose::join_with(&all, ", ")
}

fn value(writer: &Writer, fact: &DerivedFact) -> Said {
    let place = |value: &Option<desk::record::Value>| value.as_ref().map(shown).unwrap_or_default();
    let args = Args::new().name("at", &place(&fact.at)).name("until", &place(&fact.until));
    match (fact.kind, &fact.figure) {
        (DerivedKind::CacheSize, _) => writer.say("derived-between", args),
        (DerivedKind::PrefetchEnds, _) if fact.at.is_none() => {
            writer.say("derived-not-until", args)
        }
        (DerivedKind::PrefetchEnds, _) => writer.say("derived-at", args),
        (DerivedKind::Saturation, _) if fact.at.is_none() => writer.say("derived-rising", args),
        (DerivedKind::Saturation, _) => writer.say("derived-threads", args),
        (_, Some(figure)) => Ok(Prose::estimate(figure)),
        (_, None) => Ok(Prose::none()),
    }
}

fn beside(writer: &Writer, fact: &DerivedFact) -> Said {
    let args = Args::new();
    match (fact.kind, &fact.figure, &fact.beside) {
        (DerivedKind::CacheSize, ..) => told(writer, fact),
        (DerivedKind::Clocks, _, Some(clock)) => {
            writer.say("derived-clock", args.estimate("clock", clock))
        }
        (DerivedKind::PrefetchEnds, Some(here), Some(random)) => {
            writer.say("derived-latencies", args.estimate("here", here).estimate("most", random))
        }
        (DerivedKind::PrefetchEnds, None, Some(random)) => {
            writer.say("derived-latency", args.estimate("most", random))
        }
        (DerivedKind::Saturation, Some(figure), _) => Ok(Prose::estimate(figure)),
        (DerivedKind::Scaling | DerivedKind::PerCopy, ..) => {
            let threads = fact.at.as_ref().and_then(desk::record::Value::count).unwrap_or(0);
            let threads = count(usize::try_from(threads).unwrap_or(usize::MAX));
            writer.say("derived-of-threads", args.count("threads", threads))
        }
        _ => Ok(Prose::none()),
    }
}

/// What the machine tells of a cache, and whether it fits.
fn told(writer: &Writer, fact: &DerivedFact) -> Said {
    let mut said = Vec::new();
    for (by, size) in &fact.told {
        let args = Args::new().name("by", by).quantity("size", *size);
        said.push(writer.say("derived-told", args)?);
    }
    if said.is_empty() {
        return writer.label("derived-untold");
    }
    let all = Prose::join_with(&said, ", ");
    let key = if fact.agrees == Some(true) { "derived-fits" } else { "derived-disagrees" };
    writer.say(key, Args::new().prose("told", &all))
}
