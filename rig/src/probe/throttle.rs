//! Knows how often and how long the machine slowed its CPUs down for heat or power.
//!
//! The counts are those of `/sys/devices/system/cpu/cpu*/thermal_throttle`: events of each core and
//! of each package, and from kernel 5.6 the time in them. A machine without the folder, as most
//! guests, gives no reading. A package is told by each of its CPUs; the largest is taken.
//!
//! Must not know what a throttled CPU means for a figure.

use super::{Moment, Probe, reading};
use desk::record::Reading;
use desk::unit::Unit;
use std::fs;
use std::path::{Path, PathBuf};

/// Name of a reading, the file it comes from, and what one of it is.
const FILES: [(&str, &str, Unit, f64); 4] = [
    ("core", "core_throttle_count", Unit::Count, 1.0),
    ("package", "package_throttle_count", Unit::Count, 1.0),
    ("core.time", "core_throttle_total_time_ms", Unit::Second, 1e-3),
    ("package.time", "package_throttle_total_time_ms", Unit::Second, 1e-3),
];

/// Reads the counts at both edges.
#[derive(Debug)]
pub struct ThrottleProbe {
    folders: Vec<PathBuf>,
    opened: Vec<[Option<u64>; FILES.len()]>,
}

impl ThrottleProbe {
    /// A probe that reads below `root`; which CPUs tell is looked for once.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        let cpus = fs::read_dir(root.join("sys/devices/system/cpu")).into_iter().flatten();
        let folder = |entry: fs::DirEntry| {
            let name = entry.file_name().into_string().ok()?;
            name.strip_prefix("cpu")?.parse::<u32>().ok()?;
            Some(entry.path().join("thermal_throttle")).filter(|path| path.is_dir())
        };
        let mut folders: Vec<PathBuf> = cpus.flatten().filter_map(folder).collect();
        folders.sort();
        Self { folders, opened: Vec::new() }
    }

    fn read(&self) -> Vec<[Option<u64>; FILES.len()]> {
        let count = |folder: &PathBuf| {
            FILES.map(|(_, file, _, _)| {
                fs::read_to_string(folder.join(file)).ok()?.trim().parse().ok()
            })
        };
        self.folders.iter().map(count).collect()
    }
}

impl Probe for ThrottleProbe {
    fn begin(&mut self, _: &Moment) {
        self.opened = self.read();
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of a window are far below 2^53")]
    fn end(&mut self, _: &Moment) -> Vec<Reading> {
        let (opened, closed) = (std::mem::take(&mut self.opened), self.read());
        let mut rows = Vec::new();
        for (at, (key, _, unit, scale)) in FILES.into_iter().enumerate() {
            let gains = opened.iter().zip(&closed);
            let gains = gains.filter_map(|(a, b)| Some(b[at]?.saturating_sub(a[at]?)));
            let gains: Vec<u64> = gains.collect();
            let all: u64 = match key.split('.').next() {
                Some("package") => gains.iter().copied().max().unwrap_or(0),
                _ => gains.iter().sum(),
            };
            if !gains.is_empty() {
                rows.push(reading("throttle", "machine", key, all as f64 * scale, unit));
            }
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::Ours;

    /// A machine of two CPUs of one package; removed with this value.
    struct Tree(PathBuf);

    impl Tree {
        fn new(name: &str) -> Self {
            let root = std::env::temp_dir().join(format!("stend-{name}-{}", std::process::id()));
            for cpu in ["cpu0/thermal_throttle", "cpu1/thermal_throttle", "cpufreq"] {
                fs::create_dir_all(root.join("sys/devices/system/cpu").join(cpu)).unwrap();
            }
            Self(root)
        }

        fn set(&self, cpu: u32, file: &str, count: u64) {
            let folder = self.0.join(format!("sys/devices/system/cpu/cpu{cpu}/thermal_throttle"));
            fs::write(folder.join(file), format!("{count}\n")).unwrap();
        }
    }

    impl Drop for Tree {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn window(probe: &mut ThrottleProbe, within: impl FnOnce()) -> Vec<(String, f64)> {
        let moment = Moment { ours: &Ours::default(), soaker: &[] };
        probe.begin(&moment);
        within();
        let rows = probe.end(&moment);
        rows.into_iter().map(|r| (r.key, r.quantity.value)).collect()
    }

    #[test]
    fn cores_add_up_and_a_package_is_counted_once() {
        let tree = Tree::new("throttle");
        for cpu in [0, 1] {
            tree.set(cpu, "core_throttle_count", 5);
            tree.set(cpu, "package_throttle_count", 100);
            tree.set(cpu, "core_throttle_total_time_ms", 40);
        }
        let mut probe = ThrottleProbe::new(&tree.0);
        let rows = window(&mut probe, || {
            tree.set(0, "core_throttle_count", 7);
            tree.set(1, "core_throttle_count", 6);
            tree.set(0, "package_throttle_count", 104);
            tree.set(1, "package_throttle_count", 104);
            tree.set(1, "core_throttle_total_time_ms", 65);
        });
        let told: Vec<(&str, f64)> = rows.iter().map(|(k, v)| (k.as_str(), *v)).collect();
        assert_eq!(told, [("core", 3.0), ("package", 4.0), ("core.time", 0.025)]);
        assert!(window(&mut probe, || ()).iter().all(|(_, gained)| *gained == 0.0));
    }

    #[test]
    fn a_machine_that_does_not_tell_gives_no_reading() {
        let mut probe = ThrottleProbe::new(Path::new("/nonexistent"));
        assert!(window(&mut probe, || ()).is_empty());
    }
}
