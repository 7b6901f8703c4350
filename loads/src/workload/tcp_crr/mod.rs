//! How many connections a second does a server take, each for one request?
//!
//! Knows: a TCP connection for each request and its response.
//! Gives: `ENTRY`. Never: how operations are timed; that is `engine::exchange`.
//! Start reading at `README.md`, then `run.rs`.

mod check;
mod run;
mod spec;
#[cfg(test)]
mod tests;

/// This workload's line in the list.
pub const ENTRY: rig::workload::Entry = crate::engine::exchange::entry!(run::Anew, 8.0);
