//! Knows the device and the mount behind a file, or a whole disk, as the kernel tells of them: its
//! queue, and the members of an array or a volume.
//!
//! Must not know what is read and written.

use super::device::{inside, text};
use super::mount::Mount;
use super::uses::last;
use rustix::fs::{FileType, fstat, major, minor};
use std::collections::BTreeSet;
use std::fs::read_to_string;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// Bytes of the unit of the file `start`, whatever a device's sectors are.
const UNIT: u64 = 512;
/// Most devices under each other: the kernel has fewer.
const DEEPEST: usize = 8;

/// Files of a device in sysfs, what they are called in a record, and their unit. Of a partition
/// those that it lacks are those of its disk (Documentation/ABI/stable/sysfs-block,
/// Documentation/admin-guide/md.rst).
const FACTS: [(&str, &str, &str); 21] = [
    ("device/model", "model", ""),
    ("dm/name", "volume", ""),
    (KIND, "kind", ""),
    ("md/level", "level", ""),
    ("md/raid_disks", "disks", ""),
    ("md/degraded", "missing", ""),
    ("md/chunk_size", "chunk", " B"),
    ("md/array_state", "state", ""),
    (ACTION, "action", ""),
    ("queue/scheduler", "scheduler", ""),
    ("queue/nr_requests", "queue", " requests"),
    ("queue/read_ahead_kb", "read-ahead", " KiB"),
    ("queue/write_cache", "write cache", ""),
    (FUA, "FUA", ""),
    (ROTATIONAL, "rotational", ""),
    ("queue/logical_block_size", "logical block", " B"),
    ("queue/physical_block_size", "physical block", " B"),
    (OPTIMAL, "optimal operation", " B"),
    ("queue/discard_granularity", "discard granularity", " B"),
    ("alignment_offset", "alignment offset", " B"),
    (START, "start in a physical block", " B"),
];

/// What made a volume of the device mapper stands before the first hyphen of this: LVM, CRYPT.
const KIND: &str = "dm/uuid";
/// What an array of md does beside its work.
const ACTION: &str = "md/sync_action";
/// 1 where it is true.
const FUA: &str = "queue/fua";
const ROTATIONAL: &str = "queue/rotational";
/// Of an array its stripe; 0 where the device tells none.
const OPTIMAL: &str = "queue/optimal_io_size";
/// Where a partition begins on its disk.
const START: &str = "start";

/// What an array does that takes nothing of its members.
const AT_REST: [&str; 2] = ["idle", "frozen"];

/// Where the kernel puts the sensor of a drive: below a disk of SCSI or ATA (drivetemp), below the
/// controller of NVMe or, in older kernels, below its adapter.
const SENSORS: [&str; 3] = ["device/hwmon", "device", "device/device/hwmon"];
/// What a sensor of a drive can show, thousandths of a degree Celsius.
const BELIEVED: std::ops::RangeInclusive<i64> = -60_000..=200_000;

/// What is known of them: `mount`, its options and those of the file system; `device`, its name,
/// its queue and its array; `members`, the same of all devices below it; `array_activity`, the
/// arrays of md that are being rebuilt or checked; `drive_temperature` of the hottest drive.
/// Nothing of a file system without a device, such as one in memory or of a network.
///
/// A drive is asked for its temperature, which is a command to it: not to be called in a window.
pub fn behind(file: &impl AsFd) -> Vec<(&'static str, String)> {
    let Ok(told) = fstat(file) else { return Vec::new() };
    let is_disk = FileType::from_raw_mode(told.st_mode) == FileType::BlockDevice;
    let number = if is_disk { told.st_rdev } else { told.st_dev };
    of((major(number), minor(number)), Path::new("/"))
}

/// The same by the number of the device.
fn of((major, minor): (u32, u32), root: &Path) -> Vec<(&'static str, String)> {
    let number = format!("{major}:{minor}");
    let table = read_to_string(root.join("proc/self/mountinfo")).unwrap_or_default();
    let mount = table.lines().filter_map(Mount::read).find(|mount| mount.number == number);
    let mount = mount.map(|mount| format!("{}; {}", mount.options, mount.of_system));
    let all = Block::at(&root.join("sys/dev/block").join(&number)).map(Block::with_members);
    let all = all.unwrap_or_default();
    let device = all.first().map(|device| [last(&device.place), device.facts()].join(", "));
    [
        ("mount", mount),
        ("device", device),
        ("members", members(all.get(1..).unwrap_or_default())),
        ("array_activity", activity(&all)),
        ("drive_temperature", temperature(&all)),
    ]
    .into_iter()
    .filter_map(|(key, fact)| Some((key, fact?)))
    .collect()
}

/// A block device.
struct Block {
    /// Its directory in sysfs.
    place: PathBuf,
    /// That of the disk that it is a partition of; else the same.
    whole: PathBuf,
}

