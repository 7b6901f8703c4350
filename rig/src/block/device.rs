//! Knows what the kernel tells of a block device.
//!
//! Must not know whether it may be written to.

use super::Refusal;
use std::fs::{canonicalize, read, read_dir, read_to_string};
use std::io;
use std::path::{Path, PathBuf};

/// Bytes of the unit in which sysfs tells sizes, whatever a device's sectors are.
const UNIT: u64 = 512;
/// Where a serial stands, in the order in which it is looked for: NVMe and MMC, virtio.
const SERIALS: [&str; 2] = ["device/serial", "serial"];
/// Names of a device that is no serial but that no other device has.
const NAMES: [&str; 3] = ["device/wwid", "wwid", "loop/backing_file"];
/// Bytes before the serial of the page that SCSI and ATA disks tell (SPC-4, 7.8.15).
const PAGE_HEAD: usize = 4;

/// A block device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Major and minor number.
    pub number: (u32, u32),
    /// Name in the kernel: `sdb`.
    pub name: String,
    /// Manufacturer's name for it; empty where it tells none.
    pub model: String,
    /// Serial, or another name that no other device has; for a loop device the file behind it.
    pub serial: Option<String>,
    /// Size, bytes.
    pub bytes: u64,
    /// Least that is read or written at once, bytes.
    pub sector: u64,
    /// Its directory in sysfs.
    pub(super) directory: PathBuf,
}

impl Device {
    /// The device of this number on the machine whose root directory is `root`.
    ///
    /// # Errors
    /// What sysfs does not tell.
    pub fn read(root: &Path, number: (u32, u32)) -> io::Result<Self> {
        let (major, minor) = number;
        let directory = canonicalize(root.join(format!("sys/dev/block/{major}:{minor}")))?;
        let name = directory.file_name().map(|name| name.to_string_lossy().into_owned());
        let text = |file: &str| text(&directory.join(file));
        let count = |file: &str| text(file).and_then(|text| text.parse::<u64>().ok());
        let size = count("size").ok_or(io::ErrorKind::InvalidData)?;
        Ok(Self {
            number,
            name: name.unwrap_or_default(),
            model: text("device/model").unwrap_or_default(),
            serial: serial(&directory),
            bytes: size * UNIT,
            sector: count("queue/logical_block_size").unwrap_or(UNIT),
            directory,
        })
    }

    /// Its partitions.
    pub(super) fn partitions(&self) -> Vec<PathBuf> {
        let is_partition = |path: &PathBuf| path.join("partition").exists();
        inside(&self.directory).into_iter().filter(is_partition).collect()
    }

    /// Refuses another serial than this.
    pub(super) fn judge_serial(&self, path: &Path, wanted: &str) -> Result<(), Refusal> {
        let why = match &self.serial {
            Some(serial) if serial == wanted => return Ok(()),
            Some(_) => format!("its serial is not {wanted:?}"),
            None => "it tells no serial, so that it cannot be told from others".into(),
        };
        Err(Refusal::Serial { device: path.into(), why })
    }
}

/// What is in a directory, sorted; nothing where it cannot be read.
pub(super) fn inside(directory: &Path) -> Vec<PathBuf> {
    let entries = read_dir(directory).into_iter().flatten().flatten();
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    all.sort();
    all
}

/// What a file says, trimmed; none where it says nothing.
pub(super) fn text(path: &Path) -> Option<String> {
    let text = read_to_string(path).ok()?.trim().to_owned();
    Some(text).filter(|text| !text.is_empty())
}

fn serial(directory: &Path) -> Option<String> {
    let told = |files: &[&str]| files.iter().find_map(|file| text(&directory.join(file)));
    told(&SERIALS).or_else(|| page_80(directory)).or_else(|| told(&NAMES))
}

/// The serial that a SCSI or an ATA disk tells.
fn page_80(directory: &Path) -> Option<String> {
    let page = read(directory.join("device/vpd_pg80")).ok()?;
    let serial = String::from_utf8_lossy(page.get(PAGE_HEAD..)?).trim().to_owned();
    Some(serial).filter(|serial| !serial.is_empty())
}
