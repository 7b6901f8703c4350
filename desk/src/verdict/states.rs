//! Knows which levels are fast or slow for a whole trial, by chance; never why.

use super::finding::{State, TwoStates};
use super::pairing::{Contest, Side};
use crate::record::Run;
use crate::stats::{mean, mean_or_single, two_groups};
use crate::unit::Unit;

/// Share of the distance of two states, in logs, that the ratio within blocks must keep.
const KEPT: f64 = 0.5;

/// Every level of a contest that has two states at a point, and which points those are.
///
/// Looked at are the paired trials of a level at a point, over all blocks: the ones that its ratio
/// rests on. Where the factor needs a reboot these are the means of its boots: a level may be fast
/// in one boot and slow in the next. The rule is that of [`two_groups`]; mean segments count where
/// every trial has one.
/// Besides, at least [`KEPT`] of the distance must be seen in the ratio to the other level as well:
/// a machine that is slow for a whole block is slow for both levels, and pairing takes that out.
pub(super) fn two_states(
    run: &Run,
    contest: &Contest<'_>,
    comparison: &str,
) -> (Vec<bool>, Vec<TwoStates>) {
    let unit = run.deciding(&contest.load.name).map_or(Unit::Count, |metric| metric.unit);
    let mut found = Vec::new();
    let mut torn = Vec::new();
    for point in &contest.points {
        let before = found.len();
        let logs: Vec<f64> = point.pairs.iter().map(|pair| pair.log).collect();
        let against: Vec<f64> = logs.iter().map(|log| -log).collect();
        let base: Vec<&Side<'_>> = point.pairs.iter().map(|pair| &pair.base).collect();
        let other: Vec<&Side<'_>> = point.pairs.iter().map(|pair| &pair.other).collect();
        let sides = [(contest.base, base, against), (contest.other, other, logs)];
        for (level, shown, logs) in sides {
            let Some([slow, fast]) = states(run, &shown, (&logs, unit)) else { continue };
            found.push(TwoStates {
                comparison: comparison.into(),
                level: level.name.clone(),
                at: point.at.clone(),
                slow,
                fast,
            });
        }
        torn.push(found.len() > before);
    }
    (torn, found)
}

/// Mean segment of a trial, or over the trials of a boot; none where one has none.
fn segment(run: &Run, shown: &Side<'_>) -> Option<f64> {
    let all = shown.trials.iter().map(|t| run.segment(t.record));
    all.collect::<Option<Vec<f64>>>().map(|all| mean(&all))
}

/// The states of a level; `logs` are its log ratios to the other one, pair by pair.
fn states(run: &Run, shown: &[&Side<'_>], (logs, unit): (&[f64], Unit)) -> Option<[State; 2]> {
    let rates: Vec<f64> = shown.iter().map(|side| side.value).collect();
    let segments = shown.iter().map(|side| segment(run, side));
    let segments: Option<Vec<f64>> = segments.collect();
    let [slow, fast] = two_groups(&rates, segments.as_deref())?;
    let log_rates: Vec<f64> = rates.iter().map(|rate| rate.ln()).collect();
    let centre = |values: &[f64], group: &[usize]| {
        mean(&group.iter().map(|i| values[*i]).collect::<Vec<_>>())
    };
    let apart = |values: &[f64]| centre(values, &fast) - centre(values, &slow);
    if apart(logs) < KEPT * apart(&log_rates) {
        return None;
    }
    let of = |values: &[f64], group: &[usize], unit| {
        mean_or_single(&group.iter().map(|i| values[*i]).collect::<Vec<_>>(), unit)
    };
    let state = |group: &[usize]| {
        Some(State {
            rate: of(&rates, group, unit)?,
            segment: segments.as_deref().and_then(|s| of(s, group, Unit::Byte)),
            trials: u32::try_from(group.len()).unwrap_or(u32::MAX),
        })
    };
    Some([state(&slow)?, state(&fast)?])
}
