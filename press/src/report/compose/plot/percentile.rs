//! Knows the distribution of the visits of a level: where it has two states, or visits enough.

use super::{Drawn, numbered, single};
use crate::figure::{Axis, Figure, FigureKind, Scale, Series};
use crate::report::compose::effect::metric_title;
use crate::report::compose::names::{level_names, pair};
use crate::report::compose::places::at;
use crate::report::compose::ruling::condition;
use crate::report::compose::{Part, Writer, states};
use crate::report::document::Prose;
use crate::report::error::ReportError;
use desk::unit::{Quantity, Unit};
use desk::verdict::{Comparison, PointResult};

/// From so many visits of each level on, their distribution says more than mean and interval.
const ENOUGH: usize = 20;
/// At most so many of a comparison are drawn: the places where the states are furthest apart.
const DRAWN: usize = 2;

/// The distributions of a comparison that are worth a figure.
pub fn percentiles(
    writer: &mut Writer,
    part: &Part<'_>,
    comparison: &Comparison,
) -> Result<Vec<Figure>, ReportError> {
    let torn = |p: &&PointResult| {
        let torn = states::two_states(part, comparison);
        torn.iter().any(|s| s.at == p.at)
    };
    let many = |p: &PointResult| p.base_runs.len() >= ENOUGH && comparison.points.len() == 1;
    let mut chosen: Vec<&PointResult> = comparison.points.iter().filter(torn).collect();
    chosen.sort_by(|a, b| spread(part, comparison, b).total_cmp(&spread(part, comparison, a)));
    chosen.truncate(DRAWN);
    if chosen.is_empty() {
        chosen.extend(comparison.points.iter().filter(|p| many(p)));
    }
    let mut figures = Vec::new();
    for point in chosen {
        figures.push(of_point(writer, part, (comparison, point))?);
    }
    Ok(figures)
}

fn spread(part: &Part<'_>, comparison: &Comparison, point: &PointResult) -> f64 {
    let all = states::two_states(part, comparison);
    let here = all.iter().filter(|s| s.at == point.at);
    here.map(|s| s.fast.rate.centre.value / s.slow.rate.centre.value).fold(0.0, f64::max)
}

fn of_point(
    writer: &mut Writer,
    part: &Part<'_>,
    (c, point): (&Comparison, &PointResult),
) -> Result<Figure, ReportError> {
    let [base, other] = level_names(part.run, c);
    let metric = metric_title(part.run, c);
    let args =
        pair(part.run, c).name("metric", metric).prose("at", &at(writer, point.at.as_ref())?);
    let torn = states::two_states(part, c).iter().any(|s| s.at == point.at);
    let key = if torn { "percentile-title-states" } else { "percentile-title" };
    let title = writer.say(key, args)?;
    let condition = condition(part.run, c);
    let plain = writer.label("percentile-subtitle")?;
    let x = Axis {
        label: metric.into(),
        unit: point.base.centre.unit,
        scale: Scale::Linear,
        direction: String::new(),
        names: Vec::new(),
    };
    let y = Axis {
        label: writer.label("axis-share")?.text().into(),
        unit: Unit::Share,
        scale: Scale::Linear,
        direction: String::new(),
        names: Vec::new(),
    };
    let drawn = Drawn {
        kind: FigureKind::Percentile,
        title,
        subtitle: Prose::join_with(&[plain, condition], ", "),
        x,
        y,
        series: vec![steps(base, &point.base_runs), steps(other, &point.other_runs)],
        zones: Vec::new(),
        references: Vec::new(),
        roofs: Vec::new(),
        footnote: writer.label("percentile-footnote")?,
    };
    Ok(numbered(writer, &part.run.id, drawn))
}

/// The i-th of n visits in order of size has the share i / n at or below it.
#[expect(clippy::cast_precision_loss, reason = "visits are few")]
fn steps(name: String, runs: &[Quantity]) -> Series {
    let mut values: Vec<f64> = runs.iter().map(|q| q.value).collect();
    values.sort_by(f64::total_cmp);
    let all = values.len() as f64;
    let step = |(at, value): (usize, &f64)| single(*value, (at + 1) as f64 / all, true);
    Series { name, marks: values.iter().enumerate().map(step).collect() }
}
