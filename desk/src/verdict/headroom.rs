//! Knows how many times a figure the generator of a load reaches alone, and where that is too
//! little for a verdict: what is measured and what measures share the time of a CPU then.
//!
//! Never: how the generator was measured alone.

use super::analysis::Analysis;
use super::by_level::{LevelTable, asked_tables};
use super::finding::{ClaimNeed, Verdict};
use super::pairing::Contest;
use crate::record::{Derivation, LoadPlan, Run, TrialRecord, Value};
use crate::stats::median;

/// Below this there is no verdict: the generator then takes more than a fifth of the time.
pub const LEAST_HEADROOM: u32 = 5;

/// The headroom of every load that asks for it and has it, by point and level.
#[must_use]
pub fn headrooms(run: &Run) -> Vec<LevelTable> {
    asked_tables(run, Derivation::Headroom)
}

/// Whether the median of the valid trials among these has too little of it; false where none has
/// the figure.
pub(super) fn is_short<'r>(
    run: &Run,
    load: &LoadPlan,
    records: impl Iterator<Item = &'r TrialRecord>,
) -> bool {
    let Some(derive) = load.asks(Derivation::Headroom).next() else { return false };
    let valid = records.filter(|record| record.outcome.fault.is_none());
    let told: Vec<f64> =
        valid.filter_map(|record| Some(run.value(record, &derive.metric)?.value)).collect();
    median(&told).is_some_and(|middle| middle < f64::from(LEAST_HEADROOM))
}

/// Whether headroom allows a verdict on the second level of a load at a size, bytes.
///
/// # Errors
/// The need of it.
pub(super) fn has_headroom(
    run: &Run,
    found: &Analysis,
    (load, size): (&LoadPlan, f64),
) -> Result<(), ClaimNeed> {
    let factor = run.plan.factors.iter().find(|factor| factor.name == run.plan.method.compare);
    let second = factor.and_then(|factor| factor.levels.get(1)).map(|level| level.name.as_str());
    let its = found.comparisons.iter().filter(|comparison| {
        comparison.load == load.name && Some(comparison.other.as_str()) == second
    });
    let lacks = its.flat_map(|comparison| &comparison.points).any(|point| {
        let at = point.at.as_ref().and_then(Value::quantity).map(|at| at.value);
        at == Some(size) && point.verdict == Verdict::NoHeadroom
    });
    if lacks { Err(ClaimNeed::Headroom) } else { Ok(()) }
}

/// The places of a contest at which a level has too little of it.
pub(super) fn short(run: &Run, contest: &Contest<'_>) -> Vec<usize> {
    let is = |side: &Vec<&TrialRecord>| is_short(run, contest.load, side.iter().copied());
    let points = contest.points.iter().enumerate();
    points.filter(|(_, point)| point.visits.iter().any(is)).map(|(place, _)| place).collect()
}
