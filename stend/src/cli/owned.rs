//! Knows in which directories results may be written, and reaches them by descriptor.
//!
//! A path is walked one name at a time, no name is looked up twice, and a link is followed only if
//! nobody else could have put it there. Must not know what is written.

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, PROC_SUPER_MAGIC, Stat, fstat, fstatfs, mkdirat,
    openat, readlinkat, renameat, statat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::{getegid, geteuid};
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path, PathBuf};
use thiserror::Error;

/// Links that a path may lead through, as in the kernel.
const LINKS: u32 = 40;
/// Files left by killed processes of our number that are passed over.
const LEFT_OVER: u32 = 1000;
/// How a place on a path is held: named by nothing, and neither read nor written.
const HELD: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Why results are not written there; the remedy is the caller's.
#[derive(Debug, Error)]
pub enum Refusal {
    /// A directory of another user.
    #[error(
        "{} belongs to uid {owner}, who could exchange what uid {} writes there",
        path.display(),
        geteuid().as_raw()
    )]
    Foreign {
        /// Which.
        path: PathBuf,
        /// Whose.
        owner: u32,
    },
    /// A directory into which others may write.
    #[error(
        "{} (mode {:04o}, uid {owner}, gid {group}) is writable by other users, who could exchange \
         what is written there; take that right away (chmod go-w)",
        path.display(), mode & 0o7777
    )]
    Open {
        /// Which.
        path: PathBuf,
        /// Its rights.
        mode: u32,
        /// Whose.
        owner: u32,
        /// Of which group.
        group: u32,
    },
    /// A link that another user has put there.
    #[error("{} is a link of uid {owner}, which is not followed", path.display())]
    Link {
        /// Which.
        path: PathBuf,
        /// Whose.
        owner: u32,
    },
    /// A pipe, a socket or a device that another user has put there.
    #[error("{} is neither a file nor a directory, and belongs to uid {owner}", path.display())]
    Special {
        /// Which.
        path: PathBuf,
        /// Whose.
        owner: u32,
    },
    /// A directory that was there before us, below one of another user.
    #[error("{} may have been exchanged: {beyond}", path.display())]
    Beneath {
        /// Which.
        path: PathBuf,
        /// What is wrong above it.
        beyond: Box<Refusal>,
    },
}

impl From<Refusal> for io::Error {
    fn from(refusal: Refusal) -> Self {
        Self::new(io::ErrorKind::PermissionDenied, refusal)
    }
}

/// A directory in which this process writes, whatever becomes of its path.
#[derive(Debug)]
pub struct Directory {
    held: OwnedFd,
    path: PathBuf,
}

impl std::ops::Deref for Directory {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}

impl Directory {
    /// The directory of this path, made where it is not there. It belongs to this user or to root
    /// and nobody else may write to it, or it is a sticky one such as `/tmp`. Where another user
    /// could exchange a directory above it, it is new, empty, or holds one of the files `ours`.
    ///
    /// # Errors
    /// A [`Refusal`], and whatever the kernel refuses.
    pub fn own(path: &Path, ours: &[&str]) -> io::Result<Self> {
        let mut walk = Walk::begin(path)?;
        walk.whole(true)?;
        let directory = Self { held: walk.at, path: path.into() };
        if walk.fresh {
            return Ok(directory);
        }
        if let Some(refusal) = beyond_us(&fstat(&directory.held)?, path) {
            return Err(refusal.into());
        }
        match walk.doubt {
            Some(beyond) if !directory.is_of(ours)? => {
                Err(Refusal::Beneath { path: path.into(), beyond: beyond.into() }.into())
            }
            _ => Ok(directory),
        }
    }

    /// Whether it is empty or holds a file of ours by one of these names.
    fn is_of(&self, names: &[&str]) -> io::Result<bool> {
        let ours = |name: &&str| {
            let found = statat(&self.held, *name, AtFlags::SYMLINK_NOFOLLOW);
            found.is_ok_and(|stat| kind(&stat) == FileType::RegularFile && trusted(&stat))
        };
        Ok(is_empty(&self.held)? || names.iter().any(ours))
    }

