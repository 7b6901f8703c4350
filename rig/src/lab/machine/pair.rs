//! Knows the transport within one machine: a pair of sockets.
//!
//! Must not know what the frames say.

use super::transport::{self, Frame, KeepAlive, Transport};
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// A frame that has begun comes whole, at once; this only bounds a broken other end.
const WHOLE: Duration = Duration::from_secs(5);

/// One end of a pair.
#[derive(Debug)]
pub struct Pair(UnixStream);

impl Pair {
    /// Two ends, joined.
    ///
    /// # Errors
    /// When the kernel has no sockets.
    pub fn new() -> io::Result<[Self; 2]> {
        let (one, other) = UnixStream::pair()?;
        for end in [&one, &other] {
            end.set_read_timeout(Some(WHOLE))?;
            end.set_write_timeout(Some(WHOLE))?;
        }
        Ok([Self(one), Self(other)])
    }
}

impl Transport for Pair {
    fn send(&mut self, channel: u16, body: &[u8]) -> io::Result<()> {
        transport::write(&mut self.0, channel, body)
    }

    fn receive(&mut self) -> io::Result<Frame> {
        transport::read_frame(&mut self.0)
    }

    fn socket(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    fn shares_clock(&self) -> bool {
        true
    }

    fn keep_alive(&self) -> Option<KeepAlive> {
        None
    }
}
