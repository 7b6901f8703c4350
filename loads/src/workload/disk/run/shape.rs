//! Knows how much of a sector is zeros, and which blocks have the same content.
//!
//! Must not know what else stands in a sector.

use crate::engine::net::content::{GOLDEN, mix};

/// Bytes of a sector.
const SECTOR: u64 = 512;
/// The first of the sectors that lie in no file: their content is what blocks share.
const SHARED: u64 = 1 << 56;
/// Most blocks of which others are copies.
const ORIGINALS_MOST: u64 = 64;
/// Copies of each of them in a small file, on average.
const COPIES: u64 = 16;

/// What of the content can be compressed, and what is there more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Bytes of zeros at the end of each sector.
    zeros: usize,
    /// Percent of the blocks that are copies.
    duplicated: u64,
    /// Blocks of which they are copies.
    originals: u64,
    /// Sectors of a block.
    sectors: u64,
}

impl Shape {
    /// Nothing of it.
    pub const PLAIN: Self = Self { zeros: 0, duplicated: 0, originals: 1, sectors: 1 };

    /// Of so many percent of the bytes and of the blocks, in a file of so many blocks of these
    /// bytes.
    pub fn new((compressible, duplicated): (u64, u64), (block, blocks): (usize, u64)) -> Self {
        let zeros = (SECTOR * compressible).div_ceil(100) as usize;
        let originals = (blocks * duplicated / 100 / COPIES).clamp(1, ORIGINALS_MOST);
        Self { zeros, duplicated, originals, sectors: (block as u64 / SECTOR).max(1) }
    }

    /// Bytes of zeros at the end of each sector.
    pub const fn zeros(self) -> usize {
        self.zeros
    }

    /// Whether all content is of its sector alone, and without zeros.
    #[inline]
    pub const fn is_plain(self) -> bool {
        self.zeros == 0 && self.duplicated == 0
    }

    /// Sector and version whose content stands in a sector that is of a version.
    ///
    /// Whether a block is a copy, and of which original, is drawn for each of its versions.
    pub const fn original(self, key: u64, (sector, version): (u64, u32)) -> (u64, u32) {
        if self.duplicated == 0 {
            return (sector, version);
        }
        let (block, at) = (sector / self.sectors, sector % self.sectors);
        let drawn = mix(key ^ mix(block ^ mix(version as u64).wrapping_add(GOLDEN)));
        if scaled(drawn >> 32, 100) >= self.duplicated {
            return (sector, version);
        }
        (SHARED + scaled(drawn & 0xFFFF_FFFF, self.originals) * self.sectors + at, 0)
    }

    /// Whether such a sector of an original may stand in a sector of the file: both are as far
    /// from the begin of their blocks.
    pub const fn may_stand(self, original: u64, sector: u64) -> bool {
        match shared(original) {
            Some(number) => number % self.sectors == sector % self.sectors,
            None => false,
        }
    }
}

/// The number of a sector among those of originals; none of one of a file.
pub const fn shared(sector: u64) -> Option<u64> {
    sector.checked_sub(SHARED)
}

/// Of a number of 32 bits the one below `bound` that lies at the same share of it.
const fn scaled(number: u64, bound: u64) -> u64 {
    (number * bound) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const BLOCKS: u64 = 10_000;

    /// How many blocks hold what each first sector does.
    fn holders(shape: Shape, version: u32) -> BTreeMap<(u64, u32), u64> {
        let mut holders = BTreeMap::new();
        for block in 0..BLOCKS {
            *holders.entry(shape.original(9, (block * 8, version))).or_default() += 1;
        }
        holders
    }

    #[test]
    fn so_many_blocks_are_copies_and_all_others_are_not() {
        for duplicated in [0, 1, 30, 50, 100] {
            let shape = Shape::new((0, duplicated), (4096, BLOCKS));
            for version in [0, 7] {
                let copies: Vec<u64> =
                    holders(shape, version).into_values().filter(|blocks| *blocks > 1).collect();
                let share = copies.iter().sum::<u64>() as f64 / BLOCKS as f64 * 100.0;
                assert!((share - duplicated as f64).abs() < 1.5, "{duplicated} %: {share} %");
                let wanted = (duplicated * BLOCKS / 100 / COPIES).min(ORIGINALS_MOST);
                assert_eq!(copies.len() as u64, wanted, "{duplicated} %");
            }
        }
    }

    #[test]
    fn sectors_of_a_copy_are_those_of_its_original_in_order() {
        // Three sectors do not divide a power of two.
        let shape = Shape::new((0, 100), (1536, 300));
        for (block, version) in [(0, 0), (5, 0), (5, 1), (299, 12)] {
            let of = |at: u64| shape.original(9, (block * 3 + at, version));
            let first = of(0).0;
            assert_eq!([of(1), of(2)], [(first + 1, 0), (first + 2, 0)]);
            assert_eq!(shared(first).unwrap() % 3, 0);
            assert!(shape.may_stand(first + 1, 3 * 77 + 1) && !shape.may_stand(first + 1, 3 * 77));
            assert!(!shape.may_stand(block * 3, block * 3), "it lies in the file");
        }
    }

    #[test]
    fn zeros_are_bytes_of_a_hundred_and_leave_the_head() {
        let zeros = [0, 1, 50, 90].map(|percent| Shape::new((percent, 0), (512, 1)).zeros());
        assert_eq!(zeros, [0, 6, 256, 461]);
        assert!(Shape::new((0, 0), (4096, 100)).is_plain() && Shape::PLAIN.is_plain());
        let shaped = [(1, 0), (0, 1)].map(|percents| Shape::new(percents, (4096, 100)).is_plain());
        assert_eq!(shaped, [false, false]);
    }
}
