//! How many requests a second does a web server answer, and how long does each wait?
//!
//! Knows: requests of HTTP/1.1 over connections that are kept or made anew; a server of its own,
//! and services that take its place.
//! Gives: `ENTRY`. Never: how operations are timed; that is `engine::exchange`.
//! Start reading at `README.md`, then `run/mod.rs`.

mod catalogue;
mod check;
mod list;
mod run;
mod spec;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod truth;

pub use run::length_of_page;

/// This workload's line in the list.
pub const ENTRY: rig::workload::Entry = crate::engine::exchange::entry!(run::Http, 2.0);
