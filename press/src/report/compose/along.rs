//! Knows how it is said what was full along a curve, and where the two levels change places.

use super::effect::plain_effects;
use super::limits::{kinds_of, named};
use super::names::{level_name, level_names, pair};
use super::places::places;
use super::ruling::shown;
use super::{Part, Said, Writer};
use crate::report::document::Prose;
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::{Run, Value};
use desk::verdict::{Comparison, LimitKind, PointLimit};

/// Points of one level with one limit, or with the same that tie.
struct Stretch<'a> {
    kinds: Vec<LimitKind>,
    points: Vec<&'a PointLimit>,
}

/// What was full under each level along the curve; nothing if no limit was looked for.
pub(super) fn limits(
    writer: &Writer,
    part: &Part<'_>,
    comparison: &Comparison,
) -> Result<Vec<Prose>, ReportError> {
    let levels = [&comparison.base, &comparison.other];
    let found = levels.map(|level| of_level(part, comparison, level));
    let names = level_names(part.run, comparison);
    if let [[base], [other]] = [found[0].as_slice(), found[1].as_slice()]
        && base.kinds == other.kinds
        && base.points.len() == other.points.len()
        && base.points.len() == comparison.points.len()
    {
        let all: Vec<&PointLimit> = base.points.iter().chain(&other.points).copied().collect();
        let args = Args::new()
            .prose("limit", &named(writer, &base.kinds)?)
            .prose("evidence", &evidence(&all));
        let key = if is_unseen(base) { "along-both-unseen" } else { "along-both" };
        return Ok(vec![writer.say(key, args)?]);
    }
    let mut said = Vec::new();
    for (name, stretches) in names.iter().zip(&found) {
        let mut parts = Vec::new();
        for stretch in stretches {
            let at: Vec<Option<Value>> =
                stretch.points.iter().map(|p| Some(p.at.clone())).collect();
            let args = Args::new()
                .prose("limit", &named(writer, &stretch.kinds)?)
                .prose("places", &places(writer, comparison, &at)?)
                .prose("evidence", &evidence(&stretch.points));
            let key = if is_unseen(stretch) { "along-part-unseen" } else { "along-part" };
            parts.push(writer.say(key, args)?);
        }
        if !parts.is_empty() {
            let parts = Prose::join_with(&parts, "; ");
            let args = Args::new().name("level", name).prose("parts", &parts);
            said.push(writer.say("along-level", args)?);
        }
    }
    Ok(said)
}

fn is_unseen(stretch: &Stretch<'_>) -> bool {
    stretch.kinds == [LimitKind::NoneSeen]
}

/// The kinds of limit of a level in the order in which the curve meets them.
fn of_level<'a>(part: &Part<'a>, comparison: &Comparison, level: &str) -> Vec<Stretch<'a>> {
    let mut stretches: Vec<Stretch<'a>> = Vec::new();
    let all = part.analysis.point_limits.iter();
    for point in all.filter(|p| p.limit.comparison == comparison.id && p.limit.level == level) {
        let kinds = kinds_of(&point.limit);
        match stretches.iter_mut().find(|s| s.kinds == kinds) {
            Some(stretch) => stretch.points.push(point),
            None => stretches.push(Stretch { kinds, points: vec![point] }),
        }
    }
    stretches
}

/// The share that shows it, from the least to the largest.
fn evidence(points: &[&PointLimit]) -> Prose {
    let by = |a: &&&PointLimit, b: &&&PointLimit| {
        a.limit.evidence.centre.value.total_cmp(&b.limit.evidence.centre.value)
    };
    let (low, high) = (points.iter().min_by(by), points.iter().max_by(by));
    let (Some(low), Some(high)) = (low, high) else { return Prose::default() };
    let (low, high) = (&low.limit.evidence, &high.limit.evidence);
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
