//! Knows what the readings of the relay say of the path: frames that it did not carry in time, the
//! rate that it keeps, the losses that it plants.
//!
//! Never: which of it was the limit.

use super::ceiling::{ETHERNET, framed, one_way, packet};
use crate::record::{Run, TrialRecord};
use std::collections::BTreeMap;

/// Share of late frames from which the path was longer than asked for. A late frame left more than
/// a millisecond after its moment: below this share the mean delay is right to some 0.1 ms, and few
/// frames in a short window are one moment at which no CPU woke.
const LATE: f64 = 0.1;

/// Share of frames that the relay lost for want of time or memory, and of those that left late where
/// they are [`LATE`] or more, of the direction in which it was most: 0 to 1. None in a lab without
/// a relay.
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
