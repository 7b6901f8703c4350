//! Knows how a single trial of a level comes out: the middle one, and the worst of ten.
//!
//! Never: what is inside a trial. A percentile of its requests is a metric of the trial, and its
//! interval is over trials like that of any metric.

use super::finding::{Comparison, TrialQuantile, TrialQuantiles};
use crate::record::{Better, Plan};
use crate::stats::{quantile, quantile_needs};
use crate::unit::{Quantity, Unit};
use std::collections::BTreeSet;

/// Share of trials at or below the middle one.
const MIDDLE: f64 = 0.5;
/// Share of trials that come out worse than the worst of ten.
const WORST: f64 = 0.1;

/// Every level at every point of the comparisons once, with the paired trials (means of boots,
/// where n counts boots) that its ratio rests on. A level that stands in several comparisons is
/// told with the first.
pub(super) fn trial_quantiles(plan: &Plan, comparisons: &[Comparison]) -> Vec<TrialQuantiles> {
    let level = 1.0 - plan.method.alpha();
    let mut known = BTreeSet::new();
    let mut all = Vec::new();
    for c in comparisons {
        for name in [&c.base, &c.other] {
            let place = format!("{:?}", (&c.factor, name, &c.stratum, &c.fixed, &c.load));
            if !known.insert(place) {
                continue;
            }
            for point in &c.points {
                let runs = if *name == c.base { &point.base_runs } else { &point.other_runs };
                let values: Vec<f64> = runs.iter().map(|q| q.value).collect();
                let unit = point.base.centre.unit;
                let of = |share| one(&values, (share, unit), level);
                all.push(TrialQuantiles {
                    comparison: c.id.clone(),
                    level: name.clone(),
                    at: point.at.clone(),
                    trials: u32::try_from(values.len()).unwrap_or(u32::MAX),
                    median: of(MIDDLE),
                    worst: of(match c.better {
                        Better::Higher => WORST,
                        Better::Lower => 1.0 - WORST,
                    }),
                });
            }
        }
    }
    all
}

fn one(values: &[f64], (share, unit): (f64, Unit), level: f64) -> TrialQuantile {
    TrialQuantile {
        share: Quantity::new(share, Unit::Share),
        value: quantile(values, (share, unit), level),
        needs: quantile_needs(share, level),
    }
}

#[cfg(test)]
mod tests {
    use super::super::analyse;
    use super::super::simulated::Simulated;
    use super::*;
    use statrs::distribution::{ContinuousCDF, Normal};

    #[test]
    fn the_middle_trial_and_the_worst_of_ten_are_those_that_were_planted() {
        let planted = Simulated { truth: |_| 1.3, noise: 0.02, blocks: 60, ..Simulated::default() };
        // A block moves by ten times the noise of a trial: a trial is off by both.
        let sd = 0.02 * 101.0_f64.sqrt();
        let tenth = Normal::standard().inverse_cdf(0.1);
        let (mut held, mut of) = (0, 0);
        for seed in 0..100 {
            let found = analyse(&Simulated { seed, ..planted.clone() }.run()).quantiles;
            assert_eq!(found.len(), 2);
            for (one, base) in found.iter().zip([1e9, 1.3e9]) {
                assert_eq!((one.trials, one.median.needs, one.worst.needs), (60, 6, 36));
                for (quantile, off) in [(&one.median, 0.0), (&one.worst, tenth)] {
                    let estimate = quantile.value.as_ref().unwrap();
                    let truth = base * (sd * off).exp();
                    let inside = estimate.low.value < truth && truth < estimate.high.value;
                    (held, of) = (held + u32::from(inside), of + 1);
                    assert!(estimate.level >= 0.95 && estimate.n == 60);
                }
            }
        }
        // 400 at 96 %, both levels of a run together: fewer than 368 have a chance of 0.1 %.
        assert!(held >= 368, "{held} of {of}");
    }

    #[test]
    fn the_worst_is_the_highest_where_less_is_better_and_few_trials_have_none() {
        let base = Simulated { blocks: 40, better: Better::Lower, ..Simulated::default() };
        let found = analyse(&base.run()).quantiles;
        let of = |q: &TrialQuantile| q.value.as_ref().unwrap().centre.value;
        assert!(of(&found[0].worst) > of(&found[0].median));
        let few = analyse(&Simulated { blocks: 5, ..base }.run()).quantiles;
        assert!(few[0].median.value.is_none() && few[0].worst.value.is_none());
        assert_eq!((few[0].trials, few[0].median.needs), (5, 6));
    }
}
