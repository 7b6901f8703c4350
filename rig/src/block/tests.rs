//! A disk is refused for each use of it and for each signature, whatever else it is.

use super::content::{foreign, known};
use super::{Device, Refusal, uses};
use std::fs::{create_dir_all, remove_dir_all, write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A machine as files: the disk `sdb` with the partition `sdb1`.
pub(super) struct Machine(pub PathBuf);

impl Machine {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let at = NEXT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("stend-block-{}-{at}", std::process::id()));
        let machine = Self(root);
        let disk = [("dev", "8:16"), ("size", "2097152"), ("ro", "0"), ("device/serial", " X1 \n")];
        disk.iter().for_each(|(file, text)| machine.set(&format!("sys/block/sdb/{file}"), text));
        machine.set("sys/block/sdb/sdb1/dev", "8:17");
        machine.set("sys/block/sdb/sdb1/partition", "1");
        machine.set("sys/block/sdb/sdb1/size", "2048");
        machine.set("proc/swaps", "Filename Type Size Used Priority\n");
        machine.set("proc/self/mountinfo", "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n");
        machine.link("sys/dev/block/8:16", "../../block/sdb");
        machine.link("sys/dev/block/8:17", "../../block/sdb/sdb1");
        machine
    }

    pub fn set(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        create_dir_all(path.parent().unwrap()).unwrap();
        write(path, text).unwrap();
    }

    pub fn link(&self, path: &str, to: &str) {
        let path = self.0.join(path);
        create_dir_all(path.parent().unwrap()).unwrap();
        symlink(to, path).unwrap();
    }

    fn device(&self, minor: u32) -> Device {
        Device::read(&self.0, (8, minor)).unwrap()
    }

    fn refused(&self, minor: u32) -> Result<(), String> {
        let judged = uses::refuse(&self.0, Path::new("/dev/sdb"), &self.device(minor));
        judged.map_err(|why| why.to_string())
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = remove_dir_all(&self.0);
    }
}

#[test]
fn a_disk_that_nothing_uses_is_free_and_tells_what_it_is() {
    let machine = Machine::new();
    assert_eq!(machine.refused(16), Ok(()));
    let device = machine.device(16);
    let told = (device.name.as_str(), device.serial.as_deref(), device.bytes, device.sector);
    assert_eq!(told, ("sdb", Some("X1"), 1 << 30, 512));
    assert!(device.judge_serial(Path::new("/dev/sdb"), "X1").is_ok());
    let other = device.judge_serial(Path::new("/dev/sdb"), "x1").unwrap_err().to_string();
    assert!(other.contains("its serial is not \"x1\"; nothing was written"), "{other}");
}

#[test]
fn a_serial_is_looked_for_where_each_kind_of_disk_tells_it() {
    let machine = Machine::new();
    let serial = || machine.device(16).serial;
    std::fs::remove_file(machine.0.join("sys/block/sdb/device/serial")).unwrap();
    assert_eq!(serial(), None);
    let none = machine.device(16).judge_serial(Path::new("/dev/sdb"), "").unwrap_err().to_string();
    assert!(none.contains("it tells no serial"), "{none}");
    machine.set("sys/block/sdb/loop/backing_file", "/srv/image");
    assert_eq!(serial().as_deref(), Some("/srv/image"));
    machine.set("sys/block/sdb/device/wwid", "naa.5000");
    assert_eq!(serial().as_deref(), Some("naa.5000"));
    machine.set("sys/block/sdb/device/vpd_pg80", "\0\u{1}\0\u{8}  WD-123");
    assert_eq!(serial().as_deref(), Some("WD-123"));
    machine.set("sys/block/sdb/serial", "virtio-7");
    assert_eq!(serial().as_deref(), Some("virtio-7"));
}

