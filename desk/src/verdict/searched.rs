//! Knows how all trials of a search become one observation: what it found, with what the trial at
//! the load that it found shows besides.
//!
//! Never: which load comes next.

use crate::record::{Distribution, Run, Sample, SearchPlan, TrialRecord};
use crate::search::{Step, at_share, found, names, share_of, step};
use crate::unit::Quantity;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The run with one record for each search that has ended, as if it were a trial, numbered as its
/// first one. A visit with a fault is a visit to that trial. A search that has not ended is none.
pub(super) fn observed(run: &Run) -> Cow<'_, Run> {
    if run.records.iter().all(|record| record.trial.search.is_none()) {
        return Cow::Borrowed(run);
    }
    let mut histories: BTreeMap<u32, Vec<(Step, &TrialRecord)>> = BTreeMap::new();
    let mut records = Vec::new();
    for record in &run.records {
        let load = run.plan.load(&record.trial.point.load);
        let (Some(at), Some((load, search))) =
            (record.trial.search, load.and_then(|load| Some((load, load.search.as_ref()?))))
        else {
            records.push(record.clone());
            continue;
        };
        if record.outcome.fault.is_some() {
            records.push(as_trial(record, search, at.id));
            continue;
        }
        let history = histories.entry(at.id).or_default();
        history.extend(step(load, record).map(|step| (step, record)));
        let steps: Vec<Step> = history.iter().map(|(step, _)| *step).collect();
        let Some(end) = found(search, &steps) else { continue };
        let is_there = |step: &Step| step.share.is_none() && Some(step.load) == end.load;
        let there = history.iter().rfind(|(step, _)| is_there(step));
        let mut whole = as_trial(there.map_or(record, |(_, record)| record), search, at.id);
        let described = |name: &String| run.metric(&load.name, name).map(|metric| metric.unit);
        let samples = names(load).into_iter().zip(end.results).filter_map(|(metric, value)| {
            let quantity = Quantity::new(value, described(&metric)?);
            Some(Sample { metric, quantity })
        });
        whole.outcome.samples.extend(samples);
        let at_shares = history.iter().filter_map(|(step, record)| {
            Some((share_of(search, step, &steps[0])?, &record.outcome.distributions))
        });
        for (share, all) in at_shares.filter(|(share, _)| is_asked(search, *share)) {
            let named = |one: &Distribution| one.named(&at_share(&load.name, &one.name, share));
            whole.outcome.distributions.extend(all.iter().map(named));
        }
        records.push(whole);
    }
    Cow::Owned(Run { records, ..run.clone() })
}

/// Whether the plan names this share of what is found.
fn is_asked(search: &SearchPlan, share: f64) -> bool {
    search.shares.iter().any(|asked| (asked.value - share).abs() < 1e-9)
}

/// The same of several runs.
pub(super) fn all_observed<'r>(runs: &[&'r Run]) -> Vec<Cow<'r, Run>> {
    runs.iter().map(|run| observed(run)).collect()
}

/// A step as the trial that its search is.
fn as_trial(record: &TrialRecord, search: &SearchPlan, id: u32) -> TrialRecord {
    let mut whole = record.clone();
    (whole.trial.id, whole.trial.search) = (id, None);
    whole.trial.point.params.remove(&search.over);
    whole
}
