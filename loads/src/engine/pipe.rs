//! Knows a pipe through which the kernel moves bytes without copying them (splice(2), vmsplice(2)).
//!
//! Must not know what is at either end.

use rustix::io::Errno;
use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice};
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};

/// Bytes that a pipe holds, where the kernel lets it.
const BYTES: usize = 1 << 20;

/// A pipe, and how much of what went into it has not come out.
#[derive(Debug)]
pub struct Pipe {
    out: OwnedFd,
    into: OwnedFd,
    held: usize,
}

impl Pipe {
    /// A new one, empty. An unprivileged user may get a smaller one; then a call moves less.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn make() -> Result<Self, Errno> {
        let (out, into) = pipe_with(PipeFlags::CLOEXEC)?;
        let _ = fcntl_setpipe_size(&into, BYTES);
        Ok(Self { out, into, held: 0 })
    }

    /// Bytes that are in it.
    #[must_use]
    pub const fn held(&self) -> usize {
        self.held
    }

    /// Takes at most so many bytes, from byte `at` of a file or from where a socket stands; waits
    /// for the first of them. Gives how many, 0 at the end.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn take(
        &mut self,
        from: impl AsFd,
        mut at: Option<u64>,
        length: usize,
    ) -> io::Result<usize> {
        let into = &self.into;
        let taken = again(|| splice(&from, at.as_mut(), into, None, length, SpliceFlags::MOVE))?;
        self.held += taken;
        Ok(taken)
    }

    /// Takes memory, as much as there is room for: the kernel notes its pages, and reads them when
    /// they are sent. Who writes to them before that changes what is sent. Gives how many bytes.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn lend(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        let (into, flags) = (self.into.as_raw_fd(), SpliceFlags::NONBLOCK.bits());
        let taken = again(|| {
            // SAFETY: an `IoSlice` has the layout of an `iovec`. At the end of a pipe that is
            // written to, the kernel only reads them and what they name.
            let taken = unsafe { libc::vmsplice(into, parts.as_ptr().cast(), parts.len(), flags) };
            usize::try_from(taken).map_err(|_| last())
        })?;
        self.held += taken;
        Ok(taken)
    }

    /// Gives of what it holds as much as one call does, to a socket or a file; how many bytes.
    ///
    /// # Errors
    /// What the other end says.
    pub fn give(&mut self, to: impl AsFd) -> io::Result<usize> {
        let (out, held) = (&self.out, self.held);
        let given = again(|| splice(out, None, &to, None, held, SpliceFlags::MOVE))?;
        self.held -= given;
        Ok(given)
    }

    /// Gives all that it holds.
    ///
    /// # Errors
    /// What the other end says, or that it takes nothing.
    pub fn give_all(&mut self, to: impl AsFd) -> io::Result<()> {
        while self.held > 0 {
            if self.give(&to)? == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
        }
        Ok(())
    }
}

/// Why the last call failed.
fn last() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)
}

/// A call that a signal may interrupt.
///
/// # Errors
/// As the call has them.
pub fn again(mut call: impl FnMut() -> Result<usize, Errno>) -> io::Result<usize> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            told => return Ok(told?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::net::{Ipv4Addr, TcpListener, TcpStream};

    #[test]
    fn memory_goes_through_a_pipe_into_a_socket_and_from_there_through_another() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let mut from = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut to = listener.accept().unwrap().0;
        let memory: Vec<u8> = (0..10_000_u32).map(|n| n.to_le_bytes()[0]).collect();
        let mut pipe = Pipe::make().unwrap();
        let parts = [IoSlice::new(&memory[..3]), IoSlice::new(&memory[3..])];
        assert_eq!(pipe.lend(&parts).unwrap(), memory.len());
        assert_eq!(pipe.held(), memory.len());
        pipe.give_all(&from).unwrap();
        assert_eq!(pipe.held(), 0);
        let mut read = vec![0; memory.len()];
        to.read_exact(&mut read).unwrap();
        assert_eq!(read, memory);

        from.write_all(&memory).unwrap();
        drop(from);
        let mut all = 0;
        loop {
            match pipe.take(&to, None, 4096).unwrap() {
                0 => break,
                taken => all += taken,
            }
            let null = std::fs::File::options().write(true).open("/dev/null").unwrap();
            pipe.give_all(&null).unwrap();
        }
        assert_eq!(all, memory.len());
    }

    #[test]
    fn a_full_pipe_takes_what_there_is_room_for_and_does_not_wait() {
        let mut pipe = Pipe::make().unwrap();
        let memory = vec![7; 3 << 20];
        let taken = pipe.lend(&[IoSlice::new(&memory)]).unwrap();
        assert!((1..memory.len()).contains(&taken), "{taken}");
    }
}
