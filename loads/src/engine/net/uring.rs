//! Knows how a stream is sent and received by `io_uring`, one ring for each end.
//!
//! Must not know what travels.

use super::content::Paged;
use crate::engine::ring::{Completions, SINGLE, open};
use io_uring::types::{BufRingEntry, Fd};
use io_uring::{IoUring, cqueue, opcode, squeue};
use std::io::{self, IoSlice};
use std::mem;
use std::net::TcpStream;
use std::os::fd::AsRawFd as _;
use std::sync::atomic::{AtomicU16, Ordering::Release};

/// Number of the group of buffers.
const GROUP: u16 = 0;
/// Bytes of all buffers of a receiver together, at the least, and how many there may be: powers of
/// two.
const BYTES: usize = 2 << 20;
const BUFFERS: (usize, usize) = (4, 1 << 13);
/// What marks the completions of receiving, and that of the end of it.
const RECEIVES: u64 = 1;
const CANCELS: u64 = 2;

/// A ring whose thread is not known yet.
struct Ring {
    ring: IoUring,
    /// It takes submissions of no thread before one has begun to work with it.
    disabled: bool,
}

impl Ring {
    fn open(entries: usize) -> io::Result<Self> {
        let entries = u32::try_from(entries.next_power_of_two()).unwrap_or(u32::MAX);
        // Linux defers completions to the thread that waits for them from 6.1 on.
        let opened = open(entries, Completions::Deferred)
            .or_else(|_| open(entries, Completions::Cooperative));
        let (ring, flags) = opened?;
        Ok(Self { ring, disabled: flags.contains(&SINGLE) })
    }

    /// Hands over what was prepared and waits for so many completions.
    fn enter(&mut self, wait: usize) -> io::Result<()> {
        if mem::take(&mut self.disabled) {
            self.ring.submitter().register_enable_rings()?;
        }
        loop {
            match self.ring.submit_and_wait(wait) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                // Completions have to be taken first.
                Err(e) if e.raw_os_error() == Some(libc::EBUSY) => return Ok(()),
                told => return told.map(|_| ()),
            }
        }
    }

    /// Prepares an entry.
    ///
    /// # Safety
    /// What the entry names must live, and be left alone, until its last completion has come.
    unsafe fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        // SAFETY: as the caller promises.
        unsafe { self.ring.submission().push(entry) }.map_err(io::Error::other)
    }
}

/// The sending end of a stream.
pub struct Sender {
    ring: Ring,
    /// What the calls of a chain gave, by their places.
    gave: Vec<i32>,
}

impl Sender {
    /// One that hands over at most so many parts at once.
    ///
    /// # Errors
    /// A kernel that has no rings or forbids them.
    pub fn open(parts: usize) -> io::Result<Self> {
        Ok(Self { ring: Ring::open(parts)?, gave: Vec::with_capacity(parts) })
    }

    /// Sends the parts, each by an entry that waits for the one before it; gives how many bytes
    /// went out in a row.
    ///
    /// # Errors
    /// What the socket says, where it took nothing.
    pub fn send(&mut self, socket: &TcpStream, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        let fd = Fd(socket.as_raw_fd());
        self.gave.clear();
        self.gave.resize(parts.len(), 0);
        for (at, part) in parts.iter().enumerate() {
            let length = u32::try_from(part.len()).unwrap_or(u32::MAX);
            let entry = opcode::Send::new(fd, part.as_ptr(), length)
                .flags(libc::MSG_WAITALL | libc::MSG_NOSIGNAL)
                .build()
                .user_data(at as u64);
            let follows = at + 1 < parts.len();
            let entry = if follows { entry.flags(squeue::Flags::IO_LINK) } else { entry };
            // SAFETY: the kernel only reads the part, and it is borrowed until all entries of this
            // call are complete.
            unsafe { self.ring.push(&entry)? };
        }
        let mut left = parts.len();
        while left > 0 {
            self.ring.enter(left)?;
            for done in self.ring.ring.completion() {
                let at = usize::try_from(done.user_data()).unwrap_or(usize::MAX);
                if let Some(gave) = self.gave.get_mut(at) {
                    *gave = done.result();
                }
                left = left.saturating_sub(1);
            }
        }
        sent(&self.gave, parts)
    }
}

