//! Knows how a change is written down before it is made, and how the conductor itself undoes it.
//!
//! Must not know which settings there are.

use super::error::UndoError;
use super::guardian::Guardian;
use super::owner::Owner;
use super::restore::{self, Fate, Settled};
use super::setting;
use super::story::{self, Entry, Kind, Line, Story};
use rustix::fs::{FlockOperation, flock};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::SystemTime;

/// What is about to be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intent {
    /// The factor, or the host that a namespace or group is for.
    pub key: String,
    /// What kind of thing.
    pub kind: Kind,
    /// Where.
    pub path: PathBuf,
    /// The value for a file; `present` for what is made.
    pub new: String,
}

/// The journal of a conductor; copies are the same journal. It is deleted when the last copy goes,
/// if everything in it is undone.
#[derive(Clone, Debug)]
pub struct Journal(Arc<Mutex<Inner>>);

#[derive(Debug)]
struct Inner {
    root: PathBuf,
    path: PathBuf,
    owner: Owner,
    /// The binary that the guardian is executed from; none in tests of the journal alone.
    binary: Option<PathBuf>,
    /// Both from the first change on.
    file: Option<File>,
    guardian: Option<Guardian>,
    seq: u64,
    /// Bytes of whole lines in the file.
    written: u64,
    /// From how many on it is written anew.
    long: u64,
    /// What is to be undone: the entry and the value that is ours.
    open: BTreeMap<u64, (Entry, String)>,
}

/// A journal that has grown to this many bytes is written anew with what is still open.
const LONG: u64 = 1 << 20;

/// A process has one journal, however many labs it builds.
static CURRENT: Mutex<Weak<Mutex<Inner>>> = Mutex::new(Weak::new());

impl Journal {
    /// The journal of this process. Nothing is written yet; what dead conductors left in its
    /// directory is brought back first, so that it is not taken for the state of the machine.
    ///
    /// # Errors
    /// When no journal can be had.
    pub fn of_this_process(binary: &Path) -> Result<Self, UndoError> {
        let mut current = CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(inner) = current.upgrade() {
            return Ok(Self(inner));
        }
        let directory = story::directory()?;
        story::refuse(&directory)?;
        story::prepare(&directory)?;
        // What cannot be brought back stays in its journal, where `stend factors status` shows it.
        let _ = restore::settle_dead(&directory, Path::new("/"));
        let owner = Owner::this().map_err(UndoError::journal(&directory))?;
        let journal = Self::begin(&directory, Path::new("/"), owner, Some(binary));
        *current = Arc::downgrade(&journal.0);
        Ok(journal)
    }

    /// A journal of `owner` in a directory, for the machine below `root`.
    pub(super) fn begin(
        directory: &Path,
        root: &Path,
        owner: Owner,
        binary: Option<&Path>,
    ) -> Self {
        Self(Arc::new(Mutex::new(Inner {
            root: root.into(),
            path: directory.join(owner.file_name()),
            owner,
            binary: binary.map(Path::to_path_buf),
            file: None,
            guardian: None,
            seq: 0,
            written: 0,
            long: LONG,
            open: BTreeMap::new(),
        })))
    }

    /// A journal for a machine that is a tree of files, without a guardian; for tests.
    ///
    /// # Errors
    /// When the directory cannot be made.
    pub fn of_tree(directory: &Path, root: &Path) -> Result<Self, UndoError> {
        story::prepare(directory)?;
        let owner = Owner::this().map_err(UndoError::journal(directory))?;
        Ok(Self::begin(directory, root, owner, None))
    }

