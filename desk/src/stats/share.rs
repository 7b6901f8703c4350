//! Knows the exact interval of a share, and how far neighbours of a series hang together.

use statrs::function::beta::inv_beta_reg;
use statrs::function::gamma::ln_gamma;

/// Room for the rounding of logarithms of equal chances, a share.
const ROUNDING: f64 = 1e-7;

/// The interval of Clopper and Pearson at `level` (0-1) for the share of `hits` among `of`, 0-1.
///
/// C. Clopper, E. Pearson, "The use of confidence or fiducial limits illustrated in the case of the
/// binomial", Biometrika 26 (1934), 404-413, by quantiles of the beta distribution. It covers the
/// true share at least as often as `level` says. Nothing counted gives 0-1.
#[must_use]
pub fn share_interval(hits: u32, of: u32, level: f64) -> (f64, f64) {
    let (hits, of) = (f64::from(hits.min(of)), f64::from(of));
    let tail = 0.5 * (1.0 - level);
    let low = if hits > 0.0 { inv_beta_reg(hits, of - hits + 1.0, tail) } else { 0.0 };
    let high = if hits < of { inv_beta_reg(hits + 1.0, of - hits, 1.0 - tail) } else { 1.0 };
    (low, high)
}

/// Two-sided p value, 0-1, of Fisher's exact test that two shares, each (hits, of), are alike: the
/// chance, given all hits, of every table that is no likelier than this one.
///
/// R. A. Fisher, "Statistical Methods for Research Workers", 5th edition (1934), 21.02. 1 where
/// either counts nothing.
#[must_use]
pub fn fisher_p((a, of_a): (u32, u32), (b, of_b): (u32, u32)) -> f64 {
    let hits = a.min(of_a) + b.min(of_b);
    let choose = |n: u32, k: u32| {
        let ln_factorial = |n: u32| ln_gamma(f64::from(n) + 1.0);
        ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k)
    };
    let log = |x: u32| choose(of_a, x) + choose(of_b, hits - x) - choose(of_a + of_b, hits);
    let own = log(a.min(of_a)) + ROUNDING;
    let tables = hits.saturating_sub(of_b)..=hits.min(of_a);
    tables.map(log).filter(|one| *one <= own).map(f64::exp).sum::<f64>().min(1.0)
}

/// Correlation of neighbours, -1 to 1, over several series with a mean of their own each: sums of
/// products of neighbours over sums of squares (Box, Jenkins, "Time Series Analysis", ch. 2).
///
/// A value has its place before it; values with a gap between them are no neighbours.
/// Of n values that do not hang together about -1/n is expected. None if no series has 3 values or
/// nothing varies.
#[must_use]
pub fn lag_one(series: &[&[(u32, f64)]]) -> Option<f64> {
    let (mut products, mut squares) = (0.0, 0.0);
    for places in series.iter().filter(|places| places.len() > 2) {
        let values: Vec<f64> = places.iter().map(|(_, value)| *value).collect();
        let mean = super::mean(&values);
        let next = |w: &&[(u32, f64)]| w[0].0.checked_add(1) == Some(w[1].0);
        let pairs = places.windows(2).filter(next);
        products += pairs.map(|w| (w[0].1 - mean) * (w[1].1 - mean)).sum::<f64>();
        squares += values.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
    }
    (squares > 0.0).then(|| products / squares)
}

#[cfg(test)]
mod tests {
    use super::*;

    // The ends for 0 and for all of n are closed forms: 1 - tail^(1/n) and tail^(1/n).
    #[test]
    fn the_ends_of_the_interval_are_the_closed_forms() {
        for of in [1, 4, 60] {
            let edge = 0.025_f64.powf(1.0 / f64::from(of));
            let (low, high) = share_interval(0, of, 0.95);
            assert!(low == 0.0 && (high - (1.0 - edge)).abs() < 1e-9, "{of}: {high}");
            let (low, high) = share_interval(of, of, 0.95);
            assert!(high == 1.0 && (low - edge).abs() < 1e-9, "{of}: {low}");
        }
        assert_eq!(share_interval(0, 0, 0.95), (0.0, 1.0));
    }

    // scipy: stats.binomtest(5, 10).proportion_ci(method="exact")
    #[test]
    fn the_middle_is_that_of_scipy() {
        let (low, high) = share_interval(5, 10, 0.95);
        assert!((low - 0.187_086_028_447_398_6).abs() < 1e-9, "{low}");
        assert!((low + high - 1.0).abs() < 1e-9, "{high}");
    }

    // Sums of exact binomial coefficients, as stats.fisher_exact of scipy defines the test.
    #[test]
    fn the_exact_test_of_two_shares_is_the_sum_of_hypergeometric_chances() {
        for ((a, b), p) in [
            (((0, 20), (2, 20)), 0.487_179_487_179_487_2),
            (((0, 20), (6, 20)), 0.020_196_020_196_020_195),
            (((0, 5), (4, 5)), 0.047_619_047_619_047_616),
            (((3, 40), (12, 40)), 0.019_757_026_758_446_695),
            (((0, 0), (3, 5)), 1.0),
        ] {
            assert!((fisher_p(a, b) - p).abs() < 1e-6, "{a:?} {b:?}: {}", fisher_p(a, b));
            assert!((fisher_p(b, a) - p).abs() < 1e-6);
        }
    }

    #[test]
    fn neighbours_that_alternate_or_drift_are_seen_and_a_gap_parts_them() {
        let of =
            |values: &[f64]| -> Vec<(u32, f64)> { (1..).zip(values.iter().copied()).collect() };
        let flat = of(&[1.0, -1.0, 1.0, -1.0]);
        let alternating = lag_one(&[&flat]).unwrap();
        assert!((alternating + 0.75).abs() < 1e-12, "{alternating}");
        let drift: Vec<f64> = (0..100).map(f64::from).collect();
        assert!(lag_one(&[&of(&drift)]).unwrap() > 0.95);
        // Two series far apart do not hang together because of that.
        let far = lag_one(&[&flat, &of(&[101.0, 99.0, 101.0, 99.0])]).unwrap();
        assert!((far + 0.75).abs() < 1e-12, "{far}");
        let gap = [(1, 1.0), (2, -1.0), (4, 1.0), (5, -1.0)];
        assert_eq!(lag_one(&[&gap]), Some(-0.5));
        assert_eq!(lag_one(&[&of(&[1.0, 2.0])]), None);
        assert_eq!(lag_one(&[&of(&[2.0, 2.0, 2.0])]), None);
    }
}
