//! Ethtool: an adapter's own switches and answers, over a blocking netlink socket.
//!
//! Knows: features (offloads), numbers (rings, queues, coalescing), link modes (speed), the table
//! of RSS, who drives the adapter, what it counts, and the test of its cable.
//! Gives: [`Ethtool`], which acts in the network namespace of the thread that opened it.
//! Never: which setting is better, or whether what was asked is what is (the caller compares).
//! Start reading at [`Ethtool::features`]. `unsafe` is in `driver.rs` alone.

mod attribute;
mod bitset;
mod cable;
mod driver;
mod error;
mod line;
mod netlink;
mod number;
pub mod rss;
mod statistics;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_laws;

pub use cable::{CableState, Strand};
pub use driver::DriverInfo;
pub use error::EthtoolError;
pub use line::Line;
pub use number::Number;
pub use statistics::Counters;
#[cfg(test)]
pub(crate) use statistics::tests::Simulated;

use attribute::{find, find_u32, put_nested, put_text};
use desk::unit::{Quantity, Unit};
use netlink::{Connection, Refusal};
use std::collections::BTreeSet;
use std::os::fd::AsRawFd;

/// `ETHTOOL_MSG_*` of `linux/ethtool_netlink.h`, as the other numbers below.
const LINKMODES_GET: u8 = 4;
const FEATURES_GET: u8 = 11;
const FEATURES_SET: u8 = 12;
const CHANNELS_GET: u8 = 17;

/// Every request begins with a header (attribute 1) that names the link (attribute 2 of it).
const HEADER: u16 = 1;
const HEADER_DEV_NAME: u16 = 2;
/// Attributes of the features: what can be switched, was asked for, is, and never changes.
const FEATURES_HW: u16 = 2;
const FEATURES_WANTED: u16 = 3;
const FEATURES_ACTIVE: u16 = 4;
const FEATURES_NOCHANGE: u16 = 5;
/// Attributes of the link modes.
const LINKMODES_OURS: u16 = 3;
const LINKMODES_SPEED: u16 = 5;
const LINKMODES_DUPLEX: u16 = 6;
/// Attributes of the channels.
const CHANNELS_RX_MAX: u16 = 2;
const CHANNELS_TX_MAX: u16 = 3;
const CHANNELS_COMBINED_MAX: u16 = 5;
const CHANNELS_RX: u16 = 6;
const CHANNELS_TX: u16 = 7;
const CHANNELS_COMBINED: u16 = 9;

/// One feature of an adapter, named as `ethtool -k` names it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Feature {
    /// Kernel name, for instance `tx-tcp-segmentation`.
    pub name: String,
    /// On now.
    pub active: bool,
    /// Asked for; differs from `active` where another setting rules it out.
    pub wanted: bool,
    /// Whether it can be switched at all; the others are `[fixed]`.
    pub changeable: bool,
}

/// Queues of an adapter, now and at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Channels {
    /// Receive-only queues.
    pub rx: u32,
    /// Transmit-only queues.
    pub tx: u32,
    /// Queues that do both.
    pub combined: u32,
    /// Most receive-only queues.
    pub rx_max: u32,
    /// Most transmit-only queues.
    pub tx_max: u32,
    /// Most queues that do both.
    pub combined_max: u32,
}

/// Whether both directions carry at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplex {
    /// One direction at a time.
    Half,
    /// Both at once.
    Full,
}

/// What the driver says of the line. A virtual device may say anything: veth claims 10 Gbit/s
/// whatever it carries, so believe it only of a physical adapter.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkModes {
    /// Line rate now, bit/s; absent while the link is down or where there is no line.
    pub speed_now: Option<Quantity>,
    /// Line rate of the fastest supported mode, bit/s.
    pub speed_best: Option<Quantity>,
    /// Duplex, where known.
    pub duplex: Option<Duplex>,
}

/// A connection to the adapters of one network namespace.
#[derive(Debug)]
pub struct Ethtool {
    connection: Connection,
}

impl Ethtool {
    /// Connects, in the calling thread's network namespace, and stays in it.
    ///
    /// # Errors
    /// [`EthtoolError::NoFamily`] on a kernel without it, [`EthtoolError::Socket`].
    pub fn open() -> Result<Self, EthtoolError> {
        match Connection::open("ethtool") {
            Ok(connection) => Ok(Self { connection }),
            Err(Refusal::Kernel { errno: libc::ENOENT, .. }) => Err(EthtoolError::NoFamily),
            Err(refusal) => Err(EthtoolError::of(refusal, "look up the family", "ethtool")),
        }
    }

    /// All features of a link, in the kernel's order.
    ///
    /// # Errors
    /// An unknown link, or another refusal of the kernel.
    pub fn features(&mut self, name: &str) -> Result<Vec<Feature>, EthtoolError> {
        let reply = self.ask(FEATURES_GET, "read the features", name)?;
        let bits = |kind| bitset::read(find(&reply, kind).unwrap_or_default());
        let set = |kind| -> BTreeSet<String> {
            bits(kind).into_iter().filter(|(_, value)| *value).map(|(name, _)| name).collect()
        };
        let wanted = set(FEATURES_WANTED);
        let active = set(FEATURES_ACTIVE);
        let fixed = set(FEATURES_NOCHANGE);
        // Only the set of what the hardware can switch lists every feature there is.
        let features = bits(FEATURES_HW).into_iter().map(|(name, switchable)| Feature {
            active: active.contains(&name),
            wanted: wanted.contains(&name),
            changeable: switchable && !fixed.contains(&name),
            name,
        });
        Ok(features.collect())
    }

