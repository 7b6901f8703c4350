//! Knows what the kernel tells about a link and reads it from the raw answer.
//!
//! Only the attributes used here are decoded, so that one of a newer kernel or an exotic driver
//! cannot make the whole link unreadable. Never: sends anything.

use netlink_packet_core::{
    DecodeError, Emitable, NlasIterator, parse_string, parse_u8, parse_u16, parse_u32, parse_u64,
};
use netlink_packet_route::link::{LinkFlags, LinkHeader};
use serde::{Deserialize, Serialize};

/// The kind of a VLAN link.
pub(super) const VLAN: &str = "vlan";
/// In its data, its VLAN (`linux/if_link.h`).
const IFLA_VLAN_ID: u16 = 1;
/// Operational state "up" (`linux/if.h`).
const IF_OPER_UP: u8 = 6;

/// What the kernel counts on a link since it was made (`struct rtnl_link_stats64`).
///
/// Bytes include the Ethernet header but not preamble, checksum and gap; a packet that the
/// stack hands over whole before segmentation counts once on a virtual link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Packets received.
    pub rx_packets: u64,
    /// Packets sent.
    pub tx_packets: u64,
    /// Bytes received.
    pub rx_bytes: u64,
    /// Bytes sent.
    pub tx_bytes: u64,
    /// Packets received damaged.
    pub rx_errors: u64,
    /// Packets that could not be sent.
    pub tx_errors: u64,
    /// Sound packets dropped on reception.
    pub rx_dropped: u64,
    /// Packets dropped by the driver before sending; drops of a queueing discipline are not here.
    pub tx_dropped: u64,
    /// Packets that found no room at the adapter (`rx_missed_errors`), which are in no other count.
    pub rx_missed: u64,
}

/// A link as the kernel describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkInfo {
    /// Interface index, unique within the namespace, from 1.
    pub index: u32,
    /// Interface name.
    pub name: String,
    /// Kind of a virtual link: `veth`, `bridge`; hardware and loopback have none.
    pub kind: Option<String>,
    /// Index of the link below it (`IFLA_LINK`); of a veth end that of its peer.
    #[serde(default)]
    pub below: Option<u32>,
    /// Its VLAN (IEEE 802.1Q, 1 to 4094), where it is a VLAN link.
    #[serde(default)]
    pub vlan: Option<u16>,
    /// Largest payload of a frame, bytes.
    pub mtu: u32,
    /// Switched on by the administrator (`IFF_UP`).
    pub up: bool,
    /// The other end is there.
    pub carrier: bool,
    /// The kernel has noticed that it is, and passes traffic (operational state up, RFC 2863).
    pub running: bool,
    /// Index of the bridge or bond that it is a port of.
    pub master: Option<u32>,
    /// Hardware address, lower-case hexadecimal with colons; empty if it has none.
    pub address: String,
    /// Transmit queues allocated; those in use may be fewer (ethtool channels).
    pub tx_queues: u32,
    /// Receive queues allocated; those in use may be fewer (ethtool channels).
    pub rx_queues: u32,
    /// Least MTU the driver takes, bytes; absent if it states none.
    pub min_mtu: Option<u32>,
    /// Greatest MTU the driver takes, bytes; absent if it states none.
    pub max_mtu: Option<u32>,
    /// How often the carrier came or went since the link was made (`IFLA_CARRIER_CHANGES`); 0 on
    /// kernels before 3.15, which do not say.
    #[serde(default)]
    pub carrier_changes: u32,
    /// How many want all frames that pass (`IFLA_PROMISCUITY`).
    pub promiscuity: u32,
    /// Traffic so far.
    pub counters: Counters,
}

impl LinkInfo {
    /// Reads the body of an `RTM_NEWLINK` message.
    pub(super) fn decode(body: &[u8]) -> Result<Self, DecodeError> {
        let header = LinkHeader::parse(body)?;
        let up = header.flags.contains(LinkFlags::Up);
        let mut info = Self { index: header.index, up, ..Self::default() };
        for nla in NlasIterator::new(&body[header.buffer_len()..]) {
            let nla = nla?;
            info.take(nla.kind(), nla.value())?;
        }
        Ok(info)
    }

