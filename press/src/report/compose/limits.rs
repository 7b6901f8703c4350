//! Knows how the limits are shown: what was full, and which rivals were not.

use super::names::{key_words, level_name};
use super::ruling::condition;
use super::{Part, Said, Writer};
use crate::report::document::{Node, Prose};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::verdict::{Comparison, Limit, LimitKind, LimitPlace, Rival};
use std::collections::BTreeSet;

/// The name of a limit.
pub fn kind_word(writer: &Writer, kind: LimitKind) -> Said {
    writer.pick("limit-*", &kind, Args::new())
}

/// The name of a limit and of what it ties with.
pub(super) fn named(writer: &Writer, kinds: &[LimitKind]) -> Said {
    if let [kind] = kinds {
        return kind_word(writer, *kind);
    }
    let mut all = Vec::new();
    for kind in kinds {
        all.push(kind_word(writer, *kind)?);
    }
    let args = Args::new().prose("limits", &Prose::join_with(&all, " + "));
    writer.say("limit-tied", args)
}

/// Where a limit is: `htb at c01`; nothing where that was not read.
fn place_word(
    writer: &Writer,
    kind: LimitKind,
    place: Option<&LimitPlace>,
) -> Result<Option<Prose>, ReportError> {
    let Some(LimitPlace { at, what, most }) = place else { return Ok(None) };
    let args = Args::new().name("at", at).name("what", what);
    let key = match kind {
        LimitKind::SetRate | LimitKind::Shaper | LimitKind::QueueDrops => "limit-at-end",
        LimitKind::OtherPrograms => "limit-at-cpus",
        LimitKind::OneCpu => "limit-at-cpu",
        LimitKind::ReceiveWindow | LimitKind::SendBuffer => "limit-at-buffer",
        _ => return Ok(None),
    };
    let args = match (kind, most) {
        (_, Some(most)) => args.quantity("most", *most),
        (LimitKind::OneCpu | LimitKind::ReceiveWindow | LimitKind::SendBuffer, None) => {
            return Ok(None);
        }
        _ => args,
    };
    writer.say(key, args).map(Some)
}

/// The name of a limit and of what it ties with, each with its place.
fn named_with_places(writer: &Writer, limit: &Limit) -> Said {
    let first = std::iter::once((limit.kind, limit.place.as_ref()));
    let mut all = Vec::new();
    for (kind, place) in first.chain(limit.ties.iter().map(|tie| (tie.kind, tie.place.as_ref()))) {
        let name = kind_word(writer, kind)?;
        all.push(match place_word(writer, kind, place)? {
            Some(place) => {
                let args = Args::new().prose("limit", &name).prose("place", &place);
                writer.say("limit-placed", args)?
            }
            None => name,
        });
    }
    if let [only] = all.as_slice() {
        return Ok(only.clone());
    }
    let args = Args::new().prose("limits", &Prose::join_with(&all, " + "));
    writer.say("limit-tied", args)
}

/// The kinds that a limit names.
pub(super) fn kinds_of(limit: &Limit) -> Vec<LimitKind> {
    limit.named().collect()
}

fn places_of(limit: &Limit) -> Vec<Option<&LimitPlace>> {
    std::iter::once(limit.place.as_ref())
        .chain(limit.ties.iter().map(|tie| tie.place.as_ref()))
        .collect()
}

fn of<'a>(part: &Part<'a>, comparison: &Comparison) -> Vec<&'a Limit> {
    part.analysis.limits.iter().filter(|l| l.comparison == comparison.id).collect()
}

