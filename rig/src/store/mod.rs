//! Knows where runs are kept: one SQLite file a lab, to which records are only ever added.
//!
//! Gives: [`Store`], [`RunLine`], [`News`], [`Stamp`], [`Added`], [`StoreError`].
//! Never: what a record means, or which trial comes next.
//! Start reading at [`Store`]; the tables stand in `schema.rs`.

mod add;
mod error;
mod follow;
mod read;
mod schema;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_follow;
#[cfg(test)]
mod tests_laws;
mod writer;

pub use add::Added;
pub use error::StoreError;
pub use follow::{Conductor, News, Stamp};
pub use read::{RunLine, RunState};

use desk::record::{
    Added as AddedBlocks, Completeness, DIGEST, Run, Sitting, TrialKind, TrialRecord, digest,
};
use rusqlite::{Connection, OpenFlags, TransactionBehavior, params};
use rustix::fs::Access;
use rustix::io::Errno;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use writer::Writer;

/// How long one conductor waits for another that writes to the same file at this moment.
const WAIT: Duration = Duration::from_secs(10);
/// Level of zstd: records are small, and kept between two trials.
const LEVEL: i32 = 3;

/// The file of a lab.
///
/// While a run is written the file itself does not change: every record goes to the log beside it
/// (`-wal`), which is moved into the file when the last conductor closes it, or by the next that
/// opens it. So a copy of the file and then of its log, taken at any moment of a run, is a whole
/// store that ends with the last record kept.
#[derive(Debug)]
pub struct Store {
    link: Connection,
    path: PathBuf,
    /// Runs that this process writes: number of the run and of its sitting.
    own: BTreeMap<String, (i64, i64)>,
}

