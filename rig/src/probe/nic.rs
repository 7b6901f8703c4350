//! Knows what each adapter on a device carried, and where it lost packets.
//!
//! From `/sys/class/net/*/statistics`, the standard statistics that every driver fills
//! (Documentation/networking/statistics.rst): a read asks the driver, and takes no lock that
//! traffic needs. Places of a loss, from the wire inwards: `rx_crc_errors` on the wire,
//! `rx_fifo_errors` and `rx_over_errors` within the device, `rx_missed_errors` for want of buffers
//! of the host, `rx_dropped` in driver or kernel, `rx_nohandler` since nobody wanted it; on the way
//! out `tx_dropped` in the kernel, `tx_fifo_errors` in the device, `tx_carrier_errors` on the wire.
//! `rx_errors` and `tx_errors` are the driver's sums of bad packets. The backlog of a CPU, which
//! comes after the driver, is in `softirq.rs`.
//!
//! Some drivers pass on counters of 32 bits, which wrap. An adapter that was reset, moved or
//! removed in the window gives no reading of what it forgot. Pause frames and statistics that only
//! a driver names are in `counts.rs`.
//!
//! Must not know whether the load went over the adapter.

use super::adapter::{Adapter, adapters};
use super::source::{Change, Numbers};
use super::{Moment, Probe, counter, reading};
use crate::lab::Ours;
use desk::record::Reading;
use desk::unit::Unit;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Files, which name the readings, and what one a second of them is; of a loss, the count.
const FILES: [(&str, Unit); 15] = [
    ("rx_bytes", Unit::BytePerSecond),
    ("rx_packets", Unit::PacketPerSecond),
    ("rx_errors", Unit::Count),
    ("rx_crc_errors", Unit::Count),
    ("rx_over_errors", Unit::Count),
    ("rx_fifo_errors", Unit::Count),
    ("rx_missed_errors", Unit::Count),
    ("rx_dropped", Unit::Count),
    ("rx_nohandler", Unit::Count),
    ("tx_bytes", Unit::BytePerSecond),
    ("tx_packets", Unit::PacketPerSecond),
    ("tx_errors", Unit::Count),
    ("tx_carrier_errors", Unit::Count),
    ("tx_fifo_errors", Unit::Count),
    ("tx_dropped", Unit::Count),
];

/// Reads the statistics of adapters at both edges.
#[derive(Debug)]
pub struct NicProbe {
    root: PathBuf,
    /// By name of the adapter and row of [`FILES`].
    numbers: Numbers<(String, usize)>,
}

impl NicProbe {
    /// A probe that reads below `root`.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), numbers: Numbers::default() }
    }

    /// The files of every adapter.
    fn found(&self, ours: &Ours) -> BTreeMap<(String, usize), PathBuf> {
        let files = |adapter: Adapter| {
            let of = move |(at, (file, _)): (usize, (&str, Unit))| {
                ((adapter.name.clone(), at), adapter.statistic(file))
            };
            FILES.into_iter().enumerate().map(of)
        };
        adapters(&self.root, ours).into_iter().flat_map(files).collect()
    }
}

impl Probe for NicProbe {
    fn prepare(&mut self, ours: &Ours) {
        let found = self.found(ours);
        self.numbers.find(found);
    }

    fn begin(&mut self, _: &Moment) {
        self.numbers.open();
    }

