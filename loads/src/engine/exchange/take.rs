//! Knows what one thread of clients counts: operations, and how long each took.
//!
//! Nothing is allocated and nothing shared while the window is open. Must not know what an
//! operation is.

use crate::engine::times::{Moments, Timing};
use desk::record::Distribution;
use rig::metal::Span;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What one thread counts of the window.
#[derive(Debug)]
pub struct Take {
    times: Timing,
    /// Complete operations of each slot.
    slots: Vec<u64>,
    /// Which slots completed an operation at any time.
    spoke: Vec<bool>,
    /// Operations that failed, by class.
    errors: BTreeMap<&'static str, u64>,
}

impl Take {
    /// For so many slots; with the mean interval of an open loop, seconds. None where the memory
    /// for the histograms cannot be had.
    #[must_use]
    pub fn new(slots: usize, interval: Option<f64>) -> Option<Self> {
        let (times, errors) = (Timing::new(interval)?, BTreeMap::new());
        Some(Self { times, slots: vec![0; slots], spoke: vec![false; slots], errors })
    }

    /// Counts an operation that was complete within the window.
    #[inline]
    pub fn add(&mut self, slot: usize, at: Moments, window: Span) {
        self.spoke[slot] = true;
        if at.done < window.opens_ns || at.done >= window.closes_ns {
            return;
        }
        self.slots[slot] += 1;
        self.times.add(at);
    }

    /// Counts an operation that failed.
    pub fn fail(&mut self, class: &'static str) {
        *self.errors.entry(class).or_default() += 1;
    }

    /// What it counted, as it travels.
    #[must_use]
    pub fn counted(&self) -> Counted {
        Counted {
            distributions: self.times.distributions(),
            slots: self.slots.clone(),
            silent: self.spoke.iter().filter(|spoke| !**spoke).count() as u64,
            late: self.times.late(),
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
