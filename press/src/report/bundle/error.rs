//! Knows every way in which a file is no bundle that can be read.

use desk::record::RUN_SCHEMA;
use std::fmt::Display;
use thiserror::Error;

/// Most characters of a file that an error repeats.
const QUOTED: usize = 80;

/// Words of a file as an error repeats them: short, and nothing that a terminal would obey.
pub(super) fn quoted(words: &impl Display) -> String {
    words.to_string().chars().filter(|c| !is_hidden(*c)).take(QUOTED).collect()
}

/// Whether a terminal obeys a character instead of showing it: controls, and what turns the
/// direction of writing.
pub(super) fn is_hidden(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Why a file gives no runs. Files come from strangers: each text says what to do, none quotes
/// more of the file than a number or a name.
#[derive(Debug, Error)]
pub enum BundleError {
    /// Neither a report nor records.
    #[error(
        "it holds no records of stend: neither a page with a bundle, nor the JSON of a bundle or \
         of a run; take the report.html or the records.json of a run"
    )]
    NoBundle,
    /// A page with several.
    #[error("it holds {0} bundles, and a report has one; take the file as stend wrote it")]
    SeveralBundles(usize),
    /// More than any run needs.
    #[error("{what} is larger than {most} MiB, the most that is read; copy the store instead")]
    TooLarge {
        /// Which stage.
        what: &'static str,
        /// The limit.
        most: u64,
    },
    /// Broken on the way.
    #[error("the bundle is damaged: {0}; fetch the file again from where it came")]
    Damaged(String),
    /// The words of the file say something impossible.
    #[error("the bundle says what cannot be: {0}; fetch the file again from where it came")]
    Impossible(String),
    /// From the future.
    #[error(
        "the bundle has format {found}, this stend knows up to {known}; use the stend that wrote \
         it, or a newer one"
    )]
    NewerFormat {
        /// As it says.
        found: u32,
        /// The newest that is known.
        known: u32,
    },
    /// A run of stend 0.1.
    #[error("it was written by stend 0.1, which alone reads it; make its report with that version")]
    Older,
    /// A run of a later schema.
    #[error(
        "a run in it has schema {found} and was written by stend {version}, this stend knows \
         schemas up to {RUN_SCHEMA}; use the stend that wrote it, or a newer one"
    )]
    NewerRun {
        /// As it says.
        found: u32,
        /// Version of the writer, as it says.
        version: String,
    },
}
