//! Knows whether the figures of a load are of a disk or of memory, and what held the load down, by
//! what its records hold of storage.
//!
//! Never: what the load was, or which file it used.

use super::bottleneck::MeasuredLimit;
use super::finding::{Caveat, LimitKind};
use super::measure::{busy, reading};
use crate::record::{SUT, TrialRecord};
use crate::stats::{Estimate, mean_or_single};
use crate::unit::{Quantity, Unit};
use crate::validity::FULL;
use std::collections::BTreeSet;

const PROBE: &str = "storage";
/// What a record says of the block device: its name, then what its queue is set to.
const DEVICE: &str = "device";
/// How a load asked for its bytes: past the page cache, or through it.
const ASKED: [&str; 2] = ["direct", "buffered"];
/// What arrays under a file did beside their work.
const ACTIVITY: &str = "array_activity";
/// Share of the time from which threads that have no CPU wait for storage: none of their
/// operations is left to begin.
const WAITED: f64 = 0.1;

/// Share of the time that threads of a host spent in calls on files.
const FILE_WAIT: &str = "file_wait";
/// Share of it from which a thread that also waits for a link mostly waits for storage.
const MOSTLY: f64 = 0.5;

/// Least share of the bytes that block devices have to serve. What a file system reads or writes
/// beside them makes it larger; a burst at an edge of a short window may take a tenth of it.
const SERVED: f64 = 0.8;

/// A share of storage on each host of a trial that tells it.
fn of_hosts<'r>(record: &'r TrialRecord, key: &'r str) -> impl Iterator<Item = (&'r str, f64)> {
    let its = record.readings.iter().filter(move |r| r.probe == PROBE && r.key == key);
    its.map(|r| (r.host.name(), r.quantity.value))
}

/// The least share of the bytes of a host of a trial that block devices served.
fn least(record: &TrialRecord, key: &str) -> Option<f64> {
    of_hosts(record, key).map(|(_, share)| share).min_by(f64::total_cmp)
}

/// Share of the bytes of these trials that block devices served, of several hosts that asked for
/// them the least; none of a load without bytes.
pub(super) fn served(trials: &[&TrialRecord]) -> Option<Estimate> {
    let of = |record: &&TrialRecord| ASKED.iter().find_map(|key| least(record, key));
    let shares: Vec<f64> = trials.iter().filter_map(of).collect();
    mean_or_single(&shares, Unit::Share)
}

/// Name of the block devices that the records of these trials tell; none where they tell none.
pub(super) fn device(trials: &[&TrialRecord]) -> Option<String> {
    let told = trials.iter().filter_map(|record| record.outcome.made_with.get(DEVICE)?.word());
    let names: BTreeSet<&str> = told.filter_map(|text| text.split(',').next()).collect();
    (!names.is_empty()).then(|| names.into_iter().collect::<Vec<_>>().join(", "))
}

/// Whether so much of the bytes came from block devices that the figures are theirs.
#[must_use]
pub fn is_from_disk(served: &Estimate) -> bool {
    served.centre.value >= SERVED
}

/// What held a load of storage down: the disk, where its threads waited and block devices served
/// it; their CPUs, where they hardly waited. None where they waited for something else, or for
/// another load.
pub(super) fn limit(trials: &[&TrialRecord]) -> Option<MeasuredLimit> {
    let of = |record: &&TrialRecord| reading(record, PROBE, SUT, "waited");
    let waited: Vec<f64> = trials.iter().filter_map(of).collect();
    let evidence = mean_or_single(&waited, Unit::Share)?;
    if evidence.centre.value >= WAITED {
        let kind = LimitKind::Disk;
        return served(trials).filter(is_from_disk).map(|_| only(kind, evidence));
    }
    let all: Vec<f64> = trials.iter().filter_map(|record| busy(record)).collect();
    let all = mean_or_single(&all, Unit::Share).filter(|all| all.centre.value >= FULL);
    let used: Vec<f64> = waited.iter().map(|share| 1.0 - share).collect();
    match all {
        Some(all) => Some(only(LimitKind::AllCpus, all)),
        None => Some(only(LimitKind::OneCpu, mean_or_single(&used, Unit::Share)?)),
    }
}

