//! Knows how `udp_stream` runs: messages, sockets, the hot loops, both sides.
//!
//! Must not know whether the result is right; `check.rs` says that.

mod drive;
mod mail;
mod message;
mod part;
mod receive;
mod send;
mod tally;
mod traffic;

pub use drive::UdpStreams;
pub use message::{HostMark, StreamEnd, StreamMark};
pub use part::Streams;
pub use traffic::shape;

#[cfg(test)]
pub use message::{Engine, FromPart, ToPart, Traffic};
#[cfg(test)]
pub use part::Counters;
#[cfg(test)]
pub use receive::receive;
#[cfg(test)]
pub use tally::Tally;
