//! How much can TCP carry between the clients and the system under test, at which request size?
//!
//! Knows: one stream a thread, blocking sockets, one request a system call or many.
//! Gives: `ENTRY`. Never: what the figures mean.
//! Start reading at `README.md`, then `run/drive.rs`.

mod bytes;
mod check;
mod evidence;
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
    make: || Box::new(run::TcpStreams::default()),
    part: make_part::<run::Streams>,
    model: Some(model::model),
};
