//! Knows the frames of a load: Ethernet, IPv4, UDP, then 18 bytes that tell one from another.
//!
//! After the headers: phase and stream 2, sequence number 4, stamp 8, tag 4, in the order of this
//! machine's bytes, then content up to the length. The tag is keyed and covers the other 14, so
//! that only who knows the key can make one. The checksum of IPv4 is right, that of UDP is absent
//! (0, RFC 768). Must not know how a frame is sent.

use super::generator::Pattern;
use crate::engine::packet::frame::FCS;
use std::net::Ipv4Addr;

/// Bytes of the shortest frame with its check sequence.
pub const LEAST: usize = 64;
/// Bytes of the longest: the page of a live frame has room for some 3.3 KB, the MTU for this.
pub const MOST: usize = 1518;

/// Bytes of the headers of Ethernet, IPv4 and UDP.
const HEADERS: usize = 42;

/// Where things stand in a frame.
pub(super) mod at {
    pub const KIND: i16 = 12;
    pub const PROTOCOL: i16 = 23;
    pub const SOURCE_PORT: i16 = 34;
    pub const TARGET_PORT: i16 = 36;
    pub const MARK: i16 = 42;
    pub const SEQUENCE: i16 = 44;
    pub const STAMP: i16 = 48;
    pub const TAG: i16 = 56;
    pub const END: i32 = 60;
}

/// Ports of a flow: the lower 14 bits of its number from this source port on (RFC 6335, dynamic
/// ports), the rest from this target port on.
pub const SOURCE_FIRST: u16 = 49_152;
/// Bits of the number of a flow that are in its source port.
pub const SOURCE_BITS: u32 = 14;
/// The first target port.
pub const TARGET_FIRST: u16 = 5_001;

/// Multipliers of the tag: odd, with about as many ones as zeros.
pub(super) const ODD: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93];

/// The frames of one stream, as both ends know them.
#[derive(Clone, Debug)]
pub struct Wire {
    /// Hardware addresses: of the next hop, of the sender.
    pub hardware: [[u8; 6]; 2],
    /// Addresses: of the sender, of the target.
    pub addresses: [Ipv4Addr; 2],
    /// Bytes of a frame with its check sequence.
    pub bytes: usize,
    /// Number of the stream, below 64.
    pub stream: u8,
    /// Key of the tag.
    pub key: u64,
    /// Seed of the content.
    pub seed: u64,
}

impl Wire {
    /// Bytes of a frame as the kernel has it, without the check sequence.
    #[must_use]
    pub const fn length(&self) -> usize {
        self.bytes - FCS
    }

    /// The frame with sequence number 0 of flow 0, without a tag.
    #[must_use]
    pub fn template(&self) -> Vec<u8> {
        let mut frame = Vec::with_capacity(self.length());
        frame.extend(self.hardware.concat());
        frame.extend([0x08, 0x00]);
        frame.extend(self.ip());
        for word in [SOURCE_FIRST, TARGET_FIRST, self.datagram(), 0] {
            frame.extend(word.to_be_bytes());
        }
        frame.extend(self.content());
        frame
    }

    /// The bytes behind the headers; the program writes over the first 18 of each frame.
    #[must_use]
    pub fn content(&self) -> Vec<u8> {
        let first = mixed(self.seed) ^ u64::from(self.stream);
        let words = (1..).map(|number: u64| mixed(first.wrapping_add(ODD[0].wrapping_mul(number))));
        words.flat_map(u64::to_ne_bytes).take(self.length() - HEADERS).collect()
    }

    /// Writes headers and marks over a frame of the template: sequence number, stamp and phase, and
    /// the flow.
    pub fn write(&self, frame: &mut [u8], (sequence, stamp, phase): (u32, u64, u16), flow: u32) {
        let mark = phase | u16::from(self.stream) << 8;
        let low = u16::try_from(flow % (1 << SOURCE_BITS)).unwrap_or(0);
        let high = u16::try_from(flow >> SOURCE_BITS).unwrap_or(0);
        let ports = [SOURCE_FIRST + low, TARGET_FIRST + high];
        let mut put = |at: usize, bytes: &[u8]| {
            if let Some(place) = frame.get_mut(at..at + bytes.len()) {
                place.copy_from_slice(bytes);
            }
        };
        put(0, &self.hardware.concat());
        put(14, &self.ip());
        put(34, &ports.map(u16::to_be_bytes).concat());
        put(42, &mark.to_ne_bytes());
        put(44, &sequence.to_ne_bytes());
        put(48, &stamp.to_ne_bytes());
        put(56, &tag(self.key, (sequence, stamp, mark)).to_ne_bytes());
    }

    /// Bytes of the datagram of UDP.
    fn datagram(&self) -> u16 {
        u16::try_from(self.length() - 34).unwrap_or(u16::MAX)
    }

    /// The header of IPv4 with its checksum (RFC 791; RFC 1071).
    fn ip(&self) -> [u8; 20] {
        let total = self.datagram().saturating_add(20).to_be_bytes();
        let mut header = [0; 20];
        // Version and length of the header; do not fragment; time to live 64; UDP.
        header[..10].copy_from_slice(&[0x45, 0, total[0], total[1], 0, 0, 0x40, 0, 64, 17]);
        header[12..16].copy_from_slice(&self.addresses[0].octets());
        header[16..].copy_from_slice(&self.addresses[1].octets());
        let words = header.chunks(2).map(|two| u32::from(u16::from_be_bytes([two[0], two[1]])));
        let sum: u32 = words.sum();
        let folded = (sum & 0xffff) + (sum >> 16);
        let folded = (folded & 0xffff) + (folded >> 16);
        let check = u16::try_from(!folded & 0xffff).unwrap_or(0);
        header[10..12].copy_from_slice(&check.to_be_bytes());
        header
    }
}

/// What the tag covers: sequence number, stamp, and phase and stream in one.
///
/// Both programs of this folder compute the same.
#[must_use]
pub fn tag(key: u64, (sequence, stamp, mark): (u32, u64, u16)) -> u32 {
    let first = scrambled(key, sequence);
    let second = (first ^ stamp ^ u64::from(mark)).wrapping_mul(ODD[1]);
    u32::try_from(second >> 32).unwrap_or(0)
}

/// The flow of the frame of a number, of so many flows; what programs compute.
#[must_use]
pub fn flow_of(pattern: Pattern, (flows, seed): (u32, u64), sequence: u32) -> u32 {
    let flows = u64::from(flows.max(1));
    let flow = match pattern {
        Pattern::Counter => (first_flow(flows, seed) + u64::from(sequence)) % flows,
        Pattern::Random => {
            let word = (u64::from(sequence) ^ mixed(seed)).wrapping_mul(ODD[1]) >> 32;
            (word * flows) >> 32
        }
    };
    u32::try_from(flow).unwrap_or(0)
}

/// The flow with which a counter begins.
pub(super) const fn first_flow(flows: u64, seed: u64) -> u64 {
    mixed(seed) % flows
}

/// The first half of it, of which samples are drawn.
#[must_use]
pub fn scrambled(key: u64, sequence: u32) -> u64 {
    let word = (u64::from(sequence) ^ key).wrapping_mul(ODD[0]);
    word ^ (word >> 32)
}

pub(super) const fn mixed(word: u64) -> u64 {
    let word = (word ^ (word >> 31)).wrapping_mul(ODD[1]);
    word ^ (word >> 29)
}
