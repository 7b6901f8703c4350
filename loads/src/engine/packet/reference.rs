//! Knows what becomes of a frame in the plainest way: a scan of rules, a search for routes of each
//! length, a rule of arithmetic for checksums. What the device did is held against it.
//!
//! Must not know the structures of the device.

use super::device::{Forwarding, OWN, neighbour};
use super::frame::{self, Fields, Head};
use super::nat;
use super::routes::Route;
use super::rules::{Prefix, Rule, first_match};
use super::tuple::Tuple;

/// Routes and rules of a device, and which flows it translates.
#[derive(Clone, Copy, Debug)]
pub struct Plain<'a> {
    /// What it does beside services.
    pub forwarding: Forwarding,
    /// Its access list, with whether each rule permits.
    pub rules: (&'a [Rule], &'a [bool]),
    /// Its routes, in the order of their prefixes.
    pub routes: &'a [Route],
    /// Flows that its table holds; 0 where it translates none.
    pub flows: usize,
}

impl Plain<'_> {
    /// The frame that the device must send for one that it got; none where it must drop it.
    ///
    /// `flow` is the number of its flow, counted as flows came first.
    #[must_use]
    pub fn expected(&self, fields: &Fields, flow: usize, bytes: usize) -> Option<Head> {
        let mut sent = *fields;
        if self.forwarding == Forwarding::Bypass {
            return Some(written(bytes, &sent));
        }
        let (rules, permits) = self.rules;
        if first_match(rules, &fields.tuple).is_some_and(|rule| !permits[rule]) {
            return None;
        }
        if self.forwarding == Forwarding::Route {
            let hop = longest(self.routes, fields.tuple.dst)?;
            sent.ttl = fields.ttl.checked_sub(1).filter(|ttl| *ttl > 0)?;
            (sent.to, sent.from) = (neighbour(hop), OWN);
        }
        if self.flows > 0 {
            if flow >= self.flows {
                return None;
            }
            let (src, src_port) = nat::external(flow);
            sent.tuple = Tuple { src, src_port, ..fields.tuple };
        }
        Some(written(bytes, &sent))
    }
}

/// A frame with checksums that were made anew, and followed no change.
fn written(bytes: usize, fields: &Fields) -> Head {
    let mut head = [0; frame::HEAD];
    frame::write(&mut head, bytes, fields);
    head
}

/// The neighbour of the longest prefix that an address is in: of all lengths, the longest first, it
/// is looked whether the table has that prefix.
fn longest(routes: &[Route], address: u32) -> Option<u16> {
    (0..=32).rev().find_map(|len| {
        let prefix = Prefix::around(address, len);
        let found = routes.binary_search_by_key(&prefix, |route| route.prefix).ok()?;
        Some(routes[found].hop)
    })
}
