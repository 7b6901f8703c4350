//! Knows how often the kernel worked on soft interrupts, and what it did with received packets
//! before a socket saw them.
//!
//! Rates are sums over the CPUs of `/proc/softirqs`. Of what packets cause, the share of the CPU
//! that had the most is told: near 100 % one CPU does the work of all. `/proc/net/softnet_stat`
//! has the packets that CPUs took from their backlog or adapter, those dropped because a backlog
//! was full, and how often a CPU had to stop with packets left (net/core/net-procfs.c). All are
//! counters of 32 bits. A CPU that came or went in the window is left out.
//!
//! Must not know which adapter the packets came from: both files are of the whole machine.

use super::columns::{Columns, largest};
use super::source::{Sources, Text};
use super::{Moment, Probe, counter, reading};
use desk::record::Reading;
use desk::unit::Unit;
use std::collections::BTreeMap;
use std::path::Path;

/// Rows of which the busiest CPU is told.
const OF_PACKETS: [&str; 2] = ["net_rx", "net_tx"];
/// Places of columns of `softnet_stat`.
const DROPPED: usize = 1;
const SQUEEZED: usize = 2;
const FLOW_LIMITED: usize = 10;
/// Place of the number of the CPU; kernels before 5.10 leave it out.
const CPU: usize = 12;

/// Reads `/proc/softirqs` and `/proc/net/softnet_stat` at both edges.
#[derive(Debug)]
pub struct SoftirqProbe {
    files: Sources<2>,
}

impl SoftirqProbe {
    /// A probe that reads below `root`.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        Self { files: Sources::new(root, ["proc/softirqs", "proc/net/softnet_stat"]) }
    }
}

impl Probe for SoftirqProbe {
    fn begin(&mut self, _: &Moment) {
        self.files.open();
    }

    fn end(&mut self, _: &Moment) -> Vec<Reading> {
        let [kinds, packets] = self.files.close();
        let kinds = kinds.map(|(then, now)| of_kinds(&then, &now));
        let packets = packets.map(|(then, now)| of_packets(&then, &now));
        kinds.into_iter().chain(packets).flatten().collect()
    }
}

fn row(key: &str, value: f64, unit: Unit) -> Reading {
    reading("softirq", "machine", key, value, unit)
}

#[expect(clippy::cast_precision_loss, reason = "counts of a window are far below 2^53")]
fn of_kinds(opened: &Text, closed: &Text) -> Vec<Reading> {
    let seconds = closed.seconds_since(opened);
    let (then, now) =
        (Columns::parse(&opened.text, |_| true), Columns::parse(&closed.text, |_| true));
    let mut rows = Vec::new();
    for kind in &now.rows {
        let Some(gains) = now.gained(kind, &then) else { continue };
        let gains = gains.iter().map(|(_, gained)| *gained);
        let key = kind.name.to_ascii_lowercase();
        let rate = gains.clone().sum::<u64>() as f64 / seconds;
        rows.push(row(&key, rate, Unit::InterruptPerSecond));
        if let Some(share) = largest(gains).filter(|_| OF_PACKETS.contains(&key.as_str())) {
            rows.push(row(&format!("{key}.largest_cpu"), share, Unit::Share));
        }
    }
    rows
}

/// The columns of each CPU's line, which are hexadecimal.
fn lines(text: &str) -> BTreeMap<u64, Vec<u64>> {
    let line = |(at, line): (usize, &str)| {
        let words = line.split_ascii_whitespace();
        let columns: Option<Vec<u64>> = words.map(|w| u64::from_str_radix(w, 16).ok()).collect();
        let columns = columns?;
        Some((columns.get(CPU).copied().unwrap_or(at as u64), columns))
    };
    text.lines().enumerate().filter_map(line).collect()
}

