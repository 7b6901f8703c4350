//! Knows how findings become figures: which lines, zones and references, and what they are called.

use super::answer::{grouped, is_split, split};
use super::effect::{is_alone, level, metric_title, short_effect};
use super::names::{key_words, level_name, level_names, pair, short_pair};
use super::ruling::{condition, shown};
use super::{Part, Said, Writer};
use crate::figure::{Axis, Figure, FigureKind, Mark, Reference, Scale, Series, Zone};
use crate::record::{Better, Run, Value};
use crate::report::document::Prose;
use crate::report::error::ReportError;
use crate::report::words::Args;
use crate::stats::Estimate;
use crate::unit::{Quantity, Unit};
use crate::verdict::{Comparison, PointResult, Region, Verdict};

/// Above this ratio of largest to smallest, a linear value axis would hide the small ones.
const WIDE: f64 = 100.0;

/// Both levels along the curve, with zones where one is ahead.
pub fn curve_figure(
    writer: &Writer,
    part: &Part<'_>,
    comparison: &Comparison,
    number: u32,
) -> Result<Figure, ReportError> {
    let run = part.run;
    let metric = metric_title(run, comparison);
    let curve = comparison.curve.as_deref().unwrap_or_default();
    let mut zones = Vec::new();
    for region in &comparison.regions {
        zones.extend(zone(writer, (run, comparison), region)?);
    }
    let [base, other] = level_names(run, comparison);
    let series = |name: String, pick: fn(&PointResult) -> (&Estimate, &[Quantity])| Series {
        name,
        marks: comparison.points.iter().map(|p| mark(place(p), pick(p))).collect(),
    };
    Ok(Figure {
        id: format!("fig-{}-{}", run.id, comparison.id),
        number,
        kind: FigureKind::Sweep,
        title: finding_title(writer, run, comparison)?.text().into(),
        subtitle: subtitle(writer, run, comparison)?.text().into(),
        x: x_axis(comparison, curve),
        y: y_axis(writer, part, comparison, metric)?,
        series: vec![
            series(base, |p| (&p.base, &p.base_runs)),
            series(other, |p| (&p.other, &p.other_runs)),
        ],
        zones,
        references: Vec::new(),
        footnote: footnote(writer, run, &comparison.overall, "figure-footnote-curve")?,
    })
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

fn finding_title(writer: &Writer, run: &Run, comparison: &Comparison) -> Said {
    let key = match comparison.verdict {
        Verdict::Better => "finding-better",
        Verdict::Worse => "finding-worse",
        Verdict::Equivalent => "finding-equivalent",
        Verdict::TwoStates | Verdict::Undecided { .. } => "finding-undecided",
    };
    let args = pair(run, comparison).prose("effect", &short_effect(writer, &comparison.overall)?);
    writer.say(key, args)
}

fn subtitle(writer: &Writer, run: &Run, comparison: &Comparison) -> Said {
    let condition = condition(writer, run, comparison)?;
    let plain = condition.text().is_empty();
    let args = Args::new()
        .name("metric", metric_title(run, comparison))
        .name("curve", &key_words(comparison.curve.as_deref().unwrap_or_default()))
        .prose("condition", &condition);
    writer.say(if plain { "figure-curve-subtitle-plain" } else { "figure-curve-subtitle" }, args)
}

fn zone(
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
    Ok(Some(Zone { from: from.value, to: to.value, name }))
}

#[expect(clippy::cast_precision_loss, reason = "counts along an axis are small")]
pub(super) fn place(point: &PointResult) -> Option<Quantity> {
    match point.at.as_ref()? {
        Value::Quantity(quantity) => Some(*quantity),
        Value::Count(count) => Some(Quantity::new(*count as f64, Unit::Count)),
        Value::Word(_) => None,
    }
}

fn mark(x: Option<Quantity>, (estimate, runs): (&Estimate, &[Quantity])) -> Mark {
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
    }
}

