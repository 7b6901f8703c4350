//! Knows every way in which keeping or finding a run can fail.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why the store did not do what it was asked.
#[derive(Debug, Error)]
pub enum StoreError {
    /// No directory for it.
    #[error("no store can be at {}: {source}; name another file with --store", path.display())]
    Place {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is no file.
    #[error("no store is at {}; `stend run` makes one, --store names another", path.display())]
    None {
        /// Where.
        path: PathBuf,
    },
    /// The file is something else.
    #[error("{} is not a store of stend; name another file with --store", path.display())]
    Foreign {
        /// Which.
        path: PathBuf,
    },
    /// The file is from the future.
    #[error(
        "{} has schema {found}, this stend knows up to {known}; use the stend that wrote it, or a \
         newer one",
        path.display()
    )]
    Newer {
        /// Which.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The newest that is known.
        known: i64,
    },
    /// No run of this name.
    #[error("there is no run '{id}' in {}; `stend list` names them", path.display())]
    NoRun {
        /// As given.
        id: String,
        /// Where it was looked for.
        path: PathBuf,
    },
    /// Several runs begin so.
    #[error("'{id}' is the beginning of {}; write more of it", runs.join(" and "))]
    Ambiguous {
        /// As given.
        id: String,
        /// Some of them.
        runs: Vec<String>,
    },
    /// Another process writes the run.
    #[error("run {id} is being measured by another process; wait for it, or stop it first")]
    Taken {
        /// Which.
        id: String,
    },
    /// A record cannot be packed or unpacked.
    #[error("{}: a record cannot be read or written: {source}", path.display())]
    Record {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// SQLite says no.
    #[error("{}: {source}; is the disk full, or the file not yours to write?", path.display())]
    Sql {
        /// Which file.
        path: PathBuf,
        /// In its words.
        source: rusqlite::Error,
    },
}
