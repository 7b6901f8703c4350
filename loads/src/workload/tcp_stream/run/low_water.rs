//! Knows how much must have come before a sleeping receiver is woken (`SO_RCVLOWAT`).
//!
//! A receiver that takes many requests at once is not worth waking for one. With 64 B requests, 64
//! a call, one client and both ends on one CPU, 32 KiB gave 1.29 times and 128 KiB 1.35 times the
//! payload for the same CPU time, and no difference at 1 KiB (2026-11-21).

use std::io;
use std::net::TcpStream;
use std::os::fd::AsRawFd as _;
use std::time::Duration;

/// Beyond this nothing was gained, bytes.
const MOST: usize = 128 << 10;
/// Longest that bytes may lie unread below the mark: what is in the queue at an edge of the window
/// is missing in its figure, on a slow link as much as comes in this time.
const LONGEST: Duration = Duration::from_millis(10);

/// Lets a receiver sleep until 128 KiB or a quarter of its receive buffer have come, whichever is
/// less, 10 ms are over or the sender has ended. The kernel enlarges a buffer that is less than
/// about twice as large as this; so a quarter leaves what the plan asked for as it is.
///
/// # Errors
/// When the kernel refuses.
pub fn set(socket: &TcpStream) -> io::Result<()> {
    socket.set_read_timeout(Some(LONGEST))?;
    let buffer = rustix::net::sockopt::socket_recv_buffer_size(socket)?;
    let bytes = libc::c_int::try_from((buffer / 4).clamp(1, MOST)).unwrap_or(1);
    let length = libc::socklen_t::try_from(size_of::<libc::c_int>()).unwrap_or(0);
    // SAFETY: `bytes` is an integer that lives through the call and `length` is its size.
    let failed = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_RCVLOWAT,
            (&raw const bytes).cast(),
            length,
        )
    } != 0;
    if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::sockopt::socket_recv_buffer_size;
    use std::io::{Read as _, Write as _};
    use std::net::{Ipv4Addr, TcpListener};

    #[test]
    fn a_little_still_comes_and_the_buffer_stays_as_it_was() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let mut from = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut to = listener.accept().unwrap().0;
        let before = socket_recv_buffer_size(&to).unwrap();
        set(&to).unwrap();
        assert_eq!(socket_recv_buffer_size(&to).unwrap(), before);
        from.write_all(b"little").unwrap();
        // Beside other tests loopback may be later than one time-out.
        let mut read = || {
            let tries = (0..500).map(|_| to.read(&mut [0; 64]));
            let mut told = tries.skip_while(|told| {
                told.as_ref().is_err_and(|e| e.kind() == io::ErrorKind::WouldBlock)
            });
            told.next().unwrap().unwrap()
        };
        assert_eq!(read(), 6, "what has come when the time-out is over");
        from.write_all(b"last").unwrap();
        drop(from);
        assert_eq!(read(), 4, "and at the end of the stream");
        assert_eq!(read(), 0);
    }
}
