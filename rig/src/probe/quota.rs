//! Knows how near a host came to the quota of CPU time that it is held to, as its group counts it.
//!
//! Must not know why it is held; a host without a limit has no reading.

use super::{Moment, Probe, per_wall, reading};
use crate::lab::clock;
use crate::lab::quota::Counts;
use desk::record::Reading;
use desk::unit::Unit;

/// Reads the groups of all hosts at both edges.
#[derive(Debug, Default)]
pub struct QuotaProbe {
    /// Host, moment in nanoseconds, and what its group had counted.
    opened: Vec<(String, u64, Counts)>,
}

impl Probe for QuotaProbe {
    fn begin(&mut self, moment: &Moment) {
        let groups = moment.ours.quotas.iter();
        self.opened = groups
            .filter_map(|group| Some((group.host.clone(), clock::now_ns(), group.counts()?)))
            .collect();
    }

    fn end(&mut self, moment: &Moment) -> Vec<Reading> {
        let mut rows = Vec::new();
        for (host, then_ns, opened) in self.opened.drain(..) {
            let Some(group) = moment.ours.quotas.iter().find(|group| group.host == host) else {
                continue;
            };
            let (now_ns, closed) = (clock::now_ns(), group.counts());
            let (Some(closed), Ok(Some(limit))) = (closed, group.limit()) else { continue };
            let cpu_ns = closed.cpu_ns.saturating_sub(opened.cpu_ns);
            let used = per_wall(cpu_ns, now_ns.saturating_sub(then_ns)) / limit;
            let periods = closed.periods.saturating_sub(opened.periods);
            let throttled = closed.throttled.saturating_sub(opened.throttled);
            rows.push(reading("quota", &host, "limit", limit, Unit::Cpu));
            rows.push(reading("quota", &host, "use", used, Unit::Share));
            rows.push(reading("quota", &host, "throttled", share(throttled, periods), Unit::Share));
        }
        rows
    }
}

/// A part of a count; 0 where nothing was counted, since then nobody wanted to run.
#[expect(clippy::cast_precision_loss, reason = "periods of a window are far below 2^53")]
fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}
