//! Knows how many messages of a socket are received by one call (`recvmmsg`), and the moment with
//! which the kernel stamps one (`SO_TIMESTAMPNS`, socket(7)).
//!
//! Must not know what the messages hold.

use std::io;
use std::os::fd::{AsFd, AsRawFd as _};
use std::ptr;

/// Words for the control messages of one message.
pub const CONTROL: usize = 8;

/// Room for so many messages of one call.
#[derive(Debug)]
pub struct Rooms {
    bytes: Vec<u8>,
    each: usize,
    controls: Vec<[u64; CONTROL]>,
}

impl Rooms {
    /// For so many messages of at most `each` bytes.
    #[must_use]
    pub fn new(count: usize, each: usize) -> Self {
        Self { bytes: vec![0; count * each], each, controls: vec![[0; CONTROL]; count] }
    }

    /// Receives as `flags` say, and notes of each message its header and its bytes.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn receive(
        &mut self,
        socket: impl AsFd,
        flags: libc::c_int,
        mut note: impl FnMut(&libc::msghdr, usize),
    ) -> io::Result<usize> {
        let mut pieces: Vec<libc::iovec> = self
            .bytes
            .chunks_exact_mut(self.each)
            .map(|room| libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() })
            .collect();
        let message = |(piece, control): (&mut libc::iovec, &mut [u64; CONTROL])| {
            let mut header = of_piece(piece);
            header.msg_hdr.msg_control = control.as_mut_ptr().cast();
            header.msg_hdr.msg_controllen = size_of_val(control) as _;
            header
        };
        let mut headers: Vec<libc::mmsghdr> =
            pieces.iter_mut().zip(&mut self.controls).map(message).collect();
        let count = libc::c_uint::try_from(headers.len()).unwrap_or(0);
        let (socket, none) = (socket.as_fd().as_raw_fd(), ptr::null_mut());
        // SAFETY: each header names a piece of `bytes` and a part of `controls`, which no other
        // names and which outlive the call; `count` is their number; no time-out is given.
        let came = unsafe { libc::recvmmsg(socket, headers.as_mut_ptr(), count, flags as _, none) };
        let Ok(came) = usize::try_from(came) else { return Err(io::Error::last_os_error()) };
        for header in headers.iter().take(came) {
            note(&header.msg_hdr, header.msg_len as usize);
        }
        Ok(came)
    }

    /// The room of each message, in their order.
    pub fn each(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.chunks_exact(self.each)
    }
}

/// A message of one piece and nothing else.
pub(super) fn of_piece(piece: &mut libc::iovec) -> libc::mmsghdr {
    // SAFETY: a message header of zeros has no address, no pieces, no control messages.
    let mut header: libc::mmsghdr = unsafe { std::mem::zeroed() };
    header.msg_hdr.msg_iov = ptr::from_mut(piece);
    header.msg_hdr.msg_iovlen = 1;
    header
}

/// The moment in what the kernel wrote behind a header, nanoseconds on `CLOCK_REALTIME`.
#[must_use]
pub fn stamped(header: &libc::msghdr) -> Option<u64> {
    // SAFETY: the control messages of the header are those that the kernel wrote.
    let first = unsafe { libc::CMSG_FIRSTHDR(ptr::from_ref(header)) };
    // SAFETY: it is null or points to a control message, which is aligned for it.
    let message = unsafe { first.as_ref() }?;
    if (message.cmsg_level, message.cmsg_type) != (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) {
        return None;
    }
    // SAFETY: a message of this type holds a `timespec`.
    let at: libc::timespec = unsafe { ptr::read_unaligned(libc::CMSG_DATA(first).cast()) };
    let (seconds, rest) = (u64::try_from(at.tv_sec).ok()?, u64::try_from(at.tv_nsec).ok()?);
    Some(seconds * 1_000_000_000 + rest)
}
