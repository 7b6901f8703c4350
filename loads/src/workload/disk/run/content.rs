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

/// In what way a block is not what was written. The first that fits is told, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// Bits of a sector are neither what was written there nor anywhere else.
    Flipped { sector: u64, bits: u32 },
    /// A sector holds what belongs to another.
    Misdirected { sector: u64, holds: u64 },
    /// A sector holds nothing: neither what was written last nor what filled the file before.
    Lost { sector: u64 },
    /// The sectors of the block are of different versions, or some of an earlier trial.
    Torn { sector: u64, holds: Option<u32>, wanted: u32 },
    /// All of the block is of another version than was written last, or of an earlier trial.
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
                "torn: sector {sector} holds content of another trial, and others of its block do \
                 not"
            ),
            Self::Torn { sector, holds: Some(holds), wanted } => write!(
                f,
                "torn: sector {sector} holds version {holds} and others of its block do not; \
                 version {wanted} was written"
            ),
            Self::Stale { sector, holds: Some(holds), wanted } => write!(
                f,
                "stale: the block of sector {sector} holds version {holds}, and version {wanted} \
                 was written"
            ),
            Self::Stale { sector, holds: None, .. } => {
                write!(f, "stale: sector {sector} holds content of another trial")
            }
        }
    }
}

/// What one sector is found to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Flipped(u32),
    Zeros,
    Whole(Named),
}

impl Named {
    /// Its content.
    fn bytes(self) -> [u8; SECTOR] {
        let check = mix(self.key ^ mix(self.sector ^ mix(u64::from(self.version) ^ GOLDEN)));
        let head = [self.key, self.sector, u64::from(self.version), check];
        let mut bytes = [0; SECTOR];
        let mut word = check;
        for (at, place) in bytes.chunks_exact_mut(8).enumerate() {
            word = word.wrapping_add(GOLDEN);
            let put = if at < HEAD { head[at] } else { word };
            place.copy_from_slice(&put.to_le_bytes());
        }
        bytes
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

impl Content {
    /// Of the trial of a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { key: mix(seed.wrapping_add(GOLDEN)) }
    }

    /// Writes a version of a block that begins at a sector into memory.
    pub fn fill(self, block: &mut [u8], first: u64, version: u32) {
        for (sector, place) in (first..).zip(block.chunks_exact_mut(SECTOR)) {
            place.copy_from_slice(&Named { key: self.key, sector, version }.bytes());
        }
    }

    /// Compares each bit of a block that begins at a sector with a version of it.
    ///
    /// # Errors
    /// In what way it differs.
    pub fn verify(self, block: &[u8], first: u64, version: u32) -> Result<(), Damage> {
        let right = |(sector, found): (u64, &[u8])| {
            found == Named { key: self.key, sector, version }.bytes()
        };
        if (first..).zip(block.chunks_exact(SECTOR)).all(right) {
            return Ok(());
        }
        Err(self.judge(block, first, version))
    }

    /// In what way a block differs from a version of it.
    #[cold]
    fn judge(self, block: &[u8], first: u64, wanted: u32) -> Damage {
        let all: Vec<(u64, Found)> = (first..)
            .zip(block.chunks_exact(SECTOR))
            .map(|(sector, bytes)| (sector, self.found(bytes, sector, wanted)))
            .collect();
        let first_of = |tell: &dyn Fn(u64, Found) -> Option<Damage>| {
            all.iter().find_map(|(sector, found)| tell(*sector, *found))
        };
        let flipped = |sector, found| match found {
            Found::Flipped(bits) => Some(Damage::Flipped { sector, bits }),
            _ => None,
        };
        let misdirected = |sector, found| match found {
            Found::Whole(named) if named.key == self.key && named.sector != sector => {
                Some(Damage::Misdirected { sector, holds: named.sector })
            }
            _ => None,
        };
        let lost = |sector, found| (found == Found::Zeros).then_some(Damage::Lost { sector });
        let told = first_of(&flipped).or_else(|| first_of(&misdirected));
        told.or_else(|| first_of(&lost)).unwrap_or_else(|| self.aged(&all, wanted))
    }

    /// In what way a block differs of which every sector is whole and in its place.
    fn aged(self, all: &[(u64, Found)], wanted: u32) -> Damage {
        let named = |found: Found| match found {
            Found::Whole(named) => Some((named.key == self.key).then_some(named.version)),
            _ => None,
        };
        let mut versions = all.iter().filter_map(|(sector, found)| Some((*sector, named(*found)?)));
        let wrong = versions.clone().find(|(_, version)| *version != Some(wanted));
        let (sector, holds) = wrong.unwrap_or((0, None));
        match versions.any(|(_, other)| other != holds) {
            true => Damage::Torn { sector, holds, wanted },
            false => Damage::Stale { sector, holds, wanted },
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
        assert_eq!(TRIAL.verify(&good, 16, 3), Ok(()));
        let damage = |bytes: &[u8]| TRIAL.verify(bytes, 16, 3).unwrap_err();
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
            prop_assert_eq!(content.verify(&bytes, first, version), Err(flipped));
        }
    }
}
