//! Knows where the threads of a load wait for go, and how they learn of the stop.
//!
//! Nothing is shared between threads but this, which all read and nobody writes while the window is
//! open. Must not know what the threads do.

use rig::lab::clock;
use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Longest sleep without a look at the stop flag, nanoseconds.
const LOOK_NS: u64 = 50_000_000;

/// Where threads wait for go and learn of the stop.
#[derive(Debug, Default)]
pub struct Gate {
    open: Mutex<bool>,
    changed: Condvar,
    stop: AtomicBool,
    drain_until_ns: AtomicU64,
    went_ns: AtomicU64,
}

impl Gate {
    fn lock(&self) -> MutexGuard<'_, bool> {
        // A stream that panicked cannot have left a bool half-written.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets all begin.
    pub fn go(&self) {
        let mut open = self.lock();
        if !*open {
            self.went_ns.store(clock::now_ns(), Relaxed);
        }
        *open = true;
        drop(open);
        self.changed.notify_all();
    }

    /// Senders stop now; receivers read on until their sender ends or this moment comes.
    pub fn stop(&self, drain_until_ns: u64) {
        self.drain_until_ns.store(drain_until_ns, Relaxed);
        self.stop.store(true, Release);
        self.go();
    }

    /// Waits for go.
    pub fn wait(&self) {
        let mut open = self.lock();
        while !*open {
            open = self.changed.wait(open).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Sleeps until a moment of the monotonic clock or the stop; gives the time it is then.
    pub fn wait_until(&self, at_ns: u64) -> u64 {
        loop {
            let now_ns = clock::now_ns();
            if now_ns >= at_ns || self.stopped() {
                return now_ns;
            }
            clock::sleep_until(at_ns.min(now_ns + LOOK_NS));
        }
    }

    /// Waits for the stop; after `longest` it stops the threads.
    pub fn limit(&self, longest: Duration) {
        let deadline = Instant::now() + longest;
        let mut open = self.lock();
        while !self.stopped() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                drop(open);
                return self.stop(0);
            }
            let waited = self.changed.wait_timeout(open, left);
            open = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Whether the threads were told to stop.
    #[inline]
    pub fn stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// When it was go, on the monotonic clock; 0 before.
    pub fn went_ns(&self) -> u64 {
        self.went_ns.load(Relaxed)
    }

    /// Whether the time to receive what was under way is over.
    pub fn drained(&self) -> bool {
        self.stop.load(Acquire) && clock::now_ns() >= self.drain_until_ns.load(Relaxed)
    }
}
