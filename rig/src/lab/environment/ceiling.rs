//! Knows what adapters and memory are made for, as sysfs tells it: line rate, bus, last cache.
//! Never: what a load reached of it.

use super::tree::Tree;
use super::{adapter, cpu, pcie};
use std::path::Path;

/// What an adapter with a physical link can carry at most.
#[derive(Clone, Debug, PartialEq)]
pub struct AdapterCeiling {
    /// Interface name.
    pub name: String,
    /// Line rate, bit/s each way; absent without a carrier, and where the device knows none (a
    /// virtual adapter says -1).
    pub line_rate: Option<f64>,
    /// Largest packet, bytes.
    pub mtu: u32,
    /// Of its PCI Express link, or of the narrowest above it: bytes a second each way after line
    /// coding; the headers of its packets take more. Absent for a device without one. A bus of the
    /// older kind is not told: sysfs has its clock at best, and never its width.
    pub pcie: Option<f64>,
}

/// The ceilings of an adapter on a device: `place` is the folder of its files, which may be in a
/// sysfs that is mounted nowhere, and that of its device below the root.
#[must_use]
pub fn adapter_ceiling(root: &Path, name: &str, place: (&Path, &Path)) -> AdapterCeiling {
    let tree = Tree::at(root);
    let link = place.0.to_string_lossy();
    let device = tree.resolve(&place.1.to_string_lossy());
    let functions = device.as_deref().map(pcie::functions).unwrap_or_default();
    AdapterCeiling {
        name: name.to_owned(),
        line_rate: adapter::speed(&tree, &link).map(|speed| speed.value),
        mtu: adapter::mtu(&tree, &link),
        pcie: pcie::bytes_per_s(&tree, &functions),
    }
}

/// The largest cache that a CPU can reach, bytes; none where the kernel tells of none.
#[must_use]
pub fn largest_cache(root: &Path) -> Option<u64> {
    let caches = cpu::caches(&Tree::at(root));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 2^53")]
    let bytes = |cache: &desk::record::Cache| cache.size.value as u64;
    caches.iter().map(bytes).max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    /// A tree of files, removed with this value.
    struct Machine(PathBuf);

    impl Machine {
        fn new(name: &str) -> Self {
            let root =
                std::env::temp_dir().join(format!("stend-ceil-{name}-{}", std::process::id()));
            fs::create_dir_all(root.join("sys/class/net")).unwrap();
            Self(root)
        }

        fn set(&self, path: &str, text: &str) {
            let path = self.0.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{text}\n")).unwrap();
        }

        /// An adapter on a device, with a speed in Mbit/s and a carrier.
        fn adapter(&self, name: &str, device: &str, (speed, carrier): (&str, &str)) {
            let link = format!("sys/class/net/{name}");
            for (file, text) in [("speed", speed), ("carrier", carrier), ("mtu", "9000")] {
                self.set(&format!("{link}/{file}"), text);
            }
            fs::create_dir_all(self.0.join(device)).unwrap();
            let to = self.0.join(device);
            std::os::unix::fs::symlink(to, self.0.join(&link).join("device")).unwrap();
        }

        fn ceiling(&self, name: &str) -> AdapterCeiling {
            let folder = self.0.join("sys/class/net").join(name);
            adapter_ceiling(&self.0, name, (&folder, &folder.join("device")))
        }

        fn link(&self, function: &str, width: &str, speed: &str) {
            self.set(&format!("{function}/current_link_width"), width);
            self.set(&format!("{function}/current_link_speed"), speed);
        }
    }

    impl Drop for Machine {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    const PORT: &str = "sys/devices/pci0000:00/0000:00:01.0";
    const CARD: &str = "sys/devices/pci0000:00/0000:00:01.0/0000:03:00.0";

    // By hand: x8 at 8 GT/s is 8 x 8e9 x 128 / 130 / 8 = 7.877e9 B/s; x4 at 5 GT/s with 8b/10b
    // 4 x 5e9 x 0.8 / 8 = 2e9 B/s.
    #[test]
    fn the_narrowest_link_on_the_way_up_is_the_ceiling_of_the_bus() {
        let machine = Machine::new("bus");
        machine.adapter("eth1", CARD, ("10000", "1"));
        machine.link(CARD, "8", "8.0 GT/s PCIe");
        machine.link(PORT, "16", "8.0 GT/s PCIe");
        let rate = || machine.ceiling("eth1").pcie.unwrap();
        assert!((rate() / 7.876_923e9 - 1.0).abs() < 1e-6);
        machine.link(PORT, "4", "5.0 GT/s PCIe");
        assert!((rate() / 2e9 - 1.0).abs() < 1e-9, "{}", rate());
        let eth1 = machine.ceiling("eth1");
        assert_eq!((eth1.line_rate, eth1.mtu), (Some(1e10), 9000));
    }

    #[test]
    fn a_line_rate_is_that_of_a_device_with_a_carrier_that_knows_it() {
        let machine = Machine::new("line");
        machine.adapter("down", "sys/devices/pci0000:00/0000:00:02.0", ("1000", "0"));
        machine.adapter("virtual", "sys/devices/pci0000:00/0000:00:03.0/virtio2", ("-1", "1"));
        let told = ["down", "virtual"].map(|name| machine.ceiling(name));
        assert!(told.iter().all(|a| a.line_rate.is_none() && a.pcie.is_none()), "{told:?}");
    }

    #[test]
    fn the_largest_cache_is_the_last() {
        let machine = Machine::new("cache");
        assert_eq!(largest_cache(&machine.0), None);
        let cpu = "sys/devices/system/cpu/cpu0";
        machine.set("sys/devices/system/cpu/online", "0");
        for (index, level, size) in [(0, "1", "48K"), (1, "2", "2048K"), (2, "3", "36864K")] {
            let cache = format!("{cpu}/cache/index{index}");
            for (file, text) in
                [("level", level), ("size", size), ("type", "Unified"), ("shared_cpu_list", "0")]
            {
                machine.set(&format!("{cache}/{file}"), text);
            }
        }
        assert_eq!(largest_cache(&machine.0), Some(36864 * 1024));
    }
}
