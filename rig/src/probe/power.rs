//! Knows what energy the machine took in the window, as far as it has meters of its own.
//!
//! RAPL (Documentation/power/powercap/powercap.rst): zones `package-N`, and the memory of each,
//! `dram-N`; only root may read them. The counter of microjoules is 0 again after
//! `max_energy_range_uj`, and moves once a millisecond. Cores and graphics are parts of their
//! package and are left out, and so is `psys`, which holds packages: nothing may be added twice.
//! The same registers through `intel-rapl-mmio` are left out.
//!
//! Chips of `hwmon.rs` that count energy are told alike. One that only knows power is told as it
//! was at each edge (`opened`, `closed`), and never as of the window: nobody knows what was in
//! between. No power of a zone or chip that is not above 0 or is more than 10 kW is believed. RAPL
//! is not the wall: power supplies, fans and disks are in no zone.
//!
//! Must not know what the energy was used for.

use super::hwmon::{Sensor, line, names, sensors};
use super::source::{Change, Numbers};
use super::{Moment, Probe, counter, reading};
use crate::lab::Ours;
use desk::record::Reading;
use desk::unit::Unit;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Zones of the packages' registers.
const ZONES: &str = "intel-rapl:";
/// Sensors of single cores, which are within those of their socket.
const CORE: &str = "Ecore";
/// More than this no zone and no chip of a machine takes, watts.
const MOST_WATTS: f64 = 1e4;
/// Millionths.
const MICRO: f64 = 1e6;

/// What a file of a meter holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Meter {
    /// Energy, microjoules, 0 again after so many; a counter without a range never is.
    Energy { range: Option<u64> },
    /// Power at this moment or over its meter's interval, microwatts.
    Power,
}

/// Reads meters at both edges.
#[derive(Debug)]
pub struct PowerProbe {
    root: PathBuf,
    numbers: Numbers<(String, Meter)>,
}

impl PowerProbe {
    /// A probe that reads below `root`.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), numbers: Numbers::default() }
    }

    fn found(&self) -> BTreeMap<(String, Meter), PathBuf> {
        let named = |sensor: &Sensor| format!("{}.{}", sensor.chip, sensor.name);
        let chips = sensors(&self.root, "energy", &["input"]).into_iter();
        let energies = chips
            .filter(|sensor| !sensor.name.starts_with(CORE))
            .map(|sensor| ((named(&sensor), Meter::Energy { range: None }), sensor.path));
        let powers = sensors(&self.root, "power", &["average", "input"]).into_iter();
        let powers = powers.map(|sensor| ((named(&sensor), Meter::Power), sensor.path));
        let zones = zones(&self.root).into_iter();
        let zones =
            zones.map(|(name, range, path)| ((name, Meter::Energy { range: Some(range) }), path));
        zones.chain(energies).chain(powers).collect()
    }
}

/// Packages and their memory: name, range of the counter, its file.
pub(super) fn zones(root: &Path) -> Vec<(String, u64, PathBuf)> {
    let parent = root.join("sys/class/powercap");
    let zone = |folder: String| {
        let within = folder.strip_prefix(ZONES)?;
        let name = line(&parent.join(&folder).join("name"))?;
        let name = match within.split_once(':') {
            None if name.starts_with("package") => name,
            Some((package, _)) if name == "dram" => {
                let package = line(&parent.join(format!("{ZONES}{package}")).join("name"))?;
                package.replacen("package", "dram", 1)
            }
            _ => return None,
        };
        let range = line(&parent.join(&folder).join("max_energy_range_uj"))?.parse().ok()?;
        Some((name, range, parent.join(folder).join("energy_uj")))
    };
    names(&parent).into_iter().filter_map(zone).collect()
}

impl Probe for PowerProbe {
    fn prepare(&mut self, _: &Ours) {
        let found = self.found();
        self.numbers.find(found);
    }

    fn begin(&mut self, _: &Moment) {
        self.numbers.open();
    }

    fn end(&mut self, _: &Moment) -> Vec<Reading> {
        let closed = self.numbers.close();
        closed.iter().flat_map(|((name, meter), change)| readings(name, *meter, change)).collect()
    }
}

fn row(key: &str, name: &str, value: f64, unit: Unit) -> Reading {
    reading("power", "machine", &format!("{key}.{name}"), value, unit)
}

fn is_power(watts: f64) -> bool {
    watts > 0.0 && watts <= MOST_WATTS
}

#[expect(clippy::cast_precision_loss, reason = "counts of a window are far below 2^53")]
fn readings(name: &str, meter: Meter, change: &Change) -> Vec<Reading> {
    if meter == Meter::Power {
        let edges = [("opened", change.then), ("closed", change.now)];
        let edges = edges.map(|(key, microwatts)| (key, microwatts as f64 / MICRO));
        let believed = edges.into_iter().filter(|(_, watts)| is_power(*watts));
        return believed.map(|(key, watts)| row(key, name, watts, Unit::Watt)).collect();
    }
    let joules = gained(meter, change).map(|microjoules| microjoules as f64 / MICRO);
    let both = joules.map(|joules| (joules, joules / change.seconds()));
    let Some((joules, watts)) = both.filter(|(_, watts)| is_power(*watts)) else {
        return Vec::new();
    };
    vec![row("energy", name, joules, Unit::Joule), row("watts", name, watts, Unit::Watt)]
}

