//! Knows how cells become figures: ladders, ways of copying, pairs of CPUs, ciphers under memory.
//!
//! All are of the first level of every factor; what another level does is said by the comparisons.
//! Never: computes a statistic.

use super::super::effect::level;
use super::super::figures::{direction, mark, quantity_of};
use super::super::names::{key_words, level_name};
use super::super::ruling::shown;
use super::super::{Nodes, Part, Said, Writer};
use super::pairs;
use super::roofs;
use crate::figure::{Axis, Figure, FigureKind, Mark, Scale, Series};
use crate::report::document::{Node, Prose};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::{Derivation, LoadPlan, Metric, ParamRole, Run, Value};
use desk::stats::Estimate;
use desk::unit::{Quantity, Unit};
use desk::verdict::MachineCell;
use std::collections::BTreeSet;

/// Above this ratio of largest to smallest a linear axis hides the small ones: caches lie that far
/// apart.
const WIDE: f64 = 10.0;
/// Above this ratio places along an axis are steps by ratio.
const GEOMETRIC: f64 = 8.0;

/// Every figure of a part with the sentence that leads to it.
pub(super) fn nodes(writer: &mut Writer, part: &Part<'_>) -> Nodes {
    let mut nodes = Vec::new();
    for load in part.run.plan.loads.iter().filter(|load| load.alone) {
        let cells = of_load(part, load);
        for ways in load.asks(Derivation::Ways) {
            for figure in copies(writer, part, (load, &cells, &ways.along))? {
                let by = Args::new().name("by", &key_words(&ways.along));
                led(writer, &mut nodes, (figure, "copies-shows", by))?;
            }
        }
        if let Some(figure) = ladder(writer, part, (load, &cells))? {
            let words = Args::new().name("metric", &figure.y.label).name("axis", &figure.x.label);
            let words = words.name("load", &key_words(&load.name));
            led(writer, &mut nodes, (figure, "ladder-shows", words))?;
        }
        for map in pairs::maps(writer, part, (load, &cells))? {
            let (key, words) = map.shows();
            led(writer, &mut nodes, (map.figure, key, words))?;
        }
    }
    for figure in roofs::ciphers(writer, part)? {
        led(writer, &mut nodes, (figure, "cipher-roof-shows", Args::new()))?;
    }
    Ok(nodes)
}

fn led(
    writer: &Writer,
    nodes: &mut Vec<Node>,
    (figure, key, args): (Figure, &str, Args),
) -> Result<(), ReportError> {
    let said = writer.shows(&figure, key, args)?;
    nodes.extend([Node::Figure(figure), Node::Paragraph(said)]);
    Ok(())
}

/// Whether a cell is of the first level of every factor.
pub(super) fn is_baseline(run: &Run, cell: &MachineCell) -> bool {
    run.plan.factors.iter().all(|factor| {
        cell.levels.get(&factor.name) == factor.levels.first().map(|level| &level.name)
    })
}

fn of_load<'a>(part: &Part<'a>, load: &LoadPlan) -> Vec<&'a MachineCell> {
    let cells = part.analysis.cells.iter();
    cells.filter(|cell| cell.load == load.name && is_baseline(part.run, cell)).collect()
}

/// What differs between cells but for one parameter: `read, L1`.
pub(super) fn name_without(load: &LoadPlan, cell: &MachineCell, parameter: &str) -> String {
    let swept = load.over.iter().filter(|(name, values)| name != parameter && values.len() > 1);
    let said = swept.filter_map(|(name, _)| {
        let value = cell.params.get(name)?;
        let word = shown(value);
        Some(if value.word().is_some() { word } else { format!("{} {word}", key_words(name)) })
    });
    said.collect::<Vec<_>>().join(", ")
}

/// The words `stride`, `operation and isa` for what tells lines apart.
fn told_by(load: &LoadPlan, parameter: &str) -> String {
    let swept = load.over.iter().filter(|(name, values)| name != parameter && values.len() > 1);
    swept.map(|(name, _)| key_words(name)).collect::<Vec<_>>().join(", ")
}

pub(super) fn cell_mark(x: Option<Quantity>, cell: &MachineCell) -> Option<Mark> {
    let runs: Vec<Quantity> = cell.blocks.values().copied().collect();
    Some(mark(x, (cell.figure()?, &runs)))
}

/// The levels that all cells are of, in words; empty without factors.
pub(super) fn levels(part: &Part<'_>) -> String {
    let plan = &part.run.plan;
    let first = plan
        .factors
        .iter()
        .filter_map(|factor| Some(level_name(plan, &factor.name, &factor.levels.first()?.name)));
    first.collect::<Vec<_>>().join(", ")
}

