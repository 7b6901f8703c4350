//! How long does a core work on a packet, and what does each service add?
//!
//! Knows: which device the parameters mean, and how a core is kept busy with frames.
//! Gives: `ENTRY`. Never: how a service works; that is `engine::packet`.
//! Start reading at `README.md`, then `run.rs`.

mod check;
mod run;
mod spec;
#[cfg(test)]
mod tests;

/// This workload's line in the list.
pub const ENTRY: rig::workload::Entry = crate::engine::alone::entry!();
