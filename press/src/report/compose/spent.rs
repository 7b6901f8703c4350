//! Knows how it is shown where the CPU time went, and by which count.

use super::figures::{row_heading, row_name};
use super::names::{key_words, level_name};
use super::ruling::{condition, shown};
use super::{Part, Writer, cost};
use crate::report::document::{Column, Prose, Source, Table};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::stats::Estimate;
use desk::verdict::{Comparison, Cost, CpuParts};

/// What the environment calls the kernel's way of counting.
const ACCOUNTING: &str = "kernel.cpu_accounting";

/// A row a point and level; nothing if no cost has the parts.
pub(super) fn table(
    writer: &mut Writer,
    part: &Part<'_>,
    comparisons: &[&Comparison],
) -> Result<Option<Table>, ReportError> {
    let costs: Vec<(&Comparison, &Cost)> =
        comparisons.iter().filter_map(|c| Some((*c, cost::of(part, c)?))).collect();
    let all = || costs.iter().flat_map(|(_, cost)| &cost.parts);
    if all().next().is_none() {
        return Ok(None);
    }
    let second = all().any(|p| p.second.is_some());
    let relay = all().any(|p| p.relay.is_some());
    let between = all().any(|p| p.between.is_some());
    let shows = |key: &str| match key {
        "spent-second" => second,
        "spent-relay" => relay,
        "spent-between" => between,
        _ => true,
    };
    let first = match comparisons {
        [only] => only.curve.as_deref().map(key_words),
        _ => None,
    };
    let first = match first {
        Some(curve) => Prose::verbatim(&curve),
        None => row_heading(writer, part.run)?,
    };
    let mut columns = vec![
        Column { title: first, numeric: false },
        Column { title: writer.label("limits-level")?, numeric: false },
    ];
    let titles = [
        "spent-machine",
        "spent-server",
        "spent-clients",
        "spent-relay",
        "spent-between",
        "spent-conductor",
        "spent-kernel",
        "spent-foreign",
        "spent-rest",
        "spent-steal",
        "spent-second",
    ];
    for key in titles.into_iter().filter(|key| shows(key)) {
        columns.push(Column { title: writer.label(key)?, numeric: true });
    }
    let mut rows = Vec::new();
    for (comparison, cost) in &costs {
        for parts in &cost.parts {
            let name = match &parts.at {
                Some(at) => Prose::verbatim(&shown(at)),
                None => row_name(writer, part.run, comparison)?,
            };
            let level = level_name(&part.run.plan, &comparison.factor, &parts.level);
            let mut row = vec![name, Prose::verbatim(&level)];
            row.extend(figures(parts, [relay, between, second]));
            rows.push(row);
        }
    }
    let mut caption = writer.label("spent-caption")?;
    if let [only] = comparisons {
        caption = Prose::join_with(&[caption, condition(part.run, only)], "; ");
    }
    let notes = vec![writer.label(if second { "spent-note-second" } else { "spent-note" })?];
    Ok(Some(Table { notes, ..writer.table(&caption, columns, rows)? }))
}

/// The parts of a row, those of the relay, of hosts between links and of control groups where the
/// table has them.
fn figures(parts: &CpuParts, [relay, between, second]: [bool; 3]) -> Vec<Prose> {
    let mut all = vec![
        Some(&parts.machine),
        Some(&parts.server),
        Some(&parts.clients),
        parts.conductor.as_ref(),
        Some(&parts.kernel),
        Some(&parts.foreign),
        Some(&parts.unattributed),
        Some(&parts.steal),
    ];
    for (has, part) in [(between, &parts.between), (relay, &parts.relay)] {
        all.splice(3..3, has.then_some(part.as_ref()));
    }
    let none = || Prose::none();
    let mut row: Vec<Prose> = all.into_iter().map(|e| e.map_or_else(none, cpus)).collect();
    if second {
        row.push(parts.second.as_ref().map_or_else(none, cpus));
    }
    row
}

/// Decimals of a number of CPUs: clocks of the kernel are good to about that over a window.
const DECIMALS: usize = 2;

/// CPUs kept busy, without the unit that a heading names.
pub(super) fn cpus(estimate: &Estimate) -> Prose {
    let source = Source::Estimate(vec![estimate.centre.into()]);
    let said = format!("{:.DECIMALS$}", estimate.centre.value);
    // What is less than half of the last digit has no sign.
    let none = !said.contains(|c: char| c.is_ascii_digit() && c != '0');
    Prose::from_source(if none { said.replace('-', "") } else { said }, source)
}

/// How CPU time was counted, for the chapter on the method; nothing where no cost was made.
pub(super) fn counting(writer: &Writer, parts: &[Part<'_>]) -> Result<Vec<Prose>, ReportError> {
    if parts.iter().all(|part| part.analysis.costs.is_empty()) {
        return Ok(Vec::new());
    }
    let fact = parts.iter().find_map(|part| part.run.environment().fact(ACCOUNTING));
    let kernel = match fact {
        Some(fact) => writer.say("method-accounting", Args::new().name("accounting", fact))?,
        None => writer.label("method-accounting-unknown")?,
    };
    let ours = writer.label("method-counting")?;
    Ok(vec![Prose::join(&[kernel, ours]), writer.label("method-index")?])
}
