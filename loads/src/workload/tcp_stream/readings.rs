//! Knows what the load itself cost on each host, and whether a generator was held back. Pure.
//!
//! Must not know whether the work was right; `check.rs` says that.

use super::evidence::{Evidence, end_at};
use super::run::{HostMark, StreamMark};
use crate::engine::net::life::starts;
use crate::engine::net::streams::{Direction, StreamPlan};
use crate::engine::net::{account, seconds};
use desk::record::Reading;
use desk::unit::{Quantity, Unit};
use std::collections::BTreeMap;

/// All readings of a trial over its window.
pub fn of(evidence: &Evidence) -> Vec<Reading> {
    let marks = evidence.opened.iter().zip(&evidence.closed);
    let mut all: Vec<Reading> = starts(&evidence.host_names, &evidence.late_ns).collect();
    all.extend(fairness(evidence));
    for (host, (opened, closed)) in evidence.host_names.iter().zip(marks) {
        let mut add = |probe: &str, key: &str, value: f64, unit| {
            let (probe, host, key) = (probe.into(), host.as_str().into(), key.into());
            all.push(Reading { probe, host, key, quantity: Quantity::new(value, unit) });
        };
        let wall = seconds(closed.at_ns.saturating_sub(opened.at_ns)).max(1e-9);
        let cpu = seconds(closed.cpu_ns.saturating_sub(opened.cpu_ns));
        add("process", "cpu", cpu / wall, Unit::Cpu);
        if let Some((runnable, cpu)) = busiest_thread(opened, closed, wall) {
            add("thread", "runnable", runnable, Unit::Share);
            add("thread", "cpu", cpu, Unit::Share);
        }
        if let Some(late) = late(opened, closed) {
            add("pace", "late", late, Unit::Share);
        }
        for (cpu, share) in on_cpus(evidence, opened, closed) {
            add("thread", &format!("cpu.cpu{cpu}"), share, Unit::Share);
        }
        if let Some(slept) = senders_sleep(opened, closed) {
            add("tcp", "send_wait", slept, Unit::Share);
        }
        closed.buffers.rows().for_each(|(key, size)| add("tcp", key, size, Unit::Byte));
        for (key, sends) in [("receive_flight", false), ("send_flight", true)] {
            if let Some(flight) = flight(evidence, closed, sends) {
                add("tcp", key, flight, Unit::Byte);
            }
        }
    }
    all
}

/// What was under way at once on the streams that a host receives or sends, that of the least:
/// the rate times the least round trip, bytes. A queue on the path does not count.
fn flight(evidence: &Evidence, closed: &HostMark, sends: bool) -> Option<f64> {
    let ends = closed.streams.iter().filter(|end| end.sends == sends);
    let of = |end: &StreamMark| {
        let (then, from) = end_at(&evidence.opened, end.id, false)?;
        let (now, to) = end_at(&evidence.closed, end.id, false)?;
        let rate = bytes(now.bytes.saturating_sub(then.bytes))
            / seconds(to.saturating_sub(from)).max(1e-9);
        let sender = end_at(&evidence.closed, end.id, true)?.0;
        let round_trip = f64::from(sender.tcp.min_rtt_us) * 1e-6;
        (round_trip > 0.0).then_some(rate * round_trip)
    };
    ends.filter_map(of).min_by(f64::total_cmp)
}

/// Jain's index of the bytes that the streams of each direction received in the window, of two or
/// more: 1 where all had the same, 1 / n where one of n had all (Jain, Chiu, Hawe 1984).
fn fairness(evidence: &Evidence) -> Vec<Reading> {
    let received = |plan: &&StreamPlan| {
        let at = |marks| end_at(marks, plan.id, false).map_or(0, |(end, _)| end.bytes);
        bytes(at(&evidence.closed).saturating_sub(at(&evidence.opened)))
    };
    let index = |(direction, key): (Direction, &str)| {
        let its = evidence.streams.iter().filter(|plan| plan.direction == direction);
        let rates: Vec<f64> = its.map(|plan| received(&plan)).collect();
        let value = jain(&rates)?;
        Some(Reading {
            probe: "fairness".into(),
            host: evidence.host_names.first()?.as_str().into(),
            key: key.into(),
            quantity: Quantity::new(value, Unit::Share),
        })
    };
    let directions = [(Direction::Transmit, "transmit"), (Direction::Receive, "receive")];
    directions.into_iter().filter_map(index).collect()
}