    fn end(&mut self, _: &Moment) -> Vec<Reading> {
        readings(&self.numbers.close())
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of a window are far below 2^53")]
fn readings(changes: &BTreeMap<(String, usize), Change>) -> Vec<Reading> {
    let row = |((adapter, at), change): (&(String, usize), &Change)| {
        let (file, unit) = FILES[*at];
        let (then, now) = (u64::try_from(change.then).ok()?, u64::try_from(change.now).ok()?);
        let gained = counter::gained(then, now)? as f64;
        let value = if unit == Unit::Count { gained } else { gained / change.seconds() };
        Some(reading("nic", "machine", &format!("{file}.{adapter}"), value, unit))
    };
    changes.iter().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Mortal, Tree, value, window};
    use super::*;

    fn set(tree: &Tree, adapter: &str, file: &str, count: u64) {
        tree.file(&format!("sys/class/net/{adapter}/statistics/{file}"), &format!("{count}\n"));
    }

    /// An adapter whose counters are all at one count.
    fn adapter(tree: &Tree, name: &str, count: u64) {
        for (file, _) in FILES {
            set(tree, name, file, count);
        }
        tree.directory(&format!("sys/class/net/{name}/device"));
    }

    #[test]
    fn bytes_and_packets_are_rates_and_losses_are_counts() {
        let at = |file| FILES.iter().position(|(name, _)| *name == file).unwrap();
        let change = |then, now| Change { then, now, wall_ns: 500_000_000 };
        let changes =
            [("rx_bytes", 7, 1_007), ("tx_packets", 4_294_967_290, 4), ("rx_dropped", 2, 5)]
                .map(|(file, then, now)| (("eth1".to_owned(), at(file)), change(then, now)));
        let rows = readings(&changes.into());
        assert_eq!(value(&rows, "rx_bytes.eth1"), Some(2_000.0));
        assert_eq!(value(&rows, "tx_packets.eth1"), Some(20.0), "10 past a wrap of 32 bits");
        assert_eq!(value(&rows, "rx_dropped.eth1"), Some(3.0));
    }

    #[test]
    fn an_adapter_that_vanishes_or_cannot_be_read_leaves_the_others() {
        let tree = Tree::new("nic");
        for name in ["eth1", "eth2", "eth3"] {
            adapter(&tree, name, 1 << 33);
        }
        set(&tree, "veth7", "rx_dropped", 1);
        let device = Mortal::new();
        for (file, _) in FILES {
            tree.link(&format!("sys/class/net/eth2/statistics/{file}"), &device.file());
            if file != "rx_errors" {
                tree.eio(&format!("sys/class/net/eth3/statistics/{file}"));
            }
        }
        let mut probe = NicProbe::new(tree.root());
        let rows = window(&mut probe, || {
            set(&tree, "eth1", "rx_missed_errors", (1 << 33) + 9);
            set(&tree, "eth1", "tx_dropped", 3);
            device.end();
        });
        assert_eq!(value(&rows, "rx_missed_errors.eth1"), Some(9.0));
        assert_eq!(value(&rows, "rx_errors.eth1"), Some(0.0));
        assert_eq!(value(&rows, "tx_dropped.eth1"), None, "it was reset");
        assert_eq!(value(&rows, "rx_errors.eth3"), Some(0.0), "the one file that can be read");
        assert_eq!(rows.len(), FILES.len(), "{rows:?}");
    }

    #[test]
    fn an_adapter_that_comes_is_read_from_the_next_window_on() {
        let tree = Tree::new("nic-comes");
        adapter(&tree, "eth1", 5);
        let mut probe = NicProbe::new(tree.root());
        let first = window(&mut probe, || adapter(&tree, "eth2", 5));
        assert_eq!(value(&first, "rx_dropped.eth2"), None);
        assert_eq!(value(&window(&mut probe, || ()), "rx_dropped.eth2"), Some(0.0));
        tree.remove("sys/class/net/eth1");
        let last = window(&mut probe, || ());
        assert_eq!(last.len(), FILES.len(), "eth1 went before the window: {last:?}");
    }

    #[test]
    fn sixty_four_queues_give_the_readings_of_one_adapter() {
        let tree = Tree::new("nic-64");
        adapter(&tree, "eth1", 5);
        for queue in 0..64 {
            tree.file(&format!("sys/class/net/eth1/queues/tx-{queue}/tx_timeout"), "0\n");
            tree.directory(&format!("sys/class/net/eth1/queues/rx-{queue}"));
        }
        assert_eq!(window(&mut NicProbe::new(tree.root()), || ()).len(), FILES.len());
        assert!(window(&mut NicProbe::new(Path::new("/nonexistent")), || ()).is_empty());
    }
}
