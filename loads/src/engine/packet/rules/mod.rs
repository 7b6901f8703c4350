//! Knows lists of rules over the five fields of a packet, of which the first that matches counts.
//!
//! Gives: [`Rule`], [`Prefix`]; [`first_match`], the search one by one that all others must agree
//! with; [`read`], the text of ClassBench; [`generate`], lists of a [`Mix`] and a seed;
//! [`corners`], packets at the edges of a rule.
//! Never: what is done with a packet that matches.
//! Start reading here.

mod corners;
mod generate;
mod mix;
mod read;
#[cfg(test)]
mod tests;

pub use corners::{Side, corners, sides};
pub use generate::generate;
pub use mix::{Mix, Ports};
pub use read::{RULES_MAX, RulesError, read};

use super::tuple::Tuple;
use std::fmt;

/// Addresses that share their first `len` bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Prefix {
    /// The lowest of the addresses.
    pub address: u32,
    /// Bits that they share, 0 to 32.
    pub len: u8,
}

impl Prefix {
    /// All addresses.
    pub const ANY: Self = Self { address: 0, len: 0 };

    /// The prefix of this length that holds the address; lengths above 32 count as 32.
    #[must_use]
    pub fn around(address: u32, len: u8) -> Self {
        let len = len.min(32);
        Self { address: address & mask(len), len }
    }

    /// Bits that are the same in all its addresses.
    #[must_use]
    pub const fn mask(self) -> u32 {
        mask(self.len)
    }

    /// Its lowest and its highest address.
    #[must_use]
    pub const fn range(self) -> (u32, u32) {
        (self.address & self.mask(), self.address | !self.mask())
    }

    /// Whether it holds the address.
    #[must_use]
    pub const fn holds(self, address: u32) -> bool {
        (address ^ self.address) & self.mask() == 0
    }
}

const fn mask(len: u8) -> u32 {
    match len {
        0 => 0,
        1..32 => u32::MAX << (32 - len),
        _ => u32::MAX,
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d] = self.address.to_be_bytes();
        write!(f, "{a}.{b}.{c}.{d}/{}", self.len)
    }
}

/// What a packet must be for the rule to match. All five fields must match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Rule {
    /// Addresses of senders.
    pub src: Prefix,
    /// Addresses of receivers.
    pub dst: Prefix,
    /// Lowest and highest port of senders.
    pub src_ports: (u16, u16),
    /// Lowest and highest port of receivers.
    pub dst_ports: (u16, u16),
    /// The protocol; any where there is none.
    pub protocol: Option<u8>,
}

/// All ports.
pub const ANY_PORT: (u16, u16) = (0, u16::MAX);

impl Rule {
    /// A rule that every packet matches.
    pub const ANY: Self = Self {
        src: Prefix::ANY,
        dst: Prefix::ANY,
        src_ports: ANY_PORT,
        dst_ports: ANY_PORT,
        protocol: None,
    };

    /// Whether each field of the packet matches: source, destination, both ports, protocol.
    #[must_use]
    pub fn fields(&self, tuple: &Tuple) -> [bool; 5] {
        let within = |(low, high): (u16, u16), port| low <= port && port <= high;
        [
            self.src.holds(tuple.src),
            self.dst.holds(tuple.dst),
            within(self.src_ports, tuple.src_port),
            within(self.dst_ports, tuple.dst_port),
            self.protocol.is_none_or(|protocol| protocol == tuple.protocol),
        ]
    }

    /// Whether the packet matches.
    #[must_use]
    pub fn matches(&self, tuple: &Tuple) -> bool {
        self.fields(tuple) == [true; 5]
    }
}

/// As ClassBench writes it.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { src, dst, src_ports, dst_ports, protocol } = self;
        let ((from, to), (low, high)) = (src_ports, dst_ports);
        write!(f, "@{src} {dst} {from} : {to} {low} : {high} ")?;
        match protocol {
            Some(protocol) => write!(f, "0x{protocol:02x}/0xff"),
            None => f.write_str("0x00/0x00"),
        }
    }
}

/// Index of the first rule that the packet matches, found one by one; none where there is none.
#[must_use]
pub fn first_match(rules: &[Rule], tuple: &Tuple) -> Option<usize> {
    rules.iter().position(|rule| rule.matches(tuple))
}
