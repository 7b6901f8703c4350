//! Knows the figures of ciphers by block size beside what memory gives to as many threads.
//!
//! Never: that memory holds a point down, for messages lie in the caches; nor a roof that a point
//! stands above, or one of other threads.

use super::super::figures::quantity_of;
use super::super::names::key_words;
use super::super::ruling::count;
use super::super::{Part, Writer};
use super::figures::{by_name, cell_mark, footnote, is_baseline, name_without, value_axis};
use crate::figure::{Axis, Figure, FigureKind, Roof, Scale, Series, Zone};
use crate::report::document::Prose;
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::{Derivation, LoadPlan};
use desk::unit::Unit;
use desk::verdict::MachineCell;
use std::collections::BTreeSet;

/// A byte that is copied counts twice, as it is read and as it is written.
const COPIED: f64 = 2.0;

/// Keys of what is said of a roof: its name, and what it is.
const COPY: [&str; 2] = ["cipher-roof-copied", "cipher-roof-copied-is"];
const READ: [&str; 2] = ["cipher-roof-read", "cipher-roof-read-is"];

/// Which cells are drawn together: of a load, along its blocks, of so many threads.
struct Wanted<'p> {
    load: &'p LoadPlan,
    block: &'p str,
    threads: u64,
}

/// What memory gives to some threads, in message bytes a second.
struct MemoryRoof {
    said: [&'static str; 2],
    ceiling: f64,
}

/// A figure for each load and number of threads, in the order of the plan, the fewest threads
/// first: a key can tell the algorithms of one load apart, not those of all. Nothing where the run
/// has not both, ciphers by block size and memory, read or copied by as many threads.
pub(super) fn ciphers(writer: &mut Writer, part: &Part<'_>) -> Result<Vec<Figure>, ReportError> {
    let cells: Vec<&MachineCell> =
        part.analysis.cells.iter().filter(|cell| is_baseline(part.run, cell)).collect();
    let mut figures = Vec::new();
    let loads = &part.run.plan.loads;
    let wanted =
        loads.iter().filter_map(|load| Some((load, load.asks(Derivation::Roofline).next()?)));
    for (load, roofline) in wanted {
        let own = |cell: &&&MachineCell| cell.load == load.name && is_in_bytes(cell);
        let swept: Vec<&MachineCell> = cells.iter().filter(own).copied().collect();
        let numbers: BTreeSet<u64> = swept.iter().filter_map(|cell| cell.threads).collect();
        for threads in numbers {
            let alike = |cell: &&&MachineCell| cell.threads == Some(threads);
            let drawn: Vec<&MachineCell> = swept.iter().filter(alike).copied().collect();
            let beside: Vec<&MachineCell> = cells.iter().filter(alike).copied().collect();
            let of = Wanted { load, block: &roofline.along, threads };
            figures.extend(figure(writer, part, of, (&drawn, &memory(part, &beside)))?);
        }
    }
    Ok(figures)
}

/// Whether what decides is bytes a second, as of all but signatures and agreement.
fn is_in_bytes(cell: &MachineCell) -> bool {
    cell.figure().is_some_and(|figure| figure.centre.unit == Unit::BytePerSecond)
}

fn figure(
    writer: &mut Writer,
    part: &Part<'_>,
    Wanted { load, block, threads }: Wanted<'_>,
    (ciphers, memory): (&[&MachineCell], &[MemoryRoof]),
) -> Result<Option<Figure>, ReportError> {
    let series = lines((load, block), ciphers);
    let Some(first) = ciphers.first().filter(|_| series.iter().any(|s| s.marks.len() > 1)) else {
        return Ok(None);
    };
    let metric = part.run.metric(&first.load, &first.metric);
    let Some(metric) = metric.filter(|_| !memory.is_empty()) else { return Ok(None) };
    let highest = series.iter().flat_map(|s| &s.marks).map(|m| m.centre).fold(0.0, f64::max);
    let (under, passed): (Vec<&MemoryRoof>, Vec<&MemoryRoof>) =
        memory.iter().partition(|roof| roof.ceiling >= highest);
    let x = Axis {
        label: key_words(block),
        unit: Unit::Byte,
        scale: Scale::Log2,
        direction: String::new(),
        names: Vec::new(),
    };
    let y = Axis { scale: Scale::Log10, ..value_axis(writer, metric, &series)? };
    let number_of = count(usize::try_from(threads).unwrap_or(usize::MAX));
    let words = Args::new().name("load", &key_words(&load.name)).count("threads", number_of);
    let title = writer.say("cipher-roof-title", words)?;
    let subtitle = writer.label("cipher-roof-subtitle")?;
    let mut notes = vec![writer.label("cipher-roof-footnote")?];
    for roof in &under {
        notes.push(writer.label(roof.said[1])?);
    }
    if !passed.is_empty() {
        notes.push(writer.label("cipher-roof-passed")?);
    }
    notes.push(footnote(writer, part, first.figure())?);
    let roofs = roofs(writer, &series, &under)?;
    let zones = vec![cached(writer, &series)?];
    let number = writer.next_figure();
    Ok(Some(Figure {
        id: format!("fig-{}-{number}", part.run.id),
        number,
        kind: FigureKind::Roofline,
        title: title.text().into(),
        subtitle: subtitle.text().into(),
        x,
        y,
        series,
        zones,
        references: Vec::new(),
        roofs,
        footnote: Prose::join(&notes).text().into(),
    }))
}

/// What cells of one number of threads say of memory: the quickest copy, for a cipher reads a byte
/// and writes one, and the quickest read, which is all that a digest does.
fn memory(part: &Part<'_>, cells: &[&MachineCell]) -> Vec<MemoryRoof> {
    let most = |what| {
        let bandwidths = cells.iter().filter_map(|cell| {
            let mut asked = part.run.plan.load(&cell.load)?.asks(what);
            cell.figures.get(&asked.find(|derive| derive.fits(&cell.params))?.metric)
        });
        bandwidths.map(|bandwidth| bandwidth.centre.value).reduce(f64::max)
    };
    let roof = |said, ceiling| MemoryRoof { said, ceiling };
    let copied = most(Derivation::MemoryCopy).map(|most| roof(COPY, most / COPIED));
    let read = most(Derivation::MemoryRead).map(|most| roof(READ, most));
    copied.into_iter().chain(read).collect()
}

fn lines((load, block): (&LoadPlan, &str), cells: &[&MachineCell]) -> Vec<Series> {
    let marks = cells.iter().filter_map(|cell| {
        let place = cell.params.get(block).and_then(quantity_of)?;
        let name = name_without(load, cell, block);
        let name = if name.is_empty() { key_words(&load.name) } else { name };
        Some((name, cell_mark(Some(place), cell)?))
    });
    by_name(marks)
}

/// Where no roof binds: at all blocks that were measured, for a message has 16 KiB at most, and it
/// and its result lie in the caches.
fn cached(writer: &Writer, series: &[Series]) -> Result<Zone, ReportError> {
    let places = || series.iter().flat_map(|one| &one.marks).map(|mark| mark.x);
    let (from, to) = (places().fold(f64::INFINITY, f64::min), places().fold(0.0, f64::max));
    let name = writer.label("cipher-roof-caches")?;
    Ok(Zone { from, to, name: name.text().into(), leader: None })
}

/// The most calls a second of any series as a slope, and what memory gives as level roofs.
fn roofs(
    writer: &Writer,
    series: &[Series],
    memory: &[&MemoryRoof],
) -> Result<Vec<Roof>, ReportError> {
    let mut roofs = Vec::new();
    let calls =
        |one: &Series| one.marks.iter().map(|mark| mark.centre / mark.x).fold(0.0, f64::max);
    if let Some(most) = series.iter().max_by(|a, b| calls(a).total_cmp(&calls(b))) {
        let name = writer.say("cipher-roof-calls", Args::new().name("series", &most.name))?;
        let slope = Some(calls(most));
        roofs.push(Roof { slope, ceiling: None, name: name.text().into() });
    }
    for roof in memory {
        let name = writer.label(roof.said[0])?;
        let ceiling = Some(roof.ceiling);
        roofs.push(Roof { slope: None, ceiling, name: name.text().into() });
    }
    Ok(roofs)
}
