//! Knows how a file of a load is made: without a name, and within the free space.
//!
//! Must not know its content, nor any file that it did not make.

use rig::lab::undo;
use rig::metal::Unready;
use rustix::fs::{
    AtFlags, FallocateFlags, Mode, OFlags, StatxFlags, fallocate, fcntl_getfl, fcntl_setfl,
    fstatfs, fstatvfs, mkdirat, open, openat, statx, unlinkat,
};
use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};
use std::fs::File;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};

/// Where a file goes when the directory of stend's own lies in memory.
const ELSEWHERE: &str = "/var/tmp";

/// File systems by the number that `statfs` tells (`linux/magic.h`).
const FILE_SYSTEMS: [(u64, &str); 11] = [
    (0xEF53, "ext4"),
    (0x5846_5342, "xfs"),
    (0x9123_683E, "btrfs"),
    (0x0102_1994, "tmpfs"),
    (0x8584_58F6, "ramfs"),
    (0x794C_7630, "overlay"),
    (0xF2F5_2010, "f2fs"),
    (0x2FC1_2FC1, "zfs"),
    (0x6969, "nfs"),
    (0xFF53_4D42, "cifs"),
    (0x6573_5546, "fuse"),
];

/// Those that lie in memory.
const IN_MEMORY: [&str; 2] = ["tmpfs", "ramfs"];

/// What a plan calls the parts of what is asked, so that a refusal names its remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words {
    /// The parameter of the directory.
    pub directory: &'static str,
    /// The parameter of the size of the file.
    pub size: &'static str,
    /// The parameter of the size of a block.
    pub block: &'static str,
    /// How a plan asks to go past the page cache.
    pub direct: &'static str,
    /// How it asks for the page cache.
    pub cached: &'static str,
}

/// What is asked of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Where it is made.
    pub directory: PathBuf,
    /// Its size, bytes: whole blocks.
    pub bytes: u64,
    /// Bytes before it; 0 but for a part of a disk.
    pub begin: u64,
    /// Size of a block, bytes: whole sectors.
    pub block: usize,
    /// Whether it is read and written past the page cache.
    pub direct: bool,
    /// The words of a refusal.
    pub words: Words,
}

/// Free space of a file system, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// What we may write.
    pub free: u64,
    /// That, and what is in use.
    pub all: u64,
}

/// Where a word puts the file: a directory, or with `state` [`state`].
#[must_use]
pub fn directory(word: &str) -> PathBuf {
    if word == "state" { state() } else { PathBuf::from(word) }
}

/// Where the word `state` puts the file: the directory in which stend keeps its own, or the nearest
/// above it that is there; `/var/tmp` where that lies in memory.
fn state() -> PathBuf {
    let own = undo::directory().ok();
    let there = own.as_deref().and_then(|own| own.ancestors().find(|path| path.is_dir()));
    let on_disk = there.filter(|path| {
        open(*path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
            .is_ok_and(|file| !IN_MEMORY.contains(&file_system(&file).as_str()))
    });
    on_disk.unwrap_or(Path::new(ELSEWHERE)).to_owned()
}

/// Makes the file, without content. It has no name, so that nothing of it stays when its last
/// descriptor is closed, however the process ends.
///
/// # Errors
/// A directory that is not there or not ours to write; a file system that takes no such blocks past
/// the page cache; too little free space.
pub fn make(wanted: &Wanted) -> Result<File, Unready> {
    let shown = wanted.directory.display();
    let lacks = |e: Errno| {
        Unready::NotAvailable(format!(
            "{} = \"{shown}\": no file can be made there: {e}; name a directory of a disk that \
             this user may write to",
            wanted.words.directory
        ))
    };
    let place = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = open(&wanted.directory, place, Mode::empty()).map_err(lacks)?;
    let path = &wanted.directory;
    let opened = match unnamed(path, wanted.direct) {
        // What the file system or an old kernel says that has no such files (man 2 open).
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT) => named(&directory, wanted.direct),
        other => other,
    };
    let file = match opened {
        Err(Errno::INVAL) if wanted.direct => return Err(no_direct(wanted)),
        other => other.map_err(lacks)?,
    };
    aligned(&file, wanted)?;
    room(space(&file).map_err(lacks)?, wanted)?;
    // Times of access are work that no disk does; who does not own the file has to keep them.
    let _ = fcntl_getfl(&file).and_then(|now| fcntl_setfl(&file, now | OFlags::NOATIME));
    Ok(File::from(file))
}

const FLAGS: OFlags = OFlags::RDWR.union(OFlags::CLOEXEC);

fn flags(direct: bool) -> OFlags {
    if direct { FLAGS | OFlags::DIRECT } else { FLAGS }
}

/// A file that never has a name.
fn unnamed(directory: &Path, direct: bool) -> Result<OwnedFd, Errno> {
    open(directory, flags(direct) | OFlags::TMPFILE, Mode::RUSR | Mode::WUSR)
}

