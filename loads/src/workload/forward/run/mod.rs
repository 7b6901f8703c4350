//! Knows how `forward` runs: messages, next hops, counters, both sides.
//!
//! Must not know whether the result is right; `check.rs` says that.

mod alone;
mod counts;
mod drive;
mod engine;
mod external;
mod fast;
mod guard;
mod joined;
mod message;
mod part;
mod tags;
mod way;

#[cfg(test)]
pub use counts::Ticks;
pub use counts::{Counts, Forwarded};
pub use drive::{
    Frames, burst, capture_of, fits, frame_sizes, holds, interval, is_received, line_bits, vlan_of,
};
pub use fast::{is_planted, is_served, lacks_policers};
pub use message::{Alone, HostMark, StreamEnd, share};
pub use part::Ends;
