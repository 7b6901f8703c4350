//! Knows data sets: content that is made once for a run, under a key of all that it was made from.
//!
//! A data set is in the memory of the host that serves it; a service has a copy in its run
//! directory. Both end with the run.
//!
//! Gives: [`Generator`], [`WEB`], [`SQL_SMALL`], [`Recipe`], [`DataSet`], [`of`], [`room`].
//! Never: who asks for a piece, or over which protocol.
//! Start reading at [`of`].

use crate::engine::net::content::content;
use bytes::Bytes;
use rig::metal::{DIGEST, available, digest};
use std::sync::{Arc, Mutex, PoisonError};

/// The stream of keyed content that pieces are cut from.
pub const STREAM: u32 = 1;
/// Memory that stays free beside a data set, bytes.
const FLOOR: u64 = 256 << 20;
/// Bytes of all data sets that a host keeps; the oldest is freed first.
const MOST: usize = 512 << 20;

/// What makes a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generator {
    /// Its name.
    pub name: &'static str,
    /// Rises when the same recipe gives other bytes.
    pub version: u32,
}

/// Files of a web server: one of any size, or a tree of sizes.
pub const WEB: Generator = Generator { name: "web", version: 1 };
/// Rows of one table, which fit in memory.
pub const SQL_SMALL: Generator = Generator { name: "sql_small", version: 1 };

/// All that a data set is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// What makes it.
    pub generator: Generator,
    /// Seed of its content.
    pub seed: u64,
    /// Of each piece its first byte in the content, and its length.
    pub pieces: Vec<(u64, u64)>,
    /// Where it is: the program that serves it.
    pub place: String,
}

impl Recipe {
    /// A name for it, 16 hexadecimal digits: the digest of generator, version, seed, sizes and
    /// place.
    #[must_use]
    pub fn key(&self) -> String {
        let Generator { name, version } = self.generator;
        let head = format!("{name} {version} {} {}", self.seed, self.place);
        let pieces =
            self.pieces.iter().fold(digest(DIGEST, head.as_bytes()), |sum, (from, size)| {
                digest(digest(sum, &from.to_le_bytes()), &size.to_le_bytes())
            });
        format!("{pieces:016x}")
    }

    /// Bytes of all pieces.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.pieces.iter().map(|(_, length)| length).sum()
    }

    fn make(&self) -> Vec<Bytes> {
        let bytes = |length: u64| usize::try_from(length).unwrap_or(usize::MAX);
        let longest = self.pieces.iter().map(|(_, length)| *length).max().unwrap_or(0);
        let all = content(self.seed, STREAM, bytes(longest));
        let cut = |(from, length): &(u64, u64)| {
            Bytes::copy_from_slice(&all[bytes(*from)..bytes(from + length)])
        };
        self.pieces.iter().map(cut).collect()
    }
}

/// A data set.
#[derive(Debug)]
pub struct DataSet {
    key: String,
    pieces: Vec<Bytes>,
    sum: u64,
}

impl DataSet {
    fn of(recipe: &Recipe) -> Self {
        let pieces = recipe.make();
        Self { key: recipe.key(), sum: sum(&pieces), pieces }
    }

    /// Its pieces, in the order of the recipe.
    #[must_use]
    pub fn pieces(&self) -> &[Bytes] {
        &self.pieces
    }
}

fn sum(pieces: &[Bytes]) -> u64 {
    pieces.iter().fold(DIGEST, |sum, piece| digest(sum, piece))
}

/// Those of this process, each with the trial for which it was last compared with its digest.
static KEPT: Mutex<Vec<(Arc<DataSet>, u64)>> = Mutex::new(Vec::new());

