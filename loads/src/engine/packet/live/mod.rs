//! Knows how raw frames are sent and counted inside the kernel, without a copy.
//!
//! A program that `BPF_PROG_TEST_RUN` runs over live frames (Linux 5.18) writes every header and
//! redirects the frame into an adapter; a program of XDP at the other end checks it and counts.
//! Gives: [`Wire`], the frames as both ends know them, [`Sizes`], how long they are, [`Varied`],
//! their addresses; [`Generator`], [`Sink`]; [`buckets`]; [`maker`], [`plain`], [`xsk`] and
//! [`sockets`], the same frames by sockets; [`bridge`], what hands frames from one port to another,
//! by a list of rules; [`near_rules`], lists for such frames.
//! Never: hosts, windows, or what a figure means.
//! Start reading at `wire.rs`.

pub mod bridge;
pub mod buckets;
mod generator;
pub mod maker;
pub mod near_rules;
pub mod plain;
mod rings;
mod sink;
mod sizes;
pub mod sockets;
mod table;
#[cfg(test)]
mod tests;
mod varied;
mod wire;
pub mod xsk;

pub use generator::{Edges, Generator, Pace, Pattern, Sending, Sent};
pub use rings::is_lack;
pub use sink::{Frames, STREAMS, Sink, Stream, Totals, pass};
pub use sizes::{Listed, Sizes};
pub use varied::{CLASSES_MOST, SOURCES_MOST, TARGETS_MOST, Varied};
pub use wire::{JUMBO, LEAST, Layout, MOST, TAG, Wire};

/// Moments of a trial, as both ends count them: before the window, in it, after it.
pub const PHASES: usize = 3;
