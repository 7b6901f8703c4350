//! Knows tables of routes: prefixes of destinations, each with where it leads.
//!
//! Must not know how a table is searched.

use super::chance::Chance;
use super::rules::Prefix;
use std::collections::BTreeSet;

/// A prefix of destinations and its next hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Route {
    /// Destinations.
    pub prefix: Prefix,
    /// Number of the next hop, 0 to [`super::lpm::HOP_MAX`].
    pub hop: u16,
}

/// What a generated table is like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// Lengths of prefixes, each with its weight.
    pub lengths: &'static [(u8, u32)],
    /// Share of routes that are part of another, where lengths allow it, 0 to 1.
    pub nested: f64,
    /// Next hops that they lead to, from 0.
    pub hops: u16,
}

impl Shape {
    /// As the default-free table of IPv4 is: some 60 % of routes are /24, as the reports of
    /// bgp.potaroo.net have it, and half are part of another. The shares of the other lengths are
    /// ours, and so are the six per thousand beyond /24, which a network has for its hosts.
    pub const INTERNET: Self = Self {
        lengths: &[
            (8, 1),
            (10, 1),
            (11, 1),
            (12, 1),
            (13, 1),
            (14, 2),
            (15, 2),
            (16, 14),
            (17, 8),
            (18, 14),
            (19, 25),
            (20, 43),
            (21, 50),
            (22, 110),
            (23, 100),
            (24, 621),
            (28, 2),
            (30, 2),
            (32, 2),
        ],
        nested: 0.5,
        hops: 256,
    };
}

/// Prefixes of other lengths are drawn where those of a length are used up; after so many draws in
/// vain the table is shorter than was asked for.
const DRAWS: usize = 64;

/// So many routes of a shape, in the order of their prefixes; fewer where the shape has no more.
#[must_use]
pub fn generate(count: usize, shape: &Shape, seed: u64) -> Vec<Route> {
    let mut chance = Chance::of(seed);
    let (mut seen, mut drawn) = (BTreeSet::new(), Vec::<Prefix>::with_capacity(count));
    let mut vain = 0;
    while drawn.len() < count && vain < DRAWS * count.max(1) {
        let Some(len) = chance.pick(shape.lengths) else { break };
        let outer = drawn.get(chance.index(drawn.len())).filter(|outer| outer.len < len).copied();
        let address = match outer.filter(|_| chance.happens(shape.nested)) {
            Some(outer) => outer.address | chance.word() & !outer.mask(),
            None => unicast(&mut chance),
        };
        let prefix = Prefix::around(address, len);
        if seen.insert(prefix) {
            drawn.push(prefix);
        } else {
            vain += 1;
        }
    }
    let hops = u32::from(shape.hops);
    #[expect(clippy::cast_possible_truncation, reason = "below `hops`, which has 16 bits")]
    let hop = |chance: &mut Chance| chance.below(hops) as u16;
    seen.into_iter().map(|prefix| Route { prefix, hop: hop(&mut chance) }).collect()
}

/// So many destinations that routes hold, each route as often as another.
#[must_use]
pub fn destinations(routes: &[Route], count: usize, seed: u64) -> Vec<u32> {
    let mut chance = Chance::of(seed);
    let mut draw = || {
        let route = routes.get(chance.index(routes.len()));
        let prefix = route.map_or(Prefix::ANY, |route| route.prefix);
        prefix.address | chance.word() & !prefix.mask()
    };
    (0..count).map(|_| draw()).collect()
}

/// An address that a route of the internet may have: 1.0.0.0 to 223.255.255.255 without 127.
fn unicast(chance: &mut Chance) -> u32 {
    loop {
        let address = chance.within(1 << 24, (224 << 24) - 1);
        if address >> 24 != 127 {
            return address;
        }
    }
}
