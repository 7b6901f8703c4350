//! Knows which trials of a plan are still to be visited once some have been.

use super::order::order;
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
/// one.
#[must_use]
pub fn remaining(plan: &Plan, records: &[TrialRecord]) -> Vec<Next> {
    let mut visits: BTreeMap<u32, (u32, bool, u32)> = BTreeMap::new();
    for record in records.iter().filter(|r| r.outcome.fault != Some(Fault::Cancelled)) {
        let (made, done, most) = visits.entry(record.trial.id).or_default();
        *made += 1;
        *most = record.outcome.fault.as_ref().map_or(ATTEMPTS, attempts);
        *done |= record.outcome.fault.is_none() || record.trial.kind == TrialKind::Dry;
    }
    let next = |trial: Trial| {
        let (made, done, most) = visits.get(&trial.id).copied().unwrap_or((0, false, ATTEMPTS));
        (!done && made < most).then_some((trial, made + 1))
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
