//! Knows a quantile of a distribution with its interval between two of the values; never what the
//! values are.
//!
//! The values must be drawn one by one: trials, or a percentile of each trial. The requests of a
//! trial are no such draws, for they share whatever that trial had; pooled, they give an interval
//! that is too narrow by as much as trials differ.

use super::estimate::{Estimate, EstimateMethod};
use crate::unit::{Quantity, Unit};
use statrs::function::beta;

/// The value below which a share `part` (0 < part < 1) of a distribution lies, with an interval
/// that covers it with `level` (0-1) or more, in the unit of the values.
///
/// H. A. David, H. N. Nagaraja, "Order Statistics", 3rd edition, Wiley 2003, 7.1: from the l-th to
/// the u-th smallest value the interval covers the quantile with P(l <= B < u), where B is binomial
/// of n and `part`, whatever the continuous distribution. Either side misses it with at most half
/// of 1 - level; the estimate has the level that is attained. Its centre is the median-unbiased
/// quantile, the value at place (n + 1/3) part + 1/3 (R. J. Hyndman, Y. Fan, "Sample quantiles in
/// statistical packages", American Statistician 50 (1996), definition 8). None for fewer values
/// than [`quantile_needs`], or one that is not finite.
#[must_use]
pub fn quantile(values: &[f64], (part, unit): (f64, Unit), level: f64) -> Option<Estimate> {
    let n = u32::try_from(values.len()).ok().filter(|n| *n >= quantile_needs(part, level))?;
    if values.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let tail = 0.5 * (1.0 - level);
    // The most places below the interval, and the most above it, that chance leaves out.
    let below = (0..n).take_while(|k| at_most(*k, n, part) <= tail).last()?;
    let above = (0..n).take_while(|k| at_most(*k, n, 1.0 - part) <= tail).last()?;
    let at = |place: u32| sorted.get(usize::try_from(place).ok()?).copied();
    let of = |value| Quantity::new(value, unit);
    Some(Estimate {
        centre: of(centre(&sorted, part)?),
        low: of(at(below)?),
        high: of(at(n.checked_sub(above + 1)?)?),
        level: 1.0 - at_most(below, n, part) - at_most(above, n, 1.0 - part),
        n,
        method: EstimateMethod::OrderStatistics,
    })
}

/// The fewest values with which [`quantile`] has an interval: that from the smallest to the largest
/// must not miss on either side by more than half of 1 - level. At 95 % it takes 6 for the median
/// and 36 for the first or last decile.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count above 0")]
pub fn quantile_needs(part: f64, level: f64) -> u32 {
    let tail = 0.5 * (1.0 - level);
    (tail.ln() / part.max(1.0 - part).ln()).ceil() as u32
}

