//! Knows the shapes of what this program prints as JSON; their schemas are made from them.
//!
//! Never: what stands in them.

use desk::record::Run;
use desk::verdict::{Analysis, Elasticity as Shares, Gate as Judged, NoiseFloor, Unpaired};
use press::report::{Article, Document, article};
use schemars::JsonSchema;
use serde::Serialize;

/// Version of `report.json` and of what `gate` prints.
const SCHEMA: u32 = 1;

/// `report.json`: the article beside `report.html`.
#[derive(Serialize, JsonSchema)]
pub struct Report {
    /// Version of this form.
    schema: u32,
    /// The article.
    article: Article,
}

impl Report {
    /// Of a document.
    pub fn of(document: &Document) -> Self {
        Self { schema: SCHEMA, article: article(document) }
    }
}

/// What `run`, `aa`, `resume` and `report` print with `--json`.
#[derive(Serialize, JsonSchema)]
pub struct Result<'a> {
    /// The run with all its records.
    pub run: &'a Run,
    /// What was concluded from it.
    pub analysis: &'a Analysis,
    /// The noise of the plan here, where a treatment stands under two names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise: Option<&'a NoiseFloor>,
    /// The article.
    pub article: Article,
}

/// What `elasticity` prints with `--json`, and `report` of such a run.
#[derive(Serialize, JsonSchema)]
pub struct Elasticity<'a> {
    /// The run with all its records; its plan has what was taken down and what could not be.
    pub run: &'a Run,
    /// What each resource has of the cause, a row a load.
    pub elasticity: &'a [Shares],
    /// The article.
    pub article: Article,
}

/// One part of a first run; `records.json` of a first run is a list of these.
#[derive(Serialize, JsonSchema)]
pub struct Part<'a> {
    /// The run with all its records.
    pub run: &'a Run,
    /// What was concluded from it.
    pub analysis: &'a Analysis,
}

/// What `stend` without a verb prints with `--json`.
#[derive(Serialize, JsonSchema)]
pub struct Survey<'a> {
    /// The parts in their order.
    pub parts: Vec<Part<'a>>,
    /// The article over all of them.
    pub article: Article,
}

/// What `compare` prints with `--json`; also `comparison.json`.
#[derive(Serialize, JsonSchema)]
pub struct Compare<'a> {
    /// Whether a verdict may rest on the two.
    pub comparable: bool,
    /// What marks figures that were forced.
    pub watermark: Option<&'a str>,
    /// Differences and comparisons.
    pub comparison: &'a Unpaired,
    /// The article.
    pub article: Article,
}

/// What `gate` prints with `--json`.
#[derive(Serialize, JsonSchema)]
pub struct Gate<'a> {
    /// Version of this form.
    schema: u32,
    /// The run that was judged.
    run: &'a str,
    /// Exit status of the program.
    exit_status: u8,
    /// Rule, outcome and every comparison.
    gate: &'a Judged,
    /// The article, the gate first.
    article: Article,
}

impl<'a> Gate<'a> {
    /// Of a run before a gate.
    pub fn of(run: &'a Run, gate: &'a Judged, exit_status: u8, document: &Document) -> Self {
        Self { schema: SCHEMA, run: &run.id, exit_status, gate, article: article(document) }
    }
}

/// A run as `list --json` has it.
#[derive(Serialize, JsonSchema)]
pub struct ListedRun {
    /// Its id.
    pub id: String,
    /// When it began, RFC 3339 UTC.
    pub started: String,
    /// Title of its plan.
    pub title: String,
    /// Version of stend.
    pub version: String,
    /// `complete`, `incomplete`, `partial`, `running` or the like.
    pub state: String,
    /// Counted trials of the plan.
    pub planned: u32,
    /// Trials with a good visit.
    pub valid: u32,
    /// Visits that were invalid.
    pub invalid: u32,
}
