//! Knows what the readings of the relay say of the path and of the relay: frames that it did not
//! carry in time, the rate that it keeps, the losses that it plants, the CPU time that it took.
//!
//! Never: which of it was the limit.

use super::ceiling::{ETHERNET, NONE_STANDS_OUT, framed, one_way, packet};
use super::measure::{busy, has_own_machine, reading};
use crate::record::{HostName, Run, TrialRecord};
use crate::validity::FULL;
use std::collections::BTreeMap;

/// The host that carries frames between two links; none in a lab without one.
pub(super) fn host(record: &TrialRecord) -> Option<&HostName> {
    record.readings.iter().find(|r| r.probe == RELAY).map(|r| &r.host)
}

/// CPUs that the relay took of the machine of the system under test, within the window; none where
/// it is elsewhere, or there is none.
pub(super) fn cpus(record: &TrialRecord) -> Option<f64> {
    let here = host(record).filter(|host| !has_own_machine(record, *host))?;
    reading(record, "process", here, "cpu")
}

/// How near the relay came to the CPU that its one thread can use, 0 to 1: the time that it worked,
/// which looking at the clock is not. Where all CPUs are full, and would not be without the relay,
/// it is the share of them that is busy: the load lacks what the relay took, unless other programs
/// took more. None in a lab without a relay.
pub(super) fn cpu(record: &TrialRecord) -> Option<f64> {
    let host = host(record)?;
    let used = reading(record, "process", host, "cpu")?;
    let works = used - reading(record, RELAY, host, "waiting").unwrap_or(0.0);
    let of_all = || {
        let (busy, relay) = (busy(record)?, cpus(record)?);
        let without = busy - relay / reading(record, "cpu", "machine", "cpus")?.max(1.0);
        let others = reading(record, "foreign", "machine", "cpu").unwrap_or(0.0);
        (busy >= FULL && without < NONE_STANDS_OUT && others <= relay).then_some(busy)
    };
    Some(of_all().map_or(works, |busy| busy.max(works)).clamp(0.0, 1.0))
}

/// Share of late frames from which the path was longer than asked for. A late frame left more than
/// a millisecond after its moment: below this share the mean delay is right to some 0.1 ms, and few
/// frames in a short window are one moment at which no CPU woke.
const LATE: f64 = 0.1;

/// Share of frames that the relay lost for want of time or memory, and of those that left late
/// where they are [`LATE`] or more, of the direction in which it was most: 0 to 1. None in a lab
/// without a relay.
pub(super) fn behind(record: &TrialRecord) -> Option<f64> {
    of_ways(record, |way| {
        let came = (count(way, "received") + count(way, "dropped")).max(1.0);
        let late = count(way, "late") / came;
        Some(count(way, "dropped") / came + if late < LATE { 0.0 } else { late })
    })
}

/// Share of frames that the relay dropped because the plan says so, of the direction in which it
/// was most: 0 to 1. None in a lab without a relay.
pub(super) fn losses(record: &TrialRecord) -> Option<f64> {
    of_ways(record, |way| Some(count(way, "lost") / count(way, "received").max(1.0)))
}

/// What the load sends in one direction, with its headers, over the rate that the relay keeps;
/// none where it keeps none.
pub(super) fn rate(run: &Run, record: &TrialRecord) -> Option<f64> {
    let kept = record.readings.iter().find(|r| r.probe == RELAY && r.key == "rate")?;
    let sent = one_way(run, record)? * framed(packet(run, record), ETHERNET);
    (kept.quantity.value > 0.0).then(|| sent / kept.quantity.value)
}

/// The probe that reads the relay.
const RELAY: &str = "relay";

type Way<'r> = BTreeMap<&'r str, f64>;

fn count(way: &Way<'_>, key: &str) -> f64 {
    way.get(key).copied().unwrap_or(0.0)
}

/// The most of all directions; 0 where none has any.
fn of_ways(record: &TrialRecord, of: impl Fn(&Way<'_>) -> Option<f64>) -> Option<f64> {
    let mut ways: BTreeMap<&str, Way<'_>> = BTreeMap::new();
    for r in record.readings.iter().filter(|r| r.probe == RELAY) {
        if let Some((key, link)) = r.key.split_once('.') {
            ways.entry(link).or_default().insert(key, r.quantity.value);
        }
    }
    let most = ways.values().filter_map(of).fold(0.0, f64::max);
    (!ways.is_empty()).then_some(most)
}
