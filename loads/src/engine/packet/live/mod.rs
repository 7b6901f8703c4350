//! Knows how raw frames are sent and counted inside the kernel, without a copy.
//!
//! A program that `BPF_PROG_TEST_RUN` runs over live frames (Linux 5.18) writes every header and
//! redirects the frame into an adapter; a program of XDP at the other end checks it and counts.
//! Gives: [`Wire`], the frames as both ends know them; [`Generator`], [`Sink`]; [`buckets`];
//! [`plain`], the same frames by packet sockets.
//! Never: hosts, windows, or what a figure means.
//! Start reading at `wire.rs`.

pub mod buckets;
mod generator;
pub mod plain;
mod sink;
#[cfg(test)]
mod tests;
mod wire;

pub use generator::{Edges, Generator, Pace, Pattern, Sending, Sent};
pub use sink::{Frames, Sink, Stream, Totals, pass};
pub use wire::{LEAST, Layout, MOST, Wire, flow_of};

/// Moments of a trial, as both ends count them: before the window, in it, after it.
pub const PHASES: usize = 3;
