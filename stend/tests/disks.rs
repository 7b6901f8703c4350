//! Knows that no disk is overwritten that holds or carries anything, on loop devices, through the
//! door that a person takes; and that one that is free is measured. Only root makes loop devices.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "helpers of tests stand outside test functions"
)]

#[allow(dead_code, reason = "each test takes what it needs of it")]
mod kill;
mod moment;

use kill::Place;
use std::fs::{self, File, OpenOptions};
use std::hash::Hasher as _;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::process::Output;

/// Bytes of each disk.
const SIZE: u64 = 48 << 20;

/// A loop device over a file of a test, and what was mounted of it or swapped to.
struct Disk<'p> {
    place: &'p Place,
    image: PathBuf,
    device: String,
    mounted: Vec<String>,
    swaps: bool,
}

impl<'p> Disk<'p> {
    /// Of a file of zeros; none where this machine grants no loop device.
    fn new(place: &'p Place, name: &str) -> Option<Self> {
        let image = place.path.join(format!("image of {name}"));
        File::create(&image).and_then(|file| file.set_len(SIZE)).expect("an image");
        let path = image.to_string_lossy().into_owned();
        let made = place.run(&["losetup", "--find", "--show", "--partscan", &path]);
        if !made.status.success() {
            println!("skipped: no loop device: {}", words(&made).trim());
            return None;
        }
        let device = String::from_utf8_lossy(&made.stdout).trim().to_owned();
        Some(Self { place, image, device, mounted: Vec::new(), swaps: false })
    }

    fn serial(&self) -> String {
        self.image.to_string_lossy().into_owned()
    }

    /// Writes these bytes into it.
    fn set(&self, at: u64, bytes: &[u8]) {
        let file = OpenOptions::new().write(true).open(&self.device).expect("a disk");
        file.write_all_at(bytes, at).and_then(|()| file.sync_all()).expect("written");
    }

    /// Does this with it, which must succeed.
    fn does(&self, words_of: &[&str]) {
        let done = self.place.run(words_of);
        assert!(done.status.success(), "{words_of:?}: {}", words(&done));
    }

    /// Mounts it, or its part of this name, without a write.
    fn mount(&mut self, part: &str) {
        let at = self.place.path.join("mounted").to_string_lossy().into_owned();
        fs::create_dir_all(&at).expect("a directory");
        let from = format!("{}{part}", self.device);
        self.does(&["mount", "-o", "ro,noload", &from, &at]);
        self.mounted.push(at);
    }

    /// Makes a file system on it or on its part of this name.
    fn format(&self, part: &str) {
        let lazy = "lazy_itable_init=0,lazy_journal_init=0";
        self.does(&["mkfs.ext4", "-q", "-E", lazy, &format!("{}{part}", self.device)]);
    }

    /// A partition table with a partition of 16 MiB, which the kernel is told of.
    fn part(&self, label: &str) {
        let script = format!("printf 'label: {label}\\n2048,16M\\n' | sfdisk -q {}", self.device);
        self.does(&["sh", "-c", &script]);
        // A kernel may read no such tables.
        let _ = self.place.run(&["addpart", &self.device, "1", "2048", "32768"]);
    }

    fn hash(&self) -> u64 {
        self.does(&["sync"]);
        let mut hasher = std::hash::DefaultHasher::new();
        hasher.write(&fs::read(&self.image).expect("an image"));
        hasher.finish()
    }

    /// Runs the plan, which overwrites the disk at `device`, with these further options.
    fn run(&self, device: &str, options: &[&str]) -> Output {
        fs::write(self.place.path.join("disk.toml"), plan(device)).expect("a plan");
        self.place.stend(&[&["run"], options, &["disk.toml"]].concat())
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        for at in &self.mounted {
            let _ = self.place.run(&["umount", at]);
        }
        if self.swaps {
            let _ = self.place.run(&["swapoff", &self.device]);
        }
        let _ = self.place.run(&["losetup", "--detach", &self.device]);
    }
}

fn plan(device: &str) -> String {
    format!(
        "title = \"A disk\"\n[load.it]\nworkload = \"disk\"\nwhole_disk = \"{device}\"\n\
         operation = \"mix\"\nfile_size = \"32 MiB\"\n[method]\nblocks = 3\ndry = false\n\
         settle = \"50 ms\"\nsteady = \"noted\"\nsettle_max = \"100 ms\"\nwindow = \"200 ms\"\n"
    )
}

fn words(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    format!("{out}{err}")
}

fn is_root() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        println!("skipped: only root makes loop devices");
    }
    is_root
}

