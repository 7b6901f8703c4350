//! Knows how an entry of a journal is undone, and what can come of it.
//!
//! Must not know who asks: the conductor, its guardian, the boot unit or a person.

use super::agents::end_agents_of;
use super::error::UndoError;
use super::owner::{self, Owner};
use super::setting;
use super::story::{self, Entry, Kind, Line, Story};
use crate::lab::{adapter, cgroup, namespace};
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longest wait for the end of a dead conductor's agents.
const AGENTS_MAX: Duration = Duration::from_secs(2);

/// What became of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The old value is back.
    Restored,
    /// It was back already, or the change had never been made.
    Already,
    /// It was lost with the boot in which it was set.
    Rebooted,
    /// The adapter is no longer in the machine, and what was set on it went with it.
    Gone,
    /// Somebody else has set another value since; it was left.
    Foreign {
        /// That value.
        now: String,
    },
    /// It could not be brought back.
    Failed {
        /// Why.
        why: String,
    },
}

impl Fate {
    /// Whether nothing is left to do.
    #[must_use]
    pub const fn is_settled(&self) -> bool {
        matches!(self, Self::Restored | Self::Already | Self::Rebooted | Self::Gone)
    }

    /// Whether another try may end better.
    pub(super) const fn may_change(&self) -> bool {
        matches!(self, Self::Failed { .. })
    }
}

/// An entry and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// The entry.
    pub entry: Entry,
    /// What became of it.
    pub fate: Fate,
}

/// Undoes one entry of a conductor, if what is there is still `ours`.
pub(super) fn restore(root: &Path, owner: &Owner, entry: &Entry, ours: &str) -> Fate {
    match entry.kind {
        Kind::File | Kind::Pages | Kind::Register => file(root, entry, ours),
        Kind::Adapter if rebooted(root, entry) => Fate::Rebooted,
        Kind::Adapter => adapter::bring_back(entry),
        Kind::Namespace | Kind::Group => made(root, owner, entry),
        Kind::Controller => controller(root, entry),
    }
}

fn failed(e: impl std::fmt::Display) -> Fate {
    Fate::Failed { why: e.to_string() }
}

fn rebooted(root: &Path, entry: &Entry) -> bool {
    owner::boot(root).is_ok_and(|boot| boot != entry.boot)
}

/// Compare and restore. After a reboot the value is compared all the same: what the kernel began
/// with is usually the old one, and anything else that is not ours was set by somebody since.
fn file(root: &Path, entry: &Entry, ours: &str) -> Fate {
    if !setting::may_be(entry.kind, root, &entry.path) {
        return failed(format!("{} is no setting of the kernel", entry.path.display()));
    }
    let now = match setting::read(entry.kind, &entry.path) {
        Ok(now) => now,
        Err(_) if rebooted(root, entry) => return Fate::Rebooted,
        Err(e) => return failed(e),
    };
    if now == entry.old {
        Fate::Already
    } else if now == ours || entry.kind == Kind::Pages && between(&entry.old, &now, ours) {
        let written = setting::write_and_verify(entry.kind, &entry.path, &entry.old);
        written.map_or_else(failed, |()| Fate::Restored)
    } else if rebooted(root, entry) {
        Fate::Rebooted
    } else {
        Fate::Foreign { now }
    }
}

/// Whether a number lies between two others.
fn between(one: &str, number: &str, other: &str) -> bool {
    let [one, number, other] = [one, number, other].map(str::parse::<u64>);
    let (Ok(one), Ok(number), Ok(other)) = (one, number, other) else { return false };
    (one.min(other)..=one.max(other)).contains(&number)
}

/// The name of a namespace or the directory of a group. Neither outlives a boot, and one in which
/// a process lives is somebody's.
fn made(root: &Path, owner: &Owner, entry: &Entry) -> Fate {
    let name = entry.path.file_name().unwrap_or_default().to_string_lossy();
    if namespace::conductor_of(&name) != Some(owner.pid) {
        return failed(format!("{} is not this conductor's", entry.path.display()));
    }
    if rebooted(root, entry) {
        return Fate::Rebooted;
    }
    if !entry.path.exists() {
        return Fate::Already;
    }
    let removed = match entry.kind {
        Kind::Namespace => namespace::remove_empty(&entry.path),
        _ => cgroup::remove(&entry.path),
    };
    removed.map_or_else(failed, |()| Fate::Restored)
}

