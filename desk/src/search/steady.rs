//! Knows when a rate has stopped climbing: the slope test that ends a warm-up.

use crate::stats::t_quantile;

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
/// Compares the mean rates of the two halves of the span. They may differ by 5 % of their mean, or
/// by what the scatter of the single rates about their half's mean explains (two-sample t test with
/// pooled variance, two-sided 5 %): what cannot be told from scatter is no slope. `None` when the
/// history does not cover the span.
#[must_use]
pub fn steady(history: &[Reached], span_s: f64) -> Option<bool> {
    let last = history.last()?;
    let before = |seconds: f64| history.iter().rposition(|r| r.at_s <= last.at_s - seconds);
    let (start, middle) = (before(span_s)?, before(span_s / 2.0)?);
    let (first, second) = (half(&history[start..=middle])?, half(&history[middle..])?);
    let difference = (second.mean - first.mean).abs();
    let mean = f64::midpoint(first.mean, second.mean);
    let freedom = first.n + second.n - 2.0;
    let scatter = if freedom >= 1.0 {
        let variance = (first.squares + second.squares) / freedom;
        t_quantile(0.025, freedom) * (variance * (1.0 / first.n + 1.0 / second.n)).sqrt()
    } else {
        0.0
    };
    Some(mean > 0.0 && (difference < SLOPE_MAX * mean || difference < scatter))
}

/// Half of the span: mean rate from end to end, number of single rates, squares about the mean.
struct Half {
    mean: f64,
    n: f64,
    squares: f64,
}

fn half(stretch: &[Reached]) -> Option<Half> {
    let rate = |a: &Reached, b: &Reached| (b.done - a.done) / (b.at_s - a.at_s).max(1e-9);
    let (from, to) = (stretch.first()?, stretch.last()?);
    let mean = rate(from, to);
    let (mut n, mut squares) = (0.0, 0.0);
    for pair in stretch.windows(2) {
        n += 1.0;
        squares += (rate(&pair[0], &pair[1]) - mean).powi(2);
    }
    (n > 0.0).then_some(Half { mean, n, squares })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(rate_at: impl Fn(f64) -> f64) -> Vec<Reached> {
        looks(0.05, rate_at)
    }

    fn looks(pause_s: f64, rate_at: impl Fn(f64) -> f64) -> Vec<Reached> {
        let mut done = 0.0;
        let mut rows = vec![Reached { at_s: 0.0, done }];
        for step in 1..=20 {
            let at_s = f64::from(step) * pause_s;
            done += rate_at(at_s) * pause_s;
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
    fn a_short_span_with_few_looks_can_be_level() {
        for span_s in [0.034, 0.067, 0.1] {
            assert_eq!(steady(&looks(0.027, |_| 1e9), span_s), Some(true), "{span_s}");
        }
        assert_eq!(steady(&looks(0.027, |t| 1e9 * t * t), 0.3), Some(false));
    }

    #[test]
    fn nothing_moving_is_not_steady_and_a_short_history_cannot_tell() {
        assert_eq!(steady(&history(|_| 0.0), 0.3), Some(false));
        assert_eq!(steady(&history(|_| 1e9)[..3], 0.3), None);
    }
}
