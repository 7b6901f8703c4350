//! Knows how blocks are read and written by `pread` and `pwrite`: a thread for each slot of the
//! queue, the first of which is the one that is measured.
//!
//! Must not know which blocks, nor what is made of their times.

use super::blocks::Kind;
use super::job::{Book, Target, failed, locked, patience};
use crate::engine::net::content::Paged;
use rig::lab::clock;
use rustix::fs::fsync;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// The slots of one thread's queue.
#[derive(Debug)]
pub struct Slots {
    /// The slot of the thread itself.
    own: Slot,
    gate: Arc<Gate>,
    helpers: Vec<JoinHandle<()>>,
}

/// One slot.
#[derive(Debug)]
struct Slot {
    target: Target,
    book: Arc<Mutex<Book>>,
    buffer: Paged,
}

/// Through it the helpers go to work.
#[derive(Debug, Default)]
struct Gate {
    /// Read by helpers between two operations.
    open: AtomicBool,
    inside: Mutex<Inside>,
    changed: Condvar,
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
    /// Starts a thread for each slot but the first, on the CPUs of the thread that calls.
    ///
    /// # Errors
    /// When there are too many threads.
    pub fn start(target: &Target, book: &Arc<Mutex<Book>>, depth: usize) -> Result<Self, String> {
        let slot =
            || Slot { target: target.clone(), book: Arc::clone(book), buffer: target.buffer() };
        let gate = Arc::new(Gate::default());
        let mut slots = Self { own: slot(), gate, helpers: Vec::new() };
        for _ in 1..depth {
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
        let patience = patience();
        while self.own.step().is_some_and(|done| done < until && clock::now_ns() < patience) {}
    }

    /// Waits until nothing is under way.
    pub fn drain(&mut self) {
        self.gate.set(false);
        let mut inside = self.gate.lock();
        while inside.working > 0 {
            inside = self.gate.changed.wait(inside).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        self.drain();
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
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
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

    fn leave(&self) {
        self.lock().working -= 1;
        self.changed.notify_all();
    }
}

impl Slot {
    /// The life of a helper.
    fn help(mut self, gate: &Gate) {
        while gate.enter() {
            let mut broken = false;
            while gate.open.load(Ordering::Relaxed) && !broken {
                broken = self.step().is_none();
            }
            gate.leave();
            if broken {
                return;
            }
        }
    }

    /// Does one operation; how many were complete then, none where one failed.
    fn step(&mut self) -> Option<u64> {
        let op = {
            let mut book = locked(&self.book);
            if book.is_broken() {
                return None;
            }
            book.blocks.begin()
        };
        let (file, offset) = (&self.target.file, self.target.offset(op.block));
        self.target.fill(op, &mut self.buffer);
        let bytes = &mut self.buffer[..self.target.bytes(op)];
        let begun_ns = clock::now_ns();
        let mut gave = match op.kind {
            Kind::Read => file.read_exact_at(bytes, offset),
            Kind::Write => file.write_all_at(bytes, offset),
        };
        if op.sync && gave.is_ok() {
            gave = fsync(file.as_ref()).map_err(Into::into);
        }
        let done_ns = clock::now_ns();
        let gave = gave.map_err(|e| failed(op, &e));
        let gave = gave.and_then(|()| self.target.verify(op, &self.buffer));
        let mut book = locked(&self.book);
        book.end(op, (begun_ns, done_ns), gave);
        (!book.is_broken()).then(|| book.done())
    }
}
