//! Knows when the operations of a thread are due in an open loop.
//!
//! Must not know what an operation is, nor who waits for its turn.

use crate::engine::pace::{Pace, Pacer};
use rig::lab::clock;
use rig::metal::Span;

/// Edges of a window that was not announced.
const UNKNOWN: Span = Span { opens_ns: u64::MAX, closes_ns: u64::MAX };

/// The moments at which the operations of a thread are due.
#[derive(Debug)]
pub struct Turns {
    pace: Pace,
    pacer: Pacer,
    window: Span,
    due: u64,
}

impl Turns {
    /// From now on.
    #[must_use]
    pub fn new(pace: Pace) -> Self {
        Self { pace, pacer: Pacer::new(pace, clock::now_ns()), window: UNKNOWN, due: 0 }
    }

    /// They begin again with the window: between a warm-up and its opening no operation begins.
    pub fn opens(&mut self, window: Span) {
        *self = Self { window, ..Self::new(self.pace) };
    }

    /// When the window closes, nanoseconds; [`u64::MAX`] before it is announced.
    #[must_use]
    pub const fn closes_ns(&self) -> u64 {
        self.window.closes_ns
    }

    /// Until when to sleep for the next, nanoseconds.
    #[must_use]
    pub const fn wake_ns(&self) -> u64 {
        self.pacer.wake_ns()
    }

    /// When the next is due, nanoseconds, if it is by now; the one after it is the next then.
    pub fn take(&mut self, now_ns: u64) -> Option<u64> {
        let intended_ns = self.pacer.due_ns();
        if intended_ns > now_ns {
            return None;
        }
        self.pacer.advance(self.window);
        self.due += u64::from(intended_ns < self.window.closes_ns);
        Some(intended_ns)
    }

    /// Operations of the window that were due and taken.
    #[must_use]
    pub const fn due(&self) -> u64 {
        self.due
    }

    /// Operations of the window that are not taken; they are not any more.
    #[must_use]
    pub fn left(&mut self) -> u64 {
        self.pacer.left(self.window)
    }
}
