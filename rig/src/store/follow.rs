//! Knows how a run is followed while its conductor writes it: what was added, and whether more can
//! come.
//!
//! Never: changes the file, or holds it open. Every answer is a short read transaction; a writer
//! waits for none of them, because it writes to the log and moves nothing while it lives.

use super::{RunLine, Store, StoreError, Writer, log_of};
use desk::record::{Completeness, Sitting, TrialRecord};
use rusqlite::params;
use std::fs::Metadata;
use std::path::Path;
use std::time::SystemTime;

/// Size and time of change of the file and of its log: as long as both are the same, nothing was
/// added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp([Option<(u64, Option<SystemTime>)>; 2]);

impl Stamp {
    /// The stamp of a store now; it opens nothing.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        let of = |meta: Metadata| (meta.len(), meta.modified().ok());
        Self([path.to_path_buf(), log_of(path)].map(|file| std::fs::metadata(file).ok().map(of)))
    }
}

/// The process that wrote the last sitting of a run.
#[derive(Clone, Debug)]
pub struct Conductor {
    writer: Writer,
    boot: String,
}

impl Conductor {
    /// Whether it still lives.
    #[must_use]
    pub fn lives(&self) -> bool {
        self.writer.lives(&self.boot)
    }
}

/// How a run stands, and what was added to it.
#[derive(Clone, Debug)]
pub struct News {
    /// The run as a list shows it.
    pub line: RunLine,
    /// Who writes it, or wrote it last.
    pub conductor: Conductor,
    /// How it ended; that of a run that is open means nothing.
    pub completeness: Completeness,
    /// Its sittings, all of them.
    pub sittings: Vec<Sitting>,
    /// The records that were asked for.
    pub records: Vec<TrialRecord>,
}

impl Store {
    /// The run that is open: the newest whose conductor lives, else the newest. None in a store
    /// without runs.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn current(&self) -> Result<Option<String>, StoreError> {
        let all = || -> rusqlite::Result<Option<String>> {
            let mut open = self.link.prepare(
                "SELECT r.id, s.pid, s.ticks, s.boot FROM sitting AS s
                 JOIN run AS r ON r.number = s.run WHERE NOT EXISTS
                 (SELECT 1 FROM ending AS e WHERE e.run = s.run AND e.sitting = s.number)
                 ORDER BY r.number DESC",
            )?;
            let rows = open.query_map([], |row| {
                let writer = Writer { pid: row.get(1)?, ticks: row.get(2)? };
                Ok((row.get(0)?, Conductor { writer, boot: row.get(3)? }))
            })?;
            for row in rows {
                let (id, conductor) = row?;
                if conductor.lives() {
                    return Ok(Some(id));
                }
            }
            let mut last = self.link.prepare("SELECT id FROM run ORDER BY number DESC LIMIT 1")?;
            last.query_map([], |row| row.get(0))?.next().transpose()
        };
        all().map_err(|e| self.error(e))
    }

    /// Ids of the runs of one start of stend, in their order: those whose names are `start` with a
    /// number behind it.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn started_by(&self, start: &str) -> Result<Vec<String>, StoreError> {
        let all = || -> rusqlite::Result<Vec<String>> {
            let mut find = self.link.prepare(
                "SELECT id FROM run WHERE substr(id, 1, length(?1) + 1) = ?1 || '-'
                 ORDER BY number",
            )?;
            find.query_map([start], |row| row.get(0))?.collect()
        };
        let ids = all().map_err(|e| self.error(e))?;
        let numbered = |id: &String| {
            let behind = id.get(start.len() + 1..).unwrap_or_default();
            !behind.is_empty() && behind.bytes().all(|byte| byte.is_ascii_digit())
        };
        Ok(ids.into_iter().filter(numbered).collect())
    }

    /// How a run stands, with its records from this place on.
    ///
    /// # Errors
    /// When there is no such run, or it cannot be read.
    pub fn news(&self, run: &str, from: u32) -> Result<News, StoreError> {
        let number = self.number(run)?;
        let none = || StoreError::NoRun { id: run.into(), path: self.path.clone() };
        let line = self.lines(Some(run))?.pop().ok_or_else(none)?;
        let conductor = self.conductor(number).map_err(|e| self.error(e))?;
        let sittings = self.sittings(number).map_err(|e| self.error(e))?;
        let completeness = self.completeness(number).map_err(|e| self.error(e))?;
        let records = self.records((number, from), run)?;
        Ok(News { line, conductor, completeness, sittings, records })
    }

    fn conductor(&self, run: i64) -> rusqlite::Result<Conductor> {
        self.link.query_row(
            "SELECT pid, ticks, boot FROM sitting WHERE run = ?1 ORDER BY number DESC LIMIT 1",
            params![run],
            |row| {
                let writer = Writer { pid: row.get(0)?, ticks: row.get(1)? };
                Ok(Conductor { writer, boot: row.get(2)? })
            },
        )
    }
}
