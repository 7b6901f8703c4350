//! Knows how blocks are read and written by `pread` and `pwrite`: a thread for each slot of the
//! queue, the first of which is the one that is measured.
//!
//! Must not know which blocks, nor what is made of their times.

use super::blocks::Kind;
use super::job::{Book, Target, failed, locked, paced_patience, patience};
use super::turns::Turns;
use crate::engine::file::trim;
use crate::engine::net::content::Paged;
use crate::engine::times::Moments;
use rig::lab::clock;
use rustix::fs::fsync;
use std::hint;
use std::num::NonZeroU64;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// In an open loop the thread that is measured looks so often how many operations are complete.
const GLANCE: Duration = Duration::from_millis(1);
/// So long after the close of a window operations that were due before it are begun, nanoseconds.
const LAST_NS: u64 = 100_000;

/// The slots of one thread's queue.
#[derive(Debug)]
pub struct Slots {
    /// The slot of the thread itself.
    own: Slot,
    /// When operations are due, in an open loop. All slots are helpers then.
    turns: Option<Arc<Mutex<Turns>>>,
    gate: Arc<Gate>,
    helpers: Vec<JoinHandle<()>>,
}

/// One slot.
#[derive(Debug)]
struct Slot {
    target: Target,
    book: Arc<Mutex<Book>>,
    buffer: Paged,
    turns: Option<Arc<Mutex<Turns>>>,
    /// When it was free for the next operation, nanoseconds.
    free_ns: u64,
}

/// Through it the helpers go to work.
#[derive(Debug, Default)]
struct Gate {
    /// Read by helpers between two operations.
    open: AtomicBool,
    inside: Mutex<Inside>,
    changed: Condvar,
    /// Held by the helper that waits for the next turn.
    first: Mutex<()>,
}

/// Who is behind the gate.
#[derive(Debug, Default)]
struct Inside {
    open: bool,
    ended: bool,
    /// Helpers at work.
    working: usize,
}

impl Slots {
    /// Starts a thread for each slot but the first, on the CPUs of the thread that calls; in an
    /// open loop for the first, too.
    ///
    /// # Errors
    /// When there are too many threads.
    pub fn start(
        target: &Target,
        book: &Arc<Mutex<Book>>,
        depth: usize,
        turns: Option<Arc<Mutex<Turns>>>,
    ) -> Result<Self, String> {
        let slot = || Slot {
            target: target.clone(),
            book: Arc::clone(book),
            buffer: target.buffer(),
            turns: turns.clone(),
            free_ns: 0,
        };
        let gate = Arc::new(Gate::default());
        let mut slots = Self { own: slot(), turns: turns.clone(), gate, helpers: Vec::new() };
        for _ in usize::from(turns.is_none())..depth {
            let (slot, gate) = (slot(), Arc::clone(&slots.gate));
            let helper = thread::Builder::new().name("slot".into());
            let started = helper.spawn(move || slot.help(&gate));
            slots.helpers.push(started.map_err(|e| {
                format!("queue_depth = {depth} wants as many threads: {e}; take a smaller one")
            })?);
        }
        Ok(slots)
    }

    /// Works until so many operations were complete since the beginning, or its patience is over.
    /// The helpers go on.
    pub fn run(&mut self, until: u64) {
        if !self.helpers.is_empty() {
            self.gate.set(true);
        }
        if self.turns.is_some() {
            let patience = paced_patience();
            let runs = |book: &Book| book.done() < until && !book.is_broken();
            while runs(&locked(&self.own.book)) && clock::now_ns() < patience {
                thread::sleep(GLANCE);
            }
            return;
        }
        let patience = patience();
        while self.own.step(None).is_some_and(|done| done < until && clock::now_ns() < patience) {}
    }

    /// Waits until nothing is under way; in an open loop first for the end of the window.
    pub fn drain(&mut self) {
        if let (Some(turns), true) = (&self.turns, self.gate.open.load(Ordering::Relaxed)) {
            let closes_ns = locked(turns).closes_ns();
            clock::sleep_until(closes_ns.saturating_add(LAST_NS));
        }
        self.stop();
    }