impl Block {
    /// The device to which a path in sysfs leads.
    fn at(path: &Path) -> Option<Self> {
        let place = path.canonicalize().ok()?;
        let whole = place.ancestors().take(2).find(|at| at.join("queue").is_dir())?.to_owned();
        Some(Self { place, whole })
    }

    /// It, and all devices that it lies on.
    fn with_members(self) -> Vec<Self> {
        let mut seen = BTreeSet::from([self.place.clone()]);
        let mut all = vec![self];
        let mut level = 0..1;
        for _ in 0..DEEPEST {
            let below = all[level.clone()].iter().flat_map(|one| inside(&one.whole.join("slaves")));
            let below: Vec<Self> = below.filter_map(|path| Self::at(&path)).collect();
            level.start = all.len();
            all.extend(below.into_iter().filter(|one| seen.insert(one.place.clone())));
            level.end = all.len();
        }
        all
    }

    fn text(&self, file: &str) -> Option<String> {
        let told = text(&self.place.join(file)).or_else(|| text(&self.whole.join(file)))?;
        match file {
            KIND => told.split('-').next().map(str::to_owned),
            FUA | ROTATIONAL => Some(if told == "0" { "no" } else { "yes" }.to_owned()),
            OPTIMAL => Some(told).filter(|told| told != "0"),
            START => {
                let number = |text: String| text.parse::<u64>().ok();
                let physical = self.text("queue/physical_block_size").and_then(number)?;
                Some((number(told)? * UNIT).checked_rem(physical)?.to_string())
            }
            _ => Some(chosen(&told).to_owned()),
        }
    }

    /// All that the table has of it.
    fn facts(&self) -> String {
        let fact = |(file, name, unit): (&str, &str, &str)| {
            Some(format!("{name} {}{unit}", self.text(file)?))
        };
        FACTS.into_iter().filter_map(fact).collect::<Vec<String>>().join(", ")
    }

    /// What its hottest sensor says of the drive as a whole, thousandths of a degree Celsius.
    fn temperature(&self) -> Option<i64> {
        let chips = SENSORS.iter().flat_map(|place| inside(&self.whole.join(place)));
        let chips = chips.filter(|chip| last(chip).starts_with("hwmon"));
        let told = chips.filter_map(|chip| text(&chip.join("temp1_input"))?.parse().ok());
        told.filter(|told| BELIEVED.contains(told)).max()
    }
}

/// The devices, those of which the same is known together; none of none.
fn members(all: &[Block]) -> Option<String> {
    let mut alike: Vec<(Vec<String>, String)> = Vec::new();
    for one in all {
        let facts = one.facts();
        match alike.iter_mut().find(|(_, known)| *known == facts) {
            Some((names, _)) => names.push(last(&one.place)),
            None => alike.push((vec![last(&one.place)], facts)),
        }
    }
    let said = |(names, facts): &(Vec<String>, String)| format!("{}: {facts}", names.join(", "));
    (!alike.is_empty()).then(|| alike.iter().map(said).collect::<Vec<_>>().join("; "))
}

/// The arrays that work beside what is asked of them, and at what; none where all are at rest.
fn activity(all: &[Block]) -> Option<String> {
    let of = |one: &Block| {
        let action = one.text(ACTION).filter(|action| !AT_REST.contains(&action.as_str()))?;
        Some(format!("{} {action}", last(&one.whole)))
    };
    let said: Vec<String> = all.iter().filter_map(of).collect();
    (!said.is_empty()).then(|| said.join(", "))
}

/// The temperature of the hottest drive, in whole degrees.
fn temperature(all: &[Block]) -> Option<String> {
    let hottest = all.iter().filter_map(Block::temperature).max()?;
    Some(format!("{} °C", (hottest + 500).div_euclid(1000)))
}

/// The word in brackets of a list of which one is chosen; all of another text.
fn chosen(text: &str) -> &str {
    text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or(text, |(word, _)| word)
}

#[cfg(test)]
mod tests {
    use super::super::tests::Machine;
    use super::*;

