//! Knows what is particular to exchanges whose operations move many bytes: the bytes are the work,
//! wherever they arrive, and storage may hold them at either end.
//!
//! Must not know files, nor what an operation is.

use super::check::Evidence;
use super::order::Threads;
use super::part::{HostMark, ThreadCount};
use crate::engine::net::seconds;
use desk::record::{Reading, Settings};
use desk::unit::{Quantity, Unit};
use std::time::Duration;

/// Largest that a stack hands over before segmentation, bytes.
const WHOLE: f64 = 65536.0;

/// What such a workload says of itself. Each connection has a thread at either end, for a thread
/// that waits for storage must not keep others waiting.
#[derive(Clone, Copy, Debug)]
pub struct Bulk {
    /// Bytes of an operation, and of a call.
    pub sizes: fn(&Settings) -> (u64, u64),
    /// How the bytes of a host, by its index, go to storage; none where they do not.
    pub storing: fn(&Settings, usize) -> Option<Storing>,
    /// Longest time to prepare what so many connections move, whose storage may be one disk.
    pub staging: fn(&Settings, usize) -> Duration,
}

/// How the bytes of a host go to storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Storing {
    /// Block devices are to serve them, and not the page cache.
    pub direct: bool,
    /// What the kernel counts as written to a block device is written there within an operation,
    /// and does not only make pages dirty.
    pub writes: bool,
}

/// Bytes that arrived in the window at all hosts, a second.
#[expect(clippy::cast_precision_loss, reason = "bytes of a window are below 2^53")]
pub fn rate<'m>(marks: impl Iterator<Item = (&'m HostMark, &'m HostMark)>) -> f64 {
    let of = |(opened, closed): (&HostMark, &HostMark)| {
        let wall = seconds(closed.at_ns.saturating_sub(opened.at_ns)).max(1e-9);
        sum(opened, closed, |count| count.received) as f64 / wall
    };
    marks.map(of).sum()
}

/// What all threads of a host counted in the window.
fn sum(opened: &HostMark, closed: &HostMark, of: impl Fn(&ThreadCount) -> u64) -> u64 {
    let all = |mark: &HostMark| mark.threads.iter().map(&of).sum::<u64>();
    all(closed).saturating_sub(all(opened))
}

/// Of a host with storage: the share of its bytes in the window that block devices served, under
/// the key `direct`, or `buffered` where it did not ask for them; and `file_wait`, the share of the
/// time that its threads spent in calls on files. Nothing where the kernel does not count.
#[expect(clippy::cast_precision_loss, reason = "bytes and times of a window are below 2^53")]
pub fn stored(bulk: &Bulk, evidence: &Evidence, host: usize) -> Vec<Reading> {
    let (storing, life) = ((bulk.storing)(&evidence.asked, host), evidence.life.as_ref());
    let marks = life.and_then(|life| life.opened.get(host).zip(life.closed.get(host)));
    let Some((storing, (opened, closed))) = storing.zip(marks) else { return Vec::new() };
    let Some((before, after)) = opened.stored.zip(closed.stored) else { return Vec::new() };
    let moved = after.since(before);
    let served = moved.read + if storing.writes { moved.written } else { 0 };
    let asked = sum(opened, closed, |count| count.received + count.sent);
    let wall = seconds(closed.at_ns.saturating_sub(opened.at_ns)).max(1e-9);
    let threads = closed.threads.len().max(1) as f64;
    let waited = seconds(sum(opened, closed, |count| count.filed_ns)) / wall / threads;
    let reading = |key: &str, share: f64| Reading {
        probe: "storage".into(),
        host: evidence.host_names[host].as_str().into(),
        key: key.into(),
        quantity: Quantity::new(share, Unit::Share),
    };
    let served = (asked > 0).then(|| {
        let key = if storing.direct { "direct" } else { "buffered" };
        reading(key, served as f64 / asked as f64)
    });
    served.into_iter().chain([reading("file_wait", waited.min(1.0))]).collect()
}

/// What an operation takes in a simulated lab, seconds: of the CPU of the server, and on the link
/// where so many share it.
#[expect(clippy::cast_precision_loss, reason = "a file is below 2^53 B, threads are few")]
pub fn simulated(
    bulk: &Bulk,
    scene: &rig::lab::sim::Scene<'_>,
    (params, threads): (&Settings, &Threads),
) -> (f64, f64) {
    let (cost, link) = (&scene.physics.cost, &scene.link);
    let (bytes, call) = (bulk.sizes)(params);
    let (bytes, calls) = (bytes as f64, bytes as f64 / call.max(1) as f64);
    let segment = (link.mtu - link.ip_header - 32.0).max(88.0);
    let packets = bytes / if link.tso { WHOLE } else { segment };
    let cpu = 2.0 * calls * cost.call + packets * cost.packet + bytes * cost.byte;
    let line = link.line_rate.min(link.cap.unwrap_or(f64::INFINITY));
    let wire = bytes / segment * (link.mtu + link.overhead) * 8.0 / line;
    (cpu / scene.hold.speed / scene.pace, wire * threads.server.len().max(1) as f64 / scene.pace)
}
