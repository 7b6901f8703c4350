//! Knows analyses that stend does not offer, on the very visits that it judged; each says only
//! whether it calls two equal levels different at 5 %.
//!
//! Levels are equal where these are asked, so that a visit may be taken for either level's: other
//! orders of the same visits are what a lab in that order would have given.

use crate::product::Seen;
use desk::stats::{Summary, Welch, mean, t_quantile};
use std::collections::BTreeMap;

/// Error probability of each.
const ALPHA: f64 = 0.05;
/// Resamples of the bootstrap, and how many of them lie beyond each end of its interval.
const RESAMPLES: usize = 1000;
const BEYOND: usize = 25;
/// Fewest blocks at which one who stops when it is significant looks.
const FIRST_LOOK: usize = 3;

fn welch(base: &[f64], other: &[f64]) -> bool {
    Welch::of(base, other).is_some_and(|welch| welch.p() < ALPHA)
}

/// A-A-A-B-B-B: the first half of the visits is one level, the second half the other (Welch).
pub fn sequential(seen: &[Seen]) -> bool {
    let logs: Vec<f64> = seen.iter().map(|s| s.log).collect();
    let (first, second) = logs.split_at(logs.len() / 2);
    welch(first, second)
}

/// A level is measured so many times in a row, then the other, in turn, and every repeat is taken
/// for a trial of its own (Welch over all). None where neither level comes to two turns.
pub fn pooled(seen: &[Seen], repeats: usize) -> Option<bool> {
    let [base, other] = turns(seen, repeats)?;
    Some(welch(&base.concat(), &other.concat()))
}

/// The same visits by the means of the turns: what the repeats are worth.
pub fn by_turns(seen: &[Seen], repeats: usize) -> Option<bool> {
    let means = |turns: Vec<Vec<f64>>| turns.iter().map(|t| mean(t)).collect::<Vec<_>>();
    let [base, other] = turns(seen, repeats)?.map(means);
    Some(welch(&base, &other))
}

/// The whole turns of both levels, as many of one as of the other.
fn turns(seen: &[Seen], repeats: usize) -> Option<[Vec<Vec<f64>>; 2]> {
    let mut turns = [Vec::new(), Vec::new()];
    for (at, turn) in seen.chunks_exact(repeats).enumerate() {
        turns[at % 2].push(turn.iter().map(|s| s.log).collect());
    }
    let each = turns[1].len();
    turns[0].truncate(each);
    (each >= 2).then_some(turns)
}

/// ln(other / base) of every block, means over its points.
pub fn ratios(seen: &[Seen]) -> Vec<f64> {
    let mut blocks: BTreeMap<u32, [Vec<f64>; 2]> = BTreeMap::new();
    for one in seen {
        blocks.entry(one.block).or_default()[usize::from(one.other)].push(one.log);
    }
    blocks.into_values().map(|[base, other]| mean(&other) - mean(&base)).collect()
}

/// The percentile interval of the mean of the ratios of blocks, by resampling the blocks: the
/// order and the pairs are those of stend.
pub fn bootstrap(ratios: &[f64], seed: u64) -> bool {
    let mut chance = Chance(seed);
    let draw = |_| {
        let sum: f64 = ratios.iter().map(|_| ratios[chance.below(ratios.len())]).sum();
        sum / ratios.len() as f64
    };
    let mut means: Vec<f64> = (0..RESAMPLES).map(draw).collect();
    let low = *means.select_nth_unstable_by(BEYOND, f64::total_cmp).1;
    let high = *means.select_nth_unstable_by(RESAMPLES - 1 - BEYOND, f64::total_cmp).1;
    low > 0.0 || high < 0.0
}

/// The t test on the ratios of blocks after every block from the third on, until it says different:
/// whether it ever does.
pub fn stop_when_significant(ratios: &[f64], critical: &Critical) -> bool {
    (FIRST_LOOK..=ratios.len()).any(|n| {
        Summary::of(&ratios[..n]).is_some_and(|s| s.mean.abs() > critical.0[n] * s.standard_error())
    })
}

/// The t that is significant, by the number of blocks.
pub struct Critical(Vec<f64>);

impl Critical {
    /// Up to so many blocks.
    pub fn to(blocks: u32) -> Self {
        let at = |n: u32| match n {
            0 | 1 => f64::INFINITY,
            _ => t_quantile(0.5 * ALPHA, f64::from(n - 1)),
        };
        Self((0..=blocks).map(at).collect())
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014): no chance of the product is used to judge it.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// From 0 on, below `end`.
    fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }
}