    #[cfg(test)]
    pub(super) fn shorten_from(&self, bytes: u64) {
        self.inner().long = bytes;
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whose journal it is.
    #[must_use]
    pub fn owner(&self) -> Owner {
        self.inner().owner.clone()
    }

    /// Writes down what somebody will make right after this returns: namespaces and groups.
    ///
    /// # Errors
    /// When it cannot be made durable; then it must not be made.
    pub fn intend(&self, intents: Vec<Intent>) -> Result<Vec<u64>, UndoError> {
        let mut inner = self.inner();
        if intents.iter().any(|intent| intent.kind == Kind::Controller) {
            // Another conductor's undo would take it from under our groups.
            let directory = inner.path.parent().map(Path::to_path_buf).unwrap_or_default();
            inner.refuse_busy(&directory, &intents)?;
        }
        let absent = |intent| (intent, "absent".to_owned());
        inner.write_down(intents.into_iter().map(absent).collect())
    }

    /// Writes down what an adapter is before somebody takes it: the intent, and its state.
    ///
    /// # Errors
    /// When another conductor has it, or it cannot be made durable; then it must not be taken.
    pub fn lend(&self, intents: Vec<(Intent, String)>) -> Result<Vec<u64>, UndoError> {
        let mut inner = self.inner();
        let directory = inner.path.parent().map(Path::to_path_buf).unwrap_or_default();
        let alone: Vec<Intent> = intents.iter().map(|(intent, _)| intent.clone()).collect();
        inner.refuse_busy(&directory, &alone)?;
        inner.write_down(intents)
    }

    /// Changes settings: reads the old values, writes all down, writes, reads back. When one does
    /// not take, those before it are undone.
    ///
    /// # Errors
    /// When nothing could be written down, or a setting cannot be written or does not take.
    pub fn change(&self, intents: Vec<Intent>) -> Result<Vec<u64>, UndoError> {
        let mut inner = self.inner();
        // Held from the look at other journals to the write: two conductors at once would each
        // take the other's value for the machine's own.
        let directory = inner.path.parent().map(Path::to_path_buf).unwrap_or_default();
        let held = File::open(&directory).map_err(UndoError::journal(&directory))?;
        flock(&held, FlockOperation::LockExclusive)
            .map_err(|e| UndoError::journal(&directory)(e.into()))?;
        inner.refuse_busy(&directory, &intents)?;
        let mut all = Vec::new();
        for intent in intents {
            if !setting::may_be(intent.kind, &inner.root, &intent.path) {
                let source = io::Error::other("no setting of the machine");
                return Err(UndoError::Setting { path: intent.path, source });
            }
            let old = setting::read(intent.kind, &intent.path)?;
            all.push((intent, old));
        }
        let seqs = inner.write_down(all)?;
        let done = seqs.iter().try_for_each(|seq| inner.carry_out(*seq));
        if let Err(e) = done {
            inner.undo(&seqs);
            return Err(e);
        }
        Ok(seqs)
    }

    /// Undoes these entries, last first, each only where the value is still ours.
    #[must_use]
    pub fn undo(&self, seqs: &[u64]) -> Vec<Settled> {
        self.inner().undo(seqs)
    }
}

impl Inner {
    /// Refuses what a living conductor has set; brings back what a dead one has.
    fn refuse_busy(&self, directory: &Path, intents: &[Intent]) -> Result<(), UndoError> {
        for path in story::journals(directory)?.iter().filter(|path| **path != self.path) {
            // One that was deleted since, or that is damaged, holds nothing that we could set.
            let Ok(other) = Story::read(path) else { continue };
            let open = other.open();
            let shared = |intent: &&Intent| open.iter().any(|(e, _)| e.path == intent.path);
            let Some(intent) = intents.iter().find(shared) else { continue };
            if other.owner.is_alive(&self.root) {
                return Err(UndoError::Busy { path: intent.path.clone(), pid: other.owner.pid });
            }
            // It died meanwhile, and its guardian may be at work: this waits for it.
            restore::settle(path, &self.root)?;
        }
        Ok(())
    }

    /// Appends entries and makes them durable; before the first the guardian stands ready.
    fn write_down(&mut self, all: Vec<(Intent, String)>) -> Result<Vec<u64>, UndoError> {
        self.open_file()?;
        self.keep_guardian()?;
        if self.written > self.long {
            self.shorten().map_err(UndoError::journal(&self.path))?;
        }
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let mut entries = Vec::new();
        for (intent, old) in all {
            self.seq += 1;
            entries.push(Entry {
                seq: self.seq,
                host: "machine".into(),
                key: intent.key,
                kind: intent.kind,
                path: intent.path,
                old,
                new: intent.new,
                boot: self.owner.boot.clone(),
                time_s: now.as_secs(),
            });
        }
        let lines: Vec<Line> = entries.iter().cloned().map(Line::Change).collect();
        self.append(&lines)?;
        let file = self.file.as_ref().ok_or(UndoError::NoPlace)?;
        file.sync_data().map_err(UndoError::journal(&self.path))?;
        let seqs = entries.iter().map(|entry| entry.seq).collect();
        for entry in entries {
            let ours = entry.new.clone();
            self.open.insert(entry.seq, (entry, ours));
        }
        Ok(seqs)
    }

    /// Starts a guardian if there is none, or none any more.
    fn keep_guardian(&mut self) -> Result<(), UndoError> {
        let Some(binary) = &self.binary else { return Ok(()) };
        if self.guardian.as_mut().is_none_or(Guardian::is_gone) {
            self.guardian = Some(Guardian::start(binary, &self.path)?);
        }
        Ok(())
    }

