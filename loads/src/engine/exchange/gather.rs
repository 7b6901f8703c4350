//! Knows when a thread in a closed loop of many slots wakes: when several responses have come.
//!
//! A thread that is faster than its server wakes for each response, and a wake-up costs about as
//! much as a response. So the thread sleeps until the n-th oldest request is answered. The other
//! requests keep a saturated server at work. A server that is not saturated would be asked less
//! often: before the window opens the thread tries both ways, and gathers only where that completes
//! as many operations. Must not know what an operation is.

use super::client::{Operations, set};
use crate::engine::times::Moments;
use desk::stats::median;
use rig::metal::Span;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::{AsFd as _, OwnedFd};
use rustix::time::{TimerfdClockId, TimerfdFlags, timerfd_create};
use std::collections::VecDeque;
use std::io;

/// Slots from which on it is worth it.
const FEWEST: usize = 32;
/// One in so many slots is waited for, and no more than these.
const PART: usize = 6;
const MOST: usize = 16;
/// Longest sleep, nanoseconds: the n-th may be the one that is never answered.
const LONGEST_NS: u64 = 10_000_000;
/// How long each way is tried at a time, nanoseconds, and how often.
const TURN_NS: u64 = 5_000_000;
const PAIRS: usize = 12;
/// Share of the rate that must be left, in the median of the pairs: they differ by chance.
const KEPT: f64 = 0.96;
/// A slot must have completed so many operations in all turns, or the two are not told apart.
const ENOUGH: u64 = 30;

/// What is known of the two ways: one by one, and gathered.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// Both are tried in turn.
    Tried(Turn),
    /// Responses are gathered, or not.
    Used(bool),
}

/// Where a trial of the two ways stands.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Turn {
    /// Its number; even ones are one by one.
    number: usize,
    /// When it began, 0 before the first, nanoseconds.
    began_ns: u64,
    /// Complete operations when it began; before the first, those that must be.
    from: u64,
    /// Complete operations that are enough.
    enough: u64,
    /// Complete operations a nanosecond of the turn before.
    rate: f64,
    /// Rate of each turn that gathered, over that of the turn before.
    ratios: [f64; PAIRS],
}

/// A thread's sleep.
#[derive(Debug)]
pub struct Gather {
    /// Slots in the order in which they began, each with when.
    begun: VecDeque<(usize, u64)>,
    /// When the last of each slot began.
    last: Vec<u64>,
    nth: usize,
    way: Way,
    /// Ends a sleep that has lasted too long.
    timer: OwnedFd,
}

impl Gather {
    /// For so many slots; none where they are too few.
    ///
    /// # Errors
    /// What the kernel says where there is no descriptor left.
    pub fn of(slots: usize) -> io::Result<Option<Self>> {
        if slots < FEWEST {
            return Ok(None);
        }
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK)?;
        set(&timer, 1, LONGEST_NS)?;
        // The first operations make connections.
        let (from, enough) = (4 * slots as u64, (4 + ENOUGH) * slots as u64);
        let way = Way::Tried(Turn {
            number: 0,
            began_ns: 0,
            from,
            enough,
            rate: 0.0,
            ratios: [0.0; PAIRS],
        });
        let nth = (slots / PART).min(MOST);
        let begun = VecDeque::with_capacity(2 * slots);
        Ok(Some(Self { begun, last: vec![0; slots], nth, way, timer }))
    }

    /// Notes that an operation goes on, and whether it is another one than before.
    pub fn began(&mut self, slot: usize, at: &Moments) {
        if self.way != Way::Used(false) && self.last[slot] != at.begun {
            self.last[slot] = at.begun;
            self.begun.push_back((slot, at.begun));
        }
    }

    /// Whether to gather, at this moment and with so many operations complete.
    pub fn gathers(&mut self, now_ns: u64, done: u64, window: Span) -> bool {
        self.way = self.way.next(now_ns, done, window);
        match self.way {
            Way::Used(gathers) => gathers,
            Way::Tried(turn) => turn.number % 2 == 1,
        }
    }

    /// Sleeps until the n-th oldest operation has an answer, or not at all where it is unknown.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn sleep(&mut self, operations: &impl Operations, running: &[Moments]) -> io::Result<()> {
        // What is complete has begun again since, and stands further behind.
        let lives = |(slot, at): &(usize, u64)| running[*slot].begun == *at;
        while self.begun.front().is_some_and(|first| !lives(first)) {
            self.begun.pop_front();
        }
        if self.begun.len() > 4 * self.last.len() {
            self.begun.retain(lives);
        }
        let nth = self.begun.iter().filter(|one| lives(one)).nth(self.nth - 1);
        let Some(socket) = nth.and_then(|(slot, _)| operations.socket(*slot)) else {
            return Ok(());
        };
        let watched = [socket, self.timer.as_fd()];
        let mut watched = watched.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
        match poll(&mut watched, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
        if !watched[1].revents().is_empty() {
            // Whoever waits next waits for any slot.
            let _ = rustix::io::read(&self.timer, &mut [0; 8]);
        }
        Ok(())
    }
}

impl Way {
    /// The way from this moment on.
    fn next(self, now_ns: u64, done: u64, window: Span) -> Self {
        let Self::Tried(turn) = self else { return self };
        if now_ns >= window.opens_ns {
            return Self::Used(false);
        }
        turn.next(now_ns, done)
    }
}

impl Turn {
    fn next(mut self, now_ns: u64, done: u64) -> Way {
        let is_first = self.began_ns == 0;
        if (is_first && done < self.from) || now_ns < self.began_ns + TURN_NS {
            return Way::Tried(self);
        }
        if !is_first {
            #[expect(clippy::cast_precision_loss, reason = "operations of some milliseconds")]
            let rate = (done - self.from) as f64 / (now_ns - self.began_ns) as f64;
            if self.number % 2 == 1 {
                self.ratios[self.number / 2] = rate / self.rate;
            }
            self.rate = rate;
            self.number += 1;
        }
        if self.number == 2 * PAIRS {
            let kept = median(&self.ratios).is_some_and(|ratio| ratio >= KEPT);
            return Way::Used(kept && done >= self.enough);
        }
        (self.began_ns, self.from) = (now_ns, done);
        Way::Tried(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The way that is used where each completes so many operations a millisecond; the window
    /// opens after so many milliseconds.
    fn used(single: u64, gathered: u64, opens_ms: u64) -> Way {
        let mut gather = Gather::of(FEWEST).unwrap().unwrap();
        let window = Span { opens_ns: opens_ms * 1_000_000, closes_ns: u64::MAX };
        let mut done = 0;
        for ms in 1..300 {
            let gathers = gather.gathers(ms * 1_000_000, done, window);
            done += if gathers { gathered } else { single };
        }
        gather.way
    }

    #[test]
    fn responses_are_gathered_where_that_costs_no_operation() {
        assert_eq!(used(100, 110, 200), Way::Used(true));
        assert_eq!(used(100, 97, 200), Way::Used(true));
        assert_eq!(used(100, 90, 200), Way::Used(false), "the server has less to do");
        assert_eq!(used(2, 2, 200), Way::Used(false), "too few to tell");
        assert_eq!(used(100, 110, 100), Way::Used(false), "the window opens before it is known");
    }

    #[test]
    fn few_slots_are_not_gathered() {
        assert!(Gather::of(FEWEST - 1).unwrap().is_none());
    }
}
