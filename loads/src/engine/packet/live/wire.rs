//! Knows the frames of a load: Ethernet, the tag of a VLAN where one is asked for (IEEE 802.1Q),
//! IPv4 or IPv6, UDP, then 18 bytes that tell them apart.
//!
//! After the headers: phase and stream 2, sequence number 4, stamp 8, tag 4, in the order of this
//! machine's bytes, then content up to the length. The tag is keyed and covers the other 14, so
//! that only who knows the key can make one. Over IPv4 that header has its checksum, and UDP none
//! (0, RFC 768); over IPv6 UDP has one (RFC 8200, 8.1). Must not know how a frame is sent.

use super::generator::Pattern;
use super::sizes::Sizes;
use super::varied::Varied;
use crate::engine::packet::frame::FCS;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Bytes of the shortest frame with its check sequence.
pub const LEAST: usize = 64;
/// Bytes of the longest that is no jumbo frame, as an MTU of 1500 B has it.
pub const MOST: usize = 1518;
/// Bytes of the longest jumbo frame, as an MTU of 9000 B has it. The page of a live frame has room
/// for some 3.3 KB, so that sockets send them.
pub const JUMBO: usize = 9018;

/// Type of Ethernet of the tag of a VLAN (IEEE 802.1Q, 9.6).
pub(super) const TAGGED: u16 = 0x8100;
/// Bytes that such a tag takes.
pub const TAG: usize = 4;
/// Of the second half of it these bits are the number of the VLAN, the others priority.
pub(super) const VLAN_BITS: u16 = 0x0fff;
/// Bytes of the marks behind the headers.
const MARKS: i16 = 18;
/// Number of UDP among the protocols of IP.
const UDP: u8 = 17;
/// Packets go through so many routers at the most: time to live, hop limit.
const HOPS: u8 = 64;

/// Where things stand in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// Whether it is of IPv6.
    pub six: bool,
    /// The VLAN whose tag it has.
    pub vlan: Option<u16>,
}

impl Layout {
    /// Of frames between addresses of one version, with the tag of a VLAN.
    #[must_use]
    pub const fn between(addresses: [IpAddr; 2], vlan: Option<u16>) -> Self {
        Self { six: addresses[1].is_ipv6(), vlan }
    }

    /// Bytes of the tag.
    #[must_use]
    pub const fn tag_bytes(self) -> usize {
        if self.vlan.is_some() { TAG } else { 0 }
    }

    /// Bytes of the shortest frame that has room for headers and marks, with check sequence.
    #[must_use]
    pub fn least(self) -> usize {
        usize::try_from(self.end()).unwrap_or(0) + FCS
    }

    /// The type of Ethernet (RFC 894, RFC 2464).
    pub(super) const fn ethertype(self) -> u16 {
        if self.six { 0x86dd } else { 0x0800 }
    }

    pub(super) const fn kind(self) -> i16 {
        self.ip() - 2
    }

    pub(super) const fn ip(self) -> i16 {
        if self.vlan.is_some() { 18 } else { 14 }
    }

    pub(super) const fn protocol(self) -> i16 {
        self.ip() + if self.six { 6 } else { 9 }
    }

    /// The header of UDP: ports, length, checksum.
    pub(super) const fn udp(self) -> i16 {
        self.ip() + if self.six { 40 } else { 20 }
    }

    pub(super) const fn check(self) -> i16 {
        self.udp() + 6
    }

    pub(super) const fn mark(self) -> i16 {
        self.udp() + 8
    }

    pub(super) const fn sequence(self) -> i16 {
        self.mark() + 2
    }

    pub(super) const fn stamp(self) -> i16 {
        self.mark() + 6
    }

    pub(super) const fn tag(self) -> i16 {
        self.mark() + 14
    }

    pub(super) const fn end(self) -> i16 {
        self.mark() + MARKS
    }
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
    pub addresses: [IpAddr; 2],
    /// How many addresses and classes replace these.
    pub varied: Varied,
    /// How long the frames are, with their tags.
    pub sizes: Sizes,
    /// The VLAN whose tag they have.
    pub vlan: Option<u16>,
    /// Number of the stream, below 64.
    pub stream: u8,
    /// Key of the tag.
    pub key: u64,
    /// Seed of the content.
    pub seed: u64,
}

impl Wire {
    /// Bytes of the longest frame as the kernel has it, without the check sequence.
    #[must_use]
    pub fn length(&self) -> usize {
        self.sizes.most() - FCS
    }

    /// The same of the frame of a number.
    #[must_use]
    pub fn length_of(&self, sequence: u32) -> usize {
        self.sizes.of(sequence) - FCS
    }

