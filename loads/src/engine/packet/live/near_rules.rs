//! Knows lists of rules that the frames of a load have to pass: most rules match a frame in all
//! fields but one. Where frames have many addresses, a rule comes so near to some of them.
//!
//! Must not know who looks at the rules.

use super::varied::Varied;
use super::wire::{SOURCE_BITS, SOURCE_FIRST, TARGET_FIRST};
use crate::engine::packet::chance::Chance;
use crate::engine::packet::frame::{TCP, UDP};
use crate::engine::packet::rules::{ANY_PORT, Prefix, Rule};
use crate::engine::packet::traffic::{Spread, spread};
use crate::engine::packet::tuple::Tuple;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::net::Ipv4Addr;

/// Shortest prefix of a rule.
const SHORTEST: u32 = 24;
/// One of so many rules drops frames, where any shall.
const DROPPING: u32 = 8;
/// Flows that are looked at to tell what they meet.
const LOOKED_AT: u32 = 4096;

/// The frames of a load, and how many rules stand before them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NearRules {
    /// Addresses of the senders, in the order of their streams.
    pub sources: Vec<Ipv4Addr>,
    /// Address of the sink.
    pub target: Ipv4Addr,
    /// How many addresses replace these.
    pub varied: Varied,
    /// Flows of each sender.
    pub flows: u32,
    /// Rules of the list.
    pub rules: u32,
    /// Share of the flows' source ports that a rule drops, 0 to 1.
    pub dropped: f64,
    /// Seed of the list.
    pub seed: u64,
}

impl NearRules {
    /// The list: each rule once, in any order. Rules that drop frames divide their source ports
    /// among them. Each other rule misses the frames by one field, each field as often as another.
    #[must_use]
    pub fn list(&self) -> Vec<Rule> {
        let mut chance = Chance::of(self.seed);
        let (slices, ends) = (self.slices(), self.ends());
        let rules = self.rules as usize;
        let mut list: Vec<Rule> =
            (0..self.rules).map(|number| self.missed(number % 5, &ends, &mut chance)).collect();
        for (number, src_ports) in slices.iter().enumerate() {
            list[rules * (2 * number + 1) / (2 * slices.len())] =
                Rule { src_ports: *src_ports, ..met(&ends) };
        }
        list
    }

    /// What the frames meet in a list: shares of hits and near misses, and the rule in the middle.
    #[must_use]
    pub fn spread(&self, list: &[Rule]) -> Spread {
        let looked_at = self.flows.min(LOOKED_AT);
        let flows = (0..looked_at)
            .map(|at| u64::from(at) * u64::from(self.flows.max(1)) / u64::from(looked_at.max(1)));
        let tuples = flows.zip(self.streams().cycle()).map(|(flow, (stream, source))| {
            let (low, high) = (flow % (1 << SOURCE_BITS), flow >> SOURCE_BITS);
            let port = |first: u16, more: u64| first + u16::try_from(more).unwrap_or(0);
            let flow = u32::try_from(flow).ok();
            let [src, dst] = self.varied.addresses([source, self.target], (stream, flow));
            Tuple {
                src: src.into(),
                dst: dst.into(),
                src_port: port(SOURCE_FIRST, low),
                dst_port: port(TARGET_FIRST, high),
                protocol: UDP,
            }
        });
        spread(list, &tuples.collect::<Vec<_>>())
    }

    /// The number and the address of each sender.
    fn streams(&self) -> impl Iterator<Item = (u8, Ipv4Addr)> + Clone {
        (0..).zip(self.sources.iter().copied())
    }

    /// All addresses that frames come from, and those that they go to, in order.
    fn ends(&self) -> [Vec<u32>; 2] {
        let all =
            self.streams().map(|(stream, source)| self.varied.all([source, self.target], stream));
        let mut ends = [const { BTreeSet::new() }; 2];
        for addresses in all {
            for (end, some) in ends.iter_mut().zip(addresses) {
                end.extend(some.into_iter().map(u32::from));
            }
        }
        ends.map(|end| end.into_iter().collect())
    }

    /// The source ports of all flows, and their target ports.
    fn ports(&self) -> [(u16, u16); 2] {
        let flows = self.flows.max(1);
        let last = |first: u16, count: u32| first + u16::try_from(count - 1).unwrap_or(0);
        let low = flows.min(1 << SOURCE_BITS);
        let high = flows.div_ceil(1 << SOURCE_BITS);
        [(SOURCE_FIRST, last(SOURCE_FIRST, low)), (TARGET_FIRST, last(TARGET_FIRST, high))]
    }

