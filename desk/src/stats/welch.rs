//! Knows how two samples that nothing pairs are compared by their logs; never what they measure.

use super::estimate::{Estimate, EstimateMethod};
use super::interval::{t_quantile, t_tail};
use super::summary::Summary;
use crate::unit::{Quantity, Unit};

/// The difference of two means whose spreads need not be alike.
///
/// Source: B. L. Welch, "The generalization of Student's problem when several different population
/// variances are involved", Biometrika 34 (1947), 28-35.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Welch {
    /// Mean of the other sample less that of the base, in the unit of the values.
    pub difference: f64,
    /// Its standard error, in the unit of the values.
    pub standard_error: f64,
    /// Degrees of freedom by Welch and Satterthwaite, above 0.
    pub freedom: f64,
    /// Values of the smaller sample.
    pub n: u32,
}

impl Welch {
    /// Compares two samples. None where one of them has fewer than two values.
    #[must_use]
    pub fn of(base: &[f64], other: &[f64]) -> Option<Self> {
        let (a, b) = (Summary::of(base)?, Summary::of(other)?);
        let [va, vb] = [a, b].map(|s| s.standard_error().powi(2));
        let variance = va + vb;
        let freedom = if variance > 0.0 {
            variance.powi(2) / (va.powi(2) / a.freedom() + vb.powi(2) / b.freedom())
        } else {
            a.freedom() + b.freedom()
        };
        let (difference, standard_error) = (b.mean - a.mean, variance.sqrt());
        Some(Self { difference, standard_error, freedom, n: a.n.min(b.n) })
    }

    /// P(T > excess / standard error), 0-1. Without spread that is 0 or 1, and a half for none.
    fn tail_beyond(&self, excess: f64) -> f64 {
        if excess == 0.0 {
            return 0.5;
        }
        t_tail(excess / self.standard_error, self.freedom)
    }

    /// Two-sided p value, 0-1, of the test that the means are the same.
    #[must_use]
    pub fn p(&self) -> f64 {
        2.0 * self.tail_beyond(self.difference.abs())
    }

    /// p value, 0-1, of the two-sided test that the difference lies beyond ± ln(1 + margin): for
    /// samples of logs. It is below 1 - level where the interval of that level lies all beyond it,
    /// on one side. `margin` is a share, 0 or more.
    #[must_use]
    pub fn beyond_p(&self, margin: f64) -> f64 {
        (2.0 * self.tail_beyond(self.difference.abs() - margin.ln_1p())).min(1.0)
    }

    /// p value, 0-1, of the two one-sided tests that the difference lies within ± ln(1 + margin):
    /// for samples of logs. `margin` is a share, 0 or more.
    #[must_use]
    pub fn equivalence_p(&self, margin: f64) -> f64 {
        self.tail_beyond(margin.ln_1p() - self.difference.abs())
    }

    /// exp of the difference, other over base, with its interval at `level` (0-1): for samples of
    /// logs. `method` says where the level came from.
    #[must_use]
    pub fn ratio(&self, level: f64, method: EstimateMethod) -> Estimate {
        let half = t_quantile(0.5 * (1.0 - level), self.freedom) * self.standard_error;
        let ratio = |log: f64| Quantity::new(log.exp(), Unit::Ratio);
        Estimate {
            centre: ratio(self.difference),
            low: ratio(self.difference - half),
            high: ratio(self.difference + half),
            level,
            n: self.n,
            method,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: [f64; 5] = [101.2, 98.7, 103.9, 99.5, 100.8];

    fn logs(values: &[f64]) -> Vec<f64> {
        values.iter().map(|v| v.ln()).collect()
    }

    fn close(ours: f64, theirs: f64) {
        assert!((ours / theirs - 1.0).abs() < 1e-9, "{ours} is not {theirs}");
    }

    /// Base, other, then p, degrees of freedom, p of equivalence at 5 %, ratio, its ends at 95 %.
    type Golden = (&'static [f64], &'static [f64], [f64; 6]);

    // scipy 1.17.1, x = np.log(base), y = np.log(other), e = np.log1p(.05):
    // r = s.ttest_ind(y, x, equal_var=False); r.pvalue, r.df; the larger p value of
    // s.ttest_ind(y + e, x, equal_var=False, alternative='greater') and
    // s.ttest_ind(y - e, x, equal_var=False, alternative='less');
    // np.exp(y.mean() - x.mean()), np.exp(r.confidence_interval(.95))
    const GOLDEN: [Golden; 4] = [
        (
            &[101.2, 98.7, 103.9, 99.5, 100.8],
            &[104.1, 99.9, 108.2, 103.0, 102.2],
            [
                0.145641222515574,
                6.989424651395819,
                0.0948139612594197,
                1.0261880540463153,
                0.9885711130612322,
                1.06523638851476,
            ],
        ),
        (
            &[101.2, 98.7, 103.9, 99.5, 100.8],
            &[121.4, 119.8, 125.0],
            [
                0.0002492957818513758,
                3.9656764995870386,
                0.9996119934057648,
                1.2107351215824265,
                1.1601402879769767,
                1.263536444535839,
            ],
        ),
        (
            &[9.41, 9.38, 9.52, 9.29, 9.47, 9.4, 9.44, 9.36],
            &[9.1, 9.9, 8.7, 9.6],
            [
                0.7471529597899773,
                3.0511176369869,
                0.1349701428135599,
                0.9899093314206046,
                0.9041626376819695,
                1.0837878536386347,
            ],
        ),
        (
            &[1.0, 1.5, 0.7],
            &[1000.0, 1200.0, 900.0, 1050.0, 700.0],
            [
                0.00019827550827753674,
                2.692248738843552,
                0.9998989395719289,
                939.461785999797,
                418.44079510535624,
                2109.2313600343573,
            ],
        ),
    ];

    #[test]
    fn the_unpaired_t_test_is_that_of_scipy() {
        for (base, other, [p, freedom, equivalence, ratio, low, high]) in GOLDEN {
            let welch = Welch::of(&logs(base), &logs(other)).unwrap();
            close(welch.p(), p);
            close(welch.freedom, freedom);
            close(welch.equivalence_p(0.05), equivalence);
            let estimate = welch.ratio(0.95, EstimateMethod::WelchLog);
            close(estimate.centre.value, ratio);
            close(estimate.low.value, low);
            close(estimate.high.value, high);
        }
    }

    #[test]
    fn one_value_has_no_spread_and_samples_without_spread_divide_by_nothing() {
        assert_eq!(Welch::of(&[1.0], &[1.0, 2.0]), None);
        let apart = Welch::of(&[0.0, 0.0], &[0.25, 0.25, 0.25]).unwrap();
        assert_eq!((apart.p(), apart.equivalence_p(0.02), apart.n), (0.0, 1.0, 2));
        let same = Welch::of(&[0.5, 0.5], &[0.5, 0.5]).unwrap();
        assert_eq!((same.p(), same.equivalence_p(0.02)), (1.0, 0.0));
        assert_eq!(same.ratio(0.95, EstimateMethod::WelchLog).low.value, 1.0);
    }

    #[test]
    fn the_other_way_round_is_the_inverse_ratio() {
        let (a, b) = (logs(&A), logs(&[121.4, 119.8, 125.0]));
        let [there, back] = [Welch::of(&a, &b).unwrap(), Welch::of(&b, &a).unwrap()];
        let [there, back] = [there, back].map(|w| w.ratio(0.95, EstimateMethod::WelchLog));
        close(there.low.value, 1.0 / back.high.value);
        close(there.centre.value, 1.0 / back.centre.value);
    }
}
