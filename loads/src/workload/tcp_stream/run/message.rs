//! Knows what the conductor and the parts of `tcp_stream` say to each other.

use crate::engine::net::schedule::{Pace, PaceMark};
use crate::engine::net::stage;
use crate::engine::net::{At, Buffers, Secret, TcpFacts, ThreadMark};
use rig::lab::link::Wrapping;
use serde::{Deserialize, Serialize};

/// How requests become system calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Engine {
    /// One call a request, at either end.
    Sys,
    /// Many requests a sending call; the receiver takes whatever has come.
    Batch,
}

/// How the bytes of a call get to the socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sender {
    /// The kernel copies them.
    #[default]
    Write,
    /// Their pages are mapped into a pipe, and moved from there (vmsplice, splice).
    Splice,
    /// The kernel sends from their pages, where it can (`MSG_ZEROCOPY`).
    ZeroCopy,
    /// A ring for each stream (`io_uring`).
    Uring,
}

/// How bytes leave the socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Receiver {
    /// The kernel copies them into a buffer.
    #[default]
    Copy,
    /// They are skipped (`MSG_TRUNC`).
    Trunc,
    /// Their pages are moved through a pipe, and dropped (splice).
    Splice,
    /// A ring for each stream copies them into buffers that it was lent (`io_uring`).
    Uring,
}

impl Sender {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Write, Self::Splice, Self::ZeroCopy, Self::Uring];

    /// Its word in a plan.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Splice => "splice",
            Self::ZeroCopy => "zerocopy",
            Self::Uring => "uring",
        }
    }

    /// Whether the kernel reads the bytes after the call has returned.
    pub const fn lends(self) -> bool {
        matches!(self, Self::Splice | Self::ZeroCopy)
    }
}

impl Receiver {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Copy, Self::Trunc, Self::Splice, Self::Uring];

    /// Its word in a plan.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::Trunc => "trunc",
            Self::Splice => "splice",
            Self::Uring => "uring",
        }
    }

    /// Whether each byte is copied to the receiving application.
    pub const fn copies(self) -> bool {
        matches!(self, Self::Copy | Self::Uring)
    }
}

/// What all streams of a trial have in common.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Traffic {
    /// What the connections prove themselves with.
    pub secret: Secret,
    /// Seed of the content.
    pub seed: u64,
    /// Link that carries the traffic, by its name on every host.
    pub interface: String,
    /// How requests become system calls.
    pub engine: Engine,
    /// How the bytes of a call get to the socket.
    pub sender: Sender,
    /// How bytes leave it.
    pub receiver: Receiver,
    /// Bytes a request.
    pub request_bytes: usize,
    /// Requests of one sending call; 1 with [`Engine::Sys`].
    pub call_requests: usize,
    /// Bytes that a receiver asks for at once.
    pub read_bytes: usize,
    /// Whether caches cannot hold what is sent and received.
    pub cold: bool,
    /// The schedule of sending, or as fast as it goes.
    pub pace: Option<Pace>,
    /// Congestion control, or the kernel's own.
    pub congestion: Option<String>,
    /// Most that one stream may move, bytes.
    pub bytes_max: u64,
    /// Longest that the streams may run after go, milliseconds.
    pub run_ms_max: u64,
}

/// To a part, while the trial is staged.
pub type ToPart = stage::ToPart<Traffic>;
/// From a part, while the trial is staged.
pub type FromPart = stage::FromPart<HostMark>;

/// One host at one moment: an edge of the window, before go, or after the end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostMark {
    /// When it was read.
    pub at_ns: u64,
    /// Time from the first byte count to the last, nanoseconds.
    pub took_ns: u64,
    /// The interface that carries the traffic.
    pub interface: InterfaceMark,
    /// CPU that the host's process had used.
    pub cpu_ns: u64,
    /// Buffers that its ends of streams use.
    pub buffers: Buffers,
    /// Its streams.
    pub streams: Vec<StreamMark>,
}

impl At for HostMark {
    fn at_ns(&mut self) -> &mut u64 {
        &mut self.at_ns
    }
}

/// What an interface had received, by its 64-bit counters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterfaceMark {
    /// Its name.
    pub name: String,
    /// Bytes received, with the headers of its packets.
    pub rx_bytes: u64,
    /// Packets received, as it counts them: one, where a packet is handed over before segmentation.
    pub rx_packets: u64,
    /// What is around its packets besides their headers.
    #[serde(default)]
    pub wrapping: Wrapping,
}

/// One end of a stream at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StreamMark {
    /// Number of the stream.
    pub id: u32,
    /// Whether this end sends.
    pub sends: bool,
    /// Payload bytes sent or received by the application.
    pub bytes: u64,
    /// Congestion control read back.
    pub congestion: String,
    /// The kernel's own counts.
    pub tcp: TcpFacts,
    /// Bytes that lie in the receive queue.
    pub queued: u64,
    /// Its thread, where the kernel tells.
    pub thread: Option<ThreadMark>,
    /// Its schedule, if it sends on one.
    pub pace: Option<PaceMark>,
}

/// One end of a stream over the whole trial.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamEnd {
    /// Number of the stream.
    pub id: u32,
    /// Whether this end sent.
    pub sends: bool,
    /// Payload bytes sent or received by the application.
    pub bytes: u64,
    /// Places where content was compared.
    pub checks: u64,
    /// A receiver that saw the sender's end of stream.
    pub complete: bool,
    /// What went wrong.
    pub error: Option<String>,
    /// Sends without a copy that the kernel completed, and those of them that it copied all the
    /// same; 0 of other senders.
    pub zero_copy: [u64; 2],
    /// Of a sender's content; none of a receiver or in a simulated lab.
    pub digest: Option<u64>,
}
