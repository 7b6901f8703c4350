//! Knows the hot loops that run as fast as they can.
//!
//! Must not know hosts, plans or windows.

use super::sender::Way;
use crate::engine::net::content::{PERIOD, Paged, probe};
use crate::engine::net::{Gate, is_pause, receive, send};
use std::io::{self, IoSlice};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// Counts of one stream; one writer, on a cache line of its own.
#[repr(align(128))]
#[derive(Debug, Default)]
pub struct Counters {
    /// Payload bytes sent or received.
    pub bytes: AtomicU64,
    /// Content comparisons made.
    pub checks: AtomicU64,
    /// Paced sender: calls begun.
    pub calls: AtomicU64,
    /// Paced sender: calls begun too late.
    pub late: AtomicU64,
    /// Sender without a copy: sends that the kernel completed.
    pub told: AtomicU64,
    /// Of these: where it copied all the same.
    pub copied: AtomicU64,
    /// The thread's number in the kernel; 0 until it runs.
    pub thread: AtomicU32,
}

/// Sends requests of `request` bytes until the gate stops it or `bytes_max` are sent.
///
/// # Errors
/// What the socket says, other than a time-out.
pub fn send_requests(
    socket: &TcpStream,
    content: &[u8],
    request: usize,
    counters: &Counters,
    (gate, bytes_max): (&Gate, u64),
) -> io::Result<()> {
    let (mut at, mut sent) = (0, 0_u64);
    let turn = turn(content, request);
    while !gate.stopped() && sent < bytes_max {
        let mut left = &content[at..at + request];
        while !left.is_empty() {
            match send(socket, left) {
                Ok(n) => {
                    left = &left[n..];
                    sent += n as u64;
                }
                Err(e) if is_pause(&e) && !gate.stopped() => {}
                Err(e) => {
                    // What the kernel took of a request that was cut short was sent all the same.
                    counters.bytes.store(sent, Relaxed);
                    return if is_pause(&e) { Ok(()) } else { Err(e) };
                }
            }
        }
        counters.bytes.store(sent, Relaxed);
        at = (at + request) % turn;
    }
    Ok(())
}

/// Sends `depth` requests of `request` bytes a call until the gate stops it or `bytes_max` are
/// sent.
///
/// What the kernel leaves of a call is not sent apart: the next call begins where the stream
/// stands, and the content is periodic.
///
/// # Errors
/// What the socket says, other than a time-out.
pub fn send_batches(
    (socket, way): (&TcpStream, &mut Way),
    content: &[u8],
    (request, depth): (usize, usize),
    counters: &Counters,
    (gate, bytes_max): (&Gate, u64),
) -> io::Result<()> {
    let mut sent = 0_u64;
    let turn = turn(content, request);
    let (mut parts, mut laid_at) = (Vec::with_capacity(depth), turn);
    while !gate.stopped() && sent < bytes_max {
        let at = place(sent, turn);
        // Where a call is a multiple of the turn, which is the rule, this happens once.
        if at != laid_at {
            lay(&mut parts, content, at, (request, depth));
            laid_at = at;
        }
        match way.send(socket, &parts) {
            Ok(n) => {
                sent += n as u64;
                counters.bytes.store(sent, Relaxed);
            }
            Err(e) if is_pause(&e) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// After so many bytes a sender begins again at the first of its memory, bytes: a multiple of
/// [`PERIOD`], so that the content goes on as it was.
pub fn turn(content: &[u8], request: usize) -> usize {
    (content.len().saturating_sub(request) / PERIOD).max(1) * PERIOD
}

/// Where a sender stands in its memory that has sent so many bytes.
#[expect(clippy::cast_possible_truncation, reason = "below `turn`")]
pub const fn place(sent: u64, turn: usize) -> usize {
    (sent % turn as u64) as usize
}

/// Lays out the requests of one call, the first at `at` of the content.
pub fn lay<'a>(
    parts: &mut Vec<IoSlice<'a>>,
    content: &'a [u8],
    at: usize,
    (request, depth): (usize, usize),
) {
    let turn = turn(content, request);
    let start = |number: usize| (at + number * request) % turn;
    parts.clear();
    parts.extend((0..depth).map(|n| IoSlice::new(&content[start(n)..start(n) + request])));
}

/// Receives, at most `read` bytes a call, into `memory` bytes in turn, until the sender ends or the
/// drain time is over.
///
/// Returns whether the sender's end was seen.
///
/// # Errors
/// What the socket says, other than a time-out; content that is not what was sent.
pub fn receive_requests(
    socket: &TcpStream,
    content: &[u8],
    (read, memory): (usize, usize),
    counters: &Counters,
    (gate, bytes_max): (&Gate, u64),
) -> io::Result<bool> {
    let mut buffer = Paged::zeros(memory.max(read));
    let (mut received, mut checks, mut at) = (0_u64, 0_u64, 0);
    // What a call left of a request is asked for by the next, as an application does that reads
    // whole requests.
    let mut left = read;
    while received < bytes_max {
        if at + left > buffer.len() {
            at = 0;
        }
        match receive(socket, &mut buffer[at..at + left]) {
            // After the drain time it may be this host that hung up.
            Ok(0) => return Ok(!gate.drained()),
            Ok(n) => {
                checks += probe(content, received, &buffer[at..at + n])?;
                received += n as u64;
                at += n;
                left = if n == left { read } else { left - n };
                counters.bytes.store(received, Relaxed);
                counters.checks.store(checks, Relaxed);
            }
            Err(e) if is_pause(&e) => {}
            Err(e) => return Err(e),
        }
        if gate.drained() {
            return Ok(false);
        }
    }
    Ok(false)
}
