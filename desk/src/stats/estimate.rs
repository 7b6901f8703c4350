//! Knows the estimate: a centre that never travels without its interval, n and method.

use crate::unit::Quantity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How an estimate was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EstimateMethod {
    /// Mean and Student t interval.
    MeanT,
    /// exp of the mean logarithm, Student t interval: of rates, times, sizes and ratios.
    LogMeanT,
    /// exp of the mean log ratio within blocks, Student t interval.
    PairedLogT,
    /// As [`Self::PairedLogT`], the interval's level set by Holm's step over the curve.
    PairedLogTHolm,
    /// exp of the Hodges-Lehmann estimate of the log ratios within blocks, signed-rank interval.
    HodgesLehmann,
    /// Hodges-Lehmann estimate of single values, one a block, signed-rank interval; of rates,
    /// times, sizes and ratios on the log scale.
    SignedRank,
    /// As [`Self::PairedLogT`], simultaneous over the curve by sign flips of whole blocks.
    PairedLogMaxT,
    /// exp of the difference of the mean logs of two unpaired samples, Welch's t interval.
    WelchLog,
    /// As [`Self::WelchLog`], the interval's level set by Holm's step over the curve.
    WelchLogHolm,
    /// exp of the change over a series by the median slope between its log ratios, Sen's interval.
    MedianSlope,
    /// A quantile of all values of the trials together, interval between the quantiles of the
    /// single trials, as far as needed widened to hold it.
    MergedQuantile,
    /// A quantile of trials, interval between two of them by the binomial distribution.
    OrderStatistics,
    /// A share of trials, exact binomial interval.
    ClopperPearson,
    /// A count or a single reading: the interval is the value itself.
    Exact,
    /// Computed from a model of the plan, not measured.
    Planned,
}

/// A figure with its interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// Centre.
    pub centre: Quantity,
    /// Lower end of the interval.
    pub low: Quantity,
    /// Upper end of the interval.
    pub high: Quantity,
    /// Confidence level of the interval, 0-1.
    pub level: f64,
    /// Number of trials (or of blocks, for a paired ratio) behind it.
    pub n: u32,
    /// How it was made.
    pub method: EstimateMethod,
}

impl Estimate {
    /// A value that is known exactly: a count, a setting.
    #[must_use]
    pub const fn exact(value: Quantity) -> Self {
        Self {
            centre: value,
            low: value,
            high: value,
            level: 1.0,
            n: 1,
            method: EstimateMethod::Exact,
        }
    }

    /// How far a ratio above 0 lies from no change either way: |ln centre|, 0 or more.
    #[must_use]
    pub fn distance(&self) -> f64 {
        self.centre.value.ln().abs()
    }

    /// The same of the end of its interval that is nearer to no change.
    #[must_use]
    pub fn nearest(&self) -> f64 {
        self.low.value.ln().abs().min(self.high.value.ln().abs())
    }

    /// How far the farther end of its interval lies from a centre above 0, as a share of it.
    #[must_use]
    pub fn reach(&self) -> f64 {
        let centre = self.centre.value;
        (self.high.value - centre).max(centre - self.low.value) / centre
    }
}
