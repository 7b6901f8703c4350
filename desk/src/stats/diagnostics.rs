//! Knows how a series in the order of time shows that its values are no independent draws from one
//! distribution: a trend, neighbours that resemble each other, one value that stands apart.
//!
//! Never: what the values are, or how many series are looked at.
//!
//! Trend and neighbours are tested by ranks against every other order of the same values, so the
//! shape of the noise does not matter. Nothing of that kind exists for one value far off: whether
//! it is strange depends on the tails of the noise, and those are assumed to be heavy.

use super::signed_rank::last_of;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ContinuousCDF, Normal};

/// Fewest values of which anything is said. With fewer the tests see next to nothing.
pub const DIAGNOSED_FROM: usize = 8;
/// Most values for which the distribution of inversions is exact; beyond it is as good as normal.
const EXACT_TO: usize = 100;
/// Orders drawn at most.
const DRAWN: u32 = 20_000;
/// Orders at least as strange after which no more are drawn.
const ENOUGH: u32 = 20;
/// Exponent of the tails that noise is taken to have. Its fourth moment does not exist.
const TAIL: f64 = 2.5;
/// Median absolute deviations, in standard deviations of normal noise, that a value apart is off
/// at the least.
const FAR: f64 = 3.5;
/// MAD of normal noise over its standard deviation.
const MAD_OF_NORMAL: f64 = 0.674_489_750_196_081_7;
/// A spread of logs below this is rounding.
const ROUNDING: f64 = 1e-9;

/// How far a series rises from one value to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// The median slope, in the unit of the values for a step.
    pub slope: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// Two-sided p value of no trend, 0-1.
    pub p: f64,
}

/// How neighbours of a series hang together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbours {
    /// The rank version of von Neumann's ratio, 0-4; 2 where they do not hang together.
    pub ratio: f64,
    /// One-sided p value, 0-1, of neighbours that resemble each other.
    pub p: f64,
}

/// The value of a series that is farthest from its median.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Apart {
    /// Its place, from 0.
    pub place: usize,
    /// Its distance from the median, in the unit of the values, with sign.
    pub off: f64,
    /// Its share of the squared distances of all values, 0-1.
    pub share: f64,
    /// p value, 0-1, by the rule of [`apart`].
    pub p: f64,
}

/// A trend of the values in their order, by Kendall's S and the slopes between all pairs, its
/// interval at `level` (0-1).
///
/// H. B. Mann, "Nonparametric tests against trend", Econometrica 13 (1945), 245-259. P. K. Sen,
/// "Estimates of the regression coefficient based on Kendall's tau", JASA 63 (1968), 1379-1389: the
/// slope is the median of those between any two values, and its interval reaches from the (k+1)-th
/// smallest to the (k+1)-th largest, with k the most inversions whose probability is at most half
/// of
/// 1 - level. Up to 100 values the number of inversions has its exact distribution, beyond the
/// normal one. Ties count against the trend. None for fewer than [`DIAGNOSED_FROM`] values, or
/// values that are all alike.
#[must_use]
pub fn trend(values: &[f64], level: f64) -> Option<Trend> {
    if !is_long(values) {
        return None;
    }
    let steps = |from: usize, to: usize| real(to - from);
    let slope = |(from, to): (usize, usize)| (values[to] - values[from]) / steps(from, to);
    let pairs = (0..values.len()).flat_map(|to| (0..to).map(move |from| (from, to)));
    let mut slopes: Vec<f64> = pairs.map(slope).collect();
    slopes.sort_unstable_by(f64::total_cmp);
    let (not_rising, not_falling) = (
        slopes.partition_point(|s| *s <= 0.0),
        slopes.len() - slopes.partition_point(|s| *s < 0.0),
    );
    let cumulated = Inversions::of(values.len());
    let p = 2.0 * cumulated.at_most(not_rising.min(not_falling));
    let tail = 0.5 * (1.0 - level);
    let cut = last_of(slopes.len() / 2 + 1, |k| cumulated.at_most(*k) <= tail)?;
    Some(Trend {
        slope: middle(&slopes),
        low: *slopes.get(cut)?,
        high: *slopes.get(slopes.len().checked_sub(cut + 1)?)?,
        p: p.min(1.0),
    })
}

