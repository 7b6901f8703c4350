//! Which way of copying memory is fastest, at which size?
//!
//! Knows: ways of copying as words, and which loop each means.
//! Gives: `ENTRY`. Never: how a loop is written; that is `metal::kernel`.
//! Start reading at `README.md`, then `run.rs`.

mod check;
mod run;
mod spec;
#[cfg(test)]
mod tests;

/// This workload's line in the list.
pub const ENTRY: rig::workload::Entry = crate::engine::alone::entry!();
