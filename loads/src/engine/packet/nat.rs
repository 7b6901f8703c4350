//! Knows the flows of a device, and which address and port each is translated to (RFC 3022, NAPT;
//! RFC 4787 calls the mapping address and port dependent).
//!
//! Must not know frames.

use super::memory::{ask_for, filled};
use super::tuple::Tuple;
use crate::engine::net::content::mix;

/// Flows of a bucket, which is one line of a cache.
const WAYS: usize = 4;
/// Buckets that are looked at for a flow before the table counts as full: at half of the places
/// taken the farthest of 65,536 flows is 5 to 8 buckets from home.
const PROBES: usize = 64;
/// First port that is given out (RFC 6056, 3.2).
const FIRST_PORT: u32 = 1024;
/// Ports of an external address.
const PORTS: u32 = 65_536 - FIRST_PORT;
/// External addresses: those of a byte but 0, which marks a free place.
const ADDRESSES: u32 = 255;
/// The address before the first that flows are translated to: 198.19.255.0 (RFC 2544).
pub const EXTERNAL: u32 = 0xc613_ff00;

/// Most flows that a table may be asked for.
pub const FLOWS_MOST: usize = (ADDRESSES * PORTS) as usize;

/// A flow is one word: its key, the last byte of its external address (0 in a free place), and its
/// external port.
const ADDRESS: u32 = 16;
const KEY: u32 = 24;

/// Flows that lie in one line of a cache.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Bucket([u128; WAYS]);

impl Bucket {
    /// The flow of a key, if it is here; found without a branch that depends on its place.
    #[inline]
    fn find(&self, key: u128) -> Option<u128> {
        // A flow of this key differs from it by its address, which is not 0, and its port.
        let is_it =
            |flow: u128| (flow ^ key).wrapping_sub(1 << ADDRESS) < (1 << KEY) - (1 << ADDRESS);
        let ways = self.0.iter().enumerate();
        let found = ways.fold(0_u32, |found, (way, flow)| found | u32::from(is_it(*flow)) << way);
        (found != 0).then(|| self.0[found.trailing_zeros() as usize % WAYS])
    }
}

/// A table of flows with a capacity; no flow is ever forgotten.
#[derive(Clone, Debug)]
pub struct Nat {
    buckets: Vec<Bucket>,
    capacity: usize,
    flows: usize,
    homes: Vec<u32>,
}

impl Nat {
    /// A table for so many flows, at most [`FLOWS_MOST`]; at most half of its places are taken.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        let capacity = capacity.min(FLOWS_MOST);
        let buckets = (2 * capacity).div_ceil(WAYS).max(PROBES).next_power_of_two();
        Self { buckets: filled(buckets, Bucket::default()), capacity, flows: 0, homes: Vec::new() }
    }

    /// Flows in the table.
    #[must_use]
    pub const fn flows(&self) -> usize {
        self.flows
    }

    /// External address and port of each flow, by its tuple; none where the table is full. A flow
    /// that is seen first gets the next of them: one number of flows never has two.
    pub fn translate(&mut self, keys: &[Tuple], found: &mut [Option<(u32, u16)>]) {
        let mask = self.buckets.len() - 1;
        let mut homes = std::mem::take(&mut self.homes);
        homes.clear();
        for key in keys {
            let home = home(key, mask);
            // The lines of a batch are under way together.
            ask_for(&raw const self.buckets[home as usize]);
            homes.push(home);
        }
        for ((key, home), found) in keys.iter().zip(&homes).zip(found) {
            *found = self.one(word(key), *home as usize);
        }
        self.homes = homes;
    }

    #[inline]
    fn one(&mut self, key: u128, home: usize) -> Option<(u32, u16)> {
        let flow = self.buckets[home].find(key).or_else(|| self.farther(key, home))?;
        Some(external_of(flow))
    }

    /// A flow that is not in its first bucket; one that is in none is entered.
    #[cold]
    fn farther(&mut self, key: u128, home: usize) -> Option<u128> {
        let mask = self.buckets.len() - 1;
        for probe in 0..PROBES {
            let bucket = &mut self.buckets[(home + probe) & mask];
            if let Some(flow) = bucket.find(key) {
                return Some(flow);
            }
            let Some(free) = bucket.0.iter_mut().find(|flow| **flow == 0) else { continue };
            if self.flows == self.capacity {
                return None;
            }
            let (address, port) = external(self.flows);
            *free = key | u128::from(address - EXTERNAL) << ADDRESS | u128::from(port);
            self.flows += 1;
            return Some(*free);
        }
        None
    }
}