/// Without numbers of the CPUs, lines are told apart only as long as there are as many.
#[expect(clippy::cast_precision_loss, reason = "counts of a window are far below 2^53")]
fn of_packets(opened: &Text, closed: &Text) -> Vec<Reading> {
    let (then, now) = (lines(&opened.text), lines(&closed.text));
    let numbered = now.values().all(|columns| columns.len() > CPU);
    if !numbered && then.len() != now.len() {
        return Vec::new();
    }
    let gains = |column: usize| -> Option<Vec<u64>> {
        let both = now.iter().filter_map(|(cpu, line)| Some((then.get(cpu)?, line)));
        let gained = |(then, now): (&Vec<u64>, &Vec<u64>)| {
            counter::gained(*then.get(column)?, *now.get(column)?)
        };
        let gains = both.map(gained).collect::<Option<Vec<u64>>>()?;
        (!gains.is_empty()).then_some(gains)
    };
    let mut rows = Vec::new();
    if let Some(packets) = gains(0) {
        let rate = packets.iter().sum::<u64>() as f64 / closed.seconds_since(opened);
        rows.push(row("softnet.processed", rate, Unit::PacketPerSecond));
        let share = largest(packets.iter().copied());
        rows.extend(share.map(|share| row("softnet.largest_cpu", share, Unit::Share)));
    }
    let counts = [("dropped", DROPPED), ("squeezed", SQUEEZED), ("flow_limited", FLOW_LIMITED)];
    for (key, column) in counts {
        let count = gains(column).map(|gains| gains.iter().sum::<u64>() as f64);
        let key = format!("softnet.{key}");
        rows.extend(count.map(|count| row(&key, count, Unit::Count)));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Tree, value, window};
    use super::*;

    const SOFTIRQS: &str = "proc/softirqs";
    const SOFTNET: &str = "proc/net/softnet_stat";

    fn at(seconds: u64, text: String) -> Text {
        Text { at_ns: seconds * 1_000_000_000, text }
    }

    /// A table for CPUs, each with its own count of received packets.
    fn table(net_rx: &[u64]) -> String {
        let cells = |of: &dyn Fn(usize) -> String| -> String {
            (0..net_rx.len()).map(|cpu| format!(" {:>10}", of(cpu))).collect()
        };
        format!(
            "        {}\n          HI:{}\n      NET_RX:{}\n",
            cells(&|cpu| format!("CPU{cpu}")),
            cells(&|_| "1".into()),
            cells(&|cpu| net_rx[cpu].to_string())
        )
    }

    /// Lines of CPUs: number, packets, dropped, squeezed.
    fn softnet(cpus: &[(u32, u32, u32, u32)]) -> String {
        let line = |(cpu, packets, dropped, squeezed): &(u32, u32, u32, u32)| {
            let zeros = "00000000 ".repeat(9);
            format!("{packets:08x} {dropped:08x} {squeezed:08x} {zeros}{cpu:08x} 00000000\n")
        };
        cpus.iter().map(line).collect()
    }

    #[test]
    fn kinds_are_rates_and_the_busiest_cpu_is_told() {
        let rows = of_kinds(&at(0, table(&[10, 4_294_967_290])), &at(2, table(&[40, 84])));
        assert_eq!(value(&rows, "net_rx"), Some(60.0), "30 and 90 past a wrap, in 2 s");
        assert_eq!(value(&rows, "net_rx.largest_cpu"), Some(0.75));
        assert_eq!(value(&rows, "hi"), Some(0.0));
        assert_eq!(rows.len(), 3);
    }

    #[test]
    fn drops_and_squeezes_are_counted_past_a_wrap_and_a_cpu_that_went() {
        let opened = softnet(&[(0, u32::MAX, 1, 2), (1, 5, 5, 5), (2, 100, 0, u32::MAX)]);
        let closed = softnet(&[(0, 299, 4, 2), (2, 200, 0, 4)]);
        let rows = of_packets(&at(0, opened.clone()), &at(2, closed));
        assert_eq!(value(&rows, "softnet.processed"), Some(200.0));
        assert_eq!(value(&rows, "softnet.largest_cpu"), Some(0.75));
        assert_eq!(value(&rows, "softnet.dropped"), Some(3.0));
        assert_eq!(value(&rows, "softnet.squeezed"), Some(5.0));
        assert_eq!(value(&rows, "softnet.flow_limited"), Some(0.0));
        // An old kernel has 11 columns, and does not say which CPU is gone.
        let old = |text: &str| -> String {
            text.lines().map(|line| format!("{}\n", &line[..11 * 9 - 1])).collect()
        };
        let gone = old(&opened).lines().take(2).map(|l| format!("{l}\n")).collect();
        assert!(of_packets(&at(0, old(&opened)), &at(1, gone)).is_empty());
        assert_eq!(of_packets(&at(0, old(&opened)), &at(1, old(&opened))).len(), 4);
    }

    #[test]
    fn five_hundred_and_twelve_cpus_give_no_more_readings() {
        let tree = Tree::new("softirq-512");
        let lines =
            |packets| softnet(&(0..512).map(|cpu| (cpu, packets, 0, 0)).collect::<Vec<_>>());
        tree.file(SOFTIRQS, &table(&[7; 512]));
        tree.file(SOFTNET, &lines(7));
        let mut probe = SoftirqProbe::new(tree.root());
        let rows = window(&mut probe, || {
            let mut net_rx = [8; 512];
            net_rx[511] = 7 + 512;
            tree.file(SOFTIRQS, &table(&net_rx));
            tree.file(SOFTNET, &lines(8));
        });
        assert_eq!(rows.len(), 8, "{rows:?}");
        assert_eq!(value(&rows, "net_rx.largest_cpu"), Some(512.0 / 1023.0));
        assert_eq!(value(&rows, "softnet.largest_cpu"), Some(1.0 / 512.0));
    }

    #[test]
    fn a_file_that_is_absent_unreadable_or_was_reset_leaves_the_other() {
        let tree = Tree::new("softirq-eio");
        tree.eio(SOFTIRQS);
        tree.file(SOFTNET, &softnet(&[(0, 1000, 0, 0)]));
        let mut probe = SoftirqProbe::new(tree.root());
        let rows = window(&mut probe, || tree.file(SOFTNET, &softnet(&[(0, 10, 0, 0)])));
        assert_eq!(value(&rows, "softnet.processed"), None, "went back");
        assert_eq!(value(&rows, "softnet.dropped"), Some(0.0));
        assert_eq!(rows.len(), 3);
        assert!(window(&mut SoftirqProbe::new(Path::new("/nonexistent")), || ()).is_empty());
        let here = window(&mut SoftirqProbe::new(Path::new("/")), || ());
        assert!(value(&here, "net_rx").is_some() && value(&here, "softnet.dropped").is_some());
    }
}
