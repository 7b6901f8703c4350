//! Knows how the same frames are sent by a socket of AF_XDP: they are written into memory that the
//! kernel shares, and rings tell which of them shall be sent and which were.
//!
//! A driver that can sends them from there (zero copy); for all others the kernel copies each.
//! Must not know what becomes of the frames. Ancestor: the kernel's `networking/af_xdp.rst`.

use super::maker::{BATCH, Maker, Mark};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};
use rustix::net::xdp::{
    SocketAddrXdp, SocketAddrXdpFlags, XDP_PGOFF_TX_RING, XDP_UMEM_PGOFF_COMPLETION_RING,
    XdpRingOffset, XdpUmemReg, XdpUmemRegFlags,
};
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, bind, send, sockopt};
use std::io;
use std::os::fd::OwnedFd;
use std::ptr;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::time::{Duration, Instant};

/// Bytes of a frame's place in the shared memory.
const PLACE: u32 = 2048;
/// Places, and entries of each ring: a power of two.
const PLACES: u32 = 512;
/// Bytes of an entry of the rings: an address, length and options; an address.
const TO_SEND: usize = 16;
const SENT: usize = 8;
/// Calls without progress after which what waits is left for the next call.
const TRIES: u32 = 64;
/// Longest wait for frames that the kernel has and has not sent.
const LONGEST: Duration = Duration::from_millis(500);

/// A socket of AF_XDP at the first queue of an adapter.
#[derive(Debug)]
pub struct Xsk {
    socket: OwnedFd,
    places: Mapped,
    to_send: Ring,
    sent: Ring,
    free: Vec<u32>,
}

impl Xsk {
    /// Of the adapter of this index, for frames as long as this one.
    ///
    /// # Errors
    /// What the kernel says: `EAFNOSUPPORT` where it has no such sockets, `EPERM` without
    /// `CAP_NET_RAW`, `EBUSY` where another program has the queue.
    pub fn open(adapter: u32, template: &[u8]) -> io::Result<Self> {
        let (family, flags) = (AddressFamily::XDP, SocketFlags::CLOEXEC);
        let socket = rustix::net::socket_with(family, SocketType::RAW, flags, None)?;
        let mut places = Mapped::anonymous((PLACE * PLACES) as usize)?;
        for number in 0..PLACES {
            places.place(number)[..template.len()].copy_from_slice(template);
        }
        let memory = XdpUmemReg {
            addr: places.at.addr() as u64,
            len: places.length as u64,
            chunk_size: PLACE,
            headroom: 0,
            flags: XdpUmemRegFlags::empty(),
            tx_metadata_len: 0,
        };
        sockopt::set_xdp_umem_reg(&socket, memory)?;
        // A socket that receives nothing needs the ring of free places, too.
        sockopt::set_xdp_umem_fill_ring_size(&socket, PLACES)?;
        sockopt::set_xdp_umem_completion_ring_size(&socket, PLACES)?;
        sockopt::set_xdp_tx_ring_size(&socket, PLACES)?;
        let at = sockopt::xdp_mmap_offsets(&socket)?;
        let to_send = Ring::of(&socket, (XDP_PGOFF_TX_RING, at.tx), TO_SEND)?;
        let sent = Ring::of(&socket, (XDP_UMEM_PGOFF_COMPLETION_RING, at.cr), SENT)?;
        let flags = SocketAddrXdpFlags::XDP_USE_NEED_WAKEUP;
        bind(&socket, &SocketAddrXdp::new(flags, adapter, 0))?;
        Ok(Self { socket, places, to_send, sent, free: (0..PLACES).rev().collect() })
    }

    /// Writes the next frames, one for each of at most [`BATCH`] marks, and hands them to the
    /// kernel; gives how many had a place.
    ///
    /// # Errors
    /// What the kernel says, other than that there is no room for now.
    pub fn send(&mut self, maker: &mut Maker, marks: &[Mark]) -> io::Result<usize> {
        self.reap();
        let count = marks.len().min(BATCH).min(self.free.len());
        for (number, mark) in self.free.split_off(self.free.len() - count).into_iter().zip(marks) {
            let length = maker.write(self.places.place(number), *mark);
            self.to_send.push(u64::from(number * PLACE), length);
        }
        self.to_send.publish(0);
        self.kick()?;
        Ok(count)
    }