    /// Writes a file of this name whole or not at all; what was there by the name is replaced and
    /// not written through.
    ///
    /// # Errors
    /// Whatever the kernel refuses.
    pub fn write(&self, name: &OsStr, bytes: &[u8]) -> io::Result<()> {
        let (half, mut file) = self.part()?;
        let written = file
            .write_all(bytes)
            .and_then(|()| file.sync_all())
            .and_then(|()| Ok(renameat(&self.held, &half, &self.held, name)?));
        match written {
            // Of a directory that cannot be opened or synced, the new name is as safe as it gets.
            Ok(()) => drop(self.opened().map(rustix::fs::fsync)),
            // The error that is told is the first one.
            Err(_) => drop(unlinkat(&self.held, &half, AtFlags::empty())),
        }
        written
    }

    /// Whether files can be written here; leaves none.
    ///
    /// # Errors
    /// Whatever the kernel refuses.
    pub fn try_out(&self) -> io::Result<()> {
        let (half, _) = self.part()?;
        Ok(unlinkat(&self.held, &half, AtFlags::empty())?)
    }

    /// A new file, under a name that nobody else has.
    fn part(&self) -> io::Result<(String, File)> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let mut number = 0_u32;
        loop {
            let name = format!(".stend-{}-{number}.part", std::process::id());
            let mode = Mode::from_raw_mode(0o666);
            match openat(&self.held, &name, flags | OFlags::CLOEXEC, mode) {
                Err(Errno::EXIST) if number < LEFT_OVER => number += 1,
                made => return Ok((name, made?.into())),
            }
        }
    }

    fn opened(&self) -> rustix::io::Result<OwnedFd> {
        open_directory(&self.held)
    }
}

/// The place of a file that a person named.
#[derive(Debug)]
pub enum Target {
    /// A name in a directory, where a file is replaced.
    Named(Directory, OsString),
    /// What is no regular file stays what it is and is written into.
    Special(OwnedFd),
}

impl Target {
    /// The place that this path names; `making` its directories. The directory may be another
    /// user's, for the person named it: links of others are not followed, and no file is replaced
    /// in a directory of ours that may have been exchanged.
    ///
    /// # Errors
    /// A [`Refusal`], and whatever the kernel refuses.
    pub fn find(path: &Path, making: bool) -> io::Result<Self> {
        let mut walk = Walk::begin(path)?;
        let name = walk.reach_last(making)?;
        let directory = |at| Directory { held: at, path: path.into() };
        let (Last::Name(name), found) = name else {
            return match name {
                (Last::Magic(open), _) => Ok(Self::Special(open)),
                _ => Err(Errno::ISDIR.into()),
            };
        };
        let Some(found) = found else { return Ok(Self::Named(directory(walk.at), name)) };
        let stat = fstat(&found)?;
        match kind(&stat) {
            FileType::RegularFile => match walk.doubt {
                Some(beyond) if beyond_us(&fstat(&walk.at)?, path).is_none() => {
                    Err(Refusal::Beneath { path: path.into(), beyond: beyond.into() }.into())
                }
                _ => Ok(Self::Named(directory(walk.at), name)),
            },
            FileType::Directory => Err(Errno::ISDIR.into()),
            FileType::CharacterDevice if !walk.is_open()? => Ok(Self::Special(found)),
            _ if trusted(&stat) && !walk.is_open()? => Ok(Self::Special(found)),
            _ => Err(Refusal::Special { path: path.into(), owner: stat.st_uid }.into()),
        }
    }

    /// Writes to it.
    ///
    /// # Errors
    /// Whatever the kernel refuses.
    pub fn write(self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Named(directory, name) => directory.write(&name, bytes),
            Self::Special(held) => {
                // The very thing that was looked at, whatever now has its name.
                let number = std::os::fd::AsRawFd::as_raw_fd(&held);
                let flags = OFlags::WRONLY | OFlags::TRUNC | OFlags::CLOEXEC;
                let open = openat(CWD, format!("/proc/self/fd/{number}"), flags, Mode::empty())?;
                File::from(open).write_all(bytes)
            }
        }
    }

    /// Whether it can be written to; leaves nothing.
    ///
    /// # Errors
    /// Whatever the kernel refuses.
    pub fn try_out(&self) -> io::Result<()> {
        match self {
            Self::Named(directory, _) => directory.try_out(),
            Self::Special(_) => Ok(()),
        }
    }
}