/// Whether neighbours resemble each other more than chance explains, by ranks.
///
/// Ratio of the squared differences of neighbours to the squared distances from the mean: J. von
/// Neumann, "Distribution of the ratio of the mean square successive difference to the variance",
/// Annals of Mathematical Statistics 12 (1941), 367-395; of ranks: R. Bartels, "The rank version of
/// von Neumann's ratio test for randomness", JASA 77 (1982), 40-46. Its p value is that of random
/// orders of the same ranks drawn from `seed`, which end as soon as 20 were as strange: J. Besag,
/// P. Clifford, "Sequential Monte Carlo p-values", Biometrika 78 (1991), 301-304. The least is 1 in
/// 20,000. Ties share their rank. None as in [`trend`].
#[must_use]
pub fn neighbours(values: &[f64], seed: u64) -> Option<Neighbours> {
    if !is_long(values) {
        return None;
    }
    let mut ranks = doubled_ranks(values);
    let mean = real(values.len() + 1);
    let squares: f64 = ranks.iter().map(|rank| (f64::from(*rank) - mean).powi(2)).sum();
    let seen = steps_squared(&ranks);
    let mut chance = ChaCha8Rng::seed_from_u64(seed);
    let (mut drawn, mut strange) = (0, 0);
    while drawn < DRAWN - 1 && strange < ENOUGH {
        // A seeded shuffle of Fisher and Yates.
        for last in (1..ranks.len()).rev() {
            ranks.swap(last, chance.random_range(0..=last));
        }
        drawn += 1;
        strange += u32::from(steps_squared(&ranks) <= seen);
    }
    let p = match strange {
        ENOUGH => f64::from(strange) / f64::from(drawn),
        // The order that was seen counts as one that was drawn.
        few => f64::from(few + 1) / f64::from(drawn + 1),
    };
    #[expect(clippy::cast_precision_loss, reason = "sums of squared ranks are far below 2^53")]
    let ratio = seen as f64 / squares;
    Some(Neighbours { ratio, p })
}

/// The value farthest from the median, and how strange it is.
///
/// With r the distances from the median, p = (largest r / second largest r)^-2.5. That is exact for
/// noise whose tails fall with the power 2.5, whatever n: by A. Rényi, "On the theory of order
/// statistics", Acta Mathematica Hungarica 4 (1953), 191-231, the logs of the largest values of
/// such noise have independent exponential spacings. Lighter tails have larger p than they need, so
/// normal noise next to never has a value apart by chance; a power below 2.5 has it too often.
/// Besides the value must be 3.5 median absolute deviations off as normal noise has them (B.
/// Iglewicz, D. Hoaglin, "How to detect and handle outliers", 1993), else p is 1. Two values far
/// off hide each other. None as in [`trend`].
#[must_use]
pub fn apart(values: &[f64]) -> Option<Apart> {
    if !is_long(values) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let median = middle(&sorted);
    let off = |place: usize| values[place] - median;
    let mut places: Vec<usize> = (0..values.len()).collect();
    places.sort_by(|a, b| off(*a).abs().total_cmp(&off(*b).abs()));
    let mut distances: Vec<f64> = places.iter().map(|place| off(*place).abs()).collect();
    let squares: f64 = distances.iter().map(|r| r * r).sum();
    let place = places.pop()?;
    let far = off(place).abs();
    let spread = middle(&distances) / MAD_OF_NORMAL;
    distances.pop();
    let second = distances.pop()?;
    let p = if far >= FAR * spread { (second / far).powf(TAIL) } else { 1.0 };
    Some(Apart { place, off: off(place), share: far * far / squares, p })
}

/// Whether a series has enough values, and any spread.
fn is_long(values: &[f64]) -> bool {
    let (least, most) = values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(*x), high.max(*x)));
    values.len() >= DIAGNOSED_FROM
        && values.iter().all(|x| x.is_finite())
        && most - least > ROUNDING
}

/// The middle of sorted values, of an even number the mean of both.
fn middle(sorted: &[f64]) -> f64 {
    f64::midpoint(sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2])
}

/// Twice the rank of every value, so that shared ranks are whole numbers.
fn doubled_ranks(values: &[f64]) -> Vec<u32> {
    let count = |holds: &dyn Fn(f64) -> bool| {
        u32::try_from(values.iter().filter(|x| holds(**x)).count()).unwrap_or(u32::MAX)
    };
    values.iter().map(|x| count(&|y| y < *x) + count(&|y| y <= *x) + 1).collect()
}

