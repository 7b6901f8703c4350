//! Knows what is said between the conductor and a host, and how it is framed: a length and JSON.
//!
//! Must not know what a workload's own messages mean; they travel as JSON values.

use super::adapter_file::AdapterFile;
use super::ethtool::{Feature, Line, Number};
use super::filter::Filter;
use super::link::{Bonded, Bonding, Cipher, LinkInfo, Protection, SECRET, Shaper, Tbf};
use super::logs::Log;
use super::relay::{RelayRequest, Told};
use desk::record::LabKind;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr};

/// Longest message either side accepts, bytes.
const MESSAGE_MAX: u32 = 16 << 20;

/// What a host may be asked. There is no shell, and no path but below `/proc/sys/net`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Request {
    /// First of all: enter the place where this host lives.
    Enter {
        /// Version of who asks; another than the host's is refused.
        version: String,
        /// Kind of place.
        kind: LabKind,
        /// Name of its namespace as root; empty for none.
        name: String,
        /// Process whose user namespace is joined; none makes a new one.
        join: Option<u32>,
    },
    /// The host is the machine itself: this adapter of it is the lab's.
    Take(String),
    /// Do these link operations in order; the first failure ends the list.
    Links(Vec<LinkRequest>),
    /// Be a relay, or tell as one.
    Relay(RelayRequest),
    /// Give the logs of programs that have failed since the last request for them.
    Logs,
    /// A message for a workload's part on this host.
    Work {
        /// The workload.
        workload: String,
        /// Its own message.
        body: serde_json::Value,
    },
}

/// One operation on the links or the network settings of a host.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum LinkRequest {
    /// Make a bridge.
    AddBridge(String),
    /// Make a pair: name here, name there, process in whose namespace the other end is born.
    AddVeth(String, String, u32),
    /// Make a link on another: name of that one, name there, process in whose namespace it is born.
    AddMacvlan(String, String, u32),
    /// Bring up.
    Up(String),
    /// Put under a bridge.
    Master(String, String),
    /// Give an address and prefix length.
    Address(String, IpAddr, u8),
    /// Reach a network of an address and prefix length by way of a neighbour.
    Route(IpAddr, u8, IpAddr),
    /// Tell how many packets of IPv4 and of IPv6 the host has received.
    Received,
    /// Tell whether an interface has an address of IPv6 that a load may go to.
    HasSixth(String),
    /// Set the MTU, bytes.
    SetMtu(String, u32),
    /// Tell all about a link.
    Info(String),
    /// Tell the offloads of a link.
    Features(String),
    /// Switch offloads of a link.
    SetFeatures(String, Vec<(String, bool)>),
    /// Tell a number of an adapter.
    Number(String, Number),
    /// Set a number of an adapter.
    SetNumber(String, Number, u32),
    /// Tell at which speed a line runs, and what decides it.
    Line(String),
    /// Set it, and wait for it.
    SetLine(String, Line),
    /// Tell the table of RSS of an adapter.
    RssTable(String),
    /// Set it.
    SetRssTable(String, Vec<u32>),
    /// Read a file of an adapter, or that of each of its queues.
    Files(String, AdapterFile),
    /// Write a text to each of them, or one to all.
    SetFiles(String, AdapterFile, Vec<String>),
    /// Shape the egress of a link.
    SetTbf(String, Tbf),
    /// Tell the shaper of a link.
    Tbf(String),
    /// Tell the shaper of a link, with what it has counted.
    Shaper(String),
    /// Remove the shaper of a link.
    ClearQdisc(String),
    /// Tell in which VLAN the addresses of a link are.
    Vlan(String),
    /// Move them to a VLAN, or out of it.
    SetVlan(String, Option<u16>),
    /// Tell what two adapters are together.
    Bonded(String, String),
    /// Make a bond of them, or take it apart.
    SetBonding(String, String, Option<Bonding>),
    /// Tell what protects all between an address of the host and others.
    Protection(Ipv4Addr, Vec<Ipv4Addr>),
    /// Protect it by a cipher and a secret that all have, or no longer.
    Protect(Ipv4Addr, Vec<Ipv4Addr>, Option<(Cipher, [u8; SECRET])>),
    /// Tell how many rules a packet filter of the host has.
    Filter(Filter),
    /// Give it so many; none removes it.
    SetFilter(Filter, u32),
    /// Read a kernel setting of the host, a path below `/proc/sys/net`.
    Setting(String),
    /// Write a kernel setting of the host.
    SetSetting(String, String),
    /// Write a kernel setting of the host unless this kernel has no such setting.
    SetSettingIfThere(String, String),
}

impl LinkRequest {
    /// The link that is read or changed; none for what makes links, for settings of the kernel and
    /// for what protects paths.
    #[must_use]
    pub fn of(&self) -> Option<&str> {
        match self {
            Self::Up(name)
            | Self::Address(name, ..)
            | Self::SetMtu(name, _)
            | Self::Info(name)
            | Self::Features(name)
            | Self::SetFeatures(name, _)
            | Self::Number(name, _)
            | Self::SetNumber(name, ..)
            | Self::Line(name)
            | Self::SetLine(name, _)
            | Self::RssTable(name)
            | Self::SetRssTable(name, _)
            | Self::Files(name, _)
            | Self::SetFiles(name, ..)
            | Self::SetTbf(name, _)
            | Self::Tbf(name)
            | Self::Shaper(name)
            | Self::Vlan(name)
            | Self::ClearQdisc(name) => Some(name),
            _ => None,
        }
    }
}

