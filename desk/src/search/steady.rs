//! Knows when a rate has stopped climbing: the slope test that ends a warm-up.

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

/// Whether the rate was level over the last `span_s` seconds of `history`.
///
/// Compares the mean rates of the two halves of the span; they may differ by 5 % of their mean.
/// `None` when the history does not cover the span yet.
#[must_use]
pub fn steady(history: &[Reached], span_s: f64) -> Option<bool> {
    let last = history.last()?;
    let before = |seconds: f64| history.iter().rev().find(|r| r.at_s <= last.at_s - seconds);
    let (start, middle) = (before(span_s)?, before(span_s / 2.0)?);
    let rate = |a: &Reached, b: &Reached| (b.done - a.done) / (b.at_s - a.at_s).max(1e-9);
    let (first, second) = (rate(start, middle), rate(middle, last));
    let mean = f64::midpoint(first, second);
    Some(mean > 0.0 && (second - first).abs() / mean < SLOPE_MAX)
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
    fn nothing_moving_is_not_steady_and_a_short_history_cannot_tell() {
        assert_eq!(steady(&history(|_| 0.0), 0.3), Some(false));
        assert_eq!(steady(&history(|_| 1e9)[..3], 0.3), None);
    }
}
