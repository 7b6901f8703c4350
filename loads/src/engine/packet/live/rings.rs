//! Knows the memory and the rings that this process and the kernel share for sockets of AF_XDP.
//!
//! Must not know what frames are for. Ancestor: the kernel's `networking/af_xdp.rst`.

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};
use rustix::net::xdp::{
    SocketAddrXdp, SocketAddrXdpFlags, SocketAddrXdpWithSharedUmem, XDP_PGOFF_RX_RING,
    XDP_PGOFF_TX_RING, XDP_UMEM_PGOFF_COMPLETION_RING, XDP_UMEM_PGOFF_FILL_RING, XdpRingOffset,
    XdpUmemReg, XdpUmemRegFlags,
};
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, bind, send, sockopt};
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::ptr;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes of a frame's place in the shared memory.
pub const PLACE: u32 = 2048;
/// Bytes of an entry of a ring of frames: an address, length and options.
const OF_FRAMES: usize = 16;
/// Bytes of an entry of a ring of places: an address.
const OF_PLACES: usize = 8;

/// Calls without progress after which what waits is left for the next call.
const TRIES: u32 = 64;
/// The kernel lets a queue go some time after the socket that had it is closed: how long that may
/// take, and between two tries.
const FREED: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(10);

/// A socket of AF_XDP at the first queue of an adapter, with its rings.
#[derive(Debug)]
pub struct Port {
    /// The socket.
    pub socket: OwnedFd,
    /// Places that the kernel may write frames to.
    pub free: Ring,
    /// Frames that the adapter received.
    pub came: Ring,
    /// Frames that it shall send.
    pub to_send: Ring,
    /// Places of frames that it has sent.
    pub sent: Ring,
}

impl Port {
    /// At the adapter of this index, with rings of so many entries, a power of two. The memory is
    /// registered with this socket, or was with that of another port.
    ///
    /// # Errors
    /// What the kernel says: `EAFNOSUPPORT` where it has no such sockets, `EPERM` without
    /// `CAP_NET_RAW`, `EBUSY` where another program has the queue, `EOPNOTSUPP` where the first of
    /// two adapters alone needs no copies.
    pub fn open(
        (adapter, count): (u32, u32),
        memory: &Mapped,
        other: Option<&OwnedFd>,
    ) -> io::Result<Self> {
        let (family, flags) = (AddressFamily::XDP, SocketFlags::CLOEXEC);
        let socket = rustix::net::socket_with(family, SocketType::RAW, flags, None)?;
        if other.is_none() {
            sockopt::set_xdp_umem_reg(&socket, memory.registration())?;
        }
        sockopt::set_xdp_umem_fill_ring_size(&socket, count)?;
        sockopt::set_xdp_umem_completion_ring_size(&socket, count)?;
        sockopt::set_xdp_rx_ring_size(&socket, count)?;
        sockopt::set_xdp_tx_ring_size(&socket, count)?;
        let at = sockopt::xdp_mmap_offsets(&socket)?;
        let ring = |page, at, bytes| Ring::of(&socket, (page, at), (count, bytes));
        let free = ring(XDP_UMEM_PGOFF_FILL_RING, at.fr, OF_PLACES)?;
        let came = ring(XDP_PGOFF_RX_RING, at.rx, OF_FRAMES)?;
        let to_send = ring(XDP_PGOFF_TX_RING, at.tx, OF_FRAMES)?;
        let sent = ring(XDP_UMEM_PGOFF_COMPLETION_RING, at.cr, OF_PLACES)?;
        bound(&socket, adapter, other)?;
        Ok(Self { socket, free, came, to_send, sent })
    }

    /// Has the kernel send the frames that wait: where it copies, one call sends some of them.
    ///
    /// # Errors
    /// What the kernel says, other than that there is no room for now.
    pub fn kick(&self) -> io::Result<()> {
        let (mut waiting, mut tries) = (self.to_send.waiting(), 0);
        while waiting > 0 && tries < TRIES {
            match send(&self.socket, &[], SendFlags::DONTWAIT) {
                Ok(_) | Err(Errno::AGAIN | Errno::BUSY | Errno::NOBUFS | Errno::INTR) => {}
                Err(e) => return Err(e.into()),
            }
            let left = self.to_send.waiting();
            tries = if left < waiting { 0 } else { tries + 1 };
            waiting = left;
        }
        Ok(())
    }
}

/// Binds a socket to the first queue of an adapter, with the memory of another socket where that is
/// said.
fn bound(socket: &OwnedFd, adapter: u32, other: Option<&OwnedFd>) -> io::Result<()> {
    let begun = Instant::now();
    loop {
        let told = match other {
            None => bind(socket, &SocketAddrXdp::new(SocketAddrXdpFlags::empty(), adapter, 0)),
            Some(other) => {
                let addr = SocketAddrXdp::new(SocketAddrXdpFlags::XDP_SHARED_UMEM, adapter, 0);
                let shared_umem_fd = other.as_fd();
                bind(socket, &SocketAddrXdpWithSharedUmem { addr, shared_umem_fd })
            }
        };
        match told {
            Err(Errno::BUSY) if begun.elapsed() < FREED => thread::sleep(PAUSE),
            told => return Ok(told?),
        }
    }
}

/// Whether a kernel has no such socket, or its adapter takes none.
#[must_use]
pub fn is_lack(error: &io::Error) -> bool {
    let codes = [Errno::AFNOSUPPORT, Errno::OPNOTSUPP];
    codes.iter().any(|code| error.raw_os_error() == Some(code.raw_os_error()))
}

/// Memory that the kernel and this process share.
#[derive(Debug)]
pub struct Mapped {
    at: *mut u8,
    length: usize,
}

// SAFETY: the memory belongs to this value alone, in whatever thread.
unsafe impl Send for Mapped {}

