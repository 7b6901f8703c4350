//! Knows how hot the machine was: the higher of both edges, by kind of sensor.
//!
//! From `/sys/class/thermal` (Documentation/driver-api/thermal/sysfs-api.rst) and the chips of
//! `hwmon.rs`, thousandths of a degree. Of the sensors of a chip, and of zones of a type, there is
//! the hottest. What is outside of -60 to 200 degrees is what a driver says that knows nothing.
//! What was between the edges is not known; throttling in between is counted in `throttle.rs`.
//!
//! Must not know at which temperature a machine is too hot.

use super::hwmon::{folders, line, sensors};
use super::source::{Change, Numbers};
use super::{Moment, Probe, reading};
use crate::lab::Ours;
use desk::record::Reading;
use desk::unit::Unit;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a sensor can show, thousandths of a degree Celsius.
const LEAST: i64 = -60_000;
const MOST: i64 = 200_000;

/// Reads sensors at both edges.
#[derive(Debug)]
pub struct ThermalProbe {
    root: PathBuf,
    /// By key of the reading and file.
    numbers: Numbers<(String, PathBuf)>,
}

impl ThermalProbe {
    /// A probe that reads below `root`.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), numbers: Numbers::default() }
    }

    fn found(&self) -> BTreeMap<(String, PathBuf), PathBuf> {
        let zones = folders(&self.root.join("sys/class/thermal"), "thermal_zone");
        let zone = |folder: PathBuf| {
            Some((format!("zone.{}", line(&folder.join("type"))?), folder.join("temp")))
        };
        let zones = zones.into_iter().filter_map(zone);
        let chips = sensors(&self.root, "temp", &["input"]).into_iter();
        let chips = chips.map(|sensor| (format!("hwmon.{}", sensor.chip), sensor.path));
        zones.chain(chips).map(|(key, path)| ((key, path.clone()), path)).collect()
    }
}

impl Probe for ThermalProbe {
    fn prepare(&mut self, _: &Ours) {
        let found = self.found();
        self.numbers.find(found);
    }

    fn begin(&mut self, _: &Moment) {
        self.numbers.open();
    }

    fn end(&mut self, _: &Moment) -> Vec<Reading> {
        readings(&self.numbers.close())
    }
}

/// Whether a sensor can show this, thousandths of a degree Celsius.
pub(super) fn is_believed(temperature: i64) -> bool {
    (LEAST..=MOST).contains(&temperature)
}

#[expect(clippy::cast_precision_loss, reason = "temperatures are far below 2^53")]
fn readings(changes: &BTreeMap<(String, PathBuf), Change>) -> Vec<Reading> {
    let mut hottest: BTreeMap<&str, i64> = BTreeMap::new();
    for ((key, _), Change { then, now, .. }) in changes {
        if is_believed(*then) && is_believed(*now) {
            let most = hottest.entry(key).or_insert(LEAST);
            *most = (*most).max(*then).max(*now);
        }
    }
    let row = |(key, most): (&str, i64)| {
        reading("thermal", "machine", key, most as f64 / 1e3, Unit::Celsius)
    };
    hottest.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Mortal, Tree, value, window};
    use super::*;

    fn zone(tree: &Tree, number: u32, kind: &str, temperature: i64) {
        let folder = format!("sys/class/thermal/thermal_zone{number}");
        tree.file(&format!("{folder}/type"), &format!("{kind}\n"));
        tree.file(&format!("{folder}/temp"), &format!("{temperature}\n"));
    }

    fn sensor(tree: &Tree, number: u32, temperature: i64) {
        let path = format!("sys/class/hwmon/hwmon0/temp{number}_input");
        tree.file(&path, &format!("{temperature}\n"));
    }

    #[test]
    fn the_hottest_sensor_of_a_kind_at_the_hotter_edge() {
        let tree = Tree::new("thermal");
        zone(&tree, 0, "x86_pkg_temp", 41_000);
        zone(&tree, 1, "x86_pkg_temp", 39_500);
        zone(&tree, 2, "outside", -12_500);
        tree.file("sys/class/hwmon/hwmon0/name", "coretemp\n");
        sensor(&tree, 1, 80_000);
        sensor(&tree, 2, 70_000);
        let mut probe = ThermalProbe::new(tree.root());
        let rows = window(&mut probe, || {
            zone(&tree, 1, "x86_pkg_temp", 45_250);
            sensor(&tree, 1, 60_000);
        });
        let told: Vec<(&str, f64)> =
            rows.iter().map(|row| (row.key.as_str(), row.quantity.value)).collect();
        let wanted =
            [("hwmon.coretemp", 80.0), ("zone.outside", -12.5), ("zone.x86_pkg_temp", 45.25)];
        assert_eq!(told, wanted);
        assert!(rows.iter().all(|row| row.quantity.unit == Unit::Celsius));
    }

    #[test]
    fn a_sensor_that_lies_fails_or_vanishes_leaves_the_others() {
        let tree = Tree::new("thermal-eio");
        tree.file("sys/class/hwmon/hwmon0/name", "coretemp\n");
        sensor(&tree, 1, 50_000);
        tree.eio("sys/class/hwmon/hwmon0/temp2_input");
        zone(&tree, 0, "unknown", -274_000);
        zone(&tree, 1, "sentinel", 4_294_967_295_000);
        zone(&tree, 2, "empty", 0);
        tree.file("sys/class/thermal/thermal_zone2/temp", "");
        zone(&tree, 3, "gone", 0);
        let device = Mortal::new();
        tree.link("sys/class/thermal/thermal_zone3/temp", &device.file());
        let mut probe = ThermalProbe::new(tree.root());
        let rows = window(&mut probe, || device.end());
        assert_eq!(rows.len(), 1, "{rows:?}");
        assert_eq!(value(&rows, "hwmon.coretemp"), Some(50.0));
        assert!(window(&mut ThermalProbe::new(Path::new("/nonexistent")), || ()).is_empty());
    }
}
