//! Knows Student's t and the interval of a mean; never compares two samples.

use super::compare::has_log;
use super::estimate::{Estimate, EstimateMethod};
use super::summary::Summary;
use crate::unit::{Quantity, Unit};
use statrs::function::beta;

/// Confidence level of every interval that stands alone, 0-1.
pub const LEVEL: f64 = 0.95;

/// P(T > t) of Student's t with `freedom` > 0 degrees of freedom, 0-1.
///
/// Abramowitz and Stegun 26.5.27, by the regularised incomplete beta function.
#[must_use]
pub fn t_tail(t: f64, freedom: f64) -> f64 {
    let half = 0.5 * beta::beta_reg(0.5 * freedom, 0.5, freedom / (freedom + t * t));
    if t >= 0.0 { half } else { 1.0 - half }
}

/// The t above which a share `tail` (0 < tail <= 0.5) of Student's t lies; 0 or more.
///
/// Inverse of [`t_tail`], by the inverse regularised incomplete beta function.
#[must_use]
pub fn t_quantile(tail: f64, freedom: f64) -> f64 {
    let y = beta::inv_beta_reg(0.5 * freedom, 0.5, 2.0 * tail);
    (freedom * (1.0 - y) / y).sqrt()
}

/// Half the width of the t interval of a mean at `level` (0-1), in the unit of the values.
#[must_use]
pub fn half_width(summary: &Summary, level: f64) -> f64 {
    t_quantile(0.5 * (1.0 - level), summary.freedom()) * summary.standard_error()
}

/// Mean with its two-sided Student t interval at `level` (0-1).
///
/// A share cannot leave 0-1, so its interval is cut there. None for fewer than two values.
#[must_use]
pub fn mean_t(values: &[f64], unit: Unit, level: f64) -> Option<Estimate> {
    let summary = Summary::of(values)?;
    let half = half_width(&summary, level);
    let (mut low, mut high) = (summary.mean - half, summary.mean + half);
    if unit == Unit::Share {
        low = low.max(summary.mean.min(0.0));
        high = high.min(summary.mean.max(1.0));
    }
    Some(Estimate {
        centre: Quantity::new(summary.mean, unit),
        low: Quantity::new(low, unit),
        high: Quantity::new(high, unit),
        level,
        n: summary.n,
        method: EstimateMethod::MeanT,
    })
}

/// exp of the mean logarithm of values above 0, with exp of its Student t interval at `level`
/// (0-1), in `unit`: the geometric mean. Both ends are above 0 for any spread.
///
/// None for fewer than two values, or one that is not above 0 and finite.
#[must_use]
pub fn log_mean_t(values: &[f64], unit: Unit, level: f64) -> Option<Estimate> {
    let logs = logs_of(values)?;
    let summary = Summary::of(&logs)?;
    let half = half_width(&summary, level);
    let at = |log: f64| Quantity::new(log.exp(), unit);
    Some(Estimate {
        centre: at(summary.mean),
        low: at(summary.mean - half),
        high: at(summary.mean + half),
        level,
        n: summary.n,
        method: EstimateMethod::LogMeanT,
    })
}

/// Logarithms of values; none where one is not above 0 and finite.
pub(super) fn logs_of(values: &[f64]) -> Option<Vec<f64>> {
    values.iter().all(|x| has_log(*x)).then(|| values.iter().map(|x| x.ln()).collect())
}

/// [`mean_or_single_at`] at [`LEVEL`].
#[must_use]
pub fn mean_or_single(values: &[f64], unit: Unit) -> Option<Estimate> {
    mean_or_single_at(values, unit, LEVEL)
}