fn steps_squared(ranks: &[u32]) -> u64 {
    ranks.windows(2).map(|w| u64::from(w[0].abs_diff(w[1])).pow(2)).sum()
}

/// How many pairs of a random order of n values stand in the wrong order.
struct Inversions {
    n: usize,
    /// P(at most k) for every k; empty where it is taken as normal.
    exact: Vec<f64>,
}

impl Inversions {
    /// The count is a sum of independent numbers, each even over 0 to i - 1, i up to n (Kendall).
    fn of(n: usize) -> Self {
        let mut chances = vec![1.0];
        for i in (2..=n).take_while(|_| n <= EXACT_TO) {
            let mut next = vec![0.0; chances.len() + i - 1];
            let mut window = 0.0;
            for (k, chance) in next.iter_mut().enumerate() {
                window += chances.get(k).copied().unwrap_or(0.0);
                if let Some(left) = k.checked_sub(i) {
                    window -= chances.get(left).copied().unwrap_or(0.0);
                }
                *chance = f64::max(window, 0.0) / real(i);
            }
            chances = next;
        }
        let mut sum = 0.0;
        for chance in &mut chances {
            sum += *chance;
            *chance = sum;
        }
        Self { n, exact: if n <= EXACT_TO { chances } else { Vec::new() } }
    }

    /// P(at most k), 0-1.
    fn at_most(&self, k: usize) -> f64 {
        if let Some(chance) = self.exact.get(k) {
            return chance.min(1.0);
        }
        if !self.exact.is_empty() {
            return 1.0;
        }
        // Mean n (n - 1) / 4, variance n (n - 1) (2n + 5) / 72; with continuity correction.
        let n = real(self.n);
        let mean = n * (n - 1.0) / 4.0;
        let sd = (mean * (2.0 * n + 5.0) / 18.0).sqrt();
        Normal::standard().cdf((real(k) + 0.5 - mean) / sd)
    }
}

