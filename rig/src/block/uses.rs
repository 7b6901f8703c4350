//! Knows what uses a disk: what is mounted, swapped to, joined or looped on it or its partitions.
//!
//! Must not know what the disk holds.

use super::device::{inside, text};
use super::mount::Mount;
use super::{Device, Refusal};
use rustix::fs::{FileType, major, minor, stat};
use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// Mounts as this process sees them, and as the first process does.
const MOUNTS: [&str; 2] = ["proc/self/mountinfo", "proc/1/mountinfo"];

/// A disk or a partition of it.
struct Member {
    /// Name in the kernel.
    name: String,
    /// `major:minor`.
    number: String,
    directory: PathBuf,
}

/// Refuses a disk that something on the machine of root directory `root` uses.
pub fn refuse(root: &Path, path: &Path, device: &Device) -> Result<(), Refusal> {
    refuse_kind(path, device)?;
    let members: Vec<Member> = std::iter::once(device.directory.clone())
        .chain(device.partitions())
        .filter_map(Member::read)
        .collect();
    let used = mounted(root, &members)
        .or_else(|| swapped(root, &members))
        .or_else(|| held(&members))
        .or_else(|| looped(root, &members));
    match used {
        Some(why) => Err(Refusal::InUse { device: path.into(), why }),
        None => Ok(()),
    }
}

/// Refuses what is no disk but a part of one, or made of others.
fn refuse_kind(path: &Path, device: &Device) -> Result<(), Refusal> {
    let has = |name: &str| device.directory.join(name).exists();
    let slaves = inside(&device.directory.join("slaves"));
    let why = if has("partition") {
        "it is a partition".to_owned()
    } else if has("dm") {
        "it is a volume of the device mapper (LVM, LUKS, multipath)".into()
    } else if has("md") {
        "it is an array of md".into()
    } else if let Some(below) = slaves.first() {
        format!("it lies on {}", last(below))
    } else if text(&device.directory.join("ro")).is_some_and(|ro| ro != "0") {
        "it is read-only".into()
    } else {
        return Ok(());
    };
    Err(Refusal::NoDisk { device: path.into(), why })
}

impl Member {
    fn read(directory: PathBuf) -> Option<Self> {
        let number = text(&directory.join("dev"))?;
        Some(Self { name: last(&directory), number, directory })
    }

    /// Whether a path, of a source of a mount or of a swap, leads to it.
    fn is_at(&self, path: &str) -> bool {
        let by_number = stat(path).is_ok_and(|told| {
            let number = format!("{}:{}", major(told.st_rdev), minor(told.st_rdev));
            FileType::from_raw_mode(told.st_mode) == FileType::BlockDevice && number == self.number
        });
        by_number || path.strip_prefix("/dev/").is_some_and(|name| name == self.name)
    }
}

/// The last name of a path.
pub(super) fn last(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn mounted(root: &Path, members: &[Member]) -> Option<String> {
    let tables: Vec<String> =
        MOUNTS.iter().filter_map(|table| read_to_string(root.join(table)).ok()).collect();
    tables.iter().flat_map(|table| table.lines()).filter_map(Mount::read).find_map(|mount| {
        // A file system of several devices has a number that is none of theirs.
        let is_on = |member: &&Member| member.number == mount.number || member.is_at(mount.source);
        let on = members.iter().find(is_on)?;
        let what = if mount.place == "/" { "the root file system" } else { "a file system" };
        Some(format!("{what} on {} is mounted at {}", on.name, mount.place))
    })
}

fn swapped(root: &Path, members: &[Member]) -> Option<String> {
    let table = read_to_string(root.join("proc/swaps")).ok()?;
    table.lines().skip(1).find_map(|line| {
        let path = line.split_whitespace().next()?;
        let on = members.iter().find(|member| member.is_at(path))?;
        Some(format!("the machine swaps to {}", on.name))
    })
}

/// What the kernel has made of them: md, dm, bcache.
fn held(members: &[Member]) -> Option<String> {
    members.iter().find_map(|member| {
        let holder = inside(&member.directory.join("holders")).into_iter().next()?;
        let name = text(&holder.join("dm/name")).map(|name| format!(" ({name})"));
        Some(format!("{} is part of {}{}", member.name, last(&holder), name.unwrap_or_default()))
    })
}

fn looped(root: &Path, members: &[Member]) -> Option<String> {
    inside(&root.join("sys/block")).into_iter().find_map(|device| {
        let behind = text(&device.join("loop/backing_file"))?;
        let on = members.iter().find(|member| member.is_at(&behind))?;
        Some(format!("{} lies on {}", last(&device), on.name))
    })
}
