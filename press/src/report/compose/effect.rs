//! Knows how an effect is said: as a ratio when it is large, in per cent when it is small.

use super::names::key_words;
use super::{Said, Writer};
use crate::report::document::Prose;
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::Run;
use desk::stats::{Estimate, EstimateMethod};
use desk::unit::{Quantity, Unit};
use desk::verdict::{Comparison, Verdict};

/// Ratios nearer to 1 than this are said in per cent.
const SMALL: f64 = 0.5;

/// Whether per cents say this ratio better than a factor does.
fn is_small(ratio: &Estimate) -> bool {
    (ratio.centre.value - 1.0).abs() < SMALL
}

/// The confidence level as a quantity.
pub(super) const fn level(estimate: &Estimate) -> Quantity {
    Quantity::new(estimate.level, Unit::Share)
}

/// `2.93× (95 % interval 2.71–3.17×)`, or `+3.1 % (95 % interval +1.2 % to +5.0 %)`.
pub(super) fn effect(writer: &Writer, ratio: &Estimate) -> Said {
    if let Some(alone) = alone(writer, ratio) {
        return alone;
    }
    let key = if is_small(ratio) { "effect-change" } else { "effect-ratio" };
    writer.say(key, ends(ratio, is_small(ratio)).quantity("level", level(ratio)))
}

/// The same without the confidence level, for a column or a line that names it elsewhere.
pub fn short_effect(writer: &Writer, ratio: &Estimate) -> Said {
    short(writer, ratio, is_small(ratio))
}

fn short(writer: &Writer, ratio: &Estimate, small: bool) -> Said {
    if let Some(alone) = alone(writer, ratio) {
        return alone;
    }
    let key = if small { "effect-short-change" } else { "effect-short-ratio" };
    writer.say(key, ends(ratio, small))
}

/// Two effects of one sentence with their intervals: both as per cents, or both as factors.
pub(super) fn short_effects(
    writer: &Writer,
    [first, second]: [&Estimate; 2],
) -> Result<[Prose; 2], ReportError> {
    let small = is_small(first) && is_small(second);
    Ok([short(writer, first, small)?, short(writer, second, small)?])
}

/// The same without their intervals.
pub(super) fn plain_effects(
    writer: &Writer,
    [first, second]: [&Estimate; 2],
) -> Result<[Prose; 2], ReportError> {
    let small = is_small(first) && is_small(second);
    let said = |ratio| writer.say("effect-plain", centre(ratio, small));
    Ok([said(first)?, said(second)?])
}

/// The centre alone, where the interval stands beside or below.
pub(super) fn plain_effect(writer: &Writer, ratio: &Estimate) -> Said {
    writer.say("effect-plain", centre(ratio, is_small(ratio)))
}

/// Two effects without their intervals, from the closest to the widest; one, if they read alike.
pub(super) fn effects(writer: &Writer, [closest, widest]: [&Estimate; 2]) -> Said {
    let [near, far] = plain_effects(writer, [closest, widest])?;
    if near.text() == far.text() {
        return Ok(near);
    }
    let args = Args::new().prose("closest", &near).prose("widest", &far);
    writer.say("advice-effects", args)
}

/// Whether there was one block only.
pub(super) fn is_alone(ratio: &Estimate) -> bool {
    ratio.method == EstimateMethod::Exact
}

/// A ratio of a single block has no interval, which must not look like an interval of no width.
fn alone(writer: &Writer, ratio: &Estimate) -> Option<Said> {
    if !is_alone(ratio) {
        return None;
    }
    Some(writer.say("effect-exact", centre(ratio, is_small(ratio))))
}

fn centre(ratio: &Estimate, small: bool) -> Args {
    match small {
        true => Args::new().changed("centre", ratio.centre),
        false => Args::new().estimate("centre", ratio),
    }
}

fn ends(ratio: &Estimate, small: bool) -> Args {
    if small {
        Args::new()
            .changed("change", ratio.centre)
            .changed("low", ratio.low)
            .changed("high", ratio.high)
    } else {
        Args::new().estimate("ratio", ratio).ends("range", ratio.low, ratio.high)
    }
}

/// What a heading calls the metric of a comparison.
pub(super) fn metric_title<'a>(run: &'a Run, comparison: &'a Comparison) -> &'a str {
    let known = run.metric(&comparison.load, &comparison.metric);
    known.map_or(comparison.metric.as_str(), |m| m.title.as_str())
}

/// What a metric is called: as the run calls it, else as the desk calls what it derives.
pub(super) fn metric_name(writer: &Writer, run: &Run, metric: &str) -> Said {
    match run.metrics.iter().find(|m| m.name == metric) {
        Some(known) => Ok(Prose::verbatim(&known.title)),
        None => derived(writer, metric),
    }
}

/// What the desk calls a metric that it derives.
pub(super) fn derived(writer: &Writer, metric: &str) -> Said {
    match metric {
        "cpu" => writer.label("metric-cpu"),
        "pe_index" => writer.label("metric-pe-index"),
        "cpu_per_gb" => writer.label("metric-cpu-per-gb"),
        "cpu_per_operation" => writer.label("metric-cpu-per-operation"),
        "displaced" => writer.label("metric-displaced"),
        unknown => Ok(Prose::verbatim(&key_words(unknown))),
    }
}

/// A ratio without its interval's level where it says something; a dash where it means nothing.
pub(super) fn judged_effect(writer: &Writer, (ratio, verdict): (&Estimate, Verdict)) -> Said {
    match verdict {
        unlike if unlike.has_no_ratio() => Ok(Prose::none()),
        _ => short_effect(writer, ratio),
    }
}
