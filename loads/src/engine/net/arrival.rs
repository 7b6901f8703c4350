//! Knows when what a socket gives came to this machine: the kernel stamps each packet.
//!
//! A thread that wakes late then reads late and measures right. Must not know what was asked.

use rig::lab::clock;
use rig::lab::messages::{CONTROL, stamped};
use rustix::fd::{AsFd, AsRawFd as _};
use rustix::io::Errno;
use rustix::net::RecvFlags;
use std::io;

/// Two clocks are read at the same moment when no more than this lies around it, nanoseconds; and
/// how often that is tried.
const NEAR_NS: u64 = 2000;
const TRIES: usize = 3;

/// Asks for stamps (`SO_TIMESTAMPNS`, socket(7)).
///
/// # Errors
/// What the kernel says.
pub fn stamp(socket: impl AsFd) -> io::Result<()> {
    let on: libc::c_int = 1;
    let length = libc::socklen_t::try_from(size_of::<libc::c_int>()).unwrap_or(0);
    // SAFETY: `on` is an integer that lives through the call and `length` is its size.
    let failed = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPNS,
            (&raw const on).cast(),
            length,
        )
    } != 0;
    if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The moment of a stamp on the monotonic clock, as the two clocks stand now, nanoseconds.
#[must_use]
pub fn on_monotonic(stamp_ns: u64) -> u64 {
    let (mut before, mut at) = (clock::now_ns(), 0);
    for _ in 0..TRIES {
        let age = clock::real_ns().saturating_sub(stamp_ns);
        let now = clock::now_ns();
        at = now.saturating_sub(age);
        // A thread that lost its CPU between the two clocks reads them again.
        if now - before < NEAR_NS {
            break;
        }
        before = now;
    }
    at
}

/// Reads once; gives how many bytes, and when the last of them came, nanoseconds on
/// `CLOCK_REALTIME`, where the kernel stamped it. With `MSG_TRUNC` the buffer is not written.
///
/// # Errors
/// What the kernel says.
pub fn read(
    socket: impl AsFd,
    buffer: &mut [u8],
    flags: RecvFlags,
) -> Result<(usize, Option<u64>), Errno> {
    let mut control = [0_u64; CONTROL];
    let mut piece = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: a message header of zeros has no address, no pieces and no control messages.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_iov = &raw mut piece;
    header.msg_iovlen = 1;
    header.msg_control = (&raw mut control).cast();
    header.msg_controllen = size_of_val(&control) as _;
    let flags = flags.bits().cast_signed();
    // SAFETY: the header names one piece, which is `buffer`, and `control`; both outlive the call.
    let read = unsafe { libc::recvmsg(socket.as_fd().as_raw_fd(), &raw mut header, flags) };
    let Ok(read) = usize::try_from(read) else {
        return Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO));
    };
    Ok((read, stamped(&header)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::net::{Ipv4Addr, TcpListener, TcpStream};

    #[test]
    fn a_stamp_lies_between_sending_and_reading() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let mut from = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let to = listener.accept().unwrap().0;
        stamp(&to).unwrap();
        let mut buffer = [0; 8];
        // The kernel begins to stamp a moment after it is first asked to.
        for _ in 0..500 {
            from.write_all(b"four").unwrap();
            if read(&to, &mut buffer, RecvFlags::empty()).unwrap().1.is_some() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        for flags in [RecvFlags::empty(), RecvFlags::TRUNC] {
            let sent = clock::now_ns();
            from.write_all(b"four").unwrap();
            let written = clock::now_ns();
            // The reader comes late.
            std::thread::sleep(std::time::Duration::from_millis(50));
            let (bytes, came) = read(&to, &mut buffer, flags).unwrap();
            let came = on_monotonic(came.unwrap());
            assert_eq!(bytes, 4);
            assert!((sent..written + 20_000_000).contains(&came), "{sent} {came} {written}");
        }
        drop(from);
        assert_eq!(read(&to, &mut buffer, RecvFlags::empty()), Ok((0, None)));
    }
}
