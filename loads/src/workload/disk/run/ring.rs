//! Knows how blocks are read and written by `io_uring`.
//!
//! Must not know which blocks, nor what is made of their times.

use super::blocks::{Kind, Op};
use super::job::{Book, Target, failed, locked, paced_patience, patience};
use super::setup::{Setup, Submission, unregistered};
use super::turns::Turns;
use crate::engine::net::content::Paged;
use crate::engine::pace::OFFERED;
use crate::engine::ring::{Completions, SINGLE, open};
use crate::engine::times::Moments;
use io_uring::squeue::Entry;
use io_uring::{IoUring, opcode, types};
use rig::lab::clock;
use rig::metal::Unready;
use std::num::NonZeroU64;
use std::os::fd::AsRawFd as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{fmt, io, mem};

/// The place of the file in the table of the ring.
const FILE: types::Fixed = types::Fixed(0);

/// Comparing so many bytes takes no longer than a system call.
const BRIEF: usize = 16 << 10;

/// How a wait ends besides by a completion.
const ENDED: [i32; 3] = [libc::ETIME, libc::EINTR, libc::EBUSY];

/// A ring, and the slots of its queue.
pub struct Ring {
    ring: IoUring,
    setup: Setup,
    target: Target,
    book: Arc<Mutex<Book>>,
    /// One of each slot, and one to spare.
    buffers: Vec<Paged>,
    /// The buffer that no operation works on.
    spare: usize,
    slots: Vec<Slot>,
    /// Slots without an operation.
    free: Vec<usize>,
    /// What the last calls gave: slot and result.
    ended: Vec<(usize, i32)>,
    under_way: usize,
    /// It takes submissions of no thread before one has begun to work with it.
    disabled: bool,
    /// When operations are due, in an open loop.
    turns: Option<Arc<Mutex<Turns>>>,
    granted: String,
}

/// An operation, and the buffer that it works on.
#[derive(Debug)]
struct Slot {
    buffer: usize,
    op: Option<Op>,
    at: Moments,
    /// Its write is done, and its fsync under way.
    syncs: bool,
}

/// An operation that the kernel has done.
struct Done {
    op: Op,
    at: Moments,
    gave: Result<(), String>,
    /// What it read or wrote.
    buffer: usize,
}

impl Slot {
    /// Notes when its operation begins, in a closed loop.
    const fn begins(&mut self, now_ns: u64) {
        (self.at.intended, self.at.begun) = (now_ns, now_ns);
    }
}

impl fmt::Debug for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring").field("slots", &self.slots.len()).finish_non_exhaustive()
    }
}

impl Ring {
    /// Makes a ring with so many slots, of a closed loop or of an open one. The thread that works
    /// with it first has to go on with it.
    ///
    /// # Errors
    /// A kernel that has none, forbids it, or refuses what it is to be made with.
    pub fn new(
        target: &Target,
        book: &Arc<Mutex<Book>>,
        (depth, setup): (usize, Setup),
        turns: Option<Arc<Mutex<Turns>>>,
    ) -> Result<Self, Unready> {
        // The kernel's thread frees entries only when all that it took at once are handed over:
        // operations of some are complete by then, and begun again.
        let times = if setup.completions == Completions::Polled { 2 } else { 1 };
        let entries = u32::try_from((depth * times).next_power_of_two()).unwrap_or(u32::MAX);
        let (ring, flags) = open(entries, setup.completions).map_err(|e| setup.refused(&e))?;
        if turns.is_some() && !ring.params().is_feature_ext_arg() {
            return Err(untimed());
        }
        let idle = |buffer| Slot { buffer, op: None, at: Moments::default(), syncs: false };
        let mut ring = Self {
            ring,
            setup,
            target: target.clone(),
            book: Arc::clone(book),
            buffers: (0..=depth).map(|_| target.buffer()).collect(),
            spare: depth,
            slots: (0..depth).map(idle).collect(),
            free: (0..depth).rev().collect(),
            ended: Vec::with_capacity(2 * depth),
            under_way: 0,
            disabled: flags.contains(&SINGLE),
            turns,
            granted: String::new(),
        };
        if let (true, Err(e)) = (setup.registered, ring.register()) {
            if setup.strict {
                let bytes = (depth + 1).saturating_mul(target.block * target.most);
                return Err(unregistered(bytes, &e));
            }
            let _ = ring.ring.submitter().unregister_files();
            ring.setup.registered = false;
        }
        let registered = ring.setup.registered;
        let files = if registered { "fixed file, registered buffers" } else { "plain" };
        ring.granted = [flags, &[files]].concat().join(", ");
        Ok(ring)
    }

