//! Knows what the conductor and the parts of `tcp_stream` say to each other.

use crate::engine::net::schedule::{Pace, PaceMark};
use crate::engine::net::stage;
use crate::engine::net::{At, Secret, TcpFacts, ThreadMark};
use serde::{Deserialize, Serialize};

/// How requests become system calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Engine {
    /// One call a request, at either end.
    Sys,
    /// Many requests a sending call; the receiver takes whatever has come.
    Batch,
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
    /// Bytes a request.
    pub request_bytes: usize,
    /// Requests of one sending call; 1 with [`Engine::Sys`].
    pub call_requests: usize,
    /// Bytes that a receiver asks for at once.
    pub read_bytes: usize,
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
    /// The most that the kernel lets receive and send buffers grow to, bytes: the last fields of
    /// `tcp_rmem` and `tcp_wmem`. 0 where it does not tell.
    pub buffer_most: [u64; 2],
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
    /// Send buffer in force of an end that sends, receive buffer of one that receives, bytes.
    pub buffer: u64,
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
    /// Of a sender's content; none of a receiver or in a simulated lab.
    pub digest: Option<u64>,
}
