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
use std::path::{Path, PathBuf};
use std::process::Output;
use std::thread;
use std::time::Duration;

/// Longest wait for what takes milliseconds on a machine that is not busy.
const LIMIT: Duration = Duration::from_secs(10);
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
        Self::of(place, name, SIZE)
    }

    fn of(place: &'p Place, name: &str, size: u64) -> Option<Self> {
        let image = place.path.join(format!("image of {name}"));
        File::create(&image).and_then(|file| file.set_len(size)).expect("an image");
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

    /// Mounts it for reading and writing, and tells where.
    fn mount_to_write(&mut self) -> PathBuf {
        self.format("");
        let at = self.place.path.join("files");
        fs::create_dir_all(&at).expect("a directory");
        let path = at.to_string_lossy().into_owned();
        self.does(&["mount", &self.device, &path]);
        self.mounted.push(path);
        at
    }

    /// Makes a file system on it or on its part of this name.
    fn format(&self, part: &str) {
        let lazy = "lazy_itable_init=0,lazy_journal_init=0";
        self.does(&["mkfs.ext4", "-q", "-E", lazy, &format!("{}{part}", self.device)]);
    }

    /// Writes a partition table with a partition of 16 MiB, and adds that to the kernel.
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

#[test]
fn only_the_part_that_was_asked_for_is_overwritten_and_its_blocks_are_trimmed() {
    if !is_root() {
        return;
    }
    let place = Place::new("part");
    let Some(disk) = Disk::new(&place, "disk") else { return };
    let (device, serial) = (disk.device.clone(), disk.serial());
    let middle = vec![0xA5; 1 << 20];
    disk.set(8 << 20, &middle);
    let text = plan(&device).replace("\"mix\"", "\"trim\"\ndisk_place = 100");
    fs::write(place.path.join("disk.toml"), text).expect("a plan");
    let options = ["run", "--destroy", &device, "--serial", &serial, "disk.toml"];
    let said = words(&moment::visited(|| place.stend(&options)));
    let image = fs::read(&disk.image).expect("an image");
    assert!(image[8 << 20..9 << 20] == middle[..], "before the part: {said}");
    let part = SIZE as usize - (32 << 20);
    assert!(image[..8 << 20].iter().chain(&image[9 << 20..part]).all(|byte| *byte == 0), "{said}");
    let (mut ours, mut trimmed) = (0, 0);
    for sector in image[part..].chunks(512) {
        match loads::is_block_of_ours(sector) {
            true => ours += 1,
            false => trimmed += u32::from(sector.iter().all(|byte| *byte == 0)),
        }
    }
    assert_eq!(ours + trimmed, (32 << 20) / 512, "every sector is ours or trimmed: {said}");
    assert!(ours > 0 && trimmed > 0, "{ours} are ours and {trimmed} trimmed: {said}");
}

/// A load of blocks of a file, its further parameters, and how it is slowed: by operations or bytes
/// a second.
type Slow = (&'static str, &'static str, &'static str);

const SLOW: [Slow; 6] = [
    ("depth one", "queue_depth = 1", "iops 400"),
    ("deep", "queue_depth = 16", "iops 400"),
    ("writes", "operation = \"write\"\nqueue_depth = 4", "iops 400"),
    ("in order", "pattern = \"sequential\"\nblock_size = \"64 KiB\"", "bps 16777216"),
    ("pread", "engine = \"pread\"\nqueue_depth = 4", "iops 400"),
    (
        "patterns",
        "pattern = \"file_server\"\nblock_size = \"listed\"\noperation = \"listed\"",
        "iops 400",
    ),
];

/// Loads that memory serves.
const FREE: [(&str, &str); 6] = [
    ("cached", "cache = \"buffered\""),
    ("cached, deep", "cache = \"buffered\"\nqueue_depth = 16"),
    ("cached, in order", "cache = \"buffered\"\npattern = \"sequential\""),
    ("cached, pread", "cache = \"buffered\"\nengine = \"pread\""),
    ("tmpfs", "cache = \"buffered\"\ndirectory = \"/dev/shm\"\nengine = \"pread\""),
    ("tmpfs, direct", "directory = \"/dev/shm\""),
];

/// Runs a load, with these words before the program, and gives its analysis.
fn measured(place: &Place, (load, window): (&str, &str), before: &[&str]) -> serde_json::Value {
    let text = format!(
        "title = \"A disk\"\n[load.it]\nworkload = \"disk\"\nfile_size = \"8 MiB\"\n{load}\n\
         [method]\nblocks = 3\ndry = false\nsettle = \"50 ms\"\nsteady = \"noted\"\n\
         settle_max = \"100 ms\"\nwindow = \"{window}\"\n"
    );
    fs::write(place.path.join("load.toml"), text).expect("a plan");
    let words = [before, &[kill::STEND, "run", "--json", "load.toml"]].concat();
    let output = moment::taken(|| place.run(&words));
    let all: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    all["analysis"]["measured"][0].clone()
}

/// A control group of the block layer, version 1 or 2, that slows the disk of `/var/tmp`.
struct Throttle(PathBuf);

impl Throttle {
    fn new(number: &str, how: &str) -> Option<Self> {
        let (what, most) = how.split_once(' ').expect("two words");
        let name = format!("stend-disks-{}", std::process::id());
        let old = PathBuf::from("/sys/fs/cgroup/blkio").join(&name);
        if fs::create_dir(&old).is_ok() {
            let group = Self(old);
            for kind in ["read", "write"] {
                let file = group.0.join(format!("blkio.throttle.{kind}_{what}_device"));
                fs::write(file, format!("{number} {most}")).ok()?;
            }
            return Some(group);
        }
        let group = Self(PathBuf::from("/sys/fs/cgroup").join(&name));
        fs::create_dir(&group.0).ok()?;
        let (r, w) = (format!("r{what}={most}"), format!("w{what}={most}"));
        fs::write(group.0.join("io.max"), format!("{number} {r} {w}")).ok()?;
        Some(group)
    }

    fn words(&self) -> String {
        format!("echo $$ > {}/cgroup.procs; exec \"$@\"", self.0.display())
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

/// Number of the whole disk behind `/var/tmp`; none where there is no such thing.
fn number_of_disk() -> Option<String> {
    let device = fs::metadata("/var/tmp").ok()?;
    let number = std::os::unix::fs::MetadataExt::dev(&device);
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let at = fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")).ok()?;
    let whole = if at.join("partition").exists() { at.parent()?.to_owned() } else { at };
    fs::read_to_string(whole.join("dev")).ok().map(|text| text.trim().to_owned())
}

#[test]
fn a_slow_disk_is_the_limit_and_the_figures_are_its() {
    let place = Place::new("slow");
    let number = number_of_disk();
    for (name, load, how) in SLOW {
        let throttle = number.as_ref().and_then(|number| Throttle::new(number, how));
        let Some(throttle) = throttle else {
            println!("skipped: no control group slows the disk of /var/tmp here");
            return;
        };
        let load = format!("{load}\ndirectory = \"/var/tmp\"");
        let found = measured(&place, (&load, "800 ms"), &["sh", "-c", &throttle.words(), "sh"]);
        assert_eq!(found["limit"]["kind"], "disk", "{name}: {found}");
        let served = found["from_disk"]["centre"]["value"].as_f64().unwrap_or_default();
        assert!(served >= 0.8, "{name}: {found}");
    }
}

#[test]
fn a_free_disk_is_never_the_limit_and_memory_is_told() {
    let place = Place::new("free-disks");
    for (name, load) in FREE {
        let load = match load.contains("directory") {
            true => load.to_owned(),
            false => format!("{load}\ndirectory = \"/var/tmp\""),
        };
        let found = measured(&place, (&load, "200 ms"), &[]);
        assert_ne!(found["limit"]["kind"], "disk", "{name}: {found}");
        let served = found["from_disk"]["centre"]["value"].as_f64().expect("a share");
        assert!(served < 0.1, "{name}: {found}");
    }
}

/// Bytes in use of the file system of a directory.
fn used(directory: &Path) -> u64 {
    let told = rustix::fs::statvfs(directory).expect("a file system");
    (told.f_blocks - told.f_bfree) * told.f_frsize
}

/// A plan of an array, with its files in this directory.
fn array_in(place: &Place, directory: &Path) {
    let plan = include_str!("../../plans/disk-array.toml");
    let with = format!("workload = \"disk\"\ndirectory = \"{}\"", directory.display());
    fs::write(place.path.join("array.toml"), plan.replace("workload = \"disk\"", &with))
        .expect("a plan");
}

#[test]
fn a_killed_run_leaves_no_file() {
    if !is_root() {
        return;
    }
    let place = Place::new("killed-disk");
    let Some(mut disk) = Disk::of(&place, "files", 400 << 20) else { return };
    let directory = disk.mount_to_write();
    array_in(&place, &directory);
    let before = used(&directory);
    let mut seen = 0;
    for _ in 0..kill::kills("STEND_KILLS", 5) {
        let running = place.start(&["run", "--quick", "array.toml"]);
        thread::sleep(Duration::from_secs(1) + kill::chance(Duration::from_secs(4)));
        seen += u32::from(used(&directory) > before + (32 << 20));
        let pid = running.kill();
        let gone = kill::until(LIMIT, || used(&directory) == before);
        assert!(gone.is_some(), "{} B are in use, {before} B before", used(&directory));
        let clear = kill::until(LIMIT, || place.left_by(pid).is_empty());
        assert!(clear.is_some(), "{:?}", place.left_by(pid));
        assert_eq!(fs::read_dir(&directory).expect("it is there").count(), 1, "lost+found");
    }
    assert!(seen > 0, "no kill met a file");
}

/// Runs blocks of a file in this directory, does this in the first window, and gives what was said
/// and the status. When the run has ended, its file is gone.
fn harmed(place: &Place, directory: &Path, harm: impl Fn()) -> (String, Option<i32>) {
    // A write beyond the end of a cut image would make it longer again.
    let plan = plan("none").replace("\"mix\"", "\"read\"").replace("\"200 ms\"", "\"2 s\"");
    let with = format!("workload = \"disk\"\ndirectory = \"{}\"", directory.display());
    fs::write(place.path.join("plan.toml"), plan.replace("workload = \"disk\"", &with))
        .expect("a plan");
    let before = used(directory);
    let running = place.start(&["run", "plan.toml"]);
    let filled = kill::until(LIMIT, || used(directory) >= before + (32 << 20));
    assert!(filled.is_some(), "the file was not made");
    thread::sleep(Duration::from_millis(800));
    harm();
    let status = running.ends(Duration::from_secs(60));
    (fs::read_to_string(place.path.join("log")).expect("a log"), status)
}

#[test]
fn on_a_disk_that_fills_up_a_run_tells_it_and_its_file_is_gone() {
    if !is_root() {
        return;
    }
    let place = Place::new("full-disk");
    let Some(mut disk) = Disk::of(&place, "full", 96 << 20) else { return };
    let directory = disk.mount_to_write();
    let (before, filler) = (used(&directory), directory.join("filler"));
    let (said, status) = harmed(&place, &directory, || {
        let file = File::create(&filler).expect("a file");
        let flags = rustix::fs::FallocateFlags::empty();
        rustix::fs::fallocate(&file, flags, 0, 40 << 20).expect("room");
    });
    let records = words(&place.stend(&["export", "--format", "json", "last"]));
    assert!(records.contains("B stay so; take at most"), "{said} {records}");
    let stolen = status == Some(6) && said.contains(moment::STOLEN);
    assert!(status == Some(0) || stolen, "what cannot be had is told and is no error: {said}");
    fs::remove_file(&filler).expect("it was there");
    assert!(kill::until(LIMIT, || used(&directory) == before).is_some());
}

#[test]
fn a_disk_that_fails_is_a_fault_in_its_words_and_the_run_comes_to_its_end() {
    if !is_root() {
        return;
    }
    let place = Place::new("failing-disk");
    let Some(mut disk) = Disk::of(&place, "failing", 96 << 20) else { return };
    let directory = disk.mount_to_write();
    let (said, status) = harmed(&place, &directory, || {
        let image = OpenOptions::new().write(true).open(&disk.image).expect("an image");
        image.set_len(1 << 20).expect("it is cut");
    });
    assert!(said.contains("Input/output error"), "{said}");
    assert!(status.is_some(), "it hangs: {said}");
}
