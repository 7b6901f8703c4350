//! Knows the device and the mount behind a file, or a whole disk, as the kernel tells of them.
//!
//! Must not know what is read and written.

use super::device::text;
use super::mount::Mount;
use rustix::fs::{FileType, fstat, major, minor};
use std::fs::read_to_string;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// Files of a queue in `/sys`, and what they are called in a record.
const QUEUE: [(&str, &str); 7] = [
    ("scheduler", "scheduler"),
    ("read_ahead_kb", "read-ahead KiB"),
    ("write_cache", "write cache"),
    ("fua", "FUA"),
    ("rotational", "rotational"),
    ("logical_block_size", "logical block B"),
    ("physical_block_size", "physical block B"),
];

/// What is known of them: `mount`, its options and those of the file system; `device`, its name
/// and its queue. Nothing of a file system without a device, such as one in memory or of a network.
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
    let mount = mount.map(|mount| ("mount", format!("{}; {}", mount.options, mount.of_system)));
    let device = queue(&root.join("sys/dev/block").join(&number));
    mount.into_iter().chain(device.map(|device| ("device", device))).collect()
}

/// The name of a device and its queue; of a partition that of the whole disk.
fn queue(link: &Path) -> Option<String> {
    let place = link.canonicalize().ok()?;
    let whole = [Some(place.as_path()), place.parent()].into_iter().flatten();
    let whole: PathBuf = whole.map(Path::to_owned).find(|at| at.join("queue").is_dir())?;
    let fact = |(file, name): (&str, &str)| {
        Some(format!("{name} {}", chosen(&text(&whole.join("queue").join(file))?)))
    };
    let name = place.file_name()?.to_string_lossy().into_owned();
    let all: Vec<String> = [name].into_iter().chain(QUEUE.into_iter().filter_map(fact)).collect();
    Some(all.join(", "))
}

/// The word in brackets of a list of which one is chosen; all of another text.
fn chosen(text: &str) -> &str {
    text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or(text, |(word, _)| word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, remove_dir_all, write};
    use std::os::unix::fs::symlink;

    #[test]
    fn a_partition_has_the_queue_of_its_disk_and_the_options_of_its_mount() {
        let root = PathBuf::from(format!("/var/tmp/stend-test-device-{}", std::process::id()));
        let disk = root.join("sys/devices/sda");
        for directory in ["queue", "sda1"] {
            create_dir_all(disk.join(directory)).unwrap();
        }
        for directory in ["sys/dev/block", "proc/self"] {
            create_dir_all(root.join(directory)).unwrap();
        }
        symlink(disk.join("sda1"), root.join("sys/dev/block/8:1")).unwrap();
        write(disk.join("queue/scheduler"), "none [bfq] kyber\n").unwrap();
        write(disk.join("queue/write_cache"), "write back\n").unwrap();
        let lines = "20 1 8:2 / /home rw - ext4 /dev/sda2 rw\n\
                     21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,data=ordered\n";
        write(root.join("proc/self/mountinfo"), lines).unwrap();
        let found = of((8, 1), &root);
        let device = "sda1, scheduler bfq, write cache write back".to_owned();
        let mount = "rw,relatime; rw,data=ordered".to_owned();
        assert_eq!(found, [("mount", mount), ("device", device)]);
        assert_eq!(of((0, 30), &root), []);
        remove_dir_all(root).unwrap();
    }
}
