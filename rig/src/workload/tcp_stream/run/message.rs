//! Knows what the conductor and the parts of `tcp_stream` say to each other.

use super::tcp_info::TcpFacts;
use serde::{Deserialize, Serialize};
use std::net::{Ipv4Addr, SocketAddrV4};

/// Who sends on a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Direction {
    /// The system under test sends.
    Transmit,
    /// The client sends.
    Receive,
}

/// One stream as planned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamPlan {
    /// Number in this trial.
    pub id: u32,
    /// Index of the client's host.
    pub client: usize,
    /// Who sends.
    pub direction: Direction,
    /// CPU of the server's thread.
    pub server_cpu: Option<u32>,
    /// CPU of the client's thread.
    pub client_cpu: Option<u32>,
}

/// What all streams of a trial have in common.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Traffic {
    /// Key of the openings' MAC; fresh for every trial.
    pub key: [u8; 32],
    /// Name of the trial in the openings; fresh for every trial.
    pub test: [u8; 16],
    /// Seed of the content.
    pub seed: u64,
    /// Bytes a request.
    pub request_bytes: usize,
    /// Congestion control, or the kernel's own.
    pub congestion: Option<String>,
    /// Most that one stream may move, bytes.
    pub bytes_max: u64,
    /// Longest that the streams may run after go, milliseconds.
    pub run_ms_max: u64,
}

/// To a part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ToPart {
    /// Server: listen for these streams.
    Listen(Ipv4Addr, Vec<StreamPlan>, Traffic),
    /// Server: accept until all expected streams have shown their opening.
    Accept,
    /// Client: open these streams.
    Connect(SocketAddrV4, Vec<StreamPlan>, Traffic),
    /// Both: begin.
    Go,
    /// Both: tell what was received so far.
    Sample,
    /// Both: read everything at this moment of the monotonic clock, nanoseconds.
    Mark(u64),
    /// Both: senders stop now, receivers read on for this many milliseconds.
    Stop(u64),
}

/// From a part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum FromPart {
    /// Listening on this port.
    Listening(u16),
    /// All streams stand, or have begun.
    Ready,
    /// Moment and bytes received by all streams here.
    Sampled(u64, u64),
    /// Everything at a moment.
    Marked(HostMark),
    /// What each stream did in all, and openings refused.
    Stopped(Vec<StreamEnd>, u64),
}

/// One host at one edge of the window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostMark {
    /// When it was read.
    pub at_ns: u64,
    /// CPU that the host's process had used.
    pub cpu_ns: u64,
    /// Its streams.
    pub streams: Vec<StreamMark>,
}

/// One end of a stream at one edge of the window.
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
}
