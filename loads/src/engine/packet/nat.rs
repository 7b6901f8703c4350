//! Knows the flows of a device, and which address and port each is translated to (RFC 3022, NAPT;
//! RFC 4787 calls the mapping address and port dependent).
//!
//! Must not know frames.

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

/// One flow: 16 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Flow {
    src: u32,
    dst: u32,
    src_port: u16,
    dst_port: u16,
    port: u16,
    protocol: u8,
    /// Last byte of the external address; 0 of a free place.
    address: u8,
}

impl Flow {
    const fn is(&self, key: &Tuple) -> bool {
        self.src == key.src
            && self.dst == key.dst
            && self.src_port == key.src_port
            && self.dst_port == key.dst_port
            && self.protocol == key.protocol
            && self.address != 0
    }

    /// Address and port that it is translated to.
    const fn external(&self) -> (u32, u16) {
        (EXTERNAL + self.address as u32, self.port)
    }
}

/// A table of flows with a capacity; no flow is ever forgotten.
#[derive(Clone, Debug)]
pub struct Nat {
    buckets: Vec<[Flow; WAYS]>,
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
        let empty = [Flow::default(); WAYS];
        Self { buckets: vec![empty; buckets], capacity, flows: 0, homes: Vec::new() }
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
        homes.extend(keys.iter().map(|key| home(key, mask)));
        // Loads that do not wait for each other: the lines are near when they are compared.
        let near = homes.iter().fold(0, |near, home| near | self.buckets[*home as usize][0].src);
        std::hint::black_box(near);
        for ((key, home), found) in keys.iter().zip(&homes).zip(found) {
            *found = self.one(key, *home as usize);
        }
        self.homes = homes;
    }

    #[inline]
    fn one(&mut self, key: &Tuple, home: usize) -> Option<(u32, u16)> {
        let mask = self.buckets.len() - 1;
        for probe in 0..PROBES {
            let bucket = &mut self.buckets[(home + probe) & mask];
            for flow in bucket.iter_mut() {
                if flow.is(key) {
                    return Some(flow.external());
                }
                if flow.address == 0 {
                    if self.flows == self.capacity {
                        return None;
                    }
                    *flow = fresh(key, self.flows);
                    self.flows += 1;
                    return Some(flow.external());
                }
            }
        }
        None
    }
}

/// The flow of such a number.
#[expect(clippy::cast_possible_truncation, reason = "addresses fit a byte, ports 16 bits")]
const fn fresh(key: &Tuple, number: usize) -> Flow {
    let Tuple { src, dst, src_port, dst_port, protocol } = *key;
    let (address, port) = external(number);
    Flow { src, dst, src_port, dst_port, port, protocol, address: (address - EXTERNAL) as u8 }
}

/// External address and port of the flow of such a number, counted from 0.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "below FLOWS_MOST, which fits")]
pub const fn external(number: usize) -> (u32, u16) {
    let (number, ports) = (number as u32, PORTS);
    (EXTERNAL + 1 + number / ports, (FIRST_PORT + number % ports) as u16)
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