/// Takes `cpu` off the list again. The kernel refuses while a group below has groups that need it.
fn controller(root: &Path, entry: &Entry) -> Fate {
    if !setting::is_controllers(root, &entry.path) {
        return failed(format!("{} is no list of controllers", entry.path.display()));
    }
    if rebooted(root, entry) {
        return Fate::Rebooted;
    }
    if !setting::gives_cpu(&entry.path) {
        return Fate::Already;
    }
    match setting::write(entry.kind, &entry.path, "-cpu") {
        Ok(()) if setting::gives_cpu(&entry.path) => failed("the kernel keeps cpu on the list"),
        Ok(()) => Fate::Restored,
        Err(e) => failed(e),
    }
}

/// The present state of what an entry is about, in a word or two.
#[must_use]
pub fn now(entry: &Entry) -> String {
    match entry.kind {
        Kind::File | Kind::Pages | Kind::Register => {
            setting::read(entry.kind, &entry.path).unwrap_or_else(|e| e.to_string())
        }
        Kind::Controller if !setting::gives_cpu(&entry.path) => "absent".into(),
        _ if entry.path.exists() => "present".into(),
        _ => "absent".into(),
    }
}

/// Ends the agents of a journal's owner and undoes what is open in it, last first; deletes the
/// journal when nothing is left. The owner must be gone, or be the caller's to end.
///
/// # Errors
/// When the journal cannot be read.
pub fn settle(path: &Path, root: &Path) -> Result<Vec<Settled>, UndoError> {
    let Some(mut file) = hold(path)? else { return Ok(Vec::new()) };
    let story = Story::read(path)?;
    let lives = |kind: Kind| story.open().iter().any(|(entry, _)| entry.kind == kind);
    // Settings first: they are the machine's, and nothing has to end for them.
    let of_machine = |kind| matches!(kind, Kind::File | Kind::Pages | Kind::Register);
    let (settings, places): (Vec<_>, Vec<_>) =
        story.open().into_iter().partition(|(entry, _)| of_machine(entry.kind));
    cut(&mut file, &story).map_err(UndoError::journal(path))?;
    let mut all = Vec::new();
    let mut undo = |entry: &Entry, ours: &str| {
        let fate = restore(root, &story.owner, entry, ours);
        if fate.is_settled() {
            // Without this line the next reader finds the old value, and nothing to do.
            let _ = note(&mut file, &Line::Restored { seq: entry.seq });
        } else if matches!(fate, Fate::Foreign { .. }) && ours != entry.old {
            let _ = note(&mut file, &Line::given_up(entry));
        }
        all.push(Settled { entry: entry.clone(), fate });
    };
    settings.iter().for_each(|(entry, ours)| undo(entry, ours));
    let places_live = [Kind::Adapter, Kind::Namespace, Kind::Group].into_iter().any(lives);
    if root == Path::new("/") && places_live {
        end_agents_of(&story.owner, AGENTS_MAX);
    }
    places.iter().for_each(|(entry, ours)| undo(entry, ours));
    if all.iter().all(|settled| settled.fate.is_settled()) {
        // Half of a journal that was being written anew.
        let _ = fs::remove_file(story::half(path));
        fs::remove_file(path).map_err(UndoError::journal(path))?;
    }
    Ok(all)
}

/// Opens a journal and keeps others from undoing it at the same time; none if it is gone by then.
fn hold(path: &Path) -> Result<Option<File>, UndoError> {
    let file = match OpenOptions::new().append(true).open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(UndoError::Journal { path: path.into(), source }),
    };
    flock(&file, FlockOperation::LockExclusive).map_err(|e| UndoError::journal(path)(e.into()))?;
    Ok(path.exists().then_some(file))
}

/// Takes away a line that was never finished, so that the next one begins at its own beginning.
fn cut(file: &mut File, story: &Story) -> io::Result<()> {
    file.set_len(story.whole_bytes)
}

fn note(file: &mut File, line: &Line) -> io::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    let whole = file.metadata()?.len();
    // Half a line would spoil the next.
    file.write_all(&text).or_else(|e| file.set_len(whole).and(Err(e)))
}

/// A journal, and what became of its entries.
pub type SettledJournal = (PathBuf, Result<Vec<Settled>, UndoError>);

/// Undoes the journals of all conductors that are gone; each with its path.
///
/// # Errors
/// When the directory cannot be read. A journal that cannot be read is in the list.
pub fn settle_dead(directory: &Path, root: &Path) -> Result<Vec<SettledJournal>, UndoError> {
    let mut all = Vec::new();
    for path in story::journals(directory)? {
        if !Owner::of_file(&path).is_some_and(|owner| owner.is_alive(root)) {
            let settled = settle(&path, root);
            all.push((path, settled));
        }
    }
    Ok(all)
}

/// Deletes a journal of a conductor that is gone, whatever is open in it.
///
/// # Errors
/// When it cannot be deleted.
pub fn forget(path: &Path) -> Result<(), UndoError> {
    fs::remove_file(path).map_err(UndoError::journal(path))
}
