//! How many blocks a second does a disk read or write, and how long does each take?
//!
//! Knows: which file a trial needs, and how it is read and written. Gives: `ENTRY`.
//! Never: a file that stend did not make, nor a disk that the command does not name.
//! Start reading at `README.md`, then `run/mod.rs`.

mod accesses;
mod check;
pub mod fio;
mod fio_ring;
mod fio_words;
mod run;
mod spec;
#[cfg(test)]
mod tests;

pub use run::{is_block_of_ours, overwrites};

/// This workload's line in the list.
pub const ENTRY: rig::workload::Entry = crate::engine::alone::entry!(run::staging, run::storing);
