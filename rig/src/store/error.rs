//! Knows every way in which keeping or finding a run can fail.

use rusqlite::ErrorCode;
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
    /// The file is a store of stend 0.1.
    #[error(
        "{} was written by stend 0.1, which alone reads its records; keep it under another name \
         for that, or name another file with --store",
        path.display()
    )]
    Older {
        /// Which.
        path: PathBuf,
    },
    /// The file has a later schema.
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
    /// The id belongs to another run.
    #[error(
        "{} has another run of the name {id}; import into another file with --store",
        path.display()
    )]
    Other {
        /// Which run.
        id: String,
        /// Where.
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
    #[error("run {id} was taken up by another process; wait for it, or stop it, and resume again")]
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
    /// A row is not what was written.
    #[error(
        "{}: {what} is not what was written, as its digest shows; take the file back from a copy, \
         or import the run from its report into another file with --store",
        path.display()
    )]
    Altered {
        /// The trial or the run.
        what: String,
        /// Which file.
        path: PathBuf,
    },
    /// SQLite says no.
    #[error("{}: {source}{}", path.display(), remedy(source))]
    Sql {
        /// Which file.
        path: PathBuf,
        /// In its words.
        source: rusqlite::Error,
    },
}

/// What a person can do about an error of SQLite, with a semicolon before it; often nothing.
fn remedy(source: &rusqlite::Error) -> &'static str {
    match source.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => "; make room, or name a file elsewhere with --store",
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            "; file and directory must be yours to write, or name others with --store"
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "; another program holds the file: end it and try again"
        }
        _ => "",
    }
}
