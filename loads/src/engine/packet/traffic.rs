//! Knows packets that are made for a list of rules, and what such packets hit.
//!
//! Must not know how rules are searched fast.

use super::chance::Chance;
use super::rules::{Rule, Side, first_match, sides};
use super::tuple::Tuple;

/// What packets are made to do. The shares are of 1; what is left goes anywhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aim {
    /// Share of packets that are at a corner of a rule, each rule as often as another.
    pub hit: f64,
    /// Share of packets that match no rule, and one of them in all fields but one.
    pub near: f64,
    /// Share of packets that are the one before again.
    pub again: f64,
}

impl Aim {
    /// Every packet is at a corner of a rule.
    pub const HIT: Self = Self { hit: 1.0, near: 0.0, again: 0.0 };
    /// Every packet is beside a rule, and matches none where that can be had.
    pub const NEAR: Self = Self { hit: 0.0, near: 1.0, again: 0.0 };
}

/// Draws for a packet beside a rule that matches no other.
const DRAWS: usize = 32;

/// So many packets for a list of rules, by an aim and a seed.
#[must_use]
pub fn generate(rules: &[Rule], count: usize, aim: &Aim, seed: u64) -> Vec<Tuple> {
    let mut chance = Chance::of(seed);
    let mut packets: Vec<Tuple> = Vec::with_capacity(count);
    while packets.len() < count {
        let again = packets.last().copied().filter(|_| chance.happens(aim.again));
        packets.push(again.unwrap_or_else(|| packet(rules, aim, &mut chance)));
    }
    packets
}

fn packet(rules: &[Rule], aim: &Aim, chance: &mut Chance) -> Tuple {
    let is_hit = chance.happens(aim.hit);
    let is_near = !is_hit && chance.happens(aim.near / (1.0 - aim.hit));
    let Some(mut found) = drawn(rules, is_hit, chance).filter(|_| is_hit || is_near) else {
        return anywhere(chance);
    };
    for _ in 0..DRAWS {
        if is_hit || first_match(rules, &found).is_none() {
            break;
        }
        found = drawn(rules, is_hit, chance).unwrap_or(found);
    }
    found
}

/// A packet inside or beside any of the rules.
fn drawn(rules: &[Rule], inside: bool, chance: &mut Chance) -> Option<Tuple> {
    let rule = rules.get(chance.index(rules.len()))?;
    let wanted = |side: &Side| (*side == Side::Inside) == inside;
    let there = sides(rule).filter(|(_, side)| wanted(side)).count();
    let nth = chance.index(there);
    sides(rule).filter(|(_, side)| wanted(side)).nth(nth).map(|(tuple, _)| tuple)
}

#[expect(clippy::cast_possible_truncation, reason = "the lower bits are as random as all")]
fn anywhere(chance: &mut Chance) -> Tuple {
    let ports = chance.word();
    let protocol = chance.pick(&[(6, 8), (17, 3), (1, 1)]).unwrap_or(6);
    Tuple {
        src: chance.word(),
        dst: chance.word(),
        src_port: ports as u16,
        dst_port: (ports >> 16) as u16,
        protocol,
    }
}

/// What packets hit: a cost of a classification says little without it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Share of packets that match a rule, 0 to 1.
    pub hit: f64,
    /// Share of packets that match none, and one in all fields but one, 0 to 1.
    pub near: f64,
    /// Index in the middle of those of the rules that packets match, of the first that matches
    /// each; none where no packet matches.
    pub median: Option<usize>,
}

/// What packets hit of a list of rules, found one by one.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "packets are far below 2^53")]
pub fn spread(rules: &[Rule], packets: &[Tuple]) -> Spread {
    let mut indices: Vec<usize> =
        packets.iter().filter_map(|packet| first_match(rules, packet)).collect();
    let missed = |packet: &&Tuple| {
        let mut fields = rules.iter().map(|rule| rule.fields(packet));
        let mut is_near = false;
        let hit = fields.any(|fields| {
            let matched = fields.iter().filter(|is| **is).count();
            is_near |= matched == fields.len() - 1;
            matched == fields.len()
        });
        !hit && is_near
    };
    let near = packets.iter().filter(missed).count();
    indices.sort_unstable();
    let share = |part: usize| part as f64 / packets.len().max(1) as f64;
    let median = indices.get(indices.len() / 2).copied();
    Spread { hit: share(indices.len()), near: share(near), median }
}