/// Files that are added to the machine, and what is said of the disk then.
const USES: [(&str, &str, &str); 12] = [
    (
        "proc/self/mountinfo",
        "30 1 8:16 / /data rw - ext4 /dev/sdb rw\n",
        "a file system on sdb is mounted at /data",
    ),
    (
        "proc/self/mountinfo",
        "30 1 8:17 / /data rw shared:1 - ext4 /dev/sdb1 rw\n",
        "a file system on sdb1 is mounted at /data",
    ),
    (
        "proc/1/mountinfo",
        "30 1 8:17 / / rw - ext4 /dev/root rw\n",
        "the root file system on sdb1 is mounted at /",
    ),
    (
        "proc/self/mountinfo",
        "30 1 0:42 /@home /home rw - btrfs /dev/sdb1 rw\n",
        "a file system on sdb1 is mounted at /home",
    ),
    (
        "proc/swaps",
        "Filename Type Size Used Priority\n/dev/sdb1 partition 1 0 -2\n",
        "the machine swaps to sdb1",
    ),
    ("sys/block/sdb/holders/md0/dev", "9:0", "sdb is part of md0"),
    ("sys/block/sdb/sdb1/holders/dm-3/dm/name", "vg-home", "sdb1 is part of dm-3 (vg-home)"),
    ("sys/block/sdb/holders/bcache0/dev", "252:0", "sdb is part of bcache0"),
    ("sys/block/loop7/loop/backing_file", "/dev/sdb1", "loop7 lies on sdb1"),
    ("sys/block/sdb/slaves/sda3/dev", "8:3", "it lies on sda3"),
    ("sys/block/sdb/md/level", "raid5", "it is an array of md"),
    ("sys/block/sdb/dm/name", "luks-1", "it is a volume of the device mapper"),
];

#[test]
fn each_use_of_a_disk_or_of_its_partition_is_named() {
    for (file, text, what) in USES {
        let machine = Machine::new();
        machine.set(file, text);
        let why = machine.refused(16).expect_err(what);
        assert!(why.contains(what), "{what}: {why}");
    }
}

#[test]
fn a_partition_and_a_disk_that_takes_no_writes_are_refused() {
    let machine = Machine::new();
    assert!(machine.refused(17).unwrap_err().contains("it is a partition; name a whole disk"));
    machine.set("sys/block/sdb/ro", "1\n");
    assert!(machine.refused(16).unwrap_err().contains("it is read-only"));
}

#[test]
fn a_path_that_the_command_does_not_name_is_not_even_looked_at() {
    let why = super::free(Path::new("/dev/null"), &|_| true).unwrap_err();
    assert!(matches!(why, Refusal::NotAllowed { .. }), "{why}");
    assert!(why.to_string().contains("add --destroy /dev/null --serial SERIAL"), "{why}");
}

#[test]
fn zeros_and_blocks_of_ours_are_nothing_and_any_other_byte_is_something() {
    let mut bytes = vec![0; 1 << 16];
    let ours = |sector: &[u8]| sector[0] == 7;
    bytes[512..1024].fill(7);
    assert_eq!(foreign(&bytes, &ours), None);
    bytes[40_000] = 1;
    assert_eq!(foreign(&bytes, &ours), Some(78 * 512));
    assert_eq!(known(&bytes), None);
}

#[test]
fn signatures_have_their_names() {
    for (at, magic, name) in [
        (0, b"LUKS\xba\xbe".as_slice(), "LUKS"),
        (536, b"LVM2 001", "LVM"),
        (4096, &[0xFC, 0x4E, 0x2B, 0xA9], "md"),
        (512, b"EFI PART", "a partition table (GPT)"),
        (1080, &[0x53, 0xEF], "ext2, ext3 or ext4"),
        (4086, b"SWAPSPACE2", "swap"),
    ] {
        let mut bytes = vec![0; 1 << 17];
        // The boot record that protects a GPT is there as well.
        bytes[510..512].copy_from_slice(&[0x55, 0xAA]);
        bytes[at..at + magic.len()].copy_from_slice(magic);
        assert_eq!(known(&bytes), Some((name, at as u64)));
    }
}
