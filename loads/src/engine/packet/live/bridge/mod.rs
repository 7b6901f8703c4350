//! Knows a bridge of two ports in XDP: what one receives leaves by the other unless a rule of an
//! access list drops it. The first rule that matches counts it.
//!
//! Frames of IPv4 are looked at, with the tag of a VLAN and without; all others go on to the
//! kernel, whose own bridge has them. The frame is not changed, and no address is learned: there
//! are two ports. Gives: [`Bridge`], [`PortCounts`]; [`pair`], the same by a process. Never: hosts,
//! or what a figure means.
//! Start reading at `vectors.rs`, then `program.rs`.

pub mod pair;
mod program;
#[cfg(test)]
mod tests;
mod vectors;

use super::rings::is_lack;
use crate::engine::packet::acl::AclError;
use crate::engine::packet::bpf::{Attached, BpfError, Map, MapKind, Program};
use crate::engine::packet::device::SERVICE_DROPS;
use crate::engine::packet::lpm::LpmError;
use crate::engine::packet::rules::Rule;
use program::{DE_BRUIJN, word};
use serde::{Deserialize, Serialize};
use std::io;
use vectors::Vectors;

/// Most rules of a list: a set has one bit for each.
pub const RULES_MAX: usize = 1024;

/// Why there is no bridge.
#[derive(Debug, thiserror::Error)]
pub enum BridgeError {
    /// The list is too long.
    #[error("{0} rules are more than the {RULES_MAX} of a bridge in XDP; take a shorter list")]
    TooMany(usize),
    /// The kernel refuses.
    #[error(transparent)]
    Bpf(#[from] BpfError),
    /// It refuses a socket.
    #[error(
        "AF_XDP at the first queues of two ports: {0}; take two adapters of one driver whose \
         queues no other program has, or fast_path = \"xdp\""
    )]
    Socket(#[from] io::Error),
    /// The list cannot be built.
    #[error(transparent)]
    List(#[from] AclError),
    /// The table of routes cannot be built.
    #[error(transparent)]
    Routes(#[from] LpmError),
}

impl BridgeError {
    /// Whether the kernel does not have it, or does not grant it to this user.
    #[must_use]
    pub fn is_lack(&self) -> bool {
        match self {
            Self::Bpf(e) => e.is_lack(),
            Self::Socket(e) => is_lack(e),
            Self::TooMany(_) | Self::List(_) | Self::Routes(_) => false,
        }
    }
}

/// What a fast path counted of the frames that a port received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortCounts {
    /// All that reached it.
    pub received: u64,
    /// Those that it handed to the other port.
    pub forwarded: u64,
    /// Those that a rule dropped.
    pub dropped: u64,
    /// Fragments, and headers that are not whole, which rules cannot tell of: dropped.
    pub refused: u64,
    /// Those of other protocols or of a queue that it does not have, which the kernel got.
    pub passed: u64,
    /// Those beyond a planted capacity: dropped.
    pub full: u64,
    /// Those of a planted loss.
    pub lost: u64,
    /// Those that services of a process dropped, in the order of [`SERVICE_DROPS`].
    pub by_services: [u64; SERVICE_DROPS.len()],
    /// Flows that a process translates, of its frames from this port.
    pub flows: u64,
}

impl PortCounts {
    /// What was counted after an earlier reading; flows are all that there are.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let both = |at: usize| self.by_services[at].saturating_sub(earlier.by_services[at]);
        Self {
            received: self.received.saturating_sub(earlier.received),
            forwarded: self.forwarded.saturating_sub(earlier.forwarded),
            dropped: self.dropped.saturating_sub(earlier.dropped),
            refused: self.refused.saturating_sub(earlier.refused),
            passed: self.passed.saturating_sub(earlier.passed),
            full: self.full.saturating_sub(earlier.full),
            lost: self.lost.saturating_sub(earlier.lost),
            by_services: std::array::from_fn(both),
            flows: self.flows,
        }
    }
}

/// The program at both ports.
#[derive(Debug)]
pub struct Bridge {
    loaded: Loaded,
    _attached: [Attached; 2],
}

/// Both programs with their maps, at no port yet.
#[derive(Debug)]
struct Loaded {
    programs: [Program; 2],
    maps: Maps,
}

#[derive(Debug)]
struct Maps {
    /// What each port counts.
    counts: Map,
    /// The adapters of both ports.
    ports: Map,
    list: Option<List>,
}

/// The tables of a list of rules.
#[derive(Debug)]
struct List {
    words: usize,
    /// Bits by which the number of a set is shifted to where it stands.
    shift: i32,
    addresses: [StepMaps; 2],
    ports: [ClassMaps; 2],
    protocols: Map,
    /// Which bit is set, by the top of a product.
    bits: Map,
    /// Packets that each rule was the first to match.
    matched: Map,
}

#[derive(Debug)]
struct StepMaps {
    first: Map,
    nodes: Map,
    sets: Map,
    /// Nodes, and classes.
    count: i32,
    classes: i32,
}

#[derive(Debug)]
struct ClassMaps {
    of: Map,
    sets: Map,
    count: i32,
}