impl Store {
    /// Opens the file for a run, and makes it if it is not there.
    ///
    /// # Errors
    /// When the file cannot be made or written to, is no store, or was made by a newer stend.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::refuse(path)?;
        if let Some(directory) = path.parent().filter(|d| !d.as_os_str().is_empty()) {
            std::fs::create_dir_all(directory)
                .map_err(|source| StoreError::Place { path: path.into(), source })?;
        }
        let store = Self::connect(path, OpenFlags::SQLITE_OPEN_CREATE)?;
        // A file that is something else stays as it is.
        if !schema::is_empty(&store.link, path)? {
            schema::check(&store.link, path)?;
        }
        schema::make(&store.link).map_err(|e| store.error(e))?;
        schema::check(&store.link, path)?;
        let all = || -> rusqlite::Result<()> {
            store.link.pragma_update(None, "synchronous", "FULL")?;
            // Nobody moves the log into the file while a run is written.
            store.link.pragma_update(None, "wal_autocheckpoint", 0)?;
            if !writer::lives_in(&store.link, None)? {
                store.link.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
            }
            Ok(())
        };
        all().map_err(|e| store.error(e))?;
        Ok(store)
    }

    /// Says why no run can be kept at a path, and changes nothing.
    ///
    /// # Errors
    /// When the file is no store, it cannot be written to, or the directory that it and its log are
    /// made in cannot.
    pub fn refuse(path: &Path) -> Result<(), StoreError> {
        let fail = |source| StoreError::Place { path: path.into(), source };
        let may = |at: &Path, access| {
            rustix::fs::access(at, access).map_err(|e| fail(io::Error::from(e)))
        };
        let within = match std::fs::canonicalize(path) {
            // The log stands beside the file itself, wherever a link to it stands.
            Ok(file) => {
                match std::fs::metadata(&file).map_err(fail)? {
                    there if there.is_dir() => return Err(fail(Errno::ISDIR.into())),
                    there if !there.is_file() => return Err(fail(Errno::INVAL.into())),
                    _ => may(&file, Access::READ_OK | Access::WRITE_OK)?,
                }
                schema::check_header(path, has_log(&file))?;
                file.parent().map(Path::to_path_buf)
            }
            Err(_) => path.ancestors().find(|at| at.exists()).map(Path::to_path_buf),
        };
        let within = within.unwrap_or_else(|| ".".into());
        if !within.is_dir() {
            return Err(fail(Errno::NOTDIR.into()));
        }
        may(&within, Access::WRITE_OK | Access::EXEC_OK)
    }

    /// Opens the file to read it.
    ///
    /// # Errors
    /// When there is none, it is no store, or it was made by a newer stend.
    pub fn read(path: &Path) -> Result<Self, StoreError> {
        if !path.exists() {
            return Err(StoreError::None { path: path.into() });
        }
        let store = Self::connect(path, OpenFlags::empty())?;
        match schema::check(&store.link, path) {
            Err(StoreError::Sql { source, .. }) if cannot_share(&source) && !has_log(path) => {
                let still = Self::connect_still(path)?;
                schema::check(&still.link, path)?;
                Ok(still)
            }
            checked => checked.map(|()| store),
        }
    }

    /// Opens a file that nobody writes, in a directory where nothing can be written either: SQLite
    /// otherwise wants its shared memory beside the file.
    fn connect_still(path: &Path) -> Result<Self, StoreError> {
        let fail = |source| StoreError::Sql { path: path.into(), source };
        let escaped = path.to_string_lossy().replace('%', "%25").replace('?', "%3f");
        let uri = format!("file:{}?immutable=1", escaped.replace('#', "%23"));
        let access = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let link = Connection::open_with_flags(uri, access).map_err(fail)?;
        Ok(Self { link, path: path.into(), own: BTreeMap::new() })
    }

    fn connect(path: &Path, create: OpenFlags) -> Result<Self, StoreError> {
        let access = if create.is_empty() {
            OpenFlags::SQLITE_OPEN_READ_ONLY
        } else {
            OpenFlags::SQLITE_OPEN_READ_WRITE | create
        };
        let fail = |source| StoreError::Sql { path: path.into(), source };
        let link = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)
            .map_err(fail)?;
        link.busy_timeout(WAIT).map_err(fail)?;
        Ok(Self { link, path: path.into(), own: BTreeMap::new() })
    }

    /// Where the file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Begins a run with its first sitting; its records are kept one by one afterwards.
    ///
    /// # Errors
    /// When the id is taken or the file cannot be written.
    pub fn begin(&mut self, run: &Run, sitting: &Sitting) -> Result<(), StoreError> {
        let bare = Run { records: Vec::new(), sittings: Vec::new(), ..run.clone() };
        let head = self.pack(&bare)?;
        let planned = desk_trials(run);
        let all = |link: &mut Connection| -> rusqlite::Result<(i64, i64)> {
            let change = link.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let number = insert_run(&change, run, (planned, &head))?;
            let own = (number, sit(&change, number, sitting)?);
            change.commit()?;
            Ok(own)
        };
        let own = all(&mut self.link).map_err(|e| self.error(e))?;
        self.own.insert(run.id.clone(), own);
        Ok(())
    }

    /// Begins the next sitting of a run, with the blocks that it adds. Of two processes that try at
    /// once one is refused.
    ///
    /// # Errors
    /// When there is no such run, a process that lives has it, it holds other than
    /// `records_before` records, or the file cannot be written.
    pub fn sit(&mut self, run: &str, sitting: &Sitting) -> Result<(), StoreError> {
        let number = self.number(run)?;
        let planned = match sitting.added {
            Some(added) => self.planned_with(run, added)?,
            None => 0,
        };
        let all = |link: &mut Connection| -> rusqlite::Result<Option<i64>> {
            let change = link.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let kept: u32 =
                change.query_row("SELECT count(*) FROM trial WHERE run = ?1", [number], |row| {
                    row.get(0)
                })?;
            // Whoever looked at the run before another went on with it would double its trials.
            if kept != sitting.records_before || writer::lives_in(&change, Some(number))? {
                return Ok(None);
            }
            let own = sit(&change, number, sitting)?;
            if let Some(added) = sitting.added {
                extend(&change, (number, own), (added, planned))?;
            }
            change.commit()?;
            Ok(Some(own))
        };
        let own = all(&mut self.link).map_err(|e| self.error(e))?;
        let own = own.ok_or_else(|| StoreError::Taken { id: run.into() })?;
        self.own.insert(run.into(), (number, own));
        Ok(())
    }

    /// Keeps a record. When this returns it is on the disk, and a power cut does not take it away.
    ///
    /// # Errors
    /// When this process has not begun a sitting of it, or the file cannot be written.
    pub fn keep(&mut self, run: &str, record: &TrialRecord) -> Result<(), StoreError> {
        let (number, _) = self.own(run)?;
        let packed = self.pack(record)?;
        let all = |link: &mut Connection| -> rusqlite::Result<()> {
            let change = link.transaction()?;
            keep(&change, number, record, &packed)?;
            change.commit()
        };
        all(&mut self.link).map_err(|e| self.error(e))
    }

    /// Ends the sitting of a run.
    ///
    /// # Errors
    /// When this process has not begun one, or the file cannot be written.
    pub fn end(&mut self, run: &str, completeness: &Completeness) -> Result<(), StoreError> {
        let (number, sitting) = self.own(run)?;
        let why = match completeness {
            Completeness::Complete => None,
            Completeness::Partial { why } => Some(why),
        };
        self.link
            .execute(
                "INSERT INTO ending (run, sitting, why) VALUES (?1, ?2, ?3)",
                params![number, sitting, why],
            )
            .map_err(|e| self.error(e))?;
        self.own.remove(run);
        Ok(())
    }

    /// Counted trials of the plan of a run with further blocks.
    fn planned_with(&self, run: &str, added: AddedBlocks) -> Result<u32, StoreError> {
        let mut plan = self.head(run)?.plan;
        desk::plan::extend(&mut plan, added);
        Ok(desk::plan::budget(&plan).trials)
    }

    fn own(&self, run: &str) -> Result<(i64, i64), StoreError> {
        let none = || StoreError::NoRun { id: run.into(), path: self.path.clone() };
        self.own.get(run).copied().ok_or_else(none)
    }

    /// Number of a run by its whole id.
    fn number(&self, run: &str) -> Result<i64, StoreError> {
        let mut find =
            self.link.prepare("SELECT number FROM run WHERE id = ?1").map_err(|e| self.error(e))?;
        find.query_row([run], |row| row.get(0)).map_err(|e| match e {
            rusqlite::Error::QueryReturnedNoRows => {
                StoreError::NoRun { id: run.into(), path: self.path.clone() }
            }
            e => self.error(e),
        })
    }

    fn pack<T: Serialize>(&self, what: &T) -> Result<Sealed, StoreError> {
        let fail = |e: std::io::Error| StoreError::Record { path: self.path.clone(), source: e };
        let text = serde_json::to_vec(what).map_err(|e| fail(e.into()))?;
        let bytes = zstd::encode_all(text.as_slice(), LEVEL).map_err(fail)?;
        Ok(Sealed { bytes, digest: written(&text) })
    }

    fn error(&self, source: rusqlite::Error) -> StoreError {
        StoreError::Sql { path: self.path.clone(), source }
    }
}