    /// Whether it is a VLAN link on the link of this index.
    pub(super) fn tags(&self, below: u32) -> bool {
        self.kind.as_deref() == Some(VLAN) && self.below == Some(below)
    }

    fn take(&mut self, kind: u16, value: &[u8]) -> Result<(), DecodeError> {
        match kind {
            libc::IFLA_IFNAME => self.name = parse_string(value)?,
            libc::IFLA_LINK => self.below = Some(parse_u32(value)?),
            libc::IFLA_LINKINFO => (self.kind, self.vlan) = link_kind(value)?,
            libc::IFLA_MTU => self.mtu = parse_u32(value)?,
            libc::IFLA_OPERSTATE => self.running = parse_u8(value)? == IF_OPER_UP,
            libc::IFLA_CARRIER_CHANGES => self.carrier_changes = parse_u32(value)?,
            libc::IFLA_CARRIER => self.carrier = parse_u8(value)? != 0,
            libc::IFLA_MASTER => self.master = Some(parse_u32(value)?),
            libc::IFLA_PROMISCUITY => self.promiscuity = parse_u32(value)?,
            libc::IFLA_ADDRESS => self.address = hardware_address(value),
            libc::IFLA_NUM_TX_QUEUES => self.tx_queues = parse_u32(value)?,
            libc::IFLA_NUM_RX_QUEUES => self.rx_queues = parse_u32(value)?,
            libc::IFLA_MIN_MTU => self.min_mtu = stated(parse_u32(value)?),
            libc::IFLA_MAX_MTU => self.max_mtu = stated(parse_u32(value)?),
            libc::IFLA_STATS64 => self.counters = Counters::decode(value)?,
            _ => {}
        }
        Ok(())
    }
}

impl Counters {
    /// The structure grows at its end from kernel to kernel; its words never move.
    fn decode(value: &[u8]) -> Result<Self, DecodeError> {
        let word = |index: usize| {
            let bytes = value.get(index * 8..(index + 1) * 8);
            parse_u64(
                bytes
                    .ok_or_else(|| DecodeError::invalid_buffer("IFLA_STATS64", value.len(), 64))?,
            )
        };
        Ok(Self {
            rx_packets: word(0)?,
            tx_packets: word(1)?,
            rx_bytes: word(2)?,
            tx_bytes: word(3)?,
            rx_errors: word(4)?,
            tx_errors: word(5)?,
            rx_dropped: word(6)?,
            tx_dropped: word(7)?,
            rx_missed: word(15).unwrap_or(0),
        })
    }
}

/// Zero is the kernel's word for "no bound stated".
const fn stated(mtu: u32) -> Option<u32> {
    if mtu == 0 { None } else { Some(mtu) }
}

/// The kind of a virtual link, and of a VLAN link its VLAN.
fn link_kind(link_info: &[u8]) -> Result<(Option<String>, Option<u16>), DecodeError> {
    let (mut kind, mut vlan) = (None, None);
    for nla in NlasIterator::new(link_info) {
        let nla = nla?;
        match nla.kind() {
            libc::IFLA_INFO_KIND => kind = Some(parse_string(nla.value())?),
            libc::IFLA_INFO_DATA if kind.as_deref() == Some(VLAN) => vlan = vlan_of(nla.value())?,
            _ => {}
        }
    }
    Ok((kind, vlan))
}

fn vlan_of(data: &[u8]) -> Result<Option<u16>, DecodeError> {
    for nla in NlasIterator::new(data) {
        let nla = nla?;
        if nla.kind() == IFLA_VLAN_ID {
            return parse_u16(nla.value()).map(Some);
        }
    }
    Ok(None)
}

fn hardware_address(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(":")
}
