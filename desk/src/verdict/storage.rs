//! Knows which trials of a run asked for a disk and were served from memory, by what their records
//! hold of storage.
//!
//! Never: what the load was, or which file it used.

use super::finding::Caveat;
use crate::record::TrialRecord;
use crate::unit::{Quantity, Unit};

/// Least share of the bytes that block devices have to serve. What a file system reads or writes
/// beside them makes it larger, never smaller.
const SERVED: f64 = 0.9;

/// Valid trials that asked to go past the page cache and of whose bytes block devices served too
/// few.
pub(super) fn not_from_disk<'r>(valid: impl Iterator<Item = &'r TrialRecord>) -> Option<Caveat> {
    let share = |record: &TrialRecord| record.reading("storage", "sut", "direct");
    let all: Vec<f64> = valid.filter_map(share).map(|found| found.value).collect();
    let few: Vec<f64> = all.iter().copied().filter(|share| *share < SERVED).collect();
    let least = few.iter().copied().min_by(f64::total_cmp)?;
    Some(Caveat::NotFromDisk {
        trials: Quantity::count(few.len() as u64),
        of: Quantity::count(all.len() as u64),
        least: Quantity::new(least, Unit::Share),
    })
}

#[cfg(test)]
mod tests {
    use super::super::analyse;
    use super::super::simulated::Simulated;
    use super::*;
    use crate::record::{Reading, TrialKind};

    /// What is told of a run whose counted trials have these shares.
    fn told(key: &str, share: &dyn Fn(usize) -> f64) -> Vec<Caveat> {
        let mut run = Simulated::default().run();
        let counted = run.records.iter_mut().filter(|r| r.trial.kind == TrialKind::Counted);
        for (at, record) in counted.enumerate() {
            record.readings.push(Reading {
                probe: "storage".into(),
                host: "sut".into(),
                key: key.into(),
                quantity: Quantity::new(share(at), Unit::Share),
            });
        }
        let is_it = |caveat: &Caveat| matches!(caveat, Caveat::NotFromDisk { .. });
        analyse(&run).caveats.into_iter().filter(is_it).collect()
    }

    #[test]
    fn only_a_load_that_asked_for_the_disk_and_had_memory_is_doubted() {
        assert_eq!(told("direct", &|_| 0.99), []);
        assert_eq!(told("direct", &|_| 1.4), []);
        assert_eq!(told("buffered", &|_| 0.0), []);
        let found = told("direct", &|at| if at < 2 { 0.1 } else { 1.0 });
        let [Caveat::NotFromDisk { trials, of, least }] = found[..] else { panic!("{found:?}") };
        assert_eq!((trials.value, least.value), (2.0, 0.1));
        assert!(of.value > 2.0);
    }
}