/// P(B <= k) of a binomial B of n > k draws that hit with `part`, 0-1, by the regularised
/// incomplete beta function (Abramowitz and Stegun 26.5.24).
fn at_most(k: u32, n: u32, part: f64) -> f64 {
    beta::beta_reg(f64::from(n - k), f64::from(k + 1), 1.0 - part)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a place among thousands"
)]
fn centre(sorted: &[f64], part: f64) -> Option<f64> {
    let third = 1.0 / 3.0;
    let last = sorted.len().checked_sub(1)?;
    // From 0, where the formula counts from 1.
    let place = ((sorted.len() as f64 + third) * part + third - 1.0).clamp(0.0, last as f64);
    let below = place.floor() as usize;
    let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
    Some(low + (place - place.floor()) * (high - low))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use statrs::distribution::{ContinuousCDF, Normal};

    fn of(n: u32, part: f64) -> Option<Estimate> {
        let values: Vec<f64> = (1..=n).rev().map(f64::from).collect();
        quantile(&values, (part, Unit::Count), 0.95)
    }

    // scipy 1.17.1: the most l with binom.cdf(l - 1, n, q) <= .025, the least u with
    // binom.sf(u - 1, n, q) <= .025; the coverage is binom.cdf(u - 1, n, q) - binom.cdf(l - 1, n,
    // q)
    #[test]
    fn places_and_coverage_are_those_of_scipy() {
        for (n, part, low, high, level) in [
            (6, 0.5, 1.0, 6.0, 0.968_75),
            (10, 0.5, 2.0, 9.0, 0.978_515_625),
            (20, 0.5, 6.0, 15.0, 0.958_610_534_667_968_8),
            (36, 0.1, 1.0, 8.0, 0.953_962_105_202_652_1),
            (40, 0.1, 1.0, 9.0, 0.969_723_811_644_121),
            (100, 0.9, 84.0, 96.0, 0.955_690_107_191_223),
        ] {
            let found = of(n, part).unwrap();
            assert_eq!((found.low.value, found.high.value, found.n), (low, high, n), "{n} {part}");
            assert!((found.level - level).abs() < 1e-12, "{n} {part}: {found:?}");
        }
    }

    // By hand: 11 values have their median at place 6; 36 their first decile at 3.9666...
    #[test]
    fn the_centre_is_median_unbiased() {
        assert_eq!(of(11, 0.5).unwrap().centre.value, 6.0);
        assert!(
            (of(36, 0.1).unwrap().centre.value - (36.0 + 1.0 / 3.0) * 0.1 - 1.0 / 3.0).abs() < 1e-9
        );
    }

    #[test]
    fn too_few_values_have_no_interval_and_one_more_has() {
        for (part, needs) in [(0.5, 6), (0.25, 13), (0.1, 36), (0.9, 36), (0.99, 368)] {
            assert_eq!(quantile_needs(part, 0.95), needs, "{part}");
            assert!(of(needs - 1, part).is_none() && of(needs, part).is_some(), "{part}");
        }
        assert_eq!(quantile(&[f64::NAN; 10], (0.5, Unit::Count), 0.95), None);
        assert_eq!(of(0, 0.5), None);
    }

    /// Planted: the quantile of a log-normal distribution is known.
    #[test]
    fn the_interval_covers_a_planted_quantile_as_often_as_it_says() {
        let normal = Normal::standard();
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        for (n, part) in [(6, 0.5), (20, 0.5), (40, 0.1), (60, 0.9)] {
            let truth = (0.5 * normal.inverse_cdf(part)).exp();
            let (mut held, mut level) = (0, 0.0);
            for _ in 0..4000 {
                let mut draw = || (0.5 * normal.inverse_cdf(rng.random_range(1e-12..1.0))).exp();
                let values: Vec<f64> = (0..n).map(|_| draw()).collect();
                let found = quantile(&values, (part, Unit::Second), 0.95).unwrap();
                held += u32::from(found.low.value <= truth && truth <= found.high.value);
                level = found.level;
            }
            let covered = f64::from(held) / 4000.0;
            println!("n = {n}, quantile {part}: {covered:.4} of {level:.4}");
            // Four standard deviations of a share of 95 % among 4000 are 1.4 %.
            assert!((covered - level).abs() < 0.014 && covered > 0.936, "{n} {part}: {covered}");
        }
    }

    /// Requests of one trial share its state: pooled, they promise what they do not hold.
    #[test]
    fn pooled_requests_miss_a_percentile_that_trials_hold() {
        let normal = Normal::standard();
        let mut rng = ChaCha8Rng::seed_from_u64(12);
        let (trials, requests) = (8, 50);
        let (mut by_trials, mut pooled) = (0, 0);
        for _ in 0..1000 {
            let mut draw = || normal.inverse_cdf(rng.random_range(1e-12..1.0));
            let mut all = Vec::new();
            let mut medians = Vec::new();
            for _ in 0..trials {
                let state = draw();
                let mut one: Vec<f64> = (0..requests).map(|_| state + 0.3 * draw()).collect();
                all.extend(one.iter().copied());
                one.sort_by(f64::total_cmp);
                medians.push(f64::midpoint(one[24], one[25]));
            }
            let holds = |values: &[f64]| {
                let found = quantile(values, (0.5, Unit::Second), 0.95).unwrap();
                u32::from(found.low.value <= 0.0 && 0.0 <= found.high.value)
            };
            by_trials += holds(&medians);
            pooled += holds(&all);
        }
        assert!(by_trials > 930, "{by_trials} of 1000");
        assert!(pooled < 400, "{pooled} of 1000");
    }
}
