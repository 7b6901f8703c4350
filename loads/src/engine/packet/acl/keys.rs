//! Knows the words of a batch of packets, and how they go through a tree on any CPU.
//!
//! Must not know how a tree is made.

use super::key::Key;
use super::tree::{Tree, first};
use crate::engine::packet::tuple::Tuple;

/// Packets that go through a tree together.
pub const BATCH: usize = 64;

/// Both words of each packet of a batch, apart from each other.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Keys {
    pub addresses: [u64; BATCH],
    pub rest: [u64; BATCH],
}

impl Keys {
    /// None yet.
    pub const EMPTY: Self = Self { addresses: [0; BATCH], rest: [0; BATCH] };

    /// Takes the packets of the next batch.
    #[inline]
    pub fn take(&mut self, packets: &[Tuple]) {
        let words = self.addresses.iter_mut().zip(&mut self.rest);
        for (packet, (addresses, rest)) in packets.iter().zip(words) {
            let key = Key::from(packet);
            (*addresses, *rest) = (key.addresses, key.rest);
        }
    }

    fn at(&self, at: usize) -> Key {
        Key { addresses: self.addresses[at], rest: self.rest[at] }
    }
}

/// Lowers each index to that of the first rule of a tree that the packet matches.
pub fn classify(tree: &Tree, keys: &Keys, matched: &mut [u32]) {
    let mut leaves = [tree.root; BATCH];
    for (at, leaf) in leaves.iter_mut().enumerate().take(matched.len()) {
        *leaf = tree.leaf(&keys.at(at));
    }
    for ((at, index), leaf) in matched.iter_mut().enumerate().zip(leaves) {
        let key = keys.at(at);
        *index = (*index).min(first(tree.blocks(leaf), |block| block.matched(&key)));
    }
}