/// The disk of a host that holds down a load over a link: block devices served what it asked of
/// them, and its threads spent most of the time in calls on files.
pub(super) fn of_a_host(trials: &[&TrialRecord]) -> Option<MeasuredLimit> {
    let of = |record: &&TrialRecord| {
        let from_disk = |host: &str| {
            of_hosts(record, ASKED[0]).any(|(at, share)| at == host && share >= SERVED)
        };
        let waits = of_hosts(record, FILE_WAIT).filter(|(host, _)| from_disk(host));
        waits.map(|(_, share)| share).max_by(f64::total_cmp)
    };
    let waits: Vec<f64> = trials.iter().filter_map(of).collect();
    let evidence = mean_or_single(&waits, Unit::Share)?;
    (evidence.centre.value >= MOSTLY).then(|| only(LimitKind::Disk, evidence))
}

const fn only(kind: LimitKind, evidence: Estimate) -> MeasuredLimit {
    MeasuredLimit { kind, evidence, ties: Vec::new() }
}

/// Valid trials that asked to go past the page cache and of whose bytes block devices served too
/// few.
pub(super) fn not_from_disk<'r>(valid: impl Iterator<Item = &'r TrialRecord>) -> Option<Caveat> {
    let all: Vec<f64> = valid.filter_map(|record| least(record, ASKED[0])).collect();
    let few: Vec<f64> = all.iter().copied().filter(|share| *share < SERVED).collect();
    let least = few.iter().copied().min_by(f64::total_cmp)?;
    Some(Caveat::NotFromDisk {
        trials: Quantity::count(few.len() as u64),
        of: Quantity::count(all.len() as u64),
        least: Quantity::new(least, Unit::Share),
    })
}

/// Valid trials that were staged while an array that they used was being rebuilt or checked, by
/// what they were made with.
pub(super) fn array_activity<'r>(valid: impl Iterator<Item = &'r TrialRecord>) -> Option<Caveat> {
    let made = valid.map(|record| &record.outcome.made_with);
    let all: Vec<_> = made.filter(|made| made.contains_key("device")).collect();
    let active: Vec<&str> = all.iter().filter_map(|made| made.get(ACTIVITY)?.word()).collect();
    Some(Caveat::ArrayActivity {
        first: (*active.first()?).to_owned(),
        trials: Quantity::count(active.len() as u64),
        of: Quantity::count(all.len() as u64),
    })
}

#[cfg(test)]
mod tests {
    use super::super::analyse;
    use super::super::bottleneck::held;
    use super::super::simulated::Simulated;
    use super::*;
    use crate::record::{ParamRole, Reading, TrialKind, Value};

    /// The caveats of a run whose counted trials have these shares.
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

    /// The limit of trials with these readings of storage, and its evidence.
    fn limit_of(rows: &[(&str, f64)]) -> Option<(LimitKind, f64)> {
        let mut record = Simulated::default().run().records[0].clone();
        record.readings.retain(|reading| reading.probe != "cpu");
        record.readings.extend(rows.iter().map(|(key, share)| Reading {
            probe: "storage".into(),
            host: "sut".into(),
            key: (*key).into(),
            quantity: Quantity::new(*share, Unit::Share),
        }));
        limit(&[&record, &record]).map(|found| (found.kind, found.evidence.centre.value))
    }

    #[test]
    fn a_disk_is_the_limit_where_it_is_waited_for_and_serves() {
        let disk = Some((LimitKind::Disk, 0.9));
        assert_eq!(limit_of(&[("direct", 1.0), ("waited", 0.9)]), disk);
        assert_eq!(limit_of(&[("buffered", 1.3), ("waited", 0.9)]), disk);
        assert_eq!(limit_of(&[("direct", 0.1), ("waited", 0.9)]), None, "other than a disk");
        let cpu = Some((LimitKind::OneCpu, 0.96));
        assert_eq!(limit_of(&[("buffered", 0.0), ("waited", 0.04)]), cpu);
        assert_eq!(limit_of(&[("direct", 1.0), ("waited", 0.04)]), cpu, "the disk could do more");
        assert_eq!(limit_of(&[("direct", 1.0)]), None, "nobody looked");
        assert_eq!(limit_of(&[]), None);
    }