    /// What the kernel granted, in words.
    #[must_use]
    pub fn granted(&self) -> &str {
        &self.granted
    }

    /// Registers the file, and pins the buffers; a limit on locked memory may forbid it.
    fn register(&mut self) -> io::Result<()> {
        let buffers: Vec<libc::iovec> = self
            .buffers
            .iter_mut()
            .map(|buffer| libc::iovec {
                iov_base: buffer.as_mut_ptr().cast(),
                iov_len: buffer.len(),
            })
            .collect();
        let submitter = self.ring.submitter();
        submitter.register_files(&[self.target.file.as_raw_fd()])?;
        // SAFETY: the buffers are memory of this value, which is neither moved nor freed before the
        // ring: `drop` waits for all that is under way.
        unsafe { submitter.register_buffers(&buffers) }
    }

    /// Works until so many more operations are complete, or one and its patience is over. But for a
    /// queue of one the next ones are under way then.
    pub fn run(&mut self, passes: u64) {
        let book = Arc::clone(&self.book);
        let mut book = locked(&book);
        if let Err(e) = self.work(passes, &mut book) {
            book.breaks(format!("io_uring: {e}"));
        }
    }

    fn work(&mut self, passes: u64, book: &mut Book) -> io::Result<()> {
        if mem::take(&mut self.disabled) {
            self.ring.submitter().register_enable_rings()?;
        }
        if let Some(turns) = self.turns.clone() {
            // Sleeps until the moment itself, not up to 50 us beyond it.
            rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?;
            let (until, patience) = (book.done() + passes, paced_patience());
            let enough = |done: u64| done >= until || clock::now_ns() > patience;
            return self.take_turns(&mut locked(&turns), book, enough);
        }
        let (from, patience) = (book.done(), patience());
        loop {
            let (now_ns, is_deep) = (clock::now_ns(), self.slots.len() > 1);
            let each = self.setup.submission == Submission::Each;
            let is_over = now_ns > patience;
            // Of a queue of one nothing is under way when enough is done.
            let follows = |done: u64| is_deep || (done + 1 < from + passes && !is_over);
            self.reap(book, now_ns, |done| each && follows(done))?;
            if book.is_broken() {
                return Ok(());
            }
            let late = book.done() > from && is_over;
            let enough = late || book.done() >= from + passes;
            if !enough || is_deep {
                self.refill(book)?;
            }
            // A queue in which nothing could be begun has nothing to wait for.
            if enough || book.is_broken() {
                return self.enter(0);
            }
            // What is complete is taken without a wait.
            let is_idle = self.ring.completion().is_empty();
            self.enter(usize::from(is_idle))?;
        }
    }

    /// Begins operations when they are due, until so many complete ones are enough, or the window
    /// has none left that could begin.
    fn take_turns(
        &mut self,
        turns: &mut Turns,
        book: &mut Book,
        enough: impl Fn(u64) -> bool,
    ) -> io::Result<()> {
        loop {
            self.reap(book, clock::now_ns(), |_| false)?;
            while let (Some(at), false) = (self.free.last().copied(), book.is_broken()) {
                let Some(intended) = turns.take(clock::now_ns()) else { break };
                self.free.pop();
                self.begin(at, book);
                self.slots[at].at.begun = clock::now_ns();
                self.slots[at].at.intended = intended;
                self.enter(0)?;
            }
            if book.is_broken() || enough(book.done()) {
                return Ok(());
            }
            match self.free.is_empty() {
                true => self.enter(1)?,
                false => self.await_turn(turns.wake_ns())?,
            }
        }
    }

