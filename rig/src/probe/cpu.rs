//! Knows how busy each CPU of the machine was: 1 - idle / wall, never the sum of busy ticks.
//!
//! Idle time is kept by a clock (read in ticks of 10 ms), busy time by samples that lock to the
//! timer tick; on kernels with tick accounting the sum of the busy columns was measured at 0.03 to
//! 3.4 times the truth. It is recorded as what other tools would say, and used for nothing.
//! The time in interrupts is such a sample, too, unless the kernel keeps it by a clock. A sample
//! has another key and is at most the busy time. `tasks.rs` tells the time of `ksoftirqd`, which
//! is exact.
//!
//! Must not know whose time it was; a soaker's is only taken out.

use super::source::{Source, Text};
use super::{Moment, Probe, per_wall, reading};
use crate::lab::clock::TICK_NS;
use crate::lab::environment;
use desk::record::Reading;
use desk::unit::Unit;
use std::path::Path;

/// Reads `/proc/stat` at both edges.
#[derive(Debug)]
pub struct CpuProbe {
    file: Source,
    /// Whether the time in interrupts is kept by a clock.
    interrupts: bool,
    opened: Option<Snapshot>,
}

/// The clocks of every CPU at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Snapshot {
    at_ns: u64,
    cpus: Vec<Cpu>,
    /// CPU number and the time that the soaker has run there, nanoseconds.
    soaked: Vec<(u32, u64)>,
}

/// What one line `cpuN` says (proc(5)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Cpu {
    number: u32,
    /// idle + iowait, ticks.
    idle: u64,
    /// Ticks that the hypervisor gave to others.
    steal: u64,
    /// user + nice + system + irq + softirq, ticks.
    busy: u64,
    /// irq + softirq of these.
    interrupts: u64,
}

impl CpuProbe {
    /// A probe that reads below `root`.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        let interrupts = environment::keeps_interrupts(root);
        Self { file: Source::new(root.join("proc/stat")), interrupts, opened: None }
    }
}

fn snapshot(text: &Text, moment: &Moment) -> Snapshot {
    let soaked = moment.soaker.iter().map(|look| (look.cpu, look.cpu_ns)).collect();
    Snapshot { at_ns: text.at_ns, cpus: parse(&text.text), soaked }
}

impl Probe for CpuProbe {
    fn begin(&mut self, moment: &Moment) {
        self.opened = self.file.open().map(|text| snapshot(&text, moment));
    }

    fn end(&mut self, moment: &Moment) -> Vec<Reading> {
        let closed = self.file.again().map(|text| snapshot(&text, moment));
        match (self.opened.take(), closed) {
            (Some(opened), Some(closed)) => readings(&opened, &closed, self.interrupts),
            _ => Vec::new(),
        }
    }
}

/// The `cpuN` lines; a CPU that is offline has none.
fn parse(text: &str) -> Vec<Cpu> {
    let mut cpus = Vec::new();
    for line in text.lines().take_while(|line| line.starts_with("cpu")) {
        let mut words = line.split_ascii_whitespace();
        let number = words.next().and_then(|w| w.strip_prefix("cpu")).and_then(|n| n.parse().ok());
        let ticks: Vec<u64> = words.filter_map(|w| w.parse().ok()).collect();
        let column = |at: usize| ticks.get(at).copied().unwrap_or(0);
        if let (Some(number), true) = (number, ticks.len() >= 5) {
            cpus.push(Cpu {
                number,
                idle: column(3) + column(4),
                steal: column(7),
                busy: [0, 1, 2, 5, 6].map(column).iter().sum(),
                interrupts: column(5) + column(6),
            });
        }
    }
    cpus
}

/// Only CPUs that were online at both edges: one that came or went has no whole window.
fn readings(opened: &Snapshot, closed: &Snapshot, interrupts: bool) -> Vec<Reading> {
    let wall_ns = closed.at_ns.saturating_sub(opened.at_ns);
    let share = |now: u64, then: u64| per_wall(now.saturating_sub(then) * TICK_NS, wall_ns);
    let row = |key: &str, value: f64, unit| reading("cpu", "machine", key, value, unit);
    let mut rows = Vec::new();
    let (mut busy_sum, mut steal_sum, mut ticks_sum, mut count) = (0.0, 0.0, 0.0, 0.0);
    for now in &closed.cpus {
        let Some(then) = opened.cpus.iter().find(|cpu| cpu.number == now.number) else { continue };
        let soaked = per_wall(soaked_ns(opened, closed, now.number), wall_ns);
        let busy = 1.0 - share(now.idle, then.idle) - soaked;
        rows.push(row(&format!("busy.cpu{}", now.number), busy.clamp(0.0, 1.0), Unit::Share));
        let soft = share(now.interrupts, then.interrupts).clamp(0.0, 1.0);
        let (key, soft) = if interrupts {
            ("softirq", soft)
        } else {
            ("softirq_samples", soft.min(busy.max(0.0)))
        };
        rows.push(row(&format!("{key}.cpu{}", now.number), soft, Unit::Share));
        busy_sum += busy;
        steal_sum += share(now.steal, then.steal);
        ticks_sum += share(now.busy, then.busy);
        count += 1.0;
    }
    if count > 0.0 {
        rows.push(row("busy", (busy_sum / count).clamp(0.0, 1.0), Unit::Share));
        rows.push(row("steal", (steal_sum / count).clamp(0.0, 1.0), Unit::Share));
        rows.push(row("cpus", count, Unit::Count));
        // With a soaker the samples are of the soaker too, and no other tool brings one.
        if closed.soaked.is_empty() {
            rows.push(row("jiffies", ticks_sum, Unit::Cpu));
        }
    }
    rows
}