/// The mean at `level` (0-1): [`log_mean_t`] where the unit is of rates, times, sizes or ratios
/// and all values are above 0, else [`mean_t`], cut at 0 where one of these is 0 and none below;
/// the value itself if there is only one. None for no values.
#[must_use]
pub fn mean_or_single_at(values: &[f64], unit: Unit, level: f64) -> Option<Estimate> {
    match values {
        [one] => Some(Estimate::exact(Quantity::new(*one, unit))),
        _ if unit.is_scaled() => {
            let mut mean = log_mean_t(values, unit, level).or_else(|| mean_t(values, unit, level));
            if let Some(mean) = mean.as_mut().filter(|_| values.iter().all(|value| *value >= 0.0)) {
                mean.low.value = mean.low.value.max(0.0);
            }
            mean
        }
        _ => mean_t(values, unit, level),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(ours: f64, theirs: f64) {
        assert!((ours / theirs - 1.0).abs() < 1e-9, "{ours} is not {theirs}");
    }

    // scipy 1.17.1: s.t.interval(.95, 4, np.mean(x), s.sem(x))
    #[test]
    fn the_mean_interval_is_that_of_scipy() {
        let e = mean_t(&[9.41, 9.38, 9.52, 9.29, 9.47], Unit::BitPerSecond, 0.95).unwrap();
        close(e.centre.value, 9.414);
        close(e.low.value, 9.304832381565385);
        close(e.high.value, 9.523167618434611);
        assert_eq!((e.n, e.method), (5, EstimateMethod::MeanT));
    }

    #[test]
    fn the_interval_of_a_rate_does_not_reach_below_zero() {
        let low = |values: &[f64], unit| mean_or_single(values, unit).unwrap().low.value;
        assert_eq!(low(&[0.0, 2.0, 1.0], Unit::OperationPerSecond), 0.0);
        assert!(low(&[-0.1, 2.0, 1.0], Unit::OperationPerSecond) < -0.1);
        assert!(low(&[0.0, 2.0, 1.0], Unit::Count) < 0.0);
    }

    // scipy 1.17.1: s.t.ppf(1 - tail, freedom)
    #[test]
    fn t_quantiles_are_those_of_scipy_far_into_the_tail() {
        for (tail, freedom, t) in [
            (0.2, 1.0, 1.3763819204711738),
            (0.025, 1.0, 12.706204736174694),
            (0.05 / 26.0, 1.0, 165.51912696922676),
            (0.025, 2.0, 4.302652729749462),
            (0.05 / 26.0, 2.0, 16.07796515082483),
            (1e-4, 2.0, 70.70007107496818),
            (0.025, 4.0, 2.7764451051977934),
            (0.05 / 26.0, 4.0, 6.015429375012811),
            (0.2, 9.0, 0.8834038596855346),
            (1e-4, 30.0, 4.23398595727206),
            (0.025, 999.0, 1.9623414611334493),
        ] {
            close(t_quantile(tail, freedom), t);
            close(t_tail(t, freedom), tail);
        }
    }

    #[test]
    fn one_value_has_no_interval_and_stands_for_itself() {
        assert_eq!(mean_t(&[3.0], Unit::Second, 0.95), None);
        let single = mean_or_single(&[3.0], Unit::Second).unwrap();
        assert_eq!((single.low, single.method), (single.high, EstimateMethod::Exact));
        assert_eq!(mean_or_single(&[], Unit::Second), None);
    }

    // scipy 1.17.1: x = np.log(x); np.exp(s.t.interval(.95, 4, np.mean(x), s.sem(x)))
    #[test]
    fn rates_and_times_have_their_interval_on_the_log_scale() {
        let values = [9.41, 9.38, 9.52, 9.29, 9.47];
        let e = mean_or_single(&values, Unit::BitPerSecond).unwrap();
        close(e.centre.value, 9.413671100444727);
        close(e.low.value, 9.30502464788429);
        close(e.high.value, 9.523586120483557);
        assert_eq!((e.n, e.method), (5, EstimateMethod::LogMeanT));
    }

    // A rate that one trial in two loses nearly all of: the plain interval ended below 0.
    #[test]
    fn no_end_of_a_rate_or_a_latency_lies_below_zero() {
        for unit in [Unit::BytePerSecond, Unit::Second, Unit::Ratio] {
            let e = mean_or_single(&[400e9, 4e9, 300e9], unit).unwrap();
            assert!(e.low.value > 0.0 && e.low < e.centre && e.centre < e.high, "{e:?}");
            assert!(mean_t(&[400e9, 4e9, 300e9], unit, 0.95).unwrap().low.value < 0.0);
        }
        let zero = mean_or_single(&[0.0, 4.0], Unit::Second).unwrap();
        assert_eq!(zero.method, EstimateMethod::MeanT, "0 has no logarithm");
    }

    #[test]
    fn a_share_stays_between_nothing_and_all() {
        let e = mean_t(&[0.2, 1.0], Unit::Share, 0.95).unwrap();
        assert_eq!((e.low.value, e.high.value), (0.0, 1.0));
    }
}
