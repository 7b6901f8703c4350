//! Knows when a rate has stopped climbing: the slope test that ends a warm-up.

use crate::stats::Summary;

/// Work done up to a moment: seconds and a running count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reached {
    /// Seconds since go.
    pub at_s: f64,
    /// Bytes, operations: anything that only grows.
    pub done: f64,
}

/// Largest difference between the two halves of the span, relative to their mean.
const SLOPE_MAX: f64 = 0.05;
/// A difference of fewer standard errors than this is scatter, not a slope.
const SCATTER: f64 = 2.0;

/// Whether the rate was level over the last `span_s` seconds of `history`.
///
/// Compares the mean rates of the two halves of the span. They may differ by 5 % of their mean, or
/// by two standard errors of their difference (from the scatter of the single rates in each half):
/// what cannot be told from scatter is no slope. `None` when the history does not cover the span.
#[must_use]
pub fn steady(history: &[Reached], span_s: f64) -> Option<bool> {
    let last = history.last()?;
    let before = |seconds: f64| history.iter().rposition(|r| r.at_s <= last.at_s - seconds);
    let (start, middle) = (before(span_s)?, before(span_s / 2.0)?);
    let (first, second) = (rates(&history[start..=middle])?, rates(&history[middle..])?);
    let difference = (second.mean - first.mean).abs();
    let mean = f64::midpoint(first.mean, second.mean);
    let scatter = SCATTER * first.standard_error().hypot(second.standard_error());
    Some(mean > 0.0 && (difference < SLOPE_MAX * mean || difference < scatter))
}

/// Rates between neighbours.
fn rates(stretch: &[Reached]) -> Option<Summary> {
    let rate =
        |pair: &[Reached]| (pair[1].done - pair[0].done) / (pair[1].at_s - pair[0].at_s).max(1e-9);
    Summary::of(&stretch.windows(2).map(rate).collect::<Vec<f64>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(rate_at: impl Fn(f64) -> f64) -> Vec<Reached> {
        let mut done = 0.0;
        let mut rows = vec![Reached { at_s: 0.0, done }];
        for step in 1..=20 {
            let at_s = f64::from(step) * 0.05;
            done += rate_at(at_s) * 0.05;
            rows.push(Reached { at_s, done });
        }
        rows
    }

    #[test]
    fn a_level_rate_is_steady_and_a_climbing_one_is_not() {
        assert_eq!(steady(&history(|_| 1e9), 0.3), Some(true));
        assert_eq!(steady(&history(|t| 1e9 * t), 0.3), Some(false));
        assert_eq!(steady(&history(|t| if t < 0.5 { 0.0 } else { 1e9 }), 0.3), Some(true));
    }

    #[test]
    fn scatter_is_no_slope_but_a_ramp_with_scatter_is() {
        let noise = |t: f64| 1.0 + 0.3 * (t * 977.0).sin();
        assert_eq!(steady(&history(|t| 1e9 * noise(t)), 0.6), Some(true));
        assert_eq!(
            steady(&history(|t| 1e9 * t * (1.0 + 0.1 * (t * 977.0).sin())), 0.6),
            Some(false)
        );
    }

    #[test]
    fn nothing_moving_is_not_steady_and_a_short_history_cannot_tell() {
        assert_eq!(steady(&history(|_| 0.0), 0.3), Some(false));
        assert_eq!(steady(&history(|_| 1e9)[..3], 0.3), None);
    }
}
