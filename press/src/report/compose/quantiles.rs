//! Knows how it is said how bad a bad trial is.

use super::effect::metric_title;
use super::names::{level_name, pair};
use super::ruling::{condition, shown};
use super::{Nodes, Part, Said, Writer, repeat};
use crate::report::document::{Column, Node, Prose, Table};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::unit::{Quantity, Unit};
use desk::verdict::{Comparison, TrialQuantile, TrialQuantiles};

/// A table a comparison whose levels have trials enough for the middle one, of a curve its two
/// ends; where none has, how many it would take.
pub(super) fn nodes(writer: &mut Writer, part: &Part<'_>) -> Nodes {
    let all = &part.analysis.quantiles;
    let Some(first) = all.first() else { return Ok(Vec::new()) };
    let mut nodes = Vec::new();
    for comparison in &part.analysis.comparisons {
        let ends = [comparison.points.first(), comparison.points.last()];
        let at_end = |row: &&TrialQuantiles| ends.iter().flatten().any(|p| p.at == row.at);
        let of = all.iter().filter(|row| row.comparison == comparison.id);
        let rows: Vec<&TrialQuantiles> = of.filter(at_end).collect();
        if rows.iter().any(|row| row.median.value.is_some()) {
            nodes.push(Node::Table(table(writer, part, (comparison, &rows))?));
        }
    }
    if nodes.is_empty() {
        let args =
            Args::new().count("median", first.median.needs).count("worst", first.worst.needs);
        nodes.push(Node::Paragraph(writer.say("quantiles-none", args)?));
    }
    Ok(nodes)
}

fn table(
    writer: &mut Writer,
    part: &Part<'_>,
    (comparison, rows): (&Comparison, &[&TrialQuantiles]),
) -> Result<Table, ReportError> {
    let run = part.run;
    let counted = || Args::new().repeat(repeat(run.plan.replicate_of(&[&comparison.factor])));
    let titles = [
        ("appendix-point", false),
        ("limits-level", false),
        ("quantiles-middle", true),
        ("quantiles-worst", true),
        ("table-blocks", true),
    ];
    let mut columns = Vec::new();
    for (key, numeric) in titles {
        columns.push(Column { title: writer.say(key, counted())?, numeric });
    }
    let mut told = Vec::new();
    for row in rows {
        told.push(vec![
            match &row.at {
                Some(at) => Prose::verbatim(&shown(at)),
                None => writer.label("appendix-whole")?,
            },
            Prose::verbatim(&level_name(&run.plan, &comparison.factor, &row.level)),
            cell(writer, &row.median)?,
            cell(writer, &row.worst)?,
            Prose::count(row.trials as usize),
        ]);
    }
    let pair = writer.say("pair-full", pair(run, comparison))?;
    let name = Prose::join_with(&[condition(run, comparison), pair], ", ");
    let args = counted().prose("name", &name).name("metric", metric_title(run, comparison));
    let caption = writer.say("quantiles-caption", args)?;
    let level = Quantity::new(1.0 - run.plan.method.alpha(), Unit::Share);
    let notes = vec![writer.say("quantiles-note", counted().quantity("level", level))?];
    Ok(Table { folded: true, notes, ..writer.table(&caption, columns, told)? })
}

/// `941 Mbit/s (930–948 Mbit/s)`, or how many trials it would take.
fn cell(writer: &Writer, quantile: &TrialQuantile) -> Said {
    match &quantile.value {
        Some(found) => {
            let args = Args::new().estimate("centre", found).ends("range", found.low, found.high);
            writer.say("quantiles-value", args)
        }
        None => writer.say("quantiles-needs", Args::new().count("trials", quantile.needs)),
    }
}
