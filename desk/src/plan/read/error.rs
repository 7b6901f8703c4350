//! Knows every way in which a plan can be wrong, and the words for it.

use thiserror::Error;

/// Why a plan is refused; each says the line, the value and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlanError {
    /// The text is not TOML.
    #[error("line {line}: not TOML: {what}")]
    Syntax {
        /// Line in the plan, from 1.
        line: u32,
        /// The parser's words.
        what: String,
    },
}
