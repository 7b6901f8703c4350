//! Knows an interface as the relay uses it: whole frames in and out, many in one call, each with
//! the moment at which the kernel received it (packet(7)).
//!
//! Must not know where a frame goes next.

use crate::lab::messages::{Rooms, of_piece, stamped};
use std::ffi::CString;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::ptr;

/// Frames of one call.
pub const BATCH: usize = 64;
/// Bytes of the largest frame: a packet of 9,600 bytes and its header.
pub const FRAME: usize = 9_728;
/// Bytes that may wait in the socket, as the kernel counts them: 14,000 full frames.
const WAITING: libc::c_int = 32 << 20;
/// Every protocol, in the byte order of the network (`linux/if_ether.h`).
const EVERY: u16 = (libc::ETH_P_ALL as u16).to_be();

/// A frame that has come.
#[derive(Clone, Copy, Debug)]
pub struct Came<'f> {
    /// Its bytes.
    pub bytes: &'f [u8],
    /// Whether it was longer than that.
    pub is_cut: bool,
    /// When the kernel received it, nanoseconds since 1970; none where it did not say.
    pub real_ns: Option<u64>,
}

/// An interface.
#[derive(Debug)]
pub struct Port {
    socket: OwnedFd,
    rooms: Rooms,
    /// Bytes, whether cut, and stamp of each frame of the last call.
    came: Vec<(usize, bool, Option<u64>)>,
}

impl Port {
    /// Every frame that comes by an interface, whoever it is for, and none that leaves by it.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn open(name: &str) -> io::Result<Self> {
        let word = CString::new(name).map_err(io::Error::other)?;
        // SAFETY: `word` is a string that ends in 0 and outlives the call.
        let index = unsafe { libc::if_nametoindex(word.as_ptr()) };
        let index = libc::c_int::try_from(index).map_err(io::Error::other)?;
        if index == 0 {
            return Err(io::Error::last_os_error());
        }
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // Nothing comes before it is bound: the protocol is given there.
        // SAFETY: three numbers are given.
        let socket = unsafe { libc::socket(libc::AF_PACKET, kind, 0) };
        if socket < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just given this descriptor to us alone.
        let socket = unsafe { OwnedFd::from_raw_fd(socket) };
        let (came, rooms) = (Vec::with_capacity(BATCH), Rooms::new(BATCH, FRAME));
        let port = Self { socket, rooms, came };
        // Where the kernel does not force it, it gives what it allows.
        if port.set(libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &WAITING).is_err() {
            port.set(libc::SOL_SOCKET, libc::SO_RCVBUF, &WAITING)?;
        }
        port.set(libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, &1)?;
        port.set(libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &1)?;
        port.set(libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, &1)?;
        let all = libc::packet_mreq {
            mr_ifindex: index,
            mr_type: u16::try_from(libc::PACKET_MR_PROMISC).unwrap_or(0),
            mr_alen: 0,
            mr_address: [0; 8],
        };
        port.set(libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &all)?;
        port.bind(index)?;
        Ok(port)
    }

    fn bind(&self, index: libc::c_int) -> io::Result<()> {
        // SAFETY: an address of zeros is one without family.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = u16::try_from(libc::AF_PACKET).unwrap_or(0);
        address.sll_protocol = EVERY;
        address.sll_ifindex = index;
        let length = size(&address);
        // SAFETY: `address` is a whole address of this family and outlives the call.
        let failed =
            unsafe { libc::bind(self.socket.as_raw_fd(), (&raw const address).cast(), length) }
                != 0;
        if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    fn set<T>(&self, level: libc::c_int, option: libc::c_int, value: &T) -> io::Result<()> {
        // SAFETY: `value` lives through the call, and its size is given.
        let failed = unsafe {
            let value = ptr::from_ref(value).cast();
            libc::setsockopt(self.socket.as_raw_fd(), level, option, value, size::<T>(value.cast()))
        } != 0;
        if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// What becomes readable when a frame comes.
    #[must_use]
    pub fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Takes what has come, [`BATCH`] frames at the most, without waiting; gives how many.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn receive(&mut self) -> io::Result<usize> {
        let came = &mut self.came;
        came.clear();
        let note = |header: &libc::msghdr, length: usize| {
            let is_cut = header.msg_flags & libc::MSG_TRUNC != 0;
            came.push((length.min(FRAME), is_cut, stamped(header)));
        };
        match self.rooms.receive(&self.socket, libc::MSG_DONTWAIT, note) {
            Err(e) if is_for_now(&e) => Ok(0),
            told => told,
        }
    }

    /// The frames of the last call.
    pub fn frames(&self) -> impl Iterator<Item = Came<'_>> {
        let rooms = self.rooms.each().zip(&self.came);
        rooms.map(|(room, (length, is_cut, real_ns))| Came {
            bytes: &room[..*length],
            is_cut: *is_cut,
            real_ns: *real_ns,
        })
    }

    /// Sends frames, [`BATCH`] at the most; gives how many of the first the kernel took, and
    /// whether it refused the next.
    ///
    /// # Errors
    /// When the interface is gone.
    pub fn send(&self, frames: &[Vec<u8>]) -> io::Result<(usize, bool)> {
        let piece = |frame: &Vec<u8>| libc::iovec {
            iov_base: frame.as_ptr().cast_mut().cast(),
            iov_len: frame.len(),
        };
        let mut pieces: Vec<libc::iovec> = frames.iter().take(BATCH).map(piece).collect();
        let mut headers: Vec<libc::mmsghdr> = pieces.iter_mut().map(of_piece).collect();
        let count = libc::c_uint::try_from(headers.len()).unwrap_or(0);
        // SAFETY: each header names a piece that names the bytes of a frame; all outlive the call,
        // and the kernel only reads them; `count` is their number.
        let sent = unsafe {
            libc::sendmmsg(
                self.socket.as_raw_fd(),
                headers.as_mut_ptr(),
                count,
                libc::MSG_DONTWAIT as _,
            )
        };
        match usize::try_from(sent) {
            Ok(sent) => Ok((sent, false)),
            Err(_) => match io::Error::last_os_error() {
                e if is_for_now(&e) || e.raw_os_error() == Some(libc::ENOBUFS) => Ok((0, true)),
                e if e.raw_os_error() == Some(libc::EMSGSIZE) => Ok((0, true)),
                e => Err(e),
            },
        }
    }

    /// Frames for which the socket had no room since this was last asked.
    #[must_use]
    pub fn missed(&self) -> u64 {
        let mut told = MaybeUninit::<libc::tpacket_stats>::zeroed();
        let mut length = size::<libc::tpacket_stats>(told.as_ptr());
        // SAFETY: `told` has room for what is asked and `length` is its size.
        let failed = unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                told.as_mut_ptr().cast(),
                &raw mut length,
            )
        } != 0;
        // SAFETY: numbers alone, which were zeros before the kernel wrote any.
        let told = unsafe { told.assume_init() };
        if failed { 0 } else { u64::from(told.tp_drops) }
    }
}

/// The kernel has nothing, or no room, at this moment.
fn is_for_now(e: &io::Error) -> bool {
    matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

fn size<T>(_of: *const T) -> libc::socklen_t {
    libc::socklen_t::try_from(size_of::<T>()).unwrap_or(0)
}
