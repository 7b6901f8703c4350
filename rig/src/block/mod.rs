//! Knows which block devices may be overwritten: those that a person names with their serial, that
//! hold nothing, and that nothing uses.
//!
//! Gives: [`allow`], [`free`], [`open`]; [`behind`], the device and the mount of a file.
//! Never: what is written to them.
//! Start reading at [`free`].

mod behind;
mod content;
mod device;
mod mount;
#[cfg(test)]
mod tests;
mod uses;

pub use behind::behind;
pub use device::Device;

use rustix::fs::{FileType, Mode, OFlags, fstat, major, minor, open as open_file, stat};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use thiserror::Error;

/// The environment variable by which a conductor passes what was allowed to its hosts.
const VARIABLE: &str = "STEND_DESTROY";

static ALLOWED: OnceLock<Vec<Consent>> = OnceLock::new();

/// A device that a person allows to be overwritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consent {
    /// Its path.
    pub device: PathBuf,
    /// The serial that this device must have.
    pub serial: String,
}

/// Why a device is not overwritten.
#[derive(Debug, Error)]
pub enum Refusal {
    /// The command does not name it.
    #[error(
        "{device}: all its content would be lost, and the command does not name it; \
         add --destroy {device} --serial SERIAL, with the serial that is printed on the disk"
    )]
    NotAllowed {
        /// Which.
        device: PathBuf,
    },
    /// It is no block device, or is not there.
    #[error("{device}: {why}; name a whole disk, such as /dev/sdb")]
    NoDisk {
        /// Which.
        device: PathBuf,
        /// What it is.
        why: String,
    },
    /// Its serial is another, or it has none.
    #[error("{device}: {why}; nothing was written")]
    Serial {
        /// Which.
        device: PathBuf,
        /// What differs.
        why: String,
    },
    /// Something uses it.
    #[error("{device} is in use: {why}; nothing was written")]
    InUse {
        /// Which.
        device: PathBuf,
        /// What.
        why: String,
    },
    /// It holds something.
    #[error(
        "{device} holds data: {what} at byte {at}; nothing was written. If none of it is wanted, \
         write zeros over its first and last 4 MiB (blkdiscard -z, or dd)"
    )]
    Holds {
        /// Which.
        device: PathBuf,
        /// What it looks like.
        what: &'static str,
        /// Where it begins.
        at: u64,
    },
    /// The kernel refuses.
    #[error("{device}: {why}")]
    Kernel {
        /// Which.
        device: PathBuf,
        /// What it says.
        why: io::Error,
    },
}

/// Allows these devices for this process and the hosts that it starts.
pub fn allow(devices: Vec<Consent>) {
    // What was allowed first holds.
    let _ = ALLOWED.set(devices);
}

/// What the parent process passed: a path, a tab and a serial a line.
fn told() -> Vec<Consent> {
    let told = std::env::var(VARIABLE).unwrap_or_default();
    let consent = |line: &str| {
        let (device, serial) = line.split_once('\t')?;
        Some(Consent { device: device.into(), serial: serial.into() })
    };
    told.lines().filter_map(consent).collect()
}

/// Passes what was allowed to a process that is about to be started.
pub(crate) fn pass_on(command: &mut Command) -> &mut Command {
    let line = |consent: &Consent| format!("{}\t{}", consent.device.display(), consent.serial);
    let all: Vec<String> = ALLOWED.get_or_init(told).iter().map(line).collect();
    command.env(VARIABLE, all.join("\n"))
}

/// What was looked at of a device that may be overwritten.
#[derive(Debug)]
pub struct Free {
    /// What it is.
    pub device: Device,
    /// Its path without links.
    path: PathBuf,
}

/// Whether a device may be overwritten. It is read, never written. A sector of what an earlier
/// run wrote is told by `ours`, from its bytes.
///
/// # Errors
/// The first reason against it.
pub fn free(path: &Path, ours: &dyn Fn(&[u8]) -> bool) -> Result<Free, Refusal> {
    let consent = ALLOWED.get_or_init(told).iter().find(|consent| consent.device == path);
    let consent = consent.ok_or_else(|| Refusal::NotAllowed { device: path.into() })?;
    let real = path.canonicalize().map_err(|e| no_disk(path, &e))?;
    let number = number_of(&real).map_err(|why| no_disk(path, &why))?;
    let device = Device::read(Path::new("/"), number).map_err(|e| no_disk(path, &e))?;
    device.judge_serial(path, &consent.serial)?;
    uses::refuse(Path::new("/"), path, &device)?;
    let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC;
    let file = claimed(path, &real, flags, &device)?;
    content::refuse(path, &file, device.bytes, ours)?;
    Ok(Free { device, path: real })
}

/// Opens a device that may be overwritten, for this process alone.
///
/// # Errors
/// What [`free`] and the kernel have against it.
pub fn open(
    path: &Path,
    direct: bool,
    ours: &dyn Fn(&[u8]) -> bool,
) -> Result<(File, Device), Refusal> {
    let free = free(path, ours)?;
    let flags = OFlags::RDWR | OFlags::EXCL | OFlags::CLOEXEC;
    let flags = if direct { flags | OFlags::DIRECT } else { flags };
    let file = claimed(path, &free.path, flags, &free.device)?;
    Ok((file, free.device))
}

fn no_disk(path: &Path, why: &dyn std::fmt::Display) -> Refusal {
    Refusal::NoDisk { device: path.into(), why: why.to_string() }
}

/// The number of a block device.
fn number_of(path: &Path) -> Result<(u32, u32), String> {
    let told = stat(path).map_err(|e| e.to_string())?;
    match FileType::from_raw_mode(told.st_mode) {
        FileType::BlockDevice => Ok((major(told.st_rdev), minor(told.st_rdev))),
        _ => Err("it is no block device".into()),
    }
}

/// The device behind a path, claimed so that nothing mounts or joins it meanwhile (`O_EXCL`, man 2
/// open).
fn claimed(path: &Path, real: &Path, flags: OFlags, device: &Device) -> Result<File, Refusal> {
    let shown = || path.to_owned();
    let file = open_file(real, flags, Mode::empty()).map_err(|e| match e {
        Errno::BUSY => Refusal::InUse { device: shown(), why: "the kernel holds it".into() },
        other => Refusal::Kernel { device: shown(), why: other.into() },
    })?;
    let told = fstat(&file).map_err(|e| Refusal::Kernel { device: shown(), why: e.into() })?;
    if (major(told.st_rdev), minor(told.st_rdev)) != device.number {
        return Err(no_disk(path, &"another device has this path now"));
    }
    Ok(File::from(file))
}
