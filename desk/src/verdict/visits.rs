//! Knows every visit of a run beside its like: what it gave, over the mean of the good ones.
//!
//! Never: which level is better; a visit is only set beside visits of its own level and load.

use crate::record::{Fault, Run, TrialKind, TrialRecord};
use crate::stats::mean;
use std::collections::BTreeMap;

/// One visit, in the order of the run.
#[derive(Clone, Copy, Debug)]
pub struct Visit<'r> {
    /// The record.
    pub record: &'r TrialRecord,
    /// Its primary metric over the mean of the counted visits without a fault of the same load
    /// point and treatment, or over that of all that were seen where not one is good; none where it
    /// gave no figure.
    pub ratio: Option<f64>,
}

impl Visit<'_> {
    /// Whether it enters the statistics.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.record.trial.kind == TrialKind::Counted && self.record.outcome.fault.is_none()
    }

    /// Why it does not, where that is a fault.
    #[must_use]
    pub const fn fault(&self) -> Option<&Fault> {
        self.record.outcome.fault.as_ref()
    }
}

/// Every visit, dry and invalid ones too.
#[must_use]
pub fn visits(run: &Run) -> Vec<Visit<'_>> {
    let primary = |r: &TrialRecord| run.figure(r).map(|q| q.value);
    let mut good: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let mut seen: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for record in &run.records {
        seen.entry(cell(record)).or_default().extend(primary(record));
        if (Visit { record, ratio: None }).counts() {
            good.entry(cell(record)).or_default().extend(primary(record));
        }
    }
    let ratio = |record: &TrialRecord| {
        let like = |all: &BTreeMap<String, Vec<f64>>| {
            all.get(&cell(record)).filter(|values| !values.is_empty()).map(|values| mean(values))
        };
        let usual = like(&good).or_else(|| like(&seen))?;
        primary(record).map(|value| value / usual).filter(|ratio| ratio.is_finite())
    };
    run.records.iter().map(|record| Visit { record, ratio: ratio(record) }).collect()
}

/// What visits have in common that differ by chance only.
fn cell(record: &TrialRecord) -> String {
    let trial = &record.trial;
    format!("{:?} {:?} {:?}", trial.point.load, trial.point.params, trial.treatment.levels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::simulated::Simulated;

    #[test]
    fn a_visit_is_set_beside_its_like_only_and_dry_visits_are_in_no_mean() {
        let mut run = Simulated { noise: 1e-9, truth: |_| 3.0, ..Simulated::default() }.run();
        run.records[5].outcome.fault = Some(Fault::Cancelled);
        run.records[5].outcome.samples[0].quantity.value *= 7.0;
        let all = visits(&run);
        assert_eq!(all.len(), run.records.len());
        for (at, visit) in all.iter().enumerate() {
            let wanted = match at {
                _ if visit.record.trial.kind == TrialKind::Dry => 0.1,
                5 => 7.0,
                _ => 1.0,
            };
            assert!((visit.ratio.unwrap() / wanted - 1.0).abs() < 1e-4, "{at}: {:?}", visit.ratio);
            assert_eq!(visit.counts(), wanted == 1.0);
        }
        for record in &mut run.records {
            record.outcome.fault = Some(Fault::Cancelled);
        }
        assert!(visits(&run).iter().all(|v| v.ratio.is_some() && !v.counts()));
        run.records[0].outcome.samples.clear();
        assert_eq!(visits(&run)[0].ratio, None);
    }
}
