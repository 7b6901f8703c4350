//! Knows how a list of rules is drawn from a mix and a seed.
//!
//! Must not know what the list is for.

use super::mix::{Mix, Ports};
use super::{ANY_PORT, Prefix, Rule};
use crate::engine::packet::chance::Chance;
use std::collections::BTreeSet;

/// The first port that is not of the system.
const HIGH: u16 = 1024;
/// Ports that rules name often, each with its weight.
const SERVICES: [(u16, u32); 12] = [
    (80, 12),
    (443, 14),
    (53, 6),
    (22, 6),
    (25, 5),
    (21, 3),
    (123, 2),
    (135, 3),
    (1433, 4),
    (1521, 8),
    (3306, 3),
    (8080, 4),
];
/// Share of single ports that are one of [`SERVICES`].
const SERVICES_SHARE: f64 = 0.5;
/// Longest range of ports that is neither all, high nor low.
const RANGE_MAX: u32 = 100;
/// The list ends after so many draws in vain for each rule, where a mix has no more.
const DRAWS: usize = 64;

/// Prefixes of a field that rules have, each with how many others it lies in.
#[derive(Default)]
struct Pool(Vec<(Prefix, u8)>);

/// So many different rules of a mix, each before those that are wider; fewer where the mix has no
/// more. None is the rule that every packet matches.
#[must_use]
pub fn generate(count: usize, mix: &Mix, seed: u64) -> Vec<Rule> {
    let mut chance = Chance::of(seed);
    let (mut sources, mut destinations) = (Pool::default(), Pool::default());
    let (mut seen, mut rules, mut vain) = (BTreeSet::from([Rule::ANY]), Vec::new(), 0);
    while rules.len() < count && vain < DRAWS * count {
        let Some((src_len, dst_len)) = chance.pick(mix.lengths) else { break };
        let protocol = chance.pick(mix.protocols).flatten();
        let has_ports = matches!(protocol, Some(6 | 17));
        let of = |ports| if has_ports { ports } else { Ports::ANY };
        let rule = Rule {
            src: sources.draw(src_len, mix, &mut chance),
            dst: destinations.draw(dst_len, mix, &mut chance),
            src_ports: ports(&of(mix.src_ports), &mut chance),
            dst_ports: ports(&of(mix.dst_ports), &mut chance),
            protocol,
        };
        if seen.insert(rule) {
            rules.push(rule);
        } else {
            vain += 1;
        }
    }
    rules.sort_by(|one, other| width(one).total_cmp(&width(other)));
    rules
}

impl Pool {
    fn draw(&mut self, len: u8, mix: &Mix, chance: &mut Chance) -> Prefix {
        let near = self.0.get(chance.index(self.0.len())).copied();
        if let Some((prefix, _)) = near.filter(|(prefix, _)| prefix.len == len)
            && chance.happens(mix.shared)
        {
            return prefix;
        }
        let outer = near.filter(|(outer, depth)| outer.len < len && *depth < mix.depth);
        let (prefix, depth) = match outer.filter(|_| chance.happens(mix.nested)) {
            Some((outer, depth)) => {
                (Prefix::around(outer.address | chance.word() & !outer.mask(), len), depth + 1)
            }
            None => (Prefix::around(chance.word(), len), 1),
        };
        self.0.push((prefix, depth));
        prefix
    }
}

fn ports(ports: &Ports, chance: &mut Chance) -> (u16, u16) {
    #[derive(Clone, Copy)]
    enum Class {
        Any,
        High,
        Low,
        Range,
        Exact,
    }
    let class = chance.pick(&[
        (Class::Any, ports.any),
        (Class::High, ports.high),
        (Class::Low, ports.low),
        (Class::Range, ports.range),
        (Class::Exact, ports.exact),
    ]);
    match class {
        None | Some(Class::Any) => ANY_PORT,
        Some(Class::High) => (HIGH, u16::MAX),
        Some(Class::Low) => (0, HIGH - 1),
        Some(Class::Range) => range(chance),
        Some(Class::Exact) => {
            let port = exact(chance);
            (port, port)
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "drawn below 2^16")]
fn range(chance: &mut Chance) -> (u16, u16) {
    let first = chance.below(1 << 16);
    let last = first + chance.within(1, RANGE_MAX - 1);
    (first as u16, last.min(0xFFFF) as u16)
}

#[expect(clippy::cast_possible_truncation, reason = "drawn below 2^16")]
fn exact(chance: &mut Chance) -> u16 {
    let known = chance.happens(SERVICES_SHARE).then(|| chance.pick(&SERVICES)).flatten();
    known.unwrap_or_else(|| chance.below(1 << 16) as u16)
}

/// How many packets match, as a power of two.
fn width(rule: &Rule) -> f64 {
    let prefix = |prefix: Prefix| f64::from(32 - prefix.len);
    let ports = |(low, high): (u16, u16)| (f64::from(high) - f64::from(low) + 1.0).log2();
    let protocol = if rule.protocol.is_some() { 0.0 } else { 8.0 };
    prefix(rule.src) + prefix(rule.dst) + ports(rule.src_ports) + ports(rule.dst_ports) + protocol
}
