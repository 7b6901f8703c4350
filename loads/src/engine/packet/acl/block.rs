//! Knows sixteen rules side by side, and which of them is the first that a packet matches.
//!
//! Must not know how a packet came to the block.

use super::span::Spans;
use crate::engine::packet::tuple::Tuple;

/// Rules of a block.
pub const RULES: usize = 16;
/// The index of no rule.
pub const NONE: u32 = u32::MAX;

/// Fields of sixteen rules. A packet matches a rule where each address differs from the rule's in
/// none of the bits of the mask, and ports and protocol are at most so far above the lowest.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Block {
    pub src: [u32; RULES],
    pub src_mask: [u32; RULES],
    pub dst: [u32; RULES],
    pub dst_mask: [u32; RULES],
    /// Lowest ports of senders, then of receivers.
    pub port: [u16; 2 * RULES],
    pub port_span: [u16; 2 * RULES],
    pub protocol: [u8; RULES],
    pub protocol_span: [u8; RULES],
    /// Indices of the rules in their list, in rising order.
    pub index: [u32; RULES],
}

impl Block {
    /// No rule: nothing matches.
    pub const EMPTY: Self = Self {
        // An address with a bit outside of the mask differs from all.
        src: [1; RULES],
        src_mask: [0; RULES],
        dst: [0; RULES],
        dst_mask: [0; RULES],
        port: [0; 2 * RULES],
        port_span: [0; 2 * RULES],
        protocol: [0; RULES],
        protocol_span: [0; RULES],
        index: [NONE; RULES],
    };

    /// A block of at most sixteen rules, each with its index, in rising order.
    #[expect(clippy::cast_possible_truncation, reason = "ports and protocols of a rule")]
    pub fn of(rules: &[(u32, Spans)]) -> Self {
        let mut block = Self::EMPTY;
        for (at, (index, [src, dst, from, to, protocol])) in rules.iter().take(RULES).enumerate() {
            (block.src[at], block.src_mask[at]) = (src.low, !(src.low ^ src.high));
            (block.dst[at], block.dst_mask[at]) = (dst.low, !(dst.low ^ dst.high));
            for (at, ports) in [(at, from), (RULES + at, to)] {
                block.port[at] = ports.low as u16;
                block.port_span[at] = (ports.high - ports.low) as u16;
            }
            block.protocol[at] = protocol.low as u8;
            block.protocol_span[at] = (protocol.high - protocol.low) as u8;
            block.index[at] = *index;
        }
        block
    }

    /// Index of the first rule that the packet matches, [`NONE`] where there is none.
    pub fn first(&self, packet: &Tuple) -> u32 {
        let mut matched = 0_u32;
        for at in 0..RULES {
            let src = packet.src & self.src_mask[at] == self.src[at];
            let dst = packet.dst & self.dst_mask[at] == self.dst[at];
            let from = packet.src_port.wrapping_sub(self.port[at]) <= self.port_span[at];
            let to = RULES + at;
            let to = packet.dst_port.wrapping_sub(self.port[to]) <= self.port_span[to];
            let protocol =
                packet.protocol.wrapping_sub(self.protocol[at]) <= self.protocol_span[at];
            matched |= u32::from(src & dst & from & to & protocol) << at;
        }
        self.index.get(matched.trailing_zeros() as usize).copied().unwrap_or(NONE)
    }
}
