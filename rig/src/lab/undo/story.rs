//! Knows the lines of a journal and what they tell together; where journals lie.
//!
//! Must not know how an entry is undone.

use super::error::UndoError;
use super::owner::Owner;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What kind of thing is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A setting in a file below `/proc/sys` or `/sys`, or the CPUs of an interrupt.
    File,
    /// The number of huge pages. A write that is cut off by a kill leaves a part of them: every
    /// number between the old one and ours is ours.
    Pages,
    /// What switches the prefetchers of a CPU, a register of it that a device below `/dev/cpu`
    /// gives.
    Register,
    /// An adapter that a host of the lab has, with all that may be changed of it.
    Adapter,
    /// The name of a network namespace.
    Namespace,
    /// The directory of a control group.
    Group,
    /// The controller `cpu` in the list that a control group gives its groups.
    Controller,
}

/// A change as it was written down before it was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Number in the journal, from 1.
    pub seq: u64,
    /// The host whose machine is changed; the conductor's own is `machine`.
    pub host: String,
    /// The factor, or the host that a namespace or group is for.
    pub key: String,
    /// What is changed.
    pub kind: Kind,
    /// Where.
    pub path: PathBuf,
    /// The value before; `absent` for what is made.
    pub old: String,
    /// The value that is written; `present` for what is made.
    pub new: String,
    /// The boot in which it was.
    pub boot: String,
    /// When, seconds since 1970 UTC.
    pub time_s: u64,
}

/// What, the value before, ours.
impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match self.kind {
            Kind::File | Kind::Pages | Kind::Register => {
                write!(f, "{} {path}: was {}, set to {}", self.key, self.old, self.new)
            }
            Kind::Adapter => write!(f, "adapter {path}, lent to a lab"),
            Kind::Namespace => write!(f, "namespace {path}"),
            Kind::Group => write!(f, "control group {path}"),
            Kind::Controller => write!(f, "controller cpu in {path}"),
        }
    }
}

/// One line of a journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "lowercase")]
pub(super) enum Line {
    /// What will be changed now.
    Change(Entry),
    /// What was read back after the change.
    Took {
        /// Of which entry.
        seq: u64,
        /// The value.
        value: String,
    },
    /// The entry is done with.
    Restored {
        /// Which.
        seq: u64,
    },
}

impl Line {
    /// From now on no value but the old one is ours. Once somebody else has changed a setting, the
    /// value that we wrote may come again, but then it is theirs, or a later conductor's.
    pub(super) fn given_up(entry: &Entry) -> Self {
        Self::Took { seq: entry.seq, value: entry.old.clone() }
    }
}

/// What a journal tells.
#[derive(Clone, Debug)]
pub struct Story {
    /// Where it stands.
    pub path: PathBuf,
    /// Whose changes these are.
    pub owner: Owner,
    /// Every change, in order.
    entries: Vec<Entry>,
    took: BTreeMap<u64, String>,
    restored: BTreeSet<u64>,
    /// Bytes up to the end of the last complete line.
    pub(super) whole_bytes: u64,
}

impl Story {
    /// Reads a journal. What stands after the last line break was being written when its process
    /// was killed: it was never carried out.
    ///
    /// # Errors
    /// When it cannot be read, or a complete line is none of ours.
    pub fn read(path: &Path) -> Result<Self, UndoError> {
        let bytes = fs::read(path).map_err(UndoError::journal(path))?;
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let damaged =
            |line, what| UndoError::Damaged { path: path.to_path_buf(), line: line + 1, what };
        let owner =
            Owner::of_file(path).ok_or_else(|| damaged(0, "its name names no process".into()))?;
        let mut story = Self {
            path: path.into(),
            owner,
            entries: Vec::new(),
            took: BTreeMap::new(),
            restored: BTreeSet::new(),
            whole_bytes: end as u64,
        };
        let lines = bytes[..end].split(|byte| *byte == b'\n');
        for (number, line) in lines.enumerate().filter(|(_, line)| !line.is_empty()) {
            let line = serde_json::from_slice(line).map_err(|e| damaged(number, e.to_string()))?;
            story.add(line);
        }
        Ok(story)
    }