    /// Where things stand in it.
    #[must_use]
    pub const fn layout(&self) -> Layout {
        Layout::between(self.addresses, self.vlan)
    }

    /// The longest frame with sequence number 0 of flow 0, without a tag.
    #[must_use]
    pub fn template(&self) -> Vec<u8> {
        self.template_of(self.length())
    }

    /// The same of a frame of so many bytes without check sequence.
    pub(super) fn template_of(&self, length: usize) -> Vec<u8> {
        let mut frame = Vec::with_capacity(self.length());
        frame.extend(self.ethernet());
        frame.extend(self.ip(length, None));
        for word in [SOURCE_FIRST, TARGET_FIRST, self.datagram(length), 0] {
            frame.extend(word.to_be_bytes());
        }
        frame.extend(self.content());
        frame.truncate(length);
        frame
    }

    /// The bytes behind the headers, of which shorter frames have the first; the program writes
    /// over the first 18 of each frame.
    #[must_use]
    pub fn content(&self) -> Vec<u8> {
        let first = mixed(self.seed) ^ u64::from(self.stream);
        let words = (1..).map(|number: u64| mixed(first.wrapping_add(ODD[0].wrapping_mul(number))));
        let headers = usize::try_from(self.layout().mark()).unwrap_or(0);
        words.flat_map(u64::to_ne_bytes).take(self.length().saturating_sub(headers)).collect()
    }

    /// Writes headers and marks over a frame of the template, or the first part of one: sequence
    /// number, stamp and phase, and the flow.
    pub fn write(&self, frame: &mut [u8], (sequence, stamp, phase): (u32, u64, u16), flow: u32) {
        let layout = self.layout();
        let mark = phase | u16::from(self.stream) << 8;
        let low = u16::try_from(flow % (1 << SOURCE_BITS)).unwrap_or(0);
        let high = u16::try_from(flow >> SOURCE_BITS).unwrap_or(0);
        let ports = [SOURCE_FIRST + low, TARGET_FIRST + high];
        let length = frame.len();
        put(frame, 0, &self.ethernet());
        put(frame, layout.ip(), &self.ip(length, Some(flow)));
        put(frame, layout.udp(), &ports.map(u16::to_be_bytes).concat());
        put(frame, layout.udp() + 4, &self.datagram(length).to_be_bytes());
        put(frame, layout.check(), &[0; 2]);
        put(frame, layout.mark(), &mark.to_ne_bytes());
        put(frame, layout.sequence(), &sequence.to_ne_bytes());
        put(frame, layout.stamp(), &stamp.to_ne_bytes());
        put(frame, layout.tag(), &tag(self.key, (sequence, stamp, mark)).to_ne_bytes());
        if layout.six {
            let udp = usize::try_from(layout.udp()).unwrap_or(0);
            let sum = self.pseudo(length) + frame.get(udp..).map_or(0, sum_of);
            put(frame, layout.check(), &datagram_checksum(sum).to_ne_bytes());
        }
    }

    /// The sum of what is the same in every frame as long as these first bytes of the template, for
    /// the checksum of UDP over IPv6: all but ports and marks (RFC 8200, 8.1); 0 over IPv4.
    pub(super) fn constant(&self, template: &[u8]) -> u64 {
        if !self.layout().six {
            return 0;
        }
        let (mut rest, length) = (template.to_vec(), template.len());
        let [udp, mark, end] = [self.layout().udp(), self.layout().mark(), self.layout().end()]
            .map(|at| usize::try_from(at).unwrap_or(0));
        rest[udp..udp + 4].fill(0);
        rest[udp + 4..udp + 6].copy_from_slice(&self.datagram(length).to_be_bytes());
        rest[mark..end].fill(0);
        self.pseudo(length) + sum_of(&rest[udp..])
    }

    /// What the length of a frame decides, as it stands in the headers: the length of IP, the
    /// checksum of IPv4 (zero over IPv6, which has none), and the length of UDP.
    pub(super) fn lengths(&self, length: usize) -> [[u8; 2]; 3] {
        let (ip, six) = (self.ip(length, None), self.layout().six);
        let [at, check] = if six { [4, 6] } else { [2, 10] };
        let two = |at: usize| [ip[at], ip[at + 1]];
        [two(at), if six { [0; 2] } else { two(check) }, self.datagram(length).to_be_bytes()]
    }

