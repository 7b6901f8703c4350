//! Knows the words of which a tree is made: where the next words stand, and which bits of a packet
//! choose among them.
//!
//! Must not know why a tree is cut so.

use super::span::Window;
use crate::engine::packet::tuple::Tuple;

/// The fields of a packet in two words: addresses, then ports and protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Key(pub [u64; 2]);

impl From<&Tuple> for Key {
    fn from(packet: &Tuple) -> Self {
        let addresses = u64::from(packet.src) << 32 | u64::from(packet.dst);
        let ports = u64::from(packet.src_port) << 24 | u64::from(packet.dst_port) << 8;
        Self([addresses, ports | u64::from(packet.protocol)])
    }
}

/// In which word of a key each field stands, and above how many bits.
const PLACES: [(u64, u32); 5] = [(0, 32), (0, 0), (1, 24), (1, 8), (1, 0)];

/// A word of a tree. Bits 0 to 31: index of the first word of the next node. Bits 32 to 42 and 43
/// to 53: two windows, each a word of the key, bits below the window, and its bits. Bits 54 to 63:
/// blocks of a leaf.
///
/// A leaf has no window, and its index is that of a word that is the same again: going on from a
/// leaf stays there. That index is also that of its first block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Entry(pub u64);

/// Where the windows begin.
pub const WINDOWS: [u32; 2] = [32, 43];
/// Where the number of blocks begins.
pub const BLOCKS: u32 = 54;
/// Most blocks of a leaf.
pub const BLOCKS_MAX: usize = (1 << 10) - 1;
/// Most bits of a window.
pub const BITS_MAX: u32 = 15;

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
            word | u64::from(base + window.shift) << 1 | u64::from(window.bits) << 7
        };
        let [low, high] = windows.map(word);
        Self(u64::from(first) | low << WINDOWS[0] | high << WINDOWS[1])
    }

    /// Index of its next word for a packet.
    pub fn next(self, key: &Key) -> usize {
        let taken = |at: u32| {
            let window = self.0 >> at;
            let bits = (window >> 7 & 15) as u32;
            let word = key.0[(window & 1) as usize];
            (word >> (window >> 1 & 63) & ((1 << bits) - 1), bits)
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
