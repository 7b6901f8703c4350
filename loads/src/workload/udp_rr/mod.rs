//! How many requests a second does a server answer over UDP, and how long does each wait?
//!
//! Knows: a datagram that asks, a datagram that answers, and what is lost of them.
//! Gives: `ENTRY`. Never: how operations are timed; that is `engine::exchange`.
//! Start reading at `README.md`, then `run.rs`.

mod check;
mod run;
mod spec;
#[cfg(test)]
mod tests;

/// This workload's line in the list.
pub const ENTRY: rig::workload::Entry = crate::engine::exchange::entry!(run::Echo, 2.0);
