//! Knows Wilcoxon's signed ranks by their Walsh averages; never what is ranked.
//!
//! Everything rests on one count: how many Walsh averages (x_i + x_j) / 2, i <= j, lie above a
//! point (Tukey 1949). Without ties that is the signed-rank statistic V of the values less the
//! point, so the order statistics of the averages are the ends of the exact interval (Hollander,
//! Wolfe, Chicken, "Nonparametric Statistical Methods", 3rd edition, 3.1-3.3).
//!
//! **Ties and zeros.** An average that lies on the point counts against the claim. That is V with
//! every tie and zero broken in the worst way. Broken by a coin, V would have its exact null
//! distribution, so the worst way keeps the error at or below it. R gives up exactness there.

use statrs::distribution::{ContinuousCDF, Normal};

/// Most values for which the null distribution is exact: its counts stay below 2^53.
pub const EXACT_TO: usize = 50;

/// The Walsh averages of a sample in rising order.
#[derive(Clone, Debug, PartialEq)]
pub struct Walsh {
    n: usize,
    sorted: Vec<f64>,
}

impl Walsh {
    /// Averages a sample of n values, n (n + 1) / 2 of them. None without values, or if one is not
    /// finite.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() || values.iter().any(|x| !x.is_finite()) {
            return None;
        }
        let upto = |(j, y): (usize, &f64)| {
            values[..=j].iter().map(|x| f64::midpoint(*x, *y)).collect::<Vec<_>>()
        };
        let mut sorted: Vec<f64> = values.iter().enumerate().flat_map(upto).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        Some(Self { n: values.len(), sorted })
    }

    /// The Hodges-Lehmann estimate of the centre: the median of the averages, in their unit.
    #[must_use]
    pub fn centre(&self) -> f64 {
        let (low, high) = ((self.sorted.len() - 1) / 2, self.sorted.len() / 2);
        f64::midpoint(self.sorted[low], self.sorted[high])
    }

    /// The interval of the centre at `level` (0-1), in the unit of the values.
    ///
    /// Up to [`EXACT_TO`] values it is exact: of the levels that ranks can attain it has the least
    /// that is not below `level`. Beyond, V is taken as normal, with continuity correction. None
    /// where even all averages together do not reach the level (2^(1 - n) > 1 - level).
    #[must_use]
    pub fn interval(&self, level: f64) -> Option<(f64, f64)> {
        let cut = critical(self.n, 0.5 * (1.0 - level))?;
        Some((*self.sorted.get(cut)?, *self.sorted.get(self.sorted.len().checked_sub(cut + 1)?)?))
    }

    /// One-sided p value, 0-1, of the test that the centre lies above `point`.
    #[must_use]
    pub fn p_above(&self, point: f64) -> f64 {
        at_most(self.n, self.sorted.partition_point(|w| *w <= point))
    }

    /// One-sided p value, 0-1, of the test that the centre lies below `point`.
    #[must_use]
    pub fn p_below(&self, point: f64) -> f64 {
        at_most(self.n, self.sorted.len() - self.sorted.partition_point(|w| *w < point))
    }

    /// Two-sided p value, 0-1, of the test that the centre is not `point`.
    ///
    /// It is at most 1 - level exactly where [`Self::interval`] leaves `point` out.
    #[must_use]
    pub fn p_differs(&self, point: f64) -> f64 {
        (2.0 * self.p_above(point).min(self.p_below(point))).min(1.0)
    }
}

/// Number of subsets of the ranks 1 to n with each sum; they add up to 2^n.
fn subsets(n: usize) -> Vec<f64> {
    let top = n * (n + 1) / 2;
    let mut counts = vec![0.0; top + 1];
    counts[0] = 1.0;
    let mut reached = 0;
    for rank in 1..=n {
        reached += rank;
        for sum in (rank..=reached).rev() {
            counts[sum] += counts[sum - rank];
        }
    }
    counts
}

/// P(V <= k) under the null hypothesis, 0-1.
fn at_most(n: usize, k: usize) -> f64 {
    if n > EXACT_TO {
        return normal_tail(n, k);
    }
    let counts = subsets(n);
    if k + 1 >= counts.len() {
        return 1.0;
    }
    counts[..=k].iter().sum::<f64>() / power_of_two(n)
}

