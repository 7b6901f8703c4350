//! Knows the figures of pairs of CPUs: a row the one that sends, a column the one that answers.

use super::super::figures::direction;
use super::super::names::key_words;
use super::super::ruling::count;
use super::super::{Part, Said, Writer};
use super::figures::{footnote, name_without};
use crate::figure::{Axis, Figure, FigureKind, Mark, Reference, Scale, Series, Zone};
use crate::report::document::Prose;
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::{Better, Derivation, LoadPlan, Value};
use desk::stats::Estimate;
use desk::unit::Unit;
use desk::verdict::MachineCell;
use std::collections::BTreeSet;

/// Fewest pairs that make a map.
const FEWEST: usize = 2;

/// Ping and pong, and how long a line takes between them.
type Pair = ((u32, u32), Estimate);

/// A figure of pairs, and of how many it could have been.
pub(super) struct Map {
    pub(super) figure: Figure,
    measured: usize,
    /// Pairs of the CPUs that are in it.
    possible: usize,
    cpus: usize,
}

impl Map {
    /// Key and arguments of what it shows: every pair of its CPUs, or how many of them.
    pub(super) fn shows(&self) -> (&'static str, Args) {
        let words = Args::new().count("cpus", count(self.cpus));
        if self.measured >= self.possible {
            return ("matrix-shows", words);
        }
        let words = words.count("pairs", count(self.measured));
        ("matrix-shows-some", words.count("all", count(self.possible)))
    }
}

/// A map of each cell of a load that tells pairs apart, so one for each method; none of a cell that
/// tells of fewer than two.
pub(super) fn maps(
    writer: &mut Writer,
    part: &Part<'_>,
    (load, cells): (&LoadPlan, &[&MachineCell]),
) -> Result<Vec<Map>, ReportError> {
    let mut maps = Vec::new();
    for &cell in cells {
        maps.extend(map(writer, part, (load, cell))?);
    }
    Ok(maps)
}

fn map(
    writer: &mut Writer,
    part: &Part<'_>,
    (load, cell): (&LoadPlan, &MachineCell),
) -> Result<Option<Map>, ReportError> {
    let pairs = told(cell);
    let Some(middle) = median(&pairs).filter(|_| pairs.len() >= FEWEST) else { return Ok(None) };
    let cpus: BTreeSet<u32> = pairs.iter().flat_map(|((from, to), _)| [*from, *to]).collect();
    let (measured, cpus) = (pairs.len(), cpus.len());
    let possible = cpus * cpus.saturating_sub(1) / 2;
    let words = Args::new().count("pairs", count(measured)).count("all", count(possible));
    let subtitle = writer.say("matrix-subtitle", words.estimate("middle", middle))?;
    let columns: BTreeSet<u32> = pairs.iter().map(|((_, to), _)| *to).collect();
    let columns: Vec<u32> = columns.into_iter().collect();
    let series = rows(writer, &pairs, (&columns, middle.centre.value))?;
    let names = columns.iter().map(|at| cpu(writer, *at)).collect::<Result<Vec<_>, _>>()?;
    let axis = |label: String, unit, direction, names| Axis {
        label,
        unit,
        scale: if unit == Unit::Ratio { Scale::Log10 } else { Scale::Linear },
        direction,
        names,
    };
    let label = |key| Ok::<_, ReportError>(writer.label(key)?.text().to_owned());
    let margin = part.run.plan.method.margin;
    let zone = writer.say("zone-margin", Args::new().quantity("margin", margin))?;
    let to = 1.0 + margin.value;
    let x = axis(label("matrix-axis")?, Unit::Count, String::new(), names);
    let y = axis(label("axis-ratio")?, Unit::Ratio, direction(writer, Better::Lower)?, Vec::new());
    let (title, reference) = (title(writer, load, cell)?, label("reference-equal")?);
    let footnote = [writer.label("matrix-footnote")?, footnote(writer, part, Some(middle))?];
    let footnote = Prose::join(&footnote);
    let number = writer.next_figure();
    let figure = Figure {
        id: format!("fig-{}-{number}", part.run.id),
        number,
        kind: FigureKind::Heatmap,
        title: title.text().into(),
        subtitle: subtitle.text().into(),
        x,
        y,
        series,
        zones: vec![Zone { from: 1.0 / to, to, name: zone.text().into(), leader: None }],
        references: vec![Reference { value: 1.0, name: reference }],
        roofs: Vec::new(),
        footnote: footnote.text().into(),
    };
    Ok(Some(Map { figure, measured, possible, cpus }))
}

/// The pairs of a cell by their CPUs.
fn told(cell: &MachineCell) -> Vec<Pair> {
    let named = |(key, figure): (&String, &'_ Estimate)| {
        let (from, to) = key.split_once('-')?;
        Some(((from.parse().ok()?, to.parse().ok()?), figure.clone()))
    };
    cell.pairs.iter().filter_map(named).collect()
}

/// The pair in the middle; of an even number the slower of two.
fn median(pairs: &[Pair]) -> Option<&Estimate> {
    let mut ordered: Vec<&Estimate> = pairs.iter().map(|(_, figure)| figure).collect();
    ordered.sort_by(|a, b| a.centre.value.total_cmp(&b.centre.value));
    ordered.get(ordered.len() / 2).copied()
}

/// The title, with the method and what else tells the cells of a load apart.
fn title(writer: &Writer, load: &LoadPlan, cell: &MachineCell) -> Said {
    let mut told = Vec::new();
    let by = load.asks(Derivation::Matrix).next().map_or("", |matrix| &matrix.along);
    if let Some(method) = cell.params.get(by).and_then(Value::word) {
        told.push(writer.say("matrix-method", Args::new().name("method", &key_words(method)))?);
    }
    let rest = name_without(load, cell, by);
    if !rest.is_empty() {
        told.push(Prose::verbatim(&rest));
    }
    if told.is_empty() {
        return writer.label("matrix-title-plain");
    }
    writer.say("matrix-title", Args::new().prose("told", &Prose::join_with(&told, ", ")))
}

fn cpu(writer: &Writer, cpu: u32) -> Result<String, ReportError> {
    let said = writer.say("matrix-cpu", Args::new().count("cpu", cpu))?;
    Ok(said.text().to_owned())
}

/// A row for each CPU that sends, each pair over the middle one, in s.
fn rows(
    writer: &Writer,
    pairs: &[Pair],
    (columns, middle): (&[u32], f64),
) -> Result<Vec<Series>, ReportError> {
    let mut series = Vec::new();
    for row in pairs.iter().map(|((from, _), _)| *from).collect::<BTreeSet<_>>() {
        let marks = pairs.iter().filter(|((from, _), _)| *from == row);
        let marks = marks.filter_map(|((_, to), figure)| {
            let at = columns.iter().position(|column| column == to)?;
            Some(over(at, figure, middle))
        });
        let mut marks: Vec<Mark> = marks.collect();
        marks.sort_by(|a, b| a.x.total_cmp(&b.x));
        series.push(Series { name: cpu(writer, row)?, marks });
    }
    Ok(series)
}

/// A pair over the middle one.
#[expect(clippy::cast_precision_loss, reason = "CPUs are few")]
fn over(at: usize, figure: &Estimate, middle: f64) -> Mark {
    Mark {
        x: at as f64,
        centre: figure.centre.value / middle,
        low: figure.low.value / middle,
        high: figure.high.value / middle,
        runs: Vec::new(),
        valid: true,
    }
}
