//! Knows by which events a finished trial is invalid: never by its value.
//!
//! Gives: [`grade`], [`generator_limit`], the facts of one record that verdicts use too.
//! Knows: readings of probes and what the load said of itself.
//! Never: other trials, statistics, or what the figure was; the one look at a figure is whether a
//! load that was set was carried, which is the plan's own question.
//! Start reading at [`grade`].

mod facts;
mod generator;
pub(crate) mod relay;
#[cfg(test)]
mod tests;

use facts::REACHED;
pub(crate) use facts::{
    busy, by_host, direction, directions, has_own_machine, is_client, is_server, offer_use,
    reached_offer, reading, throughput,
};
pub(crate) use generator::FULL;
pub use generator::{GeneratorLimit, GeneratorSign, generator_limit};

use crate::record::{Fault, Plan, Reading, SteadyRule, TrialKind, TrialRecord};
use crate::unit::{Quantity, Unit};

/// Share of the CPU time of a window from which theft by the hypervisor is an event.
///
/// On the machine where it was chosen the median of windows of 0.6 to 0.8 s is 0, one in a hundred
/// is above 3 % and the largest seen is 6 %. The clock that counts it has ticks of 10 ms: in a
/// window of 0.1 s on two CPUs one tick is 5 % already, so that one tick more is needed there.
pub const STEAL_MOST: f64 = 0.05;

/// Share of a machine's CPUs of other programs from which they may have held a load off its pace.
const CROWDED: f64 = 0.25;

/// The event that makes a trial invalid, the gravest first; none for a valid one.
///
/// A trial that has a fault already keeps it, and a dry visit is not graded: both give none. What
/// was not read is no event.
#[must_use]
pub fn grade(plan: &Plan, record: &TrialRecord) -> Option<Fault> {
    if record.outcome.fault.is_some() || record.trial.kind == TrialKind::Dry {
        return None;
    }
    link_flap(record)
        .or_else(|| merged_frames(record))
        .or_else(|| relay::held(record))
        .or_else(|| throttled(record))
        .or_else(|| steal(record))
        .or_else(|| crowded(plan, record))
        .or_else(|| at_generator_limit(plan, record))
        .or_else(|| not_steady(plan, record))
}

/// A carrier that came or went between staging and the end, on any end of a link in use.
fn link_flap(record: &TrialRecord) -> Option<Fault> {
    let flapped = record.readings.iter().find(|r| r.probe == "flap" && r.quantity.value > 0.0)?;
    let (host, what) =
        (flapped.host.clone(), format!("carrier of {}: {}", flapped.key, times(flapped.quantity)));
    Some(Fault::LinkFlap { host, what })
}

/// Frames at the relay that hold more than one packet, each of which it lost as one.
fn merged_frames(record: &TrialRecord) -> Option<Fault> {
    let of_relay = |r: &&Reading| r.probe == "relay" && r.key.starts_with("long.");
    let long = record.readings.iter().filter(of_relay).find(|r| r.quantity.value > 0.0)?;
    let what = format!(
        "{} frames were longer than a packet of the link: an offload that merges packets is on, \
         or the mtu is above 9,000 B",
        long.quantity
    );
    Some(Fault::Disturbed { host: long.host.clone(), what })
}

/// A CPU or package that the machine slowed down within the window.
fn throttled(record: &TrialRecord) -> Option<Fault> {
    let counts = record.readings.iter().filter(|r| r.probe == "throttle");
    let counted = counts.filter(|r| r.quantity.unit == Unit::Count);
    let most = counted.max_by(|a, b| a.quantity.value.total_cmp(&b.quantity.value))?;
    (most.quantity.value > 0.0).then(|| Fault::Throttled {
        host: most.host.clone(),
        what: format!("{}: {}", most.key, times(most.quantity)),
    })
}

fn times(count: Quantity) -> String {
    if count.value > 1.0 { format!("{count} times") } else { "once".into() }
}

fn steal(record: &TrialRecord) -> Option<Fault> {
    let share = record.reading("cpu", "machine", "steal")?;
    (share.value > STEAL_MOST).then_some(Fault::Steal { share })
}

/// A load off its pace while other programs had much of the machine: it carried too little, or, of
/// what was late before the window, too much.
fn crowded(plan: &Plan, record: &TrialRecord) -> Option<Fault> {
    let carried = offer_use(plan, record)?;
    if (carried - 1.0).abs() <= 1.0 - REACHED {
        return None;
    }
    let cpus = record.reading("cpu", "machine", "cpus")?;
    let others = record.reading("foreign", "machine", "cpu")?;
    let carried = Quantity::new(carried, Unit::Share);
    (others.value >= CROWDED * cpus.value).then(|| Fault::Disturbed {
        host: "machine".into(),
        what: format!(
            "other programs had {others} of {cpus}, and the load carried {carried} of its pace"
        ),
    })
}

fn at_generator_limit(plan: &Plan, record: &TrialRecord) -> Option<Fault> {
    // Where the clients are taken down, their limit is one of those that are asked for.
    if plan.method.elasticity.is_some() {
        return None;
    }
    let GeneratorLimit { sign, host, share } = generator_limit(plan, record)?;
    let what = match sign {
        GeneratorSign::Starved => {
            let words = format!("its thread wanted a CPU for {share} and had it for less");
            match reading(record, "quota", &host, "limit") {
                Some(cpus) => {
                    format!("{words}; a quota holds it to {}", Quantity::new(cpus, Unit::Cpu))
                }
                None => words,
            }
        }
        GeneratorSign::Busy => format!("its thread ran for {share} of the time"),
        GeneratorSign::Late => format!("{share} of its requests were late"),
    };
    Some(Fault::GeneratorLimit { host, what })
}

fn not_steady(plan: &Plan, record: &TrialRecord) -> Option<Fault> {
    let required = plan.method.steady == SteadyRule::Required;
    (required && !record.outcome.steady).then(|| Fault::NotSteady {
        what: format!("its slope did not end within {}", plan.method.settle_max),
    })
}
