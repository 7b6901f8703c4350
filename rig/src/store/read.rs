//! Knows how runs are found and brought back.

use super::{Sealed, Store, StoreError, Writer, written};
use desk::plan::extend;
use desk::record::{Added, Completeness, Counted, Fault, Run, Sitting, TrialRecord};
use rusqlite::params;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fmt;

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// It went to its end.
    Complete,
    /// It went to its end with too few valid trials, as [`Counted`] says.
    Incomplete,
    /// It was stopped or given up before.
    Partial,
    /// Its conductor went away without a word.
    Interrupted,
    /// Its conductor lives.
    Running,
}

impl fmt::Display for RunState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Complete => "complete",
            Self::Incomplete => "incomplete",
            Self::Partial => "partial",
            Self::Interrupted => "interrupted",
            Self::Running => "running",
        })
    }
}

/// A run as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunLine {
    /// Its name.
    pub id: String,
    /// When it began, RFC 3339 UTC.
    pub started: String,
    /// Title of its plan.
    pub title: String,
    /// Version of stend that began it.
    pub version: String,
    /// How it stands.
    pub state: RunState,
    /// Counted trials that its plan has, with the blocks that were added.
    pub planned: u32,
    /// Counted trials that are kept and valid.
    pub valid: u32,
    /// Visits to counted trials that a fault made invalid.
    pub invalid: u32,
}

const LINES: &str = "
SELECT r.id, r.started, r.title, r.version, r.planned, s.pid, s.ticks, e.run IS NOT NULL,
    e.why, s.boot,
    (SELECT count(*) FROM trial AS t WHERE t.run = r.number AND t.counted = 1 AND t.valid = 1),
    (SELECT count(*) FROM trial AS t WHERE t.run = r.number AND t.counted = 1 AND t.valid = 0),
    (SELECT count(DISTINCT t.trial) FROM trial AS t WHERE t.run = r.number AND t.counted = 1
        AND (t.valid = 1 OR (t.fault NOT LIKE ?1 AND t.fault <> ?2)))
FROM run AS r
JOIN sitting AS s ON s.run = r.number
    AND s.number = (SELECT max(number) FROM sitting WHERE run = r.number)
LEFT JOIN ending AS e ON e.run = s.run AND e.sitting = s.number
WHERE ?3 IS NULL OR r.id = ?3
ORDER BY r.number DESC";

