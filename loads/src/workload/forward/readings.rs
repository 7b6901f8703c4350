//! Knows what the load itself cost on each host, whether it was sent in time, and where frames
//! went. Pure.
//!
//! Must not know whether the work was right; `check.rs` says that.

use super::evidence::{Evidence, float};
use super::external;
use super::late;
use super::run::HostMark;
use crate::engine::net::life::starts;
use crate::engine::net::seconds;
use crate::engine::packet::ledger::Ledger;
use desk::record::{Fault, Reading};
use desk::unit::{Quantity, Unit};
use std::collections::BTreeSet;

/// All readings of a trial: CPU and lateness over its window, the ledger over all of it.
///
/// # Errors
/// A trial that was not driven.
pub fn of(evidence: &Evidence, ledger: &Ledger) -> Result<Vec<Reading>, Fault> {
    let life = evidence.life()?;
    let mut all: Vec<Reading> = starts(&evidence.host_names, &life.late_ns).collect();
    let mut add = |probe: &str, host: &str, key: &str, (value, unit)| {
        let (probe, host, key) = (probe.into(), host.into(), key.into());
        all.push(Reading { probe, host, key, quantity: Quantity::new(value, unit) });
    };
    let lost = late::hides_latency(evidence)?;
    for (at, name) in evidence.host_names.iter().enumerate() {
        let (a, b) = (&life.opened[at], &life.closed[at]);
        let wall = seconds(b.at_ns.saturating_sub(a.at_ns)).max(1e-9);
        let cpu = seconds(b.cpu_ns.saturating_sub(a.cpu_ns)) / wall;
        add("process", name, "cpu", (cpu, Unit::Cpu));
        if let Some(share) = most(evidence, at, idle)? {
            add("frames", name, "cpu_idle", (share, Unit::Share));
        }
        // Frames that count as lost do not show a slow sender.
        if let Some(share) = most(evidence, at, late)?.filter(|_| !lost) {
            add("pace", name, "late", (share, Unit::Share));
        }
    }
    for (host, rate) in forwarded(evidence)? {
        add("frames", host, "forwarded", (rate, Unit::PacketPerSecond));
    }
    let sut = evidence.host_names.first().map_or("", String::as_str);
    let total = [
        ("scheduled", ledger.scheduled),
        ("sent", ledger.sent),
        ("unsent", ledger.unsent),
        ("received", ledger.received),
        ("unexplained", ledger.unexplained()),
    ];
    for (key, count) in total {
        add("frames", sut, key, (float(count), Unit::Count));
    }
    for (key, count) in captured(evidence) {
        add("frames", sut, key, (float(count), Unit::Count));
    }
    if let Some(list) = evidence.list {
        add("frames", sut, "flows that a rule drops", (list.hit, Unit::Share));
        add("frames", sut, "flows that miss rules by a field", (list.near, Unit::Share));
        if let Some(median) = list.median {
            add("frames", sut, "median rule that drops", (float(median as u64 + 1), Unit::Count));
        }
    }
    for (host, port, counts) in evidence.ports() {
        let told = [
            ("received", counts.received),
            ("forwarded", counts.forwarded),
            ("left to the kernel", counts.passed),
        ];
        let flows = (counts.flows > 0).then_some(("flows translated", counts.flows));
        for (what, count) in told.into_iter().chain(flows) {
            add("frames", host, &format!("{what} {port}"), (float(count), Unit::Count));
        }
    }
    for (name, key, count) in external::readings(evidence) {
        add("frames", name, &key, (float(count), Unit::Count));
    }
    for (host, _) in evidence.after.iter().filter(|(_, counts)| counts.filtered) {
        add("frames", host, "bridge_nf_call", (1.0, Unit::Count));
    }
    for (who, count) in &ledger.drops {
        let (host, name) = who.split_once(' ').unwrap_or((sut, who));
        add("frames", host, &format!("dropped {name}"), (float(*count), Unit::Count));
    }
    Ok(all)
}

/// Frames of the capture that a stream sends again and again, and their flows; nothing of others.
fn captured(evidence: &Evidence) -> Vec<(&'static str, u64)> {
    let Some(list) = evidence.captured() else { return Vec::new() };
    let flows: BTreeSet<u32> = list.iter().map(|frame| frame.flow).collect();
    vec![("frames of the capture", list.len() as u64), ("flows of the capture", flows.len() as u64)]
}

/// The most of all streams that a host sends; none of a host that sends none.
fn most(
    evidence: &Evidence,
    sender: usize,
    of: fn(&Evidence, usize) -> Result<Option<f64>, Fault>,
) -> Result<Option<f64>, Fault> {
    let sends = |stream: &usize| evidence.legs[*stream].sender == sender;
    let told = (0..evidence.streams()).filter(sends).map(|stream| of(evidence, stream));
    let told = told.collect::<Result<Vec<_>, _>>()?;
    Ok(told.into_iter().flatten().reduce(f64::max))
}

/// Share of the frames due in the window that a paced sender did not send; none of one that sends
/// as fast as it can.
fn late(evidence: &Evidence, stream: usize) -> Result<Option<f64>, Fault> {
    let (sent, _) = evidence.sent(stream)?;
    let told = sent.sent[1] + sent.unsent[1];
    Ok(evidence.interval_ns.map(|_| float(sent.unsent[1]) / float(told.max(1))))
}

/// Share of the window in which the CPU of a stream's sender was idle; none where the kernel does
/// not tell.
///
/// # Errors
/// A trial that was not driven.
pub fn idle(evidence: &Evidence, stream: usize) -> Result<Option<f64>, Fault> {
    let life = evidence.life()?;
    let of = |marks: &[HostMark]| {
        let mark = marks.get(evidence.legs[stream].sender)?;
        let told = mark.ticks.iter().find(|(number, _)| usize::from(*number) == stream);
        told.map(|(_, ticks)| *ticks)
    };
    let (Some(opened), Some(closed)) = (of(&life.opened), of(&life.closed)) else {
        return Ok(None);
    };
    let all = closed.all.saturating_sub(opened.all);
    let idle = closed.idle.saturating_sub(opened.idle);
    Ok((all > 0).then(|| float(idle) / float(all)))
}

/// Frames a second of the window that hosts between the ends have forwarded by their own counters;
/// none of those that forwarded nothing.
///
/// # Errors
/// A trial that was not driven.
pub fn forwarded(evidence: &Evidence) -> Result<Vec<(&str, f64)>, Fault> {
    let life = evidence.life()?;
    let marks = life.opened.iter().zip(&life.closed).skip(evidence.host_names.len());
    let rate = |(opened, closed): (&HostMark, &HostMark)| {
        let gained = closed.forwarded?.since(opened.forwarded?);
        let length = seconds(closed.at_ns.saturating_sub(opened.at_ns)).max(1e-9);
        (gained > 0).then(|| float(gained) / length)
    };
    let all = evidence.between.iter().zip(marks);
    Ok(all.filter_map(|(name, marks)| Some((name.as_str(), rate(marks)?))).collect())
}
