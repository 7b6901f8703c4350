//! Knows why a report cannot be written.

use thiserror::Error;

/// Why a report cannot be written; each is a fault of stend or of its caller, never of the thing
/// measured.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReportError {
    /// The language lacks a message.
    #[error("the words of the report lack '{0}'; add it to report/words/en")]
    MissingWords(String),
    /// A file of messages is not Fluent, or two files define the same message.
    #[error("the words of the report cannot be read: {0}; correct report/words/en")]
    BadWords(String),
    /// A message asks for an argument that it was not given.
    #[error("the words '{key}' cannot be said: {why}; give every argument that they name")]
    Unsaid {
        /// The message.
        key: String,
        /// What Fluent says of it.
        why: String,
    },
    /// No run was given.
    #[error("there are 0 runs to report; run a plan first")]
    NoRun,
    /// The resolved plan cannot be written.
    #[error("the resolved plan cannot be written as TOML: {0}; keep the plan text in the run")]
    Plan(String),
    /// The runs that a page carries cannot be written, or make no article.
    #[error("the bundle of the report: {0}; `stend export --format json` gives the run alone")]
    Bundle(String),
    /// The report of a gate cannot be written.
    #[error("the gate as JUnit: {0}; leave out --junit")]
    Junit(String),
}
