//! Knows what a load counted by itself beside what another counted of the same work, such as a
//! device on the path: by point of the curve and level of what is compared.
//!
//! Never: who counted how. Equal counts say that neither lost sight of any; they are no verdict on
//! the levels.

use super::by_level::{LevelTable, asking, compared, under};
use super::finding::{ClaimFigure, ClaimNeed, Standing};
use super::searched::observed;
use super::series::{Point, block_logs};
use crate::record::{Derivation, LoadPlan, Run};
use crate::stats::{decide, log_ratio, mean};
use crate::unit::{Quantity, Unit};

/// The two counts of a load.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnCount {
    /// That of the load, then that of the other, under each level.
    pub table: LevelTable,
    /// By how much the other count is off the load's own, where it is farthest, as a share.
    pub farthest: Quantity,
}

/// The counts of every load that asks for them and has them.
#[must_use]
pub fn own_counts(run: &Run) -> Vec<OwnCount> {
    let run = &*observed(run);
    asking(run, Derivation::OwnCount)
        .filter_map(|(load, metric)| {
            let counted = run.plan.primary(&load.name);
            let off = farthest(run, load, [counted, metric]);
            // A path without anything that counts has none.
            let farthest = Quantity::new(off?, Unit::Share);
            Some(OwnCount { table: LevelTable::of(run, load, &[counted, metric]), farthest })
        })
        .collect()
}

/// The largest mean difference of two metrics at a point under a level, as a share of the first.
fn farthest(run: &Run, load: &LoadPlan, metrics: [&str; 2]) -> Option<f64> {
    let at_level = |level| {
        let [counted, own] = metrics.map(|name| under(run, load, level, name));
        let off = |((_, here), (_, there)): (&Point, &Point)| {
            let pair = |(block, a): (&u32, &f64)| log_ratio(*a, *there.get(block)?);
            let logs: Vec<f64> = here.iter().filter_map(pair).collect();
            (!logs.is_empty()).then(|| mean(&logs).exp_m1().abs())
        };
        counted.points.iter().zip(&own.points).filter_map(off).reduce(f64::max)
    };
    compared(&run.plan).into_iter().filter_map(at_level).reduce(f64::max)
}

/// Log ratios of the other count to the load's own under the first level of every factor, one a
/// block.
fn baseline_logs(run: &Run) -> Option<Vec<f64>> {
    let (load, metric) = asking(run, Derivation::OwnCount).next()?;
    let counted = under(run, load, None, run.plan.primary(&load.name));
    let logs = block_logs(&counted, &under(run, load, None, metric), |_| true);
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
