//! Knows what a load counted by itself beside what another counted of the same work, such as a
//! device on the path: by point of the curve and level of what is compared.
//!
//! Never: who counted how. Equal counts say that neither lost sight of any; they are no verdict on
//! the levels.

use super::finding::{ClaimFigure, ClaimNeed, Standing};
use super::pairing::Measure;
use super::series::{Series, Side, baseline, block_logs};
use crate::record::{Derivation, Derive, FactorPlan, LoadPlan, Replicate, Run, Value};
use crate::stats::{Estimate, decide, log_ratio, mean, mean_or_single};
use crate::unit::{Quantity, Unit};
use std::collections::BTreeMap;

/// The two counts of a load.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnCount {
    /// The load.
    pub load: String,
    /// The parameter along which it goes; none where nothing is swept.
    pub along: Option<String>,
    /// Factor and level of each pair of columns; none where nothing is compared.
    pub levels: Vec<(String, String)>,
    /// A row a point, a pair a level.
    pub rows: Vec<(Option<Value>, Vec<OwnPair>)>,
    /// By how much the other count is off the load's own, where it is farthest, as a share.
    pub farthest: Quantity,
}

/// What was counted at a point under a level; none without a valid trial.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnPair {
    /// By the load.
    pub load: Option<Estimate>,
    /// By the other.
    pub own: Option<Estimate>,
}

/// The counts of every load that asks for them and has them: means over blocks, with the interval
/// of t.
#[must_use]
pub fn own_counts(run: &Run) -> Vec<OwnCount> {
    let asking =
        |load: &LoadPlan| Some((load.clone(), load.asks(Derivation::OwnCount).next()?.clone()));
    let loads: Vec<(LoadPlan, Derive)> = run.plan.loads.iter().filter_map(asking).collect();
    loads.iter().filter_map(|(load, derive)| of_load(run, load, &derive.metric)).collect()
}

fn of_load(run: &Run, load: &LoadPlan, metric: &str) -> Option<OwnCount> {
    let plan = &run.plan;
    let compared = plan.factors.iter().find(|factor| factor.name == plan.method.compare);
    let levels: Vec<Option<(&FactorPlan, &str)>> = match compared {
        Some(factor) => factor.levels.iter().map(|l| Some((factor, l.name.as_str()))).collect(),
        None => vec![None],
    };
    let unit = run.metric(&load.name, metric).map_or(Unit::Count, |spec| spec.unit);
    let mut rows: Vec<(Option<Value>, Vec<OwnPair>)> = Vec::new();
    let mut farthest: Option<f64> = None;
    for level in &levels {
        let [counted, own] =
            [plan.primary(&load.name), metric].map(|name| series(run, load, *level, name));
        for (at, ((place, here), (_, there))) in counted.points.iter().zip(&own.points).enumerate()
        {
            if rows.len() <= at {
                rows.push((place.clone(), Vec::new()));
            }
            rows[at].1.push(OwnPair { load: estimate(here, unit), own: estimate(there, unit) });
            let pair = |(block, a): (&u32, &f64)| log_ratio(*a, *there.get(block)?);
            let logs: Vec<f64> = here.iter().filter_map(pair).collect();
            let off = (!logs.is_empty()).then(|| mean(&logs).exp_m1().abs());
            farthest = off.into_iter().chain(farthest).reduce(f64::max);
        }
    }
    // A path without anything that counts has none.
    let farthest = farthest.map(|off| Quantity::new(off, Unit::Share))?;
    Some(OwnCount {
        load: load.name.clone(),
        along: plan.curve(load).map(str::to_owned),
        levels: levels.iter().flatten().map(|(f, l)| (f.name.clone(), (*l).to_owned())).collect(),
        rows,
        farthest,
    })
}

/// Log ratios of the other count to the load's own under the first level of every factor, one a
/// block.
fn baseline_logs(run: &Run) -> Option<Vec<f64>> {
    let asks = |load: &&LoadPlan| load.asks(Derivation::OwnCount).next().is_some();
    let load = run.plan.loads.iter().find(asks)?;
    let metric = &load.asks(Derivation::OwnCount).next()?.metric;
    let counted = series(run, load, None, run.plan.primary(&load.name));
    let logs = block_logs(&counted, &series(run, load, None, metric), |_| true);
    (!logs.is_empty()).then_some(logs)
}

/// How the claim stands that both counts are the same.
///
/// # Errors
/// Where no load has both.
pub(super) fn same(run: &Run) -> Result<Standing, ClaimNeed> {
    let logs = baseline_logs(run).ok_or(ClaimNeed::Load)?;
    let method = &run.plan.method;
    let ratio = decide(&logs, method.rule()).ok_or(ClaimNeed::Load)?.ratio;
    let margin = method.margin.value;
    let [low, high] = [ratio.low.value, ratio.high.value];
    let within = |end: f64| end >= 1.0 - margin && end <= 1.0 + margin;
    let sign = match (within(low) && within(high), high < 1.0 - margin || low > 1.0 + margin) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    };
    let ours = vec![(ClaimFigure::ThroughputRatio, ratio)];
    Ok(Standing::Compared { shape: None, knee: None, sign, ours, knee_at: None })
}

/// A metric under a level of one factor, and the first of the others.
fn series(run: &Run, load: &LoadPlan, level: Option<(&FactorPlan, &str)>, metric: &str) -> Series {
    let mut levels = baseline(&run.plan);
    levels.extend(level.map(|(factor, level)| (factor.name.clone(), level.to_owned())));
    let side = Side { levels, direction: None, replicate: Replicate::Block };
    let measure: &Measure<'_> = &|record| record.outcome.metric(metric).map(|found| found.value);
    Series::of(run, load, &side, measure)
}

fn estimate(blocks: &BTreeMap<u32, f64>, unit: Unit) -> Option<Estimate> {
    mean_or_single(&blocks.values().copied().collect::<Vec<f64>>(), unit)
}
