//! How fast does a file go from storage of one host to storage of another?
//!
//! Knows: files that are sent over a TCP connection, one after the other.
//! Gives: `ENTRY`. Never: how operations are timed; that is `engine::exchange`.
//! Start reading at `README.md`, then `run/mod.rs`.

mod check;
mod run;
mod spec;
#[cfg(test)]
mod tests;

/// This workload's line in the list.
pub const ENTRY: rig::workload::Entry = crate::engine::exchange::entry!(run::Copies, 2.0);
