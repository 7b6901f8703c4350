//! Knows the quantile of a level: that of all values of its valid trials at a point together.
//!
//! Never: how levels compare. They are set against each other by the quantile of each trial, and a
//! mean of those is no quantile of anything.

use crate::record::{Distribution, Metric, TrialRecord};
use crate::stats::{Estimate, EstimateMethod};
use crate::unit::{Quantity, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Values expected beyond a quantile from which it is told. How many lie beyond it is binomial:
/// with 10 the standard deviation is sqrt(10), a third of them, and with fewer the quantile is soon
/// that of the few largest values alone.
const BEYOND: u32 = 10;

/// A quantile that too few values carry.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TooFew {
    /// Which quantile, a share.
    pub at: Quantity,
    /// How many values there are.
    pub values: Quantity,
    /// How many it takes: 10 beyond the quantile.
    pub needs: Quantity,
}

/// The quantile that a metric is over all values of these trials, in the metric's unit; none where
/// it is no quantile, or no trial has its distribution. Distributions that cannot be read as one
/// have no value.
pub(super) fn merged<'r>(
    metric: &Metric,
    trials: impl Iterator<Item = &'r TrialRecord>,
) -> Option<Result<f64, TooFew>> {
    let quantile = metric.quantile.as_ref()?;
    let of: Vec<&Distribution> =
        trials.filter_map(|record| record.outcome.distribution(quantile)).collect();
    let first = of.first()?;
    let all = Distribution::merged(of.iter().copied()).ok().flatten();
    let (count, needs) = (all.as_ref().map_or(0, |all| all.len()), quantile.needs(BEYOND));
    let Some(all) = all.filter(|_| count >= needs) else {
        let (values, needs) = (Quantity::count(count), Quantity::count(needs));
        return Some(Err(TooFew { at: Quantity::new(quantile.at, Unit::Share), values, needs }));
    };
    #[expect(clippy::cast_precision_loss, reason = "values stay far below 2^53")]
    let value = all.value_at_quantile(quantile.at) as f64 * first.step;
    Some(Ok(value))
}

/// A level by the quantile of all its values, with the interval that the quantiles of its trials
/// gave, as far as needed widened to hold it: one wild trial may move the whole beyond the rest.
pub(super) fn centred(estimate: Estimate, whole: f64) -> Estimate {
    let unit = estimate.centre.unit;
    let method = match estimate.method {
        EstimateMethod::Exact => EstimateMethod::Exact,
        _ => EstimateMethod::MergedQuantile,
    };
    Estimate {
        centre: Quantity::new(whole, unit),
        low: Quantity::new(estimate.low.value.min(whole), unit),
        high: Quantity::new(estimate.high.value.max(whole), unit),
        method,
        ..estimate
    }
}
