//! Knows how `tcp_stream` runs: messages, openings, the two hot loops, both sides.
//!
//! Must not know whether the result is right; `check.rs` says that.

mod drive;
mod generator;
mod message;
mod opening;
mod part;
mod tcp_info;

pub use drive::TcpStreams;
pub use message::{Direction, HostMark, StreamEnd, StreamMark, StreamPlan};
pub use part::make_part;

#[cfg(test)]
pub use generator::{Counters, Gate, content, receive_requests, send_requests};
#[cfg(test)]
pub use message::{FromPart, ToPart, Traffic};
#[cfg(test)]
pub use opening::Opening;