/// What a counter of energy gained, microjoules.
fn gained(meter: Meter, change: &Change) -> Option<u64> {
    let (then, now) = (u64::try_from(change.then).ok()?, u64::try_from(change.now).ok()?);
    match meter {
        Meter::Energy { range: Some(range) } => counter::gained_within(then, now, range),
        _ => now.checked_sub(then),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Mortal, Tree, value, window};
    use super::*;

    const RANGE: u64 = 262_143_328_850;

    fn zone(tree: &Tree, folder: &str, name: &str, energy: u64) {
        let folder = format!("sys/class/powercap/{folder}");
        tree.file(&format!("{folder}/name"), &format!("{name}\n"));
        tree.file(&format!("{folder}/max_energy_range_uj"), &format!("{RANGE}\n"));
        tree.file(&format!("{folder}/energy_uj"), &format!("{energy}\n"));
    }

    fn change(then: i64, now: i64) -> Change {
        Change { then, now, wall_ns: 2_000_000_000 }
    }

    fn told(meter: Meter, then: i64, now: i64) -> Vec<(String, f64)> {
        let rows = readings("package-0", meter, &change(then, now));
        rows.into_iter().map(|row| (row.key, row.quantity.value)).collect()
    }

    #[test]
    fn energy_of_the_window_goes_on_past_the_range_of_its_counter() {
        let rapl = Meter::Energy { range: Some(RANGE) };
        let both = [("energy.package-0".to_owned(), 300.0), ("watts.package-0".to_owned(), 150.0)];
        assert_eq!(told(rapl, 5_000_000, 305_000_000), both);
        assert_eq!(told(rapl, 262_143_328_850 - 100_000_000, 200_000_000), both, "past its range");
        assert!(told(rapl, 5_000, 5_000).is_empty(), "a counter that stands still is no meter");
        assert!(told(rapl, 5_000, 4_000).is_empty(), "131 kW: it was reset");
    }

    #[test]
    fn a_chip_that_counts_energy_was_reset_where_it_went_back() {
        let chip = Meter::Energy { range: None };
        assert_eq!(told(chip, 1_000_000, 41_000_000)[1].1, 20.0);
        assert!(told(chip, 4_294_967_290, 4).is_empty());
    }

    #[test]
    fn a_chip_that_knows_power_tells_its_edges() {
        let key = |key: &str| format!("{key}.package-0");
        assert_eq!(
            told(Meter::Power, 187_500_000, 4_294_967_295_000),
            [(key("opened"), 187.5)],
            "4 MW is what a meter says that knows nothing"
        );
        let both = told(Meter::Power, 187_500_000, 90_000_000);
        assert_eq!(both, [(key("opened"), 187.5), (key("closed"), 90.0)]);
        assert!(told(Meter::Power, 0, -5).is_empty());
    }

    #[test]
    fn of_zones_only_packages_and_their_memory_are_read() {
        let tree = Tree::new("power");
        zone(&tree, "intel-rapl:0", "package-0", 10);
        zone(&tree, "intel-rapl:0:0", "core", 10);
        zone(&tree, "intel-rapl:0:1", "dram", 10);
        zone(&tree, "intel-rapl:1", "package-1", 10);
        zone(&tree, "intel-rapl:1:0", "dram", 10);
        zone(&tree, "intel-rapl:2", "psys", 10);
        zone(&tree, "intel-rapl-mmio:0", "package-0", 10);
        tree.file("sys/class/powercap/intel-rapl/enabled", "1\n");
        let found = PowerProbe::new(tree.root()).found();
        let names: Vec<&str> = found.keys().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["dram-0", "dram-1", "package-0", "package-1"]);
        assert!(found.values().all(|path| path.ends_with("energy_uj")));
    }

    #[test]
    fn a_meter_that_fails_or_vanishes_leaves_the_others() {
        let tree = Tree::new("power-eio");
        zone(&tree, "intel-rapl:0", "package-0", 10);
        zone(&tree, "intel-rapl:0:0", "dram", 10);
        zone(&tree, "intel-rapl:1", "package-1", 10);
        tree.eio("sys/class/powercap/intel-rapl:0:0/energy_uj");
        let device = Mortal::new();
        tree.link("sys/class/powercap/intel-rapl:1/energy_uj", &device.file());
        for (file, text) in [("name", "meter"), ("power1_average", "90000000"), ("x", "1")] {
            tree.file(&format!("sys/class/hwmon/hwmon0/{file}"), &format!("{text}\n"));
        }
        tree.eio("sys/class/hwmon/hwmon0/energy1_input");
        let mut probe = PowerProbe::new(tree.root());
        let moment = Moment { ours: &crate::lab::Ours::default(), soaker: &[] };
        probe.prepare(&Ours::default());
        probe.begin(&moment);
        // A window of 20 ms: 1 J in it is at most 50 W.
        std::thread::sleep(std::time::Duration::from_millis(20));
        zone(&tree, "intel-rapl:0", "package-0", 1_000_010);
        device.end();
        let rows = probe.end(&moment);
        assert_eq!(value(&rows, "energy.package-0"), Some(1.0));
        let watts = value(&rows, "watts.package-0").unwrap();
        assert!(watts > 0.0 && watts <= 50.0, "{watts}");
        assert_eq!(value(&rows, "opened.meter.power1"), Some(90.0));
        assert_eq!(rows.len(), 4, "{rows:?}");
        assert!(window(&mut PowerProbe::new(Path::new("/nonexistent")), || ()).is_empty());
    }
}
