//! Knows what each adapter with a physical link can carry, and what went over it in the window.
//!
//! Line rate and bus are looked up after the window: a driver may ask its device for them. At the
//! edges only counters are read. An adapter that knows no line rate, as every virtual one, gives no
//! reading. Must not know which adapter the load went over: what it carried shows that.

use super::{Moment, Probe, reading};
use crate::lab::clock;
use crate::lab::environment::{AdapterCeiling, adapter_ceilings};
use desk::record::Reading;
use desk::unit::Unit;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Bytes of a frame on the wire that counters leave out: preamble 8, checksum 4, gap 12 (IEEE
/// 802.3).
const UNCOUNTED: f64 = 24.0;

/// Reads bytes and packets of adapters at both edges.
#[derive(Debug)]
pub struct CeilingProbe {
    root: PathBuf,
    opened: Option<Snapshot>,
}

/// Counters of every adapter that sits on a device, at one moment: bytes and packets sent, then
/// received.
#[derive(Clone, Debug, Default)]
struct Snapshot {
    at_ns: u64,
    adapters: BTreeMap<String, [u64; 4]>,
}

impl CeilingProbe {
    /// A probe that reads below `root`.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), opened: None }
    }

    fn snapshot(&self) -> Snapshot {
        let before_ns = clock::now_ns();
        let names = fs::read_dir(self.root.join("sys/class/net")).into_iter().flatten().flatten();
        let adapters = names.filter_map(|entry| {
            let path = entry.path();
            path.join("device").exists().then_some(())?;
            let count = |file: &str| -> Option<u64> {
                fs::read_to_string(path.join("statistics").join(file)).ok()?.trim().parse().ok()
            };
            let counts = ["tx_bytes", "tx_packets", "rx_bytes", "rx_packets"].map(count);
            let [Some(a), Some(b), Some(c), Some(d)] = counts else { return None };
            Some((entry.file_name().into_string().ok()?, [a, b, c, d]))
        });
        let adapters = adapters.collect();
        Snapshot { at_ns: before_ns.midpoint(clock::now_ns()), adapters }
    }
}

impl Probe for CeilingProbe {
    fn begin(&mut self, _: &Moment) {
        self.opened = Some(self.snapshot());
    }

    fn end(&mut self, _: &Moment) -> Vec<Reading> {
        let Some(opened) = self.opened.take() else { return Vec::new() };
        let closed = self.snapshot();
        let told =
            if closed.adapters.is_empty() { Vec::new() } else { adapter_ceilings(&self.root) };
        told.iter().flat_map(|adapter| readings(adapter, &opened, &closed)).collect()
    }
}

/// Nothing of an adapter without a line rate, or that came in the window.
#[expect(clippy::cast_precision_loss, reason = "counts of a window are far below 2^53")]
fn readings(adapter: &AdapterCeiling, opened: &Snapshot, closed: &Snapshot) -> Vec<Reading> {
    let counts = |snapshot: &Snapshot| snapshot.adapters.get(&adapter.name).copied();
    let (Some(rate), Some(then), Some(now)) = (adapter.line_rate, counts(opened), counts(closed))
    else {
        return Vec::new();
    };
    let seconds = closed.at_ns.saturating_sub(opened.at_ns).max(1) as f64 / 1e9;
    let wire = |bytes: usize| {
        let gained = |at: usize| now[at].saturating_sub(then[at]) as f64;
        8.0 * (gained(bytes) + UNCOUNTED * gained(bytes + 1)) / seconds
    };
    let row = |key: &str, value, unit| reading("ceiling", &adapter.name, key, value, unit);
    let mut rows = vec![
        row("line_rate", rate, Unit::BitPerSecond),
        row("mtu", f64::from(adapter.mtu), Unit::Byte),
        row("tx", wire(0), Unit::BitPerSecond),
        row("rx", wire(2), Unit::BitPerSecond),
    ];
    rows.extend(adapter.pcie.map(|bytes| row("pcie", bytes, Unit::BytePerSecond)));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::Ours;

    #[test]
    fn frames_on_the_wire_count_what_the_counters_leave_out() {
        let adapter = AdapterCeiling {
            name: "eth1".into(),
            line_rate: Some(1e9),
            mtu: 1500,
            pcie: Some(2e9),
        };
        let at = |at_ns, counts| Snapshot { at_ns, adapters: [("eth1".into(), counts)].into() };
        let opened = at(0, [1_000, 10, 0, 7]);
        // By hand, in half a second: 1,514 B and 24 of each of 1,000 frames sent,
        // 8 x 1,538,000 / 0.5 = 24.608 Mbit/s; 66 and 24 of each of 500 received,
        // 8 x 45,000 / 0.5 = 0.72 Mbit/s.
        let closed = at(500_000_000, [1_515_000, 1_010, 33_000, 507]);
        let rows = readings(&adapter, &opened, &closed);
        let told: Vec<(&str, f64)> =
            rows.iter().map(|r| (r.key.as_str(), r.quantity.value)).collect();
        assert_eq!(
            told,
            [("line_rate", 1e9), ("mtu", 1500.0), ("tx", 24.608e6), ("rx", 0.72e6), ("pcie", 2e9)]
        );
        assert!(rows.iter().all(|r| r.probe == "ceiling" && r.host == "eth1"));
        let unknown = AdapterCeiling { line_rate: None, ..adapter };
        assert!(readings(&unknown, &opened, &closed).is_empty());
    }

    #[test]
    fn a_machine_without_adapters_gives_no_reading() {
        let moment = Moment { ours: &Ours::default(), soaker: &[] };
        let mut probe = CeilingProbe::new(Path::new("/nonexistent"));
        probe.begin(&moment);
        assert!(probe.end(&moment).is_empty());
    }
}
