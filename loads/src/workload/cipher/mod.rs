//! How fast does this machine digest, encrypt, sign, verify and agree, by which engine?
//!
//! Knows: one loop a pinned thread, four engines. Gives: `ENTRY`. Never: what the figures mean.
//! Start reading at `README.md`, then `engine/mod.rs`.

mod answers;
mod check;
mod engine;
mod keys;
mod run;
mod spec;
mod task;
#[cfg(test)]
mod tests;

use rig::workload::Entry;

/// This workload's line in the list.
pub const ENTRY: Entry = Entry { hears: &[run::FACTOR], ..crate::engine::alone::entry!() };