    /// Tells the helper that waits for a turn that turns have changed.
    pub fn wake(&self) {
        let _inside = self.gate.lock();
        self.gate.changed.notify_all();
    }

    fn stop(&mut self) {
        self.gate.set(false);
        let mut inside = self.gate.lock();
        while inside.working > 0 {
            inside = self.gate.changed.wait(inside).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        self.stop();
        self.gate.lock().ended = true;
        self.gate.changed.notify_all();
        for helper in self.helpers.drain(..) {
            // A helper that panicked has ended, too.
            let _ = helper.join();
        }
    }
}

impl Gate {
    fn lock(&self) -> std::sync::MutexGuard<'_, Inside> {
        locked(&self.inside)
    }

    fn set(&self, open: bool) {
        if self.open.swap(open, Ordering::Relaxed) != open {
            self.lock().open = open;
            self.changed.notify_all();
        }
    }

    /// Waits until it is open; false where there is no more work.
    fn enter(&self) -> bool {
        let mut inside = self.lock();
        while !inside.open && !inside.ended {
            inside = self.changed.wait(inside).unwrap_or_else(PoisonError::into_inner);
        }
        inside.working += usize::from(!inside.ended);
        !inside.ended
    }

    /// Waits until an operation is due, one helper at a time; when it was. None where the gate was
    /// closed before.
    fn turn(&self, turns: &Mutex<Turns>) -> Option<u64> {
        let _first = locked(&self.first);
        loop {
            let inside = self.lock();
            if !inside.open {
                return None;
            }
            let (now_ns, mut turns) = (clock::now_ns(), locked(turns));
            if let Some(intended) = turns.take(now_ns) {
                return Some(intended);
            }
            let left_ns = turns.wake_ns().saturating_sub(now_ns);
            drop(turns);
            if left_ns > 0 {
                drop(self.changed.wait_timeout(inside, Duration::from_nanos(left_ns)));
            } else {
                drop(inside);
                hint::spin_loop();
            }
        }
    }

    fn leave(&self) {
        self.lock().working -= 1;
        self.changed.notify_all();
    }
}

impl Slot {
    /// The life of a helper.
    fn help(mut self, gate: &Gate) {
        // Sleeps until the moment itself, not up to 50 us beyond it. Where that cannot be, the
        // lateness tells it.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        while gate.enter() {
            let mut broken = false;
            while gate.open.load(Ordering::Relaxed) && !broken {
                broken = match self.turns.clone() {
                    None => self.step(None).is_none(),
                    Some(turns) => match gate.turn(&turns) {
                        Some(intended) => self.step(Some(intended)).is_none(),
                        None => break,
                    },
                };
            }
            gate.leave();
            if broken {
                return;
            }
        }
    }

    /// Does one operation, which was due at this moment in an open loop; how many were complete
    /// then, none where one failed.
    fn step(&mut self, intended: Option<u64>) -> Option<u64> {
        let op = {
            let mut book = locked(&self.book);
            if book.is_broken() {
                return None;
            }
            book.blocks.begin()
        };
        let emptied = self.target.empty(op);
        let (file, offset) = (&self.target.file, self.target.offset(op.block));
        self.target.fill(op, &mut self.buffer);
        let bytes = &mut self.buffer[..self.target.bytes(op)];
        let begun = clock::now_ns();
        let mut gave = match op.kind {
            Kind::Read => file.read_exact_at(bytes, offset),
            Kind::Write => file.write_all_at(bytes, offset),
            Kind::Trim => trim(file.as_ref(), (offset, bytes.len() as u64)).map_err(Into::into),
        };
        if op.sync && gave.is_ok() {
            gave = fsync(file.as_ref()).map_err(Into::into);
        }
        let done = clock::now_ns();
        let at = Moments { intended: intended.unwrap_or(begun), begun, free: self.free_ns, done };
        let gave = emptied.and(gave.map_err(|e| failed(op, &e)));
        let gave = gave.and_then(|()| self.target.verify(op, &self.buffer));
        let mut book = locked(&self.book);
        book.blocks.end(op);
        book.end(op, at, gave);
        self.free_ns = clock::now_ns();
        (!book.is_broken()).then(|| book.done())
    }
}