/// Bytes that went out in a row, by what each entry gave; or why nothing did.
fn sent(gave: &[i32], parts: &[IoSlice<'_>]) -> io::Result<usize> {
    let mut sent = 0;
    for (gave, part) in gave.iter().zip(parts) {
        match usize::try_from(*gave) {
            Ok(bytes) => {
                sent += bytes;
                if bytes < part.len() {
                    break;
                }
            }
            Err(_) if sent > 0 => break,
            Err(_) => return Err(io::Error::from_raw_os_error(-*gave)),
        }
    }
    Ok(sent)
}

/// The receiving end of a stream: one order to receive, which the kernel carries out again and
/// again into buffers that it was lent (multishot receive, a ring of provided buffers).
pub struct Receiver {
    ring: Ring,
    buffers: Vec<Paged>,
    /// The kernel reads here which buffers it may use.
    lent: Paged,
    /// How many buffers have been lent so far, as the kernel counts them.
    tail: u16,
    /// Whether the order stands.
    stands: bool,
}

impl Receiver {
    /// One with buffers of so many bytes, all together of so many at the least.
    ///
    /// # Errors
    /// A kernel that has no rings or no such buffers, or forbids them.
    pub fn open(bytes: usize, memory: usize) -> io::Result<Self> {
        let ring = Ring::open(4)?;
        let count = memory.max(BYTES).div_ceil(bytes.max(1)).next_power_of_two();
        let count = count.clamp(BUFFERS.0, BUFFERS.1);
        let buffers = (0..count).map(|_| Paged::zeros(bytes)).collect();
        let lent = Paged::zeros(count * size_of::<BufRingEntry>());
        let mut made = Self { ring, buffers, lent, tail: 0, stands: false };
        let entries = u16::try_from(count).unwrap_or(u16::MAX);
        let base = made.lent.as_mut_ptr() as u64;
        // SAFETY: the memory begins on a page, has room for so many entries and lives as long as
        // the ring, or for ever: see `drop`.
        unsafe {
            let submitter = made.ring.ring.submitter();
            submitter.register_buf_ring_with_flags(base, entries, GROUP, 0)?;
        }
        for at in 0..entries {
            made.lend(at);
        }
        Ok(made)
    }

    /// Lends a buffer to the kernel.
    fn lend(&mut self, at: u16) {
        let buffer = &mut self.buffers[usize::from(at)];
        let (bytes, length) = (buffer.as_mut_ptr() as u64, buffer.len());
        let place = usize::from(self.tail) % self.buffers.len();
        let base = self.lent.as_mut_ptr().cast::<BufRingEntry>();
        // SAFETY: `place` is less than the entries for which `lent` has room, and this one is not
        // the kernel's: no more buffers are lent than there are entries.
        let entry = unsafe { &mut *base.add(place) };
        entry.set_addr(bytes);
        entry.set_len(u32::try_from(length).unwrap_or(u32::MAX));
        entry.set_bid(at);
        self.tail = self.tail.wrapping_add(1);
        // SAFETY: the tail lies in the first entry of the ring, where no other field is written,
        // and is aligned for two bytes; the kernel reads it, as another thread would.
        unsafe {
            let tail = BufRingEntry::tail(base).cast_mut();
            AtomicU16::from_ptr(tail).store(self.tail, Release);
        }
    }

    /// Has the kernel receive until it says that it no longer does.
    fn order(&mut self, socket: &TcpStream) -> io::Result<()> {
        let order = opcode::RecvMulti::new(Fd(socket.as_raw_fd()), GROUP);
        let entry = order.build().user_data(RECEIVES);
        // SAFETY: the entry names no memory but the lent buffers, which live as long as the ring.
        unsafe { self.ring.push(&entry)? };
        self.stands = true;
        Ok(())
    }

    /// Waits until something has come and hands it over, piece by piece in their order; gives false
    /// at the end of the stream.
    ///
    /// # Errors
    /// What the socket says; what `take` does.
    pub fn receive(
        &mut self,
        socket: &TcpStream,
        mut take: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<bool> {
        if !self.stands {
            self.order(socket)?;
        }
        self.ring.enter(1)?;
        while let Some(done) = self.next() {
            if done.user_data() != RECEIVES {
                continue;
            }
            self.stands &= cqueue::more(done.flags());
            let bytes = match usize::try_from(done.result()) {
                Ok(0) => return Ok(false),
                Ok(bytes) => bytes,
                // All buffers were full; they are free again by the next call.
                Err(_) if done.result() == -libc::ENOBUFS => continue,
                Err(_) => return Err(io::Error::from_raw_os_error(-done.result())),
            };
            let Some(at) = cqueue::buffer_select(done.flags()) else {
                return Err(io::Error::other("io_uring: received into no buffer"));
            };
            let taken = self.buffers.get(usize::from(at)).and_then(|buffer| buffer.get(..bytes));
            take(taken.ok_or_else(|| io::Error::other("io_uring: received into no such buffer"))?)?;
            self.lend(at);
        }
        Ok(true)
    }

    fn next(&mut self) -> Option<cqueue::Entry> {
        self.ring.ring.completion().next()
    }

    /// Ends the order, and waits until it has ended.
    fn settle(&mut self) -> io::Result<()> {
        if !self.stands {
            return Ok(());
        }
        let entry = opcode::AsyncCancel::new(RECEIVES).build().user_data(CANCELS);
        // SAFETY: the entry names no memory.
        unsafe { self.ring.push(&entry)? };
        while self.stands {
            self.ring.enter(1)?;
            while let Some(done) = self.next() {
                self.stands &= done.user_data() != RECEIVES || cqueue::more(done.flags());
            }
        }
        Ok(())
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        if self.settle().is_err() {
            // The kernel may still write to them.
            mem::forget(mem::take(&mut self.buffers));
            mem::forget(mem::replace(&mut self.lent, Paged::zeros(0)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_went_out_in_a_row_ends_with_the_first_that_is_short() {
        let (four, all) = ([0; 4], [4, 4, 4]);
        let parts = [IoSlice::new(&four), IoSlice::new(&four), IoSlice::new(&four)];
        assert_eq!(sent(&all, &parts).unwrap(), 12);
        assert_eq!(sent(&[4, 2, -libc::ECANCELED], &parts).unwrap(), 6);
        assert_eq!(sent(&[4, -libc::EPIPE, -libc::ECANCELED], &parts).unwrap(), 4);
        let broken = sent(&[-libc::EPIPE, -libc::ECANCELED, -libc::ECANCELED], &parts);
        assert_eq!(broken.unwrap_err().raw_os_error(), Some(libc::EPIPE));
    }
}
