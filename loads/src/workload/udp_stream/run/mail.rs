//! Knows options of a socket of datagrams that no safe wrapper has: `UDP_SEGMENT` and `UDP_GRO`
//! (udp(7)), the drops of a socket (`SO_MEMINFO`); and datagrams that come many a call.
//!
//! Must not know what datagrams hold.

use rig::lab::messages::Rooms;
use rustix::fd::{AsFd, AsRawFd as _};
use std::io;
use std::ptr;

/// Words of `SO_MEMINFO`, and the place of the drops among them (`linux/sock_diag.h`).
const MEMINFO: usize = 9;
const DROPS: usize = 8;

/// Room for so many messages of one call.
#[derive(Debug)]
pub struct Mail {
    rooms: Rooms,
    /// Of each message that came, its bytes and those of its segments.
    came: Vec<(usize, usize)>,
}

impl Mail {
    /// For so many messages of at most `each` bytes.
    #[must_use]
    pub fn new(count: usize, each: usize) -> Self {
        Self { rooms: Rooms::new(count, each), came: Vec::with_capacity(count) }
    }

    /// Waits for a message and takes what else has come.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn receive(&mut self, socket: impl AsFd) -> io::Result<()> {
        let came = &mut self.came;
        came.clear();
        let note = |header: &libc::msghdr, length| {
            came.push((length, segment(header).unwrap_or(length)));
        };
        self.rooms.receive(socket, libc::MSG_WAITFORONE, note).map(drop)
    }

    /// Messages that came.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.came.len()
    }

    /// The datagrams that came, in their order; one without bytes is one, too.
    pub fn datagrams(&self) -> impl Iterator<Item = &[u8]> {
        let rooms = self.rooms.each().zip(&self.came);
        rooms.flat_map(|(room, (length, segment))| {
            let count = length.div_ceil((*segment).max(1)).max(1);
            (0..count).map(move |at| &room[at * segment..(at * segment + segment).min(*length)])
        })
    }
}

/// The size of segments in what the kernel wrote behind a header.
fn segment(header: &libc::msghdr) -> Option<usize> {
    // SAFETY: the control messages of the header are those that the kernel wrote.
    let first = unsafe { libc::CMSG_FIRSTHDR(ptr::from_ref(header)) };
    // SAFETY: it is null or points to a control message, which is aligned for it.
    let message = unsafe { first.as_ref() }?;
    if (message.cmsg_level, message.cmsg_type) != (libc::SOL_UDP, libc::UDP_GRO) {
        return None;
    }
    // SAFETY: a message of this type holds an integer.
    let size: libc::c_int = unsafe { ptr::read_unaligned(libc::CMSG_DATA(first).cast()) };
    usize::try_from(size).ok().filter(|size| *size > 0)
}

/// Has the kernel cut each call of this socket into datagrams of so many bytes.
///
/// # Errors
/// What the kernel says.
pub fn cut(socket: impl AsFd, bytes: usize) -> io::Result<()> {
    let bytes = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
    set(&socket, libc::UDP_SEGMENT, bytes)
}

/// Lets the kernel hand over several datagrams of one size as one.
///
/// # Errors
/// What the kernel says.
pub fn merge(socket: impl AsFd) -> io::Result<()> {
    set(&socket, libc::UDP_GRO, 1)
}

fn set(socket: &impl AsFd, option: libc::c_int, value: libc::c_int) -> io::Result<()> {
    let length = libc::socklen_t::try_from(size_of::<libc::c_int>()).unwrap_or(0);
    // SAFETY: `value` is an integer that lives through the call and `length` is its size.
    let failed = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_UDP,
            option,
            (&raw const value).cast(),
            length,
        )
    } != 0;
    if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// What the kernel has dropped at this socket: packets for which its receive buffer had no room or
/// whose checksum was wrong.
///
/// # Errors
/// What the kernel says.
pub fn dropped(socket: impl AsFd) -> io::Result<u64> {
    let mut words = [0_u32; MEMINFO];
    let mut length = libc::socklen_t::try_from(size_of_val(&words)).unwrap_or(0);
    // SAFETY: `words` is plain integers and `length` its size; the kernel writes at most that much.
    let failed = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            (&raw mut words).cast(),
            &raw mut length,
        )
    } != 0;
    if failed { Err(io::Error::last_os_error()) } else { Ok(words[DROPS].into()) }
}