/// The data set of a recipe for a trial, by its seed. One of the same key is used again after its
/// bytes were compared with their digest; one that differs is made again.
#[must_use]
pub fn of(recipe: &Recipe, trial: u64) -> Arc<DataSet> {
    let (mut kept, key) = (KEPT.lock().unwrap_or_else(PoisonError::into_inner), recipe.key());
    let place = kept.iter().position(|(set, _)| set.key == key);
    let is_whole =
        |(set, verified): &(Arc<DataSet>, u64)| *verified == trial || sum(&set.pieces) == set.sum;
    let whole = place.map(|place| kept.remove(place)).filter(is_whole).map(|(set, _)| set);
    let set = whole.unwrap_or_else(|| Arc::new(DataSet::of(recipe)));
    let bytes = |set: &DataSet| set.pieces.iter().map(Bytes::len).sum::<usize>();
    while kept.iter().map(|(set, _)| bytes(set)).sum::<usize>() + bytes(&set) > MOST {
        if kept.is_empty() {
            break;
        }
        kept.remove(0);
    }
    kept.push((Arc::clone(&set), trial));
    set
}

/// Refuses a data set beside which too little memory stays free; one that is there takes no more.
///
/// # Errors
/// How much fits, with the remedy.
pub fn room(recipe: &Recipe) -> Result<(), String> {
    let (kept, key) = (KEPT.lock().unwrap_or_else(PoisonError::into_inner), recipe.key());
    let is_there = kept.iter().any(|(set, _)| set.key == key);
    if is_there { Ok(()) } else { fits(recipe.size(), available()) }
}

fn fits(bytes: u64, free: u64) -> Result<(), String> {
    // The host has it, and its service.
    let most = free.saturating_sub(FLOOR) / 2;
    if bytes <= most {
        return Ok(());
    }
    let [bytes, most, floor] = [bytes, most, FLOOR].map(|bytes| bytes >> 20);
    Err(format!(
        "the data set has {bytes} MiB, and {most} MiB fit in memory beside {floor} MiB that stay \
         free; take fewer or smaller pages"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipe() -> Recipe {
        Recipe { generator: WEB, seed: 7, pieces: vec![(0, 1), (5, 9000)], place: "nginx".into() }
    }

    #[test]
    fn a_key_is_of_all_that_a_data_set_is_made_from() {
        let other = |change: fn(&mut Recipe)| {
            let mut other = recipe();
            change(&mut other);
            other.key()
        };
        let keys = [
            recipe().key(),
            other(|recipe| recipe.generator = SQL_SMALL),
            other(|recipe| recipe.generator.version = 2),
            other(|recipe| recipe.seed = 8),
            other(|recipe| recipe.pieces[1].1 = 9001),
            other(|recipe| recipe.pieces[1].0 = 6),
            other(|recipe| recipe.place = "builtin".into()),
        ];
        let different: std::collections::BTreeSet<&String> = keys.iter().collect();
        assert_eq!((different.len(), keys[0].len()), (keys.len(), 16));
        assert_eq!(recipe().key(), keys[0]);
    }

    #[test]
    fn pieces_are_the_content_of_the_seed() {
        let set = of(&recipe(), 1);
        let all = content(7, STREAM, 9000);
        assert_eq!(set.pieces()[0], all[..1]);
        assert_eq!(set.pieces()[1], all[5..9005]);
    }

    #[test]
    fn a_data_set_whose_bytes_differ_is_made_again() {
        let broken = |set: &DataSet| DataSet { sum: !set.sum, ..DataSet::of(&recipe()) };
        let set = DataSet::of(&recipe());
        *KEPT.lock().unwrap() = vec![(Arc::new(broken(&set)), 1)];
        let restored = of(&recipe(), 2);
        assert_eq!((restored.sum, restored.pieces()), (set.sum, set.pieces()));
    }

    #[test]
    fn memory_stays_free_beside_a_data_set() {
        assert_eq!(fits(10 << 20, 300 << 20), Ok(()));
        let said = fits(30 << 20, 300 << 20).unwrap_err();
        assert!(said.contains("30 MiB, and 22 MiB fit") && said.contains("take fewer"), "{said}");
        assert!(fits(1, 0).is_err());
    }
}
