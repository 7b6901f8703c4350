//! Knows the words of which a tree is made: where the next words stand, and which bits of a packet
//! choose among them.
//!
//! Must not know why a tree is cut so.

use super::key::{Key, PLACES};
use super::span::Window;

/// A word of a tree. Bits 0 to 31: index of the first word of the next node. Bits 32 to 42 and 43
/// to 53: two windows, each a word of the key, bits below the window, and its bits. Bits 54 to 63:
/// blocks of a leaf.
///
/// A leaf has no window, and its index is that of a word that is the same again: going on from a
/// leaf stays there. That index is also that of its first block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Entry(pub u64);

/// Bits of an entry below its windows.
pub const WINDOWS: [u32; 2] = [32, 43];
/// Bits of a window below its shift, and below its number of bits.
pub const SHIFT: u32 = 1;
pub const LENGTH: u32 = 7;
/// Bits of a number of bits.
pub const LENGTH_MASK: u64 = 15;
/// Bits of an entry below the number of blocks.
const BLOCKS: u32 = 54;
/// Most blocks of a leaf.
pub const BLOCKS_MAX: usize = (1 << 10) - 1;
/// Most bits of a window.
pub const BITS_MAX: u32 = LENGTH_MASK as u32;

impl Entry {
    /// A leaf of so many blocks from `first` on.
    pub fn leaf(first: u32, blocks: usize) -> Self {
        debug_assert!(blocks <= BLOCKS_MAX, "a leaf of {blocks} blocks");
        Self(u64::from(first) | (blocks as u64) << BLOCKS)
    }

    /// A node whose words begin at `first`; the bits of the first window are the lower ones.
    pub fn node(first: u32, windows: [Window; 2]) -> Self {
        let word = |window: Window| {
            let (word, base) = PLACES[window.field];
            let shift = base + window.shift;
            word | u64::from(shift) << SHIFT | u64::from(window.bits) << LENGTH
        };
        let [low, high] = windows.map(word);
        Self(u64::from(first) | low << WINDOWS[0] | high << WINDOWS[1])
    }

    /// Index of its next word for a packet.
    #[inline]
    pub fn next(self, key: &Key) -> usize {
        let taken = |at: u32| {
            let window = self.0 >> at;
            let bits = window >> LENGTH & LENGTH_MASK;
            let word = if window & 1 == 0 { key.addresses } else { key.rest };
            (word >> (window >> SHIFT & 63) & ((1 << bits) - 1), bits)
        };
        let ((low, bits), (high, _)) = (taken(WINDOWS[0]), taken(WINDOWS[1]));
        self.first() + (low | high << bits) as usize
    }

    /// Its index.
    pub const fn first(self) -> usize {
        (self.0 & 0xFFFF_FFFF) as usize
    }

    /// Its blocks, of a leaf; 0 of a node.
    pub const fn blocks(self) -> usize {
        (self.0 >> BLOCKS) as usize
    }
}
