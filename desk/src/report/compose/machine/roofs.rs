//! Knows the figure of ciphers by block size under what memory gives to as many threads.
//!
//! Never: a roof that a point stands above; caches serve that one, or it is of other threads.

use super::super::figures::quantity_of;
use super::super::{Part, Writer};
use super::figures::{cell_mark, footnote, is_baseline, name_without, value_axis};
use crate::figure::{Axis, Figure, FigureKind, Roof, Scale, Series};
use crate::report::document::Prose;
use crate::report::error::ReportError;
use crate::report::words::Args;
use crate::unit::Unit;
use crate::verdict::MachineCell;

/// What a cipher is swept by.
const BLOCK: &str = "block_size";

/// The figure; nothing where the run has not both, ciphers by block size and reading of memory.
pub(super) fn ciphers(writer: &mut Writer, part: &Part<'_>) -> Result<Option<Figure>, ReportError> {
    let cells: Vec<&MachineCell> =
        part.analysis.cells.iter().filter(|cell| is_baseline(part.run, cell)).collect();
    let reads = |cell: &&&MachineCell| {
        cell.word("size") == "memory"
            && cell.word("operation") == "read"
            && cell.figure().is_some_and(|figure| figure.centre.unit == Unit::BytePerSecond)
    };
    let value = |cell: &MachineCell| cell.figure().map_or(0.0, |figure| figure.centre.value);
    let memory = cells.iter().filter(reads).max_by(|a, b| value(a).total_cmp(&value(b)));
    let Some(memory) = memory else { return Ok(None) };
    let ciphers: Vec<&MachineCell> = cells
        .iter()
        .filter(|cell| cell.workload == "cipher" && cell.threads == memory.threads)
        .copied()
        .collect();
    let series = lines(part, &ciphers);
    let Some(first) = ciphers.first().filter(|_| series.iter().any(|s| s.marks.len() > 1)) else {
        return Ok(None);
    };
    let Some(metric) = part.run.metric(&first.load, &first.metric) else { return Ok(None) };
    let roofs = roofs(writer, &series, memory)?;
    let label = |key| Ok::<_, ReportError>(writer.label(key)?.text().to_owned());
    let x = Axis {
        label: super::super::names::key_words(BLOCK),
        unit: Unit::Byte,
        scale: Scale::Log2,
        direction: String::new(),
        names: Vec::new(),
    };
    let y = Axis { scale: Scale::Log10, ..value_axis(writer, metric, &series)? };
    let (title, subtitle) = (label("cipher-roof-title")?, label("cipher-roof-subtitle")?);
    let notes = [writer.label("cipher-roof-footnote")?, footnote(writer, part, first.figure())?];
    let number = writer.next_figure();
    Ok(Some(Figure {
        id: format!("fig-{}-{number}", part.run.id),
        number,
        kind: FigureKind::Roofline,
        title,
        subtitle,
        x,
        y,
        series,
        zones: Vec::new(),
        references: Vec::new(),
        roofs,
        footnote: Prose::join(&notes).text().into(),
    }))
}

fn lines(part: &Part<'_>, cells: &[&MachineCell]) -> Vec<Series> {
    let mut series: Vec<Series> = Vec::new();
    for cell in cells {
        let Some(load) = part.run.plan.loads.iter().find(|load| load.name == cell.load) else {
            continue;
        };
        let Some(place) = cell.params.get(BLOCK).and_then(quantity_of) else { continue };
        let rest = name_without(load, cell, BLOCK);
        let name = [cell.load.as_str(), rest.as_str()].join(" ").trim().to_owned();
        let Some(mark) = cell_mark(Some(place), cell) else { continue };
        match series.iter_mut().find(|known| known.name == name) {
            Some(known) => known.marks.push(mark),
            None => series.push(Series { name, marks: vec![mark] }),
        }
    }
    for one in &mut series {
        one.marks.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    series
}

/// The most calls a second of any series as a slope, and memory as a level roof where no point
/// stands above it.
fn roofs(
    writer: &Writer,
    series: &[Series],
    memory: &MachineCell,
) -> Result<Vec<Roof>, ReportError> {
    let mut roofs = Vec::new();
    let calls =
        |one: &Series| one.marks.iter().map(|mark| mark.centre / mark.x).fold(0.0, f64::max);
    if let Some(most) = series.iter().max_by(|a, b| calls(a).total_cmp(&calls(b))) {
        let name = writer.say("cipher-roof-calls", Args::new().name("series", &most.name))?;
        let slope = Some(calls(most));
        roofs.push(Roof { slope, ceiling: None, name: name.text().into() });
    }
    let highest = series.iter().flat_map(|s| &s.marks).map(|m| m.centre).fold(0.0, f64::max);
    let ceiling = memory.figure().map(|figure| figure.centre.value);
    if let Some(ceiling) = ceiling.filter(|ceiling| *ceiling >= highest) {
        let threads = u32::try_from(memory.threads.unwrap_or(1)).unwrap_or(u32::MAX);
        let name = writer.say("cipher-roof-name", Args::new().count("threads", threads))?;
        let ceiling = Some(ceiling);
        roofs.push(Roof { slope: None, ceiling, name: name.text().into() });
    }
    Ok(roofs)
}