    /// Waits for a completion, but no longer than until a moment; from then on it only looks.
    fn await_turn(&self, until_ns: u64) -> io::Result<()> {
        let left = Duration::from_nanos(until_ns.saturating_sub(clock::now_ns()));
        let left = types::Timespec::from(left);
        let args = types::SubmitArgs::new().timespec(&left);
        match self.ring.submitter().submit_with_args(1, &args) {
            // Nothing was complete by then, a signal came, or completions have to be taken first.
            Err(e) if ENDED.iter().any(|code| e.raw_os_error() == Some(*code)) => Ok(()),
            other => other.map(|_| ()),
        }
    }

    /// Waits until nothing is under way; false where the kernel does not let us.
    fn settle(&mut self) -> bool {
        let book = Arc::clone(&self.book);
        while self.under_way > 0 {
            let waited = self.enter(1);
            let reaped = self.reap(&mut locked(&book), clock::now_ns(), |_| false);
            if waited.and(reaped).is_err() {
                return false;
            }
        }
        true
    }

    /// Waits until nothing is under way; in an open loop first for the end of the window.
    pub fn drain(&mut self) {
        if let Some(turns) = self.turns.clone() {
            let (book, mut turns) = (Arc::clone(&self.book), locked(&turns));
            let closes_ns = turns.closes_ns();
            let mut book = locked(&book);
            if let Err(e) = self.take_turns(&mut turns, &mut book, |_| clock::now_ns() >= closes_ns)
            {
                book.breaks(format!("io_uring: {e}"));
            }
        }
        if !self.settle() {
            let why = "io_uring: what is under way cannot be waited for".into();
            locked(&self.book).breaks(why);
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

    /// Takes the completions since the last pass. Their moments are unknown, so their times do not
    /// count; which operations they are does not depend on how long they took.
    pub fn collect(&mut self) {
        let book = Arc::clone(&self.book);
        let mut book = locked(&book);
        if let Err(e) = self.reap(&mut book, u64::MAX, |_| false) {
            book.breaks(format!("io_uring: {e}"));
        }
    }

    /// Takes all completions that are there, at this moment. Where another operation follows, by
    /// how many were complete before, it is under way while the bytes of this one are compared. Of
    /// the last that is brief to compare, the call that waits hands over the next one.
    fn reap(
        &mut self,
        book: &mut Book,
        now_ns: u64,
        follows: impl Fn(u64) -> bool,
    ) -> io::Result<()> {
        let mut ended = mem::take(&mut self.ended);
        let slot = |data: u64| usize::try_from(data).unwrap_or(usize::MAX);
        ended.extend(self.ring.completion().map(|e| (slot(e.user_data()), e.result())));
        let mut left = ended.len();
        for (at, result) in ended.drain(..) {
            left -= 1;
            let Some(Done { op, at: moments, gave, buffer }) = self.end(at, result, now_ns, book)
            else {
                continue;
            };
            book.blocks.end(op);
            let waits = left == 0 && self.target.bytes(op) <= BRIEF;
            if !waits && gave.is_ok() && !book.is_broken() && follows(book.done()) {
                self.slots[at].buffer = mem::replace(&mut self.spare, buffer);
                self.begin(at, book);
                self.slots[at].begins(clock::now_ns());
                self.enter(0)?;
            } else {
                self.free.push(at);
            }
            let gave = gave.and_then(|()| self.target.verify(op, &self.buffers[buffer]));
            book.end(op, moments, gave);
        }
        self.ended = ended;
        Ok(())
    }

    /// Ends the operation of a slot, or begins the fsync that belongs to it.
    fn end(&mut self, at: usize, result: i32, now_ns: u64, book: &mut Book) -> Option<Done> {
        self.under_way -= 1;
        let slot = self.slots.get_mut(at)?;
        let op = slot.op?;
        let is_moved = !slot.syncs && op.kind != Kind::Trim;
        let wanted = if is_moved { self.target.bytes(op) } else { 0 };
        let gave = match usize::try_from(result) {
            Ok(bytes) if bytes == wanted => Ok(()),
            Ok(bytes) => Err(failed(op, &format!("{bytes} of {wanted} B"))),
            Err(_) => Err(failed(op, &io::Error::from_raw_os_error(-result))),
        };
        if op.sync && !slot.syncs && gave.is_ok() && !book.is_broken() {
            slot.syncs = true;
            let entry = match self.setup.registered {
                true => opcode::Fsync::new(FILE).build(),
                false => opcode::Fsync::new(types::Fd(self.target.file.as_raw_fd())).build(),
            };
            self.push(at, &entry, book);
            return None;
        }
        let moments = Moments { done: now_ns, ..slot.at };
        (slot.op, slot.syncs) = (None, false);
        slot.at.free = now_ns;
        Some(Done { op, at: moments, gave, buffer: slot.buffer })
    }

    /// Begins an operation in every slot that is free. The last of them, or all of a batch, are
    /// handed over by the next call, which waits, too.
    fn refill(&mut self, book: &mut Book) -> io::Result<()> {
        let mut free = mem::take(&mut self.free);
        let each = self.setup.submission == Submission::Each;
        let (mut waits, mut begun) = (0, 0);
        for at in &free {
            if each && begun > waits {
                self.enter(0)?;
                waits = begun;
            }
            self.begin(*at, book);
            begun += 1;
            if each {
                self.slots[*at].begins(clock::now_ns());
            }
        }
        if !each {
            // All of them are handed over at once, when the content of the last stands.
            let now_ns = clock::now_ns();
            free.iter().for_each(|at| self.slots[*at].begins(now_ns));
        }
        free.clear();
        self.free = free;
        Ok(())
    }

    /// Prepares the next operation in a slot.
    fn begin(&mut self, at: usize, book: &mut Book) {
        let op = book.blocks.begin();
        if let Err(why) = self.target.empty(op) {
            return book.breaks(why);
        }
        let offset = self.target.offset(op.block);
        let slot = &mut self.slots[at];
        let buffer = &mut self.buffers[slot.buffer];
        self.target.fill(op, buffer);
        let bytes = buffer.as_mut_ptr();
        let length = u32::try_from(self.target.bytes(op)).unwrap_or(u32::MAX);
        let index = u16::try_from(slot.buffer).unwrap_or(u16::MAX);
        slot.op = Some(op);
        let file = types::Fd(self.target.file.as_raw_fd());
        let entry = match (op.kind, self.setup.registered) {
            (Kind::Read, true) => {
                opcode::ReadFixed::new(FILE, bytes, length, index).offset(offset).build()
            }
            (Kind::Write, true) => {
                opcode::WriteFixed::new(FILE, bytes, length, index).offset(offset).build()
            }
            (Kind::Read, false) => opcode::Read::new(file, bytes, length).offset(offset).build(),
            (Kind::Write, false) => opcode::Write::new(file, bytes, length).offset(offset).build(),
            (Kind::Trim, true) => trim(opcode::Fallocate::new(FILE, length.into()), offset),
            (Kind::Trim, false) => trim(opcode::Fallocate::new(file, length.into()), offset),
        };
        self.push(at, &entry, book);
    }

    /// Prepares an entry of a slot. There is room: one for each slot, or two, see [`Self::new`].
    fn push(&mut self, at: usize, entry: &Entry, book: &mut Book) {
        let entry = entry.clone().user_data(at as u64);
        // SAFETY: the buffer of the entry is that of the slot alone. No code touches it before the
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
            mem::forget(mem::take(&mut self.buffers));
            return;
        }
        // Else the kernel would free file and memory some time after the next trial has begun.
        let submitter = self.ring.submitter();
        if self.setup.registered {
            let _ = submitter.unregister_files();
            let _ = submitter.unregister_buffers();
        }
    }
}

/// An entry that gives blocks back, and keeps the size of the file.
fn trim(blocks: opcode::Fallocate, offset: u64) -> Entry {
    blocks.offset(offset).mode(libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE).build()
}

/// Why a ring cannot be that of an open loop, with the remedy.
fn untimed() -> Unready {
    Unready::NotAvailable(format!(
        "{} of engine = \"uring\" needs a wait with an end, which Linux has from 5.11 on; take \
         engine = \"pread\", or {} = \"full\"",
        OFFERED.name, OFFERED.name
    ))
}
