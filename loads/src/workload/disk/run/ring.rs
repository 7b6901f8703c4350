//! Knows how blocks are read and written by `io_uring`: one submission for all operations that the
//! last completions made room for.
//!
//! Must not know which blocks, nor what is made of their times.

use super::blocks::{Kind, Op};
use super::job::{Book, Target, failed, locked, patience};
use crate::engine::net::content::Paged;
use io_uring::squeue::Entry;
use io_uring::{IoUring, opcode, types};
use rig::lab::clock;
use rig::metal::Unready;
use std::os::fd::AsRawFd as _;
use std::sync::{Arc, Mutex};
use std::{fmt, io, mem};

/// The place of the file in the table of the ring.
const FILE: types::Fixed = types::Fixed(0);

/// When an operation began that is not handed over yet.
const NOT_YET: u64 = u64::MAX;

/// A ring, and the slots of its queue.
pub struct Ring {
    ring: IoUring,
    target: Target,
    book: Arc<Mutex<Book>>,
    slots: Vec<Slot>,
    /// What the last calls gave: slot and result.
    ended: Vec<(usize, i32)>,
    under_way: usize,
    features: Features,
}

/// What the kernel granted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// Completions are handled when the thread asks for them, and do not interrupt it.
    pub cooperative: bool,
    /// Buffers are pinned once instead of at each operation.
    pub registered: bool,
}

/// A buffer, and the operation that works on it.
#[derive(Debug)]
struct Slot {
    buffer: Paged,
    op: Option<Op>,
    begun_ns: u64,
    /// Its write is done, and its fsync under way.
    syncs: bool,
}

impl fmt::Debug for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring").field("slots", &self.slots.len()).finish_non_exhaustive()
    }
}

impl fmt::Display for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let coop = if self.cooperative { "coop_taskrun" } else { "no coop_taskrun" };
        let fixed = if self.registered { "registered buffers" } else { "plain buffers" };
        write!(f, "{coop}, fixed file, {fixed}")
    }
}

impl Ring {
    /// Makes a ring with so many slots.
    ///
    /// # Errors
    /// A kernel that has none or forbids it.
    pub fn new(target: &Target, book: &Arc<Mutex<Book>>, depth: usize) -> Result<Self, Unready> {
        let entries = u32::try_from(depth.next_power_of_two()).unwrap_or(u32::MAX);
        let (ring, cooperative) = open(entries).map_err(|e| refused(&e))?;
        ring.submitter().register_files(&[target.file.as_raw_fd()]).map_err(|e| refused(&e))?;
        let slot = |_| Slot { buffer: target.buffer(), op: None, begun_ns: 0, syncs: false };
        let mut ring = Self {
            ring,
            target: target.clone(),
            book: Arc::clone(book),
            slots: (0..depth).map(slot).collect(),
            ended: Vec::with_capacity(2 * depth),
            under_way: 0,
            features: Features { cooperative, registered: false },
        };
        ring.features.registered = ring.register();
        Ok(ring)
    }

    /// What the kernel granted.
    #[must_use]
    pub const fn features(&self) -> Features {
        self.features
    }

    /// Pins the buffers; a limit on locked memory may forbid it.
    fn register(&mut self) -> bool {
        let buffers: Vec<libc::iovec> = self
            .slots
            .iter_mut()
            .map(|slot| libc::iovec {
                iov_base: slot.buffer.as_mut_ptr().cast(),
                iov_len: slot.buffer.len(),
            })
            .collect();
        // SAFETY: each buffer is memory of a slot, which is neither moved nor freed before the
        // ring: `drop` waits for all that is under way.
        unsafe { self.ring.submitter().register_buffers(&buffers) }.is_ok()
    }

    /// Works until so many more operations are complete, or one and its patience is over. But for a
    /// queue of one the next ones are under way then.
    pub fn run(&mut self, passes: u64) {
        let book = Arc::clone(&self.book);
        let (from, patience) = (locked(&book).done(), patience());
        loop {
            {
                let mut book = locked(&book);
                self.reap(&mut book, clock::now_ns());
                if book.is_broken() {
                    return;
                }
                let late = book.done() > from && clock::now_ns() > patience;
                let enough = late || book.done() >= from + passes;
                if !enough || self.slots.len() > 1 {
                    self.refill(&mut book);
                }
                if enough {
                    break;
                }
            }
            if let Err(e) = self.enter(1) {
                return self.breaks(&e);
            }
        }
        if let Err(e) = self.enter(0) {
            self.breaks(&e);
        }
    }

    /// Waits until nothing is under way; false where the kernel does not let us.
    fn settle(&mut self) -> bool {
        let book = Arc::clone(&self.book);
        while self.under_way > 0 {
            if self.enter(1).is_err() {
                return false;
            }
            self.reap(&mut locked(&book), clock::now_ns());
        }
        true
    }

    /// Waits until nothing is under way.
    pub fn drain(&mut self) {
        if !self.settle() {
            self.breaks(&"what is under way cannot be waited for");
        }
    }

    /// Hands over what was prepared and waits for so many completions.
    fn enter(&self, wait: usize) -> io::Result<()> {
        loop {
            match self.ring.submit_and_wait(wait) {
                Ok(_) => return Ok(()),
                // A signal came, or completions have to be taken first.
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.raw_os_error() == Some(libc::EBUSY) => return Ok(()),
                Err(e) => return Err(e),
            }
        }
    }