    fn open_file(&mut self) -> Result<(), UndoError> {
        if self.file.is_some() {
            return Ok(());
        }
        let fail = || UndoError::journal(&self.path);
        if self.path.exists() {
            // An earlier journal of this process in which something was left.
            let story = Story::read(&self.path)?;
            self.seq = self.seq.max(story.last());
            self.written = story.whole_bytes;
        }
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(&self.path);
        self.file = Some(file.map_err(fail())?);
        let directory = self.path.parent().unwrap_or(Path::new("/"));
        File::open(directory).and_then(|d| d.sync_all()).map_err(fail())
    }

    /// Writes what is open into a new file, which takes the place of the old one at once or not at
    /// all.
    fn shorten(&mut self) -> io::Result<()> {
        let half = story::half(&self.path);
        let mut text = Vec::new();
        let left = Story::read(&self.path).map_err(io::Error::other)?;
        for (entry, ours) in left.open().into_iter().rev() {
            let took = Line::Took { seq: entry.seq, value: ours.into() };
            for line in [Line::Change(entry.clone()), took] {
                text.extend(serde_json::to_vec(&line)?);
                text.push(b'\n');
            }
        }
        let mut file = File::create(&half)?;
        file.write_all(&text)?;
        file.sync_all()?;
        fs::rename(&half, &self.path)?;
        self.file = Some(OpenOptions::new().append(true).open(&self.path)?);
        self.written = text.len() as u64;
        File::open(self.path.parent().unwrap_or(Path::new("/")))?.sync_all()
    }

    fn append(&mut self, lines: &[Line]) -> Result<(), UndoError> {
        let mut text = Vec::new();
        for line in lines {
            let json =
                serde_json::to_vec(line).map_err(|e| UndoError::journal(&self.path)(e.into()))?;
            text.extend(json);
            text.push(b'\n');
        }
        let file = self.file.as_mut().ok_or(UndoError::NoPlace)?;
        let written = write_whole(file, self.written, &text);
        self.written = written.map_err(UndoError::journal(&self.path))?;
        Ok(())
    }

    fn carry_out(&mut self, seq: u64) -> Result<(), UndoError> {
        let Some((entry, _)) = self.open.get(&seq).cloned() else { return Ok(()) };
        setting::write(entry.kind, &entry.path, &entry.new)?;
        let found = setting::read(entry.kind, &entry.path)?;
        self.append(&[Line::Took { seq, value: found.clone() }])?;
        if let Some((_, ours)) = self.open.get_mut(&seq) {
            ours.clone_from(&found);
        }
        if found == entry.new {
            return Ok(());
        }
        Err(UndoError::NotTaken { path: entry.path, asked: entry.new, found })
    }

    fn undo(&mut self, seqs: &[u64]) -> Vec<Settled> {
        let mut all = Vec::new();
        for seq in seqs.iter().rev() {
            let Some((entry, ours)) = self.open.get(seq).cloned() else { continue };
            let fate = restore::restore(&self.root, &self.owner, &entry, &ours);
            if fate.is_settled() {
                self.open.remove(seq);
                // Without this line the next reader finds the old value, and nothing to do.
                let _ = self.append(&[Line::Restored { seq: *seq }]);
            } else if let Fate::Foreign { .. } = fate {
                // Not ours any more; it stays in the journal for the person to see.
                self.open.remove(seq);
                let _ = self.append(&[Line::given_up(&entry)]);
            }
            all.push(Settled { entry, fate });
        }
        all
    }
}

/// Writes lines after the first `whole` bytes of a journal and gives the new length. A full disk
/// takes lines by half; what an earlier try left of them would spoil the first of these.
fn write_whole(file: &mut File, whole: u64, lines: &[u8]) -> io::Result<u64> {
    if file.metadata()?.len() > whole {
        file.set_len(whole)?;
    }
    file.write_all(lines)?;
    Ok(whole + lines.len() as u64)
}

impl Drop for Inner {
    fn drop(&mut self) {
        let seqs: Vec<u64> = self.open.keys().copied().collect();
        self.undo(&seqs);
        let nothing_left = Story::read(&self.path).is_ok_and(|story| story.open().is_empty());
        if self.file.is_some() && nothing_left {
            let _ = fs::remove_file(&self.path);
        }
        // Dropping the guardian tells it to look; it tries again what we could not undo.
        self.guardian = None;
    }
}
