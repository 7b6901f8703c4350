//! Knows what one thread of clients counts: operations, and how long each took.
//!
//! Nothing is allocated and nothing shared while the window is open. Must not know what an
//! operation is.

use crate::engine::times::{RESPONSE, TIME};
use desk::record::Distribution;
use hdrhistogram::Histogram;
use rig::metal::Span;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Name of that of the time from the start to the end, in an open loop.
pub const SERVICE: &str = "service";
/// Name of that of the time from the intended start to the start, in an open loop.
pub const LATENESS: &str = "lateness";

/// The moments of one operation, nanoseconds on the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct Moments {
    /// When it was due; in a closed loop when it was begun.
    pub intended: u64,
    /// When it was begun.
    pub begun: u64,
    /// When its slot was free for it.
    pub free: u64,
    /// When it was complete.
    pub done: u64,
}

/// What one thread counts of the window.
#[derive(Debug)]
pub struct Take {
    response: Histogram<u64>,
    /// In an open loop only.
    paced: Option<Paced>,
    /// Complete operations of each slot.
    slots: Vec<u64>,
    /// Which slots completed an operation at any time.
    spoke: Vec<bool>,
    /// Operations that failed, by class.
    errors: BTreeMap<&'static str, u64>,
}

#[derive(Debug)]
struct Paced {
    service: Histogram<u64>,
    lateness: Histogram<u64>,
    /// From this on an operation whose slot was free is late by the thread's own fault,
    /// nanoseconds.
    grace_ns: u64,
    late: u64,
}

/// An operation is not late below this, whatever the rate, nanoseconds: a wake-up costs it.
const LATE_NS: f64 = 100_000.0;

impl Take {
    /// For so many slots; with the mean interval of an open loop, seconds. None where the memory
    /// for the histograms cannot be had.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an interval")]
    pub fn new(slots: usize, interval: Option<f64>) -> Option<Self> {
        let grace = |interval: f64| (interval * 1e9).max(LATE_NS) as u64;
        let paced = match interval {
            Some(interval) => Some(Paced {
                service: Distribution::empty()?,
                lateness: Distribution::empty()?,
                grace_ns: grace(interval),
                late: 0,
            }),
            None => None,
        };
        let (response, errors) = (Distribution::empty()?, BTreeMap::new());
        Some(Self { response, paced, slots: vec![0; slots], spoke: vec![false; slots], errors })
    }

    /// Counts an operation that was complete within the window.
    #[inline]
    pub fn add(&mut self, slot: usize, at: Moments, window: Span) {
        self.spoke[slot] = true;
        if at.done < window.opens_ns || at.done >= window.closes_ns {
            return;
        }
        self.slots[slot] += 1;
        self.response.saturating_record(at.done - at.intended);
        if let Some(paced) = &mut self.paced {
            paced.service.saturating_record(at.done - at.begun);
            paced.lateness.saturating_record(at.begun - at.intended);
            // Where the slot was still at work, the server was late and not the client.
            let own = at.begun.saturating_sub(at.intended.max(at.free));
            paced.late += u64::from(own > paced.grace_ns);
        }
    }

    /// Counts an operation that failed.
    pub fn fail(&mut self, class: &'static str) {
        *self.errors.entry(class).or_default() += 1;
    }

    /// What it counted, as it travels.
    #[must_use]
    pub fn counted(&self) -> Counted {
        let paced = self.paced.as_ref();
        let timed = [
            (RESPONSE, Some(&self.response)),
            (SERVICE, paced.map(|paced| &paced.service)),
            (LATENESS, paced.map(|paced| &paced.lateness)),
        ];
        let stored = timed.into_iter().filter_map(|(name, times)| {
            Distribution::new(name, TIME, times.filter(|times| !times.is_empty())?)
        });
        Counted {
            distributions: stored.collect(),
            slots: self.slots.clone(),
            silent: self.spoke.iter().filter(|spoke| !**spoke).count() as u64,
            late: paced.map(|paced| paced.late),
            errors: self.errors.iter().map(|(class, n)| ((*class).to_owned(), *n)).collect(),
            digest: 0,
        }
    }
}

/// What one thread counted of the window.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Counted {
    /// Of the times of operations.
    pub distributions: Vec<Distribution>,
    /// Complete operations of each slot.
    pub slots: Vec<u64>,
    /// Slots that completed no operation in all of the trial.
    pub silent: u64,
    /// Operations of an open loop that the thread itself began too late.
    pub late: Option<u64>,
    /// Operations that failed, by class.
    pub errors: BTreeMap<String, u64>,
    /// Of the content that the thread sends and expects.
    pub digest: u64,
}
