//! Knows how findings become figures: which lines, zones and references, and what they are called.

use super::effect::{is_alone, level, metric_title};
use super::names::{key_words, level_name, level_names, short_levels, short_pair};
use super::places::{engine, with_engine};
use super::ruling::{condition, short_condition, shown};
use super::say::title;
use super::{Part, Said, Writer, lost, states};
use crate::claim::of_comparison;
use crate::figure::{Axis, Figure, FigureKind, Mark, Reference, Scale, Series, Zone};
use crate::report::document::Prose;
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::{Better, LoadPlan, Run, Value};
use desk::stats::Estimate;
use desk::unit::{Quantity, Unit};
use desk::verdict::{Comparison, PointResult, Region};
use std::collections::BTreeSet;

/// Above this ratio of largest to smallest, a linear value axis would hide the small ones.
pub(super) const WIDE: f64 = 100.0;

/// Why a point stands for itself only: it is drawn hollow and no line goes through it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Hollow {
    /// The level has two states there.
    States,
    /// The two sides were not made by the same.
    Unlike,
    /// A machine is emulated.
    Emulated,
    /// The generator has no headroom.
    Headroom,
    /// The clients were at their limit.
    Clients,
    /// The CPU time was too little, or could not be counted surely.
    Counted,
}

/// What is drawn along a curve, and what is said above it.
pub(super) struct Plot<'a> {
    /// Both levels along the curve.
    pub comparison: &'a Comparison,
    /// What the value axis calls the metric.
    pub metric: String,
    /// The finding.
    pub title: Prose,
    /// What is plotted, and under which condition.
    pub subtitle: Prose,
    /// Comparisons of the same metric, which share the spacing of the axis.
    pub alike: Vec<&'a Comparison>,
    /// Where one level is ahead.
    pub zones: Vec<Zone>,
    /// Why the baseline and the other level are drawn hollow, by point.
    pub hollow: Vec<[Option<Hollow>; 2]>,
}

