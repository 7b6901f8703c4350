//! Knows how `tcp_stream` runs: messages, openings, the hot loops, both sides.
//!
//! Must not know whether the result is right; `check.rs` says that.

mod congestion;
mod drive;
mod generator;
mod low_water;
mod mark;
mod memory;
mod message;
mod paced;
mod part;
mod receiver;
mod sender;
mod traffic;

pub use drive::TcpStreams;
pub use message::{Engine, HostMark, InterfaceMark, StreamEnd, StreamMark};
pub use part::Streams;
pub use traffic::{read_bytes, receiver, sender, shape};

#[cfg(test)]
pub use generator::{Counters, receive_requests, send_batches, send_requests, turn};
#[cfg(test)]
pub use message::{FromPart, Receiver, Sender, ToPart, Traffic};
#[cfg(test)]
pub use paced::send_paced;
#[cfg(test)]
pub use receiver::{COMPARED_EACH, Take, receive_ring, receive_unseen};
#[cfg(test)]
pub use sender::Way;
