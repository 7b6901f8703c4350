//! Knows the limits that a physics plants in the box between the links of a simulated lab.
//!
//! Must not know frames, nor which load makes them.

use super::field::{bytes, rate_or_none, seconds, share};
use serde::Deserialize;

/// A box that forwards frames, and the tester before it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// Frames that a client sends in a second at the most.
    pub tester: f64,
    /// Frames that the core forwards in a second.
    pub capacity: f64,
    /// Frames that wait for the core or are with it, 1 to 65,536; what comes beyond is dropped.
    pub buffer: u32,
    /// Bits per second of the line of each port; none: it holds nothing down.
    #[serde(deserialize_with = "rate_or_none")]
    pub line: Option<f64>,
    /// Stalls of the core in a second, on average.
    pub stalls: f64,
    /// Seconds that each lasts.
    #[serde(deserialize_with = "seconds")]
    pub stall: f64,
    /// Share of the frames that get lost and are in no counter.
    #[serde(deserialize_with = "share")]
    pub loss: f64,
    /// Share of the frames that change places with the next one.
    #[serde(deserialize_with = "share")]
    pub reorder: f64,
    /// Share of the frames that come twice.
    #[serde(deserialize_with = "share")]
    pub duplicate: f64,
    /// Bits per second of frames without their check sequence that a policer lets pass; none:
    /// there is no policer.
    #[serde(deserialize_with = "rate_or_none")]
    pub police_rate: Option<f64>,
    /// Bytes of such frames that it lets pass at once.
    #[serde(deserialize_with = "bytes")]
    pub police_burst: f64,
    /// Weights of the output queues, 1 to 64 of them; the frames of client n are in queue n. None:
    /// frames leave as they come.
    pub queues: Vec<u64>,
    /// In which order the queues are served.
    pub order: QueueOrder,
}

/// In which order queues are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QueueOrder {
    /// The first that is not empty.
    Priority,
    /// By weight.
    Weighted,
    /// The first before all others, the others by weight.
    Mixed,
}
