//! Knows how a socket sends without a copy (`MSG_ZEROCOPY`), and what the kernel says of each send
//! when its pages are free again: whether it copied all the same.
//!
//! Must not know what travels.

use super::is_pause;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, sendmsg};
use rustix::time::Timespec;
use std::io::{self, IoSlice};
use std::net::TcpStream;
use std::os::fd::AsRawFd as _;
use std::ptr;
use std::time::{Duration, Instant};

/// So many sends are under way before it is looked for completions.
const LOOK_AT: u64 = 16;
/// Longest wait for a completion where the kernel has no room for another send.
const ROOM: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
/// Words of room for the control messages of one completion.
const CONTROL: usize = 16;
/// Origin of a completion, and its code where the kernel copied (linux/errqueue.h).
const ORIGIN: u8 = 5;
const COPIED: u8 = 1;

/// Sends of a socket, and what the kernel said of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZeroCopy {
    /// Sends that the kernel accepted.
    pub sent: u64,
    /// Those that it completed.
    pub told: u64,
    /// Those of which it copied the bytes.
    pub copied: u64,
}

impl ZeroCopy {
    /// Allows it on a socket (`SO_ZEROCOPY`, Linux 4.14).
    ///
    /// # Errors
    /// What the kernel says.
    pub fn of(socket: &TcpStream) -> io::Result<Self> {
        let on: libc::c_int = 1;
        let length = libc::socklen_t::try_from(size_of::<libc::c_int>()).unwrap_or(0);
        // SAFETY: `on` is an integer that lives through the call and `length` is its size.
        let failed = unsafe {
            libc::setsockopt(
                socket.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_ZEROCOPY,
                (&raw const on).cast(),
                length,
            )
        } != 0;
        if failed { Err(io::Error::last_os_error()) } else { Ok(Self::default()) }
    }

    /// Sends; the bytes must not change before the kernel has reported the send complete.
    ///
    /// # Errors
    /// What the socket says; `Interrupted` where the kernel has no room for another send yet
    /// (net.core.optmem_max).
    pub fn send(&mut self, socket: &TcpStream, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        if self.sent - self.told >= LOOK_AT {
            self.look(socket)?;
        }
        let flags =
            SendFlags::from_bits_retain(libc::MSG_ZEROCOPY.cast_unsigned()) | SendFlags::NOSIGNAL;
        match sendmsg(socket, parts, &mut SendAncillaryBuffer::default(), flags) {
            Ok(bytes) => {
                self.sent += 1;
                Ok(bytes)
            }
            Err(rustix::io::Errno::NOBUFS) => {
                self.wait(socket, &ROOM)?;
                Err(io::ErrorKind::Interrupted.into())
            }
            Err(e) => Err(e.into()),
        }
    }

    /// Waits until the kernel has reported every send complete, for so long at most.
    ///
    /// # Errors
    /// What the socket says.
    pub fn settle(&mut self, socket: &TcpStream, longest: Duration) -> io::Result<()> {
        let deadline = Instant::now() + longest;
        self.look(socket)?;
        while self.told < self.sent && Instant::now() < deadline {
            self.wait(socket, &ROOM)?;
        }
        Ok(())
    }

    /// Sleeps until the kernel reports a completion, and reads it.
    fn wait(&mut self, socket: &TcpStream, longest: &Timespec) -> io::Result<()> {
        // Completions show as an error, which is always waited for.
        let mut polled = [PollFd::new(socket, PollFlags::empty())];
        let _ = poll(&mut polled, Some(longest));
        self.look(socket)
    }

    /// Takes all that the kernel has told.
    fn look(&mut self, socket: &TcpStream) -> io::Result<()> {
        loop {
            match completion(socket) {
                Ok(Some((sends, copied))) => {
                    self.told += sends;
                    self.copied += if copied { sends } else { 0 };
                }
                Ok(None) => {}
                Err(e) if is_pause(&e) => return Ok(()),
                Err(e) => return Err(e),
            }
        }
    }
}

/// One completion: of how many sends it is, and whether the kernel copied; none for another word
/// of the kernel.
fn completion(socket: &TcpStream) -> io::Result<Option<(u64, bool)>> {
    let mut control = [0_u64; CONTROL];
    // SAFETY: a message header of zeros has no address, no pieces and no control messages.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_control = (&raw mut control).cast();
    header.msg_controllen = size_of_val(&control) as _;
    let flags = RecvFlags::ERRQUEUE.bits().cast_signed();
    // SAFETY: the header names nothing but `control`, which outlives the call.
    let told = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut header, flags) };
    if told < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the control messages of the header are those that the kernel wrote into `control`.
    let first = unsafe { libc::CMSG_FIRSTHDR(&raw const header) };
    // SAFETY: it is null or points into `control`, which is aligned for it.
    let Some(message) = (unsafe { first.as_ref() }) else { return Ok(None) };
    let kind = (message.cmsg_level, message.cmsg_type);
    if kind != (libc::SOL_IP, libc::IP_RECVERR) && kind != (libc::SOL_IPV6, libc::IPV6_RECVERR) {
        return Ok(None);
    }
    // SAFETY: a message of this type begins with a `sock_extended_err`.
    let told: libc::sock_extended_err =
        unsafe { ptr::read_unaligned(libc::CMSG_DATA(first).cast()) };
    if (told.ee_errno, told.ee_origin) != (0, ORIGIN) {
        return Ok(None);
    }
    // Sends are numbered from 0, and the numbers wrap.
    let sends = u64::from(told.ee_data.wrapping_sub(told.ee_info)) + 1;
    Ok(Some((sends, told.ee_code & COPIED != 0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;
    use std::net::{Ipv4Addr, TcpListener};

    #[test]
    fn on_loopback_the_kernel_says_that_it_copied_every_send() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let from = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut to = listener.accept().unwrap().0;
        let reader = std::thread::spawn(move || {
            let mut all = Vec::new();
            to.read_to_end(&mut all).unwrap();
            all.len()
        });
        let (bytes, mut sent) = (vec![7; 100_000], 0);
        let mut ways = ZeroCopy::of(&from).unwrap();
        for _ in 0..100 {
            match ways.send(&from, &[IoSlice::new(&bytes[..60_000]), IoSlice::new(&bytes)]) {
                Ok(bytes) => sent += bytes,
                Err(e) => assert!(is_pause(&e), "{e}"),
            }
        }
        ways.settle(&from, Duration::from_secs(5)).unwrap();
        drop(from);
        assert_eq!(reader.join().unwrap(), sent);
        assert!(ways.sent > 0 && ways.told == ways.sent, "{ways:?}");
        assert_eq!(ways.copied, ways.told, "loopback copies");
    }
}
