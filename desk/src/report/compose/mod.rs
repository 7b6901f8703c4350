//! Knows the order of an article and which facts go into each chapter.
//!
//! Gives: [`compose`], [`compose_survey`]. Never: computes a statistic or types a number; what it
//! says it was given as an estimate, a setting or a count.
//! Start reading at [`compose`]; the chapters stand in the neighbouring files in their order.

mod appendix;
mod curve;
mod doubts;
mod effect;
mod figures;
mod limits;
mod method;
mod reproduce;
mod results;
mod ruling;
mod testbed;

pub(super) use doubts::lead as doubt_lead;
pub(super) use effect::{metric_title, short_effect};
pub(super) use figures::curve_figure;
pub(super) use limits::causes;
pub(super) use ruling::{condition, verdict_word};
pub(super) use testbed::lab_word;

use super::document::{Document, Node, Prose};
use super::error::ReportError;
use super::words::{Args, LANGUAGE, Words};
use crate::record::Run;
use crate::verdict::{Analysis, Caveat};

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

type Nodes = Result<Vec<Node>, ReportError>;
type Said = Result<Prose, ReportError>;

/// The words, and how many figures and tables there are already.
pub(super) struct Writer {
    words: Words,
    figures: u32,
    tables: u32,
}

impl Writer {
    /// A writer at the first page.
    pub(super) fn new() -> Result<Self, ReportError> {
        Ok(Self { words: Words::english()?, figures: 0, tables: 0 })
    }

    pub(super) fn say(&self, key: &str, args: Args) -> Said {
        self.words.say(key, args)
    }

    pub(super) fn label(&self, key: &str) -> Said {
        self.words.label(key)
    }

    const fn next_figure(&mut self) -> u32 {
        self.figures += 1;
        self.figures
    }

    fn numbered(&mut self, caption: &Prose) -> Said {
        self.tables += 1;
        let args = Args::new().count("number", self.tables).prose("caption", caption);
        self.say("table-number", args)
    }

    fn section(&self, id: &str, title: &str, body: Vec<Node>) -> Result<Node, ReportError> {
        Ok(Node::Section { id: id.into(), title: self.label(title)?, body })
    }
}

/// The report on one run.
///
/// # Errors
/// Words that are missing, or a plan that cannot be written.
pub fn compose(run: &Run, analysis: &Analysis) -> Result<Document, ReportError> {
    let mut writer = Writer::new()?;
    let parts = [Part { role: Role::Duel, run, analysis }];
    let args = Args::new()
        .name("run", &run.id)
        .name("started", &run.started)
        .name("version", &run.version);
    Ok(Document {
        language: LANGUAGE,
        kicker: writer.say("kicker", args)?,
        title: Prose::verbatim(&run.plan.title),
        question: Prose::verbatim(&run.plan.question),
        body: chapters(&mut writer, &parts)?,
    })
}

/// The report on a survey: one article over all its parts, the machine described once.
///
/// # Errors
/// As [`compose`], and no part at all.
pub fn compose_survey(parts: &[Part<'_>]) -> Result<Document, ReportError> {
    let first = parts.first().ok_or(ReportError::NoRun)?;
    let mut writer = Writer::new()?;
    let args = Args::new().name("started", &first.run.started).name("version", &first.run.version);
    Ok(Document {
        language: LANGUAGE,
        kicker: writer.say("kicker-survey", args)?,
        title: writer.label("survey-title")?,
        question: writer.label("survey-question")?,
        body: chapters(&mut writer, parts)?,
    })
}

fn chapters(writer: &mut Writer, parts: &[Part<'_>]) -> Nodes {
    let mut body = vec![ruling::verdict_box(writer, parts)?];
    body.push(testbed::chapter(writer, parts)?);
    body.push(method::chapter(writer, parts)?);
    if parts.len() == 1 {
        for part in parts {
            let nodes = results::nodes(writer, part)?;
            body.push(writer.section("results", "results-title", nodes)?);
        }
    } else {
        for part in parts {
            body.push(Node::Section {
                id: format!("results-{}", part.run.id),
                title: Prose::verbatim(&part.run.plan.title),
                body: results::nodes(writer, part)?,
            });
        }
    }
    body.push(limits::chapter(writer, parts)?);
    body.push(doubts::chapter(writer, parts)?);
    body.push(reproduce::chapter(writer, parts)?);
    body.push(appendix::chapter(writer, parts)?);
    Ok(body)
}

/// The heaviest doubts, no two of one kind.
pub(super) fn heaviest<'a>(parts: &[Part<'a>], most: usize) -> Vec<&'a Caveat> {
    let mut kinds = Vec::new();
    let mut chosen = Vec::new();
    for caveat in all_caveats(parts) {
        let kind = std::mem::discriminant(caveat);
        if !kinds.contains(&kind) && chosen.len() < most {
            kinds.push(kind);
            chosen.push(caveat);
        }
    }
    chosen
}

/// The doubts of all parts, the heaviest first, none twice.
///
/// Parts list theirs by weight; the first of each part come before the second of any.
pub(super) fn all_caveats<'a>(parts: &[Part<'a>]) -> Vec<&'a Caveat> {
    let longest = parts.iter().map(|p| p.analysis.caveats.len()).max().unwrap_or(0);
    let mut all: Vec<&Caveat> = Vec::new();
    for rank in 0..longest {
        for caveat in parts.iter().filter_map(|p| p.analysis.caveats.get(rank)) {
            if !all.contains(&caveat) {
                all.push(caveat);
            }
        }
    }
    all
}
