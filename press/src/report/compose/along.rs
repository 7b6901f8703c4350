//! Knows how it is said what was full along a curve, of levels or of a load alone, and where two
//! levels change places.

use super::effect::plain_effects;
use super::limits::{kinds_of, named};
use super::names::{level_name, level_names, pair};
use super::places::among;
use super::ruling::shown;
use super::{Part, Said, Writer};
use crate::report::document::Prose;
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::{Run, Value};
use desk::stats::Estimate;
use desk::verdict::{Comparison, LimitKind};

/// A point: what held the load down there with what ties, where it is, and the share that shows it.
pub(super) type Seen<'a> = (Vec<LimitKind>, Option<Value>, &'a Estimate);

/// Points with one limit, or with the same that tie.
struct Stretch<'a> {
    kinds: Vec<LimitKind>,
    places: Vec<Option<Value>>,
    evidence: Vec<&'a Estimate>,
}

/// What was full under each level along the curve; nothing if no limit was looked for.
pub(super) fn limits(
    writer: &Writer,
    part: &Part<'_>,
    comparison: &Comparison,
) -> Result<Vec<Prose>, ReportError> {
    let levels = [&comparison.base, &comparison.other];
    let found = levels.map(|level| stretches(of_level(part, comparison, level)));
    let names = level_names(part.run, comparison);
    if let [[base], [other]] = [found[0].as_slice(), found[1].as_slice()]
        && base.kinds == other.kinds
        && base.places.len() == other.places.len()
        && base.places.len() == comparison.points.len()
    {
        let all: Vec<&Estimate> = base.evidence.iter().chain(&other.evidence).copied().collect();
        let args = Args::new()
            .prose("limit", &named(writer, &base.kinds)?)
            .prose("evidence", &evidence(&all));
        let key = if is_unseen(base) { "along-both-unseen" } else { "along-both" };
        return Ok(vec![writer.say(key, args)?]);
    }
    let all: Vec<Option<Value>> = comparison.points.iter().map(|point| point.at.clone()).collect();
    let mut said = Vec::new();
    for (name, stretches) in names.iter().zip(&found) {
        if let Some(parts) = parts(writer, (None, &all), stretches)? {
            let args = Args::new().name("level", name).prose("parts", &parts);
            said.push(writer.say("along-level", args)?);
        }
    }
    Ok(said)
}

/// What was full along an axis of one load that stands alone, in the order of its steps; nothing if
/// no limit was looked for. The axis is named where the load has others.
pub(super) fn alone(
    writer: &Writer,
    axis: Option<&Prose>,
    seen: Vec<Seen<'_>>,
) -> Result<Option<Prose>, ReportError> {
    let mut all: Vec<Option<Value>> = seen.iter().map(|(_, at, _)| at.clone()).collect();
    all.dedup();
    parts(writer, (axis, &all), &stretches(seen.into_iter()))
}

/// Each limit with its points, of all on an axis, and the share that shows it.
fn parts(
    writer: &Writer,
    (axis, all): (Option<&Prose>, &[Option<Value>]),
    stretches: &[Stretch<'_>],
) -> Result<Option<Prose>, ReportError> {
    let mut parts = Vec::new();
    for stretch in stretches {
        let places = among(writer, all, &stretch.places)?;
        let is_part = all.iter().any(|at| !stretch.places.contains(at));
        let places = match axis.filter(|_| is_part) {
            Some(axis) => Prose::join(&[axis.clone(), places]),
            None => places,
        };
        let args = Args::new()
            .prose("limit", &named(writer, &stretch.kinds)?)
            .prose("places", &places)
            .prose("evidence", &evidence(&stretch.evidence));
        let key = if is_unseen(stretch) { "along-part-unseen" } else { "along-part" };
        parts.push(writer.say(key, args)?);
    }
    Ok((!parts.is_empty()).then(|| Prose::join_with(&parts, "; ")))
}

fn is_unseen(stretch: &Stretch<'_>) -> bool {
    stretch.kinds == [LimitKind::NoneSeen]
}

/// The limits of a level along the curve.
fn of_level<'a>(
    part: &Part<'a>,
    comparison: &Comparison,
    level: &str,
) -> impl Iterator<Item = Seen<'a>> {
    let all = part.analysis.point_limits.iter();
    let its = all.filter(move |p| p.limit.comparison == comparison.id && p.limit.level == level);
    its.map(|p| (kinds_of(&p.limit), Some(p.at.clone()), &p.limit.evidence))
}

/// The kinds of limit in the order in which a curve meets them.
fn stretches<'a>(seen: impl Iterator<Item = Seen<'a>>) -> Vec<Stretch<'a>> {
    let mut stretches: Vec<Stretch<'a>> = Vec::new();
    for (kinds, at, share) in seen {
        match stretches.iter_mut().find(|s| s.kinds == kinds) {
            Some(stretch) => {
                stretch.places.push(at);
                stretch.evidence.push(share);
            }
            None => stretches.push(Stretch { kinds, places: vec![at], evidence: vec![share] }),
        }
    }
    stretches
}

/// The share that shows it, from the least to the largest.
fn evidence(shares: &[&Estimate]) -> Prose {
    let by = |a: &&&Estimate, b: &&&Estimate| a.centre.value.total_cmp(&b.centre.value);
    let (low, high) = (shares.iter().min_by(by), shares.iter().max_by(by));
    let (Some(low), Some(high)) = (low, high) else { return Prose::default() };
    if low.centre.to_string() == high.centre.to_string() {
        return Prose::estimate(high);
    }
    Prose::range(low, high)
}

/// Where one level takes the lead from the other, a sentence a crossing.
pub(super) fn crossings(
    writer: &Writer,
    run: &Run,
    comparison: &Comparison,
) -> Result<Vec<Prose>, ReportError> {
    let mut said = Vec::new();
    for pair_of in comparison.regions.windows(2) {
        let [before, after] = pair_of else { continue };
        if before.other_ahead == after.other_ahead {
            continue;
        }
        said.push(crossing(writer, (run, comparison), (&before.to, &after.from))?);
    }
    Ok(said)
}

fn crossing(
    writer: &Writer,
    (run, comparison): (&Run, &Comparison),
    (from, to): (&Value, &Value),
) -> Said {
    let at = |value: &Value| comparison.points.iter().find(|p| p.at.as_ref() == Some(value));
    let [before, after] = match (at(from), at(to)) {
        (Some(before), Some(after)) => plain_effects(writer, [&before.ratio, &after.ratio])?,
        _ => Default::default(),
    };
    let other_after = comparison.regions.iter().any(|r| r.from == *to && r.other_ahead);
    let leader = if other_after { &comparison.other } else { &comparison.base };
    let args = pair(run, comparison)
        .name("leader", &level_name(&run.plan, &comparison.factor, leader))
        .name("from", &shown(from))
        .name("to", &shown(to))
        .prose("before", &before)
        .prose("after", &after);
    writer.say("crossing", args)
}
