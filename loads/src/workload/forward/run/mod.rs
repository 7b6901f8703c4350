//! Knows how `forward` runs: messages, next hops, counters, both sides.
//!
//! Must not know whether the result is right; `check.rs` says that.

mod counts;
mod drive;
mod joined;
mod message;
mod part;
mod tags;
mod way;

pub use counts::Counts;
#[cfg(test)]
pub use counts::{Forwarded, Ticks};
pub use drive::{Frames, burst, fits, frame_sizes, interval, is_received, line_bits, vlan_of};
pub use message::{HostMark, StreamEnd};
pub use part::Ends;
