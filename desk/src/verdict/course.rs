//! Knows what happened to a run as a whole over its course, whichever level was measured: its
//! figures drifted or stepped, or nothing was visited for a while.
//!
//! Never: which level is better. What all levels share is in no ratio within a block; it is in
//! every mean over the run.

use super::finding::Caveat;
use crate::plan::{DRY_WINDOW_S, OVERHEAD_S};
use crate::record::{LoadPlan, Run, TrialKind, TrialRecord};
use crate::stats::{
    Change, ChangeKind, Estimate, EstimateMethod, LEVEL, change, holm_adjusted, mean, median,
};
use crate::unit::{Quantity, Unit};
use std::collections::BTreeMap;

/// The shortest time without a visit that is a pause, seconds.
const PAUSE_S: f64 = 60.0;
/// Between two visits of one sitting it is also so many times what is usual there.
const USUAL: f64 = 5.0;

/// A stretch of a run in which nothing was visited.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pause {
    /// When the visit before it was over, seconds since the run began.
    pub from_s: f64,
    /// When the visit after it began, seconds since the run began.
    pub to_s: f64,
}

/// The pauses of a run, in order.
///
/// A pause is a minute or more from the end of a visit to the next; between two visits of one
/// sitting besides five times the median of such waits, so that a workload that is long to stage
/// has none. A boot that the plan asks for is none.
#[must_use]
pub fn pauses(run: &Run) -> Vec<Pause> {
    let wait = |pair: &[TrialRecord]| {
        let from_s = ends(run, &pair[0]).min(pair[1].started_s);
        Pause { from_s, to_s: pair[1].started_s }
    };
    let waits: Vec<Pause> = run.records.windows(2).map(wait).collect();
    let lengths: Vec<f64> = waits.iter().map(Pause::length_s).collect();
    let usual = median(&lengths).unwrap_or_default();
    let begins = |at: usize| run.sittings.iter().any(|s| s.records_before as usize == at);
    let is_pause = |at: usize, pause: &Pause| {
        let [before, after] = [&run.records[at], &run.records[at + 1]].map(|r| r.trial.boot);
        let unusual = begins(at + 1) || pause.length_s() >= USUAL * usual;
        before == after && pause.length_s() >= PAUSE_S && unusual
    };
    let all = waits.into_iter().enumerate();
    all.filter(|(at, pause)| is_pause(*at, pause)).map(|(_, pause)| pause).collect()
}

impl Pause {
    /// How long it lasted, seconds, 0 or more.
    #[must_use]
    pub fn length_s(&self) -> f64 {
        self.to_s - self.from_s
    }
}

/// When a visit was over, seconds since the run began, as far as its plan tells.
fn ends(run: &Run, record: &TrialRecord) -> f64 {
    let window = match record.trial.kind {
        TrialKind::Dry => DRY_WINDOW_S,
        TrialKind::Counted => run.plan.window(&record.trial).value,
    };
    let settle = record.outcome.settle.unwrap_or(run.plan.method.settle).value;
    record.started_s + settle + window + OVERHEAD_S
}

/// The reasons to doubt that lie in the course of a run: at most one of each kind.
///
/// Of every load the means of blocks are tested for a drift and for a step ([`change`]); all loads
/// are one family (Holm at 5 %), so that at most 5 % of runs whose level stays have such a caveat.
/// What is within the margin is not told. In a plan with boots each boot has a level, and nothing
/// is tested.
pub(super) fn course(run: &Run) -> Vec<Caveat> {
    Vec::from_iter(changed(run)).into_iter().chain(paused(run)).collect()
}

fn paused(run: &Run) -> Option<Caveat> {
    let all = pauses(run);
    let longest = all.iter().max_by(|a, b| a.length_s().total_cmp(&b.length_s()))?;
    Some(Caveat::Paused {
        times: Quantity::count(all.len() as u64),
        longest: Quantity::seconds(longest.length_s()),
        at: Quantity::seconds(longest.from_s),
    })
}

fn changed(run: &Run) -> Option<Caveat> {
    if run.plan.boots() > 0 {
        return None;
    }
    let of = |load: &LoadPlan| {
        let blocks = levels(run, &load.name);
        let logs: Vec<f64> = blocks.iter().map(|block| block.level).collect();
        Some((load.name.clone(), change(&logs)?, blocks))
    };
    let all: Vec<(String, Change, Vec<Block>)> = run.plan.loads.iter().filter_map(of).collect();
    let ps: Vec<f64> = all.iter().map(|(_, change, _)| change.p).collect();
    let together = holm_adjusted(&ps);
    let margin = run.plan.method.margin.value.ln_1p();
    let sure = all
        .into_iter()
        .zip(together)
        .filter(|((_, change, _), p)| *p <= 1.0 - LEVEL && change.size.abs() > margin);
    let ((load, found, blocks), _) = sure.min_by(|a, b| a.1.total_cmp(&b.1))?;
    let ratio = |log: f64| Quantity::new(log.exp(), Unit::Ratio);
    let change = Estimate {
        centre: ratio(found.size),
        low: ratio(found.size - found.half_width),
        high: ratio(found.size + found.half_width),
        level: LEVEL,
        n: u32::try_from(blocks.len()).unwrap_or(u32::MAX),
        method: EstimateMethod::MeanT,
    };
    let several = run.plan.loads.len() > 1;
    let load = if several { load } else { String::new() };
    Some(match found.kind {
        ChangeKind::Drift => Caveat::Drifted { load, change },
        ChangeKind::Step(place) => {
            let at = Quantity::seconds(blocks.get(place).map_or(0.0, |block| block.began_s));
            Caveat::Stepped { load, change, at }
        }
    })
}

/// A block of a load.
struct Block {
    /// Mean over its visits of the log of the figure over the mean of its like.
    level: f64,
    /// When its first visit began, seconds since the run began.
    began_s: f64,
}

/// The blocks of a load in their order, of its counted visits without a fault.
fn levels(run: &Run, load: &str) -> Vec<Block> {
    let figure = |record: &TrialRecord| {
        let counts = record.trial.kind == TrialKind::Counted && record.outcome.fault.is_none();
        let value = run.figure(record).filter(|_| counts)?.value;
        (value > 0.0 && value.is_finite()).then(|| value.ln())
    };
    let cell = |record: &TrialRecord| {
        format!("{:?} {:?}", record.trial.point.params, record.trial.treatment.levels)
    };
    let of_load = run.records.iter().filter(|record| record.trial.point.load == load);
    let seen: Vec<(&TrialRecord, String, f64)> =
        of_load.filter_map(|r| Some((r, cell(r), figure(r)?))).collect();
    let mut cells: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (_, cell, log) in &seen {
        cells.entry(cell).or_default().push(*log);
    }
    let usual: BTreeMap<&str, f64> =
        cells.into_iter().map(|(cell, logs)| (cell, mean(&logs))).collect();
    let mut blocks: BTreeMap<u32, (Vec<f64>, f64)> = BTreeMap::new();
    for (record, cell, log) in &seen {
        let off = log - usual.get(cell.as_str()).copied().unwrap_or(*log);
        let block = blocks.entry(record.trial.block).or_insert((Vec::new(), record.started_s));
        block.0.push(off);
    }
    let block = |(offs, began_s): (Vec<f64>, f64)| Block { level: mean(&offs), began_s };
    blocks.into_values().map(block).collect()
}
