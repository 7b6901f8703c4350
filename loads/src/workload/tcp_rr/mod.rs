//! How many requests a second does a server answer, and how long does each wait?
//!
//! Knows: requests and responses over TCP connections that are kept.
//! Gives: `ENTRY`. Never: how operations are timed; that is `engine::exchange`.
//! Start reading at `README.md`, then `run.rs`.

mod check;
mod run;
mod spec;
#[cfg(test)]
mod tests;

/// This workload's line in the list.
pub const ENTRY: rig::workload::Entry = crate::engine::exchange::entry!(run::Kept, 2.0);
