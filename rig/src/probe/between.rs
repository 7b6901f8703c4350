//! Knows what the processes of hosts between links cost: relays and devices, each by its CPU clock.
//!
//! What the server and its clients cost their loads say. Must not know what such a host is for.

use super::{Moment, Probe, per_wall, reading};
use crate::lab::{Ours, SWITCH, clock};
use desk::record::{Reading, SUT, is_client};
use desk::unit::Unit;

/// Reads the CPU clocks at both edges.
#[derive(Debug, Default)]
pub struct BetweenProbe {
    /// Moment, nanoseconds; name, process and CPU time, nanoseconds, of each host.
    opened: (u64, Vec<(String, u32, u64)>),
}

impl Probe for BetweenProbe {
    fn begin(&mut self, moment: &Moment) {
        let of = |(name, pid): &(String, u32)| Some((name.clone(), *pid, clock::cpu_ns_of(*pid)?));
        self.opened = (clock::now_ns(), between(moment.ours).filter_map(of).collect());
    }

    fn end(&mut self, _: &Moment) -> Vec<Reading> {
        let (then_ns, opened) = std::mem::take(&mut self.opened);
        let wall_ns = clock::now_ns().saturating_sub(then_ns);
        let of = |(name, pid, before): (String, u32, u64)| {
            let gained = clock::cpu_ns_of(pid)?.saturating_sub(before);
            Some(reading("process", &name, "cpu", per_wall(gained, wall_ns), Unit::Cpu))
        };
        opened.into_iter().filter_map(of).collect()
    }
}

/// Hosts that are neither the system under test nor a client, nor the switch of the lab.
fn between(ours: &Ours) -> impl Iterator<Item = &(String, u32)> {
    ours.hosts.iter().filter(|(name, _)| !is_client(name) && name != SUT && name != SWITCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hosts_between_links_are_told() {
        let me = std::process::id();
        let hosts = ["sut", "c01", "wan", "switch"].map(|name| (name.to_owned(), me)).to_vec();
        let ours = Ours { hosts, ..Ours::default() };
        let moment = Moment { ours: &ours, soaker: &[] };
        let mut probe = BetweenProbe::default();
        probe.begin(&moment);
        let rows = probe.end(&moment);
        assert_eq!(rows.iter().map(|r| r.host.name()).collect::<Vec<_>>(), ["wan"]);
        assert!(rows[0].quantity.value >= 0.0 && rows[0].key == "cpu");
    }
}