    fn breaks(&self, why: &dyn fmt::Display) {
        locked(&self.book).breaks(format!("io_uring: {why}"));
    }

    /// Takes the completions since the last pass. Their moments are unknown, so their times do not
    /// count; which operations they are does not depend on how long they took.
    pub fn collect(&mut self) {
        let book = Arc::clone(&self.book);
        self.reap(&mut locked(&book), u64::MAX);
    }

    /// Takes all completions that are there, at this moment.
    fn reap(&mut self, book: &mut Book, now_ns: u64) {
        let mut ended = mem::take(&mut self.ended);
        let slot = |data: u64| usize::try_from(data).unwrap_or(usize::MAX);
        ended.extend(self.ring.completion().map(|e| (slot(e.user_data()), e.result())));
        for (slot, result) in ended.drain(..) {
            self.end(slot, result, now_ns, book);
        }
        self.ended = ended;
    }

    /// Ends the operation of a slot, or begins the fsync that belongs to it.
    fn end(&mut self, at: usize, result: i32, now_ns: u64, book: &mut Book) {
        self.under_way -= 1;
        let Some(slot) = self.slots.get_mut(at) else { return };
        let Some(op) = slot.op else { return };
        let wanted = if slot.syncs { 0 } else { self.target.bytes(op) };
        let gave = match usize::try_from(result) {
            Ok(bytes) if bytes == wanted => Ok(()),
            Ok(bytes) => Err(failed(op, &format!("{bytes} of {wanted} B"))),
            Err(_) => Err(failed(op, &io::Error::from_raw_os_error(-result))),
        };
        if op.sync && !slot.syncs && gave.is_ok() && !book.is_broken() {
            slot.syncs = true;
            return self.push(at, &opcode::Fsync::new(FILE).build(), book);
        }
        let gave = gave.and_then(|()| self.target.verify(op, &slot.buffer));
        book.end(op, (slot.begun_ns, now_ns), gave);
        (slot.op, slot.syncs) = (None, false);
    }

    /// Begins an operation in every slot that is free.
    fn refill(&mut self, book: &mut Book) {
        for at in 0..self.slots.len() {
            if self.slots[at].op.is_none() {
                let op = book.blocks.begin();
                self.begin(at, op, book);
            }
        }
        // All of them are handed over at once, when the content of the last stands.
        let now_ns = clock::now_ns();
        for slot in self.slots.iter_mut().filter(|slot| slot.begun_ns == NOT_YET) {
            slot.begun_ns = now_ns;
        }
    }

    fn begin(&mut self, at: usize, op: Op, book: &mut Book) {
        let offset = self.target.offset(op.block);
        let slot = &mut self.slots[at];
        self.target.fill(op, &mut slot.buffer);
        let bytes = slot.buffer.as_mut_ptr();
        let length = u32::try_from(self.target.bytes(op)).unwrap_or(u32::MAX);
        let index = u16::try_from(at).unwrap_or(u16::MAX);
        (slot.begun_ns, slot.op) = (NOT_YET, Some(op));
        let entry = match (op.kind, self.features.registered) {
            (Kind::Read, true) => {
                opcode::ReadFixed::new(FILE, bytes, length, index).offset(offset).build()
            }
            (Kind::Write, true) => {
                opcode::WriteFixed::new(FILE, bytes, length, index).offset(offset).build()
            }
            (Kind::Read, false) => opcode::Read::new(FILE, bytes, length).offset(offset).build(),
            (Kind::Write, false) => opcode::Write::new(FILE, bytes, length).offset(offset).build(),
        };
        self.push(at, &entry, book);
    }

    /// Prepares an entry of a slot. There is room: the queue has as many entries as slots.
    fn push(&mut self, at: usize, entry: &Entry, book: &mut Book) {
        let entry = entry.clone().user_data(at as u64);
        // SAFETY: the buffer of the entry belongs to the slot. No code touches it before the
        // operation is complete, and it lives until then: `drop` waits for it.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        match pushed {
            Ok(()) => self.under_way += 1,
            // The slot stays taken: it is never begun again.
            Err(e) => book.breaks(format!("io_uring: {e}")),
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        if !self.settle() {
            // The kernel may still write to them.
            mem::forget(mem::take(&mut self.slots));
            return;
        }
        // Else the kernel would free file and memory some time after the next trial has begun.
        let submitter = self.ring.submitter();
        let _ = submitter.unregister_files();
        if self.features.registered {
            let _ = submitter.unregister_buffers();
        }
    }
}

/// A ring, and whether completions come when they are asked for: kernels have that from 5.19 on.
fn open(entries: u32) -> io::Result<(IoUring, bool)> {
    match IoUring::builder().setup_coop_taskrun().build(entries) {
        Err(e) if e.raw_os_error() == Some(libc::EINVAL) => Ok((IoUring::new(entries)?, false)),
        made => Ok((made?, true)),
    }
}

/// Why there is no ring.
pub(super) fn refused(why: &io::Error) -> Unready {
    Unready::NotAvailable(format!(
        "engine = \"uring\": the kernel or its filter of system calls refuses io_uring: {why}; \
         take engine = \"pread\""
    ))
}
