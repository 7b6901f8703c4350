//! Knows what the readings of the relay say of the path and of the relay: frames that it did not
//! carry in time, the rate that it keeps, the losses that it plants, the CPU time that it took.
//!
//! Never: which of it was the limit.

use super::ceiling::{ETHERNET, NONE_STANDS_OUT, framed, one_way, packet};
use super::measure::{busy, has_own_machine, reading};
use crate::record::{Run, TrialRecord};
use crate::validity::FULL;
use crate::validity::relay::{RELAY, host, works};

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
    let works = works(record)?;
    let of_all = || {
        let (busy, relay) = (busy(record)?, cpus(record)?);
        let without = busy - relay / reading(record, "cpu", "machine", "cpus")?.max(1.0);
        let others = reading(record, "foreign", "machine", "cpu").unwrap_or(0.0);
        (busy >= FULL && without < NONE_STANDS_OUT && others <= relay).then_some(busy)
    };
    Some(of_all().map_or(works, |busy| busy.max(works)).clamp(0.0, 1.0))
}

/// What the load sends in one direction, with its headers, over the rate that the relay keeps;
/// none where it keeps none.
pub(super) fn rate(run: &Run, record: &TrialRecord) -> Option<f64> {
    let kept = record.readings.iter().find(|r| r.probe == RELAY && r.key == "rate")?;
    let sent = one_way(run, record)? * framed(packet(run, record), ETHERNET);
    (kept.quantity.value > 0.0).then(|| sent / kept.quantity.value)
}
