//! Knows what the load itself cost on each host, whether a generator was held back, and where
//! datagrams were lost. Pure.
//!
//! Must not know whether the work was right; `check.rs` says that.

use super::evidence::{End, Evidence};
use crate::engine::net::life::starts;
use crate::engine::net::{account, seconds};
use desk::record::{Fault, Reading, Value};
use desk::unit::{Quantity, Unit};

/// All readings of a trial over its window.
///
/// # Errors
/// A trial that was not driven.
pub fn of(evidence: &Evidence) -> Result<Vec<Reading>, Fault> {
    let life = evidence.life()?;
    let mut all: Vec<Reading> = starts(&evidence.host_names, &life.late_ns).collect();
    for (at, name) in evidence.host_names.iter().enumerate() {
        let (a, b) = (&life.opened[at], &life.closed[at]);
        let mut add = |probe: &str, key: &str, value: f64, unit| {
            let (probe, host, key) = (probe.into(), name.as_str().into(), key.into());
            all.push(Reading { probe, host, key, quantity: Quantity::new(value, unit) });
        };
        let wall = seconds(b.at_ns.saturating_sub(a.at_ns)).max(1e-9);
        add("process", "cpu", seconds(b.cpu_ns.saturating_sub(a.cpu_ns)) / wall, Unit::Cpu);
        let both = a.streams.iter().zip(&b.streams);
        let spent = both.clone().filter_map(|(a, b)| Some(b.thread?.since(a.thread?)));
        if let Some((runnable, cpu)) = account::busiest(spent, wall) {
            add("thread", "runnable", runnable, Unit::Share);
            add("thread", "cpu", cpu, Unit::Share);
        }
        let paces = both.clone().filter_map(|(a, b)| Some((a.pace?, b.pace?)));
        let gained = |a: u64, b: u64| b.saturating_sub(a);
        let paces = paces.map(|(a, b)| (gained(a.late, b.late), gained(a.due, b.due)));
        if let Some(late) = crate::engine::pace::late(paces) {
            add("pace", "late", late, Unit::Share);
        }
        for (key, gained) in a.kernel.until(b.kernel) {
            add("udp", key, count(gained), Unit::Count);
        }
        for (key, value, unit) in received(evidence, at)? {
            add("udp", key, value, unit);
        }
    }
    Ok(all)
}

#[expect(clippy::cast_precision_loss, reason = "counts of a window are below 2^53")]
const fn count(number: u64) -> f64 {
    number as f64
}

/// What a host lost of the streams that it receives. A packet that the kernel drops holds one
/// datagram but with segments, so that only then what the way lost is not told.
fn received(evidence: &Evidence, host: usize) -> Result<Vec<(&'static str, f64, Unit)>, Fault> {
    let (mut lost, mut dropped, mut foreign) = (0, 0, 0);
    let mut buffer: Option<u64> = None;
    for plan in evidence.streams.iter().filter(|plan| Evidence::host(plan, false) == host) {
        let sent = evidence.end(plan, true)?.end.counted;
        let End { opened, closed, end, .. } = evidence.end(plan, false)?;
        lost += sent.saturating_sub(end.counted);
        dropped += closed.dropped.saturating_sub(opened.dropped);
        foreign += end.foreign;
        buffer = Some(buffer.map_or(closed.buffer, |least| least.min(closed.buffer)));
    }
    let Some(buffer) = buffer else { return Ok(Vec::new()) };
    let mut all = vec![
        ("lost", count(lost), Unit::Count),
        ("socket_drops", count(dropped), Unit::Count),
        ("foreign", count(foreign), Unit::Count),
        ("receive_buffer", count(buffer), Unit::Byte),
    ];
    if evidence.asked.get("engine").and_then(Value::word) != Some("segment") {
        all.push(("lost_on_the_way", count(lost.saturating_sub(dropped)), Unit::Count));
    }
    Ok(all)
}