impl Store {
    /// All runs, the newest first.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn list(&self) -> Result<Vec<RunLine>, StoreError> {
        self.lines(None)
    }

    /// All runs, the newest first, or the one of this whole id.
    pub(super) fn lines(&self, only: Option<&str>) -> Result<Vec<RunLine>, StoreError> {
        let all = || -> rusqlite::Result<Vec<RunLine>> {
            let planned = self.planned()?;
            let mut find = self.link.prepare(LINES)?;
            let lacks = Fault::NotAvailable { what: "%".into() }.to_string();
            let named = params![lacks, Fault::Cancelled.to_string(), only];
            let lines = find.query_map(named, |row| {
                let writer = Writer { pid: row.get(5)?, ticks: row.get(6)? };
                let (ended, why): (bool, Option<String>) = (row.get(7)?, row.get(8)?);
                let enough = Counted { visited: row.get(12)?, valid: row.get(10)? }.is_enough();
                let state = match (ended, why) {
                    (true, None) if enough => RunState::Complete,
                    (true, None) => RunState::Incomplete,
                    (true, Some(_)) => RunState::Partial,
                    (false, _) if writer.lives(&row.get::<_, String>(9)?) => RunState::Running,
                    (false, _) => RunState::Interrupted,
                };
                let id: String = row.get(0)?;
                let now = planned.get(&id).copied();
                Ok(RunLine {
                    id,
                    started: row.get(1)?,
                    title: row.get(2)?,
                    version: row.get(3)?,
                    state,
                    planned: now.map_or_else(|| row.get(4), Ok)?,
                    valid: row.get(10)?,
                    invalid: row.get(11)?,
                })
            })?;
            lines.collect()
        };
        all().map_err(|e| self.error(e))
    }

    /// The whole id of a run: of the id itself, of a beginning that only one run has, or of `last`,
    /// the newest.
    ///
    /// # Errors
    /// When no run or several are meant.
    pub fn find(&self, id: &str) -> Result<String, StoreError> {
        let query = if id == "last" {
            "SELECT id FROM run WHERE ?1 = 'last' ORDER BY number DESC LIMIT 1"
        } else {
            "SELECT id FROM run WHERE substr(id, 1, length(?1)) = ?1
             ORDER BY id <> ?1, number DESC LIMIT 3"
        };
        let all = || -> rusqlite::Result<Vec<String>> {
            self.link.prepare(query)?.query_map([id], |row| row.get(0))?.collect()
        };
        let found = all().map_err(|e| self.error(e))?;
        match found.as_slice() {
            [] => Err(StoreError::NoRun { id: id.into(), path: self.path.clone() }),
            [first, ..] if first == id || found.len() == 1 => Ok(first.clone()),
            _ => Err(StoreError::Ambiguous { id: id.into(), runs: found }),
        }
    }

    /// A run with all its records. One that its conductor left without a word is partial.
    ///
    /// # Errors
    /// As [`Self::find`], and when a record cannot be read.
    pub fn load(&self, id: &str) -> Result<Run, StoreError> {
        let mut run = self.head(id)?;
        let number = self.number(&run.id)?;
        let get = |e| self.error(e);
        run.sittings = self.sittings(number).map_err(get)?;
        for added in run.sittings.iter().filter_map(|sitting| sitting.added) {
            extend(&mut run.plan, added);
        }
        run.records = self.records((number, 0), &run.id)?;
        run.completeness = self.completeness(number).map_err(get)?;
        Ok(run)
    }

    /// A run as it began, without its records.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn head(&self, id: &str) -> Result<Run, StoreError> {
        let number = self.number(&self.find(id)?)?;
        let sealed = |row: &rusqlite::Row<'_>| {
            Ok((Sealed { bytes: row.get(0)?, digest: row.get(1)? }, row.get::<_, String>(2)?))
        };
        let (head, id) = self
            .link
            .query_row("SELECT head, digest, id FROM run WHERE number = ?1", [number], sealed)
            .map_err(|e| self.error(e))?;
        self.unpack(&head, || format!("run {id}"))
    }

    /// Counted trials of the runs to which blocks were added, by id.
    fn planned(&self) -> rusqlite::Result<BTreeMap<String, u32>> {
        let mut find = self.link.prepare(
            "SELECT r.id, e.planned FROM extension AS e JOIN run AS r ON r.number = e.run
             ORDER BY e.run, e.sitting",
        )?;
        // Of several the last counts.
        find.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    }

    /// What each sitting of a run added, by its number.
    fn added(&self, run: i64) -> rusqlite::Result<BTreeMap<i64, Added>> {
        let mut find = self
            .link
            .prepare("SELECT sitting, from_blocks, to_blocks FROM extension WHERE run = ?1")?;
        let added = |row: &rusqlite::Row<'_>| {
            Ok((row.get(0)?, Added { from: row.get(1)?, to: row.get(2)? }))
        };
        find.query_map([run], added)?.collect()
    }

    pub(super) fn sittings(&self, run: i64) -> rusqlite::Result<Vec<Sitting>> {
        let added = self.added(run)?;
        let mut find = self.link.prepare(
            "SELECT started, boot, records_before, number FROM sitting WHERE run = ?1
             ORDER BY number",
        )?;
        let sitting = |row: &rusqlite::Row<'_>| {
            let added = added.get(&row.get(3)?).copied();
            let (started, boot) = (row.get(0)?, row.get(1)?);
            Ok(Sitting { started, boot, records_before: row.get(2)?, added })
        };
        find.query_map([run], sitting)?.collect()
    }

    /// The records of a run from this place on, by its number.
    pub(super) fn records(
        &self,
        (run, from): (i64, u32),
        id: &str,
    ) -> Result<Vec<TrialRecord>, StoreError> {
        let all = || -> rusqlite::Result<Vec<(Sealed, u32)>> {
            let mut find = self.link.prepare(
                "SELECT record, digest, trial FROM trial WHERE run = ?1 AND seq >= ?2
                 ORDER BY seq",
            )?;
            let sealed = |row: &rusqlite::Row<'_>| {
                Ok((Sealed { bytes: row.get(0)?, digest: row.get(1)? }, row.get(2)?))
            };
            find.query_map(params![run, from], sealed)?.collect()
        };
        let sealed = all().map_err(|e| self.error(e))?;
        let record = |(sealed, trial): &(Sealed, u32)| {
            self.unpack(sealed, || format!("trial {trial} of run {id}"))
        };
        sealed.iter().map(record).collect()
    }

    pub(super) fn completeness(&self, run: i64) -> rusqlite::Result<Completeness> {
        let mut find = self.link.prepare(
            "SELECT why FROM ending WHERE run = ?1
             AND sitting = (SELECT max(number) FROM sitting WHERE run = ?1)",
        )?;
        let why: Option<Option<String>> =
            find.query_map(params![run], |row| row.get(0))?.next().transpose()?;
        Ok(match why {
            Some(None) => Completeness::Complete,
            Some(Some(why)) => Completeness::Partial { why },
            None => Completeness::Partial { why: "it was interrupted without a word".into() },
        })
    }

    /// What was sealed; `what` names it where it is no longer what was written.
    pub(super) fn unpack<T: DeserializeOwned>(
        &self,
        sealed: &Sealed,
        what: impl Fn() -> String,
    ) -> Result<T, StoreError> {
        let text = zstd::decode_all(sealed.bytes.as_slice()).ok();
        let Some(text) = text.filter(|text| written(text) == sealed.digest) else {
            return Err(StoreError::Altered { what: what(), path: self.path.clone() });
        };
        serde_json::from_slice(&text)
            .map_err(|e| StoreError::Record { path: self.path.clone(), source: e.into() })
    }
}
