//! Knows when two levels are typically alike and yet not in the mean: a level that collapses in a
//! trial now and then.
//!
//! Never: a cause, or a verdict; a median that a tenth of the trials fall short of is no fault.

use super::finding::{Comparison, PointResult};
use crate::record::Better;
use crate::stats::{
    Estimate, EstimateMethod, JUDGED_FROM, LEVEL, Rule, fisher_p, mean_equivalence_p, median,
    ratio_t, share_interval, typical_equivalence_p,
};
use crate::unit::{Quantity, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much worse than the median of its level a collapsed trial is, a share.
pub const COLLAPSE: f64 = 0.1;

/// How often the trials of a level collapse: come out more than 10 % worse than its median.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Collapsed {
    /// The level.
    pub level: String,
    /// How many of its paired trials.
    pub trials: u32,
    /// Their share, with its exact interval (Clopper and Pearson).
    pub share: Estimate,
    /// The metric of the middle one of them over the median of the level; none without any.
    pub at: Option<Quantity>,
}

/// Two ratios of one comparison that answer differently: a level collapses now and then.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Uneven {
    /// The typical ratio, other / base, as the comparison has it.
    pub typical: Estimate,
    /// The mean ratio: exp of the mean log ratio, Student t interval.
    pub mean: Estimate,
    /// The baseline.
    pub base: Collapsed,
    /// The other level.
    pub other: Collapsed,
}

/// What stands beside the ratio of a comparison of these points, judged from these log ratios of
/// whole blocks: where only one of the typical and the mean ratio is shown to lie within the
/// margin, where they lie on two sides of no difference, or where one level collapses more often
/// (Fisher's exact test at 5 %). None where no trial collapsed, and of fewer than five blocks.
pub(super) fn uneven(
    comparison: &Comparison,
    points: &[PointResult],
    (logs, rule): (&[f64], Rule),
) -> Option<Uneven> {
    if logs.len() < JUDGED_FROM || comparison.verdict.is_barred() {
        return None;
    }
    let of = |level: &str, runs: fn(&PointResult) -> &[Quantity]| {
        let runs: Vec<&[Quantity]> =
            points.iter().filter(|p| !p.verdict.is_barred()).map(runs).collect();
        collapsed((level, comparison.better), &runs)
    };
    let base = of(&comparison.base, |p| &p.base_runs);
    let other = of(&comparison.other, |p| &p.other_runs);
    if base.trials + other.trials == 0 {
        return None;
    }
    let mean = ratio_t(logs, 1.0 - rule.alpha, EstimateMethod::PairedLogT)?;
    let within = |p: Option<f64>| p.is_some_and(|p| p <= rule.alpha);
    let apart = within(typical_equivalence_p(logs, rule.margin))
        != within(mean_equivalence_p(logs, rule.margin));
    let typical = &comparison.overall;
    let counts = [(base.trials, base.share.n), (other.trials, other.share.n)];
    let oftener = fisher_p(counts[0], counts[1]) <= 1.0 - LEVEL;
    let told = apart || oftener || opposed(typical, &mean, rule.margin);
    told.then(|| Uneven { typical: typical.clone(), mean, base, other })
}

impl Uneven {
    /// The level that collapses more often, and how often the other does.
    #[must_use]
    pub fn sides(&self) -> (&Collapsed, &Collapsed) {
        match self.other.share.centre.value >= self.base.share.centre.value {
            true => (&self.other, &self.base),
            false => (&self.base, &self.other),
        }
    }
}

/// Whether the mean lies beyond the margin on the side where the typical ratio certainly is not.
fn opposed(typical: &Estimate, mean: &Estimate, margin: f64) -> bool {
    let mean = mean.centre.value;
    (typical.low.value > 1.0 && mean < 1.0 / (1.0 + margin))
        || (typical.high.value < 1.0 && mean > 1.0 + margin)
}

/// The collapsed trials of a level over its points, each against the median of its own point.
fn collapsed((level, better): (&str, Better), points: &[&[Quantity]]) -> Collapsed {
    let (mut of, mut losses) = (0, Vec::new());
    for runs in points {
        let values: Vec<f64> = runs.iter().map(|q| q.value).collect();
        let Some(middle) = median(&values) else { continue };
        of += values.len();
        let is_worse = |share: &f64| match better {
            Better::Higher => *share < 1.0 - COLLAPSE,
            Better::Lower => *share > 1.0 + COLLAPSE,
        };
        losses.extend(values.iter().map(|value| value / middle).filter(is_worse));
    }
    let [trials, of] = [losses.len(), of].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
    let (low, high) = share_interval(trials, of, LEVEL);
    let share = |value: f64| Quantity::new(value, Unit::Share);
    Collapsed {
        level: level.into(),
        trials,
        share: Estimate {
            centre: share(f64::from(trials) / f64::from(of.max(1))),
            low: share(low),
            high: share(high),
            level: LEVEL,
            n: of,
            method: EstimateMethod::ClopperPearson,
        },
        at: median(&losses).map(share),
    }
}

/// The largest share of collapsed trials, 0-1, that `n` blocks without one would have missed with a
/// chance of 5 %: 1 - 0.05^(1/n) (the "rule of three" without its approximation). 1 for none.
#[must_use]
pub fn share_unseen(n: u32) -> Quantity {
    let share = if n == 0 { 1.0 } else { 1.0 - (1.0 - LEVEL).powf(1.0 / f64::from(n)) };
    Quantity::new(share, Unit::Share)
}
