//! Knows the table of what meters and adapters of the machine counted: energy, pause frames and
//! losses; what counters tell of lost frames; and the foreign programs that took most CPU.
//!
//! Must not know what follows from a count: that is a doubt or a limit.

use super::{Nodes, Part, Writer};
use crate::report::document::{Node, Prose, Table};
use crate::report::error::ReportError;
use desk::record::{Reading, TrialKind};
use desk::stats::median;
use desk::unit::{Quantity, Unit};
use std::collections::BTreeMap;

/// Foreign programs that are told, those that took most.
const PROGRAMS: usize = 3;
/// The last word of the probe and the first of the key of a program that is not ours.
const PROGRAM: (&str, &str) = ("foreign", "cpu.");
/// How the key of a count begins that tells what a host has lost by a named cause.
const DROPPED: &str = "dropped ";

/// The table, if anything of it was read in the valid visits of a part.
pub(super) fn nodes(writer: &mut Writer, part: &Part<'_>) -> Nodes {
    let valid = part
        .run
        .records
        .iter()
        .filter(|r| r.trial.kind == TrialKind::Counted && r.outcome.fault.is_none());
    let mut all: BTreeMap<String, (Unit, Vec<f64>)> = BTreeMap::new();
    let mut programs: BTreeMap<String, (Unit, Vec<f64>)> = BTreeMap::new();
    for reading in valid.flat_map(|record| &record.readings) {
        let is_program = reading.probe == PROGRAM.0 && reading.key.starts_with(PROGRAM.1);
        let table = match is_program {
            true => &mut programs,
            false if is_told(reading) => &mut all,
            false => continue,
        };
        let host = if reading.key.starts_with(DROPPED) { reading.host.name() } else { "" };
        let words = [reading.probe.as_str(), host, reading.key.as_str()];
        let name = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        let row = table.entry(name).or_insert((reading.quantity.unit, Vec::new()));
        row.1.push(reading.quantity.value);
    }
    // A loss that never was needs no row; that no pause frame was is told.
    all.retain(|name, (_, values)| name.contains("_pause.") || values.iter().any(|v| *v > 0.0));
    let mut most: Vec<_> = programs.into_iter().collect();
    let sum = |values: &[f64]| values.iter().sum::<f64>();
    most.sort_by(|(_, (_, a)), (_, (_, b))| sum(b).total_cmp(&sum(a)));
    most.truncate(PROGRAMS);
    all.extend(most);
    if all.is_empty() {
        return Ok(Vec::new());
    }
    Ok(vec![Node::Table(table(writer, all)?)])
}

/// Meters of power, counts of adapters, and what any host has lost.
fn is_told(reading: &Reading) -> bool {
    match reading.probe.as_str() {
        "power" => true,
        "nic" => reading.quantity.unit == Unit::Count,
        _ => reading.key.starts_with(DROPPED),
    }
}

fn table(
    writer: &mut Writer,
    all: BTreeMap<String, (Unit, Vec<f64>)>,
) -> Result<Table, ReportError> {
    let columns = writer.columns(&[
        ("counted-what", false),
        ("counted-visits", true),
        ("counted-median", true),
        ("counted-most", true),
    ])?;
    let row = |(name, (unit, values)): (String, (Unit, Vec<f64>))| {
        let most = values.iter().copied().max_by(f64::total_cmp)?;
        let figures = [median(&values)?, most].map(|value| Quantity::new(value, unit));
        let [median, most] = figures.map(Prose::quantity);
        Some(vec![Prose::verbatim(&name), Prose::count(values.len()), median, most])
    };
    let rows = all.into_iter().filter_map(row).collect();
    let caption = writer.label("counted-caption")?;
    let notes = vec![writer.label("counted-note")?];
    Ok(Table { folded: true, notes, ..writer.table(&caption, columns, rows)? })
}
