//! The desk: the half of stend that thinks about facts and never touches the world.
//!
//! Knows: units, records, plans, statistics and verdicts.
//! Never: files, sockets, clocks, threads or unseeded chance (its own `clippy.toml` bans them).
//! Start reading at `record`.
#![deny(missing_docs)]
#![forbid(unsafe_code)]

pub mod plan;
pub mod record;
pub mod search;
pub mod stats;
pub mod unit;
pub mod validity;
pub mod verdict;