    #[test]
    fn a_partition_has_the_queue_of_its_disk_and_the_options_of_its_mount() {
        let machine = Machine::new();
        for (file, text) in [
            ("device/model", "EXAMPLE 1T\n"),
            ("queue/scheduler", "none [bfq] kyber\n"),
            ("queue/nr_requests", "64\n"),
            ("queue/read_ahead_kb", "128\n"),
            ("queue/write_cache", "write back\n"),
            ("queue/fua", "1\n"),
            ("queue/rotational", "0\n"),
            ("queue/logical_block_size", "512\n"),
            ("queue/physical_block_size", "4096\n"),
            ("queue/optimal_io_size", "0\n"),
            ("queue/discard_granularity", "4096\n"),
            ("alignment_offset", "0\n"),
            ("sdb1/alignment_offset", "512\n"),
            ("sdb1/start", "63\n"),
            ("device/hwmon/hwmon3/temp1_input", "41600\n"),
            ("device/hwmon/hwmon3/temp1_max", "70000\n"),
        ] {
            machine.set(&format!("sys/block/sdb/{file}"), text);
        }
        let lines = "20 1 8:18 / /home rw - ext4 /dev/sdb2 rw\n\
                     21 1 8:17 / / rw,relatime shared:1 - ext4 /dev/sdb1 rw,data=ordered\n";
        machine.set("proc/self/mountinfo", lines);
        let facts = "model EXAMPLE 1T, scheduler bfq, queue 64 requests, read-ahead 128 KiB, \
                     write cache write back, FUA yes, rotational no, logical block 512 B, \
                     physical block 4096 B, discard granularity 4096 B, alignment offset";
        let found = of((8, 17), &machine.0);
        let told: Vec<(&str, &str)> = found.iter().map(|(key, fact)| (*key, &**fact)).collect();
        assert_eq!(
            told,
            [
                ("mount", "rw,relatime; rw,data=ordered"),
                // 63 sectors of 512 B are 32,256 B: seven blocks of 4096 B and 3584 B.
                ("device", &format!("sdb1, {facts} 512 B, start in a physical block 3584 B")),
                ("drive_temperature", "42 °C"),
            ]
        );
        let whole = of((8, 16), &machine.0);
        assert_eq!(whole[0], ("device", format!("sdb, {facts} 0 B")));
        assert_eq!(of((0, 30), &machine.0), []);
    }

    /// A volume on an array of two drives of NVMe and one of SCSI, which another volume is on, too.
    fn array(machine: &Machine) {
        for (device, number) in [("dm-0", "253:0"), ("md0", "9:0")] {
            machine.set(&format!("sys/block/{device}/queue/rotational"), "0");
            machine.link(&format!("sys/dev/block/{number}"), &format!("../../block/{device}"));
        }
        for (device, degrees) in [("nvme0n1", "39500"), ("nvme1n1", "-273150")] {
            machine.set(&format!("sys/block/{device}/queue/scheduler"), "[none] mq-deadline");
            let sensor = format!("sys/block/{device}/device/hwmon1/temp1_input");
            machine.set(&sensor, degrees);
        }
        machine.set("sys/block/sdb/queue/scheduler", "[bfq]");
        machine.set("sys/block/sdb/device/hwmon/hwmon0/temp1_input", "33000");
        for (file, text) in [
            ("dm-0/dm/name", "data-home"),
            ("dm-0/dm/uuid", "LVM-w7Xy"),
            ("md0/md/level", "raid5\n"),
            ("md0/md/raid_disks", "3\n"),
            ("md0/md/degraded", "1\n"),
            ("md0/md/chunk_size", "65536\n"),
            ("md0/md/array_state", "active\n"),
            ("md0/md/sync_action", "recover\n"),
        ] {
            machine.set(&format!("sys/block/{file}"), text);
        }
        machine.link("sys/block/dm-0/slaves/md0", "../../md0");
        for member in ["nvme0n1", "nvme1n1"] {
            machine.link(&format!("sys/block/md0/slaves/{member}"), &format!("../../{member}"));
        }
        machine.link("sys/block/md0/slaves/sdb1", "../../sdb/sdb1");
    }

    #[test]
    fn a_volume_tells_its_array_and_the_array_its_members() {
        let machine = Machine::new();
        array(&machine);
        let found = of((253, 0), &machine.0);
        let told: Vec<(&str, &str)> = found.iter().map(|(key, fact)| (*key, &**fact)).collect();
        let members = "md0: level raid5, disks 3, missing 1, chunk 65536 B, state active, action \
                       recover, rotational no; nvme0n1, nvme1n1: scheduler none; sdb1: scheduler \
                       bfq";
        assert_eq!(
            told,
            [
                ("device", "dm-0, volume data-home, kind LVM, rotational no"),
                ("members", members),
                ("array_activity", "md0 recover"),
                // The other of NVMe shows what no drive can be.
                ("drive_temperature", "40 °C"),
            ]
        );
        machine.set("sys/block/md0/md/sync_action", "idle\n");
        let keys: Vec<&str> = of((9, 0), &machine.0).iter().map(|(key, _)| *key).collect();
        assert_eq!(keys, ["device", "members", "drive_temperature"]);
    }

    #[test]
    fn devices_that_lie_on_each_other_in_a_circle_end() {
        let machine = Machine::new();
        array(&machine);
        machine.link("sys/block/md0/slaves/dm-0", "../../dm-0");
        let found = of((9, 0), &machine.0);
        let members =
            found.iter().find(|(key, _)| *key == "members").map(|(_, fact)| fact.as_str());
        let begins = "dm-0: volume data-home, kind LVM, rotational no; nvme0n1, nvme1n1: ";
        assert!(members.is_some_and(|told| told.starts_with(begins)), "{members:?}");
        assert!(members.is_some_and(|told| !told.contains("md0")), "{members:?}");
    }
}
