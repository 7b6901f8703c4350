//! Knows how a disk is had that a person allows to be overwritten, in place of a file.
//!
//! Must not know whether it may be overwritten: `rig::block` judges that.

use super::super::spec::{SPEC, WHOLE_DISK};
use super::content::is_ours;
use super::filled;
use super::target::WORDS;
use crate::engine::alone::Order;
use crate::engine::file::{self, whole};
use desk::record::{LoadPoint, Settings, Value};
use rig::block;
use rig::metal::Unready;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Disks and their flash are laid out in no finer pieces.
const MIB: u64 = 1 << 20;

/// The disk that a trial asks for.
pub fn of(order: &Order) -> Option<PathBuf> {
    Some(order.word(WHOLE_DISK.name)).filter(|path| path.starts_with('/')).map(PathBuf::from)
}

/// The disk that a load point overwrites, and the bytes that are written to it before a window.
#[must_use]
pub fn overwrites(point: &LoadPoint) -> Option<(PathBuf, f64)> {
    let params = point.params.clone();
    let order = Order { params, settings: Settings::new(), seed: 0 };
    let is_disk = point.workload == SPEC.name;
    let device = of(&order).filter(|_| is_disk)?;
    Some((device, filled(&order)))
}

/// The part of a disk that is overwritten.
pub struct Part {
    /// The disk.
    pub file: File,
    /// Bytes before the part.
    pub begin: u64,
    /// What disk it is.
    pub told: Settings,
}

/// Opens a disk for its part that begins at so many percent of what the part leaves of it.
///
/// # Errors
/// The reasons against overwriting it; blocks that it does not take; fewer bytes than asked for.
pub fn open(path: &Path, wanted: &file::Wanted, percent: u64) -> Result<Part, Unready> {
    let opened = block::open(path, wanted.direct, &is_ours);
    let (file, device) = opened.map_err(|e| Unready::NotAvailable(e.to_string()))?;
    if wanted.direct {
        whole(wanted.block as u64, device.sector, WORDS)?;
    }
    if wanted.bytes > device.bytes {
        let (asked, has, shown) = (wanted.bytes, device.bytes, path.display());
        return Err(Unready::NotAvailable(format!(
            "file_size = {asked} B: {shown} has {has} B; take at most these"
        )));
    }
    let word = |text: &str| Value::Word(text.into());
    let told = [
        (WHOLE_DISK.name, path.to_string_lossy().into_owned()),
        ("model", device.model),
        ("serial", device.serial.unwrap_or_default()),
    ];
    let told = told.into_iter().filter(|(_, text)| !text.is_empty());
    Ok(Part {
        file,
        begin: begin(device.bytes - wanted.bytes, wanted.block as u64, percent),
        told: told.map(|(name, text)| (name.to_owned(), word(&text))).collect(),
    })
}

/// The byte at which a part begins, by the bytes that it leaves and those of a block: whole blocks,
/// and whole mebibytes where blocks are a power of two.
pub(super) fn begin(left: u64, block: u64, percent: u64) -> u64 {
    let grain = block * MIB.div_ceil(block);
    let begin = u128::from(left) * u128::from(percent.min(100)) / 100;
    u64::try_from(begin).unwrap_or(left) / grain * grain
}
