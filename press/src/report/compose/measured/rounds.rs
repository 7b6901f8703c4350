//! Knows the figure of how the rate of a load went over its window.
//!
//! Never: what is a steady state; the caveats say that.

use super::layout::Layout;
use super::{Load, capital, count, points, title};
use crate::figure::{Axis, Figure, FigureKind, Scale, Series};
use crate::report::compose::effect::{is_alone, level};
use crate::report::compose::figures::{WIDE, direction, mark};
use crate::report::compose::names::key_words;
use crate::report::compose::{Said, Writer};
use crate::report::document::Prose;
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::stats::Estimate;
use desk::unit::{Quantity, Unit};
use desk::verdict::{MeasuredPoint, Rounds};

/// More lines cannot be told apart.
const LINES: usize = 5;

/// A point with its rounds.
type Line<'p> = (&'p MeasuredPoint, &'p Rounds);

/// The rates of a load in rounds: a line a point, those that changed most. None of a load without.
pub(super) fn figure(
    writer: &mut Writer,
    (part, load): Load<'_, '_>,
) -> Result<Option<Figure>, ReportError> {
    let all = points(part, load).filter_map(|point| Some((point, point.rounds.as_ref()?)));
    let mut lines: Vec<Line<'_>> = all.collect();
    let of = lines.len();
    lines.sort_by(|a, b| changed(b.1).total_cmp(&changed(a.1)));
    lines.truncate(LINES);
    let Some((_, first)) = lines.first().copied() else { return Ok(None) };
    let Some(metric) = part.run.metric(&load.name, &first.metric) else { return Ok(None) };
    let args = Args::new()
        .name("load", &capital(&key_words(&load.name)))
        .prose("metric", &title((part, load), &metric.name));
    let number = writer.next_figure();
    let (x, y) = (time_axis(writer)?, rate_axis(metric.title.clone(), &lines));
    let layout = Layout::of(&part.run.plan, load);
    let named = |(point, rounds): &Line<'_>| {
        let place = layout.place(point);
        let name =
            if place.text().is_empty() { key_words(&load.name) } else { place.text().into() };
        Series { name, marks: marks(rounds) }
    };
    Ok(Some(Figure {
        id: format!("fig-{}-{number}", part.run.id),
        number,
        kind: FigureKind::Sweep,
        title: writer.say("measured-rounds", args)?.text().into(),
        subtitle: subtitle(writer, first, (lines.len(), of))?.text().into(),
        x,
        y: Axis { direction: direction(writer, metric.better)?, ..y },
        series: lines.iter().map(named).collect(),
        zones: Vec::new(),
        references: Vec::new(),
        roofs: Vec::new(),
        footnote: String::new(),
    }))
}

/// Ratio of the largest rate to the smallest.
fn changed(rounds: &Rounds) -> f64 {
    let (low, high) = bounds(&rounds.rates);
    high / low.max(f64::MIN_POSITIVE)
}

fn bounds<'e>(rates: impl IntoIterator<Item = &'e Estimate>) -> (f64, f64) {
    let centres = rates.into_iter().map(|rate| rate.centre.value);
    centres.fold((f64::INFINITY, 0.0), |(low, high), value| (low.min(value), high.max(value)))
}

/// Each round at its end.
#[expect(clippy::cast_precision_loss, reason = "rounds are few")]
fn marks(rounds: &Rounds) -> Vec<crate::figure::Mark> {
    let at = |at: usize| Some(Quantity::seconds((at + 1) as f64 * rounds.round.value));
    rounds.rates.iter().enumerate().map(|(i, rate)| mark(at(i), (rate, &[]))).collect()
}

fn time_axis(writer: &Writer) -> Result<Axis, ReportError> {
    Ok(Axis {
        label: writer.label("axis-window")?.text().into(),
        unit: Unit::Second,
        scale: Scale::Linear,
        direction: String::new(),
        names: Vec::new(),
    })
}

fn rate_axis(label: String, lines: &[Line<'_>]) -> Axis {
    let (low, high) = bounds(lines.iter().flat_map(|(_, rounds)| &rounds.rates));
    let unit = lines.first().map_or(Unit::Count, |(_, rounds)| rounds.rates[0].centre.unit);
    let is_wide = low > 0.0 && high / low > WIDE;
    let scale = if is_wide { Scale::Log10 } else { Scale::Linear };
    Axis { label, unit, scale, direction: String::new(), names: Vec::new() }
}

/// How long a round is, what the bands are, and which lines are drawn of how many.
fn subtitle(writer: &Writer, first: &Rounds, (drawn, of): (usize, usize)) -> Said {
    let args = Args::new().quantity("round", first.round);
    let rate = &first.rates[0];
    let said = match is_alone(rate) {
        true => writer.say("measured-rounds-alone", args)?,
        false => writer.say("measured-rounds-bands", args.quantity("level", level(rate)))?,
    };
    if drawn == of {
        return Ok(said);
    }
    let args = Args::new().count("drawn", count(drawn)).count("of", count(of));
    let some = writer.say("measured-rounds-some", args)?;
    Ok(Prose::join_with(&[said, some], "; "))
}
