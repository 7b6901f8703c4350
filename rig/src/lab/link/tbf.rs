//! Knows the token bucket filter, the kernel's plainest shaper, as raw attributes
//! (`linux/pkt_sched.h`), since the packet library has no type for it. Never: which rate a trial
//! wants.

use super::error::{LinkError, Task};
use super::info::LinkInfo;
use super::routes::Routes;
use netlink_packet_core::{
    DecodeError, DefaultNla, Emitable, NLM_F_CREATE, NLM_F_REPLACE, NlasIterator, parse_string,
    parse_u32, parse_u64,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcHeader, TcMessage, TcOption};
use serde::{Deserialize, Serialize};

const TCA_KIND: u16 = 1;
const TCA_OPTIONS: u16 = 2;
const TCA_STATS2: u16 = 7;
/// In it, `struct gnet_stats_basic`: bytes, 64 bit, and packets, 32 bit.
const TCA_STATS_BASIC: u16 = 1;
const PACKETS_AT: usize = 8;
/// In it, `struct gnet_stats_queue`: length, backlog, drops, requeues and overlimits, 32 bit each.
const TCA_STATS_QUEUE: u16 = 3;
const BACKLOG_AT: usize = 4;
const DROPS_AT: usize = 8;
const OVERLIMITS_AT: usize = 16;
const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_RATE64: u16 = 4;
const TCA_TBF_BURST: u16 = 6;
/// `struct tc_tbf_qopt`: two rate specifications of 12 bytes, then limit, buffer and mtu.
const PARMS_BYTES: usize = 36;
const LINKLAYER_AT: usize = 1;
const RATE_AT: usize = 8;
const LIMIT_AT: usize = 24;
const BUFFER_AT: usize = 28;
const TC_LINKLAYER_ETHERNET: u8 = 1;
/// The kernel's scheduler clock ticks every 64 ns (`PSCHED_SHIFT` is 6).
const TICK_NS: u128 = 64;
const NS_PER_S: u128 = 1_000_000_000;

/// A token bucket: frames leave at the rate, after a burst that the bucket holds at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tbf {
    /// Rate, bit/s, counted on whole Ethernet frames without preamble, checksum and gap;
    /// the kernel keeps whole bytes per second, so it is rounded down to a multiple of 8.
    pub rate_bits_per_s: u64,
    /// Depth of the bucket, bytes; at least one full frame.
    pub burst_bytes: u32,
    /// Bytes that may wait for tokens before frames are dropped.
    pub limit_bytes: u32,
}

/// The queueing discipline at the root of a link, and what it has counted since it was set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shaper {
    /// Its kind: `tbf`, `htb`, `pfifo` and so on.
    pub kind: String,
    /// The token bucket, if it is one.
    pub tbf: Option<Tbf>,
    /// Packets that it let pass; wraps.
    pub packets: u32,
    /// Bytes that wait now.
    pub backlog_bytes: u32,
    /// Frames dropped, for instance because too many waited; wraps.
    pub drops: u32,
    /// How often frames had to wait because a rate was reached; wraps.
    pub overlimits: u32,
}

impl Routes {
    /// Shapes what leaves by a link; takes the place of the queueing discipline at its root.
    ///
    /// # Errors
    /// [`LinkError::BadTbf`] if not even one full frame would pass; [`LinkError::NotSupported`]
    /// if the kernel has no token bucket filter.
    pub fn set_tbf(&mut self, name: &str, tbf: Tbf) -> Result<(), LinkError> {
        let link = self.link(name)?;
        tbf.check(&link)?;
        let mut message = root_of(&link);
        message.attributes = vec![
            TcAttribute::Kind("tbf".to_owned()),
            TcAttribute::Options(tbf.encode().into_iter().map(TcOption::Other).collect()),
        ];
        let message = RouteNetlinkMessage::NewQueueDiscipline(message);
        let task = Task { op: "shape", name };
        let done = self.socket.request(task, message, NLM_F_CREATE | NLM_F_REPLACE);
        done.map(drop).map_err(|e| match e {
            // An unknown discipline is reported as an absent file, not as an unsupported thing.
            LinkError::Kernel { errno: libc::ENOENT, op, name, .. } => {
                LinkError::NotSupported { op, name }
            }
            other => other,
        })
    }

    /// Reads the token bucket at the root of a link, if that is what it has.
    ///
    /// Rate and limit are exact; the burst is kept by the kernel as a time in ticks of 64 ns, so
    /// it is exact up to 123 Mbit/s and above that at most 65 ns of the rate too small.
    /// A burst that lasts longer than 274 s at the rate overflows those ticks and is misread.
    ///
    /// # Errors
    /// [`LinkError::Garbled`] if the answer cannot be read.
    pub fn tbf(&mut self, name: &str) -> Result<Option<Tbf>, LinkError> {
        Ok(self.shaper(name)?.and_then(|shaper| shaper.tbf))
    }