/// What the last name of a path is.
enum Last {
    /// A name, of a file or of nothing.
    Name(OsString),
    /// What a link of `/proc` leads to, such as our own standard output.
    Magic(OwnedFd),
    /// No name: the path ends in a directory.
    None,
}

/// A walk along a path.
struct Walk {
    at: OwnedFd,
    /// The path as far as it was walked.
    shown: PathBuf,
    left: VecDeque<OsString>,
    links: u32,
    /// The first directory passed whose entries another user could exchange; none behind a
    /// directory that we have made.
    doubt: Option<Refusal>,
    /// Whether we have made the directory where it is.
    fresh: bool,
}

impl Walk {
    /// At the root or where this process is: a directory that nobody can exchange.
    fn begin(path: &Path) -> io::Result<Self> {
        let root = if path.is_absolute() { "/" } else { "." };
        Ok(Self {
            at: openat(CWD, root, HELD | OFlags::DIRECTORY, Mode::empty())?,
            shown: if path.is_absolute() { root.into() } else { PathBuf::new() },
            left: names(path),
            links: LINKS,
            doubt: None,
            fresh: false,
        })
    }

    /// To the end of the path, which is a directory.
    fn whole(&mut self, making: bool) -> io::Result<()> {
        while let Some(name) = self.left.pop_front() {
            self.step(&name, making)?;
        }
        Ok(())
    }

    /// To the directory of the last name, and what is there by that name.
    fn reach_last(&mut self, making: bool) -> io::Result<(Last, Option<OwnedFd>)> {
        while let Some(name) = self.left.pop_front() {
            if !self.left.is_empty() || name == ".." {
                self.step(&name, making)?;
                continue;
            }
            let found = match openat(&self.at, &name, HELD, Mode::empty()) {
                Err(Errno::NOENT) => return Ok((Last::Name(name), None)),
                found => found?,
            };
            match kind(&fstat(&found)?) {
                FileType::Symlink => {
                    if let Some(magic) = self.follow(&name, &found)? {
                        return Ok((Last::Magic(magic), None));
                    }
                }
                _ => {
                    self.pass()?;
                    return Ok((Last::Name(name), Some(found)));
                }
            }
        }
        Ok((Last::None, None))
    }

    /// Into the next directory.
    fn step(&mut self, name: &OsStr, making: bool) -> io::Result<()> {
        match openat(&self.at, name, HELD, Mode::empty()) {
            Err(Errno::NOENT) if making => self.make(name),
            found => {
                let found = found?;
                match kind(&fstat(&found)?) {
                    FileType::Directory => {
                        self.pass()?;
                        self.enter(found, name);
                        Ok(())
                    }
                    FileType::Symlink => match self.follow(name, &found)? {
                        Some(magic) if kind(&fstat(&magic)?) == FileType::Directory => {
                            self.enter(magic, name);
                            Ok(())
                        }
                        Some(_) => Err(Errno::NOTDIR.into()),
                        None => Ok(()),
                    },
                    _ => Err(Errno::NOTDIR.into()),
                }
            }
        }
    }

    fn enter(&mut self, found: OwnedFd, name: &OsStr) {
        (self.at, self.fresh) = (found, false);
        self.shown.push(name);
    }

    /// Makes a directory and enters it; what another user has put in its place is not entered.
    fn make(&mut self, name: &OsStr) -> io::Result<()> {
        match mkdirat(&self.at, name, Mode::from_raw_mode(0o755)) {
            // Somebody was faster; it is looked at as any that was there.
            Err(Errno::EXIST) => return self.step(name, false),
            made => made?,
        }
        let made = openat(&self.at, name, HELD | OFlags::DIRECTORY, Mode::empty())?;
        let path = self.shown.join(name);
        let stat = fstat(&made)?;
        if stat.st_uid != geteuid().as_raw() {
            return Err(Refusal::Foreign { path, owner: stat.st_uid }.into());
        }
        if !is_empty(&made)? {
            let (path, owner) = (self.here(), fstat(&self.at)?.st_uid);
            return Err(Refusal::Foreign { path, owner }.into());
        }
        if let Some(refusal) = beyond_us(&stat, &path) {
            return Err(refusal.into());
        }
        (self.at, self.shown, self.fresh, self.doubt) = (made, path, true, None);
        Ok(())
    }

