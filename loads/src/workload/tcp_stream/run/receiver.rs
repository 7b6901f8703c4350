//! Knows the hot loops that receive other than by copying each byte in a call of its own.
//!
//! Must not know hosts, plans or windows.

use super::generator::Counters;
use super::message::Receiver;
use crate::engine::net::content::{Paged, probe};
use crate::engine::net::{Gate, is_pause, receive, skip, uring};
use crate::engine::pipe::Pipe;
use std::fs::File;
use std::io;
use std::net::TcpStream;
use std::sync::atomic::Ordering::Relaxed;

/// Of a stream whose bytes are not copied, the first call at or behind each multiple of this copies
/// them, and its content is compared, bytes.
pub const COMPARED_EACH: u64 = 64 << 20;

/// How bytes leave the socket.
pub enum Take {
    /// The kernel copies them into a buffer.
    Copy,
    /// They are skipped.
    Skip,
    /// Their pages go through a pipe to where they are dropped.
    Splice(Pipe, File),
    /// A ring copies them into buffers that it was lent.
    Ring(Box<uring::Receiver>),
}

impl Take {
    /// That of a stream, whose calls ask for so many bytes, and that has so many to copy into.
    ///
    /// # Errors
    /// What this kernel lacks, and what to choose instead.
    pub fn of(receiver: Receiver, read: usize, memory: usize) -> Result<Self, String> {
        let lacks = |what: &str, e: io::Error| {
            let word = receiver.word();
            format!("receiver = \"{word}\": {what} cannot be had: {e}; take receiver = \"copy\"")
        };
        match receiver {
            Receiver::Copy => Ok(Self::Copy),
            Receiver::Trunc => Ok(Self::Skip),
            Receiver::Splice => {
                let pipe = Pipe::make().map_err(|e| lacks("a pipe", e.into()))?;
                let null = File::options().write(true).open("/dev/null");
                Ok(Self::Splice(pipe, null.map_err(|e| lacks("/dev/null", e))?))
            }
            Receiver::Uring => {
                let ring = uring::Receiver::open(read, memory).map_err(|e| lacks("io_uring", e))?;
                Ok(Self::Ring(Box::new(ring)))
            }
        }
    }
}

/// Receives without a copy, at most `read` bytes a call, until the sender ends or the drain time is
/// over; of the bytes only what [`COMPARED_EACH`] says is looked at.
///
/// Returns whether the sender's end was seen.
///
/// # Errors
/// What the socket says, other than a time-out; content that is not what was sent.
pub fn receive_unseen(
    (socket, take): (&TcpStream, &mut Take),
    content: &[u8],
    read: usize,
    counters: &Counters,
    (gate, bytes_max): (&Gate, u64),
) -> io::Result<bool> {
    let mut buffer = Paged::zeros(read);
    let (mut received, mut compared_at, mut checks) = (0_u64, 0_u64, 0_u64);
    while received < bytes_max {
        let is_compared = received >= compared_at;
        let told = match take {
            Take::Splice(pipe, null) if !is_compared => drop_through(socket, (pipe, null), read),
            Take::Skip if !is_compared => skip(socket, &mut buffer),
            _ => receive(socket, &mut buffer),
        };
        match told {
            // After the drain time it may be this host that hung up.
            Ok(0) => return Ok(!gate.drained()),
            Ok(n) => {
                if is_compared {
                    checks += probe(content, received, &buffer[..n])?;
                    compared_at = (received / COMPARED_EACH + 1) * COMPARED_EACH;
                    counters.checks.store(checks, Relaxed);
                }
                received += n as u64;
                counters.bytes.store(received, Relaxed);
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

/// Moves what came through a pipe to where it is dropped; gives how many bytes.
fn drop_through(
    socket: &TcpStream,
    (pipe, null): (&mut Pipe, &File),
    read: usize,
) -> io::Result<usize> {
    let taken = pipe.take(socket, None, read)?;
    pipe.give_all(null)?;
    Ok(taken)
}

/// Receives by a ring, until the sender ends or the drain time is over.
///
/// Returns whether the sender's end was seen.
///
/// # Errors
/// What the socket says; content that is not what was sent.
pub fn receive_ring(
    (socket, ring): (&TcpStream, &mut uring::Receiver),
    content: &[u8],
    counters: &Counters,
    (gate, bytes_max): (&Gate, u64),
) -> io::Result<bool> {
    let (mut received, mut checks) = (0_u64, 0_u64);
    while received < bytes_max && !gate.drained() {
        let goes_on = ring.receive(socket, |piece| {
            checks += probe(content, received, piece)?;
            received += piece.len() as u64;
            counters.bytes.store(received, Relaxed);
            counters.checks.store(checks, Relaxed);
            Ok(())
        })?;
        if !goes_on {
            return Ok(!gate.drained());
        }
    }
    Ok(false)
}