/// `jumbo – all CPUs busy, 98 %; standard – ...`; nothing if no limit was looked for.
fn causes(
    writer: &Writer,
    part: &Part<'_>,
    comparison: &Comparison,
) -> Result<Option<Prose>, ReportError> {
    let limits = of(part, comparison);
    if let [first, second] = limits.as_slice()
        && kinds_of(first) == kinds_of(second)
        && first.kind != LimitKind::NoneSeen
        && places_of(first) == places_of(second)
    {
        let args = Args::new()
            .prose("limit", &named_with_places(writer, first)?)
            .estimate("first", &first.evidence);
        let shown = |limit: &Limit| limit.evidence.centre.to_string();
        return match shown(first) == shown(second) {
            true => writer.say("cause-both-alike", args),
            false => writer.say("cause-both", args.estimate("second", &second.evidence)),
        }
        .map(Some);
    }
    let mut said = Vec::new();
    for limit in limits {
        let level = level_name(&part.run.plan, &comparison.factor, &limit.level);
        let args = Args::new()
            .name("level", &level)
            .prose("limit", &named_with_places(writer, limit)?)
            .estimate("evidence", &limit.evidence);
        let unseen = limit.kind == LimitKind::NoneSeen;
        said.push(writer.say(if unseen { "cause-one-unseen" } else { "cause-one" }, args)?);
    }
    Ok((!said.is_empty()).then(|| Prose::join_with(&said, "; ")))
}

/// The causes as a sentence.
pub(super) fn cause(
    writer: &Writer,
    part: &Part<'_>,
    comparison: &Comparison,
) -> Result<Option<Prose>, ReportError> {
    let Some(causes) = causes(writer, part, comparison)? else { return Ok(None) };
    writer.say("cause", Args::new().prose("causes", &causes)).map(Some)
}

/// The chapter: a row a level, then what each kind of limit means.
pub(super) fn chapter(writer: &mut Writer, parts: &[Part<'_>]) -> Result<Node, ReportError> {
    let mut rows = Vec::new();
    let mut kinds = BTreeSet::new();
    for part in parts {
        for comparison in &part.analysis.comparisons {
            let name = comparison_name(part, comparison, parts.len() > 1);
            for limit in of(part, comparison) {
                kinds.extend(limit.named());
                let level = level_name(&part.run.plan, &comparison.factor, &limit.level);
                rows.push(row(writer, [&name, &Prose::verbatim(&level)], limit)?);
            }
        }
    }
    if rows.is_empty() {
        let none = Node::Paragraph(writer.label("limits-none")?);
        return writer.section("limits", "limits-title", vec![none]);
    }
    let columns = writer.columns(&[
        ("table-comparison", false),
        ("limits-level", false),
        ("limits-kind", false),
        ("limits-evidence", true),
        ("limits-rivals", false),
    ])?;
    let caption = writer.label("limits-caption")?;
    let mut meanings = Vec::new();
    for kind in kinds {
        meanings.push(writer.pick("explain-*", &kind, Args::new())?);
    }
    let body = vec![
        Node::Paragraph(writer.label("limits-intro")?),
        Node::List(meanings),
        Node::Table(writer.table(&caption, columns, rows)?).fold(),
    ];
    writer.section("limits", "limits-title", body)
}

fn comparison_name(part: &Part<'_>, comparison: &Comparison, named: bool) -> Prose {
    let title = if named { Prose::verbatim(&part.run.plan.title) } else { Prose::default() };
    let name = Prose::join_with(&[title, condition(part.run, comparison)], ", ");
    if name.text().is_empty() { Prose::verbatim(&key_words(&comparison.factor)) } else { name }
}

fn row(writer: &Writer, names: [&Prose; 2], limit: &Limit) -> Result<Vec<Prose>, ReportError> {
    let mut rivals = Vec::new();
    for Rival { kind, utilisation, .. } in &limit.rivals {
        let args = Args::new().prose("limit", &kind_word(writer, *kind)?);
        rivals.push(writer.say("limits-rival", args.estimate("share", utilisation))?);
    }
    if rivals.is_empty() {
        rivals.push(writer.label("limits-no-rivals")?);
    }
    let unseen = limit.kind == LimitKind::NoneSeen;
    let key = if unseen { "limits-evidence-unseen" } else { "limits-evidence-value" };
    let mut shares = Vec::new();
    for share in std::iter::once(&limit.evidence).chain(limit.ties.iter().map(|t| &t.utilisation)) {
        shares.push(writer.say(key, Args::new().estimate("share", share))?);
    }
    Ok(vec![
        names[0].clone(),
        names[1].clone(),
        named_with_places(writer, limit)?,
        Prose::join_with(&shares, " + "),
        Prose::join_with(&rivals, ", "),
    ])
}
