//! Knows the tables of cells: a row a load point, the figures of every metric beside each other.

use super::super::effect::{is_alone, level};
use super::super::names::{key_words, level_name};
use super::super::ruling::shown;
use super::super::{Nodes, Part, Said, Writer};
use crate::record::{LoadPlan, Run};
use crate::report::document::{Column, Node, Prose, Table};
use crate::report::error::ReportError;
use crate::report::words::Args;
use crate::stats::Estimate;
use crate::verdict::MachineCell;
use std::collections::BTreeSet;

/// A table a load, folded away where the run compares something: there the comparisons come first.
pub(super) fn nodes(writer: &mut Writer, part: &Part<'_>) -> Nodes {
    let mut nodes = Vec::new();
    for load in part.run.plan.loads.iter().filter(|load| load.alone) {
        let cells: Vec<&MachineCell> =
            part.analysis.cells.iter().filter(|cell| cell.load == load.name).collect();
        if let Some(first) = cells.first().copied() {
            nodes.push(Node::Table(of_load(writer, part.run, (load, first), &cells)?));
        }
    }
    Ok(nodes)
}

fn of_load(
    writer: &mut Writer,
    run: &Run,
    (load, first): (&LoadPlan, &MachineCell),
    cells: &[&MachineCell],
) -> Result<Table, ReportError> {
    let factors = &run.plan.factors;
    let others = others(run, first, cells);
    let mut columns = Vec::new();
    // The first cell of a row is its heading.
    let named = load.over.is_empty() && factors.is_empty();
    if named {
        columns.push(Column { title: writer.label("machine-load")?, numeric: false });
    }
    for (name, _) in &load.over {
        columns.push(Column { title: Prose::verbatim(&key_words(name)), numeric: false });
    }
    for factor in factors {
        columns.push(Column { title: Prose::verbatim(&key_words(&factor.name)), numeric: false });
    }
    let title = run.metric(&load.name, &first.metric);
    let title = title.map_or(first.metric.as_str(), |metric| metric.title.as_str());
    columns.push(Column { title: Prose::verbatim(title), numeric: true });
    let interval = match first.figure().filter(|figure| !is_alone(figure)) {
        Some(figure) => {
            writer.say("machine-interval", Args::new().quantity("level", level(figure)))?
        }
        None => Prose::default(),
    };
    let with_interval = !interval.text().is_empty();
    if with_interval {
        columns.push(Column { title: interval, numeric: true });
    }
    for (_, title) in &others {
        columns.push(Column { title: Prose::verbatim(title), numeric: true });
    }
    let mut rows = Vec::new();
    for cell in cells {
        let mut row: Vec<Prose> = load
            .over
            .iter()
            .map(|(name, _)| {
                cell.params.get(name).map_or_else(dash, |v| Prose::verbatim(&shown(v)))
            })
            .collect();
        if named {
            row.push(Prose::verbatim(&cell.load));
        }
        for factor in factors {
            let level =
                cell.levels.get(&factor.name).map(|l| level_name(&run.plan, &factor.name, l));
            row.push(Prose::verbatim(&level.unwrap_or_default()));
        }
        row.push(cell.figure().map_or_else(dash, Prose::estimate));
        if with_interval {
            row.push(cell.figure().map_or_else(|| Ok(dash()), |figure| range(writer, figure))?);
        }
        row.extend(
            others
                .iter()
                .map(|(name, _)| cell.figures.get(name).map_or_else(dash, Prose::estimate)),
        );
        rows.push(row);
    }
    let caption = writer.say(
        "machine-caption",
        Args::new().name("load", &load.name).name("workload", &load.workload),
    )?;
    let folded = !factors.is_empty();
    Ok(Table { caption: writer.numbered(&caption)?, columns, rows, folded, notes: Vec::new() })
}

/// The metrics besides the deciding one that any cell has, with their titles, in the order in which
/// the run describes them.
fn others(run: &Run, first: &MachineCell, cells: &[&MachineCell]) -> Vec<(String, String)> {
    let known: BTreeSet<&String> = cells.iter().flat_map(|cell| cell.figures.keys()).collect();
    let mut all: Vec<(String, String)> = Vec::new();
    for metric in &run.metrics {
        let wanted = known.contains(&metric.name) && metric.name != first.metric;
        if wanted && all.iter().all(|(name, _)| *name != metric.name) {
            let title = run.metric(&first.load, &metric.name).map_or("", |m| m.title.as_str());
            all.push((metric.name.clone(), title.to_owned()));
        }
    }
    all
}

fn dash() -> Prose {
    Prose::verbatim("–")
}

fn range(writer: &Writer, figure: &Estimate) -> Said {
    match is_alone(figure) {
        true => Ok(dash()),
        false => writer.say("machine-range", Args::new().ends("range", figure.low, figure.high)),
    }
}
