//! Knows what stands in each sector of the file, and how what is read differs from it.
//!
//! A sector begins with the key of the trial, its number, the version of its block and a word that
//! follows from these three; all else follows from that word, but for zeros at its end. Blocks that
//! share content hold that of a sector which no file has. Nothing of it is kept in memory.
//! Must not know files, nor who writes.

use super::shape::{Shape, shared};
use crate::engine::net::content::{GOLDEN, mix};
use multiversion::multiversion;
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
    shape: Shape,
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
    Torn { sector: u64, holds: Holds, wanted: u32 },
    /// All of the sectors that were written at once are of another version, or of an earlier trial.
    Stale { sector: u64, holds: Holds, wanted: u32 },
}

/// What a whole sector holds in place of its version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// This one.
    Version(u32),
    /// Content that blocks share, of which the version is unknown.
    Shared,
    /// Content of another trial, or of a fill before the last.
    OtherTrial,
}

impl fmt::Display for Holds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(version) => write!(f, "version {version}"),
            Self::Shared => f.write_str("other content that blocks share"),
            Self::OtherTrial => f.write_str("content of another trial or fill"),
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Flipped { sector, bits } => {
                write!(f, "flipped: {bits} bits of sector {sector} are not what was written")
            }
            Self::Misdirected { sector, holds } => match shared(holds) {
                None => {
                    write!(f, "misdirected: sector {sector} holds what belongs to sector {holds}")
                }
                Some(at) => write!(
                    f,
                    "misdirected: sector {sector} holds sector {at} of content that blocks share"
                ),
            },
            Self::Lost { sector } => {
                write!(f, "lost: sector {sector} holds zeros, and it was written")
            }
            Self::Torn { sector, holds, wanted } => write!(
                f,
                "torn: sector {sector} holds {holds} and others of its write do not; version \
                 {wanted} was written"
            ),
            Self::Stale { sector, holds, wanted } => {
                write!(f, "stale: sector {sector} holds {holds}, and version {wanted} was written")
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
    /// What was written, or what was or will be.
    Whole(Named),
    /// Other content that blocks share, and that may stand in this sector.
    Shared,
}

impl Named {
    /// The head of the sector; all other words follow from its last.
    #[inline]
    const fn head(self) -> [u64; HEAD] {
        let check = mix(self.key ^ mix(self.sector ^ mix(self.version as u64 ^ GOLDEN)));
        [self.key, self.sector, self.version as u64, check]
    }

    /// Writes its content.
    #[expect(clippy::inline_always, reason = "it takes the instructions of its caller")]
    #[inline(always)]
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

    /// Its content with so many zeros at the end.
    fn bytes(self, zeros: usize) -> [u8; SECTOR] {
        let mut bytes = [0; SECTOR];
        self.put(&mut bytes);
        bytes[SECTOR - zeros..].fill(0);
        bytes
    }

    /// Whether a sector is it, bit by bit. Without a branch in its loop, which is done for several
    /// words at once.
    #[expect(clippy::inline_always, reason = "it takes the instructions of its caller")]
    #[inline(always)]
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

    /// What the head of a sector says, where all of the sector follows from it, or zeros follow.
    fn read(sector: &[u8]) -> Option<Self> {
        let mut words = sector.chunks_exact(8).map(|word| word.try_into().map(u64::from_le_bytes));
        let mut word = || words.next()?.ok();
        let (key, number, version) = (word()?, word()?, u32::try_from(word()?).ok()?);
        let named = Self { key, sector: number, version };
        let zeros = sector.iter().rev().take_while(|byte| **byte == 0).count();
        let zeros = zeros.min(SECTOR - HEAD * WORD);
        (sector == named.bytes(zeros)).then_some(named)
    }
}

/// Writes sectors side by side of one version.
#[multiversion(targets("x86_64+avx2"))]
fn put_all(first: Named, block: &mut [u8]) {
    for (sector, place) in (first.sector..).zip(block.as_chunks_mut().0) {
        Named { sector, ..first }.put(place);
    }
}

