//! How many datagrams does UDP deliver between the clients and the system under test, and how many
//! are lost on the way?
//!
//! Knows: one stream a thread, blocking sockets, one datagram a system call or many.
//! Gives: `ENTRY`. Never: what the figures mean.
//! Start reading at `README.md`, then `run/part.rs`.

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
    make: || Box::new(run::UdpStreams::default()),
    part: make_part::<run::Streams>,
    model: Some(model::model),
};
