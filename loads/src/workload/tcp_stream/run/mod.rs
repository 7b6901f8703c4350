//! Knows how `tcp_stream` runs: messages, openings, the hot loops, both sides.
//!
//! Must not know whether the result is right; `check.rs` says that.

mod congestion;
mod drive;
mod generator;
mod low_water;
mod mark;
mod message;
mod opening;
mod paced;
mod part;
mod tcp_info;
mod traffic;

pub use drive::{Cpus, TcpStreams, plan_streams};
pub use message::{
    Direction, Engine, HostMark, InterfaceMark, PaceMark, STEP_NS, StreamEnd, StreamMark,
    StreamPlan, ThreadMark,
};
pub use part::make_part;
pub use tcp_info::TcpFacts;
pub use traffic::{read_bytes, shape};

#[cfg(test)]
pub use generator::{Counters, Gate, content, receive_requests, send_batches, send_requests};
#[cfg(test)]
pub use message::{FromPart, Pace, ToPart, Traffic};
#[cfg(test)]
pub use opening::Opening;
#[cfg(test)]
pub use paced::{Schedule, send_paced};
