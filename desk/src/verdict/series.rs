//! Knows the figures of one treatment and direction along a curve, block by block.
//!
//! Never: what they are compared with.

use super::pairing::Measure;
use crate::record::{
    FactorPlan, LoadPlan, ParamRole, Plan, Replicate, Run, TrialKind, TrialRecord, Value,
};
use crate::stats::{log_ratio, mean};
use std::collections::BTreeMap;

/// Which trials of a load are meant.
pub(super) struct Side<'s> {
    /// Level of every factor.
    pub levels: BTreeMap<String, String>,
    /// None of a load that has none.
    pub direction: Option<&'s str>,
    /// What one figure is of: a block, or a round of boots where its levels are met in boots of
    /// their own.
    pub replicate: Replicate,
}

/// The first level of every factor.
pub(super) fn baseline(plan: &Plan) -> BTreeMap<String, String> {
    let first = |f: &FactorPlan| Some((f.name.clone(), f.levels.first()?.name.clone()));
    plan.factors.iter().filter_map(first).collect()
}

/// The direction of a load, or the first that it sweeps; none of a load that has none.
pub(super) fn direction_of(load: &LoadPlan) -> Option<&str> {
    let name = load.roles.get(&ParamRole::Direction)?;
    let swept = load.over.iter().find(|(swept, _)| swept == name);
    let first = swept.and_then(|(_, values)| values.first());
    first.or_else(|| load.fixed.get(name)).and_then(Value::word)
}

/// A figure by point of the curve and block, or round of boots.
pub(super) struct Series {
    /// In the order of the plan.
    pub points: Vec<Point>,
}

/// A place, none where nothing is swept, and a figure a block or round of boots.
pub(super) type Point = (Option<Value>, BTreeMap<u32, f64>);

impl Series {
    /// From the counted trials of a load without a fault; of a trial run again the first good visit
    /// counts. What is swept besides curve and direction stays at its first value. That of a round
    /// is the exponential of the mean log over the blocks of its boot.
    pub(super) fn of(run: &Run, load: &LoadPlan, side: &Side<'_>, measure: &Measure<'_>) -> Self {
        let curve = run.plan.curve(load);
        let swept = load.over.iter().find(|(name, _)| Some(name.as_str()) == curve);
        let places: Vec<Option<Value>> = swept
            .map_or_else(|| vec![None], |(_, values)| values.iter().cloned().map(Some).collect());
        let number = |record: &TrialRecord| match side.replicate {
            Replicate::Block => record.trial.block,
            Replicate::Boot => record.trial.round,
        };
        let rest = |(name, values): &(String, Vec<Value>), record: &TrialRecord| {
            Some(name.as_str()) == curve
                || load.roles.get(&ParamRole::Direction) == Some(name)
                || record.trial.point.params.get(name) == values.first()
        };
        let belongs = |record: &&TrialRecord| {
            let (trial, params) = (&record.trial, &record.trial.point.params);
            trial.kind == TrialKind::Counted
                && record.outcome.fault.is_none()
                && trial.point.load == load.name
                && trial.treatment.levels == side.levels
                && load.param(ParamRole::Direction, params).and_then(Value::word) == side.direction
                && load.over.iter().all(|axis| rest(axis, record))
        };
        let mut points: Vec<(_, Boots)> =
            places.into_iter().map(|place| (place, Boots::new())).collect();
        for record in run.records.iter().filter(belongs) {
            let at = swept.and_then(|(name, _)| record.trial.point.params.get(name));
            let point = points.iter_mut().find(|(place, _)| place.as_ref() == at);
            if let (Some((_, boots)), Some(value)) = (point, measure(record)) {
                let boot = boots.entry(number(record)).or_default();
                boot.entry(record.trial.block).or_insert(value);
            }
        }
        let together = |boots: Boots| boots.into_iter().map(|(at, all)| (at, centre(&all)));
        let points = points.into_iter().map(|(at, boots)| (at, together(boots).collect()));
        Self { points: points.collect() }
    }

    /// The sums of two series of one load, where both have a figure.
    pub(super) fn plus(&self, other: &Self) -> Self {
        let both = self.points.iter().zip(&other.points);
        let points = both
            .map(|((place, here), (_, there))| {
                let sum = |(block, a): (&u32, &f64)| Some((*block, a + there.get(block)?));
                (place.clone(), here.iter().filter_map(sum).collect())
            })
            .collect();
        Self { points }
    }
}

/// Number of a block or round to the figures of its blocks.
type Boots = BTreeMap<u32, BTreeMap<u32, f64>>;

/// The only one as it is, of several the exponential of their mean log.
fn centre(all: &BTreeMap<u32, f64>) -> f64 {
    match all.values().copied().collect::<Vec<f64>>()[..] {
        [one] => one,
        ref many => mean(&many.iter().map(|value| value.ln()).collect::<Vec<f64>>()).exp(),
    }
}

/// ln(other / base), one a block: means over the points of `part` that have any pair, of each block
/// that has one at all of them.
pub(super) fn block_logs(
    base: &Series,
    other: &Series,
    part: impl Fn(Option<&Value>) -> bool,
) -> Vec<f64> {
    let mut blocks: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    let mut live = 0;
    for ((place, here), (_, there)) in base.points.iter().zip(&other.points) {
        let pair = |(block, a): (&u32, &f64)| Some((*block, log_ratio(*a, *there.get(block)?)?));
        let logs: Vec<(u32, f64)> = here.iter().filter_map(pair).collect();
        if logs.is_empty() || !part(place.as_ref()) {
            continue;
        }
        live += 1;
        for (block, log) in logs {
            blocks.entry(block).or_default().push(log);
        }
    }
    blocks.into_values().filter(|logs| logs.len() == live).map(|logs| mean(&logs)).collect()
}
