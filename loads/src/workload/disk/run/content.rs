//! Knows what stands in each sector of the file, and how what is read differs from it.
//!
//! A sector begins with the key of the trial, its number, the version of its block and a word that
//! follows from these three; all else follows from that word. Nothing of it is kept in memory.
//! Must not know files, nor who writes.

use crate::engine::net::content::{GOLDEN, mix};
use std::fmt;

/// Bytes of a sector: no disk takes less at once.
pub const SECTOR: usize = 512;
/// Words of the head of a sector.
const HEAD: usize = 4;
/// Bytes of a word.
const WORD: usize = 8;

/// The content of the file of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    key: u64,
}

/// What a sector says that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Named {
    key: u64,
    sector: u64,
    version: u32,
}

/// In what way what was read is not what was written. The first that fits is told, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// Bits of a sector are neither what was written there nor anywhere else.
    Flipped { sector: u64, bits: u32 },
    /// A sector holds what belongs to another.
    Misdirected { sector: u64, holds: u64 },
    /// A sector holds nothing: neither what was written last nor what filled the file before.
    Lost { sector: u64 },
    /// Of sectors that were written at once some are of another version than others, or of an
    /// earlier trial.
    Torn { sector: u64, holds: Option<u32>, wanted: u32 },
    /// All of the sectors that were written at once are of another version, or of an earlier trial.
    Stale { sector: u64, holds: Option<u32>, wanted: u32 },
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Flipped { sector, bits } => {
                write!(f, "flipped: {bits} bits of sector {sector} are not what was written")
            }
            Self::Misdirected { sector, holds } => {
                write!(f, "misdirected: sector {sector} holds what belongs to sector {holds}")
            }
            Self::Lost { sector } => {
                write!(f, "lost: sector {sector} holds zeros, and it was written")
            }
            Self::Torn { sector, holds: None, .. } => write!(
                f,
                "torn: sector {sector} holds content of another trial or fill, and others of its \
                 write do not"
            ),
            Self::Torn { sector, holds: Some(holds), wanted } => write!(
                f,
                "torn: sector {sector} holds version {holds} and others of its write do not; \
                 version {wanted} was written"
            ),
            Self::Stale { sector, holds: Some(holds), wanted } => write!(
                f,
                "stale: sector {sector} holds version {holds}, and version {wanted} was written"
            ),
            Self::Stale { sector, holds: None, .. } => {
                write!(f, "stale: sector {sector} holds content of another trial or fill")
            }
        }
    }
}

/// A sector that was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Looked {
    sector: u64,
    found: Found,
    /// The version that it was written in.
    wanted: u32,
}

/// What one sector is found to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Flipped(u32),
    Zeros,
    Whole(Named),
}

impl Named {
    /// The head of the sector; all other words follow from its last.
    #[inline]
    const fn head(self) -> [u64; HEAD] {
        let check = mix(self.key ^ mix(self.sector ^ mix(self.version as u64 ^ GOLDEN)));
        [self.key, self.sector, self.version as u64, check]
    }

    /// Writes its content.
    #[inline]
    fn put(self, sector: &mut [u8; SECTOR]) {
        let head = self.head();
        let (words, _) = sector.as_chunks_mut::<WORD>();
        for (at, place) in (1_u64..).zip(words.iter_mut()) {
            *place = head[HEAD - 1].wrapping_add(GOLDEN.wrapping_mul(at)).to_le_bytes();
        }
        for (place, word) in words.iter_mut().zip(head) {
            *place = word.to_le_bytes();
        }
    }

    /// Its content.
    fn bytes(self) -> [u8; SECTOR] {
        let mut bytes = [0; SECTOR];
        self.put(&mut bytes);
        bytes
    }

    /// Whether a sector is it, bit by bit. Without a branch in its loop, which is done for several
    /// words at once.
    #[inline]
    fn is(self, sector: &[u8; SECTOR]) -> bool {
        let head = self.head();
        let (words, _) = sector.as_chunks::<WORD>();
        let (first, rest) = words.split_at(HEAD);
        let mut differs = 0;
        for (word, right) in first.iter().zip(head) {
            differs |= u64::from_le_bytes(*word) ^ right;
        }
        for (at, word) in (1 + HEAD as u64..).zip(rest) {
            let right = head[HEAD - 1].wrapping_add(GOLDEN.wrapping_mul(at));
            differs |= u64::from_le_bytes(*word) ^ right;
        }
        differs == 0
    }