/// What a link operation gives.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum LinkAnswer {
    /// Nothing but success.
    Done,
    /// All about a link.
    Info(Box<LinkInfo>),
    /// Offloads as they are now.
    Features(Vec<Feature>),
    /// A number of an adapter; none where its driver does not have it.
    Number(Option<u32>),
    /// How a line runs; none where the adapter has no modes.
    Line(Option<Line>),
    /// The queue of every entry of the table; none where the adapter has no table.
    RssTable(Option<Vec<u32>>),
    /// The text of each file; none where the adapter has no such file.
    Files(Option<Vec<String>>),
    /// The shaper, if there is one.
    Tbf(Option<Tbf>),
    /// The shaper with its counts, if there is one.
    Shaper(Option<Shaper>),
    /// The VLAN that the addresses of a link are in; none where they are in none.
    Vlan(Option<u16>),
    /// What two adapters are together.
    Bonded(Bonded),
    /// What protects all between an address and others.
    Protection(Ipv4Addr, Vec<Ipv4Addr>, Protection),
    /// Rules of a packet filter.
    Filter(u32),
    /// A kernel setting.
    Setting(String),
    /// Packets of IPv4 and of IPv6.
    Received([u64; 2]),
    /// Whether there is such an address.
    HasSixth(bool),
}

/// What a host answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Answer {
    /// Nothing but success.
    Done,
    /// One answer a link operation.
    Links(Vec<LinkAnswer>),
    /// What the relay tells.
    Relay(Box<Told>),
    /// Logs of programs that have failed.
    Logs(Vec<Log>),
    /// The workload's own answer.
    Work(serde_json::Value),
    /// It did not work, and why.
    Refused(String),
}

/// Writes one message.
///
/// # Errors
/// When the other end is gone or the message is too long.
pub fn send<T: Serialize>(to: &mut impl Write, message: &T) -> io::Result<()> {
    pass(to, &serde_json::to_vec(message)?)
}

/// Writes one message as it was read.
///
/// # Errors
/// As [`send`].
pub fn pass(to: &mut impl Write, body: &[u8]) -> io::Result<()> {
    let length = u32::try_from(body.len()).ok().filter(|l| *l <= MESSAGE_MAX).ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidInput, format!("message of {} B", body.len()))
    })?;
    let mut frame = length.to_le_bytes().to_vec();
    frame.extend_from_slice(body);
    to.write_all(&frame)
}

/// Reads one message; blocks as long as the stream does.
///
/// # Errors
/// End of stream, a message that is too long or not of this shape.
pub fn receive<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<T> {
    Ok(serde_json::from_slice(&take(from)?)?)
}

/// Reads one message without looking at it.
///
/// # Errors
/// End of stream, a message that is too long.
pub fn take(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if length > MESSAGE_MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("message of {length} B")));
    }
    let mut body = vec![0; length as usize];
    from.read_exact(&mut body)?;
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn request() -> impl Strategy<Value = Request> {
        let link = prop_oneof![
            any::<String>().prop_map(LinkRequest::Up),
            (any::<String>(), any::<u32>()).prop_map(|(name, mtu)| LinkRequest::SetMtu(name, mtu)),
            (any::<String>(), any::<IpAddr>(), any::<u8>())
                .prop_map(|(name, ip, bits)| LinkRequest::Address(name, ip, bits)),
            (any::<String>(), proptest::collection::vec((any::<String>(), any::<bool>()), 0..4))
                .prop_map(|(name, bits)| LinkRequest::SetFeatures(name, bits)),
        ];
        prop_oneof![
            (any::<String>(), proptest::option::of(any::<u32>())).prop_map(|(name, join)| {
                let (version, kind) =
                    (join.map_or_else(String::new, |n| n.to_string()), LabKind::Loopback);
                Request::Enter { version, kind, name, join }
            }),
            proptest::collection::vec(link, 0..6).prop_map(Request::Links),
            (any::<String>(), any::<i64>()).prop_map(|(workload, number)| {
                Request::Work { body: serde_json::json!({ &workload: [number] }), workload }
            }),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::with_cases(256)
        })]

        #[test]
        fn messages_come_whole_and_one_after_the_other(
            all in proptest::collection::vec(request(), 0..5),
        ) {
            let mut pipe = Vec::new();
            for request in &all {
                send(&mut pipe, request).unwrap();
            }
            let mut from = pipe.as_slice();
            for request in &all {
                let back: Request = receive(&mut from).unwrap();
                prop_assert_eq!(format!("{back:?}"), format!("{request:?}"));
            }
            let end = receive::<Request>(&mut from).unwrap_err();
            prop_assert_eq!(end.kind(), io::ErrorKind::UnexpectedEof);
        }

        #[test]
        fn no_bytes_are_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            prop_assert!(receive::<Request>(&mut bytes.as_slice()).is_err());
        }
    }
}
