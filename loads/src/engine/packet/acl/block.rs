//! Knows eight rules side by side, and which of them is the first that a packet matches.
//!
//! Must not know how a packet came to the block.

use super::key::Key;
use super::span::Spans;

/// Rules of a block.
pub const RULES: usize = 8;
/// The index of no rule.
pub const NONE: u32 = u32::MAX;

/// Eight rules. A packet matches one where its addresses differ from the rule's in none of the
/// bits of `mask`, and its ports and protocol are at most `span` above `low`. Words are those of a
/// [`Key`]; a block fills four cache lines.
///
/// The fourth part of a key's second word is 0, and lies within `low` and `span` of every rule:
/// there stands the index of the rule, [`PART`] bits in each.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Block {
    pub address: [u64; RULES],
    pub mask: [u64; RULES],
    pub low: [[u16; 4]; RULES],
    pub span: [[u16; 4]; RULES],
}

/// Bits of an index in each of its two places.
const PART: u32 = 15;
/// The bit above them: 0 is at most 2^15 above a number that has it, and `span` is at least that.
const ABOVE: u16 = 1 << PART;

impl Block {
    /// No rule: nothing matches.
    pub const EMPTY: Self = Self {
        address: [0; RULES],
        mask: [0; RULES],
        // The fourth part of a key is 0, and never 1.
        low: [[0, 0, 0, 1]; RULES],
        span: [[0; 4]; RULES],
    };

    /// A block of at most eight rules, each with its index below 2^30, in rising order.
    #[expect(clippy::cast_possible_truncation, reason = "ports, protocols and parts of an index")]
    pub fn of(rules: &[(u32, Spans)]) -> Self {
        let mut block = Self::EMPTY;
        for (at, (index, [src, dst, from, to, protocol])) in rules.iter().take(RULES).enumerate() {
            let pair = |src: u32, dst: u32| u64::from(src) | u64::from(dst) << 32;
            block.address[at] = pair(src.low, dst.low);
            block.mask[at] = pair(!(src.low ^ src.high), !(dst.low ^ dst.high));
            let part = |index: u32| ABOVE | index as u16 & (ABOVE - 1);
            let ranges = [from, to, protocol];
            let [a, b, c] = ranges.map(|range| range.low as u16);
            block.low[at] = [a, b, c, part(*index)];
            let [a, b, c] = ranges.map(|range| (range.high - range.low) as u16);
            block.span[at] = [a, b, c, part(index >> PART)];
        }
        block
    }

    /// Index of the rule that is the first of those whose bit is set, [`NONE`] where none is.
    ///
    /// Without a branch: whether a packet matches cannot be foretold.
    #[expect(clippy::inline_always, reason = "it takes the instructions of its caller")]
    #[inline(always)]
    pub fn index(&self, matched: u32) -> u32 {
        let at = (matched | 1 << (RULES - 1)).trailing_zeros() as usize % RULES;
        let part = |word: u16| u32::from(word & (ABOVE - 1));
        let index = part(self.low[at][3]) | part(self.span[at][3]) << PART;
        index | u32::from(matched == 0).wrapping_neg()
    }

    /// A bit for each rule that the packet matches.
    #[inline]
    pub fn matched(&self, key: &Key) -> u32 {
        let mut matched = 0;
        for at in 0..RULES {
            let differs = (key.addresses ^ self.address[at]) & self.mask[at];
            let mut beyond = 0;
            for (part, (low, span)) in self.low[at].iter().zip(self.span[at]).enumerate() {
                let above = ((key.rest >> (16 * part)) as u16).wrapping_sub(*low);
                beyond |= above.saturating_sub(span);
            }
            matched |= u32::from(differs == 0 && beyond == 0) << at;
        }
        matched
    }
}
