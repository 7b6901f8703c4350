//! Knows how often what is said of many plans of one kind is what was planted, on all CPUs.

use crate::cell::Cell;
use crate::naive::{self, Critical};
use crate::product::{Asked, differs, run, seen, told};
use desk::verdict::Verdict;
use std::thread;

/// The effect that is planted.
pub const PLANTED: f64 = 1.03;
/// Numbers of seeds that one kind of plan may use.
const SEEDS: u64 = 1 << 24;

/// What may be said of two equal levels.
#[derive(Clone, Copy)]
pub enum Equal {
    /// That they differ.
    Different,
    /// That they differ, at a point of the curve or as a whole.
    Anywhere,
    /// That one has two states.
    TwoStates,
    /// That they are equivalent.
    Equivalent,
    /// That they differ: what is not offered, in the order of `naive.rs`.
    Sequential,
    Pooled,
    ByTurns,
    Bootstrap,
    Stopped,
}

/// What may be said of levels that differ by what is planted.
#[derive(Clone, Copy)]
pub enum Differing {
    /// That the other one is better.
    Better,
    /// That it is worse.
    Worse,
    /// An interval that holds the planted ratio.
    Covered,
    /// That one has two states.
    TwoStates,
}

/// Of so many plans, so many of which each was said.
#[derive(Clone, Copy)]
pub struct Count<const K: usize> {
    pub plans: u64,
    pub hits: [u64; K],
}

/// Of two equal levels, and of two that differ.
pub type OfEqual = Count<9>;
pub type OfDiffering = Count<4>;

impl<const K: usize> Count<K> {
    /// Per cent of the plans.
    pub fn share(&self, column: usize) -> f64 {
        100.0 * self.hits[column] as f64 / self.plans.max(1) as f64
    }

    pub fn and(mut self, other: &Self) -> Self {
        self.plans += other.plans;
        self.hits.iter_mut().zip(other.hits).for_each(|(all, more)| *all += more);
        self
    }
}

/// Asks of so many plans, shared by all CPUs.
pub fn count<const K: usize>(plans: u64, ask: impl Fn(u64) -> [bool; K] + Sync) -> Count<K> {
    let threads = thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let share = |first: u64| {
        let mut hits = [0; K];
        for plan in (first..plans).step_by(threads as usize) {
            hits.iter_mut().zip(ask(plan)).for_each(|(hits, hit)| *hits += u64::from(hit));
        }
        Count { plans: 0, hits }
    };
    thread::scope(|scope| {
        let started: Vec<_> = (0..threads).map(|first| scope.spawn(move || share(first))).collect();
        let mut all = Count { plans, hits: [0; K] };
        for thread in started {
            match thread.join() {
                Ok(part) => all = all.and(&part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    })
}

/// The first seed of a kind of plans: no two kinds share one.
fn seeds(cell: &Cell, blocks: u32, truth: f64) -> u64 {
    let name = cell.name.bytes().fold(0_u64, |all, b| all.wrapping_mul(131) + u64::from(b));
    let kind = name.wrapping_mul(131) ^ u64::from(blocks) << 32 ^ (truth * 1e4) as u64;
    (kind % (1 << 24)) * SEEDS
}

/// What is said of two equal levels, here and by what is not offered.
pub fn equal(cell: &Cell, blocks: u32, plans: u64) -> OfEqual {
    let first = seeds(cell, blocks, 1.0);
    let critical = Critical::to(blocks);
    count(plans, |plan| {
        let seed = first + plan;
        let run = run(Asked { cell, truth: 1.0, blocks, seed });
        let (said, seen) = (told(&run), seen(&run));
        let ratios = naive::ratios(&seen);
        let anywhere = said.points.iter().any(|p| differs(p.verdict)) || differs(said.verdict);
        [
            differs(said.verdict),
            anywhere,
            said.verdict == Verdict::TwoStates,
            said.verdict == Verdict::Equivalent,
            naive::sequential(&seen),
            naive::pooled(&seen, cell.repeats).unwrap_or(false),
            naive::by_turns(&seen, cell.repeats).unwrap_or(false),
            naive::bootstrap(&ratios, seed),
            naive::stop_when_significant(&ratios, &critical),
        ]
    })
}

/// What is said of two levels of which the other is 3 % faster.
pub fn differing(cell: &Cell, blocks: u32, plans: u64) -> OfDiffering {
    let first = seeds(cell, blocks, PLANTED);
    count(plans, |plan| {
        let said = told(&run(Asked { cell, truth: PLANTED, blocks, seed: first + plan }));
        let (low, high) = (said.overall.low.value, said.overall.high.value);
        [
            said.verdict == Verdict::Better,
            said.verdict == Verdict::Worse,
            low <= PLANTED && PLANTED <= high,
            said.verdict == Verdict::TwoStates,
        ]
    })
}
