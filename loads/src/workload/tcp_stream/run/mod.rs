//! Knows how `tcp_stream` runs: messages, openings, the hot loops, both sides.
//!
//! Must not know whether the result is right; `check.rs` says that.

mod congestion;
mod drive;
mod generator;
mod low_water;
mod mark;
mod message;
mod paced;
mod part;
mod traffic;

pub use drive::TcpStreams;
pub use message::{Engine, HostMark, InterfaceMark, StreamEnd, StreamMark};
pub use part::Streams;
pub use traffic::{read_bytes, shape};

#[cfg(test)]
pub use generator::{Counters, receive_requests, send_batches, send_requests};
#[cfg(test)]
pub use message::{FromPart, ToPart, Traffic};
#[cfg(test)]
pub use paced::send_paced;