    /// What the head of a sector says, where all of the sector follows from it.
    fn read(sector: &[u8]) -> Option<Self> {
        let mut words = sector.chunks_exact(8).map(|word| word.try_into().map(u64::from_le_bytes));
        let mut word = || words.next()?.ok();
        let (key, number, version) = (word()?, word()?, u32::try_from(word()?).ok()?);
        let named = Self { key, sector: number, version };
        (sector == named.bytes()).then_some(named)
    }
}

/// Whether a sector is of a trial, whichever it was.
#[must_use]
pub fn is_ours(sector: &[u8]) -> bool {
    Named::read(sector).is_some()
}

impl Content {
    /// Of the trial of a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { key: mix(seed.wrapping_add(GOLDEN)) }
    }

    /// Writes a version of a block that begins at a sector into memory.
    pub fn fill(self, block: &mut [u8], first: u64, version: u32) {
        for (sector, place) in (first..).zip(block.as_chunks_mut().0) {
            Named { key: self.key, sector, version }.put(place);
        }
    }

    /// Whether each bit of a block that begins at a sector is that of a version of it.
    #[must_use]
    pub fn holds(self, block: &[u8], first: u64, version: u32) -> bool {
        let key = self.key;
        (first..).zip(block.as_chunks().0).all(|(sector, it)| Named { key, sector, version }.is(it))
    }

    /// In what way what was read from a sector on differs from the versions that its sectors were
    /// written in. Sectors side by side that were written in one version were written at once.
    #[cold]
    #[must_use]
    pub fn judge(self, read: &[u8], first: u64, wanted: &[u32]) -> Damage {
        let all: Vec<Looked> = (first..)
            .zip(read.chunks_exact(SECTOR).zip(wanted))
            .map(|(sector, (bytes, wanted))| Looked {
                sector,
                found: self.found(bytes, sector, *wanted),
                wanted: *wanted,
            })
            .collect();
        let flipped = |looked: &Looked| match looked.found {
            Found::Flipped(bits) => Some(Damage::Flipped { sector: looked.sector, bits }),
            _ => None,
        };
        let misdirected = |looked: &Looked| match looked.found {
            Found::Whole(named) if named.key == self.key && named.sector != looked.sector => {
                Some(Damage::Misdirected { sector: looked.sector, holds: named.sector })
            }
            _ => None,
        };
        let lost = |looked: &Looked| {
            (looked.found == Found::Zeros).then_some(Damage::Lost { sector: looked.sector })
        };
        let told = all.iter().find_map(flipped).or_else(|| all.iter().find_map(misdirected));
        told.or_else(|| all.iter().find_map(lost)).unwrap_or_else(|| self.aged(&all))
    }

    /// In what way what was read differs of which every sector is whole and in its place.
    fn aged(self, all: &[Looked]) -> Damage {
        let holds = |looked: &Looked| match looked.found {
            Found::Whole(named) => (named.key == self.key).then_some(named.version),
            _ => None,
        };
        let wrong = all.iter().find(|looked| holds(looked) != Some(looked.wanted)).or(all.first());
        let Some(wrong) = wrong else { return Damage::Lost { sector: 0 } };
        let Looked { sector, wanted, .. } = *wrong;
        let found = holds(wrong);
        let mut at_once = all
            .chunk_by(|one, next| one.wanted == next.wanted)
            .filter(|run| run.iter().any(|looked| looked.sector == sector))
            .flatten();
        match at_once.any(|looked| holds(looked) != found) {
            true => Damage::Torn { sector, holds: found, wanted },
            false => Damage::Stale { sector, holds: found, wanted },
        }
    }

    /// What a sector is that should be a version of that number.
    fn found(self, bytes: &[u8], sector: u64, version: u32) -> Found {
        if let Some(named) = Named::read(bytes) {
            return Found::Whole(named);
        }
        if bytes.iter().all(|byte| *byte == 0) {
            return Found::Zeros;
        }
        let right = Named { key: self.key, sector, version }.bytes();
        Found::Flipped(bytes.iter().zip(right).map(|(a, b)| (a ^ b).count_ones()).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TRIAL: Content = Content::new(7);
    const BLOCK: usize = 8 * SECTOR;

    fn block(content: Content, first: u64, version: u32) -> Vec<u8> {
        let mut bytes = vec![0; BLOCK];
        content.fill(&mut bytes, first, version);
        bytes
    }

    #[test]
    fn what_was_written_is_right_and_everything_else_has_a_name() {
        let good = block(TRIAL, 16, 3);
        assert!(TRIAL.holds(&good, 16, 3));
        let damage = |bytes: &[u8]| {
            assert!(!TRIAL.holds(bytes, 16, 3));
            TRIAL.judge(bytes, 16, &[3; 8])
        };
        let old = block(TRIAL, 16, 2);
        assert_eq!(damage(&old), Damage::Stale { sector: 16, holds: Some(2), wanted: 3 });
        let other = block(Content::new(8), 16, 3);
        assert_eq!(damage(&other), Damage::Stale { sector: 16, holds: None, wanted: 3 });
        let elsewhere = block(TRIAL, 24, 3);
        assert_eq!(damage(&elsewhere), Damage::Misdirected { sector: 16, holds: 24 });
        let torn = [&good[..3 * SECTOR], &old[3 * SECTOR..]].concat();
        assert_eq!(damage(&torn), Damage::Torn { sector: 19, holds: Some(2), wanted: 3 });
        let mixed = [&old[..SECTOR], &block(TRIAL, 16, 1)[SECTOR..]].concat();
        assert_eq!(damage(&mixed), Damage::Torn { sector: 16, holds: Some(2), wanted: 3 });
        let foreign = [&other[..SECTOR], &good[SECTOR..]].concat();
        assert_eq!(damage(&foreign), Damage::Torn { sector: 16, holds: None, wanted: 3 });
        let hole = [&good[..SECTOR], &[0; SECTOR], &good[2 * SECTOR..]].concat();
        assert_eq!(damage(&hole), Damage::Lost { sector: 17 });
    }

    #[test]
    fn sectors_of_several_writes_are_judged_by_their_own_write() {
        // Three sectors of write 5, then five of write 7, which came over write 6.
        let wanted = [5, 5, 5, 7, 7, 7, 7, 7];
        let read = |versions: [u32; 8]| -> Vec<u8> {
            let sectors = (16..).zip(versions).map(|(sector, version)| {
                let mut bytes = vec![0; SECTOR];
                TRIAL.fill(&mut bytes, sector, version);
                bytes
            });
            sectors.flatten().collect()
        };
        let damage = |versions| TRIAL.judge(&read(versions), 16, &wanted);
        let stale = damage([5, 5, 5, 6, 6, 6, 6, 6]);
        assert_eq!(stale, Damage::Stale { sector: 19, holds: Some(6), wanted: 7 });
        let torn = damage([5, 5, 5, 7, 7, 6, 6, 6]);
        assert_eq!(torn, Damage::Torn { sector: 21, holds: Some(6), wanted: 7 });
        let both = damage([4, 4, 4, 6, 6, 6, 6, 6]);
        assert_eq!(both, Damage::Stale { sector: 16, holds: Some(4), wanted: 5 });
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::with_cases(256)
        })]

        #[test]
        fn one_changed_bit_is_found_wherever_it_is(
            (seed, first, version) in (any::<u64>(), 0..1_u64 << 50, any::<u32>()),
            bit in 0..BLOCK * 8,
        ) {
            let content = Content::new(seed);
            let mut bytes = block(content, first, version);
            bytes[bit / 8] ^= 1 << (bit % 8);
            let sector = first + (bit / 8 / SECTOR) as u64;
            let flipped = Damage::Flipped { sector, bits: 1 };
            prop_assert!(!content.holds(&bytes, first, version));
            prop_assert_eq!(content.judge(&bytes, first, &[version; 8]), flipped);
        }
    }
}
