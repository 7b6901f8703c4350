//! Knows how near a host came to the quota of CPU time that it is held to, as the group counts it:
//! one of the lab, or another around its process.
//!
//! Must not know why it is held; a host without a limit has no reading.

use super::{Moment, Probe, per_wall, reading};
use crate::lab::clock;
use crate::lab::quota::{Counts, QuotaGroup};
use desk::record::Reading;
use desk::unit::Unit;
use std::fs;

/// Reads the groups of all hosts at both edges.
#[derive(Debug, Default)]
pub struct QuotaProbe {
    /// Group of a host, moment in nanoseconds, and what the group had counted.
    opened: Vec<(QuotaGroup, u64, Counts)>,
}

impl Probe for QuotaProbe {
    fn begin(&mut self, moment: &Moment) {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let hosts = moment.ours.hosts.iter();
        let open = |(host, process): &(String, u32)| {
            let group = QuotaGroup::around(host, *process, &mounts)?;
            let at_ns = clock::now_ns();
            group.counts().map(|counts| (group, at_ns, counts))
        };
        self.opened = hosts.filter_map(open).collect();
    }

    fn end(&mut self, _: &Moment) -> Vec<Reading> {
        let mut rows = Vec::new();
        for (group, then_ns, opened) in self.opened.drain(..) {
            let (now_ns, closed) = (clock::now_ns(), group.counts());
            let (Some(closed), Ok(Some(limit))) = (closed, group.limit()) else { continue };
            let host = &group.host;
            let cpu_ns = closed.cpu_ns.saturating_sub(opened.cpu_ns);
            let used = per_wall(cpu_ns, now_ns.saturating_sub(then_ns)) / limit;
            let periods = closed.periods.saturating_sub(opened.periods);
            let throttled = closed.throttled.saturating_sub(opened.throttled);
            rows.push(reading("quota", host, "limit", limit, Unit::Cpu));
            rows.push(reading("quota", host, "use", used, Unit::Share));
            rows.push(reading("quota", host, "throttled", share(throttled, periods), Unit::Share));
        }
        rows
    }
}

/// A part of a count; 0 where nothing was counted, since then nobody wanted to run.
#[expect(clippy::cast_precision_loss, reason = "periods of a window are far below 2^53")]
fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}
