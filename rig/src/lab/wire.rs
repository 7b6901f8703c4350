//! Knows what is said between the conductor and a host, and how it is framed: a length and JSON.
//!
//! Must not know what a workload's own messages mean; they travel as JSON values.

use super::ethtool::Feature;
use super::link::{LinkInfo, Shaper, Tbf};
use desk::record::LabKind;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::net::Ipv4Addr;

/// Longest message either side accepts, bytes.
const MESSAGE_MAX: u32 = 16 << 20;

/// What a host may be asked. There is no shell and no path outside `/proc/sys/net`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Request {
    /// First of all: enter the place where this host lives.
    Enter {
        /// Kind of place.
        kind: LabKind,
        /// Name of its namespace as root; empty for none.
        name: String,
        /// Process whose user namespace is joined; none makes a new one.
        join: Option<u32>,
    },
    /// Do these link operations in order; the first failure ends the list.
    Links(Vec<LinkRequest>),
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
    /// Bring up.
    Up(String),
    /// Put under a bridge.
    Master(String, String),
    /// Give an address and prefix length.
    Address(String, Ipv4Addr, u8),
    /// Set the MTU, bytes.
    SetMtu(String, u32),
    /// Tell all about a link.
    Info(String),
    /// Tell the offloads of a link.
    Features(String),
    /// Switch offloads of a link.
    SetFeatures(String, Vec<(String, bool)>),
    /// Shape the egress of a link.
    SetTbf(String, Tbf),
    /// Tell the shaper of a link.
    Tbf(String),
    /// Tell the shaper of a link, with what it has counted.
    Shaper(String),
    /// Remove the shaper of a link.
    ClearQdisc(String),
    /// Read a kernel setting of the host, a path below `/proc/sys/net`.
    Setting(String),
    /// Write a kernel setting of the host.
    SetSetting(String, String),
    /// Write a kernel setting of the host unless this kernel has no such setting.
    SetSettingIfThere(String, String),
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
    /// The shaper, if there is one.
    Tbf(Option<Tbf>),
    /// The shaper with its counts, if there is one.
    Shaper(Option<Shaper>),
    /// A kernel setting.
    Setting(String),
}

/// What a host answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Answer {
    /// Nothing but success.
    Done,
    /// One answer a link operation.
    Links(Vec<LinkAnswer>),
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
    let body = serde_json::to_vec(message)?;
    let length = u32::try_from(body.len()).ok().filter(|l| *l <= MESSAGE_MAX).ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidInput, format!("message of {} B", body.len()))
    })?;
    let mut frame = length.to_le_bytes().to_vec();
    frame.extend_from_slice(&body);
    to.write_all(&frame)
}

/// Reads one message; blocks as long as the stream does.
///
/// # Errors
/// End of stream, a message that is too long or not of this shape.
pub fn receive<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<T> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if length > MESSAGE_MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("message of {length} B")));
    }
    let mut body = vec![0; length as usize];
    from.read_exact(&mut body)?;
    Ok(serde_json::from_slice(&body)?)
}
