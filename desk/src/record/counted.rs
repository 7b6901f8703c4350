//! Knows how many counted trials of a run were visited, and how many of them are valid.

use super::outcome::Fault;
use super::run::TrialRecord;
use super::trial::TrialKind;
use crate::unit::{Quantity, Unit};
use std::collections::BTreeMap;

/// Share of the visited trials that a complete run has valid; with less it is incomplete.
pub const ENOUGH: f64 = 0.9;

/// Counted trials that were visited at least once; each counts once, however often it was visited.
/// What the machine lacks and what the person stopped are no visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// How many were visited.
    pub visited: u32,
    /// How many of them have a valid record.
    pub valid: u32,
}

impl Counted {
    /// Those of these records.
    #[must_use]
    pub fn of(records: &[TrialRecord]) -> Self {
        let counted = records.iter().filter(|r| r.trial.kind == TrialKind::Counted);
        let mut trials: BTreeMap<u32, bool> = BTreeMap::new();
        for record in counted.filter(|r| !is_no_visit(r.outcome.fault.as_ref())) {
            *trials.entry(record.trial.id).or_default() |= record.outcome.fault.is_none();
        }
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let valid = trials.values().filter(|valid| **valid).count();
        Self { visited: number(trials.len()), valid: number(valid) }
    }

    /// Valid / visited, a share 0-1; 1 where none was visited.
    #[must_use]
    pub fn share(self) -> Quantity {
        let visited = f64::from(self.visited).max(1.0);
        let lost = f64::from(self.visited.saturating_sub(self.valid));
        Quantity::new(1.0 - lost / visited, Unit::Share)
    }

    /// Whether at least [`ENOUGH`] of them are valid, compared as whole numbers.
    #[must_use]
    pub fn is_enough(self) -> bool {
        u64::from(self.valid) * 10 >= u64::from(self.visited) * 9
    }
}

const fn is_no_visit(fault: Option<&Fault>) -> bool {
    matches!(fault, Some(Fault::Cancelled | Fault::NotAvailable { .. }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{LoadPoint, Outcome, Settings, Treatment, Trial};

    fn record(id: u32, kind: TrialKind, fault: Option<Fault>) -> TrialRecord {
        let trial = Trial {
            id,
            block: 1,
            boot: 0,
            round: 0,
            point_index: 0,
            point: LoadPoint { load: "l".into(), workload: "w".into(), params: Settings::new() },
            treatment: Treatment { levels: BTreeMap::new() },
            settings: Settings::new(),
            seed: 1,
            kind,
            search: None,
        };
        TrialRecord {
            trial,
            observed: Settings::new(),
            outcome: Outcome { fault, ..Outcome::default() },
            readings: Vec::new(),
            tracks: Vec::new(),
            started_s: 0.0,
            attempt: 1,
        }
    }

    #[test]
    fn nine_of_ten_are_enough_and_a_trial_counts_once() {
        let lost = || Some(Fault::DeadHost { host: "c01".into() });
        let mut records: Vec<_> = (0..9).map(|id| record(id, TrialKind::Counted, None)).collect();
        records.push(record(9, TrialKind::Counted, lost()));
        records.push(record(9, TrialKind::Counted, lost()));
        records.push(record(10, TrialKind::Dry, lost()));
        records.push(record(11, TrialKind::Counted, Some(Fault::Cancelled)));
        let lacks = Some(Fault::NotAvailable { what: "L3".into() });
        records.push(record(13, TrialKind::Counted, lacks));
        let counted = Counted::of(&records);
        assert_eq!(counted, Counted { visited: 10, valid: 9 });
        assert!(counted.is_enough() && (counted.share().value - ENOUGH).abs() < 1e-12);
        records.push(record(12, TrialKind::Counted, lost()));
        assert!(!Counted::of(&records).is_enough());
        records.push(record(12, TrialKind::Counted, None));
        assert!(Counted::of(&records).is_enough(), "made good");
        assert!(Counted::of(&[]).is_enough() && Counted::of(&[]).share().value == 1.0);
    }
}