    /// Waits until the adapter has sent all that it was given.
    ///
    /// # Errors
    /// What the kernel says; frames that stay with it.
    pub fn finish(&mut self) -> io::Result<()> {
        let begun = Instant::now();
        while self.free.len() < PLACES as usize {
            if begun.elapsed() > LONGEST {
                let left = PLACES as usize - self.free.len();
                let what = format!("the kernel did not send {left} frames that AF_XDP gave it");
                return Err(io::Error::other(what));
            }
            self.kick()?;
            self.reap();
        }
        Ok(())
    }

    fn reap(&mut self) {
        while let Some(address) = self.sent.pop() {
            self.free.push(u32::try_from(address / u64::from(PLACE)).unwrap_or(0));
        }
        self.sent.publish(1);
    }

    /// Has the kernel send what waits: where it copies, one call sends some of the frames.
    fn kick(&self) -> io::Result<()> {
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

/// Memory that the kernel and this process share.
#[derive(Debug)]
struct Mapped {
    at: *mut u8,
    length: usize,
}

// SAFETY: the memory belongs to this value alone, in whatever thread.
unsafe impl Send for Mapped {}

const ACCESS: ProtFlags = ProtFlags::READ.union(ProtFlags::WRITE);

impl Mapped {
    fn anonymous(length: usize) -> io::Result<Self> {
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

    /// A frame's place; that of the last frame for larger numbers.
    fn place(&mut self, number: u32) -> &mut [u8] {
        let at = (number.min(PLACES - 1) * PLACE) as usize;
        // SAFETY: within the memory, of which this value is borrowed alone. The kernel reads a
        // place from when it is in a ring until it gives it back, and then it is not in `free`.
        unsafe { std::slice::from_raw_parts_mut(self.at.add(at), PLACE as usize) }
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
struct Ring {
    memory: Mapped,
    /// Places of the numbers that tell how many were put in, and how many taken out.
    counts: [usize; 2],
    /// Place of the first entry, and bytes of each.
    entries: (usize, usize),
    /// How many this end has put in or taken out.
    own: u32,
}

impl Ring {
    fn of(socket: &OwnedFd, (page, at): (u64, XdpRingOffset), entry: usize) -> io::Result<Self> {
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        let [producer, consumer, first] = [at.producer, at.consumer, at.desc].map(place);
        let memory = Mapped::of(socket, page, first + PLACES as usize * entry)?;
        Ok(Self { memory, counts: [producer, consumer], entries: (first, entry), own: 0 })
    }

    fn count(&self, which: usize) -> &AtomicU32 {
        // SAFETY: the kernel told this place, which is within the mapping and aligned to 4 bytes;
        // both ends touch it as an atomic number alone.
        unsafe { AtomicU32::from_ptr(self.memory.at.add(self.counts[which]).cast()) }
    }

    fn entry(&self) -> *mut u64 {
        let (first, size) = self.entries;
        let at = first + (self.own & (PLACES - 1)) as usize * size;
        // SAFETY: an entry of this number is within the mapping, which holds as many.
        unsafe { self.memory.at.add(at) }.cast()
    }

    /// Puts a frame in, which `publish` tells the kernel; no more than there are places.
    fn push(&mut self, address: u64, length: u32) {
        let entry = self.entry();
        // SAFETY: an entry of 16 bytes is an address, a length and options of 0; the kernel reads
        // it when it is told.
        unsafe {
            entry.write(address);
            entry.add(1).cast::<[u32; 2]>().write([length, 0]);
        }
        self.own = self.own.wrapping_add(1);
    }

    /// Takes out an address that the kernel has put in.
    fn pop(&mut self) -> Option<u64> {
        if self.count(0).load(Acquire) == self.own {
            return None;
        }
        // SAFETY: the kernel has written this entry of 8 bytes, as it has just told.
        let address = unsafe { self.entry().read() };
        self.own = self.own.wrapping_add(1);
        Some(address)
    }

    /// Tells the kernel how many were put in (0) or taken out (1).
    fn publish(&self, which: usize) {
        self.count(which).store(self.own, Release);
    }

    /// Frames that the kernel has not taken.
    fn waiting(&self) -> u32 {
        self.own.wrapping_sub(self.count(1).load(Acquire))
    }
}
