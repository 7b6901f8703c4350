//! Knows the largest |t| of several samples under sign flips of whole blocks; never what they are.
//!
//! Source: P. H. Westfall, S. S. Young, "Resampling-Based Multiple Testing", Wiley 1993, single
//! step. Under the null hypothesis a block may have its sign flipped, at all points together, so
//! that whatever joins the points of a block is kept. A point is judged by how many flips give any
//! point a |t| as large as its own.
//!
//! Flips of the values themselves make the test exact: whichever points have no difference, the
//! chance that one of them is called different is at most alpha. Their critical value is too small
//! for intervals where the differences are large (simulated with 13 points, 10 blocks: 85 % hold
//! all true values). Flips of what is left after each point's mean is taken out are good for
//! intervals but not exact. The larger of the two is taken, for both purposes.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Most blocks whose flips are all looked at.
const ENUMERATED: usize = 12;
/// Flips drawn where they are not all looked at, the unflipped one among them.
const DRAWN: usize = 10_000;
/// Room for the rounding of sums taken in another order, a share.
const ROUNDING: f64 = 1e-9;
/// A spread below this share of its value counts as this share.
const SPREAD: f64 = 1e-12;

/// A sample: its blocks by number, each with its log ratio.
pub type Blocks = [(u32, f64)];

/// What the flips say of several samples together.
#[derive(Clone, Debug, PartialEq)]
pub struct MaxT {
    /// Half the width of a simultaneous interval, in standard errors, above 0.
    pub critical: f64,
    /// Adjusted p value of each sample, 0-1, in their order.
    pub adjusted: Vec<f64>,
    /// Standard error of the mean of each sample that goes with `critical`, 0 or more.
    pub errors: Vec<f64>,
}

/// Judges samples of two or more blocks each, together, at `alpha` (0-1).
///
/// |mean| > critical x error exactly where the adjusted p is at most `alpha`, and the intervals
/// mean ± critical x error hold all true means at once with about 1 - `alpha`. A block may be
/// missing from a sample; its flip then moves the others. Up to 12 blocks in all, every flip is
/// looked at, beyond 10,000 drawn from `seed`. None without samples or if one has no two blocks.
#[must_use]
pub fn max_t(samples: &[&Blocks], alpha: f64, seed: u64) -> Option<MaxT> {
    if samples.is_empty() || samples.iter().any(|s| s.len() < 2) {
        return None;
    }
    let blocks = all_blocks(samples);
    let raw: Vec<Row> = samples.iter().map(|s| Row::of(s, &blocks, 0.0)).collect();
    let centred: Vec<Row> = samples.iter().map(|s| Row::of(s, &blocks, mean(s))).collect();
    let flips = largest(&[raw.as_slice(), &centred], blocks.len(), seed);
    let all = flips[0].len();
    let allowed = rank(alpha, all);
    let critical = flips.iter().map(|f| nth_largest(f, allowed)).fold(0.0, f64::max);
    let adjusted = raw.iter().map(|row| {
        let own = row.own();
        let beyond = flips.iter().map(|f| f.iter().filter(|t| **t >= own).count()).max();
        share(beyond.unwrap_or(all), all)
    });
    Some(MaxT {
        critical: critical.sqrt() * (1.0 + ROUNDING),
        adjusted: adjusted.collect(),
        errors: raw.iter().map(Row::error).collect(),
    })
}

/// A sample laid out over all blocks, 0 where it has none.
pub(super) struct Row {
    values: Vec<f64>,
    n: f64,
    squares: f64,
}

impl Row {
    pub(super) fn of(sample: &Blocks, blocks: &[u32], centre: f64) -> Self {
        let mut values = vec![0.0; blocks.len()];
        for (block, value) in sample {
            if let Ok(at) = blocks.binary_search(block) {
                values[at] = value - centre;
            }
        }
        let squares = values.iter().map(|v| v * v).sum();
        Self { values, n: real(sample.len()), squares }
    }

