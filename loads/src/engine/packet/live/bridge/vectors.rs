//! Knows rules as sets of bits: for each value of each field the rules that it matches.
//!
//! A packet matches the rules that are in the sets of all its five fields, and the lowest bit is
//! the first of them. Values that match the same rules share one set. Addresses find theirs in
//! three steps, of 16, 8 and 8 bits, ports in one.
//! Source: T. V. Lakshman, D. Stiliadis, "High-Speed
//! Policy-Based Packet Forwarding Using Efficient Multi-Dimensional Range Matching", SIGCOMM 1998.
//! Must not know the kernel.

use crate::engine::packet::rules::Rule;
use std::collections::BTreeMap;

/// Bits of a word of a set.
const BITS: usize = 64;
/// Entries of a node.
const NODE: u32 = 256;

/// What a list of rules looks like to the program.
#[derive(Debug)]
pub struct Vectors {
    /// Words of a set, a power of two.
    pub words: usize,
    /// Sets of sources and destinations.
    pub addresses: [Steps; 2],
    /// Sets of the ports of both.
    pub ports: [Classes; 2],
    /// The set of each protocol, one after the other.
    pub protocols: Vec<u64>,
}

/// Classes of ports: values that match the same rules.
#[derive(Debug)]
pub struct Classes {
    /// The class of each port, in the order of a network.
    pub of: Vec<u16>,
    /// The set of each class, one after the other.
    pub sets: Vec<u64>,
}

/// Classes of addresses.
#[derive(Debug)]
pub struct Steps {
    /// The node of the first 16 bits, in the order of a network.
    pub first: Vec<u16>,
    /// Nodes: of the third byte the node of the fourth, and of the fourth its class.
    pub nodes: Vec<u16>,
    /// The set of each class, one after the other.
    pub sets: Vec<u64>,
}

impl Vectors {
    /// Of a list.
    #[must_use]
    pub fn of(rules: &[Rule]) -> Self {
        let words = rules.len().div_ceil(BITS).max(1).next_power_of_two();
        let ports = |range: fn(&Rule) -> (u16, u16)| {
            let ranges: Vec<_> = rules
                .iter()
                .map(|rule| (u32::from(range(rule).0), u32::from(range(rule).1)))
                .collect();
            Classes::of(&Cut::of(&ranges, words))
        };
        let addresses = |range: fn(&Rule) -> (u32, u32)| {
            let ranges: Vec<_> = rules.iter().map(range).collect();
            Steps::of(&Cut::of(&ranges, words))
        };
        let protocols = (0..=u8::MAX).flat_map(|protocol| {
            let holds = |rule: &Rule| rule.protocol.is_none_or(|wanted| wanted == protocol);
            set(rules.iter().map(holds), words)
        });
        Self {
            words,
            addresses: [addresses(|rule| rule.src.range()), addresses(|rule| rule.dst.range())],
            ports: [ports(|rule| rule.src_ports), ports(|rule| rule.dst_ports)],
            protocols: protocols.collect(),
        }
    }
}

/// The bits of the rules that hold.
fn set(holds: impl Iterator<Item = bool>, words: usize) -> Vec<u64> {
    let mut set = vec![0; words];
    for (at, _) in holds.enumerate().filter(|(_, holds)| *holds) {
        set[at / BITS] |= 1 << (at % BITS);
    }
    set
}

/// The values of a field, cut where a rule begins or ends.
struct Cut {
    /// First value and class of each piece, in order.
    pieces: Vec<(u32, u16)>,
    sets: Vec<u64>,
}

impl Cut {
    fn of(ranges: &[(u32, u32)], words: usize) -> Self {
        let edges = ranges.iter().flat_map(|(low, high)| [Some(*low), high.checked_add(1)]);
        let mut starts: Vec<u32> = edges.flatten().chain([0]).collect();
        starts.sort_unstable();
        starts.dedup();
        let (mut known, mut sets, mut pieces) = (BTreeMap::new(), Vec::new(), Vec::new());
        for start in starts {
            let holds = ranges.iter().map(|(low, high)| *low <= start && start <= *high);
            let set = set(holds, words);
            let next = u16::try_from(known.len()).unwrap_or(u16::MAX);
            let class = *known.entry(set.clone()).or_insert_with(|| {
                sets.extend(set);
                next
            });
            pieces.push((start, class));
        }
        Self { pieces, sets }
    }

    /// Index of the piece that a value is in.
    fn at(&self, value: u32) -> usize {
        self.pieces.partition_point(|(start, _)| *start <= value).saturating_sub(1)
    }

    /// The class of all values from `low` to `high`, if they have one.
    fn whole(&self, low: u32, high: u32) -> Option<u16> {
        let (first, last) = (self.at(low), self.at(high));
        (first == last).then(|| self.pieces[first].1)
    }
}

/// As the program reads two bytes of a frame.
fn raw(value: u16) -> usize {
    u16::from_ne_bytes(value.to_be_bytes()).into()
}

impl Classes {
    fn of(cut: &Cut) -> Self {
        let mut of = vec![0; 1 << 16];
        for port in 0..=u16::MAX {
            of[raw(port)] = cut.pieces[cut.at(port.into())].1;
        }
        Self { of, sets: cut.sets.clone() }
    }
}

/// Nodes, of which equal ones are one.
#[derive(Default)]
struct Nodes {
    all: Vec<u16>,
    known: BTreeMap<Vec<u16>, u16>,
}

impl Nodes {
    fn number(&mut self, node: Vec<u16>) -> u16 {
        let next = u16::try_from(self.known.len()).unwrap_or(u16::MAX);
        let all = &mut self.all;
        *self.known.entry(node).or_insert_with_key(|node| {
            all.extend(node);
            next
        })
    }

    /// The node of `bits` more bits behind an address: its entries lead to nodes of the next byte,
    /// or are classes where no bits are left.
    fn behind(&mut self, cut: &Cut, (address, bits): (u32, u32)) -> u16 {
        let step = 1 << (bits - 8);
        let entries = (0..NODE).map(|byte| {
            let low = address + byte * step;
            if bits == 8 { cut.pieces[cut.at(low)].1 } else { self.below(cut, (low, bits - 8)) }
        });
        let node = entries.collect();
        self.number(node)
    }

    /// As [`Self::behind`], at once where all addresses are of one class.
    fn below(&mut self, cut: &Cut, (address, bits): (u32, u32)) -> u16 {
        let last = address | ((1 << bits) - 1);
        let Some(class) = cut.whole(address, last) else {
            return self.behind(cut, (address, bits));
        };
        let last = self.number(vec![class; NODE as usize]);
        if bits == 8 { last } else { self.number(vec![last; NODE as usize]) }
    }
}

impl Steps {
    fn of(cut: &Cut) -> Self {
        let (mut first, mut nodes) = (vec![0; 1 << 16], Nodes::default());
        for half in 0..=u16::MAX {
            first[raw(half)] = nodes.below(cut, (u32::from(half) << 16, 16));
        }
        Self { first, nodes: nodes.all, sets: cut.sets.clone() }
    }
}