    #[test]
    fn the_disk_of_a_host_is_the_limit_where_its_threads_mostly_wait_for_it() {
        let of = |rows: &[(&str, &str, f64)]| {
            let mut record = Simulated::default().run().records[0].clone();
            record.readings.extend(rows.iter().map(|(host, key, share)| Reading {
                probe: "storage".into(),
                host: (*host).into(),
                key: (*key).into(),
                quantity: Quantity::new(*share, Unit::Share),
            }));
            let share = served(&[&record]).map(|share| share.centre.value);
            (of_a_host(&[&record]).map(|found| found.evidence.centre.value), share)
        };
        let source = [("sut", "buffered", 0.0), ("sut", "file_wait", 0.9)];
        let sink = |wait| [("c01", "direct", 0.99), ("c01", "file_wait", wait)];
        assert_eq!(of(&[&source[..], &sink(0.7)].concat()), (Some(0.7), Some(0.99)));
        assert_eq!(of(&[&source[..], &sink(0.3)].concat()), (None, Some(0.99)), "it had time left");
        assert_eq!(of(&source), (None, Some(0.0)), "memory is no disk");
        let cached = [("c02", "direct", 0.2), ("c02", "file_wait", 0.9)];
        assert_eq!(of(&[&sink(0.1)[..], &cached].concat()), (None, Some(0.2)), "not from a disk");
    }

    #[test]
    fn a_load_that_was_set_and_carried_is_held_down_by_no_disk() {
        let mut run = Simulated::default().run();
        let load = &mut run.plan.loads[0];
        load.alone = true;
        load.roles.insert(ParamRole::Offered, "offered_load".into());
        let at_most = run.records[0].outcome.samples[0].quantity;
        run.records.iter_mut().for_each(|record| {
            let waited = (Quantity::new(0.9, Unit::Share), "waited");
            let direct = (Quantity::new(1.0, Unit::Share), "direct");
            record.readings.extend([waited, direct].map(|(quantity, key)| Reading {
                probe: "storage".into(),
                host: "sut".into(),
                key: key.into(),
                quantity,
            }));
        });
        let kinds = |offered: f64| {
            let mut run = run.clone();
            for record in &mut run.records {
                let set = Quantity::new(at_most.value * offered, at_most.unit);
                record.trial.point.params.insert("offered_load".into(), Value::Quantity(set));
            }
            let trials: Vec<&TrialRecord> = run.records.iter().collect();
            held(&run, &trials).map(|limit| limit.kind)
        };
        assert_eq!(kinds(0.5), Some(LimitKind::OfferedLoad));
        assert_eq!(kinds(5.0), Some(LimitKind::Disk));
    }

    #[test]
    fn an_array_that_is_rebuilt_is_doubted() {
        let of = |active: usize| {
            let mut run = Simulated::default().run();
            let counted = run.records.iter_mut().filter(|r| r.trial.kind == TrialKind::Counted);
            for (at, record) in counted.enumerate() {
                let made = &mut record.outcome.made_with;
                made.insert("device".into(), Value::Word("md0".into()));
                if at < active {
                    made.insert(ACTIVITY.into(), Value::Word("md0 recover".into()));
                }
            }
            let is_it = |caveat: &Caveat| matches!(caveat, Caveat::ArrayActivity { .. });
            analyse(&run).caveats.into_iter().find(is_it)
        };
        assert_eq!(of(0), None);
        let Some(Caveat::ArrayActivity { trials, of, first }) = of(2) else { panic!() };
        assert_eq!((trials.value, first.as_str()), (2.0, "md0 recover"));
        assert!(of.value > 2.0);
    }

    #[test]
    fn a_device_is_told_by_its_name_alone() {
        let record = |told: &str| {
            let mut record = Simulated::default().run().records[0].clone();
            record.outcome.made_with.insert("device".into(), Value::Word(told.into()));
            record
        };
        let of = |told: &[&str]| {
            let all: Vec<TrialRecord> = told.iter().map(|told| record(told)).collect();
            device(&all.iter().collect::<Vec<_>>())
        };
        assert_eq!(of(&["sda1, scheduler bfq", "sda1, scheduler none"]).as_deref(), Some("sda1"));
        assert_eq!(of(&["sdb", "sda"]).as_deref(), Some("sda, sdb"));
        assert_eq!(of(&[]), None);
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
