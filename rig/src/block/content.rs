//! Knows what the first and the last bytes of a disk say that it holds.
//!
//! Every signature (of a partition table, a file system, swap, LUKS, LVM, md, zfs) stands there. So
//! bytes that are neither zero nor of an earlier run are refused, known or not.
//! Must not know what uses the disk.

use super::Refusal;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// Bytes that are looked at from either end.
const SIGNED: u64 = 4 << 20;
/// Bytes that are looked at together.
const SECTOR: usize = 512;
/// Signatures by the byte from the begin at which they stand, in the order in which they are told
/// (`wipefs -l`, the headers of each project).
const KNOWN: [(usize, &[u8], &str); 17] = [
    (0, b"LUKS\xba\xbe", "LUKS"),
    (24, b"LVM2 001", "LVM"),
    (512 + 24, b"LVM2 001", "LVM"),
    (0, &[0xFC, 0x4E, 0x2B, 0xA9], "md"),
    (4096, &[0xFC, 0x4E, 0x2B, 0xA9], "md"),
    (512, b"EFI PART", "a partition table (GPT)"),
    (1080, &[0x53, 0xEF], "ext2, ext3 or ext4"),
    (0, b"XFSB", "XFS"),
    (65536 + 64, b"_BHRfS_M", "btrfs"),
    (1024, &[0x10, 0x20, 0xF5, 0xF2], "F2FS"),
    (4086, b"SWAPSPACE2", "swap"),
    (4096 + 24, &[0xC6, 0x85, 0x73, 0xF6], "bcache"),
    (3, b"NTFS    ", "NTFS"),
    (82, b"FAT32", "FAT"),
    (0, b"bluestore block device", "Ceph"),
    (32769, b"CD001", "ISO 9660"),
    (510, &[0x55, 0xAA], "a partition table (MBR)"),
];

/// Refuses a disk of so many bytes that holds anything at its ends.
pub fn refuse(
    path: &Path,
    file: &File,
    bytes: u64,
    ours: &dyn Fn(&[u8]) -> bool,
) -> Result<(), Refusal> {
    for begin in [0, bytes.saturating_sub(SIGNED)] {
        let length = usize::try_from(SIGNED.min(bytes)).unwrap_or(0);
        let mut end = vec![0; length];
        file.read_exact_at(&mut end, begin)
            .map_err(|why| Refusal::Kernel { device: path.into(), why })?;
        if let Some(at) = foreign(&end, ours) {
            let known = if begin == 0 { known(&end) } else { None };
            let (what, at) = known.unwrap_or_else(|| ("unknown bytes", begin + at));
            return Err(Refusal::Holds { device: path.into(), what, at });
        }
    }
    Ok(())
}

/// Where the first sector stands that is neither of zeros nor of an earlier run.
pub(super) fn foreign(bytes: &[u8], ours: &dyn Fn(&[u8]) -> bool) -> Option<u64> {
    let is_foreign = |sector: &[u8]| sector.iter().any(|byte| *byte != 0) && !ours(sector);
    bytes.chunks(SECTOR).position(is_foreign).map(|sector| (sector * SECTOR) as u64)
}

/// The signature in the first bytes of a disk, and where it stands.
pub(super) fn known(bytes: &[u8]) -> Option<(&'static str, u64)> {
    let stands = |(at, magic, _): &&(usize, &[u8], &str)| {
        bytes.get(*at..).is_some_and(|rest| rest.starts_with(magic))
    };
    KNOWN.iter().find(stands).map(|(at, _, name)| (*name, *at as u64))
}
