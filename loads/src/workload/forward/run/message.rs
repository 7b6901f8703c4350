//! Knows what the conductor and the parts of `forward` say to each other.

use super::counts::{Counts, Forwarded, Ticks};
use crate::engine::net::At;
use crate::engine::packet::live::bridge::pair::Plants;
use crate::engine::packet::live::near_rules::NearRules;
use crate::engine::packet::live::sockets::Kind;
use crate::engine::packet::live::{Layout, Pattern, Sent, Sizes, Varied};
use crate::engine::packet::wanted::Wanted;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// What all streams of a trial have in common; each client has one in each direction.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Traffic {
    /// Key of the tags.
    pub key: u64,
    /// Seed of flows and content.
    pub seed: u64,
    /// How long frames are.
    pub sizes: Sizes,
    /// Where things stand in it.
    pub layout: Layout,
    /// Addresses and classes of their frames.
    pub varied: Varied,
    /// Flows of each stream.
    pub flows: u32,
    /// Their order.
    pub pattern: Pattern,
    /// The socket that sends them; none where the kernel makes them.
    pub socket: Option<Kind>,
    /// Time between two frames of a stream, nanoseconds, or as fast as it goes.
    pub interval_ns: Option<f64>,
    /// Frames of all streams together from the opening of the window on; none where they are
    /// endless.
    pub burst: Option<u32>,
    /// Streams of the trial.
    pub streams: u32,
    /// Longest that a stream may run after go, milliseconds.
    pub run_ms_max: u64,
}

/// Of so many frames of streams that take turns, those of one stream.
#[must_use]
pub fn share(frames: u32, (stream, streams): (u32, u32)) -> u32 {
    let before = streams.saturating_sub(1).saturating_sub(stream);
    (frames.saturating_add(before)) / streams.max(1)
}

/// A stream as its host sends it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Aim {
    /// Adapter by which it leaves.
    pub adapter: String,
    /// Address of the sink.
    pub target: IpAddr,
    /// Number of the stream.
    pub stream: u8,
    /// Share of an interval after which its first frame is due, so that streams take turns.
    pub turn: f64,
    /// CPU of its thread.
    pub cpu: u32,
}

/// What frames a host between the ends has to take.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Taking {
    /// Whether the kernel sends them without a copy.
    pub live: bool,
    /// Whether they have the tag of a VLAN.
    pub tagged: bool,
}

/// What joins the ports of a switch in place of the kernel's bridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FastPath {
    /// A program of XDP at both ports.
    Program,
    /// A process, by sockets of AF_XDP.
    Process,
}

/// What joins the ports of a switch, and what it does with frames.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Joining {
    /// Its list of rules.
    pub near: NearRules,
    /// What it is.
    pub by: FastPath,
    /// Services of a process beside the rules.
    pub wanted: Wanted,
    /// Limits of a process.
    pub plants: Plants,
}

/// To a part, while the trial is staged and after it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ToPart {
    /// Between the ends: tell what is forwarded, and take such frames.
    Take(Taking),
    /// Between the ends: forward by this instead of the kernel.
    Join(Joining),
    /// Where frames arrive: count at this adapter.
    Sink(String, Traffic),
    /// Where frames leave: find the ways and load the programs.
    Aim(Vec<Aim>, Traffic),
    /// Where frames leave: tell how fast and how late they are with nothing between.
    Alone,
    /// Any: tell all counters, and where a sink is, times as well if so asked.
    Count(bool),
    /// Any: detach everything.
    Leave,
}

/// A sender and a sink with nothing between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Alone {
    /// Frames a second of a stream that waits for no moment.
    pub rate: f64,
    /// Median latency of its frames as the trial sends them, seconds; none where none had a stamp.
    pub latency: Option<f64>,
}

/// From a part, while the trial is staged and after it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum FromPart {
    /// Done.
    Ready,
    /// This kernel or user cannot.
    Lacks(String),
    /// Counters.
    Counted(Box<Counts>),
    /// The tester alone.
    Alone(Alone),
}

/// One host at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostMark {
    /// When it was read.
    pub at_ns: u64,
    /// Time from the first count to the last, nanoseconds.
    pub took_ns: u64,
    /// CPU that the host's process had used.
    pub cpu_ns: u64,
    /// Frames that came of each stream, at the sink.
    pub came: Vec<u64>,
    /// Bytes of these frames with their check sequences.
    pub bytes: Vec<u64>,
    /// Time of the CPU of each thread that sends, by the number of its stream.
    pub ticks: Vec<(u8, Ticks)>,
    /// What a host between the ends has forwarded, by its own counters.
    pub forwarded: Option<Forwarded>,
}

impl At for HostMark {
    fn at_ns(&mut self) -> &mut u64 {
        &mut self.at_ns
    }
}

/// A stream at its sender over the whole trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StreamEnd {
    /// Its number.
    pub stream: u8,
    /// What was sent and what was not.
    pub sent: Sent,
    /// Of its flows and content.
    pub digest: u64,
    /// What went wrong.
    pub error: Option<String>,
}
