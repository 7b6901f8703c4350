//! Knows how everything that a person entered of the things under test is shown: a table of it.

use super::names::{key_words, level_name};
use super::{Nodes, Part, Said, Writer};
use crate::report::document::{Node, Prose, unbroken};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::{ManualFact, PartPlan, Plan};

/// Everything that was entered, for the test bed; the same of several parts once.
pub(super) fn table(writer: &mut Writer, parts: &[Part<'_>]) -> Nodes {
    let mut rows: Vec<Vec<Prose>> = Vec::new();
    for plan in parts.iter().map(|part| &part.run.plan) {
        let mut told = Vec::new();
        for fact in &plan.facts {
            told.push(row(writer, fact)?);
        }
        for part in &plan.parts {
            told.extend(part_rows(writer, plan, part)?);
        }
        for row in told {
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
    }
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let columns = writer.headed(&[
        "entered-of",
        "entered-what",
        "made-value",
        "appendix-source",
        "entered-date",
    ])?;
    let caption = writer.label("entered-caption")?;
    Ok(vec![Node::Table(writer.table(&caption, columns, rows)?)])
}

fn row(writer: &Writer, fact: &ManualFact) -> Result<Vec<Prose>, ReportError> {
    let mut what = what(writer, &fact.what)?;
    if let Some(state) = fact.state {
        let args = Args::new().prose("what", &what).quantity("state", state);
        what = writer.say("entered-state", args)?;
    }
    Ok(vec![
        match &fact.of {
            Some(level) => Prose::verbatim(level),
            None => writer.label("entered-bed")?,
        },
        what,
        Prose::verbatim(&unbroken(&fact.value.to_string())),
        Prose::verbatim(&fact.source),
        Prose::verbatim(&unbroken(&fact.date)),
    ])
}

/// A row for each figure of a part.
fn part_rows(
    writer: &Writer,
    plan: &Plan,
    part: &PartPlan,
) -> Result<Vec<Vec<Prose>>, ReportError> {
    let levels = part.levels.iter().map(|of| level_name(plan, &of.factor, &of.level));
    let levels = levels.collect::<Vec<_>>().join(", ");
    let mut rows = Vec::new();
    for word in ["price", "power", "mass", "noise"] {
        let Some(figure) = part.figure(word) else { continue };
        let args = Args::new().name("part", &part.name).count("count", part.count);
        rows.push(vec![
            Prose::verbatim(&levels),
            writer.say("entered-part", args.prose("what", &what(writer, word)?))?,
            Prose::quantity(figure),
            Prose::verbatim(&part.source),
            Prose::verbatim(&unbroken(&part.date)),
        ]);
    }
    Ok(rows)
}

/// The kinds that have words of ours; everything else is the person's own word.
fn what(writer: &Writer, what: &str) -> Said {
    match what {
        "price" => writer.label("entered-price"),
        "power" => writer.label("entered-power"),
        "noise" => writer.label("entered-noise"),
        "mass" => writer.label("entered-mass"),
        "ambient" => writer.label("entered-ambient"),
        own => Ok(Prose::verbatim(&key_words(own))),
    }
}