/// A file in a directory that is made for it; the names of both are gone at once.
///
/// # Errors
/// What the kernel says.
pub fn named(directory: &OwnedFd, direct: bool) -> Result<OwnedFd, Errno> {
    let mut random = [0; 8];
    getrandom(&mut random, GetRandomFlags::empty())?;
    let name = format!("stend-disk-{:016x}", u64::from_le_bytes(random));
    mkdirat(directory, &name, Mode::RWXU)?;
    let made = inside(directory, &name, direct);
    match (made, unlinkat(directory, &name, AtFlags::REMOVEDIR)) {
        // A file system of a network keeps a name of an open file, and the directory with it.
        (Ok(file), Err(e)) => {
            drop(file);
            let _ = unlinkat(directory, &name, AtFlags::REMOVEDIR);
            Err(e)
        }
        (made, _) => made,
    }
}

fn inside(directory: &OwnedFd, name: &str, direct: bool) -> Result<OwnedFd, Errno> {
    let place = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let own = openat(directory, name, place, Mode::empty())?;
    let new = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
    let made = openat(&own, "blocks", flags(direct) | new, Mode::RUSR | Mode::WUSR);
    // A file system may refuse the flag only after it made the file.
    let gone = unlinkat(&own, "blocks", AtFlags::empty());
    made.and_then(|file| gone.map(|()| file))
}

fn no_direct(wanted: &Wanted) -> Unready {
    let Words { direct, cached, .. } = wanted.words;
    Unready::NotAvailable(format!(
        "{direct}: the file system of {} has no O_DIRECT; take {cached}, or another directory",
        wanted.directory.display()
    ))
}

/// Whether the file takes blocks of this size past the page cache, where the kernel tells.
fn aligned(file: &OwnedFd, wanted: &Wanted) -> Result<(), Unready> {
    let told = statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN);
    let told = told.ok().filter(|told| told.stx_mask & StatxFlags::DIOALIGN.bits() != 0);
    match told {
        Some(told) if wanted.direct && told.stx_dio_offset_align == 0 => Err(no_direct(wanted)),
        Some(told) if wanted.direct => {
            whole(wanted.block as u64, told.stx_dio_offset_align.into(), wanted.words)
        }
        _ => Ok(()),
    }
}

/// Whether blocks are whole sectors of a disk.
///
/// # Errors
/// They are not, with what the disk takes.
pub fn whole(block: u64, sector: u64, words: Words) -> Result<(), Unready> {
    if block.is_multiple_of(sector) {
        return Ok(());
    }
    let Words { block: name, cached, .. } = words;
    Err(Unready::NotAvailable(format!(
        "{name} = {block} B, or a pattern with such sizes or places: this disk takes multiples of \
         {sector} B past the page cache; take these, or {cached}"
    )))
}

/// Free space, and all that programs of this user may use, as `df` tells it.
fn space(file: &OwnedFd) -> Result<Space, Errno> {
    let told = fstatvfs(file.as_fd())?;
    let used = told.f_blocks.saturating_sub(told.f_bfree);
    let bytes = |blocks: u64| blocks.saturating_mul(told.f_frsize);
    Ok(Space { free: bytes(told.f_bavail), all: bytes(used.saturating_add(told.f_bavail)) })
}

/// Free space that is kept of a large file system.
const FLOOR_MOST: u64 = 4 << 30;

/// Whether a tenth of the file system, or 4 GiB of a large one, stays free beside the file.
///
/// # Errors
/// It does not, with what may be taken.
pub fn room(space: Space, wanted: &Wanted) -> Result<(), Unready> {
    let floor = (space.all / 10).min(FLOOR_MOST);
    let most = space.free.saturating_sub(floor);
    if wanted.bytes <= most {
        return Ok(());
    }
    let (bytes, Space { free, all }) = (wanted.bytes, space);
    let (shown, name) = (wanted.directory.display(), wanted.words.size);
    Err(Unready::NotAvailable(format!(
        "{name} = {bytes} B: of {all} B in {shown} {free} B are free, and {floor} B stay \
         so; take at most {most} B, free space, or name another directory"
    )))
}

/// Name of the file system of a file; its number where it is not known here.
pub fn file_system(file: &impl std::os::fd::AsFd) -> String {
    let Ok(told) = fstatfs(file) else { return "unknown".into() };
    #[expect(clippy::cast_sign_loss, reason = "a number of 32 bits, whatever its type")]
    let number = told.f_type as u64 & 0xFFFF_FFFF;
    let known = FILE_SYSTEMS.iter().find(|(magic, _)| *magic == number);
    known.map_or_else(|| format!("{number:#x}"), |(_, name)| (*name).into())
}

/// Gives bytes of a file or disk back from a place on: they are zeros from then on.
///
/// # Errors
/// What the kernel says.
pub fn trim(file: &File, (offset, bytes): (u64, u64)) -> Result<(), Errno> {
    fallocate(file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, offset, bytes)
}