pub(super) fn footnote(writer: &Writer, part: &Part<'_>, figure: Option<&Estimate>) -> Said {
    let args = Args::new().name("run", &part.run.id);
    let whole = match figure.filter(|figure| figure.n > 1) {
        Some(figure) => {
            let args = args.count("blocks", figure.n).quantity("level", level(figure));
            writer.say("ladder-footnote", args)?
        }
        None => writer.say("figure-footnote-alone", args)?,
    };
    let levels = levels(part);
    if levels.is_empty() {
        return Ok(whole);
    }
    let under = writer.say("ladder-footnote-level", Args::new().name("level", &levels))?;
    Ok(Prose::join(&[under, whole]))
}

/// Where cells stand along an axis: the curve of the load, else the bytes that they worked in,
/// which a parameter sets.
enum Along<'p> {
    Parameter(&'p str),
    /// What other threads moved meanwhile, which this parameter sets.
    Injected(&'p str, &'p LoadPlan),
    Bytes(&'p str),
}

impl Along<'_> {
    const fn parameter(&self) -> &str {
        match self {
            Self::Parameter(name) | Self::Injected(name, _) | Self::Bytes(name) => name,
        }
    }

    fn place(&self, cell: &MachineCell) -> Option<Quantity> {
        match self {
            Self::Parameter(name) => quantity_of(cell.params.get(*name)?),
            Self::Injected(_, load) => injected(load, cell),
            Self::Bytes(_) => cell.bytes,
        }
    }

    /// Steps by ratio where places lie far apart; what is injected is told in equal steps, for a
    /// latency rises where little of the bandwidth is left.
    fn scale(&self, series: &[Series]) -> Scale {
        let xs: Vec<f64> = series.iter().flat_map(|s| &s.marks).map(|m| m.x).collect();
        let far = !matches!(self, Self::Injected(..)) && spread(&xs) > GEOMETRIC;
        if far { Scale::Log2 } else { Scale::Linear }
    }
}

/// Bytes a second that other threads moved beside a cell: none without such threads; unknown where
/// there were some and nobody told.
fn injected(load: &LoadPlan, cell: &MachineCell) -> Option<Quantity> {
    let by = load.asks(Derivation::Loaded).next()?;
    let told = cell.figures.get(&by.metric).map(|injected| injected.centre);
    let alone = cell.params.get(&by.along).and_then(Value::count) == Some(0);
    told.or_else(|| alone.then(|| Quantity::new(0.0, Unit::BytePerSecond)))
}

fn along<'p>(part: &Part<'p>, load: &'p LoadPlan, cells: &[&MachineCell]) -> Option<Along<'p>> {
    if let Some(curve) = part.run.plan.curve(load) {
        let mut injects = load.asks(Derivation::Loaded).filter(|by| by.along == curve);
        let told = injects.any(|by| cells.iter().any(|c| c.figures.contains_key(&by.metric)));
        return Some(if told { Along::Injected(curve, load) } else { Along::Parameter(curve) });
    }
    let size = load.roles.get(&ParamRole::WorkingSet)?;
    let swept = load.over.iter().any(|(name, _)| name == size);
    let sizes = cells.iter().filter_map(|cell| cell.bytes).map(|bytes| bytes.value.to_bits());
    (swept && sizes.collect::<BTreeSet<_>>().len() > 1).then_some(Along::Bytes(size))
}

/// A line for all that differs but the place along the axis; nothing for a load without a course.
fn ladder(
    writer: &mut Writer,
    part: &Part<'_>,
    (load, cells): (&LoadPlan, &[&MachineCell]),
) -> Result<Option<Figure>, ReportError> {
    let (Some(along), Some(first)) = (along(part, load, cells), cells.first()) else {
        return Ok(None);
    };
    let series = lines(load, cells, &along);
    if series.iter().all(|one| one.marks.len() < 2) {
        return Ok(None);
    }
    let Some(metric) = part.run.metric(&load.name, &first.metric) else { return Ok(None) };
    let unit = cells.iter().find_map(|cell| along.place(cell)).map_or(Unit::Count, |q| q.unit);
    let axis = match along {
        Along::Bytes(_) => writer.label("ladder-axis-size")?,
        Along::Injected(..) => writer.label("ladder-axis-injected")?,
        Along::Parameter(name) => Prose::verbatim(&key_words(name)),
    };
    let words = Args::new().name("metric", &metric.title).name("load", &key_words(&load.name));
    let title = writer.say("ladder-title", words.prose("axis", &axis))?;
    let words = Args::new().name("metric", &metric.title);
    let by = told_by(load, along.parameter());
    let subtitle = match by.is_empty() {
        true => writer.say("ladder-subtitle-one", words)?,
        false => writer.say("ladder-subtitle", words.name("by", &by))?,
    };
    let footnote = footnote(writer, part, first.figure())?;
    let number = writer.next_figure();
    Ok(Some(Figure {
        id: format!("fig-{}-{number}", part.run.id),
        number,
        kind: FigureKind::Sweep,
        title: title.text().into(),
        subtitle: subtitle.text().into(),
        x: Axis {
            label: axis.text().into(),
            unit,
            scale: along.scale(&series),
            direction: String::new(),
            names: Vec::new(),
        },
        y: value_axis(writer, metric, &series)?,
        series,
        zones: Vec::new(),
        references: Vec::new(),
        roofs: Vec::new(),
        footnote: footnote.text().into(),
    }))
}

