//! Knows whether the level of a series in the order of time drifts or steps.
//!
//! Never: what the values are, or how many series are looked at.

use super::index::mean;
use super::interval::{LEVEL, t_quantile, t_tail};

/// Fewest values of which anything is said.
pub const CHANGES_FROM: usize = 5;
/// A spread of logs below this is rounding.
const ROUNDING: f64 = 1e-12;
/// Fewest values on either side of a step: one value alone is no level.
const SIDE: usize = 2;

/// How the level changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// By as much from each value to the next.
    Drift,
    /// At once, before the value at this place, from 0.
    Step(usize),
}

/// A change of the level over a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Drift or step, whichever explains more.
    pub kind: ChangeKind,
    /// From the first value to the last, in the unit of the values.
    pub size: f64,
    /// Half the width of its interval at 95 %, for a step as if its place had been known.
    pub half_width: f64,
    /// p value, 0-1, of no change of either kind.
    pub p: f64,
}

/// The change that explains a series best, and how sure it is.
///
/// Drift: the slope of the least squares line and its t test with n - 2 degrees of freedom. Step:
/// the two-sample t of the values before and after each place with two values or more on either
/// side, the largest of them, its p value times the number of places (Bonferroni; K. J. Worsley,
/// "On the likelihood ratio test for a shift in location of normal populations", JASA 74 (1979),
/// 365-367). The smaller of both p values is doubled, because there are two tests. None for fewer
/// than [`CHANGES_FROM`] values, values that are no numbers, or values that are all alike.
#[must_use]
pub fn change(values: &[f64]) -> Option<Change> {
    let n = values.len();
    let centre = mean(values);
    let spread: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    if n < CHANGES_FROM || !spread.is_finite() || spread <= ROUNDING {
        return None;
    }
    let freedom = real(n) - 2.0;
    let places: Vec<(f64, f64)> = (0..n).map(|at| (real(at), values[at])).collect();
    let drift = drift(&places);
    let steps = (SIDE..=n - SIDE).map(|place| step(values, place));
    let (place, step) = (SIDE..).zip(steps).max_by(|a, b| a.1.t().total_cmp(&b.1.t()))?;
    let places = real(n + 1 - 2 * SIDE);
    let p_of = |fit: &Fit| 2.0 * t_tail(fit.t(), freedom);
    let (drift_p, step_p) = (p_of(&drift), (places * p_of(&step)).min(1.0));
    let (kind, fit, p) = match step_p < drift_p {
        true => (ChangeKind::Step(place), step, step_p),
        false => (ChangeKind::Drift, drift, drift_p),
    };
    let half_width = t_quantile(0.5 * (1.0 - LEVEL), freedom) * fit.error;
    Some(Change { kind, size: fit.size, half_width, p: (2.0 * p).min(1.0) })
}

/// A change and its standard error.
pub(super) struct Fit {
    pub size: f64,
    pub error: f64,
}

impl Fit {
    fn t(&self) -> f64 {
        // Without any scatter around it a change is as sure as can be.
        (self.size.abs() / self.error.max(1e-12)).min(1e12)
    }
}

/// The line of least squares through points of place and value, three or more in the order of
/// their places: its change from the first place to the last.
pub(super) fn drift(points: &[(f64, f64)]) -> Fit {
    let n = real(points.len());
    let sum = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>();
    let (middle, centre) = (sum(&|(at, _)| *at) / n, sum(&|(_, value)| *value) / n);
    let steps = sum(&|(at, _)| (at - middle).powi(2));
    let along = sum(&|(at, value)| (at - middle) * (value - centre));
    let spread = sum(&|(_, value)| (value - centre).powi(2));
    let slope = along / steps;
    let left = (spread - slope * along).max(0.0);
    let error = (left / (n - 2.0) / steps).sqrt();
    let length = match (points.first(), points.last()) {
        (Some((from, _)), Some((to, _))) => to - from,
        _ => 0.0,
    };
    Fit { size: slope * length, error: error * length }
}

fn step(values: &[f64], place: usize) -> Fit {
    let (before, after) = values.split_at(place);
    let squares = |part: &[f64]| {
        let centre = mean(part);
        part.iter().map(|value| (value - centre).powi(2)).sum::<f64>()
    };
    let variance = (squares(before) + squares(after)) / (real(values.len()) - 2.0);
    let error = (variance * (1.0 / real(before.len()) + 1.0 / real(after.len()))).sqrt();
    Fit { size: mean(after) - mean(before), error }
}

pub(super) fn real(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use statrs::distribution::{ContinuousCDF, Normal};

    fn noise(n: usize, seed: u64) -> Vec<f64> {
        let mut chance = ChaCha8Rng::seed_from_u64(seed);
        let normal = Normal::standard();
        (0..n).map(|_| normal.inverse_cdf(chance.random_range(1e-9..1.0))).collect()
    }

    #[test]
    fn of_series_without_a_change_at_most_one_in_twenty_has_one() {
        for n in [5, 8, 20] {
            let seen = (0..2000).filter(|seed| change(&noise(n, *seed)).unwrap().p <= 0.05).count();
            // 5 %, and three standard deviations of chance; the bound is no idle one either.
            assert!((20..=129).contains(&seen), "{seen} of 2000 at {n}");
        }
    }

    #[test]
    fn a_drift_and_a_step_are_told_apart_and_measured() {
        let (mut drifts, mut steps) = (0, 0);
        for seed in 0..200 {
            let quiet: Vec<f64> = noise(10, seed).iter().map(|v| 0.01 * v).collect();
            let drifted: Vec<f64> = (0..10).map(|at| quiet[at] - 0.015 * real(at)).collect();
            let found = change(&drifted).unwrap();
            assert!(found.p < 0.05 && (found.size + 0.135).abs() < 0.05, "{found:?}");
            drifts += u32::from(found.kind == ChangeKind::Drift);
            let stepped: Vec<f64> =
                (0..10).map(|at| quiet[at] - if at < 6 { 0.0 } else { 0.13 }).collect();
            let found = change(&stepped).unwrap();
            assert!(found.p < 0.05 && (found.size + 0.13).abs() < 0.04, "{found:?}");
            steps += u32::from(found.kind == ChangeKind::Step(6));
        }
        assert!(drifts > 190 && steps > 190, "{drifts} and {steps} of 200");
    }

    /// Of 1, 2.1, 2.9, 4.2 and 4.8 at 0 to 4: sxx = 10, sxy = 9.7, residual sum 0.091, so that the
    /// slope is 0.97 and its standard error sqrt(0.091 / 3 / 10).
    #[test]
    fn a_slope_is_that_of_least_squares() {
        let fit = drift(&[(0.0, 1.0), (1.0, 2.1), (2.0, 2.9), (3.0, 4.2), (4.0, 4.8)]);
        assert!((fit.size / 4.0 - 0.97).abs() < 1e-12);
        assert!((fit.error / 4.0 - 0.055_075_7).abs() < 1e-6, "{}", fit.error / 4.0);
    }

    #[test]
    fn what_says_nothing_has_no_change() {
        assert_eq!(change(&[1.0; 9]), None);
        assert_eq!(change(&[1.0, 2.0, 3.0, 4.0]), None);
        assert_eq!(change(&[1.0, 2.0, f64::NAN, 4.0, 5.0]), None);
    }
}
