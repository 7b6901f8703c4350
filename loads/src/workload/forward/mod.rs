//! How many frames a second does what stands between the clients and the system under test forward,
//! and how many does it lose?
//!
//! Knows: raw frames that the kernel sends without a copy, and an account of every one of them.
//! Gives: `ENTRY`. Never: what the figures mean.
//! Start reading at `README.md`, then `run/part.rs`.

mod check;
mod evidence;
mod external;
mod late;
mod ledger;
mod model;
mod readings;
mod run;
mod spec;
#[cfg(test)]
mod tests;

use crate::engine::net::life::make_part;
use rig::workload::Entry;

/// This workload's line in the list.
pub const ENTRY: Entry = Entry {
    spec: &spec::SPEC,
    readme: include_str!("README.md"),
    hears: &[],
    make: || Box::new(run::Frames::default()),
    part: make_part::<run::Ends>,
    model: Some(model::model),
};