/// Both levels along the curve, with zones where one is ahead.
pub fn curve_figure(
    writer: &Writer,
    part: &Part<'_>,
    comparison: &Comparison,
    number: u32,
) -> Result<Figure, ReportError> {
    let run = part.run;
    let mut zones = Vec::new();
    for region in &comparison.regions {
        zones.extend(zone(writer, (run, comparison), region)?);
    }
    let hollow = comparison.points.iter().map(|p| {
        [&comparison.base, &comparison.other]
            .map(|level| states::hollow(part, comparison, (level, p.at.as_ref())))
    });
    let plot = Plot {
        comparison,
        metric: metric_title(run, comparison).to_owned(),
        title: title(writer, &of_comparison((run, comparison)))?,
        subtitle: subtitle(writer, (run, comparison), metric_title(run, comparison), true)?,
        alike: part.analysis.comparisons.iter().collect(),
        zones,
        hollow: hollow.collect(),
    };
    let mut figure = sweep(writer, run, plot, number)?;
    let lost = lost::lost(run, comparison);
    if lost.iter().any(|marks| !marks.is_empty()) {
        let args = Args::new().prose("causes", &writer.label("hollow-invalid")?);
        let said = writer.say("figure-footnote-hollow", args)?;
        figure.footnote = format!("{} {}", said.text(), figure.footnote);
    }
    for (series, marks) in figure.series.iter_mut().zip(lost) {
        series.marks.extend(marks);
        series.marks.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    Ok(figure)
}

/// Draws a plot.
pub(super) fn sweep(
    writer: &Writer,
    run: &Run,
    plot: Plot<'_>,
    number: u32,
) -> Result<Figure, ReportError> {
    let comparison = plot.comparison;
    let names = level_names(run, comparison);
    let y = y_axis(writer, &plot)?;
    let series = names.into_iter().enumerate().map(|(side, name)| {
        let of = |(at, p): (usize, &PointResult)| {
            let estimate =
                if side == 0 { (&p.base, &p.base_runs) } else { (&p.other, &p.other_runs) };
            let hollow = plot.hollow.get(at).is_some_and(|sides| sides[side].is_some());
            Mark { valid: !hollow, ..mark(place(p), (estimate.0, estimate.1)) }
        };
        Series { name, marks: comparison.points.iter().enumerate().map(of).collect() }
    });
    let series: Vec<Series> = series.collect();
    let whole = footnote(writer, run, &comparison.overall, "figure-footnote-curve")?;
    let causes: BTreeSet<Hollow> = plot.hollow.iter().flatten().flatten().copied().collect();
    let footnote = [hollow_note(writer, &causes)?, Prose::verbatim(&whole)];
    Ok(Figure {
        id: format!("fig-{}-{}", run.id, number),
        number,
        kind: FigureKind::Sweep,
        title: plot.title.text().into(),
        subtitle: plot.subtitle.text().into(),
        x: x_axis(comparison, comparison.curve.as_deref().unwrap_or_default()),
        y,
        series,
        zones: plot.zones,
        references: Vec::new(),
        roofs: Vec::new(),
        footnote: Prose::join(&footnote).text().into(),
    })
}

/// Why points of a plot are hollow; empty where none is.
pub(super) fn hollow_note(writer: &Writer, causes: &BTreeSet<Hollow>) -> Said {
    let mut said = Prose::default();
    for cause in causes {
        let cause = writer.label(match cause {
            Hollow::States => "hollow-states",
            Hollow::Unlike => "hollow-unlike",
            Hollow::Emulated => "hollow-emulated",
            Hollow::Headroom => "hollow-headroom",
            Hollow::Clients => "hollow-clients",
            Hollow::Counted => "hollow-counted",
        })?;
        said = match said.text() {
            "" => cause,
            _ => {
                let args = Args::new().prose("causes", &said).prose("cause", &cause);
                writer.say("hollow-or", args)?
            }
        };
    }
    if said.text().is_empty() {
        return Ok(said);
    }
    writer.say("figure-footnote-hollow", Args::new().prose("causes", &said))
}

/// n, order, kind of interval and run; `key` names the footnote where there is an interval.
fn footnote(
    writer: &Writer,
    run: &Run,
    overall: &Estimate,
    key: &str,
) -> Result<String, ReportError> {
    let args = Args::new().name("run", &run.id);
    if is_alone(overall) {
        return Ok(writer.say("figure-footnote-alone", args)?.text().into());
    }
    let args = args.count("blocks", overall.n).quantity("level", level(overall));
    Ok(writer.say(key, args)?.text().into())
}

/// What is plotted and how it was made; `ratio` where the title holds the one over all points.
pub(super) fn subtitle(
    writer: &Writer,
    (run, comparison): (&Run, &Comparison),
    metric: &str,
    ratio: bool,
) -> Said {
    let condition = [condition(run, comparison), engine(writer, run, comparison)?];
    let condition = Prose::join_with(&condition, ", ");
    let args = Args::new()
        .name("metric", metric)
        .name("curve", &key_words(comparison.curve.as_deref().unwrap_or_default()))
        .prose("condition", &condition);
    let key = match (condition.text().is_empty(), ratio) {
        (true, true) => "figure-curve-subtitle-plain",
        (false, true) => "figure-curve-subtitle",
        (true, false) => "figure-cost-subtitle-plain",
        (false, false) => "figure-cost-subtitle",
    };
    writer.say(key, args)
}

/// A region as a shaded part of the figure.
pub(super) fn zone(
    writer: &Writer,
    (run, comparison): (&Run, &Comparison),
    region: &Region,
) -> Result<Option<Zone>, ReportError> {
    let at = |value: &Value| {
        comparison.points.iter().find(|p| p.at.as_ref() == Some(value)).and_then(place)
    };
    let (Some(from), Some(to)) = (at(&region.from), at(&region.to)) else { return Ok(None) };
    let leader = if region.other_ahead { &comparison.other } else { &comparison.base };
    let leader = level_name(&run.plan, &comparison.factor, leader);
    let name = writer.say("zone-ahead", Args::new().name("level", &leader))?.text().into();
    // The series of the baseline is the first, that of the other level the second.
    let leader = Some(usize::from(region.other_ahead));
    Ok(Some(Zone { from: from.value, to: to.value, name, leader }))
}

pub(super) fn place(point: &PointResult) -> Option<Quantity> {
    quantity_of(point.at.as_ref()?)
}

/// A value that can stand along an axis.
#[expect(clippy::cast_precision_loss, reason = "counts along an axis are small")]
pub(super) fn quantity_of(value: &Value) -> Option<Quantity> {
    match value {
        Value::Quantity(quantity) => Some(*quantity),
        Value::Count(count) => Some(Quantity::new(*count as f64, Unit::Count)),
        Value::Word(_) => None,
    }
}

pub(super) fn mark(x: Option<Quantity>, (estimate, runs): (&Estimate, &[Quantity])) -> Mark {
    Mark {
        x: x.map_or(0.0, |q| q.value),
        centre: estimate.centre.value,
        low: estimate.low.value,
        high: estimate.high.value,
        runs: runs.iter().map(|q| q.value).collect(),
        valid: true,
    }
}

fn x_axis(comparison: &Comparison, curve: &str) -> Axis {
    let places: Vec<Quantity> = comparison.points.iter().filter_map(place).collect();
    let (first, last) = (places.first(), places.last());
    let geometric = first.zip(last).is_some_and(|(a, b)| a.value > 0.0 && b.value / a.value > 8.0);
    Axis {
        label: key_words(curve),
        unit: first.map_or(Unit::Count, |q| q.unit),
        scale: if geometric { Scale::Log2 } else { Scale::Linear },
        direction: String::new(),
        names: Vec::new(),
    }
}

/// Curves of one metric in one part have one spacing, or neighbours would not look alike.
fn y_axis(writer: &Writer, plot: &Plot<'_>) -> Result<Axis, ReportError> {
    let comparison = plot.comparison;
    let alike = plot.alike.iter().filter(|c| c.metric == comparison.metric);
    let centres = alike.flat_map(|c| &c.points).flat_map(|p| [p.base.centre, p.other.centre]);
    let values: Vec<f64> = centres.map(|q| q.value).collect();
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(0.0, f64::max);
    Ok(Axis {
        label: plot.metric.clone(),
        unit: comparison.points.first().map_or(Unit::Count, |p| p.base.centre.unit),
        scale: if least > 0.0 && most / least > WIDE { Scale::Log10 } else { Scale::Linear },
        direction: direction(writer, comparison.better)?,
        names: Vec::new(),
    })
}

pub(super) fn direction(writer: &Writer, better: Better) -> Result<String, ReportError> {
    let key = match better {
        Better::Higher => "direction-higher",
        Better::Lower => "direction-lower",
    };
    Ok(writer.label(key)?.text().into())
}

/// A row a point of a comparison: the ratio of every block, its centre and its interval.
pub(super) fn dots_figure(
    writer: &Writer,
    run: &Run,
    comparison: &Comparison,
    number: u32,
) -> Result<Figure, ReportError> {
    let mut series = Vec::new();
    for point in &comparison.points {
        let at = Prose::verbatim(&point.at.as_ref().map(shown).unwrap_or_default());
        let name = Prose::join_with(&[row_name(writer, run, comparison)?, at], ", ");
        series.push(Series { name: name.text().into(), marks: vec![ratio_mark(point)] });
    }
    let axis = Axis {
        label: ratio_label(writer, run)?.text().into(),
        unit: Unit::Ratio,
        scale: Scale::Linear,
        direction: direction(writer, comparison.better)?,
        names: Vec::new(),
    };
    let equal = writer.label("reference-equal")?.text().into();
    Ok(Figure {
        title: title(writer, &of_comparison((run, comparison)))?.text().into(),
        subtitle: dots_subtitle(writer, run, comparison)?.text().into(),
        references: vec![Reference { value: 1.0, name: equal }],
        footnote: footnote(writer, run, &comparison.overall, "figure-footnote")?,
        ..Figure::dots((&run.id, number), axis, series)
    })
}

/// `mtu 9000 B : 1500 B, tso off`; only `tso off` where the run compares no other pair of levels,
/// which [`row_heading`] names.
pub(super) fn row_name(writer: &Writer, run: &Run, comparison: &Comparison) -> Said {
    let condition = short_condition(run, comparison);
    if comparison.factor == run.plan.method.compare
        && is_one_pair(run)
        && !condition.text().is_empty()
    {
        return Ok(condition);
    }
    let names = writer.say("pair-short", short_pair(run, comparison))?;
    Ok(Prose::join_with(&[names, condition], ", "))
}

/// Whether a run compares one pair of levels, under several conditions.
pub(super) fn is_one_pair(run: &Run) -> bool {
    let (plan, compare) = (&run.plan, &run.plan.method.compare);
    let levels = plan.factors.iter().find(|f| f.name == *compare).map_or(0, |f| f.levels.len());
    let beside = |load: &LoadPlan| {
        load.over.iter().filter(|(key, _)| Some(key.as_str()) != plan.curve(load)).count()
    };
    let swept: usize = plan.loads.iter().map(beside).sum();
    levels == 2 && (plan.factors.len() > 1 || plan.loads.len() > 1 || swept > 0)
}

/// Base and other where they are the one pair of levels that a run compares.
fn pair_of_all(run: &Run) -> Option<Args> {
    let (plan, compare) = (&run.plan, &run.plan.method.compare);
    let factor = plan.factors.iter().find(|f| f.name == *compare)?;
    match factor.levels.as_slice() {
        [base, other] if is_one_pair(run) => {
            Some(short_levels(plan, compare, [&base.name, &other.name]))
        }
        _ => None,
    }
}

/// What the axis of ratios is called: it names the one pair where the rows leave it out.
pub(super) fn ratio_label(writer: &Writer, run: &Run) -> Said {
    match pair_of_all(run) {
        Some(pair) => writer.say("axis-ratio-pair", pair),
        None => writer.label("axis-ratio"),
    }
}

/// What stands above the names of rows.
pub(super) fn row_heading(writer: &Writer, run: &Run) -> Said {
    match pair_of_all(run) {
        Some(pair) => writer.say("pair-short", pair),
        None => writer.label("table-comparison"),
    }
}

/// The metric and what the marks are.
fn dots_subtitle(writer: &Writer, run: &Run, first: &Comparison) -> Said {
    let args = Args::new().name("metric", metric_title(run, first));
    let said = if is_alone(&first.overall) {
        writer.say("figure-dots-subtitle-alone", args)?
    } else {
        writer.say("figure-dots-subtitle", args.quantity("level", level(&first.overall)))?
    };
    with_engine(writer, (run, first), said)
}

/// A ratio by itself, for a row of a dot figure.
pub(super) fn alone_mark(ratio: &Estimate) -> Mark {
    mark(None, (ratio, &[]))
}

fn ratio_mark(point: &PointResult) -> Mark {
    let paired = point.base_runs.len() == point.other_runs.len();
    let blocks = point.base_runs.iter().zip(&point.other_runs).filter(|_| paired);
    Mark {
        runs: blocks.map(|(base, other)| other.value / base.value).collect(),
        ..mark(None, (&point.ratio, &[]))
    }
}