    fn add(&mut self, line: Line) {
        match line {
            Line::Change(entry) => self.entries.push(entry),
            Line::Took { seq, value } => {
                self.took.insert(seq, value);
            }
            Line::Restored { seq } => {
                self.restored.insert(seq);
            }
        }
    }

    /// Entries that nobody has undone, last first, each with the value that is ours: what was read
    /// back after the write, or, when the process was killed in between, what was to be written.
    #[must_use]
    pub fn open(&self) -> Vec<(&Entry, &str)> {
        let open = self.entries.iter().rev().filter(|e| !self.restored.contains(&e.seq));
        open.map(|e| (e, self.took.get(&e.seq).map_or(e.new.as_str(), String::as_str))).collect()
    }

    /// The number of the last entry, 0 for none.
    pub(super) fn last(&self) -> u64 {
        self.entries.last().map_or(0, |entry| entry.seq)
    }
}

/// Where a journal is written anew.
pub(super) fn half(path: &Path) -> PathBuf {
    path.with_extension("part")
}

/// The variable that names the directory of journals.
const VARIABLE: &str = "STEND_JOURNAL";

/// The directory of journals: `STEND_JOURNAL`, else as root `/var/lib/stend/journal`, else
/// `stend/journal` in the state directory of the user.
///
/// # Errors
/// When the user has none.
pub fn directory() -> Result<PathBuf, UndoError> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(path) = set(VARIABLE) {
        return Ok(path.into());
    }
    if rustix::process::geteuid().is_root() {
        return Ok("/var/lib/stend/journal".into());
    }
    let state = set("XDG_STATE_HOME").map(PathBuf::from);
    let state = state.or_else(|| Some(PathBuf::from(set("HOME")?).join(".local/state")));
    Ok(state.ok_or(UndoError::NoPlace)?.join("stend/journal"))
}

/// Passes the directory to a process that is about to be started: in a user namespace a user is
/// root, and would take that of root.
pub(in crate::lab) fn pass_on(command: &mut Command) -> &mut Command {
    match directory() {
        Ok(directory) => command.env(VARIABLE, directory),
        Err(_) => command,
    }
}

/// Makes the directory if it is not there. Who can write a journal can have us write settings as
/// the user that we are, so nobody else may.
pub(super) fn prepare(directory: &Path) -> Result<(), UndoError> {
    let fail = || UndoError::journal(directory);
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(directory);
    made.map_err(fail())?;
    ours_alone(directory)
}

/// Says why no journal can be kept in a directory, and changes nothing.
///
/// # Errors
/// When others could write there, or we cannot.
pub fn refuse(directory: &Path) -> Result<(), UndoError> {
    if directory.exists() {
        ours_alone(directory)?;
    }
    let there = directory.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."));
    let fail = UndoError::journal(directory);
    if !there.is_dir() {
        return Err(fail(rustix::io::Errno::NOTDIR.into()));
    }
    let may = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
    rustix::fs::access(there, may).map_err(|e| fail(e.into()))
}

fn ours_alone(directory: &Path) -> Result<(), UndoError> {
    let is = fs::metadata(directory).map_err(UndoError::journal(directory))?;
    let not = |remedy| Err(UndoError::NotOurs { path: directory.into(), remedy });
    if is.uid() != rustix::process::geteuid().as_raw() {
        return not("set STEND_JOURNAL to a directory of your own");
    }
    if is.mode() & 0o022 != 0 {
        return not("take the right to write from all others (chmod go-w)");
    }
    Ok(())
}

/// The journals in a directory, sorted; none where there is no directory.
///
/// # Errors
/// When it cannot be listed, or others may write to it.
pub fn journals(directory: &Path) -> Result<Vec<PathBuf>, UndoError> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(UndoError::Journal { path: directory.into(), source }),
    };
    ours_alone(directory)?;
    let paths = entries.flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = paths.filter(|p| Owner::of_file(p).is_some()).collect();
    paths.sort();
    Ok(paths)
}
