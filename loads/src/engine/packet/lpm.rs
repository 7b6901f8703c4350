//! Knows the next hop of the longest prefix that holds a destination, for many destinations at
//! once.
//!
//! The table is DIR-24-8 (P. Gupta, S. Lin, N. McKeown, "Routing Lookups in Hardware at Memory
//! Access Speeds", INFOCOM 1998): one entry for each value of the first 24 bits, and for those
//! that longer prefixes divide a group of 256. Must not know where routes come from.

use super::routes::Route;

/// Largest number of a next hop.
pub const HOP_MAX: u16 = 0x7FFE;
/// Said where no prefix holds a destination.
pub const NONE: u16 = u16::MAX;

/// Entries of the first table.
const FIRST: usize = 1 << 24;
/// Entries of a group of the second table.
const GROUP: usize = 1 << 8;
/// An entry of the first table with this bit is the number of a group.
const LONGER: u16 = 0x8000;
/// An entry without a route.
const EMPTY: u16 = 0x7FFF;
/// Most groups.
const GROUPS_MAX: usize = 1 << 15;
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
        let mut table = Self { first: vec![EMPTY; FIRST], second: Vec::new() };
        for Route { prefix, hop } in ordered {
            if *hop > HOP_MAX {
                return Err(LpmError::Hop { hop: *hop, prefix: prefix.to_string() });
            }
            let (from, to) = prefix.range();
            if prefix.len <= 24 {
                // Shorter prefixes come first, so that no entry is a group yet.
                table.first[from as usize >> 8..=to as usize >> 8].fill(*hop);
            } else {
                let group = table.group(from as usize >> 8)? * GROUP;
                let within = |address: u32| group + (address & 0xFF) as usize;
                table.second[within(from)..=within(to)].fill(*hop);
            }
        }
        Ok(table)
    }

    /// The group of an entry of the first table, made where there is none.
    #[expect(clippy::cast_possible_truncation, reason = "groups are at most 2^15")]
    fn group(&mut self, at: usize) -> Result<usize, LpmError> {
        let entry = self.first[at];
        if entry & LONGER != 0 {
            return Ok(usize::from(entry & !LONGER));
        }
        let group = self.second.len() / GROUP;
        if group == GROUPS_MAX {
            return Err(LpmError::Groups);
        }
        self.second.resize(self.second.len() + GROUP, entry);
        self.first[at] = LONGER | group as u16;
        Ok(group)
    }

    /// Next hops of destinations, [`NONE`] where no prefix holds one; as many as both slices have.
    pub fn look_up(&self, dst: &[u32], hops: &mut [u16]) {
        for (dst, hops) in dst.chunks(BATCH).zip(hops.chunks_mut(BATCH)) {
            // The reads of a batch do not wait for one another.
            for (dst, hop) in dst.iter().zip(&mut *hops) {
                *hop = self.first[*dst as usize >> 8];
            }
            for (dst, hop) in dst.iter().zip(hops) {
                if *hop & LONGER != 0 {
                    let group = usize::from(*hop & !LONGER) * GROUP;
                    *hop = self.second[group + (*dst & 0xFF) as usize];
                }
                if *hop == EMPTY {
                    *hop = NONE;
                }
            }
        }
    }

    /// Bytes of its tables.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.first) + size_of_val(&*self.second)
    }
}
