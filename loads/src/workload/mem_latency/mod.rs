//! How long does a load take whose address is the result of the load before it?
//!
//! Knows: which chase a trial asks for, on which CPU, with which memory, and what disturbs it.
//! Gives: `ENTRY`. Never: how links are followed (`metal/chase` does).
//! Start reading at `README.md`, then `run.rs`.

mod check;
mod run;
mod spec;
#[cfg(test)]
mod tests;

/// This workload's line in the list.
pub const ENTRY: rig::workload::Entry = crate::engine::alone::entry!();