fn soaked_ns(opened: &Snapshot, closed: &Snapshot, cpu: u32) -> u64 {
    let of = |snapshot: &Snapshot| snapshot.soaked.iter().find(|s| s.0 == cpu).map(|s| s.1);
    of(closed).zip(of(opened)).map_or(0, |(now, then)| now.saturating_sub(then))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::Ours;

    const BEFORE: &str = "cpu  0 0 0 0 0 0 0 0\ncpu0 9 0 9 100 0 0 0 0\ncpu1 0 0 0 200 50 0 0 5\n";
    const AFTER: &str = "cpu  0 0 0 0 0 0 0 0\ncpu0 12 1 10 180 0 2 3 0\n\
                         cpu1 0 0 0 210 50 0 0 15\ncpu2 0 0 0 7 0 0 0 0\n";

    /// A reading in thousandths.
    fn value(rows: &[Reading], key: &str) -> Option<f64> {
        rows.iter().find(|r| r.key == key).map(|r| (r.quantity.value * 1000.0).round())
    }

    fn between(soaked: [&[(u32, u64)]; 2]) -> Vec<Reading> {
        let opened = Snapshot { at_ns: 0, cpus: parse(BEFORE), soaked: soaked[0].to_vec() };
        let closed =
            Snapshot { at_ns: 1_000_000_000, cpus: parse(AFTER), soaked: soaked[1].to_vec() };
        readings(&opened, &closed, true)
    }

    #[test]
    fn interrupts_that_no_clock_keeps_are_samples() {
        let rows = between([&[], &[]]);
        assert_eq!(value(&rows, "softirq.cpu0"), Some(50.0), "2 + 3 ticks of a second");
        assert_eq!(value(&rows, "softirq.cpu1"), Some(0.0));
        let snapshot = |at_ns, text| Snapshot { at_ns, cpus: parse(text), soaked: Vec::new() };
        let sampled = readings(&snapshot(0, BEFORE), &snapshot(1_000_000_000, AFTER), false);
        assert_eq!(value(&sampled, "softirq.cpu0"), None);
        assert_eq!(value(&sampled, "softirq_samples.cpu0"), Some(50.0));
    }

    #[test]
    fn busy_is_what_idle_leaves_of_the_wall_clock() {
        let rows = between([&[], &[]]);
        assert_eq!(value(&rows, "busy.cpu0"), Some(200.0));
        assert_eq!(value(&rows, "busy.cpu1"), Some(900.0));
        assert_eq!(value(&rows, "busy"), Some(550.0));
        assert_eq!(value(&rows, "steal"), Some(50.0));
    }

    #[test]
    fn a_cpu_that_came_in_the_window_is_not_counted_and_ticks_are_only_recorded() {
        let rows = between([&[], &[]]);
        assert_eq!(value(&rows, "busy.cpu2"), None);
        assert_eq!(value(&rows, "cpus"), Some(2000.0));
        assert_eq!(value(&rows, "jiffies"), Some(100.0), "3 + 1 + 1 + 2 + 3 ticks");
    }

    #[test]
    fn what_a_soaker_took_is_nobodys_load() {
        let rows = between([&[(0, 5), (1, 7)], &[(0, 150_000_005), (1, 800_000_007)]]);
        assert_eq!(value(&rows, "busy.cpu0"), Some(50.0));
        assert_eq!(value(&rows, "busy.cpu1"), Some(100.0));
        assert_eq!(value(&rows, "busy"), Some(75.0));
        assert_eq!(value(&rows, "jiffies"), None);
    }

    #[test]
    fn a_kernel_that_says_nothing_gives_no_reading() {
        let moment = Moment { ours: &Ours::default(), soaker: &[] };
        let mut probe = CpuProbe::new(Path::new("/nonexistent"));
        probe.begin(&moment);
        assert!(probe.end(&moment).is_empty());
    }
}
