//! Knows the points of a curve at which not one visit of a level was valid: they are drawn hollow,
//! as they were seen, and are in no figure of the text.

use super::figures::quantity_of;
use crate::figure::Mark;
use desk::record::{Run, TrialKind, TrialRecord, Value};
use desk::verdict::Comparison;

/// Hollow marks of the baseline and of the other level, in the order of the plan.
pub(super) fn lost(run: &Run, comparison: &Comparison) -> [Vec<Mark>; 2] {
    [&comparison.base, &comparison.other].map(|level| of_level(run, comparison, level))
}

fn of_level(run: &Run, comparison: &Comparison, level: &str) -> Vec<Mark> {
    let curve = comparison.curve.as_deref().unwrap_or_default();
    let load = run.plan.load(&comparison.load);
    let swept = load.and_then(|l| l.over.iter().find(|(name, _)| name == curve));
    let known = |value: &Value| comparison.points.iter().any(|p| p.at.as_ref() == Some(value));
    let values = swept.into_iter().flat_map(|(_, values)| values).filter(|v| !known(v));
    values.filter_map(|value| mark(run, comparison, (level, curve, value))).collect()
}

/// The middle of what was seen; nothing where a visit was valid or none gave a figure.
fn mark(
    run: &Run,
    comparison: &Comparison,
    (level, curve, value): (&str, &str, &Value),
) -> Option<Mark> {
    let here = |r: &&TrialRecord| {
        let (trial, params) = (&r.trial, &r.trial.point.params);
        let levels = &trial.treatment.levels;
        trial.kind == TrialKind::Counted
            && trial.point.load == comparison.load
            && params.get(curve) == Some(value)
            && comparison.fixed.iter().all(|(k, v)| params.get(k) == Some(v))
            && comparison.stratum.iter().all(|(k, v)| levels.get(k) == Some(v))
            && levels.get(&comparison.factor).is_some_and(|l| l == level)
    };
    let visits: Vec<&TrialRecord> = run.records.iter().filter(here).collect();
    if visits.iter().any(|r| r.outcome.fault.is_none()) {
        return None;
    }
    let seen = visits.iter().filter_map(|r| run.value(r, &comparison.metric));
    let mut seen: Vec<f64> = seen.map(|q| q.value).collect();
    seen.sort_by(f64::total_cmp);
    let middle = *seen.get(seen.len() / 2)?;
    let x = quantity_of(value)?.value;
    Some(Mark { x, centre: middle, low: middle, high: middle, runs: seen, valid: false })
}
