//! How many bytes a second do loads and stores move, by level of the memory hierarchy?
//!
//! Knows: operations, instruction sets and kinds of store as words, and which loop they mean.
//! Gives: `ENTRY`. Never: how a loop is written; that is `metal::kernel`.
//! Start reading at `README.md`, then `run.rs`.

mod check;
mod run;
mod spec;
#[cfg(test)]
mod tests;

/// This workload's line in the list.
pub const ENTRY: rig::workload::Entry = crate::engine::alone::entry!();
