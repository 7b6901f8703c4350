//! Knows how often each adapter interrupted a CPU, and how many packets came or went with one.
//!
//! Adapters are found below `/sys/class/net`; their interrupts by number (`msi_irqs`, or `irq` of
//! a device that has none) or by name in `/proc/interrupts`: the adapter's own, or that of the
//! virtio device it is. An adapter without any, as a virtual pair, gives no reading. At the edges
//! only counters are read; whose interrupt is whose is found out after the window.
//!
//! Must not know whether the load went over the adapter.

use super::{Moment, Probe, reading};
use crate::lab::clock;
use desk::record::Reading;
use desk::unit::Unit;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Reads interrupts and packets at both edges.
#[derive(Debug)]
pub struct IrqProbe {
    root: PathBuf,
    opened: Option<Snapshot>,
}

/// Counters at one moment.
#[derive(Clone, Debug, Default)]
struct Snapshot {
    at_ns: u64,
    /// The text of `/proc/interrupts`.
    interrupts: String,
    /// Adapter that sits on a device, and its packets both ways.
    packets: BTreeMap<String, u64>,
}

/// One line of `/proc/interrupts` that has a number.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line<'a> {
    number: u32,
    /// Sum over the CPUs.
    count: u64,
    /// Names of those who listen, and what comes before them: the controller.
    names: Vec<&'a str>,
}

impl IrqProbe {
    /// A probe that reads below `root`.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), opened: None }
    }

    fn adapters(&self) -> PathBuf {
        self.root.join("sys/class/net")
    }

    fn snapshot(&self) -> Option<Snapshot> {
        let before_ns = clock::now_ns();
        let interrupts = fs::read_to_string(self.root.join("proc/interrupts")).ok()?;
        let names = fs::read_dir(self.adapters()).into_iter().flatten().flatten();
        let packets = names.filter_map(|entry| {
            let path = entry.path();
            let count = |file: &str| -> Option<u64> {
                fs::read_to_string(path.join("statistics").join(file)).ok()?.trim().parse().ok()
            };
            let both = path
                .join("device")
                .exists()
                .then_some(())
                .and_then(|()| Some(count("rx_packets")? + count("tx_packets")?))?;
            Some((entry.file_name().into_string().ok()?, both))
        });
        let packets = packets.collect();
        Some(Snapshot { at_ns: before_ns.midpoint(clock::now_ns()), interrupts, packets })
    }

    /// Numbers of the interrupts of an adapter's device, and the virtio name if it has one.
    fn device(&self, adapter: &str) -> (BTreeSet<u32>, Option<String>) {
        let Ok(mut device) = fs::canonicalize(self.adapters().join(adapter).join("device")) else {
            return (BTreeSet::new(), None);
        };
        let name = device.file_name().and_then(|n| n.to_str()).unwrap_or_default().to_owned();
        let virtio = name.starts_with("virtio").then_some(name);
        if virtio.is_some() {
            // The function that carries it has the interrupts, and nothing else uses them.
            device.pop();
        }
        let vectors = fs::read_dir(device.join("msi_irqs")).into_iter().flatten().flatten();
        let mut numbers: BTreeSet<u32> =
            vectors.filter_map(|v| v.file_name().to_str()?.parse().ok()).collect();
        if numbers.is_empty() {
            let line = fs::read_to_string(device.join("irq")).unwrap_or_default();
            numbers.extend(line.trim().parse::<u32>().ok().filter(|n| *n > 0));
        }
        (numbers, virtio)
    }
}

/// The lines of numbered interrupts (proc(5)); the head says how many CPUs there are.
fn lines(text: &str) -> Vec<Line<'_>> {
    let mut rows = text.lines();
    let cpus = rows.next().map_or(0, |head| head.split_ascii_whitespace().count());
    let line = |row| -> Option<Line<'_>> {
        let (number, rest) = <str>::split_once(row, ':')?;
        let words: Vec<&str> = rest.split_ascii_whitespace().collect();
        let counts = words.get(..cpus)?.iter().map(|word| word.parse::<u64>().ok());
        let count = counts.sum::<Option<u64>>()?;
        Some(Line { number: number.trim().parse().ok()?, count, names: words[cpus..].to_vec() })
    };
    rows.filter_map(line).collect()
}

/// Whether a name such as `eth1-TxRx-0`, `mlx5@eth1` or `virtio2-input.0` is that of `owner`;
/// `eth10-0` is not of `eth1`.
fn is_named(name: &str, owner: &str) -> bool {
    let name = name.trim_end_matches(',');
    name.match_indices(owner).any(|(at, _)| {
        let (before, after) = (name[..at].chars().next_back(), name[at + owner.len()..].chars());
        let apart = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
        apart(before) && apart({ after }.next())
    })
}

impl Probe for IrqProbe {
    fn begin(&mut self, _: &Moment) {
        self.opened = self.snapshot();
    }

    fn end(&mut self, _: &Moment) -> Vec<Reading> {
        let (Some(opened), Some(closed)) = (self.opened.take(), self.snapshot()) else {
            return Vec::new();
        };
        self.readings(&opened, &closed)
    }
}

impl IrqProbe {
    #[expect(clippy::cast_precision_loss, reason = "counts of a window are far below 2^53")]
    fn readings(&self, opened: &Snapshot, closed: &Snapshot) -> Vec<Reading> {
        let seconds = closed.at_ns.saturating_sub(opened.at_ns).max(1) as f64 / 1e9;
        let (then, now) = (lines(&opened.interrupts), lines(&closed.interrupts));
        let mut rows = Vec::new();
        for (adapter, packets) in &closed.packets {
            let (numbers, virtio) = self.device(adapter);
            let is_its = |line: &&Line| {
                let named = |name: &&str| {
                    is_named(name, adapter) || virtio.iter().any(|v| is_named(name, v))
                };
                numbers.contains(&line.number) || line.names.iter().any(named)
            };
            let its: Vec<&Line> = now.iter().filter(is_its).collect();
            if its.is_empty() {
                continue;
            }
            // A vector that came in the window began at 0.
            let gained = |line: &&Line| {
                let before = then.iter().find(|l| l.number == line.number).map_or(0, |l| l.count);
                line.count.saturating_sub(before)
            };
            let interrupts: u64 = its.iter().map(gained).sum();
            let rate = interrupts as f64 / seconds;
            rows.push(reading("irq", adapter, "interrupts", rate, Unit::InterruptPerSecond));
            if let Some(before) = opened.packets.get(adapter).filter(|_| interrupts > 0) {
                let ratio = packets.saturating_sub(*before) as f64 / interrupts as f64;
                rows.push(reading("irq", adapter, "packets_per_interrupt", ratio, Unit::Ratio));
            }
        }
        rows
    }
}

#[cfg(test)]
mod tests;
