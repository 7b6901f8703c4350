//! Knows how often each adapter interrupted a CPU, how many packets came or went with one, and how
//! evenly interrupts were spread over vectors and CPUs.
//!
//! Adapters are found below `/sys/class/net`; their interrupts by number (`msi_irqs`, or `irq` of
//! a device that has none) or by name in `/proc/interrupts`: the adapter's own, or that of the
//! virtio device it is. An adapter without any, as a virtual pair, gives no reading. At the edges
//! only counters are read; whose interrupt is whose is found out after the window. Of the counters,
//! one for each vector and CPU, only the largest vector's and the busiest CPU's share are told.
//!
//! Must not know whether the load went over the adapter.

use super::columns::{Columns, Row, largest};
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
        let (then, now) = (Columns::parse(&opened.interrupts), Columns::parse(&closed.interrupts));
        let mut rows = Vec::new();
        for (adapter, packets) in &closed.packets {
            let its = self.vectors(adapter, &now);
            // A counter that was reset says nothing of the window.
            let gains = its.iter().map(|row| now.gained(row, &then)).collect::<Option<Vec<_>>>();
            let Some(gains) = gains.filter(|gains| !gains.is_empty()) else { continue };
            let sum = |cpus: &Vec<(u32, u64)>| cpus.iter().map(|(_, gained)| gained).sum::<u64>();
            let vectors: Vec<u64> = gains.iter().map(sum).collect();
            let mut cpus: BTreeMap<u32, u64> = BTreeMap::new();
            for (cpu, gained) in gains.iter().flatten() {
                *cpus.entry(*cpu).or_default() += gained;
            }
            let interrupts: u64 = vectors.iter().sum();
            let mut row = |key: &str, value, unit| {
                rows.push(reading("irq", adapter, key, value, unit));
            };
            row("interrupts", interrupts as f64 / seconds, Unit::InterruptPerSecond);
            if let Some(before) = opened.packets.get(adapter).filter(|_| interrupts > 0) {
                let ratio = packets.saturating_sub(*before) as f64 / interrupts as f64;
                row("packets_per_interrupt", ratio, Unit::Ratio);
            }
            if let Some(share) = largest(vectors.iter().copied()) {
                row("largest_vector", share, Unit::Share);
            }
            if let Some(share) = largest(cpus.values().copied()) {
                row("largest_cpu", share, Unit::Share);
            }
        }
        rows
    }

    /// The rows of an adapter's interrupts, by number or by name.
    fn vectors<'t, 'a>(&self, adapter: &str, table: &'t Columns<'a>) -> Vec<&'t Row<'a>> {
        let (numbers, virtio) = self.device(adapter);
        let is_its = |row: &&Row| {
            let Ok(number) = row.name.parse::<u32>() else { return false };
            let named =
                |name: &&str| is_named(name, adapter) || virtio.iter().any(|v| is_named(name, v));
            numbers.contains(&number) || row.words.iter().any(named)
        };
        table.rows.iter().filter(is_its).collect()
    }
}

#[cfg(test)]
mod tests;
