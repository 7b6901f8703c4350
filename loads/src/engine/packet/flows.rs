//! Knows flows that meet the rules and routes of a device as they are asked to.
//!
//! Must not know frames, nor how often a flow sends.

use super::acl::Acl;
use super::chance::Chance;
use super::frame::{TCP, UDP};
use super::routes::Route;
use super::rules::{Prefix, Rule};
use super::tuple::Tuple;
use std::collections::BTreeSet;

/// Tries in vain for one flow before there are too few of them.
const TRIES: u32 = 4096;
/// All ports.
const ANY: (u16, u16) = (0, u16::MAX);

/// How flows meet the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// Each matches a rule.
    Hit,
    /// Each matches all fields of a rule but one, and no rule: half of them miss by the
    /// destination, which is any of the routes, the others by one port or one bit of an address.
    NearMiss,
    /// Each misses all rules; its destination is any of the routes.
    Miss,
}

/// So many flows, each another; fewer where rules and routes leave too few.
#[must_use]
pub fn flows(
    (count, meeting): (usize, Meeting),
    (rules, acl): (&[Rule], &Acl),
    routes: &[Route],
    seed: u64,
) -> Vec<Tuple> {
    let mut chance = Chance::of(seed);
    let mut seen = BTreeSet::new();
    let mut found = Vec::with_capacity(count);
    let mut vain = 0;
    while found.len() < count && vain < TRIES {
        vain += 1;
        let tuple = match meeting {
            Meeting::Hit => of_rule(&mut chance, rules, routes),
            Meeting::NearMiss => beside_rule(&mut chance, rules, routes),
            Meeting::Miss => Some(anywhere(&mut chance, routes)),
        };
        let tuple = tuple.unwrap_or_else(|| anywhere(&mut chance, routes));
        let mut matched = [u32::MAX];
        acl.classify(&[tuple], &mut matched);
        let hits = matched[0] != u32::MAX;
        let wanted = hits == (meeting == Meeting::Hit && !rules.is_empty());
        if wanted && matches!(tuple.protocol, TCP | UDP) && seen.insert(tuple) {
            found.push(tuple);
            vain = 0;
        }
    }
    found
}

fn anywhere(chance: &mut Chance, routes: &[Route]) -> Tuple {
    Tuple {
        src: chance.word(),
        dst: routed(chance, routes),
        src_port: port(chance, ANY),
        dst_port: port(chance, ANY),
        protocol: protocol(chance),
    }
}

/// A flow that a rule matches; none where there is no rule.
fn of_rule(chance: &mut Chance, rules: &[Rule], routes: &[Route]) -> Option<Tuple> {
    let rule = rules.get(chance.index(rules.len()))?;
    Some(within(chance, rule, routes))
}

fn within(chance: &mut Chance, rule: &Rule, routes: &[Route]) -> Tuple {
    let anywhere = rule.dst.len == 0;
    Tuple {
        src: address(chance, rule.src),
        dst: if anywhere { routed(chance, routes) } else { address(chance, rule.dst) },
        src_port: port(chance, rule.src_ports),
        dst_port: port(chance, rule.dst_ports),
        protocol: rule.protocol.unwrap_or_else(|| protocol(chance)),
    }
}

/// A flow that all fields of a rule but one match; none where there is no rule.
fn beside_rule(chance: &mut Chance, rules: &[Rule], routes: &[Route]) -> Option<Tuple> {
    let rule = rules.get(chance.index(rules.len()))?;
    let mut tuple = within(chance, rule, routes);
    match chance.below(8) {
        0..4 => tuple.dst = routed(chance, routes),
        4 if rule.src.len > 0 => tuple.src ^= 1 << (32 - u32::from(rule.src.len)),
        5 if rule.dst.len > 0 => tuple.dst ^= 1 << (32 - u32::from(rule.dst.len)),
        6 if rule.src_ports != ANY => tuple.src_port = beside(rule.src_ports),
        _ => tuple.dst_port = beside(rule.dst_ports),
    }
    Some(tuple)
}

/// The port before a range, or the one after it.
const fn beside((low, high): (u16, u16)) -> u16 {
    if low > 0 { low - 1 } else { high.wrapping_add(1) }
}

fn routed(chance: &mut Chance, routes: &[Route]) -> u32 {
    let prefix = routes.get(chance.index(routes.len())).map_or(Prefix::ANY, |route| route.prefix);
    address(chance, prefix)
}

fn address(chance: &mut Chance, prefix: Prefix) -> u32 {
    prefix.address | chance.word() & !prefix.mask()
}

#[expect(clippy::cast_possible_truncation, reason = "a number between two of 16 bits")]
fn port(chance: &mut Chance, (low, high): (u16, u16)) -> u16 {
    chance.within(low.into(), high.into()) as u16
}

/// Three of four are TCP.
fn protocol(chance: &mut Chance) -> u8 {
    if chance.below(4) == 0 { UDP } else { TCP }
}