fn lines(load: &LoadPlan, cells: &[&MachineCell], along: &Along<'_>) -> Vec<Series> {
    let marks = cells.iter().filter_map(|cell| {
        let name = name_without(load, cell, along.parameter());
        let name = if name.is_empty() { key_words(&load.name) } else { name };
        Some((name, cell_mark(Some(along.place(cell)?), cell)?))
    });
    by_name(marks)
}

/// A line of all marks of a name, by their places.
pub(super) fn by_name(marks: impl Iterator<Item = (String, Mark)>) -> Vec<Series> {
    let mut series: Vec<Series> = Vec::new();
    for (name, mark) in marks {
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

/// The largest over the smallest; 1 where that says nothing.
fn spread(values: &[f64]) -> f64 {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(0.0, f64::max);
    if least > 0.0 { most / least } else { 1.0 }
}

pub(super) fn value_axis(
    writer: &Writer,
    metric: &Metric,
    series: &[Series],
) -> Result<Axis, ReportError> {
    let values: Vec<f64> = series.iter().flat_map(|s| &s.marks).map(|m| m.centre).collect();
    Ok(Axis {
        label: metric.title.clone(),
        unit: metric.unit,
        scale: if spread(&values) > WIDE { Scale::Log10 } else { Scale::Linear },
        direction: direction(writer, metric.better)?,
        names: Vec::new(),
    })
}

/// The ways to do the same, a figure under every condition, the quickest first; nothing for loads
/// of one way.
fn copies(
    writer: &mut Writer,
    part: &Part<'_>,
    (load, cells, way): (&LoadPlan, &[&MachineCell], &str),
) -> Result<Vec<Figure>, ReportError> {
    if !load.over.iter().any(|(name, values)| name == way && values.len() > 1) {
        return Ok(Vec::new());
    }
    let mut conditions: Vec<(String, Vec<&MachineCell>)> = Vec::new();
    for cell in cells {
        let name = name_without(load, cell, way);
        match conditions.iter_mut().find(|(known, _)| *known == name) {
            Some((_, group)) => group.push(cell),
            None => conditions.push((name, vec![cell])),
        }
    }
    let mut figures = Vec::new();
    for (condition, mut group) in conditions {
        let value = |cell: &MachineCell| cell.figure().map_or(0.0, |figure| figure.centre.value);
        group.sort_by(|a, b| value(b).total_cmp(&value(a)));
        figures.extend(dots(writer, part, (load, &condition, way), &group)?);
    }
    Ok(figures)
}

fn dots(
    writer: &mut Writer,
    part: &Part<'_>,
    (load, condition, way): (&LoadPlan, &str, &str),
    cells: &[&MachineCell],
) -> Result<Option<Figure>, ReportError> {
    let row = |cell: &&MachineCell| {
        let name = cell.params.get(way).map(shown).unwrap_or_default();
        Some(Series { name, marks: vec![cell_mark(None, cell)?] })
    };
    let series: Vec<Series> = cells.iter().filter_map(row).collect();
    let Some(first) = cells.first() else { return Ok(None) };
    let Some(metric) = part.run.metric(&load.name, &first.metric) else { return Ok(None) };
    let words = || {
        let (by, name) = (key_words(way), key_words(&load.name));
        Args::new().name("metric", &metric.title).name("by", &by).name("load", &name)
    };
    let title = match condition.is_empty() {
        true => writer.say("copies-title-plain", words())?,
        false => writer.say("copies-title", words().name("condition", condition))?,
    };
    let words = Args::new().name("metric", &metric.title);
    let subtitle = match first.figure().filter(|figure| figure.n > 1) {
        Some(figure) => {
            writer.say("figure-dots-subtitle", words.quantity("level", level(figure)))?
        }
        None => writer.say("figure-dots-subtitle-alone", words)?,
    };
    let axis = value_axis(writer, metric, &series)?;
    let footnote = footnote(writer, part, first.figure())?;
    let number = writer.next_figure();
    Ok(Some(Figure {
        title: title.text().into(),
        subtitle: subtitle.text().into(),
        footnote: footnote.text().into(),
        ..Figure::dots((&part.run.id, number), axis, series)
    }))
}