    /// The flow of the frame of a number, of so many flows; what programs compute.
    #[must_use]
    pub fn flow_of(&self, (pattern, flows): (Pattern, u32), sequence: u32) -> u32 {
        let flows = u64::from(flows.max(1));
        let flow = match pattern {
            Pattern::Counter => (first_flow(flows, self.seed) + u64::from(sequence)) % flows,
            Pattern::Random => {
                let word = (u64::from(sequence) ^ mixed(self.seed)).wrapping_mul(ODD[1]) >> 32;
                (word * flows) >> 32
            }
            Pattern::Listed => self.sizes.listed(sequence).map_or(0, |frame| frame.flow.into()),
        };
        u32::try_from(flow).unwrap_or(0)
    }

    /// The sum of addresses, length and protocol; 0 where there are none of IPv6.
    fn pseudo(&self, length: usize) -> u64 {
        let [IpAddr::V6(source), IpAddr::V6(target)] = self.addresses else { return 0 };
        let words = [self.datagram(length), u16::from(UDP)].map(u16::to_be_bytes).concat();
        sum_of(&source.octets()) + sum_of(&target.octets()) + sum_of(&words)
    }

    /// The header of Ethernet, with the tag of a VLAN in it.
    fn ethernet(&self) -> Vec<u8> {
        let tag = self.vlan.map(|vlan| [TAGGED, vlan & VLAN_BITS]);
        let words = tag.into_iter().flatten().chain([self.layout().ethertype()]);
        let mut header = self.hardware.concat();
        header.extend(words.flat_map(u16::to_be_bytes));
        header
    }

    /// Bytes of the datagram of UDP in a frame of so many.
    fn datagram(&self, length: usize) -> u16 {
        let headers = usize::try_from(self.layout().udp()).unwrap_or(0);
        u16::try_from(length.saturating_sub(headers)).unwrap_or(u16::MAX)
    }

    /// The header of IP of a frame of so many bytes and of a flow, or as the template has it; an
    /// address of the other version is none.
    fn ip(&self, length: usize, flow: Option<u32>) -> Vec<u8> {
        let datagram = self.datagram(length);
        match self.addresses {
            [IpAddr::V4(source), IpAddr::V4(target)] => {
                let ends = self.varied.addresses([source, target], (self.stream, flow));
                four((ends, self.varied.dscp(flow)), datagram).into()
            }
            [IpAddr::V6(source), IpAddr::V6(target)] => six([source, target], datagram),
            _ => vec![0; usize::try_from(self.layout().udp() - self.layout().ip()).unwrap_or(0)],
        }
    }
}

/// The header of IPv4 with its checksum (RFC 791; RFC 1071).
fn four((addresses, dscp): ([Ipv4Addr; 2], u8), datagram: u16) -> [u8; 20] {
    let total = datagram.saturating_add(20).to_be_bytes();
    let mut header = [0; 20];
    // Version and length of the header, class (RFC 2474); do not fragment.
    header[..10].copy_from_slice(&[0x45, dscp << 2, total[0], total[1], 0, 0, 0x40, 0, HOPS, UDP]);
    header[12..].copy_from_slice(&addresses.map(|address| address.octets()).concat());
    let check = checksum(sum_of(&header));
    header[10..12].copy_from_slice(&check.to_ne_bytes());
    header
}

/// The header of IPv6 (RFC 8200), without traffic class and flow label.
fn six(addresses: [Ipv6Addr; 2], datagram: u16) -> Vec<u8> {
    let length = datagram.to_be_bytes();
    let mut header = vec![0x60, 0, 0, 0, length[0], length[1], UDP, HOPS];
    header.extend(addresses.map(|address| address.octets()).concat());
    header
}

fn put(frame: &mut [u8], at: i16, bytes: &[u8]) {
    let at = usize::try_from(at).unwrap_or(0);
    if let Some(place) = frame.get_mut(at..at + bytes.len()) {
        place.copy_from_slice(bytes);
    }
}

/// The sum of words of 16 bits in the order of this machine, which the checksum does not care for
/// (RFC 1071); a last byte has a zero behind it.
fn sum_of(bytes: &[u8]) -> u64 {
    let word = |two: &[u8]| [two.first(), two.get(1)].map(|byte| byte.copied().unwrap_or(0));
    bytes.chunks(2).map(|two| u64::from(u16::from_ne_bytes(word(two)))).sum()
}

/// The checksum of a sum, in the order of this machine.
fn checksum(sum: u64) -> u16 {
    // 2^16 is one more than 2^16 - 1, so that carries are added.
    let folded = if sum == 0 { 0 } else { (sum - 1) % 0xffff + 1 };
    u16::try_from(folded).map_or(0, |folded| !folded)
}

/// That of UDP, of which 0 says that there is none (RFC 768).
fn datagram_checksum(sum: u64) -> u16 {
    match checksum(sum) {
        0 => u16::MAX,
        check => check,
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