/// What goes into a row of JSON, and its digest.
#[derive(Debug)]
struct Sealed {
    bytes: Vec<u8>,
    digest: String,
}

/// The digest of a text as a row has it: 16 hexadecimal digits.
fn written(text: &[u8]) -> String {
    format!("{:016x}", digest(DIGEST, text))
}

const INSERT_RUN: &str = "INSERT INTO run (id, started, title, version, planned, head, digest)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";

/// Keeps the head of a run; gives its number.
fn insert_run(
    link: &Connection,
    run: &Run,
    (planned, head): (u32, &Sealed),
) -> rusqlite::Result<i64> {
    let (title, version) = (&run.plan.title, &run.version);
    link.execute(
        INSERT_RUN,
        params![run.id, run.started, title, version, planned, head.bytes, head.digest],
    )?;
    Ok(link.last_insert_rowid())
}

/// Counted trials of the plan of a run.
fn desk_trials(run: &Run) -> u32 {
    desk::plan::budget(&run.plan).trials
}

/// Keeps what a sitting of a run adds, and the counted trials that its plan then has.
fn extend(
    link: &Connection,
    (run, sitting): (i64, i64),
    (added, planned): (AddedBlocks, u32),
) -> rusqlite::Result<()> {
    link.execute(
        "INSERT INTO extension (run, sitting, from_blocks, to_blocks, planned)
         VALUES (?1, ?2, ?3, ?4, ?5)",
        params![run, sitting, added.from, added.to, planned],
    )?;
    Ok(())
}

/// The next sitting, and its number.
fn sit(link: &Connection, run: i64, sitting: &Sitting) -> rusqlite::Result<i64> {
    let own = Writer::own();
    link.query_row(
        "INSERT INTO sitting (run, number, started, boot, records_before, pid, ticks)
         SELECT ?1, count(*) + 1, ?2, ?3, ?4, ?5, ?6 FROM sitting WHERE run = ?1
         RETURNING number",
        params![run, sitting.started, sitting.boot, sitting.records_before, own.pid, own.ticks],
        |row| row.get(0),
    )
}

fn keep(
    link: &Connection,
    run: i64,
    record: &TrialRecord,
    sealed: &Sealed,
) -> rusqlite::Result<()> {
    let trial = &record.trial;
    let counted = trial.kind == TrialKind::Counted;
    let fault = record.outcome.fault.as_ref().map(ToString::to_string);
    link.prepare(
        "INSERT INTO trial
             (run, seq, trial, block, counted, valid, attempt, fault, started_s, record, digest)
         SELECT ?1, coalesce(max(seq) + 1, 0), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10
         FROM trial WHERE run = ?1",
    )?
    .execute(params![
        run,
        trial.id,
        trial.block,
        counted,
        fault.is_none(),
        record.attempt,
        fault,
        record.started_s,
        sealed.bytes,
        sealed.digest
    ])?;
    let kept = link.last_insert_rowid();
    let mut add =
        link.prepare("INSERT INTO sample (trial, metric, value, unit) VALUES (?1, ?2, ?3, ?4)")?;
    for sample in &record.outcome.samples {
        let unit = serde_json::to_value(sample.quantity.unit).unwrap_or_default();
        let unit = unit.as_str().unwrap_or_default();
        add.execute(params![kept, sample.metric, sample.quantity.value, unit])?;
    }
    Ok(())
}

/// Whether SQLite could not make what it shares with other readers.
fn cannot_share(source: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{CannotOpen, ReadOnly};
    matches!(source.sqlite_error_code(), Some(CannotOpen | ReadOnly))
}

/// Whether records may be in the log beside the file only.
fn has_log(path: &Path) -> bool {
    std::fs::metadata(log_of(path)).is_ok_and(|log| log.len() > 0)
}

/// The log beside a file.
fn log_of(path: &Path) -> PathBuf {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    log.into()
}
