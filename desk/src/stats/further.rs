//! Knows how many further blocks an undecided ratio needs, as an interval; never promises one.

use super::compare::{JUDGED_FROM, by_ranks};
use super::interval::t_quantile;
use super::summary::Summary;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};
use std::f64::consts::{PI, TAU};

/// Futures that are played through.
const FUTURES: usize = 200;
/// Share of the futures below the interval, and above it.
const OUTSIDE: f64 = 0.1;
/// Further blocks up to which a future is looked at after every one; beyond, steps grow with them.
const COARSE: u32 = 16;
/// Degrees of freedom from which a sum of squares is drawn at once.
const MANY_SQUARES: u32 = 6;
/// Variance of the signed-rank estimate of normal values, over that of their mean.
const RANKS_COST: f64 = PI / 3.0;
/// Degrees of freedom from which the series for the t quantile is good to three digits.
const SERIES_FROM: u32 = 12;

/// The 80 % interval of the number of further blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    // Where one block more may do, nothing is left out below: the interval then ends earlier.
    let below = needed.partition_point(|n| *n < low);
    let high = needed[below + rank(MoreBlocks::LEVEL) - 1];
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
        let next = |n: &u32| Some(n + 1 + (n - from) / COARSE);
        let all = std::iter::successors(next(&from), next);
        let all = all.take_while(|n| *n <= MoreBlocks::MOST);
        return all.filter(|n| *n as usize >= JUDGED_FROM).map(at).collect();
    };
    let doubled = std::iter::successors(last.checked_mul(2), |look| look.checked_mul(2));
    let looks = course.looks.iter().copied().chain(doubled);
    let is_judged = |look: &u32| *look > from && *look as usize >= JUDGED_FROM;
    looks.take_while(|look| *look <= MoreBlocks::MOST).filter(is_judged).map(at).collect()
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
    let sd = known.sd * (freedom / chance.squares(known.n - 1)).sqrt();
    let mean = known.mean + chance.normal() * sd / f64::from(known.n).sqrt();
    let (mut n, mut running, mut squares) = (known.n, known.mean, known.sd.powi(2) * freedom);
    for check in checks {
        // A step of blocks at once: their mean, their spread around it, and both merged (Chan).
        let step = f64::from(check.blocks - n);
        let off = mean + chance.normal() * sd / step.sqrt() - running;
        squares += sd * sd * chance.squares(check.blocks - n - 1)
            + off * off * f64::from(n) * step / f64::from(check.blocks);
        running += off * step / f64::from(check.blocks);
        n = check.blocks;
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

    /// Sum of so many squared standard normal values: drawn one by one, or from
    /// [`MANY_SQUARES`] on by the cube of a normal value (Wilson and Hilferty 1931).
    fn squares(&mut self, freedom: u32) -> f64 {
        if freedom < MANY_SQUARES {
            return (0..freedom).map(|_| self.normal().powi(2)).sum();
        }
        let (v, spread) = (f64::from(freedom), 2.0 / (9.0 * f64::from(freedom)));
        v * (1.0 - spread + self.normal() * spread.sqrt()).powi(3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{Rule, decide};

    const ALPHA: f64 = 0.05;
    const MARGIN: f64 = 0.02;

    fn course(looks: &[u32]) -> Course<'_> {
        let alpha = ALPHA / f64::from(u32::try_from(looks.len().max(1)).unwrap());
        Course { margin: MARGIN, alpha, looks, seed: 3 }
    }

    fn decided(logs: &[f64], alpha: f64) -> bool {
        let decision = decide(logs, Rule { margin: MARGIN, alpha, seed: 1 }).unwrap();
        decision.differs || decision.equivalent
    }

    /// Plans with an effect and a noise that are undecided after `first` blocks, and for how many
    /// of them the interval holds the number of further blocks that they then really needed.
    fn held(first: usize, looks: &[u32]) -> (u32, u32) {
        let mut chance = Chance(ChaCha8Rng::seed_from_u64(11));
        let course = course(looks);
        let (mut plans, mut inside) = (0, 0);
        for round in 0..700_u32 {
            let effect = 0.01 * f64::from(round % 5);
            let noise = 0.02 + 0.01 * f64::from(round / 5 % 3);
            let mut draw = || effect + noise * chance.normal();
            let mut logs: Vec<f64> = (0..first).map(|_| draw()).collect();
            if decided(&logs, course.alpha) {
                continue;
            }
            let Some(told) = further_blocks(&logs, &course) else { continue };
            let checked = |n: usize| match looks.last() {
                None => true,
                Some(last) => looks.contains(&(n as u32)) || n.is_multiple_of(2 * *last as usize),
            };
            while logs.len() < 400 {
                logs.push(draw());
                if checked(logs.len()) && decided(&logs, course.alpha) {
                    break;
                }
            }
            let needed = (logs.len() - first) as u32;
            plans += 1;
            inside += u32::from(told.low <= needed && told.high.is_none_or(|h| needed <= h));
        }
        (plans, inside)
    }

    #[test]
    fn the_interval_holds_the_blocks_needed_in_four_of_five_plans() {
        let mut all = Vec::new();
        for (first, looks) in [(5, &[][..]), (10, &[]), (20, &[]), (5, &[5, 10, 20, 40, 80])] {
            let (plans, inside) = held(first, looks);
            let share = 100.0 * f64::from(inside) / f64::from(plans);
            println!("first {first}, looks {looks:?}: {share:.1} % of {plans}");
            all.push((plans, share));
        }
        for (plans, share) in all {
            assert!(plans > 100 && (70.0..=92.0).contains(&share), "{share} % of {plans}");
        }
    }

    #[test]
    fn looks_decide_only_where_they_are() {
        let logs: Vec<f64> = [-1.0, -1.0, 1.0, 1.0, 0.0].iter().map(|x| 0.01 + 0.02 * x).collect();
        let looked = further_blocks(&logs, &course(&[5, 10, 20])).unwrap();
        let possible = [5, 15, 35, 75, 155, 315, 635];
        assert!(possible.contains(&looked.low), "{looked:?}");
        assert!(looked.high.is_none_or(|high| possible.contains(&high)), "{looked:?}");
    }

    #[test]
    fn the_interval_is_told_as_far_as_it_goes() {
        let one = [0.01, 0.012, 0.009, 0.03, -0.01];
        assert_eq!(further_blocks(&one, &course(&[])), further_blocks(&one, &course(&[])));
        let hopeless = Course { margin: 1e-6, ..course(&[]) };
        let even: Vec<f64> = (0..20).map(|i| f64::from(i % 2) - 0.5).collect();
        let open = further_blocks(&even, &hopeless).unwrap();
        assert_eq!(open.high, None);
        assert_eq!(further_blocks(&[0.1], &course(&[])), None);
        assert_eq!(further_blocks(&[0.0, 0.0, 0.0], &course(&[])), None, "no spread");
    }

    #[test]
    fn the_series_of_the_quantile_is_good_where_it_is_used() {
        for tail in [0.0019, 0.00625, 0.025, 0.05] {
            let exact = t_quantile(tail, f64::from(SERIES_FROM));
            assert!((quantile(tail, SERIES_FROM) / exact - 1.0).abs() < 1e-3, "{tail}");
        }
    }
}
