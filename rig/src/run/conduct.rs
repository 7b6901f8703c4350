//! Knows the loop between the conductor's commands and a stand that carries them out.
//!
//! Must not know what a stand is made of, or what a figure is worth.

use super::conductor::{Command, Conductor, Event};
use super::stand::{Orders, Progress, RunError, Stand, Tally, Visited, refuse_untold};
use desk::plan::follows;
use desk::record::{Completeness, Fault, Plan, Reading, Trial, TrialKind, TrialRecord};
use desk::unit::Quantity;
use desk::validity::grade;
use std::collections::{BTreeMap, BTreeSet};

/// Visits all trials of the orders on a stand. Faults of trials are in the records.
///
/// # Errors
/// When the stand cannot make ready. What it cannot bring back afterwards is no error: the records
/// are worth their report all the same.
pub fn conduct(stand: &mut dyn Stand, orders: Orders<'_>) -> Result<Visited, RunError> {
    let Orders { plan, trials, kept, before_s, keep, enough, tell } = orders;
    refuse_untold(plan)?;
    stand.begin(plan)?;
    let planned = |kind| {
        let of_kind = trials.iter().filter(|(trial, _)| trial.kind == kind);
        of_kind.map(|(trial, _)| most_left(plan, trial)).sum()
    };
    let tally = |kind| Tally { done: 0, planned: planned(kind) };
    let (mut dry, mut counted) = (tally(TrialKind::Dry), tally(TrialKind::Counted));
    let mut met = BTreeSet::new();
    let mut places = Places::of(kept);
    let mut conductor = Conductor::new(trials, plan.method.looks.clone());
    let mut records: Vec<TrialRecord> = Vec::new();
    let mut command = conductor.next(Event::Ready);
    loop {
        command = match command {
            Command::Visit(trial, attempt) => {
                let mut record = stand.visit(plan, &trial);
                record.attempt = attempt;
                record.outcome.name_logs(trial.id, attempt);
                record.started_s += before_s;
                record.readings.extend(places.next(&trial));
                refuse_no_numbers(&mut record);
                if let Some(fault) = grade(plan, &record) {
                    record.outcome.fault = Some(fault);
                }
                let fault = record.outcome.fault.clone();
                let was_kept = keep(&record);
                records.push(record);
                let event = after(plan, fault, (kept, &records));
                let has_ended = event == Event::Visited(None);
                let command = match was_kept {
                    Ok(()) => conductor.next(event),
                    Err(why) => conductor.next(Event::NotKept(why)),
                };
                if let Some(last) = records.last() {
                    let of =
                        if last.trial.kind == TrialKind::Dry { &mut dry } else { &mut counted };
                    of.done += usize::from(met.insert(last.trial.id));
                    // Of a search that has ended no further step is planned.
                    of.planned -= usize::from(has_ended) * (most_left(plan, &last.trial) - 1);
                    let (next, waits) = (next_trial(&command), command == Command::Wait);
                    tell(&Progress { dry, counted, last, next, waits });
                }
                command
            }
            Command::Look(blocks) => conductor.next(Event::Looked(enough(blocks))),
            Command::Wait => conductor.next(Event::Waited(stand.wait_for_calm())),
            Command::Rebuild => match stand.rebuild() {
                Ok(()) => conductor.next(Event::Ready),
                Err(e) => conductor.next(Event::LabLost(e.to_string())),
            },
            Command::Finish(completeness) => {
                let left = stand.end(completeness == Completeness::Complete);
                return Ok(Visited { records, completeness, left });
            }
        };
    }
}

/// How many counted visits were made of each block, and of each point in it.
#[derive(Default)]
struct Places {
    of_block: BTreeMap<u32, u64>,
    of_point: BTreeMap<(u32, u32), u64>,
}

impl Places {
    /// After the visits of earlier sittings.
    fn of(kept: &[TrialRecord]) -> Self {
        let mut places = Self::default();
        for trial in kept.iter().map(|record| &record.trial) {
            if trial.kind == TrialKind::Counted {
                places.count(trial.block, trial.point_index);
            }
        }
        places
    }

    fn count(&mut self, block: u32, point: u32) -> [u64; 2] {
        let counts = [
            self.of_block.entry(block).or_default(),
            self.of_point.entry((block, point)).or_default(),
        ];
        counts.map(|count| {
            *count += 1;
            *count
        })
    }

    /// The place of the next visit in its block, and among the visits to its point there, from 1,
    /// visits that are made again counted too. A dry visit has none.
    fn next(&mut self, trial: &Trial) -> Vec<Reading> {
        if trial.kind == TrialKind::Dry {
            return Vec::new();
        }
        let reading = |(key, count): (&str, u64)| Reading {
            probe: "order".into(),
            host: "machine".into(),
            key: key.into(),
            quantity: Quantity::count(count),
        };
        let counts = self.count(trial.block, trial.point_index);
        ["in_block", "at_point"].into_iter().zip(counts).map(reading).collect()
    }
}

/// What the conductor hears of the last visit, by the records of all.
fn after(
    plan: &Plan,
    fault: Option<Fault>,
    (kept, records): (&[TrialRecord], &[TrialRecord]),
) -> Event {
    let Some(last) = records.last().filter(|_| fault.is_none()).map(|record| &record.trial) else {
        return Event::Visited(fault);
    };
    let Some(at) = last.search else { return Event::Visited(None) };
    let of_search = |trial: &Trial| trial.search.is_some_and(|step| step.id == at.id);
    let of_search = kept.iter().chain(records).filter(|record| of_search(&record.trial));
    let steps: Vec<&TrialRecord> = of_search.filter(|r| r.outcome.fault.is_none()).collect();
    match follows(plan, last, &steps) {
        Some(next) => Event::Stepped(Box::new(next)),
        None => Event::Visited(None),
    }
}

/// Trials from this one on to the last that its search may have; 1 where it has none.
fn most_left(plan: &Plan, trial: &Trial) -> usize {
    let most = plan.load(&trial.point.load).map_or(1, |load| load.most_steps());
    trial.search.map_or(1, |at| (most + 1).saturating_sub(at.step).max(1) as usize)
}

const fn next_trial(command: &Command) -> Option<&Trial> {
    if let Command::Visit(trial, _) = command { Some(trial) } else { None }
}

/// A figure that is no number makes the trial invalid and is left out: nobody could read it again.
fn refuse_no_numbers(record: &mut TrialRecord) {
    let outcome = &mut record.outcome;
    let count = outcome.samples.len() + record.readings.len();
    outcome.samples.retain(|sample| sample.quantity.value.is_finite());
    record.readings.retain(|reading| reading.quantity.value.is_finite());
    record.tracks.retain(|track| track.values.iter().all(|value| value.is_finite()));
    let lost = count - outcome.samples.len() - record.readings.len();
    if lost > 0 && outcome.fault.is_none() {
        let what = format!("{lost} of its figures are no numbers");
        outcome.fault = Some(Fault::WrongWork { what });
    }
}
