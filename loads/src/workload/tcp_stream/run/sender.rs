//! Knows how the bytes of a call get to the socket.
//!
//! Must not know which bytes, nor when a call is made.

use super::generator::Counters;
use super::message::Sender;
use crate::engine::net::uring;
use crate::engine::net::zero_copy::ZeroCopy;
use crate::engine::pipe::Pipe;
use std::io::{self, IoSlice, Write as _};
use std::net::TcpStream;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Longest wait for what the kernel says of the last sends.
const LAST: Duration = Duration::from_millis(100);

/// How the bytes of a call get to the socket.
pub enum Way {
    /// The kernel copies them.
    Write,
    /// Their pages go through a pipe.
    Splice(Pipe),
    /// The kernel sends from their pages, where it can.
    ZeroCopy(ZeroCopy),
    /// A ring takes them, in a chain.
    Ring(Box<uring::Sender>),
}

impl Way {
    /// That of a stream, whose calls have at most so many requests.
    ///
    /// # Errors
    /// What this kernel lacks, and what to choose instead.
    pub fn of(sender: Sender, socket: &TcpStream, requests: usize) -> Result<Self, String> {
        let lacks = |what: &str, e: io::Error| {
            let word = sender.word();
            format!("sender = \"{word}\": the kernel refuses {what}: {e}; take sender = \"write\"")
        };
        match sender {
            Sender::Write => Ok(Self::Write),
            Sender::Splice => Pipe::make().map(Self::Splice).map_err(|e| lacks("a pipe", e.into())),
            Sender::ZeroCopy => {
                ZeroCopy::of(socket).map(Self::ZeroCopy).map_err(|e| lacks("SO_ZEROCOPY", e))
            }
            Sender::Uring => {
                let ring = uring::Sender::open(requests).map_err(|e| lacks("io_uring", e))?;
                Ok(Self::Ring(Box::new(ring)))
            }
        }
    }

    /// Sends what these parts name, or a first part of it. What is left has to be named again by
    /// the next call; a pipe may hold some of it already.
    ///
    /// # Errors
    /// What the socket says.
    #[inline]
    pub fn send(&mut self, mut socket: &TcpStream, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Self::Write => socket.write_vectored(parts),
            Self::Splice(pipe) => {
                if pipe.held() == 0 {
                    pipe.lend(parts)?;
                }
                pipe.give(socket)
            }
            Self::ZeroCopy(ways) => ways.send(socket, parts),
            Self::Ring(ring) => ring.send(socket, parts),
        }
    }

    /// Notes what the kernel said of all sends, once no more are made.
    ///
    /// # Errors
    /// What the socket says.
    pub fn settle(&mut self, socket: &TcpStream, counters: &Counters) -> io::Result<()> {
        let Self::ZeroCopy(ways) = self else { return Ok(()) };
        let settled = ways.settle(socket, LAST);
        counters.told.store(ways.told, Relaxed);
        counters.copied.store(ways.copied, Relaxed);
        settled
    }
}
