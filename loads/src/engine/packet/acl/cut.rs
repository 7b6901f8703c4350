//! Knows by which bits rules are best told apart.
//!
//! Must not know what is made of the parts.

use super::block::{self, Block};
use super::entry::{BITS_MAX, Entry};
use super::span::{BITS, FIELDS, Region, Span, Spans, Window};

/// Rules that the choice of windows looks at, at most; the best are compared by all rules.
const SAMPLE: usize = 2048;
/// Pairs of windows that are compared by all rules.
const FINALISTS: usize = 12;
/// Rules of all parts together, at most, for each rule that there is.
const COPIES_MAX: f64 = 4.0;
/// Parts for each rule, at most, as a power of two.
const PARTS_MAX: u32 = 2;
/// Bits of both windows, at most.
const WINDOWS_MAX: u32 = 13;
/// How many bytes of a tree weigh as much as a block that a packet meets: a share of the second
/// cache.
const BYTES: f64 = 320.0 * 1024.0;
/// A cut that leaves more than this share of the blocks is not worth its step.
const WORTH: f64 = 0.8;

/// What parts are like.
#[derive(Clone, Copy, Debug)]
struct Parts {
    windows: [Window; 2],
    /// Blocks that a packet meets, and bytes weighed against them.
    cost: f64,
    /// Blocks that a packet meets.
    blocks: f64,
}

/// Rules with what a region leaves of their spans.
struct Rules {
    fields: [Vec<Span>; FIELDS],
    /// Rules that each of the sample stands for.
    each: f64,
    count: f64,
}

/// A window of nothing.
const NONE: Window = Window { field: 0, shift: 0, bits: 0 };

/// The two windows by which these rules, all of which meet the region, are best cut; none where no
/// cut is worth its step. A window of 0 bits is none.
pub fn choose(rules: &[&Spans], region: &Region) -> Option<[Window; 2]> {
    let sample = Rules::of(rules, region, SAMPLE);
    let bits_max = WINDOWS_MAX.min(rules.len().ilog2() + PARTS_MAX);
    let singles = singles(&sample, region, bits_max);
    let mut found = singles.clone();
    for (at, one) in singles.iter().enumerate() {
        for two in &singles[at + 1..] {
            let [one, two] = [one.windows[0], two.windows[0]];
            if one.field != two.field && one.bits + two.bits <= bits_max {
                found.extend(sample.parts([one, two]));
            }
        }
    }
    found.sort_by(|one, other| one.cost.total_cmp(&other.cost));
    if rules.len() > SAMPLE {
        let all = Rules::of(rules, region, usize::MAX);
        let last = found.iter().take(FINALISTS).flat_map(|parts| narrower(parts.windows));
        found = last.filter_map(|windows| all.parts(windows)).collect();
        found.sort_by(|one, other| one.cost.total_cmp(&other.cost));
    }
    let uncut = blocks(sample.count);
    found.first().filter(|best| best.blocks < WORTH * uncut).map(|best| best.windows)
}

/// Windows as they are, and with the lowest bit of either left out: a sample has too few rules to
/// tell how full parts get.
fn narrower(windows: [Window; 2]) -> impl Iterator<Item = [Window; 2]> {
    let without = |window: Window| Window {
        shift: window.shift + 1,
        bits: window.bits.saturating_sub(1),
        ..window
    };
    let [low, high] = windows;
    let less = [[without(low), high], [low, without(high)]];
    std::iter::once(windows).chain(less.into_iter().filter(move |[one, other]| {
        one.bits > 0 && (high.bits == 0 || other.bits > 0) && other.bits <= high.bits
    }))
}

/// The best window of each field and number of bits.
fn singles(sample: &Rules, region: &Region, bits_max: u32) -> Vec<Parts> {
    let mut all = Vec::new();
    for field in 0..FIELDS {
        for bits in 1..=bits_max.min(BITS[field]).min(BITS_MAX) {
            let windows = (0..=BITS[field] - bits).map(|shift| Window { field, shift, bits });
            let free = windows.filter(|window| window.is_free(region[field]));
            let parts = free.filter_map(|window| sample.parts([window, NONE]));
            all.extend(parts.min_by(|one, other| one.cost.total_cmp(&other.cost)));
        }
    }
    all
}

/// Blocks that a packet meets of so many rules, at least one.
#[expect(clippy::cast_precision_loss, reason = "8")]
fn blocks(rules: f64) -> f64 {
    (rules / block::RULES as f64).ceil().max(1.0)
}

impl Rules {
    #[expect(clippy::cast_precision_loss, reason = "rules are far below 2^53")]
    fn of(rules: &[&Spans], region: &Region, most: usize) -> Self {
        let step = rules.len().div_ceil(most).max(1);
        let fields = std::array::from_fn(|field| {
            let left = |spans: &&Spans| spans[field].within(region[field]);
            rules.iter().step_by(step).filter_map(left).collect()
        });
        let count = rules.len() as f64;
        let taken = rules.len().div_ceil(step).max(1) as f64;
        Self { fields, each: count / taken, count }
    }

    /// What the parts by two windows are like; none where rules would be in too many of them.
    fn parts(&self, windows: [Window; 2]) -> Option<Parts> {
        let [low, high] = windows;
        let (across, down) = (low.values() as usize, high.values() as usize);
        let wide = across + 1;
        let mut steps = vec![0_i32; wide * (down + 1)];
        let most = COPIES_MAX * self.count;
        let mut copies = 0.0;
        for (one, two) in self.fields[low.field].iter().zip(&self.fields[high.field]) {
            let (one, two) = (low.reach(*one), high.reach(*two));
            copies += f64::from(one.count) * f64::from(two.count) * self.each;
            if copies > most {
                return None;
            }
            for (top, bottom) in straight(two.first, two.count, high.values()) {
                for (left, right) in straight(one.first, one.count, low.values()) {
                    steps[top * wide + left] += 1;
                    steps[top * wide + right] -= 1;
                    steps[bottom * wide + left] -= 1;
                    steps[bottom * wide + right] += 1;
                }
            }
        }
        let (met, filled) = self.met(steps, (across, down));
        #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
        let bytes = (across * down * size_of::<Entry>()) as f64
            + filled * (size_of::<Block>() + size_of::<Entry>()) as f64;
        let blocks = met / copies.max(1.0);
        Some(Parts { windows, cost: blocks + bytes / BYTES, blocks })
    }

    /// Sum over parts of their rules times their blocks, and all blocks, by differences between
    /// neighbours.
    fn met(&self, mut steps: Vec<i32>, (across, down): (usize, usize)) -> (f64, f64) {
        let wide = across + 1;
        let (mut met, mut filled) = (0.0, 0.0);
        for row in 0..down {
            let mut sum = 0;
            for at in row * wide..row * wide + across {
                sum += steps[at];
                let above = if row == 0 { 0 } else { steps[at - wide] };
                // The row above holds whole counts already.
                steps[at] = sum + above;
                if steps[at] > 0 {
                    let count = f64::from(steps[at]) * self.each;
                    met += count * blocks(count);
                    filled += blocks(count);
                }
            }
        }
        (met, filled)
    }
}

/// Values around the end of a window as at most two ranges, each from its first to behind its last.
fn straight(first: u32, count: u32, values: u32) -> impl Iterator<Item = (usize, usize)> + Clone {
    let behind = first + count;
    let one = (first as usize, behind.min(values) as usize);
    let two = behind.checked_sub(values).filter(|over| *over > 0).map(|over| (0, over as usize));
    std::iter::once(one).chain(two)
}
