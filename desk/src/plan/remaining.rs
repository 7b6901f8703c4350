//! Knows which trials of a plan are still to be visited once some have been.

use super::order::{follows, order};
use crate::record::{Fault, Plan, Trial, TrialKind, TrialRecord};
use std::collections::BTreeMap;

/// How often one trial is visited at most.
pub const ATTEMPTS: u32 = 3;

/// How often a trial is visited at most that shows the limit of its clients: a second visit tells
/// whether it was an accident; a limit that is met twice belongs to the load and not to the moment.
pub const ATTEMPTS_OF_CLIENTS: u32 = 2;

/// How often a trial is visited at most whose last visit had this fault.
#[must_use]
pub const fn attempts(fault: &Fault) -> u32 {
    match fault {
        Fault::GeneratorLimit { .. } => ATTEMPTS_OF_CLIENTS,
        Fault::NotAvailable { .. } => 1,
        _ => ATTEMPTS,
    }
}

/// A trial to visit, and which visit to it that will be, from 1.
pub type Next = (Trial, u32);

/// The trials of a plan, in its order, that these records have not finished.
///
/// Finished is a trial with a valid record, a dry visit with any, and a trial that was visited as
/// often as its last fault allows: [`attempts`]. A visit that the person stopped does not count as
/// one. Of a search there is the one step that is next, if its last one was not lost.
#[must_use]
pub fn remaining(plan: &Plan, records: &[TrialRecord]) -> Vec<Next> {
    let mut visits: BTreeMap<u32, BTreeMap<u32, Vec<&TrialRecord>>> = BTreeMap::new();
    for record in records.iter().filter(|r| r.outcome.fault != Some(Fault::Cancelled)) {
        let trial = &record.trial;
        let first = trial.search.map_or(trial.id, |search| search.id);
        visits.entry(first).or_default().entry(trial.id).or_default().push(record);
    }
    let next = |trial: Trial| {
        let Some(steps) = visits.get(&trial.id) else { return Some((trial, 1)) };
        let last = steps.values().next_back()?;
        let newest = last.last()?;
        let trial = if trial.search.is_some() { newest.trial.clone() } else { trial };
        let valid = |r: &&&TrialRecord| r.outcome.fault.is_none();
        if trial.kind == TrialKind::Dry || last.iter().any(|r| valid(&r)) {
            let good: Vec<_> =
                steps.values().filter_map(|of| of.iter().find(valid).copied()).collect();
            return follows(plan, &trial, &good).map(|next| (next, 1));
        }
        let most = newest.outcome.fault.as_ref().map_or(ATTEMPTS, attempts);
        let made = u32::try_from(last.len()).unwrap_or(u32::MAX);
        (made < most).then(|| (trial, made + 1))
    };
    order(plan).into_iter().filter_map(next).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::example::small;
    use crate::record::{Outcome, Settings};

    fn record(trial: &Trial, fault: Option<Fault>) -> TrialRecord {
        TrialRecord {
            trial: trial.clone(),
            observed: Settings::new(),
            outcome: Outcome { fault, ..Outcome::default() },
            readings: Vec::new(),
            tracks: Vec::new(),
            started_s: 0.0,
            attempt: 1,
        }
    }

    fn dead() -> Option<Fault> {
        Some(Fault::DeadHost { host: "c01".into() })
    }

    #[test]
    fn without_records_all_remain_and_with_all_none() {
        let plan = small();
        let all = order(&plan);
        let left = remaining(&plan, &[]);
        assert!(left.iter().map(|(t, _)| t).eq(&all));
        assert!(left.iter().all(|(_, attempt)| *attempt == 1));
        let records: Vec<_> = all.iter().map(|t| record(t, None)).collect();
        assert!(remaining(&plan, &records).is_empty());
    }

    #[test]
    fn a_fault_is_visited_again_up_to_the_last_attempt_and_a_dry_one_is_not() {
        let plan = small();
        let all = order(&plan);
        let (dry, counted) = (&all[0], &all[20]);
        let stopped = record(&all[21], Some(Fault::Cancelled));
        let mut records = vec![record(dry, dead()), record(counted, dead()), stopped];
        let attempt = |records: &[TrialRecord], id: u32| {
            remaining(&plan, records).into_iter().find(|(t, _)| t.id == id).map(|(_, a)| a)
        };
        assert_eq!(attempt(&records, dry.id), None);
        assert_eq!(attempt(&records, counted.id), Some(2));
        assert_eq!(attempt(&records, all[21].id), Some(1));
        records.extend([record(counted, dead()), record(counted, dead())]);
        assert_eq!(attempt(&records, counted.id), None);
        let limit = Some(Fault::GeneratorLimit { host: "c01".into(), what: "x".into() });
        let mut records = vec![record(&all[30], limit.clone())];
        assert_eq!(attempt(&records, all[30].id), Some(2));
        records.push(record(&all[30], limit));
        assert_eq!(attempt(&records, all[30].id), None, "not an accident");
    }
}
