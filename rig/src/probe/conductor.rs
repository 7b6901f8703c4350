//! Knows what this process itself cost: its own CPU clock, the soaker's threads taken out.
//!
//! Must not know what it did in that time.

use super::{Moment, Probe, per_wall, reading};
use crate::lab::clock;
use desk::record::Reading;
use desk::unit::Unit;

/// Reads the CPU clock of this process at both edges.
#[derive(Debug, Default)]
pub struct ConductorProbe {
    /// Moment and CPU time without the soaker, nanoseconds.
    opened: Option<(u64, u64)>,
}

/// The soaker's clocks were read just now, which brought the process clock up to date.
fn look(moment: &Moment) -> (u64, u64) {
    let soaked: u64 = moment.soaker.iter().map(|look| look.cpu_ns).sum();
    (clock::now_ns(), clock::process_cpu_ns().saturating_sub(soaked))
}

impl Probe for ConductorProbe {
    fn begin(&mut self, moment: &Moment) {
        self.opened = Some(look(moment));
    }

    fn end(&mut self, moment: &Moment) -> Vec<Reading> {
        let Some((then_ns, opened)) = self.opened.take() else { return Vec::new() };
        let (now_ns, closed) = look(moment);
        let cpu = per_wall(closed.saturating_sub(opened), now_ns.saturating_sub(then_ns));
        vec![reading("process", "conductor", "cpu", cpu, Unit::Cpu)]
    }
}
