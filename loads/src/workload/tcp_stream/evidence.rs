//! Knows all that was read of a trial, and how to find one thing in it.
//!
//! Must not know what is right; `check.rs` says that.

use super::run::{HostMark, StreamEnd, StreamMark};
use crate::engine::net::streams::StreamPlan;
use desk::record::{Settings, Value};

/// All that was read of a trial.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// Names of the hosts that took part, the system under test first.
    pub host_names: Vec<String>,
    /// Parameters asked.
    pub asked: Settings,
    /// Requests of one sending call as it was really made.
    pub call_requests: u64,
    /// Bytes that a receiver asked for at once.
    pub read_bytes: u64,
    /// Bytes of the header of IP in each packet.
    pub ip_header: f64,
    /// Streams as planned.
    pub streams: Vec<StreamPlan>,
    /// Every host when all streams stood and nothing was sent.
    pub before: Vec<HostMark>,
    /// Every host when the window opened.
    pub opened: Vec<HostMark>,
    /// Every host when the window closed.
    pub closed: Vec<HostMark>,
    /// Every host after its streams had ended.
    pub after: Vec<HostMark>,
    /// Bytes received by every host, in steps from the opening to the close.
    pub course: Vec<Vec<u64>>,
    /// Announced edges, nanoseconds.
    pub window_ns: (u64, u64),
    /// Time from go to the opening, nanoseconds.
    pub settle_ns: u64,
    /// How long after the announced moment every host went, nanoseconds.
    pub late_ns: Vec<u64>,
    /// Whether the rate was level then.
    pub steady: bool,
    /// Every stream end over the whole trial, a list a host.
    pub ends: Vec<Vec<StreamEnd>>,
    /// Openings that were refused.
    pub refused: u64,
}

impl Evidence {
    /// Bytes of a request, 1 or more.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 B to 1 MiB")]
    pub fn request_bytes(&self) -> u64 {
        let request = self.asked.get("request_size").and_then(Value::quantity);
        request.map_or(1, |q| (q.value as u64).max(1))
    }

    /// Sends without a copy that the kernel completed in the whole trial, and those of them that it
    /// copied all the same.
    pub fn zero_copy(&self) -> [u64; 2] {
        let ends = || self.ends.iter().flatten();
        [0, 1].map(|of| ends().map(|end| end.zero_copy[of]).sum())
    }

    /// What a stream is called.
    pub fn name(&self, plan: &StreamPlan) -> String {
        plan.name(&self.host_names)
    }
}

/// One end of a stream at one moment, sending or receiving, with the moment of its reading.
pub fn end_at(marks: &[HostMark], id: u32, sends: bool) -> Option<(&StreamMark, u64)> {
    marks.iter().find_map(|mark| {
        let found = mark.streams.iter().find(|s| s.id == id && s.sends == sends);
        found.map(|stream| (stream, mark.at_ns))
    })
}
