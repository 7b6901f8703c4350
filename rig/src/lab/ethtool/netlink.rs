//! Knows how one generic-netlink request is sent and answered; knows nothing of adapters.

use super::attribute;
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_GENERIC};
use rustix::event::{PollFd, PollFlags};
use rustix::time::Timespec;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::time::Instant;

/// Bytes of the netlink header, and of the generic header behind it.
const HEADER: usize = 16;
const GENERIC_HEADER: usize = 4;
/// Message type of an acknowledgement or refusal.
const NLMSG_ERROR: u16 = 2;
/// Flags: a request; answer with an acknowledgement; the acknowledgement carries attributes.
const NLM_F_REQUEST: u16 = 0x1;
const NLM_F_ACK: u16 = 0x4;
const NLM_F_ACK_TLVS: u16 = 0x200;
/// The attribute of an acknowledgement that says in words what was wrong.
const NLMSGERR_ATTR_MSG: u16 = 1;
/// The controller, which turns a family's name into its number.
const GENL_ID_CTRL: u16 = 0x10;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;
/// Groups that hear of what nobody asked: a list, in each a name and a number.
const CTRL_ATTR_MCAST_GROUPS: u16 = 7;
const GROUP_NAME: u16 = 1;
const GROUP_ID: u16 = 2;

/// Why a request gave no answer.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The kernel said no: its error number and, where it gave any, its words.
    Kernel { errno: i32, words: String },
    /// The socket itself failed.
    Socket(io::Error),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Socket(error)
    }
}

/// A socket bound to one family, in the network namespace of the thread that opened it.
#[derive(Debug)]
pub(super) struct Connection {
    socket: Socket,
    family: u16,
    sequence: u32,
    /// Names and numbers of the family's groups.
    groups: Vec<(String, u32)>,
}

impl Connection {
    /// Opens a socket and looks the family up; a kernel without it refuses with `ENOENT`.
    pub(super) fn open(family: &str) -> Result<Self, Refusal> {
        let mut socket = Socket::new(NETLINK_GENERIC)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        socket.set_cap_ack(true)?;
        socket.set_ext_ack(true)?;
        let mut connection = Self { socket, family: GENL_ID_CTRL, sequence: 0, groups: Vec::new() };
        let mut body = Vec::new();
        attribute::put_text(&mut body, CTRL_ATTR_FAMILY_NAME, family);
        let reply = connection.request(CTRL_CMD_GETFAMILY, &body)?;
        connection.family = attribute::find(&reply, CTRL_ATTR_FAMILY_ID)
            .and_then(|id| Some(u16::from_ne_bytes(id.try_into().ok()?)))
            .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
        let groups = attribute::find(&reply, CTRL_ATTR_MCAST_GROUPS).unwrap_or_default();
        let group = |(_, group)| {
            let name = attribute::text(attribute::find(group, GROUP_NAME)?);
            Some((name, attribute::find_u32(group, GROUP_ID)?))
        };
        connection.groups = attribute::attributes(groups).filter_map(group).collect();
        Ok(connection)
    }

    /// Hears from now on what the family tells a group.
    pub(super) fn join(&mut self, group: &str) -> Result<(), Refusal> {
        let known = self.groups.iter().find(|(name, _)| name == group);
        let (_, id) = known.ok_or_else(|| io::Error::from(io::ErrorKind::Unsupported))?;
        Ok(self.socket.add_membership(*id)?)
    }

    /// The attributes of the next message of a command that a group was told; none when there was
    /// none by then.
    pub(super) fn hear(&mut self, command: u8, until: Instant) -> Result<Option<Vec<u8>>, Refusal> {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let left = Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: i64::from(left.subsec_nanos()),
            };
            let mut polled = [PollFd::new(&self.socket, PollFlags::IN)];
            match rustix::event::poll(&mut polled, Some(&left)) {
                Ok(0) => return Ok(None),
                Err(rustix::io::Errno::INTR) => continue,
                other => other.map_err(io::Error::from)?,
            };
            let (datagram, _) = self.socket.recv_from_full()?;
            let told = messages(&datagram)
                .find(|m| m.kind == self.family && m.payload.first() == Some(&command));
            if let Some(message) = told {
                return Ok(message.payload.get(GENERIC_HEADER..).map(<[u8]>::to_vec));
            }
        }
    }

    /// Sends one command and waits for its acknowledgement; gives the attributes of the reply.
    ///
    /// The attributes are empty where the command has no reply.
    pub(super) fn request(&mut self, command: u8, body: &[u8]) -> Result<Vec<u8>, Refusal> {
        self.sequence = self.sequence.wrapping_add(1);
        self.socket.send(&self.message(command, body), 0)?;
        let mut reply = Vec::new();
        loop {
            let (datagram, _) = self.socket.recv_from_full()?;
            for message in messages(&datagram).filter(|m| m.sequence == self.sequence) {
                if message.kind == NLMSG_ERROR {
                    return acknowledged(&message).map(|()| reply);
                }
                reply = message.payload.get(GENERIC_HEADER..).unwrap_or_default().to_vec();
            }
        }
    }

    fn message(&self, command: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(HEADER + GENERIC_HEADER + body.len()).unwrap_or(u32::MAX);
        let mut out = length.to_ne_bytes().to_vec();
        out.extend_from_slice(&self.family.to_ne_bytes());
        out.extend_from_slice(&(NLM_F_REQUEST | NLM_F_ACK).to_ne_bytes());
        out.extend_from_slice(&self.sequence.to_ne_bytes());
        out.extend_from_slice(&[0; 4]);
        // Command, version 1, two reserved bytes.
        out.extend_from_slice(&[command, 1, 0, 0]);
        out.extend_from_slice(body);
        out
    }
}

impl AsRawFd for Connection {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

struct Message<'a> {
    kind: u16,
    flags: u16,
    sequence: u32,
    payload: &'a [u8],
}

/// The messages of a datagram; ends at the first that does not fit.
fn messages(mut bytes: &[u8]) -> impl Iterator<Item = Message<'_>> {
    std::iter::from_fn(move || {
        let length = u32::from_ne_bytes(bytes.get(..4)?.try_into().ok()?);
        let length = usize::try_from(length).ok()?;
        let message = Message {
            kind: u16::from_ne_bytes(bytes.get(4..6)?.try_into().ok()?),
            flags: u16::from_ne_bytes(bytes.get(6..8)?.try_into().ok()?),
            sequence: u32::from_ne_bytes(bytes.get(8..12)?.try_into().ok()?),
            payload: bytes.get(HEADER..length)?,
        };
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some(message)
    })
}

/// Bytes of the payload of each message, for the tests of this room.
#[cfg(test)]
pub(super) fn payloads(bytes: &[u8]) -> Vec<usize> {
    messages(bytes).map(|message| message.payload.len()).collect()
}

fn acknowledged(message: &Message<'_>) -> Result<(), Refusal> {
    let code = message.payload.get(..4).and_then(|code| code.try_into().ok());
    let code = code.map(i32::from_ne_bytes).ok_or(io::Error::from(io::ErrorKind::InvalidData))?;
    if code == 0 {
        return Ok(());
    }
    // The header of the refused request is repeated between the code and the attributes.
    let explained = message.flags & NLM_F_ACK_TLVS != 0;
    let words = message
        .payload
        .get(4 + HEADER..)
        .filter(|_| explained)
        .and_then(|tail| attribute::find(tail, NLMSGERR_ATTR_MSG))
        .map(attribute::text)
        .unwrap_or_default();
    Err(Refusal::Kernel { errno: -code, words })
}
