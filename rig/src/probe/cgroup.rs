//! Knows the second opinion on what each host cost: the clock of its control group.
//!
//! Must not know how a group is made; where a host has none there is no reading.

use super::{Moment, Probe, per_wall, reading};
use crate::lab::clock;
use desk::record::Reading;
use desk::unit::Unit;

/// Reads the groups of all hosts at both edges.
#[derive(Debug, Default)]
pub struct GroupProbe {
    /// Host, moment and CPU time of its group, nanoseconds.
    opened: Vec<(String, u64, u64)>,
}

impl Probe for GroupProbe {
    fn begin(&mut self, moment: &Moment) {
        let groups = moment.ours.groups.iter();
        self.opened = groups
            .filter_map(|group| Some((group.host.clone(), clock::now_ns(), group.cpu_ns()?)))
            .collect();
    }

    fn end(&mut self, moment: &Moment) -> Vec<Reading> {
        let row = |(host, then_ns, opened): &(String, u64, u64)| {
            let group = moment.ours.groups.iter().find(|group| group.host == *host)?;
            let (now_ns, closed) = (clock::now_ns(), group.cpu_ns()?);
            let cpu = per_wall(closed.saturating_sub(*opened), now_ns.saturating_sub(*then_ns));
            Some(reading("cgroup", host, "cpu", cpu, Unit::Cpu))
        };
        self.opened.drain(..).collect::<Vec<_>>().iter().filter_map(row).collect()
    }
}
