//! Tests of the interrupt probe over file trees with four CPUs and adapters of three kinds.

use super::super::fixture::Mortal;
use super::*;
use crate::lab::Ours;
use std::os::unix::fs::symlink;

/// A tree under the temporary directory; gone when the test ends.
struct Tree(PathBuf);

impl Tree {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("stend-irq-{}-{name}", std::process::id())))
    }

    fn file(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn packets(&self, adapter: &str, received: u64, sent: u64) {
        let statistics = format!("sys/class/net/{adapter}/statistics");
        self.file(&format!("{statistics}/rx_packets"), &format!("{received}\n"));
        self.file(&format!("{statistics}/tx_packets"), &format!("{sent}\n"));
    }

    fn on(&self, adapter: &str, device: &str) {
        fs::create_dir_all(self.0.join(device)).unwrap();
        let link = self.0.join("sys/class/net").join(adapter).join("device");
        symlink(self.0.join(device), link).unwrap();
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn interrupts(eth1: u64, virtio: u64, legacy: u64) -> String {
    format!(
        "            CPU0       CPU1       CPU2       CPU3       \n\
           8:          0          0          0          1  IO-APIC   8-edge      rtc0\n\
          19:          0          3          0  {legacy:>9}  IO-APIC  19-fasteoi   eth2, ehci_hcd\n\
          40:         10          0          0          0  PCI-MSIX-0000:00:03.0   0-edge      \
         virtio2-config\n\
          41: {virtio:>10}          0          5          0  PCI-MSIX-0000:00:03.0   1-edge      \
         virtio2-input.0\n\
          60: {eth1:>10}          2          0          0  PCI-MSIX-0000:01:00.0   0-edge      \
         eth1-TxRx-0\n\
          61:          0 {eth1:>10}          0          0  PCI-MSIX-0000:01:00.0   1-edge      \
         eth1-TxRx-1\n\
          70:          9          9          9          9  PCI-MSIX-0000:02:00.0   0-edge      \
         eth10-TxRx-0\n\
         NMI:          0          0          0          0   Non-maskable interrupts\n\
         LOC:    1234567    1234567    1234567    1234567   Local timer interrupts\n\
         ERR:          0\n"
    )
}

/// An adapter with two vectors, a virtio one, one on a shared line, and a virtual pair.
fn machine(name: &str) -> Tree {
    let tree = Tree::new(name);
    for adapter in ["eth1", "eth2", "ens3", "veth7"] {
        tree.packets(adapter, 100, 100);
    }
    tree.on("eth1", "sys/devices/pci0000:00/0000:01:00.0");
    tree.file("sys/devices/pci0000:00/0000:01:00.0/msi_irqs/60", "msix\n");
    tree.file("sys/devices/pci0000:00/0000:01:00.0/msi_irqs/61", "msix\n");
    tree.file("sys/devices/pci0000:00/0000:01:00.0/irq", "8\n");
    tree.on("eth2", "sys/devices/pci0000:00/0000:00:04.0");
    tree.file("sys/devices/pci0000:00/0000:00:04.0/irq", "19\n");
    tree.on("ens3", "sys/devices/pci0000:00/0000:00:03.0/virtio2");
    tree.file("sys/devices/pci0000:00/0000:00:03.0/msi_irqs/40", "msix\n");
    tree.file("proc/interrupts", &interrupts(1000, 50, 7));
    tree
}

/// What is read over a window in which this happens, as if it had been so many seconds long.
fn over(tree: &Tree, seconds: f64, within: impl FnOnce()) -> Vec<Reading> {
    let mut probe = IrqProbe::new(&tree.0);
    let moment = Moment { ours: &Ours::default(), soaker: &[] };
    probe.prepare(&Ours::default());
    probe.begin(&moment);
    within();
    let window = probe.close().unwrap();
    probe.readings(&Window { seconds, ..window })
}

fn value(rows: &[Reading], adapter: &str, key: &str) -> Option<f64> {
    rows.iter().find(|r| r.host == adapter && r.key == key).map(|r| r.quantity.value)
}

#[test]
fn interrupts_are_summed_over_cpus_and_vectors_and_set_against_packets() {
    let tree = machine("rates");
    let rows = over(&tree, 2.0, || {
        tree.file("proc/interrupts", &interrupts(1100, 70, 12));
        tree.packets("eth1", 3100, 1100);
        tree.packets("ens3", 110, 100);
    });
    assert_eq!(value(&rows, "eth1", "interrupts"), Some(100.0), "two vectors of 100 in 2 s");
    assert_eq!(value(&rows, "eth1", "packets_per_interrupt"), Some(20.0));
    assert_eq!(value(&rows, "ens3", "interrupts"), Some(10.0), "by number and by virtio name");
    assert_eq!(value(&rows, "ens3", "packets_per_interrupt"), Some(0.5));
    assert_eq!(value(&rows, "eth2", "interrupts"), Some(2.5), "a shared line counts whole");
    assert!(rows.iter().all(|r| r.host != "veth7"), "a virtual pair has no interrupts: {rows:?}");
}

#[test]
fn without_an_interrupt_there_is_a_rate_of_none_and_no_ratio() {
    let tree = machine("none");
    let mut probe = IrqProbe::new(&tree.0);
    let moment = Moment { ours: &Ours::default(), soaker: &[] };
    probe.prepare(&Ours::default());
    probe.begin(&moment);
    let rows = probe.end(&moment);
    assert_eq!(value(&rows, "eth1", "interrupts"), Some(0.0));
    assert_eq!(value(&rows, "eth1", "packets_per_interrupt"), None);
}

#[test]
fn a_name_is_its_owners_only_as_a_whole_word() {
    assert!(is_named("eth1-TxRx-0", "eth1") && is_named("mlx5_comp0@eth1", "eth1"));
    assert!(is_named("eth2,", "eth2") && is_named("virtio2-input.0", "virtio2"));
    assert!(!is_named("eth10-TxRx-0", "eth1") && !is_named("virtio20-input.0", "virtio2"));
    assert!(!is_named("veth1", "eth1"));
}

#[test]
fn a_machine_that_shows_no_interrupts_gives_no_reading() {
    let moment = Moment { ours: &Ours::default(), soaker: &[] };
    let mut probe = IrqProbe::new(Path::new("/nonexistent"));
    probe.begin(&moment);
    assert!(probe.end(&moment).is_empty());
}

#[test]
fn the_largest_vector_and_the_busiest_cpu_are_shares_of_the_adapters_interrupts() {
    let tree = machine("shares");
    let rows = over(&tree, 1.0, || tree.file("proc/interrupts", &interrupts(1100, 80, 7)));
    assert_eq!(value(&rows, "eth1", "largest_vector"), Some(0.5));
    assert_eq!(value(&rows, "eth1", "largest_cpu"), Some(0.5), "one vector on each of two CPUs");
    assert_eq!(value(&rows, "ens3", "largest_vector"), Some(1.0));
    assert_eq!(value(&rows, "eth2", "largest_vector"), None, "no interrupt, no share");
    assert_eq!(value(&rows, "eth1", "vector60.cpu0"), Some(100.0));
    assert_eq!(value(&rows, "eth1", "vector61.cpu1"), Some(100.0));
    assert_eq!(value(&rows, "ens3", "vector41.cpu0"), Some(30.0));
    let cells = rows.iter().filter(|row| row.key.starts_with("vector"));
    assert_eq!(cells.count(), 3, "those without an interrupt are left out: {rows:?}");
}

#[test]
fn a_count_goes_on_past_32_bits_and_one_that_was_reset_gives_no_reading() {
    let tree = machine("wrap");
    tree.file("proc/interrupts", &interrupts(4_294_967_290, 1000, 7));
    let rows = over(&tree, 1.0, || tree.file("proc/interrupts", &interrupts(94, 3, 7)));
    assert_eq!(value(&rows, "eth1", "interrupts"), Some(200.0), "100 of each of two vectors");
    assert!(rows.iter().all(|row| row.host != "ens3"), "{rows:?}");
}

/// Vectors 100 to 163 of one adapter on 512 CPUs, each on a CPU of its own.
fn many(queue: u64, first: u64) -> String {
    let head: String = (0..512).map(|cpu| format!(" CPU{cpu}")).collect();
    let line = |vector: usize| {
        let count = |cpu| match cpu == vector {
            true if vector == 0 => first,
            true => queue,
            false => 0,
        };
        let counts: String = (0..512).map(|cpu| format!(" {}", count(cpu))).collect();
        format!("{}:{counts}  PCI-MSIX-0000:01:00.0 {vector}-edge eth1-{vector}\n", 100 + vector)
    };
    format!("{head}\n{}", (0..64).map(line).collect::<String>())
}

#[test]
fn sixty_four_queues_on_512_cpus_give_eight_readings() {
    let tree = Tree::new("512");
    tree.packets("eth1", 100, 100);
    tree.on("eth1", "sys/devices/pci0000:00/0000:01:00.0");
    tree.file("proc/interrupts", &many(5, 5));
    let rows = over(&tree, 1.0, || {
        tree.file("proc/interrupts", &many(6, 5 + 63));
        tree.packets("eth1", 226, 100);
    });
    assert_eq!(rows.len(), 4 + CELLS, "{rows:?}");
    assert_eq!(value(&rows, "eth1", "vector100.cpu0"), Some(63.0));
    assert_eq!(value(&rows, "eth1", "vector103.cpu3"), Some(1.0), "of equal ones the first");
    assert_eq!(value(&rows, "eth1", "largest_vector"), Some(0.5), "63 of 126");
    assert_eq!(value(&rows, "eth1", "largest_cpu"), Some(0.5));
    assert_eq!(value(&rows, "eth1", "packets_per_interrupt"), Some(1.0));
}

#[test]
fn an_adapter_that_vanishes_in_the_window_leaves_the_others() {
    let tree = machine("vanish");
    let device = Mortal::new();
    for file in PACKETS {
        let path = tree.0.join("sys/class/net/eth1/statistics").join(file);
        fs::remove_file(&path).unwrap();
        symlink(device.file(), path).unwrap();
    }
    let rows = over(&tree, 1.0, || device.end());
    assert!(rows.iter().all(|row| row.host != "eth1") && !rows.is_empty(), "{rows:?}");
    fs::remove_file(tree.0.join("proc/interrupts")).unwrap();
    symlink("/proc/self/mem", tree.0.join("proc/interrupts")).unwrap();
    let moment = Moment { ours: &Ours::default(), soaker: &[] };
    let mut probe = IrqProbe::new(&tree.0);
    probe.prepare(&Ours::default());
    probe.begin(&moment);
    assert!(probe.end(&moment).is_empty(), "EIO");
}
