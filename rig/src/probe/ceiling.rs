//! Knows what each adapter with a physical link can carry, and what went over it in the window.
//!
//! Line rate and bus are looked up before the window: a driver may ask its device for them. At the
//! edges only counters are read. An adapter that knows no line rate, as every virtual one, gives no
//! reading. Must not know which adapter the load went over: what it carried shows that.

use super::adapter::adapters;
use super::source::{Change, Numbers};
use super::{Moment, Probe, reading};
use crate::lab::Ours;
use crate::lab::environment::{AdapterCeiling, adapter_ceiling};
use desk::record::Reading;
use desk::unit::Unit;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Bytes of a frame on the wire that counters leave out: preamble 8, checksum 4, gap 12 (IEEE
/// 802.3).
const UNCOUNTED: f64 = 24.0;

/// Reads bytes and packets of adapters at both edges.
#[derive(Debug)]
pub struct CeilingProbe {
    root: PathBuf,
    adapters: Vec<AdapterCeiling>,
    /// By name of the adapter and place in [`COUNTS`].
    numbers: Numbers<(String, usize)>,
}

/// What is counted: bytes and packets sent, then received.
const COUNTS: [&str; 4] = ["tx_bytes", "tx_packets", "rx_bytes", "rx_packets"];

impl CeilingProbe {
    /// A probe that reads below `root`.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), adapters: Vec::new(), numbers: Numbers::default() }
    }
}

impl Probe for CeilingProbe {
    fn prepare(&mut self, ours: &Ours) {
        self.adapters.clear();
        let mut found = Vec::new();
        for adapter in adapters(&self.root, ours) {
            let Some(device) = &adapter.device else { continue };
            let place = (adapter.folder.as_path(), device.as_path());
            let ceiling = adapter_ceiling(&self.root, &adapter.name, place);
            if ceiling.line_rate.is_some() {
                let of = |(at, file)| ((adapter.name.clone(), at), adapter.statistic(file));
                found.extend(COUNTS.into_iter().enumerate().map(of));
                self.adapters.push(ceiling);
            }
        }
        self.numbers.find(found);
    }

    fn begin(&mut self, _: &Moment) {
        self.numbers.open();
    }

    fn end(&mut self, _: &Moment) -> Vec<Reading> {
        let changes = self.numbers.close();
        let told = self.adapters.iter().filter_map(|adapter| readings(adapter, &changes));
        told.flatten().collect()
    }
}

/// Nothing of an adapter without a line rate, or one of whose counters could not be read twice.
#[expect(clippy::cast_precision_loss, reason = "counts of a window are far below 2^53")]
fn readings(
    adapter: &AdapterCeiling,
    changes: &BTreeMap<(String, usize), Change>,
) -> Option<Vec<Reading>> {
    let rate = adapter.line_rate?;
    let a_second = |at: usize| {
        let change = changes.get(&(adapter.name.clone(), at))?;
        Some((change.now.saturating_sub(change.then)).max(0) as f64 / change.seconds())
    };
    let wire = |bytes: usize| Some(8.0 * UNCOUNTED.mul_add(a_second(bytes + 1)?, a_second(bytes)?));
    let row = |key: &str, value, unit| reading("ceiling", &adapter.name, key, value, unit);
    let mut rows = vec![
        row("line_rate", rate, Unit::BitPerSecond),
        row("mtu", f64::from(adapter.mtu), Unit::Byte),
        row("tx", wire(0)?, Unit::BitPerSecond),
        row("rx", wire(2)?, Unit::BitPerSecond),
    ];
    rows.extend(adapter.pcie.map(|bytes| row("pcie", bytes, Unit::BytePerSecond)));
    Some(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_on_the_wire_count_what_the_counters_leave_out() {
        let adapter = AdapterCeiling {
            name: "eth1".into(),
            line_rate: Some(1e9),
            mtu: 1500,
            pcie: Some(2e9),
        };
        let then = [1_000, 10, 0, 7];
        // By hand, in half a second: 1,514 B and 24 of each of 1,000 frames sent,
        // 8 x 1,538,000 / 0.5 = 24.608 Mbit/s; 66 and 24 of each of 500 received,
        // 8 x 45,000 / 0.5 = 0.72 Mbit/s.
        let now = [1_515_000, 1_010, 33_000, 507];
        let change = |at| Change { then: then[at], now: now[at], wall_ns: 500_000_000 };
        let changes = (0..4).map(|at| (("eth1".to_owned(), at), change(at))).collect();
        let rows = readings(&adapter, &changes).unwrap();
        let told: Vec<(&str, f64)> =
            rows.iter().map(|r| (r.key.as_str(), r.quantity.value)).collect();
        assert_eq!(
            told,
            [("line_rate", 1e9), ("mtu", 1500.0), ("tx", 24.608e6), ("rx", 0.72e6), ("pcie", 2e9)]
        );
        assert!(rows.iter().all(|r| r.probe == "ceiling" && r.host == "eth1"));
        let unknown = AdapterCeiling { line_rate: None, name: "eth1".into(), ..adapter };
        assert_eq!(readings(&unknown, &changes), None);
        let half = changes.iter().skip(1).map(|(key, change)| (key.clone(), *change)).collect();
        assert_eq!(readings(&adapter, &half), None);
    }

    #[test]
    fn a_machine_without_adapters_gives_no_reading() {
        let ours = Ours::default();
        let moment = Moment { ours: &ours, soaker: &[] };
        let mut probe = CeilingProbe::new(Path::new("/nonexistent"));
        probe.prepare(&ours);
        probe.begin(&moment);
        assert!(probe.end(&moment).is_empty());
    }
}