const ACCESS: ProtFlags = ProtFlags::READ.union(ProtFlags::WRITE);

impl Mapped {
    /// Places for so many frames.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn places(count: u32) -> io::Result<Self> {
        let length = (PLACE * count) as usize;
        let flags = MapFlags::PRIVATE | MapFlags::POPULATE;
        // SAFETY: a new place is asked for; no memory of ours is touched.
        let at = unsafe { mmap_anonymous(ptr::null_mut(), length, ACCESS, flags) }?;
        Ok(Self { at: at.cast(), length })
    }

    fn of(socket: &OwnedFd, page: u64, length: usize) -> io::Result<Self> {
        let flags = MapFlags::SHARED | MapFlags::POPULATE;
        // SAFETY: a new place is asked for; no memory of ours is touched.
        let at = unsafe { mmap(ptr::null_mut(), length, ACCESS, flags, socket, page) }?;
        Ok(Self { at: at.cast(), length })
    }

    /// The registration of this memory with a socket (`struct xdp_umem_reg`).
    fn registration(&self) -> XdpUmemReg {
        XdpUmemReg {
            addr: self.at.addr() as u64,
            len: self.length as u64,
            chunk_size: PLACE,
            headroom: 0,
            flags: XdpUmemRegFlags::empty(),
            tx_metadata_len: 0,
        }
    }

    /// The bytes from an address to the end of its place; for an address behind the last place, its
    /// last byte. The caller owns the place: the kernel has given it back, or never had it.
    pub fn from(&mut self, address: u64) -> &mut [u8] {
        let last = self.length - PLACE as usize;
        let at = usize::try_from(address).map_or(last, |at| at.min(last + PLACE as usize - 1));
        let length = PLACE as usize - at % PLACE as usize;
        // SAFETY: within the memory, of which this value is borrowed alone. The kernel reads and
        // writes a place from when it is in a ring until it gives it back; callers in `live`, which
        // alone have this, look at places that are theirs.
        unsafe { std::slice::from_raw_parts_mut(self.at.add(at), length) }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: mapped by us with this length, and nothing points there any more.
        let _ = unsafe { munmap(self.at.cast(), self.length) };
    }
}

/// A ring of which one end is this process and the other the kernel.
#[derive(Debug)]
pub struct Ring {
    memory: Mapped,
    /// Entries less one: there are a power of two.
    mask: u32,
    /// Places of the numbers that tell how many were put in, and how many taken out.
    counts: [usize; 2],
    /// Place of the first entry, and bytes of each.
    entries: (usize, usize),
    /// How many this end has put in or taken out.
    own: u32,
}

impl Ring {
    /// That of a socket at such a place of its file, with so many entries of so many bytes.
    fn of(
        socket: &OwnedFd,
        (page, at): (u64, XdpRingOffset),
        (count, bytes): (u32, usize),
    ) -> io::Result<Self> {
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        let [producer, consumer, first] = [at.producer, at.consumer, at.desc].map(place);
        let memory = Mapped::of(socket, page, first + count as usize * bytes)?;
        let (counts, entries) = ([producer, consumer], (first, bytes));
        Ok(Self { memory, mask: count - 1, counts, entries, own: 0 })
    }

    fn count(&self, which: usize) -> &AtomicU32 {
        // SAFETY: the kernel told this place, which is within the mapping and aligned to 4 bytes;
        // both ends touch it as an atomic number alone.
        unsafe { AtomicU32::from_ptr(self.memory.at.add(self.counts[which]).cast()) }
    }

    fn entry(&self) -> *mut u64 {
        let (first, size) = self.entries;
        let at = first + (self.own & self.mask) as usize * size;
        // SAFETY: an entry of this number is within the mapping, which holds as many.
        unsafe { self.memory.at.add(at) }.cast()
    }

    /// Puts a frame in, which `publish` tells the kernel; no more than there are places.
    pub fn push_frame(&mut self, address: u64, length: u32) {
        let entry = self.entry();
        // SAFETY: an entry of 16 bytes is an address, a length and options of 0; the kernel reads
        // it when it is told.
        unsafe {
            entry.write(address);
            entry.add(1).cast::<[u32; 2]>().write([length, 0]);
        }
        self.own = self.own.wrapping_add(1);
    }

    /// Puts a place in, as above.
    pub fn push_place(&mut self, address: u64) {
        // SAFETY: an entry of 8 bytes is an address; the kernel reads it when it is told.
        unsafe { self.entry().write(address) };
        self.own = self.own.wrapping_add(1);
    }

    /// Takes out a place that the kernel has put in.
    pub fn pop_place(&mut self) -> Option<u64> {
        if self.count(0).load(Acquire) == self.own {
            return None;
        }
        // SAFETY: the kernel has written this entry of 8 bytes, as it has just told.
        let address = unsafe { self.entry().read() };
        self.own = self.own.wrapping_add(1);
        Some(address)
    }

    /// Takes out a frame that the kernel has put in: address and length.
    pub fn pop_frame(&mut self) -> Option<(u64, u32)> {
        if self.count(0).load(Acquire) == self.own {
            return None;
        }
        let entry = self.entry();
        // SAFETY: the kernel has written this entry of 16 bytes, as it has just told.
        let frame = unsafe { (entry.read(), entry.add(1).cast::<u32>().read()) };
        self.own = self.own.wrapping_add(1);
        Some(frame)
    }

    /// Tells the kernel how many were put in (0) or taken out (1).
    pub fn publish(&self, which: usize) {
        self.count(which).store(self.own, Release);
    }

    /// Entries that the kernel has not taken.
    #[must_use]
    pub fn waiting(&self) -> u32 {
        self.own.wrapping_sub(self.count(1).load(Acquire))
    }
}
