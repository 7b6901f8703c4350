//! Knows the bundle: everything that an article was made from, so that a report is its own archive.
//!
//! Gives: [`Bundle`], its canonical text ([`Bundle::packed`], [`Bundle::read`]), the article that
//! it makes again ([`Bundle::document`]) and the page that carries it ([`page`]).
//! Never: trusts what it reads; a report comes from strangers.
//! Start reading at [`Bundle`]; the text is made in `columns.rs`, `planes.rs` and `records.rs`.

mod columns;
mod error;
mod file;
mod fit;
mod planes;
mod records;
mod remake;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_laws;
mod text;

pub use error::BundleError;
pub use file::FILE_MAX;
pub(super) use file::packed;
pub use fit::{LARGEST, over, page};

use super::compose::{Part, Role};
use desk::record::Run;
use desk::verdict::{FailIf, Sides};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The format that this version writes and reads; those below are of stend 0.1.
pub const FORMAT: u32 = 3;
/// How a page marks the element that holds its bundle.
pub(super) const ELEMENT: &str = "<script type=\"application/gzip\" id=\"bundle\">";

/// What a comparison of two runs was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// Another metric than the primary one of the first run.
    pub metric: Option<String>,
    /// Figures although the runs are not comparable.
    pub force: bool,
    /// How many of the runs, in their order, are sessions of either side; those that are left enter
    /// the spread between sessions alone. None: the two runs are a session each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<[usize; 2]>,
}

impl Asked {
    /// Whether so many runs can be the sessions of both sides.
    fn fits(&self, runs: usize) -> bool {
        match self.sessions {
            None => runs == 2,
            Some([a, b]) => a > 0 && b > 0 && a.checked_add(b).is_some_and(|both| both <= runs),
        }
    }
}

/// What a gate held a run against.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// The rule.
    pub fail_if: FailIf,
    /// Another metric than the primary one.
    pub metric: Option<String>,
}

/// One run of a bundle, and what it is for.
#[derive(Clone, Debug, PartialEq)]
pub struct PartBundle<'r> {
    /// Its place in a survey; none in the article of one run and in a comparison.
    pub role: Option<Role>,
    /// The run with all its records, without their tracks.
    pub run: Cow<'r, Run>,
}

/// Everything that an article was made from: one run, the parts of a survey, or the sessions of a
/// comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Bundle<'r> {
    /// [`FORMAT`].
    pub format: u32,
    /// The runs, in the order of the article.
    pub parts: Vec<PartBundle<'r>>,
    /// What was asked of them, if they were compared.
    pub compare: Option<Asked>,
    /// What the one run was held against, if it was put before a gate.
    pub gate: Option<Judged>,
}

impl<'r> Bundle<'r> {
    /// That of the article on one run.
    #[must_use]
    pub fn of_run(run: &'r Run) -> Self {
        Self { format: FORMAT, parts: vec![part(None, run)], compare: None, gate: None }
    }

    /// That of the article on stored runs: on the only one, or on a survey of several.
    #[must_use]
    pub fn of_runs(runs: &'r [Run]) -> Self {
        let parts = match runs {
            [only] => vec![part(None, only)],
            several => several.iter().map(|run| part(Some(Role::of(run)), run)).collect(),
        };
        Self { format: FORMAT, parts, compare: None, gate: None }
    }

    /// That of the article on a run before a gate; the run is as it was measured.
    #[must_use]
    pub fn of_gate(run: &'r Run, gate: Judged) -> Self {
        Self { gate: Some(gate), ..Self::of_run(run) }
    }

    /// That of the article on a survey.
    #[must_use]
    pub fn of_survey(parts: &[Part<'r>]) -> Self {
        let parts = parts.iter().map(|p| part(Some(p.role), p.run)).collect();
        Self { format: FORMAT, parts, compare: None, gate: None }
    }

    /// That of a comparison of the sessions of two sides, the baseline first; how many there are
    /// stands in what is kept of the question.
    #[must_use]
    pub fn of_comparison(sides: Sides<'r>, asked: Asked) -> Self {
        let (a, b, others) = (sides.a.len(), sides.b.len(), sides.others.len());
        let sessions = ([a, b, others] != [1, 1, 0]).then_some([a, b]);
        let all = [sides.a, sides.b, sides.others].concat();
        let parts = all.into_iter().map(|run| part(None, run)).collect();
        Self { format: FORMAT, parts, compare: Some(Asked { sessions, ..asked }), gate: None }
    }
}

/// A run without what was sampled in its windows: no word of an article comes from that.
fn part(role: Option<Role>, run: &Run) -> PartBundle<'_> {
    if run.records.iter().all(|record| record.tracks.is_empty()) {
        return PartBundle { role, run: Cow::Borrowed(run) };
    }
    let mut run = run.clone();
    run.records.iter_mut().for_each(|record| record.tracks.clear());
    PartBundle { role, run: Cow::Owned(run) }
}