    /// Asks for features to be on or off, and gives all features as they then are.
    ///
    /// The kernel grants what it can and says nothing of the rest: switching checksums off drags
    /// segmentation off with it, and a `[fixed]` feature stays. Compare before believing.
    ///
    /// # Errors
    /// A feature the kernel does not know is [`EthtoolError::NotSupported`] and nothing is
    /// changed; missing permission; an unknown link.
    pub fn set_features(
        &mut self,
        name: &str,
        wanted: &[(String, bool)],
    ) -> Result<Vec<Feature>, EthtoolError> {
        let known = self.features(name)?;
        if let Some((unknown, _)) = wanted.iter().find(|(w, _)| known.iter().all(|k| k.name != *w))
        {
            let op = format!("switch the feature {unknown}");
            return Err(EthtoolError::NotSupported { op, name: name.into() });
        }
        let mut body = header(name);
        put_nested(&mut body, FEATURES_WANTED, &bitset::write(wanted));
        let sent = self.connection.request(FEATURES_SET, &body);
        sent.map_err(|refusal| EthtoolError::of(refusal, "set the features", name))?;
        self.features(name)
    }

    /// Queues of a link; `None` where the driver does not say.
    ///
    /// # Errors
    /// An unknown link, or another refusal of the kernel.
    pub fn channels(&mut self, name: &str) -> Result<Option<Channels>, EthtoolError> {
        let Some(reply) = optional(self.ask(CHANNELS_GET, "read the channels", name))? else {
            return Ok(None);
        };
        let count = |kind| find_u32(&reply, kind).unwrap_or(0);
        Ok(Some(Channels {
            rx_max: count(CHANNELS_RX_MAX),
            tx_max: count(CHANNELS_TX_MAX),
            combined_max: count(CHANNELS_COMBINED_MAX),
            rx: count(CHANNELS_RX),
            tx: count(CHANNELS_TX),
            combined: count(CHANNELS_COMBINED),
        }))
    }

    /// Line rate and duplex as the driver says them; all absent where it says nothing.
    ///
    /// # Errors
    /// An unknown link, or another refusal of the kernel.
    pub fn link_modes(&mut self, name: &str) -> Result<LinkModes, EthtoolError> {
        let Some(reply) = optional(self.ask(LINKMODES_GET, "read the link modes", name))? else {
            return Ok(LinkModes::default());
        };
        // Every mode in the mask is supported; its value says only whether it is advertised.
        let supported = bitset::read(find(&reply, LINKMODES_OURS).unwrap_or_default());
        let fastest = supported.iter().filter_map(|(mode, _)| mode_speed(mode)).max();
        Ok(LinkModes {
            speed_now: find_u32(&reply, LINKMODES_SPEED).and_then(line_rate),
            speed_best: fastest.and_then(line_rate),
            duplex: find(&reply, LINKMODES_DUPLEX).and_then(|value| match value {
                [0] => Some(Duplex::Half),
                [1] => Some(Duplex::Full),
                _ => None,
            }),
        })
    }

    /// Who drives a link; `None` where the driver does not say.
    ///
    /// # Errors
    /// An unknown link, or another refusal of the kernel.
    pub fn driver_info(&mut self, name: &str) -> Result<Option<DriverInfo>, EthtoolError> {
        plausible(name)?;
        // Any socket carries the ioctl; this one is bound to the right namespace already.
        let answer = driver::ask(self.connection.as_raw_fd(), name);
        optional(answer.map_err(|refusal| EthtoolError::of(refusal, "read the driver", name)))
    }

    fn ask(&mut self, command: u8, op: &str, name: &str) -> Result<Vec<u8>, EthtoolError> {
        plausible(name)?;
        let reply = self.connection.request(command, &header(name));
        reply.map_err(|refusal| EthtoolError::of(refusal, op, name))
    }
}

fn header(name: &str) -> Vec<u8> {
    let mut device = Vec::new();
    put_text(&mut device, HEADER_DEV_NAME, name);
    let mut body = Vec::new();
    put_nested(&mut body, HEADER, &device);
    body
}

/// Refuses a name that no link can have, which the kernel would call an invalid argument.
fn plausible(name: &str) -> Result<(), EthtoolError> {
    if name.is_empty() || name.len() >= libc::IFNAMSIZ {
        return Err(EthtoolError::NoSuchLink { name: name.into() });
    }
    Ok(())
}

/// Turns "not supported" into an absent answer.
fn optional<T>(answer: Result<T, EthtoolError>) -> Result<Option<T>, EthtoolError> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(EthtoolError::NotSupported { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Mbit/s as a quantity; 0 and -1 (as the largest number) mean unknown.
fn line_rate(megabits: u32) -> Option<Quantity> {
    let known = megabits > 0 && i32::try_from(megabits).is_ok();
    known.then(|| Quantity::new(f64::from(megabits) * 1e6, Unit::BitPerSecond))
}

/// The speed of a mode, Mbit/s, from its name: `25000baseCR/Full` is 25,000.
fn mode_speed(mode: &str) -> Option<u32> {
    mode.split_once("base")?.0.parse().ok()
}
