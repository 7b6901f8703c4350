//! Knows what loads between hosts have in common, whatever travels.
//!
//! Gives: [`Course`] and [`End`], the course of a trial; [`Gate`]; [`Secret`] and openings;
//! streams, how they are opened, and their schedules; content that can be checked, and memory that
//! is lent to the kernel; sends without a copy, and by `io_uring`; datagrams that can be told
//! apart; accounts of threads; what the kernel's TCP tells.
//! Never: a workload or its figures; of parameters only those that all streams have.
//! Start reading at `life.rs`.

pub mod account;
pub mod admit;
pub mod arrival;
pub mod buffers;
pub mod content;
pub mod cpus;
pub mod datagram;
mod gate;
pub mod lent;
pub mod life;
#[cfg(test)]
pub(crate) mod modelled;
pub mod opening;
#[cfg(test)]
pub mod proxy;
pub mod schedule;
pub mod stage;
pub mod streams;
pub mod tcp_info;
pub mod uring;
pub mod zero_copy;

pub use account::{Account, ThreadMark};
pub use buffers::Buffers;
pub use cpus::Cpus;
pub use gate::Gate;
pub use life::{At, Course, End, Life};
pub use opening::Secret;
pub use tcp_info::TcpFacts;

use rustix::net::{RecvFlags, SendFlags};
use std::io;
use std::net::TcpStream;

/// Seconds of nanoseconds.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "trials are far below 2^53 ns")]
pub const fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}

/// Whether a call only took too long.
#[must_use]
pub fn is_pause(e: &io::Error) -> bool {
    matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// One system call: the C library's would look for a cancelled thread before and after each.
///
/// # Errors
/// What the socket says.
#[inline]
pub fn send(socket: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
    Ok(rustix::net::send(socket, bytes, SendFlags::NOSIGNAL)?)
}

/// Sends all of it on a socket that takes it: the other end has nothing else under way.
///
/// # Errors
/// What the socket says.
#[inline]
pub fn send_all(socket: &TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        bytes = &bytes[send(socket, bytes)?..];
    }
    Ok(())
}

/// One system call, as [`send`].
///
/// # Errors
/// What the socket says.
#[inline]
pub fn receive(socket: &TcpStream, buffer: &mut [u8]) -> io::Result<usize> {
    Ok(rustix::net::recv(socket, buffer, RecvFlags::empty())?.0)
}

/// Drops what came, at most as much as the buffer is long, which it does not write to: TCP skips
/// the bytes instead (`MSG_TRUNC`, tcp(7)).
///
/// # Errors
/// What the socket says.
#[inline]
pub fn skip(socket: &TcpStream, buffer: &mut [u8]) -> io::Result<usize> {
    Ok(rustix::net::recv(socket, buffer, RecvFlags::TRUNC)?.1)
}
