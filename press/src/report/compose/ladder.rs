//! Knows how it is said which part of a path held a load down, where parts went out one at a time.
//!
//! Never: what a step is taken for; that is in the ladder it was given.

use super::effect::{level, metric_name, plain_effect, short_effect};
use super::limits::named;
use super::names::setting;
use super::ruling::{count, shown};
use super::{Nodes, Part, Said, Writer, doubts};
use crate::claim::level_name;
use crate::figure::{Axis, Figure, Scale, Series};
use crate::report::document::{Node, Prose, Ruling, Table, Tone};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::Better;
use desk::stats::Estimate;
use desk::unit::Unit;
use desk::verdict::{Change, Ladder, LimitKind, Rung, Step};

/// How many doubts the box repeats.
const BOX_DOUBTS: usize = 3;

/// The answer that stands first in the article of such a run; nothing for other runs.
pub(super) fn answer(writer: &Writer, parts: &[Part<'_>]) -> Result<Option<Node>, ReportError> {
    let [part] = parts else { return Ok(None) };
    let all = &part.analysis.ladders;
    if all.is_empty() {
        return Ok(None);
    }
    let (mut said, mut rulings) = (Vec::new(), Vec::new());
    for one in all {
        let sentence = headline(writer, part, one)?;
        said.push(match condition(part, one) {
            bare if bare.text().is_empty() => sentence,
            condition => {
                let args = Args::new().prose("condition", &condition);
                writer.say("rung-under", args.prose("sentence", &sentence))?
            }
        });
        for rung in &one.rungs {
            rulings.extend(ruling(writer, part, (one, rung))?);
        }
        for step in [Step::Same, Step::Open] {
            rulings.extend(together(writer, part, (one, step))?);
        }
    }
    let limits = doubts::heaviest_in_short(writer, parts, BOX_DOUBTS)?;
    let caution = match limits.is_empty() {
        true => Prose::default(),
        false => writer.label("box-not-decided")?,
    };
    let headline = Prose::join(&said);
    Ok(Some(Node::VerdictBox { tone: Tone::Plain, headline, rulings, caution, limits }))
}

/// Figure and table of every ladder; nothing for other runs.
pub(super) fn nodes(writer: &mut Writer, parts: &[Part<'_>]) -> Nodes {
    let [part] = parts else { return Ok(Vec::new()) };
    if part.analysis.ladders.is_empty() {
        return Ok(Vec::new());
    }
    let mut body = Vec::new();
    for one in &part.analysis.ladders {
        let figure = figure(writer, part, one)?;
        let args = Args::new().prose("metric", &metric_name(writer, part.run, &one.metric)?);
        body.push(Node::Paragraph(writer.shows(&figure, "rung-shows", args)?));
        body.push(Node::Figure(figure));
        body.push(Node::Table(table(writer, part, one)?));
    }
    Ok(vec![writer.section("ladder", "rung-section", body)?])
}

/// Load, parameters and other factors, where there are several ladders.
fn condition(part: &Part<'_>, one: &Ladder) -> Prose {
    let load = (part.run.plan.loads.len() > 1).then(|| Prose::verbatim(&one.load));
    let fixed = one.fixed.iter().map(|(key, value)| setting(key, &shown(value)));
    let stratum = one
        .stratum
        .iter()
        .map(|(factor, level)| Prose::verbatim(&level_name(&part.run.plan, factor, level)));
    let many = part.analysis.ladders.len() > 1;
    let all: Vec<Prose> = load.into_iter().chain(fixed).chain(stratum).filter(|_| many).collect();
    Prose::join_with(&all, ", ")
}

/// What went out: `sink disk`; several where a step changed several.
fn part_out(rung: &Rung) -> Prose {
    let of = |change: &Change| setting(&change.key, &shown(&change.from));
    Prose::join_with(&rung.changes.iter().map(of).collect::<Vec<_>>(), " + ")
}

/// What stands in its place: `sink memory`.
fn instead(rung: &Rung) -> Prose {
    let of = |change: &Change| setting(&change.key, &shown(&change.to));
    Prose::join_with(&rung.changes.iter().map(of).collect::<Vec<_>>(), " + ")
}

/// `sink disk to memory`, for each setting.
fn changes(writer: &Writer, rung: &Rung) -> Said {
    let mut said = Vec::new();
    for change in &rung.changes {
        let setting = setting(&change.key, &shown(&change.from));
        let args = Args::new().prose("setting", &setting).name("to", &shown(&change.to));
        said.push(writer.say("rung-change", args)?);
    }
    Ok(Prose::join_with(&said, ", "))
}

/// Of two words the one for a metric that is better when it is higher, or lower.
fn word(one: &Ladder, [higher, lower]: [&'static str; 2]) -> &'static str {
    match one.better {
        Better::Higher => higher,
        Better::Lower => lower,
    }
}

/// The parts that held the load down, and the limit that is left.
fn headline(writer: &Writer, part: &Part<'_>, one: &Ladder) -> Said {
    let metric = metric_name(writer, part.run, &one.metric)?;
    let args = || Args::new().prose("metric", &metric);
    let gains: Vec<(&Rung, &Estimate)> =
        one.of(Step::Gain).filter_map(|rung| Some((rung, rung.ratio.as_ref()?))).collect();
    let told = |(rung, effect): (&Rung, Prose)| {
        let args = Args::new().prose("part", &part_out(rung)).prose("instead", &instead(rung));
        args.prose("effect", &effect)
    };
    let first = match gains.as_slice() {
        [] => {
            let all = |step| one.of(step).count() + 1 == one.rungs.len();
            let key = match (all(Step::Same), one.of(Step::Open).next().is_some()) {
                (true, _) => ["rung-same-headline", "rung-same-headline-lower"],
                (false, true) => ["rung-open-headline", "rung-open-headline-lower"],
                (false, false) => ["rung-none-headline", "rung-none-headline-lower"],
            };
            writer.say(word(one, key), args())?
        }
        [(rung, ratio)] => {
            let said = told((rung, short_effect(writer, ratio)?));
            let key = word(one, ["rung-one-headline", "rung-one-headline-lower"]);
            writer.say(key, said.prose("metric", &metric))?
        }
        several => {
            let mut said = Vec::new();
            for (rung, ratio) in several {
                let effect = plain_effect(writer, ratio)?;
                said.push(writer.say("rung-item", told((rung, effect)))?);
            }
            let args = args().prose("parts", &Prose::join_with(&said, ", "));
            let key = ["rung-several-headline", "rung-several-headline-lower"];
            writer.say(word(one, key), args)?
        }
    };
    Ok(Prose::join(&[first, remaining(writer, one)?]))
}

/// What limits the last rung.
fn remaining(writer: &Writer, one: &Ladder) -> Said {
    let last = one.rungs.last().and_then(|rung| rung.limit.as_ref());
    match last.map(|limit| limit.named().collect::<Vec<_>>()).as_deref() {
        None => Ok(Prose::default()),
        Some([LimitKind::NoneSeen]) => writer.label("rung-limit-none"),
        Some(kinds) => writer.say("rung-limit", Args::new().prose("limit", &named(writer, kinds)?)),
    }
}

/// A line a step that did something; the others share lines, see [`together`].
fn ruling(
    writer: &Writer,
    part: &Part<'_>,
    (one, rung): (&Ladder, &Rung),
) -> Result<Option<Ruling>, ReportError> {
    let several = rung.changes.len() > 1;
    let (tone, key) = match rung.step {
        Step::First | Step::Same | Step::Open => return Ok(None),
        Step::Gain if several => (Tone::Good, ["rung-gain-one-of", "rung-gain-one-of-lower"]),
        Step::Gain => (Tone::Good, ["rung-gain", "rung-gain-lower"]),
        Step::Loss => (Tone::Bad, ["rung-loss"; 2]),
    };
    let Some(ratio) = &rung.ratio else { return Ok(None) };
    let args = Args::new()
        .prose("changes", &changes(writer, rung)?.capitalised())
        .prose("metric", &metric_name(writer, part.run, &one.metric)?)
        .prose("effect", &short_effect(writer, ratio)?);
    let mut sentence = writer.say(word(one, key), args)?;
    if several && rung.step == Step::Loss {
        let args = Args::new().count("count", count(rung.changes.len()));
        sentence = Prose::join(&[sentence, writer.say("rung-confounded", args)?]);
    }
    let label = [Prose::verbatim(&rung.level), condition(part, one)];
    Ok(Some(Ruling { tone, label: Prose::join_with(&label, ", "), sentence }))
}

/// The parts whose steps came out one way, in a line; nothing where there are none.
fn together(
    writer: &Writer,
    part: &Part<'_>,
    (one, step): (&Ladder, Step),
) -> Result<Option<Ruling>, ReportError> {
    let (tone, label, key) = match step {
        Step::Same => (Tone::Even, "rung-ruled-out", "rung-ruled-out-said"),
        _ => (Tone::Open, "rung-open", "rung-open-said"),
    };
    let out: Vec<Prose> = one.of(step).map(part_out).collect();
    if out.is_empty() {
        return Ok(None);
    }
    let args = Args::new()
        .prose("metric", &metric_name(writer, part.run, &one.metric)?)
        .quantity("margin", one.margin)
        .prose("parts", &Prose::join_with(&out, ", "));
    let label = [writer.label(label)?, condition(part, one)];
    let sentence = writer.say(key, args)?;
    Ok(Some(Ruling { tone, label: Prose::join_with(&label, ", "), sentence }))
}

fn figure(writer: &mut Writer, part: &Part<'_>, one: &Ladder) -> Result<Figure, ReportError> {
    let metric = metric_name(writer, part.run, &one.metric)?;
    let series = one.rungs.iter().map(|rung| Series {
        name: rung.level.clone(),
        marks: vec![super::figures::alone_mark(&rung.figure)],
    });
    let label = writer.say("rung-axis", Args::new().prose("metric", &metric))?.capitalised();
    let first = one.rungs.first().map(|rung| &rung.figure);
    let axis = Axis {
        label: label.text().into(),
        unit: first.map_or(Unit::Ratio, |figure| figure.centre.unit),
        scale: Scale::Linear,
        direction: String::new(),
        names: Vec::new(),
    };
    let said = match first {
        Some(figure) => Args::new().quantity("level", level(figure)),
        None => Args::new().name("level", ""),
    };
    let subtitle = [writer.say("rung-subtitle", said)?, condition(part, one)];
    let blocks = one.rungs.iter().map(|rung| rung.figure.n).max().unwrap_or(0);
    let footnote = Args::new().count("blocks", blocks).name("run", &part.run.id);
    let footnote = writer.say("figure-footnote", footnote)?;
    let title = headline(writer, part, one)?;
    let number = writer.next_figure();
    Ok(Figure {
        title: title.text().into(),
        subtitle: Prose::join_with(&subtitle, ", ").text().into(),
        footnote: footnote.text().into(),
        ..Figure::dots((&part.run.id, number), axis, series.collect())
    })
}

/// The name of a level and what it changes.
fn step_name(writer: &Writer, rung: &Rung) -> Said {
    let level = Prose::verbatim(&rung.level);
    if rung.changes.is_empty() {
        return Ok(level);
    }
    let args = Args::new().prose("level", &level).prose("changes", &changes(writer, rung)?);
    writer.say("rung-named", args)
}

fn table(writer: &mut Writer, part: &Part<'_>, one: &Ladder) -> Result<Table, ReportError> {
    let metric = metric_name(writer, part.run, &one.metric)?.capitalised();
    let mut columns = writer.columns(&[
        ("rung-rung", false),
        ("rung-step", true),
        ("rung-line", true),
        ("rung-server", true),
        ("rung-clients", true),
        ("rung-next", false),
    ])?;
    columns.insert(1, crate::report::document::Column { title: metric, numeric: true });
    let told =
        |estimate: &Option<Estimate>| estimate.as_ref().map_or_else(Prose::none, Prose::estimate);
    let mut rows = Vec::new();
    for rung in &one.rungs {
        let limit = match &rung.limit {
            Some(limit) => named(writer, &limit.named().collect::<Vec<_>>())?,
            None => Prose::none(),
        };
        let step = match &rung.ratio {
            Some(ratio) => short_effect(writer, ratio)?,
            None => Prose::none(),
        };
        rows.push(vec![
            step_name(writer, rung)?,
            Prose::estimate(&rung.figure),
            step,
            told(&rung.line),
            told(&rung.server),
            told(&rung.clients),
            limit,
        ]);
    }
    let caption = Prose::join_with(&[writer.label("rung-caption")?, condition(part, one)], ", ");
    let mut table = writer.table(&caption, columns, rows)?;
    table.notes.push(writer.label("rung-note")?);
    Ok(table)
}
