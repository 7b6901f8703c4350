//! Knows what the conductor and the parts of `udp_stream` say to each other.

use crate::engine::net::datagram::UdpCounts;
use crate::engine::net::schedule::{Pace, PaceMark};
use crate::engine::net::stage;
use crate::engine::net::{At, Secret, ThreadMark};
use desk::record::Distribution;
use serde::{Deserialize, Serialize};

/// How datagrams become system calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Engine {
    /// One call a datagram, at either end.
    Call,
    /// Many datagrams a call: `sendmmsg`, `recvmmsg`.
    Batch,
    /// Many datagrams a call, which the kernel cuts and merges: `UDP_SEGMENT`, `UDP_GRO`.
    Segment,
}

/// What all streams of a trial have in common.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Traffic {
    /// What connections and datagrams prove themselves with.
    pub secret: Secret,
    /// Seed of the content.
    pub seed: u64,
    /// How datagrams become system calls.
    pub engine: Engine,
    /// Payload bytes of a datagram.
    pub datagram: usize,
    /// Datagrams of one call; 1 with [`Engine::Call`].
    pub depth: usize,
    /// The schedule of sending, or as fast as it goes.
    pub pace: Option<Pace>,
    /// Bytes that receiving sockets ask for, or the kernel's own.
    pub socket_buffer: Option<usize>,
    /// Most that one stream may send, datagrams.
    pub most: u64,
    /// Longest that the streams may run after go, milliseconds.
    pub run_ms_max: u64,
}

/// To a part, while the trial is staged.
pub type ToPart = stage::ToPart<Traffic>;
/// From a part, while the trial is staged.
pub type FromPart = stage::FromPart<()>;

/// One host at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostMark {
    /// When it was read.
    pub at_ns: u64,
    /// Time from the first count to the last, nanoseconds.
    pub took_ns: u64,
    /// CPU that the host's process had used.
    pub cpu_ns: u64,
    /// What its kernel counts of all its datagrams.
    pub kernel: UdpCounts,
    /// Its streams.
    pub streams: Vec<StreamMark>,
}

impl At for HostMark {
    fn at_ns(&mut self) -> &mut u64 {
        &mut self.at_ns
    }
}

/// One end of a stream at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StreamMark {
    /// Number of the stream.
    pub id: u32,
    /// Datagrams sent, or received for the first time.
    pub moved: u64,
    /// What the kernel dropped at its socket.
    pub dropped: u64,
    /// Its receive buffer, bytes.
    pub buffer: u64,
    /// Its thread, where the kernel tells.
    pub thread: Option<ThreadMark>,
    /// Its schedule, if it sends on one.
    pub pace: Option<PaceMark>,
}

/// One end of a stream over the whole trial.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StreamEnd {
    /// Number of the stream.
    pub id: u32,
    /// Whether this end sent.
    pub sends: bool,
    /// Datagrams sent, or received for the first time.
    pub moved: u64,
    /// Those of them that were sent in the window.
    pub counted: u64,
    /// Of these, those that came after one that was sent later (RFC 4737).
    pub reordered: u64,
    /// Datagrams of the window that came again.
    pub duplicates: u64,
    /// Datagrams that came too late to tell whether they came again.
    pub stale: u64,
    /// Datagrams that are not of this trial.
    pub foreign: u64,
    /// Mean of the interarrival jitter over the window, nanoseconds (RFC 3550).
    pub jitter_ns: f64,
    /// One-way delay of datagrams of the window, by the clocks of both hosts.
    pub delay: Option<Distribution>,
    /// What the kernel dropped at the socket.
    pub dropped: u64,
    /// What went wrong.
    pub error: Option<String>,
    /// Of a sender's content; none of a receiver.
    pub digest: Option<u64>,
}
