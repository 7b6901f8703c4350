//! Knows the tables, and which files are stores that this version can read.
//!
//! A later schema only adds: from schema 3 on what a stend wrote stays readable.

use super::error::StoreError;
use rusqlite::{Connection, ErrorCode};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// `sten`, in the header of the file.
const APPLICATION: i64 = 0x7374_656e;
/// The schema of a file. Those below held records that only stend 0.1 reads.
const SCHEMA: i64 = 3;

/// `run.head` is the run without its records and `trial.record` one record, both JSON in zstd; the
/// columns beside them are for lists and for whoever opens the file with SQL. `digest` is that of
/// the JSON.
const TABLES: &str = "
CREATE TABLE run (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, started TEXT NOT NULL,
    title TEXT NOT NULL, version TEXT NOT NULL, planned INTEGER NOT NULL, head BLOB NOT NULL,
    digest TEXT NOT NULL);
CREATE TABLE sitting (
    run INTEGER NOT NULL REFERENCES run, number INTEGER NOT NULL, started TEXT NOT NULL,
    boot TEXT NOT NULL, records_before INTEGER NOT NULL, pid INTEGER NOT NULL,
    ticks INTEGER NOT NULL, PRIMARY KEY (run, number));
CREATE TABLE trial (
    number INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run, seq INTEGER NOT NULL,
    trial INTEGER NOT NULL, block INTEGER NOT NULL, counted INTEGER NOT NULL,
    valid INTEGER NOT NULL, attempt INTEGER NOT NULL, fault TEXT, started_s REAL NOT NULL,
    record BLOB NOT NULL, digest TEXT NOT NULL, UNIQUE (run, seq));
CREATE INDEX trial_kind ON trial (run, counted, valid);
CREATE TABLE sample (
    trial INTEGER NOT NULL REFERENCES trial, metric TEXT NOT NULL, value REAL NOT NULL,
    unit TEXT NOT NULL, PRIMARY KEY (trial, metric)) WITHOUT ROWID;
CREATE TABLE ending (
    run INTEGER NOT NULL REFERENCES run, sitting INTEGER NOT NULL, why TEXT,
    PRIMARY KEY (run, sitting));
CREATE TABLE extension (
    run INTEGER NOT NULL REFERENCES run, sitting INTEGER NOT NULL, from_blocks INTEGER NOT NULL,
    to_blocks INTEGER NOT NULL, planned INTEGER NOT NULL, PRIMARY KEY (run, sitting));
";

const KEPT_FOR_EVER: [&str; 6] = ["run", "sitting", "trial", "sample", "ending", "extension"];

/// Nothing in a table is ever changed or taken away.
fn keep_for_ever(link: &Connection, table: &str) -> rusqlite::Result<()> {
    for change in ["UPDATE", "DELETE"] {
        link.execute_batch(&format!(
            "CREATE TRIGGER no_{change}_{table} BEFORE {change} ON {table}
             BEGIN SELECT RAISE(ABORT, 'records are only ever added'); END"
        ))?;
    }
    Ok(())
}

/// Whether the file holds nothing yet.
pub(super) fn is_empty(link: &Connection, path: &Path) -> Result<bool, StoreError> {
    let count =
        link.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0));
    match count {
        Ok(count) => Ok(count == 0),
        Err(e) if e.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
            Err(StoreError::Foreign { path: path.into() })
        }
        Err(source) => Err(StoreError::Sql { path: path.into(), source }),
    }
}

/// Makes the tables in a file that has none.
pub(super) fn make(link: &Connection) -> rusqlite::Result<()> {
    // Two conductors may come at once: the second waits and finds the tables.
    link.pragma_update(None, "journal_mode", "WAL")?;
    link.execute_batch("BEGIN IMMEDIATE")?;
    let made = tables(link);
    link.execute_batch(if made.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    made
}

fn tables(link: &Connection) -> rusqlite::Result<()> {
    let there: i64 = link.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if there > 0 {
        return Ok(());
    }
    link.execute_batch(TABLES)?;
    KEPT_FOR_EVER.iter().try_for_each(|table| keep_for_ever(link, table))?;
    link.pragma_update(None, "application_id", APPLICATION)?;
    link.pragma_update(None, "user_version", SCHEMA)
}

/// The same as [`check`] from the first bytes of a file, which nothing is opened or made for. Where
/// there is a log the file may not have heard yet what it is.
///
/// # Errors
/// When the file is something else or of another schema; one that cannot be read is left to SQLite.
pub(super) fn check_header(path: &Path, has_log: bool) -> Result<(), StoreError> {
    // Places from the description of the database header in SQLite's file format.
    const PAGES: usize = 28;
    const VERSION: usize = 60;
    const APPLICATION_ID: usize = 68;
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(100).read_to_end(&mut head));
    if read.is_err() || head.is_empty() {
        return Ok(());
    }
    let number = |at: usize| {
        let bytes = head.get(at..at + 4)?;
        Some(i64::from(u32::from_be_bytes(bytes.try_into().ok()?)))
    };
    let foreign = || StoreError::Foreign { path: path.into() };
    if !head.starts_with(b"SQLite format 3\0") {
        return Err(foreign());
    }
    match (number(APPLICATION_ID), number(VERSION)) {
        (Some(APPLICATION), Some(found)) if found > 0 => known(path, found),
        _ if has_log => Ok(()),
        // A database without a table has one page.
        (Some(0), _) if number(PAGES) <= Some(1) => Ok(()),
        _ => Err(foreign()),
    }
}

/// Refuses a store of another schema.
fn known(path: &Path, found: i64) -> Result<(), StoreError> {
    match found {
        SCHEMA => Ok(()),
        later if later > SCHEMA => {
            Err(StoreError::Newer { path: path.into(), found, known: SCHEMA })
        }
        _ => Err(StoreError::Older { path: path.into() }),
    }
}

/// Refuses what is no store, or a store of another schema.
pub(super) fn check(link: &Connection, path: &Path) -> Result<(), StoreError> {
    let number = |name: &str| link.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let both = number("application_id").and_then(|a| Ok((a, number("user_version")?)));
    match both {
        Ok((APPLICATION, found)) => known(path, found),
        Ok(_) => Err(StoreError::Foreign { path: path.into() }),
        Err(e) if e.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
            Err(StoreError::Foreign { path: path.into() })
        }
        Err(source) => Err(StoreError::Sql { path: path.into(), source }),
    }
}
