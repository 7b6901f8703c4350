//! Knows how often each adapter interrupted a CPU, how many packets came or went with one, and how
//! evenly interrupts were spread over vectors and CPUs.
//!
//! Adapters are found below `/sys/class/net`; their interrupts by number (`msi_irqs`, or `irq` of
//! a device that has none) or by name in `/proc/interrupts`: the adapter's own, or that of the
//! virtio device it is. An adapter without any, as a virtual pair, gives no reading. Whose
//! interrupt is whose is found out before the window. Of the counters, one for each vector and
//! CPU, the largest vector's and the busiest CPU's share are told, and the four fullest by their
//! numbers, as `vector41.cpu0`.
//!
//! Must not know whether the load went over the adapter.

use super::adapter::{Adapter, adapters};
use super::columns::{Columns, Row, largest};
use super::source::{Numbers, Source, Text};
use super::{Moment, Probe, reading};
use crate::lab::Ours;
use desk::record::Reading;
use desk::unit::Unit;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Reads interrupts and packets at both edges.
#[derive(Debug)]
pub struct IrqProbe {
    root: PathBuf,
    file: Source,
    opened: Option<Text>,
    /// By adapter on a device and place in [`PACKETS`].
    packets: Numbers<(String, usize)>,
    /// Numbers of the vectors of each adapter on a device.
    vectors: BTreeMap<String, BTreeSet<u32>>,
}

/// Most pairs of vector and CPU that an adapter gives readings of.
const CELLS: usize = 4;
/// Packets both ways.
const PACKETS: [&str; 2] = ["rx_packets", "tx_packets"];

/// What was read at both edges.
#[derive(Clone, Debug, Default)]
struct Window {
    seconds: f64,
    /// The text of `/proc/interrupts` then and now.
    interrupts: [String; 2],
    /// Adapter that sits on a device, and the packets that came and went over it; none of one whose
    /// counters could not be read twice.
    packets: BTreeMap<String, Option<u64>>,
}

impl IrqProbe {
    /// A probe that reads below `root`.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            file: Source::new(root.join("proc/interrupts")),
            opened: None,
            packets: Numbers::default(),
            vectors: BTreeMap::new(),
        }
    }
}

/// Numbers of the interrupts of an adapter's device, and the virtio name if it has one.
fn device(adapter: &Adapter) -> (BTreeSet<u32>, Option<String>) {
    let Some(mut device) = adapter.device.clone() else { return (BTreeSet::new(), None) };
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
    fn prepare(&mut self, ours: &Ours) {
        let adapters = adapters(&self.root, ours);
        let table = self.file.open().map(|text| text.text).unwrap_or_default();
        let table = Columns::parse(&table, |_| true);
        let of = |adapter: &Adapter| (adapter.name.clone(), vectors_of(adapter, &table));
        self.vectors = adapters.iter().map(of).collect();
        self.vectors.retain(|_, numbers| !numbers.is_empty());
        let files = |adapter: Adapter| {
            let of = move |(at, file): (usize, &str)| {
                ((adapter.name.clone(), at), adapter.statistic(file))
            };
            PACKETS.into_iter().enumerate().map(of)
        };
        self.packets.find(adapters.into_iter().flat_map(files));
    }

    fn begin(&mut self, _: &Moment) {
        self.opened = self.file.open();
        self.packets.open();
    }

    fn end(&mut self, _: &Moment) -> Vec<Reading> {
        self.close().map(|window| self.readings(&window)).unwrap_or_default()
    }
}

impl IrqProbe {
    fn close(&mut self) -> Option<Window> {
        let (opened, closed) = (self.opened.take()?, self.file.again()?);
        let changes = self.packets.close();
        let gained = |adapter: &str, at| {
            let change = changes.get(&(adapter.to_owned(), at))?;
            u64::try_from(change.now - change.then).ok()
        };
        let both = |adapter: &String| {
            let packets = gained(adapter, 0).zip(gained(adapter, 1)).map(|(a, b)| a + b);
            (adapter.clone(), packets)
        };
        Some(Window {
            seconds: closed.seconds_since(&opened),
            packets: self.vectors.keys().map(both).collect(),
            interrupts: [opened.text, closed.text],
        })
    }