    /// Notes whether another user could have exchanged what was found here.
    fn pass(&mut self) -> io::Result<()> {
        if self.doubt.is_none() && !self.fresh {
            self.doubt = beyond_us(&fstat(&self.at)?, &self.here());
        }
        Ok(())
    }

    /// Whether another user can put and take entries here or could exchange this directory.
    fn is_open(&self) -> io::Result<bool> {
        Ok(self.doubt.is_some() || beyond_us(&fstat(&self.at)?, &self.here()).is_some())
    }

    fn here(&self) -> PathBuf {
        if self.shown.as_os_str().is_empty() { ".".into() } else { self.shown.clone() }
    }

    /// Goes on where a link leads; a link of `/proc` leads to no path, so its target is given.
    fn follow(&mut self, name: &OsStr, link: &OwnedFd) -> io::Result<Option<OwnedFd>> {
        let stat = fstat(link)?;
        let path = self.shown.join(name);
        if !trusted(&stat) {
            return Err(Refusal::Link { path, owner: stat.st_uid }.into());
        }
        self.pass()?;
        if let Some(beyond) = self.doubt.take() {
            return Err(Refusal::Beneath { path, beyond: beyond.into() }.into());
        }
        self.links = self.links.checked_sub(1).ok_or(Errno::LOOP)?;
        if fstatfs(link)?.f_type == PROC_SUPER_MAGIC {
            return Ok(Some(openat(
                &self.at,
                name,
                OFlags::PATH | OFlags::CLOEXEC,
                Mode::empty(),
            )?));
        }
        let target = PathBuf::from(OsString::from_vec(readlinkat(link, "", [])?.into_bytes()));
        if target.is_absolute() {
            self.at = openat(CWD, "/", HELD | OFlags::DIRECTORY, Mode::empty())?;
            (self.shown, self.fresh) = ("/".into(), false);
        }
        let mut left = names(&target);
        left.append(&mut self.left);
        self.left = left;
        Ok(None)
    }
}

/// The names of a path; one that ends in `/` or `/.` names a directory, so that its last is `.`.
fn names(path: &Path) -> VecDeque<OsString> {
    let components = path.components().filter(|c| !matches!(c, Component::RootDir));
    let mut names: VecDeque<OsString> = components.map(|c| c.as_os_str().into()).collect();
    let text = path.as_os_str().as_bytes();
    if text.ends_with(b"/") || text.ends_with(b"/.") {
        names.push_back(".".into());
    }
    names
}

fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

/// Whether a thing belongs to this user or to root, who may do everything anyway.
fn trusted(stat: &Stat) -> bool {
    stat.st_uid == 0 || stat.st_uid == geteuid().as_raw()
}

/// Why another user could exchange entries of a directory, if one could. In a sticky directory
/// only its owner and that of the entry can. A group that is our own is no other user.
fn beyond_us(stat: &Stat, path: &Path) -> Option<Refusal> {
    if !trusted(stat) {
        return Some(Refusal::Foreign { path: path.into(), owner: stat.st_uid });
    }
    let ours = stat.st_gid == 0 || stat.st_gid == getegid().as_raw();
    let others = if ours { 0o002 } else { 0o022 };
    let (mode, owner, group) = (stat.st_mode, stat.st_uid, stat.st_gid);
    let open = mode & others != 0 && mode & 0o1000 == 0;
    open.then(|| Refusal::Open { path: path.into(), mode, owner, group })
}

fn open_directory(held: impl AsFd) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat(held, ".", flags, Mode::empty())
}

fn is_empty(held: impl AsFd) -> io::Result<bool> {
    for entry in Dir::new(open_directory(held)?)? {
        if !matches!(entry?.file_name().to_bytes(), b"." | b"..") {
            return Ok(false);
        }
    }
    Ok(true)
}
