//! Knows what the readings of the relay say of frames in each direction, and when it missed them
//! although CPU time was free.
//!
//! Never: what limited a load.

use super::facts::{busy, reading};
use crate::record::{Fault, HostName, TrialRecord};
use crate::unit::{Quantity, Unit};
use std::collections::BTreeMap;

/// The probe that reads the relay.
pub(crate) const RELAY: &str = "relay";
/// Share of frames from which the relay did not keep the path that was asked for.
pub(crate) const BEHIND: f64 = 0.01;
/// Share of late frames from which the path was longer than asked for. A late frame left more than
/// a millisecond after its moment: below this share the mean delay is right to some 0.1 ms, and few
/// frames in a short window are one moment at which no CPU woke.
const LATE: f64 = 0.1;
/// Share of the time below which a CPU, or a thread, has as much time left as it used.
const HALF: f64 = 0.5;

type Way<'r> = BTreeMap<&'r str, f64>;

/// The host that carries frames between two links; none in a lab without one.
pub(crate) fn host(record: &TrialRecord) -> Option<&HostName> {
    record.readings.iter().find(|r| r.probe == RELAY).map(|r| &r.host)
}

/// CPUs that the thread of the relay worked on, without its looks at the clock.
pub(crate) fn works(record: &TrialRecord) -> Option<f64> {
    let host = host(record)?;
    let used = reading(record, "process", host, "cpu")?;
    Some(used - reading(record, RELAY, host, "waiting").unwrap_or(0.0))
}

/// Share of frames that the relay lost for want of time or memory, and of those that left late
/// where they are [`LATE`] or more, of the direction in which it was most: 0 to 1. None in a lab
/// without a relay.
pub(crate) fn behind(record: &TrialRecord) -> Option<f64> {
    of_ways(record, |way| delayed(way, "dropped"))
}

/// Share of frames that the relay dropped because the plan says so, of the direction in which it
/// was most: 0 to 1. None in a lab without a relay.
pub(crate) fn losses(record: &TrialRecord) -> Option<f64> {
    of_ways(record, |way| count(way, "lost") / count(way, "received").max(1.0))
}

/// A relay that missed frames or sent them late, while CPU time was free and no quota held it: the
/// load is not why.
pub(super) fn held(record: &TrialRecord) -> Option<Fault> {
    let host = host(record)?;
    let missed = of_ways(record, |way| delayed(way, "missed"))?;
    let quota = reading(record, "quota", host, "use").is_some_and(|used| used >= HALF);
    let all = reading(record, "cpu", host, "busy").or_else(|| busy(record))?;
    let is_free = all < HALF && works(record)? < HALF && !quota;
    (missed >= BEHIND && is_free).then(|| Fault::Disturbed {
        host: host.clone(),
        what: format!(
            "the relay missed or delayed {} of its frames, while half of the CPU time was free and \
             no quota held it",
            Quantity::new(missed, Unit::Share)
        ),
    })
}

/// Share of the frames of a direction that such a count lost, and of late ones from [`LATE`] on.
fn delayed(way: &Way<'_>, lost: &str) -> f64 {
    let came = (count(way, "received") + count(way, "dropped")).max(1.0);
    let late = count(way, "late") / came;
    count(way, lost) / came + if late < LATE { 0.0 } else { late }
}

fn count(way: &Way<'_>, key: &str) -> f64 {
    way.get(key).copied().unwrap_or(0.0)
}

/// The most of all directions; 0 where none has any.
fn of_ways(record: &TrialRecord, of: impl Fn(&Way<'_>) -> f64) -> Option<f64> {
    let mut ways: BTreeMap<&str, Way<'_>> = BTreeMap::new();
    for r in record.readings.iter().filter(|r| r.probe == RELAY) {
        if let Some((key, link)) = r.key.split_once('.') {
            ways.entry(link).or_default().insert(key, r.quantity.value);
        }
    }
    let most = ways.values().map(of).fold(0.0, f64::max);
    (!ways.is_empty()).then_some(most)
}