#[expect(clippy::cast_precision_loss, reason = "a plan has at most 1000 blocks")]
const fn real(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const RISING: [f64; 10] = [0.31, 0.12, 0.45, 0.27, 0.51, 0.66, 0.38, 0.72, 0.9, 0.61];
    const LEVEL: f64 = 0.95;

    fn draws(n: usize, seed: u64, shape: fn(&mut dyn FnMut() -> f64) -> f64) -> Vec<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut uniform = move || rng.random_range(1e-12..1.0);
        (0..n).map(|_| shape(&mut uniform)).collect()
    }

    fn normal(uniform: &mut dyn FnMut() -> f64) -> f64 {
        Normal::standard().inverse_cdf(uniform())
    }

    // scipy 1.17.1: stats.kendalltau(range(n), x, method="exact").pvalue; theilslopes(x)[0]
    #[test]
    fn the_p_of_a_trend_and_its_slope_are_those_of_scipy() {
        let found = trend(&RISING, LEVEL).unwrap();
        assert!((found.p - 0.016_666_115_520_282_188).abs() < 1e-12, "{found:?}");
        assert!((found.slope - 0.07).abs() < 1e-12, "{found:?}");
        assert!(found.low > 0.0 && found.low < found.slope && found.slope < found.high);
        let flat = trend(&[0.1, -0.2, 0.3, 0.05, -0.15, 0.22, -0.31, 0.4, 0.0], LEVEL).unwrap();
        assert!((flat.p - 1.0).abs() < 1e-12, "{flat:?}");
        assert!(flat.low < 0.0 && flat.high > 0.0);
    }

    #[test]
    fn the_interval_of_a_slope_leaves_zero_out_exactly_where_the_test_says_so() {
        for seed in 0..200 {
            let mut values = draws(12, seed, normal);
            for (at, value) in values.iter_mut().enumerate() {
                *value += 0.15 * real(at);
            }
            let found = trend(&values, LEVEL).unwrap();
            let out = found.low > 0.0 || found.high < 0.0;
            assert_eq!(out, found.p <= 1.0 - LEVEL, "{found:?}");
        }
    }

    #[test]
    fn ties_count_against_a_trend_and_equal_values_say_nothing() {
        let stairs = [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0];
        let found = trend(&stairs, LEVEL).unwrap();
        // 16 of 28 pairs rise and 12 are ties: as though those fell.
        assert!((found.p - 2.0 * Inversions::of(8).at_most(12)).abs() < 1e-12 && found.p > 0.5);
        let same = [1.0 + 1e-15, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
        assert!(trend(&same, LEVEL).is_none() && apart(&same).is_none());
        assert!(neighbours(&same, 1).is_none() && neighbours(&RISING[..7], 1).is_none());
        assert!(apart(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, f64::NAN]).is_none());
    }

    #[test]
    fn inversions_have_their_distribution_and_meet_the_normal_one() {
        // Of the 6 orders of three values 1, 2, 2, 1 have 0, 1, 2, 3 inversions.
        let three = Inversions::of(3);
        let wanted = [1.0, 3.0, 5.0, 6.0].map(|count| count / 6.0);
        assert!((0..4).all(|k| (three.at_most(k) - wanted[k]).abs() < 1e-12));
        let (exact, rough) = (Inversions::of(EXACT_TO), Inversions { n: EXACT_TO, exact: vec![] });
        for k in [2000, 2200, 2475, 2700] {
            assert!((exact.at_most(k) - rough.at_most(k)).abs() < 1e-3, "{k}");
        }
        assert!(Inversions::of(EXACT_TO + 1).exact.is_empty());
    }

    // All 40320 orders of 8 ranks (Python, itertools) 296 have so small a ratio or a smaller one.
    #[test]
    fn the_p_of_neighbours_is_that_of_all_orders() {
        let found = neighbours(&[3.0, 1.0, 2.0, 4.0, 6.0, 5.0, 8.0, 7.0], 1).unwrap();
        assert!((found.ratio - 24.0 / 42.0).abs() < 1e-12, "{found:?}");
        assert!((found.p / (296.0 / 40_320.0) - 1.0).abs() < 0.6, "{found:?}");
        // Alternation is no resemblance.
        let turns = neighbours(&[1.0, 8.0, 2.0, 7.0, 3.0, 6.0, 4.0, 5.0], 1).unwrap();
        assert!(turns.ratio > 2.0 && turns.p > 0.5, "{turns:?}");
        let known = neighbours(&RISING, 7);
        assert_eq!(known, neighbours(&RISING, 7));
    }

    #[test]
    fn one_value_far_off_is_found_with_its_place_and_its_share() {
        let mut values = draws(12, 3, normal);
        values[6] -= 25.0;
        let found = apart(&values).unwrap();
        assert!(found.place == 6 && found.off < -20.0 && found.share > 0.9, "{found:?}");
        assert!(found.p < 0.01, "{found:?}");
        // A second one hides it, and a value that is large beside nothing but rounding is not far.
        values[2] -= 22.0;
        assert!(apart(&values).unwrap().p > 0.3);
        assert_eq!(apart(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]).unwrap().p, 1.0);
    }

    /// Shares of samples of n values at or below 5 % by each test.
    fn alarms(n: usize, shape: fn(&mut dyn FnMut() -> f64) -> f64) -> [f64; 3] {
        let runs = 2000;
        let mut hits = [0_u32; 3];
        for seed in 0..runs {
            let values = draws(n, seed, shape);
            let ps = [
                trend(&values, LEVEL).unwrap().p,
                neighbours(&values, seed).unwrap().p,
                apart(&values).unwrap().p,
            ];
            for (hit, p) in hits.iter_mut().zip(ps) {
                *hit += u32::from(p <= 0.05);
            }
        }
        hits.map(|hit| 100.0 * f64::from(hit) / real(usize::try_from(runs).unwrap()))
    }

    #[test]
    fn each_test_errs_as_seldom_as_it_says_whatever_the_noise() {
        let skewed = |u: &mut dyn FnMut() -> f64| -(0.8 * normal(u)).exp();
        let bimodal = |u: &mut dyn FnMut() -> f64| 0.1 * normal(u) + f64::from(u() < 0.5);
        // 2000 at 5 %: the standard deviation is 0.5 %.
        for (n, shape) in [(10, normal as fn(&mut dyn FnMut() -> f64) -> f64), (20, skewed)] {
            let [moved, alike, _] = alarms(n, shape);
            println!("n = {n}: trend {moved} %, neighbours {alike} %");
            assert!(moved <= 7.0 && (3.0..=7.0).contains(&alike), "{n}: {moved} {alike}");
        }
        let [moved, alike, far] = alarms(20, bimodal);
        assert!(moved <= 7.0 && alike <= 7.0 && far <= 1.0, "{moved} {alike} {far}");
        assert!(alarms(10, normal)[2] <= 3.0);
    }
}
