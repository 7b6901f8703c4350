//! Knows how many further blocks an undecided ratio needs, as an interval; never promises one.

use super::compare::by_ranks;
use super::interval::t_quantile;
use super::summary::Summary;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};
use std::f64::consts::{PI, TAU};

/// Futures that are played through.
const FUTURES: usize = 200;
/// Share of the futures below the interval, and above it.
const OUTSIDE: f64 = 0.1;
/// Variance of the signed-rank estimate of normal values, over that of their mean.
const RANKS_COST: f64 = PI / 3.0;
/// Degrees of freedom from which the series for the t quantile is good to three digits.
const SERIES_FROM: u32 = 12;

/// The 80 % interval of the number of further blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoreBlocks {
    /// Lower end, 1 or more.
    pub low: u32,
    /// Upper end; none if it lies beyond 1000 blocks in all.
    pub high: Option<u32>,
}

impl MoreBlocks {
    /// Level of the interval, 0-1.
    pub const LEVEL: f64 = 1.0 - 2.0 * OUTSIDE;
    /// Blocks in all beyond which nothing is foretold.
    pub const MOST: u32 = 1000;
}

/// What a ratio is decided by while blocks are added.
#[derive(Clone, Copy, Debug)]
pub struct Course<'c> {
    /// The declared margin, a share.
    pub margin: f64,
    /// Error probability of the test, 0-1.
    pub alpha: f64,
    /// Numbers of blocks at which the plan looks, rising; empty: after every block. After the last
    /// they are taken to double.
    pub looks: &'c [u32],
    /// Seed of the futures.
    pub seed: u64,
}

/// Further blocks until the ratio is decided: the interval that holds the number in 80 % of the
/// futures of these blocks.
///
/// A future draws the true spread and mean from what the blocks say of them (normal values, flat
/// prior: s² (n - 1) / chi² and a normal around the mean), then block after block until the
/// difference or the equivalence is shown. Ranks are foretold by the t test with their efficiency
/// for normal values, 3 / pi. None for fewer than two blocks, for blocks without spread, or where
/// nine of ten futures are not decided within 1000 blocks.
#[must_use]
pub fn further_blocks(logs: &[f64], course: &Course<'_>) -> Option<MoreBlocks> {
    let summary = Summary::of(logs).filter(|s| s.sd > 0.0)?;
    let checks = checks(summary.n, course);
    let mut chance = Chance(ChaCha8Rng::seed_from_u64(course.seed));
    let mut needed: Vec<u32> =
        (0..FUTURES).map(|_| future(&summary, &checks, &mut chance)).collect();
    needed.sort_unstable();
    let low = needed[rank(OUTSIDE)];
    let high = needed[FUTURES - 1 - rank(OUTSIDE)];
    (low < u32::MAX).then_some(MoreBlocks { low, high: (high < u32::MAX).then_some(high) })
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of 200")]
#[expect(clippy::cast_precision_loss, reason = "a share of 200")]
fn rank(share: f64) -> usize {
    (share * FUTURES as f64) as usize
}

/// A number of blocks at which it is looked, with what the test asks there.
struct Check {
    blocks: u32,
    /// Standard errors that the mean must lie off no difference.
    differs: f64,
    /// Standard errors that must fit between the mean and the margin.
    equal: f64,
    /// The margin as a log.
    room: f64,
}

impl Check {
    fn decides(&self, mean: f64, sd: f64) -> bool {
        let error = sd / f64::from(self.blocks).sqrt();
        mean.abs() > self.differs * error || mean.abs() + self.equal * error < self.room
    }
}

fn checks(from: u32, course: &Course<'_>) -> Vec<Check> {
    let at = |blocks: u32| {
        let cost = if by_ranks(blocks as usize) { RANKS_COST.sqrt() } else { 1.0 };
        Check {
            blocks,
            differs: quantile(0.5 * course.alpha, blocks - 1) * cost,
            equal: quantile(course.alpha, blocks - 1) * cost,
            room: course.margin.ln_1p(),
        }
    };
    let Some(last) = course.looks.last() else {
        return (from + 1..=MoreBlocks::MOST).map(at).collect();
    };
    let doubled = std::iter::successors(last.checked_mul(2), |look| look.checked_mul(2));
    let looks = course.looks.iter().copied().chain(doubled);
    looks.take_while(|look| *look <= MoreBlocks::MOST).filter(|look| *look > from).map(at).collect()
}

/// t quantile: exact where the series is not good enough.
fn quantile(tail: f64, freedom: u32) -> f64 {
    if freedom < SERIES_FROM {
        return t_quantile(tail, f64::from(freedom));
    }
    // Abramowitz and Stegun 26.7.5, around the quantile of the normal distribution.
    let z = -Normal::standard().inverse_cdf(tail);
    let v = f64::from(freedom);
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    z + first / v + second / v.powi(2) + third / v.powi(3)
}

/// Further blocks in one future; the largest number if the checks end before it is decided.
fn future(known: &Summary, checks: &[Check], chance: &mut Chance) -> u32 {
    let freedom = known.freedom();
    let chi: f64 = (1..known.n).map(|_| chance.normal().powi(2)).sum();
    let sd = known.sd * (freedom / chi).sqrt();
    let mean = known.mean + chance.normal() * sd / f64::from(known.n).sqrt();
    let (mut n, mut running, mut squares) = (known.n, known.mean, known.sd.powi(2) * freedom);
    for check in checks {
        while n < check.blocks {
            n += 1;
            // Welford's update of mean and sum of squares.
            let value = mean + chance.normal() * sd;
            let off = value - running;
            running += off / f64::from(n);
            squares += off * (value - running);
        }
        if check.decides(running, (squares / f64::from(n - 1)).sqrt()) {
            return n - known.n;
        }
    }
    u32::MAX
}

struct Chance(ChaCha8Rng);

impl Chance {
    /// A standard normal value, by Box and Muller.
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.0.random_range(0.0..1.0_f64)).ln()).sqrt();
        radius * (TAU * self.0.random_range(0.0..1.0_f64)).cos()
    }
}
