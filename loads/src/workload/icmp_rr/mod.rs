//! How long does an ICMP echo take, and how many a second does a kernel answer?
//!
//! Knows: echoes of a stream of a client, which the kernel of the server sends back.
//! Gives: `ENTRY`. Never: how operations are timed; that is `engine::exchange`.
//! Start reading at `README.md`, then `run.rs`.

mod check;
mod run;
mod spec;
#[cfg(test)]
mod tests;

/// This workload's line in the list.
pub const ENTRY: rig::workload::Entry = crate::engine::exchange::entry!(run::Echoes, 2.0);