    /// Ranges of source ports that are dropped, of about the same length, spread over all.
    fn slices(&self) -> Vec<(u16, u16)> {
        let (first, last) = self.ports()[0];
        let span = f64::from(last - first) + 1.0;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "of 2^14")]
        let ports = (span * self.dropped.clamp(0.0, 1.0)).round() as u32;
        let count = self.rules.div_ceil(DROPPING).min(ports);
        let edge = |whole: u32, number: u32| whole * number / count;
        let port = |at: u32| first + u16::try_from(at).unwrap_or(0);
        let spaces = u32::from(last - first) + 1 - ports;
        let slice = |number: u32| {
            let behind = edge(spaces, number);
            let (from, to) = (edge(ports, number), edge(ports, number + 1));
            (port(behind + from), port(behind + to - 1))
        };
        (0..count).map(slice).collect()
    }

    /// A rule that some frames match in all fields but this one, and none in it.
    fn missed(&self, field: u32, ends: &[Vec<u32>; 2], chance: &mut Chance) -> Rule {
        let [sources, targets] = ends;
        let any = |end: &[u32], at: usize| end.get(at).copied().unwrap_or(0);
        let mut source = any(sources, chance.index(sources.len()));
        // With one target nothing is drawn, so that a seed gives the list that it always gave.
        let at = if targets.len() > 1 { chance.index(targets.len()) } else { 0 };
        let mut target = any(targets, at);
        let [mut from, mut to] = self.ports().map(|ports| part(ports, chance));
        let [src_len, dst_len] = [0; 2].map(|_| chance.within(SHORTEST, 32));
        let mut protocol = UDP;
        match field {
            0 => source = elsewhere(sources, source, src_len),
            1 => target = elsewhere(targets, target, dst_len),
            2 => from = part((1024, SOURCE_FIRST - 1), chance),
            3 => to = part((1024, TARGET_FIRST - 1), chance),
            _ => protocol = TCP,
        }
        let around = |address, len| Prefix::around(address, u8::try_from(len).unwrap_or(32));
        Rule {
            src: around(source, src_len),
            dst: around(target, dst_len),
            src_ports: from,
            dst_ports: to,
            protocol: Some(protocol),
        }
    }
}

/// A rule that matches every frame.
fn met(ends: &[Vec<u32>; 2]) -> Rule {
    let [src, dst] = ends.each_ref().map(|end| around(end));
    Rule { src, dst, src_ports: ANY_PORT, dst_ports: ANY_PORT, protocol: Some(UDP) }
}

/// The longest prefix that all addresses are in.
fn around(all: &[u32]) -> Prefix {
    let first = all.first().copied().unwrap_or(0);
    let differs = all.iter().fold(0, |differs, address| differs | (address ^ first));
    Prefix::around(first, u8::try_from(differs.leading_zeros()).unwrap_or(0))
}

/// A neighbour of an address whose prefix of this length holds none of these, which are in order.
fn elsewhere(all: &[u32], address: u32, len: u32) -> u32 {
    let shift = 32 - len;
    let taken = |address: &u32| {
        let first = all.partition_point(|other| other >> shift < address >> shift);
        all.get(first).is_some_and(|other| other >> shift == address >> shift)
    };
    let beside = (0..len).map(|bit| address ^ 1 << (shift + bit));
    beside.into_iter().find(|address| !taken(address)).unwrap_or(!address)
}

/// Some neighbouring ports of a range.
fn part((first, last): (u16, u16), chance: &mut Chance) -> (u16, u16) {
    let [one, other] = [0; 2].map(|_| {
        let port = chance.within(first.into(), last.into());
        u16::try_from(port).unwrap_or(last)
    });
    (one.min(other), one.max(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(rules: u32, dropped: f64) -> NearRules {
        NearRules {
            sources: vec![Ipv4Addr::new(198, 18, 0, 11), Ipv4Addr::new(198, 18, 0, 12)],
            target: Ipv4Addr::new(198, 18, 0, 1),
            varied: Varied::default(),
            flows: 65_536,
            rules,
            dropped,
            seed: 3,
        }
    }

    #[test]
    fn frames_miss_rules_by_one_field() {
        for rules in [5, 100, 1000] {
            let near = near(rules, 0.0);
            let list = near.list();
            let spread = near.spread(&list);
            assert_eq!((list.len(), spread.hit), (rules as usize, 0.0));
            assert!(rules < 100 || spread.near > 0.99, "{rules}: {spread:?}");
        }
        let few = NearRules { flows: 1, ..near(100, 0.0) };
        let spread = few.spread(&few.list());
        assert!(spread.hit < 1e-9 && spread.near > 0.99, "{spread:?}");
        assert_ne!(near(100, 0.0).list(), NearRules { seed: 4, ..near(100, 0.0) }.list());
    }

    #[test]
    fn frames_of_many_addresses_miss_rules_by_one_field_and_are_dropped_as_asked() {
        for (targets, sources) in [(1000, 1), (1, 8192), (32_768, 256)] {
            let varied = Varied { targets, sources, classes: 8 };
            for dropped in [0.0, 0.25] {
                let near = NearRules { varied, ..near(1000, dropped) };
                let spread = near.spread(&near.list());
                assert!((spread.hit - dropped).abs() < 0.01, "{varied:?}: {spread:?}");
                assert!(spread.hit + spread.near > 0.5, "{varied:?}: {spread:?}");
            }
        }
    }

    #[test]
    fn as_many_frames_are_dropped_as_is_asked() {
        for (rules, dropped) in [(1, 0.5), (7, 0.1), (100, 0.25), (100, 1.0), (1000, 0.01)] {
            let near = near(rules, dropped);
            let list = near.list();
            assert_eq!(list.len(), rules as usize);
            let spread = near.spread(&list);
            assert!((spread.hit - dropped).abs() < 0.01, "{rules} {dropped}: {spread:?}");
            let median = spread.median.unwrap();
            assert!(rules < 100 || median.abs_diff(list.len() / 2) < list.len() / 4, "{median}");
        }
    }

    #[test]
    fn a_list_without_rules_is_empty() {
        assert!(near(0, 0.5).list().is_empty());
        let none = near(0, 0.0);
        assert_eq!(none.spread(&none.list()).median, None);
    }
}
