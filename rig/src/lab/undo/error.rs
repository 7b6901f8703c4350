//! Knows how a change or its undo can fail.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// A failure of the journal, of its guardian, or of a change.
#[derive(Debug, Error)]
pub enum UndoError {
    /// Nowhere to write.
    #[error(
        "no directory for the journal of undos: neither STEND_JOURNAL nor HOME is set; set one"
    )]
    NoPlace,
    /// The journal cannot be written or read.
    #[error(
        "journal of undos {}: {source}; nothing is changed without one, set STEND_JOURNAL to a \
         directory of your own on a writable disk",
        path.display()
    )]
    Journal {
        /// File or directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Others could write into the journal, and with it into the machine.
    #[error("the journal's directory {} is not ours alone; {remedy}", path.display())]
    NotOurs {
        /// Which.
        path: PathBuf,
        /// What to do.
        remedy: &'static str,
    },
    /// A complete line that is none of ours.
    #[error(
        "journal of undos {}, line {line}: {what}; look at it, then remove the file",
        path.display()
    )]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What the reader said.
        what: String,
    },
    /// No guardian, no change.
    #[error(
        "the guardian of the journal did not start: {0}; is the stend binary still at its path?"
    )]
    Guardian(io::Error),
    /// A setting cannot be read or written.
    #[error("{}: {source}", path.display())]
    Setting {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The machine kept another value than was written.
    #[error("{}: asked {asked}, read back {found}", path.display())]
    NotTaken {
        /// Which file.
        path: PathBuf,
        /// What was written.
        asked: String,
        /// What it is.
        found: String,
    },
    /// Two conductors would undo each other's work.
    #[error("{} is set by another stend, process {pid}; wait until it ends", path.display())]
    Busy {
        /// Which file.
        path: PathBuf,
        /// The other conductor.
        pid: u32,
    },
    /// Something was not brought back.
    #[error("{0}")]
    Left(String),
}

impl UndoError {
    pub(super) fn journal(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Journal { path, source }
    }
}