/// Curves of one metric in one part have one spacing, or neighbours would not look alike.
fn y_axis(
    writer: &Writer,
    part: &Part<'_>,
    comparison: &Comparison,
    label: &str,
) -> Result<Axis, ReportError> {
    let alike = part.analysis.comparisons.iter().filter(|c| c.metric == comparison.metric);
    let centres = alike.flat_map(|c| &c.points).flat_map(|p| [p.base.centre, p.other.centre]);
    let values: Vec<f64> = centres.map(|q| q.value).collect();
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(0.0, f64::max);
    Ok(Axis {
        label: label.into(),
        unit: comparison.points.first().map_or(Unit::Count, |p| p.base.centre.unit),
        scale: if least > 0.0 && most / least > WIDE { Scale::Log10 } else { Scale::Linear },
        direction: direction(writer, comparison.better)?,
    })
}

fn direction(writer: &Writer, better: Better) -> Result<String, ReportError> {
    let key = match better {
        Better::Higher => "direction-higher",
        Better::Lower => "direction-lower",
    };
    Ok(writer.label(key)?.text().into())
}

/// What several comparisons found, where that is one sentence.
fn several_title(writer: &Writer, run: &Run, comparisons: &[&Comparison]) -> Said {
    let judged: Vec<_> = comparisons.iter().map(|c| (run, *c)).collect();
    match grouped(&judged).as_slice() {
        [group] if is_split(group) => split(writer, "finding-split", group),
        _ => {
            let metric = comparisons.first().map_or("", |c| metric_title(run, c));
            writer.say("figure-dots-title", Args::new().name("metric", metric))
        }
    }
}

/// One row a comparison: the ratio of every block, its centre and its interval.
pub(super) fn dots_figure(
    writer: &Writer,
    run: &Run,
    comparisons: &[&Comparison],
    number: u32,
) -> Result<Figure, ReportError> {
    let mut series = Vec::new();
    for comparison in comparisons {
        for point in &comparison.points {
            let at = Prose::verbatim(&point.at.as_ref().map(shown).unwrap_or_default());
            let name = Prose::join_with(&[row_name(writer, run, comparison)?, at], ", ");
            series.push(Series { name: name.text().into(), marks: vec![ratio_mark(point)] });
        }
    }
    let better = comparisons.first().map_or(Better::Higher, |c| c.better);
    let axis = Axis {
        label: writer.label("axis-ratio")?.text().into(),
        unit: Unit::Ratio,
        scale: Scale::Linear,
        direction: direction(writer, better)?,
    };
    let equal = writer.label("reference-equal")?.text().into();
    let footnote = match comparisons.first() {
        Some(c) => footnote(writer, run, &c.overall, "figure-footnote")?,
        None => String::new(),
    };
    let title = match comparisons {
        [only] => finding_title(writer, run, only)?,
        several => several_title(writer, run, several)?,
    };
    Ok(Figure {
        id: format!("fig-{}-ratios", run.id),
        number,
        kind: FigureKind::Dots,
        title: title.text().into(),
        subtitle: dots_subtitle(writer, run, comparisons.first().copied())?.text().into(),
        x: axis.clone(),
        y: axis,
        series,
        zones: Vec::new(),
        references: vec![Reference { value: 1.0, name: equal }],
        footnote,
    })
}

/// `mtu 9000 B : 1500 B, tso off`.
pub(super) fn row_name(writer: &Writer, run: &Run, comparison: &Comparison) -> Said {
    let names = writer.say("pair-short", short_pair(run, comparison))?;
    Ok(Prose::join_with(&[names, condition(writer, run, comparison)?], ", "))
}

/// The metric and what the marks are.
fn dots_subtitle(writer: &Writer, run: &Run, first: Option<&Comparison>) -> Said {
    let Some(first) = first else { return Ok(Prose::default()) };
    let args = Args::new().name("metric", metric_title(run, first));
    if is_alone(&first.overall) {
        return writer.say("figure-dots-subtitle-alone", args);
    }
    writer.say("figure-dots-subtitle", args.quantity("level", level(&first.overall)))
}

fn ratio_mark(point: &PointResult) -> Mark {
    let paired = point.base_runs.len() == point.other_runs.len();
    let blocks = point.base_runs.iter().zip(&point.other_runs).filter(|_| paired);
    Mark {
        runs: blocks.map(|(base, other)| other.value / base.value).collect(),
        ..mark(None, (&point.ratio, &[]))
    }
}
