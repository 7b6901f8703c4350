//! Knows how a curve is explained: who is ahead where, where nobody is, from where on it is flat.

use super::Writer;
use super::effect::short_effect;
use super::names::{level_names, pair};
use super::ruling::shown;
use super::say::{between, places, sentence};
use crate::claim::{of_region, regions};
use crate::report::document::Prose;
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::{Better, Run, Value};
use desk::stats::Estimate;
use desk::verdict::{
    Agreement, Comparison, KNEE, Region, Verdict, curve_verdict, knee as first_near_top,
};

/// Who is ahead where, and where nobody is: a sentence a stretch.
pub(super) fn stretches(
    writer: &Writer,
    run: &Run,
    comparison: &Comparison,
) -> Result<Vec<Prose>, ReportError> {
    let mut said = Vec::new();
    for region in &comparison.regions {
        said.push(sentence(writer, &of_region((run, comparison), region))?);
    }
    said.extend(level_sentences(writer, comparison)?);
    Ok(said)
}

/// What the mean of a curve says and a region of it does not; nothing where both agree.
pub(super) fn disagreement(
    writer: &Writer,
    (run, comparison): (&Run, &Comparison),
) -> Result<Option<Prose>, ReportError> {
    let both = curve_verdict(comparison);
    let mut sides = Vec::new();
    for (ahead, key) in [(true, "but-ahead"), (false, "but-behind")] {
        let against = regions((run, comparison), ahead, |r| both.against.contains(r));
        if !against.is_empty() {
            let places = places(writer, &against, None)?;
            sides.push(writer.say(key, Args::new().prose("places", &places))?);
        }
    }
    let mean = match comparison.verdict {
        Verdict::Better => "ahead",
        Verdict::Worse => "behind",
        _ => "open",
    };
    let args = pair(run, comparison)
        .prose("effect", &short_effect(writer, &comparison.overall)?)
        .prose("sides", &Prose::join_with(&sides, ", "));
    let key = match (both.agreement, comparison.verdict) {
        (Agreement::Alike, _) => return Ok(None),
        (Agreement::Opposed, _) => {
            return writer.say("curve-opposed", args.name("mean", mean)).map(Some);
        }
        (Agreement::Hidden, Verdict::Undecided { .. }) => "curve-hidden-open",
        (Agreement::Hidden, _) => "curve-hidden",
    };
    writer.say(key, args).map(Some)
}

/// From where on each level is flat; nothing for a metric of which less is better.
pub(super) fn knees(
    writer: &Writer,
    run: &Run,
    comparison: &Comparison,
) -> Result<Vec<Prose>, ReportError> {
    if comparison.better == Better::Lower {
        return Ok(Vec::new());
    }
    let points = || comparison.points.iter().filter_map(|p| Some((p.at.as_ref()?, p)));
    let base: Vec<_> = points().map(|(at, p)| (shown(at), &p.base)).collect();
    let other: Vec<_> = points().map(|(at, p)| (shown(at), &p.other)).collect();
    let [first, second] = level_names(run, comparison);
    let said = [knee(writer, &first, &base)?, knee(writer, &second, &other)?];
    Ok(said.into_iter().flatten().collect())
}

/// The two ends of a stretch, the one nearer to no difference first.
pub(super) fn nearest_first(region: &Region) -> (&Estimate, &Estimate) {
    if region.least.distance() <= region.most.distance() {
        (&region.least, &region.most)
    } else {
        (&region.most, &region.least)
    }
}

/// Where nobody is ahead, a sentence for what is equal and one for what is not decided; nothing
/// without a curve.
pub(super) fn level_sentences(
    writer: &Writer,
    comparison: &Comparison,
) -> Result<Vec<Prose>, ReportError> {
    let stretches = level_stretches(comparison);
    let mut said = Vec::new();
    for even in [true, false] {
        let mut places = Vec::new();
        for (_, from, to) in stretches.iter().filter(|s| s.0 == even) {
            places.push(between(writer, &shown(from), &shown(to))?);
        }
        if places.is_empty() {
            continue;
        }
        let args = Args::new().prose("places", &Prose::join_with(&places, ", "));
        said.push(match even {
            true => writer.say("region-even", args)?,
            false => writer.say("region-open", args.count("blocks", comparison.overall.n))?,
        });
    }
    Ok(said)
}

/// Stretches outside every region: equal within the margin (true), or merely not told apart.
fn level_stretches(comparison: &Comparison) -> Vec<(bool, &Value, &Value)> {
    let mut stretches: Vec<(bool, &Value, &Value)> = Vec::new();
    let mut joined = false;
    for point in &comparison.points {
        let even = match point.verdict {
            Verdict::Equivalent => true,
            Verdict::Undecided { .. } => false,
            _ => {
                joined = false;
                continue;
            }
        };
        let Some(at) = point.at.as_ref() else { continue };
        match stretches.last_mut() {
            Some(last) if joined && last.0 == even => last.2 = at,
            _ => stretches.push((even, at, at)),
        }
        joined = true;
    }
    stretches
}

/// Where a level, or a curve that stands alone, comes within the knee's share of its own maximum.
pub(super) fn knee(
    writer: &Writer,
    level: &str,
    course: &[(String, &Estimate)],
) -> Result<Option<Prose>, ReportError> {
    let top = course.iter().max_by(|a, b| a.1.centre.value.total_cmp(&b.1.centre.value));
    let values: Vec<f64> = course.iter().map(|(_, e)| e.centre.value).collect();
    let (Some((_, top)), Some(at)) = (top, first_near_top(&values)) else { return Ok(None) };
    let args = Args::new()
        .name("level", level)
        .quantity("share", KNEE)
        .estimate("highest", top)
        .name("at", &course[at].0);
    let key = if at + 1 == course.len() { "knee-rising" } else { "knee-reached" };
    writer.say(key, args).map(Some)
}