impl Bridge {
    /// Joins the adapters of these indexes, of this network namespace, with this list of rules.
    ///
    /// # Errors
    /// A list that is too long; what the kernel says.
    pub fn attach(adapters: [u32; 2], rules: &[Rule]) -> Result<Self, BridgeError> {
        let loaded = Loaded::new(adapters, rules)?;
        let [near, far] = &loaded.programs;
        let attached = [near.attach(adapters[0])?, far.attach(adapters[1])?];
        Ok(Self { loaded, _attached: attached })
    }

    /// What the ports counted so far, in the order of their adapters.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn counts(&self) -> Result<[PortCounts; 2], BpfError> {
        self.loaded.counts()
    }
}

impl Loaded {
    fn new(adapters: [u32; 2], rules: &[Rule]) -> Result<Self, BridgeError> {
        if rules.len() > RULES_MAX {
            return Err(BridgeError::TooMany(rules.len()));
        }
        let counts = Map::new(MapKind::PerCpu, (4, word::WORDS * 8), 2)?;
        let ports = Map::new(MapKind::Adapters, (4, 8), 2)?;
        for (number, index) in (0_u32..).zip(adapters) {
            let mut value = [0; 8];
            value[..4].copy_from_slice(&index.to_ne_bytes());
            ports.write(&number.to_ne_bytes(), &[u64::from_ne_bytes(value)])?;
        }
        let list = if rules.is_empty() { None } else { Some(List::new(rules)?) };
        let maps = Maps { counts, ports, list };
        let load = |port| Program::load("stend_bridge", &program::of(&maps, port)?);
        Ok(Self { programs: [load(0)?, load(1)?], maps })
    }

    fn counts(&self) -> Result<[PortCounts; 2], BpfError> {
        let of = |port| -> Result<PortCounts, BpfError> {
            let words = self.maps.counts.sums(port)?;
            let of = |at: i16| words.get(at as usize / 8).copied().unwrap_or(0);
            Ok(PortCounts {
                received: of(word::RECEIVED),
                forwarded: of(word::FORWARDED),
                dropped: of(word::DROPPED),
                refused: of(word::REFUSED),
                passed: of(word::PASSED),
                ..PortCounts::default()
            })
        };
        Ok([of(0)?, of(1)?])
    }

    /// Packets that each of so many rules was the first to match.
    #[cfg(test)]
    fn matched(&self, rules: u32) -> Result<Vec<u64>, BpfError> {
        let Some(list) = &self.maps.list else { return Ok(Vec::new()) };
        (0..rules).map(|rule| Ok(list.matched.sums(rule)?[0])).collect()
    }
}

impl List {
    fn new(rules: &[Rule]) -> Result<Self, BpfError> {
        let vectors = Vectors::of(rules);
        let words = vectors.words;
        let mut bits = [0_u8; 64];
        for bit in 0..64_u8 {
            bits[(DE_BRUIJN.wrapping_mul(1 << bit) >> 58) as usize] = bit;
        }
        let packed =
            bits.chunks(8).map(|eight| u64::from_ne_bytes(std::array::from_fn(|byte| eight[byte])));
        let count = u32::try_from(rules.len()).unwrap_or(u32::MAX);
        let [sources, targets] = &vectors.addresses;
        let [from, to] = &vectors.ports;
        Ok(Self {
            words: rules.len().div_ceil(64),
            shift: (words * 8).ilog2().cast_signed(),
            addresses: [StepMaps::new(sources, words)?, StepMaps::new(targets, words)?],
            ports: [ClassMaps::new(from, words)?, ClassMaps::new(to, words)?],
            protocols: table(&vectors.protocols)?,
            bits: table(&packed.collect::<Vec<_>>())?,
            matched: Map::new(MapKind::PerCpu, (4, 8), count)?,
        })
    }
}

impl StepMaps {
    fn new(steps: &vectors::Steps, words: usize) -> Result<Self, BpfError> {
        Ok(Self {
            first: table(&halves(&steps.first))?,
            nodes: table(&halves(&steps.nodes))?,
            sets: table(&steps.sets)?,
            count: counted(steps.nodes.len() / 256),
            classes: counted(steps.sets.len() / words),
        })
    }
}

impl ClassMaps {
    fn new(classes: &vectors::Classes, words: usize) -> Result<Self, BpfError> {
        Ok(Self {
            of: table(&halves(&classes.of))?,
            sets: table(&classes.sets)?,
            count: counted(classes.sets.len() / words),
        })
    }
}

fn counted(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// A map of one value, which the program reads without a call.
fn table(words: &[u64]) -> Result<Map, BpfError> {
    let bytes = u32::try_from(words.len() * 8).unwrap_or(u32::MAX);
    let map = Map::new(MapKind::Array, (4, bytes), 1)?;
    map.write(&0_u32.to_ne_bytes(), words)?;
    Ok(map)
}

/// Numbers of two bytes, four in a word.
fn halves(all: &[u16]) -> Vec<u64> {
    let word = |four: &[u16]| {
        let mut bytes = [0; 8];
        for (place, half) in bytes.chunks_mut(2).zip(four) {
            place.copy_from_slice(&half.to_ne_bytes());
        }
        u64::from_ne_bytes(bytes)
    };
    all.chunks(4).map(word).collect()
}
