//! Knows how it is said that the effect of one factor depends on the level of another.

use super::effect::{level, metric_name, short_effect};
use super::figures::{alone_mark, direction};
use super::names::{key_words, level_name};
use super::say::{sentence, word};
use super::{Part, Writer, repeat};
use crate::claim::{Kind, of_interaction};
use crate::figure::{Axis, Figure, Reference, Scale, Series};
use crate::report::document::{Node, Prose, Table, unbroken};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::Better;
use desk::unit::Unit;
use desk::verdict::Interaction;

/// More interactions than this would make a figure of too many rows; the table has them.
const DRAWN: usize = 3;

/// The section on all of them; nothing where the plan crosses no factors.
pub(super) fn section(writer: &mut Writer, part: &Part<'_>) -> Result<Option<Node>, ReportError> {
    let all = &part.analysis.interactions;
    let Some(first) = all.first() else { return Ok(None) };
    let mut body = Vec::new();
    if all.len() <= DRAWN {
        let figure = figure(writer, part, (first, all))?;
        let said = writer.shows(&figure, "interaction-shows", Args::new())?;
        body.extend([Node::Figure(figure), Node::Paragraph(said)]);
    }
    let said = all.iter().map(|one| sentence(writer, &of_interaction(part.run, one)));
    let said = said.collect::<Result<Vec<_>, _>>()?;
    match said.as_slice() {
        [only] => body.push(Node::Paragraph(only.clone())),
        _ => body.push(Node::List(said)),
    }
    body.push(Node::Table(table(writer, part, all)?));
    let id = format!("interaction-{}", part.run.id);
    Ok(Some(Node::section(id, writer.label("interaction-title")?, body)))
}

/// The levels by the names that every text gives them.
fn names(part: &Part<'_>, one: &Interaction) -> Args {
    named(part, one, &level_name(&part.run.plan, &one.factor, &one.base))
}

/// The same for a row, where the key of both levels is said once: `mtu 9000 B : 1500 B`.
fn short_names(part: &Part<'_>, one: &Interaction) -> Args {
    let [base, other] = [&one.base, &one.other].map(|l| level_name(&part.run.plan, &one.factor, l));
    let key = |name: &str, level: &str| name.strip_suffix(&unbroken(level)).map(str::to_owned);
    let shared = key(&base, &one.base) == key(&other, &one.other);
    named(part, one, &if shared { unbroken(&one.base) } else { base })
}

fn named(part: &Part<'_>, one: &Interaction, base: &str) -> Args {
    let plan = &part.run.plan;
    Args::new()
        .name("base", base)
        .name("other", &level_name(plan, &one.factor, &one.other))
        .name("first_under", &level_name(plan, &one.by, &one.by_base))
        .name("second_under", &level_name(plan, &one.by, &one.by_other))
}

/// Under what it holds besides its two factors.
fn condition(part: &Part<'_>, one: &Interaction) -> Prose {
    Prose::verbatim(&of_interaction(part.run, one).subjects.short_condition())
}

fn kind(part: &Part<'_>, one: &Interaction) -> Kind {
    of_interaction(part.run, one).kind
}

/// What n of an interaction counts.
fn counted(part: &Part<'_>, one: &Interaction) -> &'static str {
    repeat(part.run.plan.replicate_of(&[&one.factor, &one.by]))
}

fn figure(
    writer: &mut Writer,
    part: &Part<'_>,
    (first, all): (&Interaction, &[Interaction]),
) -> Result<Figure, ReportError> {
    let mut series = Vec::new();
    for one in all {
        let condition = condition(part, one);
        for (key, ratio) in [
            ("interaction-row-first", &one.first),
            ("interaction-row-second", &one.second),
            ("interaction-row-difference", &one.difference),
        ] {
            let name = writer.say(key, short_names(part, one))?;
            let name = match all {
                [_] => name,
                _ => Prose::join_with(&[name, condition.clone()], ", "),
            };
            series.push(Series { name: name.text().into(), marks: vec![alone_mark(ratio)] });
        }
    }
    let args = names(part, first).name("by", &key_words(&first.by));
    let title = match all.len() {
        1 => writer.pick("interaction-finding-*", &kind(part, first).coarse(), args)?,
        _ => writer.say("interaction-finding-several", args)?,
    };
    let metric = metric_name(writer, part.run, &first.metric)?;
    let args = Args::new().prose("metric", &metric).quantity("level", level(&first.difference));
    let known = part.run.metrics.iter().find(|m| m.name == first.metric);
    let axis = Axis {
        label: writer.label("axis-ratio")?.text().into(),
        unit: Unit::Ratio,
        scale: Scale::Linear,
        direction: direction(writer, known.map_or(Better::Higher, |m| m.better))?,
        names: Vec::new(),
    };
    let number = writer.next_figure();
    let footnote = Args::new().repeat(counted(part, first));
    let footnote = footnote.count("blocks", first.difference.n).name("run", &part.run.id);
    Ok(Figure {
        title: title.text().into(),
        subtitle: writer.say("interaction-subtitle", args)?.text().into(),
        references: vec![Reference {
            value: 1.0,
            name: writer.label("reference-equal")?.text().into(),
        }],
        footnote: writer.say("figure-footnote", footnote)?.text().into(),
        ..Figure::dots((&part.run.id, number), axis, series)
    })
}

fn table(writer: &mut Writer, part: &Part<'_>, all: &[Interaction]) -> Result<Table, ReportError> {
    let columns = writer.columns(&[
        ("interaction-effect-of", false),
        ("interaction-under-levels", false),
        ("interaction-first", false),
        ("interaction-second", false),
        ("interaction-difference", false),
        ("table-verdict", false),
    ])?;
    let mut rows = Vec::new();
    for one in all {
        let name = writer.say("interaction-pair", short_names(part, one))?;
        let under = writer.say("interaction-under-pair", names(part, one))?;
        rows.push(vec![
            Prose::join_with(&[name, condition(part, one)], ", "),
            under,
            short_effect(writer, &one.first)?,
            short_effect(writer, &one.second)?,
            short_effect(writer, &one.difference)?,
            match kind(part, one) {
                Kind::Better => writer.label("interaction-larger")?,
                Kind::Worse => writer.label("interaction-smaller")?,
                Kind::LooksBetter | Kind::LooksWorse => word(writer, Kind::Undecided)?,
                other => word(writer, other)?,
            },
        ]);
    }
    let caption = writer.label("interaction-caption")?;
    writer.table(&caption, columns, rows)
}