    /// Reads the queueing discipline at the root of a link, whatever its kind, with what it has
    /// counted; none where the kernel tells of none.
    ///
    /// # Errors
    /// [`LinkError::Garbled`] if the answer cannot be read.
    pub fn shaper(&mut self, name: &str) -> Result<Option<Shaper>, LinkError> {
        let index = self.link(name)?.index;
        let task = Task { op: "read the shaper of", name };
        let message = RouteNetlinkMessage::GetQueueDiscipline(TcMessage::default());
        for body in self.socket.dump(task, &message)? {
            let found = decode_root(&body, index).map_err(|e| task.garbled(&e))?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Gives a link back the queueing discipline the kernel would choose; does nothing if it has
    /// that already.
    ///
    /// # Errors
    /// Those of [`Routes`].
    pub fn clear_qdisc(&mut self, name: &str) -> Result<(), LinkError> {
        let message = RouteNetlinkMessage::DelQueueDiscipline(root_of(&self.link(name)?));
        match self.socket.request(Task { op: "clear the shaper of", name }, message, 0) {
            // The kernel's own choice has no handle to delete it by.
            Err(LinkError::Kernel { errno: libc::ENOENT, .. }) => Ok(()),
            other => other.map(drop),
        }
    }
}

impl Tbf {
    /// Refuses what the kernel would take and then drop every full frame by (`tbf_enqueue`).
    fn check(&self, link: &LinkInfo) -> Result<(), LinkError> {
        const ETHERNET_HEADER_BYTES: u32 = 14;
        let frame = link.mtu.saturating_add(ETHERNET_HEADER_BYTES);
        let detail = if self.rate_bits_per_s < 8 {
            format!("its rate is {} bit/s; take at least 8 bit/s", self.rate_bits_per_s)
        } else if self.burst_bytes < frame {
            format!("its burst is {} B; take at least {frame} B, a frame", self.burst_bytes)
        } else if self.limit_bytes < frame {
            format!("its limit is {} B; take at least {frame} B, a frame", self.limit_bytes)
        } else {
            return Ok(());
        };
        Err(LinkError::BadTbf { name: link.name.clone(), detail })
    }

    /// No rate table: kernels since 3.13 compute with `TCA_TBF_BURST` instead.
    fn encode(&self) -> Vec<DefaultNla> {
        let rate = self.rate_bits_per_s / 8;
        let mut parms = vec![0; PARMS_BYTES];
        parms[LINKLAYER_AT] = TC_LINKLAYER_ETHERNET;
        let narrow = u32::try_from(rate).unwrap_or(u32::MAX);
        parms[RATE_AT..RATE_AT + 4].copy_from_slice(&narrow.to_ne_bytes());
        parms[LIMIT_AT..LIMIT_AT + 4].copy_from_slice(&self.limit_bytes.to_ne_bytes());
        let mut attributes = vec![
            DefaultNla::new(TCA_TBF_PARMS, parms),
            DefaultNla::new(TCA_TBF_BURST, self.burst_bytes.to_ne_bytes().to_vec()),
        ];
        if rate > u64::from(u32::MAX) {
            attributes.push(DefaultNla::new(TCA_TBF_RATE64, rate.to_ne_bytes().to_vec()));
        }
        attributes
    }

    fn decode(options: &[u8]) -> Result<Self, DecodeError> {
        let (mut rate, mut wide_rate, mut limit, mut ticks) = (0, None, 0, 0);
        for nla in NlasIterator::new(options) {
            let nla = nla?;
            match nla.kind() {
                TCA_TBF_PARMS => {
                    rate = word(nla.value(), RATE_AT)?;
                    limit = word(nla.value(), LIMIT_AT)?;
                    ticks = word(nla.value(), BUFFER_AT)?;
                }
                TCA_TBF_RATE64 => wide_rate = Some(parse_u64(nla.value())?),
                _ => {}
            }
        }
        let rate = wide_rate.unwrap_or(u64::from(rate));
        // The kernel rounded down when it made ticks of bytes, so round up on the way back.
        let burst = (u128::from(ticks) * TICK_NS * u128::from(rate)).div_ceil(NS_PER_S);
        Ok(Self {
            rate_bits_per_s: rate.saturating_mul(8),
            burst_bytes: u32::try_from(burst).unwrap_or(u32::MAX),
            limit_bytes: limit,
        })
    }
}

fn root_of(link: &LinkInfo) -> TcMessage {
    // The kernel's own type for an index is a positive i32, so the cast loses nothing.
    let mut message = TcMessage::with_index(link.index as i32);
    message.header.parent = TcHandle::ROOT;
    message
}

/// Reads one `RTM_NEWQDISC` body, if it is of the root of that link.
fn decode_root(body: &[u8], index: u32) -> Result<Option<Shaper>, DecodeError> {
    let header = TcHeader::parse(body)?;
    if header.index != index as i32 || header.parent != TcHandle::ROOT {
        return Ok(None);
    }
    let mut shaper = Shaper {
        kind: String::new(),
        tbf: None,
        packets: 0,
        backlog_bytes: 0,
        drops: 0,
        overlimits: 0,
    };
    let mut options = None;
    for nla in NlasIterator::new(&body[header.buffer_len()..]) {
        let nla = nla?;
        match nla.kind() {
            TCA_KIND => shaper.kind = parse_string(nla.value())?,
            TCA_OPTIONS => options = Some(nla.value().to_vec()),
            TCA_STATS2 => shaper.count(nla.value())?,
            _ => {}
        }
    }
    if shaper.kind == "tbf" {
        shaper.tbf = options.map(|options| Tbf::decode(&options)).transpose()?;
    }
    Ok(Some(shaper))
}

impl Shaper {
    /// Takes packets, backlog, drops and overlimits from the statistics of a discipline.
    fn count(&mut self, statistics: &[u8]) -> Result<(), DecodeError> {
        for nla in NlasIterator::new(statistics) {
            let nla = nla?;
            match nla.kind() {
                TCA_STATS_BASIC => self.packets = word(nla.value(), PACKETS_AT)?,
                TCA_STATS_QUEUE => {
                    self.backlog_bytes = word(nla.value(), BACKLOG_AT)?;
                    self.drops = word(nla.value(), DROPS_AT)?;
                    self.overlimits = word(nla.value(), OVERLIMITS_AT)?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn word(bytes: &[u8], at: usize) -> Result<u32, DecodeError> {
    let word = bytes.get(at..at + 4);
    parse_u32(
        word.ok_or_else(|| {
            DecodeError::invalid_buffer("a queueing discipline", bytes.len(), at + 4)
        })?,
    )
}