/// The largest k with P(V <= k) at most `tail`; none if there is none.
fn critical(n: usize, tail: f64) -> Option<usize> {
    if n > EXACT_TO {
        // P grows with k, and half of all sums bound it.
        let below = |k: &usize| normal_tail(n, *k) <= tail;
        return last_of(n * (n + 1) / 4 + 1, below);
    }
    let room = tail * power_of_two(n);
    let mut sum = 0.0;
    let mut fits = |count: &f64| {
        sum += count;
        sum <= room
    };
    subsets(n).iter().take_while(|count| fits(count)).count().checked_sub(1)
}

/// The last number below `end` for which something holds that holds up to a point.
pub(super) fn last_of(end: usize, holds: impl Fn(&usize) -> bool) -> Option<usize> {
    let (mut known, mut open) = (0, end);
    while known < open {
        let middle = usize::midpoint(known, open);
        if holds(&middle) { known = middle + 1 } else { open = middle }
    }
    known.checked_sub(1)
}

/// P(V <= k) by the normal distribution with continuity correction: V has the mean n (n + 1) / 4
/// and the variance n (n + 1) (2n + 1) / 24.
fn normal_tail(n: usize, k: usize) -> f64 {
    let (n, k) = (real(n), real(k));
    let mean = n * (n + 1.0) / 4.0;
    let sd = (mean * (2.0 * n + 1.0) / 6.0).sqrt();
    Normal::standard().cdf((k + 0.5 - mean) / sd)
}

fn power_of_two(n: usize) -> f64 {
    2.0_f64.powi(i32::try_from(n).unwrap_or(i32::MAX))
}

#[expect(clippy::cast_precision_loss, reason = "a plan has at most 1000 blocks")]
const fn real(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    // By hand: the subsets of {1, 2, 3} have sums 0, 1, 2, 3, 3, 4, 5, 6.
    #[test]
    fn subsets_are_counted() {
        assert_eq!(subsets(3), [1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0]);
        assert_eq!(subsets(EXACT_TO).iter().sum::<f64>(), power_of_two(EXACT_TO));
        assert_eq!((at_most(3, 2), at_most(3, 6), at_most(3, 9)), (0.375, 1.0, 1.0));
        assert_eq!(
            (critical(3, 0.1), critical(3, 0.2), critical(3, 0.4)),
            (None, Some(0), Some(2))
        );
    }

    #[test]
    fn the_interval_leaves_a_point_out_exactly_where_the_test_says_so() {
        let values: Vec<f64> = (1..=60).map(|i: u32| f64::from(i * i % 37) - 9.0).collect();
        for n in [8, 9, 20, 50, 51, 60] {
            let walsh = Walsh::of(&values[..n]).unwrap();
            for level in [0.9, 0.95, 0.9875] {
                let (low, high) = walsh.interval(level).unwrap();
                for point in -40..=80 {
                    let point = 0.5 * f64::from(point);
                    let out = point < low || point > high;
                    assert_eq!(walsh.p_differs(point) <= 1.0 - level, out, "{n} {level} {point}");
                }
            }
        }
    }

    // By hand: averages of -1, 0, 1 are -1, -0.5, 0, 0, 0.5, 1; three of six lie above -0.25.
    #[test]
    fn ties_and_zeros_count_against_the_claim() {
        let walsh = Walsh::of(&[-1.0, 0.0, 1.0]).unwrap();
        assert_eq!(walsh.centre(), 0.0);
        assert_eq!((walsh.p_above(0.0), walsh.p_below(0.0)), (at_most(3, 4), at_most(3, 4)));
        assert_eq!(walsh.p_differs(0.0), 1.0);
        assert_eq!(Walsh::of(&[0.0; 10]).unwrap().p_differs(0.0), 1.0);
        assert_eq!(Walsh::of(&[1.0; 10]).unwrap().p_differs(0.0), 2.0 / 1024.0);
    }

    #[test]
    fn too_few_values_for_a_level_have_no_interval() {
        assert_eq!(Walsh::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap().interval(0.95), None);
        assert_eq!(Walsh::of(&[]), None);
        assert_eq!(Walsh::of(&[1.0, f64::NAN]), None);
    }

    /// The normal approximation takes over where the exact one is as good as normal.
    #[test]
    fn both_distributions_agree_where_they_meet() {
        for k in [300, 400, 500, 600] {
            assert!((at_most(EXACT_TO, k) - normal_tail(EXACT_TO, k)).abs() < 2e-3, "{k}");
        }
    }
}