    fn readings(&self, window: &Window) -> Vec<Reading> {
        let wanted: BTreeSet<String> =
            self.vectors.values().flatten().map(ToString::to_string).collect();
        let [then, now] =
            window.interrupts.each_ref().map(|t| Columns::parse(t, |name| wanted.contains(name)));
        let mut rows = Vec::new();
        for (adapter, numbers) in &self.vectors {
            // One of which nothing is known any more has vanished.
            let Some(Some(packets)) = window.packets.get(adapter) else { continue };
            let is_its = |row: &&Row| row.name.parse().is_ok_and(|n: u32| numbers.contains(&n));
            let its = now.rows.iter().filter(is_its);
            // A counter that was reset says nothing of the window.
            let gains = its.map(|row| Some((row.name, now.gained(row, &then)?)));
            let Some(gains) = gains.collect::<Option<Vec<_>>>() else { continue };
            rows.extend(of_adapter(adapter, (*packets, window.seconds), &gains));
        }
        rows
    }
}

/// The vectors of an adapter, by number or by name.
fn vectors_of(adapter: &Adapter, table: &Columns<'_>) -> BTreeSet<u32> {
    let (numbers, virtio) = device(adapter);
    let its = |row: &Row| {
        let number = row.name.parse::<u32>().ok()?;
        let named =
            |name: &&str| is_named(name, &adapter.name) || virtio.iter().any(|v| is_named(name, v));
        let is_its = numbers.contains(&number) || row.words.iter().any(named);
        is_its.then_some(number)
    };
    table.rows.iter().filter_map(its).collect()
}

/// What one adapter's vectors gained on each CPU, as rates, shares, and the fullest cells.
#[expect(clippy::cast_precision_loss, reason = "counts of a window are far below 2^53")]
fn of_adapter(
    adapter: &str,
    (packets, seconds): (u64, f64),
    gains: &[(&str, Vec<(u32, u64)>)],
) -> Vec<Reading> {
    let mut cpus: BTreeMap<u32, u64> = BTreeMap::new();
    for (cpu, gained) in gains.iter().flat_map(|(_, cpus)| cpus) {
        *cpus.entry(*cpu).or_default() += gained;
    }
    let of_vector = |(_, cpus): &(&str, Vec<(u32, u64)>)| cpus.iter().map(|cpu| cpu.1).sum();
    let vectors: Vec<u64> = gains.iter().map(of_vector).collect();
    let interrupts: u64 = vectors.iter().sum();
    let row = |key: &str, value, unit| reading("irq", adapter, key, value, unit);
    let mut rows = vec![row("interrupts", interrupts as f64 / seconds, Unit::InterruptPerSecond)];
    if interrupts > 0 {
        let ratio = packets as f64 / interrupts as f64;
        rows.push(row("packets_per_interrupt", ratio, Unit::Ratio));
    }
    let shares = [
        ("largest_vector", largest(vectors.into_iter())),
        ("largest_cpu", largest(cpus.values().copied())),
    ];
    let told = shares.into_iter().filter_map(|(key, share)| Some((key, share?)));
    rows.extend(told.map(|(key, share)| row(key, share, Unit::Share)));
    let cells = gains.iter().flat_map(|(vector, cpus)| cpus.iter().map(move |cpu| (vector, cpu)));
    let mut cells: Vec<_> = cells.filter(|(_, (_, gained))| *gained > 0).collect();
    // Of equal ones the lowest numbers.
    cells.sort_by_key(|(_, (_, gained))| u64::MAX - gained);
    for (vector, (cpu, gained)) in cells.into_iter().take(CELLS) {
        let key = format!("vector{vector}.cpu{cpu}");
        rows.push(row(&key, *gained as f64 / seconds, Unit::InterruptPerSecond));
    }
    rows
}

#[cfg(test)]
mod tests;