/// Whether all sectors side by side are of one version.
#[multiversion(targets("x86_64+avx2"))]
fn are_all(first: Named, block: &[u8]) -> bool {
    (first.sector..).zip(block.as_chunks().0).all(|(sector, it)| Named { sector, ..first }.is(it))
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
        Self { key: mix(seed.wrapping_add(GOLDEN)), shape: Shape::PLAIN }
    }

    /// Of that trial, with this shape.
    #[must_use]
    pub const fn shaped(self, shape: Shape) -> Self {
        Self { shape, ..self }
    }

    /// What stands in a sector that is of a version.
    const fn named(self, sector: u64, version: u32) -> Named {
        let (sector, version) = self.shape.original(self.key, (sector, version));
        Named { key: self.key, sector, version }
    }

    /// All of that sector.
    fn bytes(self, sector: u64, version: u32) -> [u8; SECTOR] {
        self.named(sector, version).bytes(self.shape.zeros())
    }

    /// Writes a version of a block that begins at a sector into memory.
    pub fn fill(self, block: &mut [u8], first: u64, version: u32) {
        if self.shape.is_plain() {
            return put_all(Named { key: self.key, sector: first, version }, block);
        }
        for (sector, place) in (first..).zip(block.as_chunks_mut().0) {
            *place = self.bytes(sector, version);
        }
    }

    /// Whether each bit of a block that begins at a sector is that of a version of it.
    #[must_use]
    pub fn holds(self, block: &[u8], first: u64, version: u32) -> bool {
        if self.shape.is_plain() {
            return are_all(Named { key: self.key, sector: first, version }, block);
        }
        let mut sectors = (first..).zip(block.as_chunks().0);
        sectors.all(|(sector, it)| *it == self.bytes(sector, version))
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
            Found::Whole(named) if named.key == self.key => Holds::Version(named.version),
            Found::Shared => Holds::Shared,
            _ => Holds::OtherTrial,
        };
        let is_wrong = |looked: &&Looked| holds(looked) != Holds::Version(looked.wanted);
        let wrong = all.iter().find(is_wrong).or(all.first());
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
        let (key, right) = (self.key, self.bytes(sector, version));
        if bytes == right {
            return Found::Whole(Named { key, sector, version });
        }
        if bytes.iter().all(|byte| *byte == 0) {
            return Found::Zeros;
        }
        let flipped = || bytes.iter().zip(right).map(|(a, b)| (a ^ b).count_ones()).sum();
        match Named::read(bytes) {
            Some(named) if named.key != key => Found::Whole(named),
            Some(named) if bytes == named.bytes(self.shape.zeros()) => {
                match self.shape.may_stand(named.sector, sector) {
                    true => Found::Shared,
                    false => Found::Whole(named),
                }
            }
            _ => Found::Flipped(flipped()),
        }
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
        assert_eq!(damage(&old), Damage::Stale { sector: 16, holds: Holds::Version(2), wanted: 3 });
        let other = block(Content::new(8), 16, 3);
        assert_eq!(
            damage(&other),
            Damage::Stale { sector: 16, holds: Holds::OtherTrial, wanted: 3 }
        );
        let elsewhere = block(TRIAL, 24, 3);
        assert_eq!(damage(&elsewhere), Damage::Misdirected { sector: 16, holds: 24 });
        let torn = [&good[..3 * SECTOR], &old[3 * SECTOR..]].concat();
        assert_eq!(damage(&torn), Damage::Torn { sector: 19, holds: Holds::Version(2), wanted: 3 });
        let mixed = [&old[..SECTOR], &block(TRIAL, 16, 1)[SECTOR..]].concat();
        assert_eq!(
            damage(&mixed),
            Damage::Torn { sector: 16, holds: Holds::Version(2), wanted: 3 }
        );
        let foreign = [&other[..SECTOR], &good[SECTOR..]].concat();
        assert_eq!(
            damage(&foreign),
            Damage::Torn { sector: 16, holds: Holds::OtherTrial, wanted: 3 }
        );
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
        assert_eq!(stale, Damage::Stale { sector: 19, holds: Holds::Version(6), wanted: 7 });
        let torn = damage([5, 5, 5, 7, 7, 6, 6, 6]);
        assert_eq!(torn, Damage::Torn { sector: 21, holds: Holds::Version(6), wanted: 7 });
        let both = damage([4, 4, 4, 6, 6, 6, 6, 6]);
        assert_eq!(both, Damage::Stale { sector: 16, holds: Holds::Version(4), wanted: 5 });
    }

    /// With zeros, and with copies.
    fn shaped() -> Content {
        TRIAL.shaped(Shape::new((50, 60), (BLOCK, 1000)))
    }

    /// Versions of block 2: one that is a copy, one that is of another original, one that is none.
    fn versions(content: Content) -> [u32; 3] {
        let holds = |version: u32| content.shape.original(content.key, (16, version)).0;
        let copy = (1..).find(|version| shared(holds(*version)).is_some()).unwrap();
        let is_other =
            |version: &u32| shared(holds(*version)).is_some_and(|_| holds(*version) != holds(copy));
        let other = (1..).find(is_other).unwrap();
        let none = (1..).find(|version| holds(*version) == 16).unwrap();
        [copy, other, none]
    }

    #[test]
    fn damage_of_content_that_blocks_share_has_a_name_too() {
        let content = shaped();
        let [copy, other, none] = versions(content);
        let at = |version: u32| block(content, 16, version);
        let damage = |bytes: &[u8], wanted: u32| {
            assert!(!content.holds(bytes, 16, wanted));
            content.judge(bytes, 16, &[wanted; 8])
        };
        for version in [copy, other, none] {
            assert!(content.holds(&at(version), 16, version));
            assert_eq!(damage(&[0; BLOCK], version), Damage::Lost { sector: 16 });
            let foreign = block(Content { key: 1, ..content }, 16, version);
            let holds = Holds::OtherTrial;
            assert_eq!(
                damage(&foreign, version),
                Damage::Stale { sector: 16, holds, wanted: version }
            );
        }
        // Where an older version was a copy, which one is unknown.
        for wanted in [copy, none] {
            let holds = Holds::Shared;
            assert_eq!(damage(&at(other), wanted), Damage::Stale { sector: 16, holds, wanted });
            let torn = [&at(wanted)[..2 * SECTOR], &at(other)[2 * SECTOR..]].concat();
            assert_eq!(damage(&torn, wanted), Damage::Torn { sector: 18, holds, wanted });
        }
        let (holds, wanted) = (Holds::Version(none), copy);
        assert_eq!(damage(&at(none), copy), Damage::Stale { sector: 16, holds, wanted });
        let torn = [&at(copy)[..3 * SECTOR], &at(none)[3 * SECTOR..]].concat();
        assert_eq!(damage(&torn, copy), Damage::Torn { sector: 19, holds, wanted });
        // A sector of the copy at another distance from its begin, and a block that is none.
        let mut moved = at(copy);
        moved.rotate_left(SECTOR);
        let told = damage(&moved, copy);
        assert!(matches!(told, Damage::Misdirected { sector: 16, .. }), "{told:?}");
        assert!(told.to_string().ends_with("of content that blocks share"), "{told}");
        let elsewhere = (3..)
            .map(|block| block * 8)
            .find(|sector| content.shape.original(content.key, (*sector, 1)).0 == *sector);
        let holds = elsewhere.unwrap();
        let told = damage(&block(content, holds, 1), copy);
        assert_eq!(told, Damage::Misdirected { sector: 16, holds });
    }

    #[test]
    fn sectors_of_every_shape_are_ours_and_nothing_else_is() {
        let [copy, _, none] = versions(shaped());
        for (content, version) in [(TRIAL, 3), (shaped(), copy), (shaped(), none)] {
            let bytes = block(content, 16, version);
            assert!(bytes.chunks(SECTOR).all(is_ours));
            let mut spoilt = bytes[..SECTOR].to_vec();
            spoilt[SECTOR - 1] ^= 1;
            assert!(!is_ours(&spoilt));
            spoilt.fill(0);
            assert!(!is_ours(&spoilt));
        }
        // Zeros of another length than the trial writes are no content of it.
        let short = block(shaped(), 16, none);
        let flipped = TRIAL.judge(&short, 16, &[none; 8]);
        assert!(
            matches!(flipped, Damage::Flipped { sector: 16, bits } if bits > 500),
            "{flipped:?}"
        );
    }

    #[test]
    fn content_compresses_and_repeats_as_it_was_asked_for() {
        let size = |percents: (u64, u64)| {
            let content = TRIAL.shaped(Shape::new(percents, (BLOCK, 1024)));
            let mut bytes = vec![0; 1024 * BLOCK];
            content.fill(&mut bytes, 0, 0);
            let mut distinct: Vec<&[u8]> = bytes.chunks(BLOCK).collect();
            let lone = zstd::bulk::compress(&bytes[..BLOCK], 1).unwrap().len();
            distinct.sort_unstable();
            distinct.dedup();
            (lone as f64 / BLOCK as f64, distinct.len())
        };
        for compressible in [0, 25, 50, 90] {
            let (left, distinct) = size((compressible, 0));
            let wanted = 1.0 - compressible as f64 / 100.0;
            assert!((wanted - 0.08..wanted + 0.02).contains(&left), "{compressible} %: {left}");
            assert_eq!(distinct, 1024);
        }
        for (duplicated, distinct) in [(25, 768 + 16), (50, 512 + 32), (100, 64)] {
            let (left, found) = size((0, duplicated));
            assert!(left > 0.9 && found.abs_diff(distinct) < 50, "{duplicated} %: {left} {found}");
        }
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
            let first = first / 8 * 8;
            for percents in [(0, 0), (70, 0), (0, 50), (90, 100)] {
                let content = Content::new(seed).shaped(Shape::new(percents, (BLOCK, 1000)));
                let mut bytes = block(content, first, version);
                bytes[bit / 8] ^= 1 << (bit % 8);
                let sector = first + (bit / 8 / SECTOR) as u64;
                let flipped = Damage::Flipped { sector, bits: 1 };
                prop_assert!(!content.holds(&bytes, first, version));
                prop_assert_eq!(content.judge(&bytes, first, &[version; 8]), flipped);
            }
        }
    }
}