/// The word of a flow without where it is translated to.
#[inline]
fn word(key: &Tuple) -> u128 {
    let ports = u32::from(key.src_port) << 16 | u32::from(key.dst_port);
    let addresses = u64::from(key.src) << 32 | u64::from(key.dst);
    let (addresses, ports) = (u128::from(addresses), u128::from(ports));
    addresses << 64 | ports << 32 | u128::from(key.protocol) << KEY
}

/// Address and port that a flow is translated to.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the low bits are meant")]
const fn external_of(flow: u128) -> (u32, u16) {
    (EXTERNAL + (flow >> ADDRESS) as u8 as u32, flow as u16)
}

/// External address and port of the flow of such a number, counted from 0.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "below FLOWS_MOST, which fits")]
pub const fn external(number: usize) -> (u32, u16) {
    let (number, ports) = (number as u32, PORTS);
    (EXTERNAL + 1 + number / ports, (FIRST_PORT + number % ports) as u16)
}

/// Whether flows are translated to this address.
#[must_use]
pub const fn is_external(address: u32) -> bool {
    address > EXTERNAL && address <= EXTERNAL + ADDRESSES
}

/// Bucket of a flow.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "buckets are fewer than 2^32")]
fn home(key: &Tuple, mask: usize) -> u32 {
    let addresses = u64::from(key.src) << 32 | u64::from(key.dst);
    let ports = u64::from(key.src_port) << 16 | u64::from(key.dst_port);
    let word = mix(addresses ^ mix(ports << 8 | u64::from(key.protocol)));
    word as u32 & mask as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn key(number: u32) -> Tuple {
        let [_, _, high, low] = number.to_be_bytes();
        let src_port = u16::from_be_bytes([high, low]);
        Tuple { src: number / 7, dst: !number, src_port, dst_port: 80, protocol: 6 }
    }

    #[test]
    fn each_flow_keeps_its_address_and_port_and_shares_it_with_none() {
        let keys: Vec<Tuple> = (0..200_000).map(key).collect();
        let mut nat = Nat::new(keys.len());
        let mut found = vec![None; keys.len()];
        nat.translate(&keys, &mut found);
        let mut again = vec![None; keys.len()];
        nat.translate(&keys, &mut again);
        assert_eq!(found, again);
        assert_eq!(nat.flows(), keys.len());
        let owners: BTreeMap<(u32, u16), &Tuple> =
            found.iter().flatten().copied().zip(&keys).collect();
        assert_eq!(owners.len(), keys.len());
        assert_eq!(
            (found[0], found[64_512]),
            (Some((EXTERNAL + 1, 1024)), Some((EXTERNAL + 2, 1024)))
        );
    }

    #[test]
    fn a_table_holds_as_many_flows_as_it_was_asked_for() {
        for capacity in [1, 63, 1000] {
            let mut nat = Nat::new(capacity);
            let keys: Vec<Tuple> = (0..2000).map(key).collect();
            let mut found = vec![None; keys.len()];
            nat.translate(&keys, &mut found);
            let known = found.iter().filter(|found| found.is_some()).count();
            assert_eq!((known, nat.flows()), (capacity, capacity));
            assert!(found[..capacity].iter().all(Option::is_some), "{capacity}");
        }
    }

    #[test]
    fn flows_differ_by_each_field() {
        let mut nat = Nat::new(64);
        let one = key(9);
        let keys = [
            one,
            Tuple { src: 99, ..one },
            Tuple { dst: 1, ..one },
            Tuple { src_port: 1, ..one },
            Tuple { dst_port: 1, ..one },
            Tuple { protocol: 17, ..one },
        ];
        let mut found = [None; 6];
        nat.translate(&keys, &mut found);
        assert_eq!(nat.flows(), 6);
        assert_eq!(found[5], Some(external(5)));
    }
}