    /// t² of the sample as it is, a little less than it, so that a flip that only rounds
    /// differently reaches it.
    pub(super) fn own(&self) -> f64 {
        self.t_squared(self.values.iter().sum()) * (1.0 - ROUNDING)
    }

    /// t² of the flipped sample with this sum: flips leave the sum of squares as it is.
    pub(super) fn t_squared(&self, sum: f64) -> f64 {
        if self.squares == 0.0 {
            return 0.0;
        }
        let (square, whole) = (sum * sum, self.n * self.squares);
        (self.n - 1.0) * square / (whole - square).max(SPREAD * whole)
    }

    /// Standard error of the mean, not less than the spread that counts.
    fn error(&self) -> f64 {
        let sum: f64 = self.values.iter().sum();
        let whole = self.n * self.squares;
        ((whole - sum * sum).max(SPREAD * whole) / (self.n - 1.0)).sqrt() / self.n
    }

    pub(super) fn flipped(&self, signs: &[f64]) -> f64 {
        self.values.iter().zip(signs).map(|(value, sign)| value * sign).sum()
    }
}

/// The numbers of all blocks that any sample has, rising.
pub(super) fn all_blocks(samples: &[&Blocks]) -> Vec<u32> {
    let mut blocks: Vec<u32> = samples.iter().flat_map(|s| s.iter().map(|(b, _)| *b)).collect();
    blocks.sort_unstable();
    blocks.dedup();
    blocks
}

/// The largest t² over the rows of each set, flip by flip.
fn largest(sets: &[&[Row]; 2], blocks: usize, seed: u64) -> [Vec<f64>; 2] {
    let mut found = [Vec::new(), Vec::new()];
    each_flip(blocks, seed, &mut |signs| {
        for (rows, found) in sets.iter().zip(&mut found) {
            let each = rows.iter().map(|row| row.t_squared(row.flipped(signs)));
            found.push(each.fold(0.0, f64::max));
        }
    });
    found
}

/// Shows the signs of every flip of so many blocks, the unflipped one first: all of them up to 12
/// blocks (a flip and its opposite once), else 10,000 drawn from the seed.
pub(super) fn each_flip(blocks: usize, seed: u64, look: &mut dyn FnMut(&[f64])) {
    let mut signs = vec![1.0; blocks];
    if blocks <= ENUMERATED {
        // A flip and its opposite have one |t|: the last block keeps its sign.
        for flip in 0..1_u32 << (blocks - 1) {
            for (at, sign) in signs.iter_mut().enumerate() {
                *sign = if flip >> at & 1 == 1 { -1.0 } else { 1.0 };
            }
            look(&signs);
        }
        return;
    }
    look(&signs);
    let mut chance = ChaCha8Rng::seed_from_u64(seed);
    for _ in 1..DRAWN {
        for part in signs.chunks_mut(64) {
            let mut bits = chance.next_u64();
            for sign in part {
                *sign = if bits & 1 == 1 { -1.0 } else { 1.0 };
                bits >>= 1;
            }
        }
        look(&signs);
    }
}

/// How many of `all` flips may lie at or beyond what is called different.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "alpha is in 0-1")]
fn rank(alpha: f64, all: usize) -> usize {
    (alpha.clamp(0.0, 1.0) * real(all) + ROUNDING).floor() as usize
}

/// The value that exactly `n` values may exceed.
fn nth_largest(values: &[f64], n: usize) -> f64 {
    let mut values = values.to_vec();
    let at = n.min(values.len().saturating_sub(1));
    *values.select_nth_unstable_by(at, |a, b| b.total_cmp(a)).1
}

fn mean(sample: &Blocks) -> f64 {
    sample.iter().map(|(_, value)| value).sum::<f64>() / real(sample.len())
}

pub(super) fn share(part: usize, whole: usize) -> f64 {
    real(part) / real(whole)
}

#[expect(clippy::cast_precision_loss, reason = "blocks and flips are counted in thousands")]
const fn real(n: usize) -> f64 {
    n as f64
}
