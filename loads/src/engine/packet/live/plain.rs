//! Knows how the same frames are sent by packet sockets (packet(7)): what every kernel has, one
//! system call for many frames, each of which the kernel copies.
//!
//! Must not know what becomes of the frames.

use super::maker::{BATCH, Maker, Mark};
use std::io;
use std::mem;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::ptr;

/// A packet socket at an adapter.
#[derive(Debug)]
pub struct Plain {
    socket: OwnedFd,
    frames: Vec<Vec<u8>>,
}

impl Plain {
    /// Of the adapter of this index, past its queueing discipline (`PACKET_QDISC_BYPASS`), for
    /// frames as long as this one.
    ///
    /// # Errors
    /// What the kernel says: `EPERM` without `CAP_NET_RAW`.
    pub fn open(adapter: u32, template: Vec<u8>) -> io::Result<Self> {
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
        // Protocol 0: nothing is received.
        // SAFETY: three numbers are given.
        let socket = unsafe { libc::socket(libc::AF_PACKET, kind, 0) };
        if socket < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just given this descriptor to us alone.
        let socket = unsafe { OwnedFd::from_raw_fd(socket) };
        let bypass: libc::c_int = 1;
        // SAFETY: the option is an int that lives through the call, and its size is given.
        done(unsafe {
            let size = length(&bypass);
            let value = (&raw const bypass).cast();
            let option = libc::PACKET_QDISC_BYPASS;
            libc::setsockopt(socket.as_raw_fd(), libc::SOL_PACKET, option, value, size)
        })?;
        // SAFETY: an address of zeros is one without family.
        let mut address: libc::sockaddr_ll = unsafe { mem::zeroed() };
        address.sll_family = u16::try_from(libc::AF_PACKET).unwrap_or(0);
        address.sll_ifindex = i32::try_from(adapter).unwrap_or(0);
        // SAFETY: the address is a whole one of this family and lives through the call.
        done(unsafe {
            let size = length(&address);
            libc::bind(socket.as_raw_fd(), (&raw const address).cast(), size)
        })?;
        Ok(Self { socket, frames: vec![template; BATCH] })
    }

    /// Sends the next frames, one for each of at most [`BATCH`] marks, in one call; gives how many
    /// the kernel took.
    ///
    /// # Errors
    /// What the kernel says, other than that there is no room for now.
    pub fn send(&mut self, maker: &mut Maker, marks: &[Mark]) -> io::Result<usize> {
        let first = maker.next;
        let mut pieces = Vec::with_capacity(marks.len());
        for (mark, frame) in marks.iter().zip(&mut self.frames) {
            let length = maker.write(frame, *mark);
            pieces.push(piece(&frame[..length as usize]));
        }
        let mut heads: Vec<libc::mmsghdr> = pieces.iter_mut().map(head).collect();
        let count = libc::c_uint::try_from(heads.len()).unwrap_or(0);
        // SAFETY: `count` messages of one piece each, which point into frames of this value; all
        // live through the call, and the kernel only reads the frames.
        let sent = unsafe { libc::sendmmsg(self.socket.as_raw_fd(), heads.as_mut_ptr(), count, 0) };
        // Frames that the kernel did not take are the next ones again.
        maker.next = first.wrapping_add(u32::try_from(sent).unwrap_or(0));
        match usize::try_from(sent) {
            Ok(sent) => Ok(sent),
            Err(_) => {
                let error = io::Error::last_os_error();
                let full = matches!(error.raw_os_error(), Some(libc::ENOBUFS | libc::EAGAIN));
                if full { Ok(0) } else { Err(error) }
            }
        }
    }
}

fn piece(frame: &[u8]) -> libc::iovec {
    libc::iovec { iov_base: frame.as_ptr().cast_mut().cast(), iov_len: frame.len() }
}

fn head(piece: &mut libc::iovec) -> libc::mmsghdr {
    // SAFETY: a message of zeros has no address, pieces, control or flags.
    let mut head: libc::mmsghdr = unsafe { mem::zeroed() };
    head.msg_hdr.msg_iov = ptr::from_mut(piece);
    head.msg_hdr.msg_iovlen = 1;
    head
}

fn length<T>(of: &T) -> libc::socklen_t {
    libc::socklen_t::try_from(size_of_val(of)).unwrap_or(0)
}

fn done(answer: libc::c_int) -> io::Result<()> {
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