/// Makes a disk what it must not be overwritten for.
type Spoil = fn(&mut Disk<'_>);

/// Each with what is said of it.
const MATRIX: [(&str, Spoil, &str); 10] = [
    ("ext4", |disk| disk.format(""), "holds data: ext2, ext3 or ext4"),
    (
        "mounted",
        |disk| {
            disk.format("");
            disk.mount("");
        },
        "is in use: a file system on loop",
    ),
    (
        "mounted child",
        |disk| {
            disk.part("dos");
            disk.format("p1");
            disk.mount("p1");
        },
        "p1 is mounted at",
    ),
    (
        "swap",
        |disk| {
            disk.does(&["mkswap", &disk.device]);
            disk.does(&["swapon", &disk.device]);
            disk.swaps = true;
        },
        "is in use: the machine swaps to loop",
    ),
    ("GPT", |disk| disk.part("gpt"), "holds data: a partition table (GPT)"),
    ("MBR", |disk| disk.part("dos"), "holds data: a partition table (MBR)"),
    ("LUKS", |disk| disk.set(0, b"LUKS\xba\xbe\0\x02"), "holds data: LUKS"),
    ("LVM", |disk| disk.set(512, b"LABELONE\x01\0\0\0\0\0\0\0aaaa    LVM2 001"), "holds data: LVM"),
    ("md", |disk| disk.set(4096, &[0xFC, 0x4E, 0x2B, 0xA9, 1]), "holds data: md"),
    // As md 0.90 and the copy of a GPT stand.
    ("end", |disk| disk.set(SIZE - 65536, &[1]), "holds data: unknown bytes at byte 50266112"),
];

#[test]
fn a_disk_that_holds_or_carries_anything_is_refused_and_not_a_byte_of_it_changes() {
    if !is_root() {
        return;
    }
    let place = Place::new("disks");
    for (name, spoil, wanted) in MATRIX {
        let Some(mut disk) = Disk::new(&place, name) else { return };
        spoil(&mut disk);
        let before = disk.hash();
        let (device, serial) = (disk.device.clone(), disk.serial());
        let refused = disk.run(&device, &["--destroy", &device, "--serial", &serial]);
        assert_eq!(refused.status.code(), Some(2), "{name}: {}", words(&refused));
        assert!(words(&refused).contains(wanted), "{name}: {}", words(&refused));
        assert_eq!(disk.hash(), before, "{name}: changed");
    }
}

#[test]
fn without_consent_or_with_another_serial_or_by_the_name_of_a_part_nothing_is_written() {
    if !is_root() {
        return;
    }
    let place = Place::new("consent");
    let Some(disk) = Disk::new(&place, "free") else { return };
    disk.part("dos");
    let (device, serial) = (disk.device.clone(), disk.serial());
    let child = format!("{device}p1");
    let root = root_disk();
    let cases: [(&str, &[&str], &str); 6] = [
        (&device, &[], "add --destroy"),
        (&device, &["--destroy", "/dev/loop0x", "--serial", &serial], "add --destroy"),
        (&device, &["--destroy", &device, "--serial", "other"], "its serial is not \"other\""),
        (&device, &["--destroy", &device], "--serial <SERIAL>"),
        (&child, &["--destroy", &child, "--serial", &serial], "; nothing was written"),
        (&root.0, &["--destroy", &root.0, "--serial", &root.1], "the root file system"),
    ];
    let before = disk.hash();
    for (device, options, wanted) in cases {
        if device.is_empty() {
            println!("skipped: the root file system lies on no disk with a serial");
            continue;
        }
        let refused = disk.run(device, options);
        assert_eq!(refused.status.code(), Some(2), "{wanted}: {}", words(&refused));
        assert!(words(&refused).contains(wanted), "{wanted}: {}", words(&refused));
    }
    assert_eq!(disk.hash(), before, "changed");
}

/// The disk of the root file system and its serial; empty where there is no such thing.
fn root_disk() -> (String, String) {
    let disks = fs::read_dir("/sys/block").expect("disks").flatten();
    let serial = |name: &str| fs::read_to_string(format!("/sys/block/{name}/serial")).ok();
    let table = fs::read_to_string("/proc/self/mountinfo").expect("mounts");
    let root = table.lines().find(|line| line.split(' ').nth(4) == Some("/"));
    let number = root.and_then(|line| line.split(' ').nth(2)).unwrap_or_default().to_owned();
    let mut names = disks.map(|disk| disk.file_name().to_string_lossy().into_owned());
    let is_root = |name: &String| {
        let dev = fs::read_to_string(format!("/sys/block/{name}/dev")).unwrap_or_default();
        dev.trim() == number
    };
    let found = names.find(is_root).and_then(|name| Some((serial(&name)?, name)));
    found.map(|(serial, name)| (format!("/dev/{name}"), serial.trim().into())).unwrap_or_default()
}

#[test]
fn a_free_disk_is_told_measured_and_recorded_and_may_be_measured_again() {
    if !is_root() {
        return;
    }
    let place = Place::new("free");
    let Some(disk) = Disk::new(&place, "disk") else { return };
    let (device, serial) = (disk.device.clone(), disk.serial());
    let options = ["--destroy", &device, "--serial", &serial, "--endurance", "1"];
    for attempt in ["first", "second"] {
        let run = moment::taken(|| disk.run(&device, &options));
        let said = words(&run);
        assert!(said.contains("is overwritten: 3 trials fill it"), "{attempt}: {said}");
        assert!(said.contains("of its rated endurance"), "{attempt}: {said}");
    }
    let records = place.stend(&["export", "--format", "json", "last"]);
    assert!(words(&records).contains(&serial), "the serial is in the records: {}", words(&records));
    let mut first = [0; 512];
    File::open(&disk.image).and_then(|image| image.read_exact_at(&mut first, 0)).expect("read");
    assert!(loads::is_block_of_ours(&first), "it was written to");
}