/// Jain's index; none of less than two, or where nothing moved.
#[expect(clippy::cast_precision_loss, reason = "at most 1,024 streams")]
fn jain(rates: &[f64]) -> Option<f64> {
    let (sum, squares) = (rates.iter().sum::<f64>(), rates.iter().map(|x| x * x).sum::<f64>());
    (rates.len() > 1 && squares > 0.0).then(|| sum * sum / (rates.len() as f64 * squares))
}

/// Both marks of every stream end of a host.
fn both<'a>(
    opened: &'a HostMark,
    closed: &'a HostMark,
) -> impl Iterator<Item = (&'a StreamMark, &'a StreamMark)> {
    let first = |b: &StreamMark| end_at(std::slice::from_ref(opened), b.id, b.sends);
    closed.streams.iter().filter_map(move |b| Some((first(b)?.0, b)))
}

#[expect(clippy::cast_precision_loss, reason = "a size of a buffer is below 2^53")]
const fn bytes(size: u64) -> f64 {
    size as f64
}

/// For each CPU that stream threads of a host are pinned to: the share of the time for which these
/// ran, all together.
fn on_cpus(evidence: &Evidence, opened: &HostMark, closed: &HostMark) -> BTreeMap<u32, f64> {
    let wall = seconds(closed.at_ns.saturating_sub(opened.at_ns)).max(1e-9);
    let mut cpus = BTreeMap::new();
    for (a, b) in both(opened, closed) {
        let Some(plan) = evidence.streams.iter().find(|plan| plan.id == b.id) else { continue };
        let serves = b.sends == (plan.direction == Direction::Transmit);
        let cpu = if serves { plan.server_cpu } else { plan.client_cpu };
        let (Some(cpu), Some(then), Some(now)) = (cpu, a.thread, b.thread) else { continue };
        *cpus.entry(cpu).or_default() += seconds(now.cpu_ns.saturating_sub(then.cpu_ns)) / wall;
    }
    cpus
}

/// Share of the time in which the sending threads of a host slept, neither on a CPU nor waiting for
/// one, their mean. One that sends at no set rate sleeps only until its send buffer has room, so
/// paced ones are left out; none where none is left or the kernel keeps no account.
fn senders_sleep(opened: &HostMark, closed: &HostMark) -> Option<f64> {
    let wall = seconds(closed.at_ns.saturating_sub(opened.at_ns)).max(1e-9);
    let free = both(opened, closed).filter(|(_, b)| b.sends && b.pace.is_none());
    let slept: Vec<f64> = free
        .filter_map(|(a, b)| {
            let spent = b.thread?.since(a.thread?);
            Some((1.0 - seconds(spent.cpu_ns + spent.waited_ns) / wall).clamp(0.0, 1.0))
        })
        .collect();
    let count = u32::try_from(slept.len()).ok().filter(|count| *count > 0)?;
    Some(slept.iter().sum::<f64>() / f64::from(count))
}

/// [`account::busiest`] of a host's streams.
fn busiest_thread(opened: &HostMark, closed: &HostMark, wall: f64) -> Option<(f64, f64)> {
    let spent = both(opened, closed).filter_map(|(a, b)| Some(b.thread?.since(a.thread?)));
    account::busiest(spent, wall)
}

/// Late calls of those due in the window; none where nothing is paced, or nothing was due.
#[expect(clippy::cast_precision_loss, reason = "calls of a window are below 2^53")]
fn late(opened: &HostMark, closed: &HostMark) -> Option<f64> {
    let mut sums = (0, 0);
    for (a, b) in both(opened, closed) {
        let (Some(a), Some(b)) = (a.pace, b.pace) else { continue };
        sums.0 += b.late.saturating_sub(a.late);
        sums.1 += b.due.saturating_sub(a.due);
    }
    (sums.1 > 0).then(|| (sums.0 as f64 / sums.1 as f64).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fairness_is_one_of_equals_and_one_of_n_where_one_has_all() {
        assert_eq!(jain(&[3.0, 3.0, 3.0, 3.0]), Some(1.0));
        assert_eq!(jain(&[5.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(jain(&[1.0, 2.0]), Some(0.9));
        assert_eq!((jain(&[1.0]), jain(&[0.0, 0.0]), jain(&[])), (None, None, None));
    }
}
