//! Knows the fields of a packet as two words.
//!
//! Must not know trees.

use crate::engine::packet::tuple::Tuple;

/// The fields of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Key {
    /// Source in the lower half, destination in the upper.
    pub addresses: u64,
    /// From the lowest bit on, 16 bits each: port of the sender, port of the receiver, protocol, 0.
    pub rest: u64,
}

impl From<&Tuple> for Key {
    #[inline]
    fn from(packet: &Tuple) -> Self {
        let ports = u64::from(packet.src_port) | u64::from(packet.dst_port) << 16;
        Self {
            addresses: u64::from(packet.src) | u64::from(packet.dst) << 32,
            rest: ports | u64::from(packet.protocol) << 32,
        }
    }
}

/// In which word of a key each field stands, and above how many bits.
pub const PLACES: [(u64, u32); 5] = [(0, 0), (0, 32), (1, 0), (1, 16), (1, 32)];

/// The fields in the order of a rule's spans.
impl From<[u32; 5]> for Key {
    fn from([src, dst, src_port, dst_port, protocol]: [u32; 5]) -> Self {
        let rest = [src_port, dst_port, protocol].into_iter().zip([0, 16, 32]);
        Self {
            addresses: u64::from(src) | u64::from(dst) << 32,
            rest: rest.fold(0, |all, (part, shift)| all | u64::from(part) << shift),
        }
    }
}
