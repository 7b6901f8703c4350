//! Knows the next hop of the longest prefix that holds a destination, for many destinations at
//! once.
//!
//! The table is DIR-24-8 (P. Gupta, S. Lin, N. McKeown, "Routing Lookups in Hardware at Memory
//! Access Speeds", INFOCOM 1998): one entry for each value of the first 24 bits, and for those
//! that longer prefixes divide a group of 256. Must not know where routes come from.

use super::memory::{ask_for, filled};
use super::routes::Route;

/// Largest number of a next hop.
pub const HOP_MAX: u16 = LONGER - 2;
/// Said where no prefix holds a destination.
pub const NONE: u16 = u16::MAX;

/// Entries of the first table.
const FIRST: usize = 1 << 24;
/// Entries of a group of the second table.
const GROUP: usize = 1 << 8;
/// An entry of the first table with this bit that is not [`NONE`] is the number of a group.
const LONGER: u16 = 0x8000;
/// Most groups.
const GROUPS_MAX: usize = (LONGER - 1) as usize;
/// Destinations whose first entries are read before the second ones.
const BATCH: usize = 64;

/// Why there is no table for routes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LpmError {
    /// A number of a next hop is one too large.
    #[error("next hop {hop} of {prefix} is above {HOP_MAX}; number next hops from 0")]
    Hop {
        /// The number.
        hop: u16,
        /// Its prefix, as written.
        prefix: String,
    },
    /// Prefixes of more than 24 bits lie in too many /24.
    #[error(
        "prefixes longer than /24 lie in more than {GROUPS_MAX} different /24; take fewer of them"
    )]
    Groups,
}

/// A table of routes.
#[derive(Debug)]
pub struct Lpm {
    first: Vec<u16>,
    second: Vec<u16>,
}

impl Lpm {
    /// The table of these routes; of two with the same prefix the later one counts.
    ///
    /// # Errors
    /// When a next hop has too large a number, or long prefixes need too many groups.
    pub fn build(routes: &[Route]) -> Result<Self, LpmError> {
        let mut ordered: Vec<&Route> = routes.iter().collect();
        ordered.sort_by_key(|route| route.prefix.len);
        let mut made = Self { first: filled(FIRST, NONE), second: vec![NONE; GROUP] };
        for Route { prefix, hop } in ordered {
            if *hop > HOP_MAX {
                return Err(LpmError::Hop { hop: *hop, prefix: prefix.to_string() });
            }
            let (from, to) = prefix.range();
            if prefix.len <= 24 {
                // Shorter prefixes come first, so that no entry is a group yet.
                made.first[from as usize >> 8..=to as usize >> 8].fill(*hop);
            } else {
                let group = made.group(from as usize >> 8)? * GROUP;
                let within = |address: u32| group + (address & 0xFF) as usize;
                made.second[within(from)..=within(to)].fill(*hop);
            }
        }
        let mut second = filled(made.second.len(), NONE);
        second.copy_from_slice(&made.second);
        Ok(Self { second, ..made })
    }

    /// The group of an entry of the first table, made where there is none.
    fn group(&mut self, at: usize) -> Result<usize, LpmError> {
        let entry = self.first[at];
        if is_longer(entry) {
            return Ok(usize::from(entry & !LONGER));
        }
        let group = self.second.len() / GROUP;
        let number = u16::try_from(group).ok().filter(|_| group < GROUPS_MAX);
        self.first[at] = LONGER | number.ok_or(LpmError::Groups)?;
        self.second.resize(self.second.len() + GROUP, entry);
        Ok(group)
    }

    /// Next hops of destinations, [`NONE`] where no prefix holds one; as many as both slices have.
    pub fn look_up(&self, dst: &[u32], hops: &mut [u16]) {
        // One entry for each value of 24 bits: no bound is left to check.
        let Some(first) = self.first.first_chunk::<FIRST>() else { return };
        let mut ahead = dst.chunks(BATCH).skip(1);
        for (dst, hops) in dst.chunks(BATCH).zip(hops.chunks_mut(BATCH)) {
            // The reads of a batch do not wait for one another.
            let mut seen = 0;
            for (dst, hop) in dst.iter().zip(&mut *hops) {
                *hop = first[*dst as usize >> 8];
                // The bit of a group, and none of NONE.
                seen |= hop.wrapping_add(1);
            }
            // Those of the next batch are under way while this one's second entries are read.
            for dst in ahead.next().unwrap_or_default() {
                ask_for(first.as_ptr().wrapping_add(*dst as usize >> 8));
            }
            if seen & LONGER != 0 {
                self.go_on(dst, hops);
            }
        }
    }

    /// Reads the second entries of a batch, without a branch.
    fn go_on(&self, dst: &[u32], hops: &mut [u16]) {
        for (dst, hop) in dst.iter().zip(hops) {
            let is_longer = is_longer(*hop);
            let at = usize::from(*hop & !LONGER) * GROUP + (*dst & 0xFF) as usize;
            let further = self.second[if is_longer { at } else { 0 }];
            *hop = if is_longer { further } else { *hop };
        }
    }

    /// Bytes of its tables.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.first) + size_of_val(&*self.second)
    }
}

const fn is_longer(entry: u16) -> bool {
    entry & LONGER != 0 && entry != NONE
}
