//! Knows how price, mass, noise and temperature of the levels are shown beside their gain.

use super::effect::short_effect;
use super::measured::value;
use super::names::level_name;
use super::{Nodes, Part, Said, Writer};
use crate::report::document::{Node, Prose, Table};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::stats::Estimate;
use desk::unit::{Quantity, Unit};
use desk::verdict::LevelTraits;

/// A row a level; nothing where nothing is known of any.
pub(super) fn section(writer: &mut Writer, part: &Part<'_>) -> Nodes {
    let all = &part.analysis.traits;
    if all.is_empty() {
        return Ok(Vec::new());
    }
    let columns = writer.columns(&[
        ("limits-level", false),
        ("traits-work", true),
        ("price-entered", true),
        ("traits-mass", true),
        ("traits-noise", true),
        ("traits-temperature", true),
    ])?;
    let mut rows = Vec::new();
    for one in all {
        rows.push(row(writer, part, one)?);
    }
    let caption = writer.label("traits-caption")?;
    let confidence = Quantity::new(1.0 - part.run.plan.method.alpha(), Unit::Share);
    let notes = vec![writer.say("traits-note", Args::new().quantity("level", confidence))?];
    let table = Table { notes, ..writer.table(&caption, columns, rows)? };
    let id = format!("cost-traits-{}", part.run.id);
    let title = writer.label("traits-title")?;
    Ok(vec![Node::section(id, title, vec![Node::Table(table)])])
}

fn row(writer: &Writer, part: &Part<'_>, one: &LevelTraits) -> Result<Vec<Prose>, ReportError> {
    let entered = |figure: Option<Quantity>| match figure {
        Some(figure) => Ok(Prose::quantity(figure)),
        None => writer.label("not-entered"),
    };
    Ok(vec![
        Prose::verbatim(&level_name(&part.run.plan, &one.factor, &one.level)),
        gain(writer, part, one)?,
        entered(one.price)?,
        entered(one.mass)?,
        entered(one.noise)?,
        match &one.temperature {
            Some(degrees) => value(writer, degrees)?,
            None => ambient(writer, part, one)?,
        },
    ])
}

/// The level over the baseline: of one comparison, or of all as one index.
fn gain(writer: &Writer, part: &Part<'_>, one: &LevelTraits) -> Said {
    let analysis = part.analysis;
    let of = || analysis.comparisons.iter().filter(|c| c.factor == one.factor);
    if of().any(|c| c.base == one.level) {
        return writer.label("ranks-baseline");
    }
    let alone: Vec<&Estimate> = of().filter(|c| c.other == one.level).map(|c| &c.overall).collect();
    let whole = analysis.indexes.iter().find(|i| i.factor == one.factor && i.other == one.level);
    match (alone.as_slice(), whole) {
        ([only], _) => short_effect(writer, only),
        (_, Some(index)) => short_effect(writer, &index.ratio),
        _ => Ok(Prose::none()),
    }
}

/// What a person entered of the air around, of the level or of the whole test bed.
fn ambient(writer: &Writer, part: &Part<'_>, one: &LevelTraits) -> Said {
    let plan = &part.run.plan;
    let of_bed = || plan.facts.iter().find(|fact| fact.of.is_none() && fact.what == "ambient");
    let own = plan.taken(&one.factor, &one.level, "ambient");
    match own.or_else(|| of_bed()?.value.quantity()) {
        Some(degrees) => writer.say("traits-ambient", Args::new().quantity("degrees", degrees)),
        None => writer.label("not-measured"),
    }
}
