//! stub
use super::document::{Document, Prose};
use super::error::ReportError;
use super::words::{LANGUAGE, Words};
use crate::record::Run;
use crate::verdict::Analysis;

/// What a part of a survey is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The same level against itself.
    NoiseFloor,
    /// Two levels at one load.
    Duel,
    /// Two levels along a curve.
    Curve,
}

/// One run with its analysis, and what it is for.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// What it is for.
    pub role: Role,
    /// The run.
    pub run: &'a Run,
    /// What was concluded from it.
    pub analysis: &'a Analysis,
}

/// The report on one run.
///
/// # Errors
/// Words that are missing, or a plan that cannot be written.
pub fn compose(run: &Run, _analysis: &Analysis) -> Result<Document, ReportError> {
    let _words = Words::english()?;
    Ok(Document {
        language: LANGUAGE,
        kicker: Prose::default(),
        title: Prose::verbatim(&run.plan.title),
        question: Prose::verbatim(&run.plan.question),
        body: Vec::new(),
    })
}

/// The report on a survey: one article over all its parts.
///
/// # Errors
/// As [`compose`], and no part at all.
pub fn compose_survey(parts: &[Part<'_>]) -> Result<Document, ReportError> {
    let first = parts.first().ok_or(ReportError::NoRun)?;
    compose(first.run, first.analysis)
}
