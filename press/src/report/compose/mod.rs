//! Knows the order of an article and which facts go into each chapter.
//!
//! Gives: [`compose`], [`compose_survey`], [`compose_comparison`], [`compose_gate`].
//! Never: computes a statistic or types a number; what it says it was given as an estimate, a
//! setting or a count.
//! Start reading at [`compose`]; the chapters stand in the neighbouring files in their order.

mod advice;
mod along;
mod answer;
mod appendix;
mod basis;
mod brief;
mod by_level;
mod cause;
mod closing;
mod compare;
mod cost;
mod counted;
mod crossed;
mod curve;
mod dependence;
mod doubts;
mod effect;
mod elasticity;
mod entered;
mod figures;
mod front;
mod gate;
mod glance;
mod index;
mod interaction;
mod itself;
mod ladder;
mod levels;
mod limits;
mod lost;
mod machine;
mod machines;
mod matrix;
mod measured;
mod method;
mod most;
mod names;
mod paced;
mod places;
mod plot;
mod published;
mod quantiles;
mod ranks;
mod readers;
mod reproduce;
mod results;
mod ruling;
mod say;
mod sessions;
mod spent;
mod standard;
mod states;
mod testbed;
#[cfg(test)]
mod tests;
mod traits;
mod tune;
mod withheld;
mod worth;

pub(super) use advice::short as short_advice;
pub use compare::compose_comparison;
pub use elasticity::elasticity_words;
pub use gate::{compose_gate, gate_headline, gate_lines};
pub use itself::aa_words;

pub(super) use cause::in_short as limits_in_short;
pub(super) use doubts::short as short_doubt;
#[cfg(test)]
pub(super) use doubts::{fix as doubt_fix, lead as doubt_lead, means as doubt_means};
pub(super) use effect::short_effect;
pub(super) use figures::curve_figure;
pub(super) use limits::kind_word as limit_word;
pub(super) use machine::runs_alone;
pub(super) use measured::measured_lines;
pub(super) use names::{key_words, moment, short_pair};
pub(super) use plot::roof_line;
pub(super) use ruling::{count, further, short_condition};
pub(super) use say::{sign, word};
pub(super) use testbed::{lab_of, machine_word};
pub(super) use tune::tune_lines;

use super::document::{Column, Document, Node, Prose, Table};
use super::error::ReportError;
use super::words::{Args, LANGUAGE, Words};
use crate::claim::claims;
pub use crate::claim::{Part, Role};
use crate::figure::Figure;
use desk::record::{Replicate, Run};
use desk::verdict::{Analysis, Caveat};
use serde::Serialize;

/// What n counts, as the words choose by it.
const fn repeat(replicate: Replicate) -> &'static str {
    match replicate {
        Replicate::Block => "block",
        Replicate::Boot => "boot",
    }
}

/// Under which of these keys a kind with figures of its own is written.
const TAGS: [&str; 4] = ["kind", "why", "reason", "standing"];

/// What a kind is called in the names of messages: as it is written, with hyphens.
fn slug(kind: &impl Serialize) -> String {
    let written = serde_json::to_value(kind).unwrap_or_default();
    let tag = TAGS.iter().find_map(|tag| written.get(tag)).unwrap_or(&written);
    tag.as_str().unwrap_or_default().replace('_', "-")
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

    /// A writer on runs, who says boots where n counts them.
    pub(super) fn on<'r>(runs: impl Iterator<Item = &'r Run>) -> Result<Self, ReportError> {
        let counted: Vec<Replicate> = runs.map(|run| run.plan.replicate()).collect();
        Self::counting(&counted)
    }

    /// A writer on results of which each n counts one of these.
    fn counting(counted: &[Replicate]) -> Result<Self, ReportError> {
        let boots = counted.iter().filter(|one| **one == Replicate::Boot).count();
        let repeat = match boots {
            0 => repeat(Replicate::Block),
            all if all == counted.len() => repeat(Replicate::Boot),
            _ => "mixed",
        };
        let Self { words, figures, tables } = Self::new()?;
        Ok(Self { words: words.counting(repeat), figures, tables })
    }

    pub(super) fn say(&self, key: &str, args: Args) -> Said {
        self.words.say(key, args)
    }

    pub(super) fn label(&self, key: &str) -> Said {
        self.words.label(key)
    }

    /// Of a family of messages the one of a kind: `word-*` of better is `word-better`.
    fn pick(&self, family: &str, kind: &impl Serialize, args: Args) -> Said {
        self.say(&family.replace('*', &slug(kind)), args)
    }

    /// Headings of a table whose cells are texts.
    fn headed(&self, keys: &[&str]) -> Result<Vec<Column>, ReportError> {
        keys.iter().map(|key| Ok(Column { title: self.label(key)?, numeric: false })).collect()
    }

    /// Headings of a table, each with whether its cells are figures.
    fn columns(&self, keys: &[(&str, bool)]) -> Result<Vec<Column>, ReportError> {
        let column = |(key, numeric): &(&str, bool)| {
            Ok(Column { title: self.label(key)?, numeric: *numeric })
        };
        keys.iter().map(column).collect()
    }

    /// The next table of the article, open and without notes.
    fn table(
        &mut self,
        caption: &Prose,
        columns: Vec<Column>,
        rows: Vec<Vec<Prose>>,
    ) -> Result<Table, ReportError> {
        let caption = self.numbered(caption)?;
        Ok(Table { caption, columns, rows, folded: false, notes: Vec::new() })
    }

    const fn next_figure(&mut self) -> u32 {
        self.figures += 1;
        self.figures
    }

    /// `Figure 3`, leading there.
    fn figure_ref(&self, figure: &Figure) -> Said {
        let said = self.say("figure-ref", Args::new().count("number", figure.number))?;
        let words = said.text().to_owned();
        Ok(said.linked(&words, &figure.id))
    }

    /// What a figure shows, in the words of the key, which has it as `figure`.
    fn shows(&self, figure: &Figure, key: &str, args: Args) -> Said {
        self.say(key, args.prose("figure", &self.figure_ref(figure)?))
    }

    fn numbered(&mut self, caption: &Prose) -> Said {
        self.tables += 1;
        let args = Args::new().count("number", self.tables).prose("caption", caption);
        self.say("table-number", args)
    }

    fn section(&self, id: &str, title: &str, body: Vec<Node>) -> Result<Node, ReportError> {
        Ok(Node::section(id.into(), self.label(title)?, body))
    }
}

/// The report on one run.
///
/// # Errors
/// Words that are missing, or a plan that cannot be written.
pub fn compose(run: &Run, analysis: &Analysis) -> Result<Document, ReportError> {
    let mut writer = Writer::on(std::iter::once(run))?;
    let parts = [Part { role: Role::Duel, run, analysis }];
    let args = whereabouts(&writer, &parts)?.name("run", &run.id);
    Ok(Document {
        language: LANGUAGE,
        watermark: watermark(&writer, run)?,
        kicker: writer.say("kicker", args)?,
        title: Prose::verbatim(&run.plan.title),
        question: Prose::verbatim(&run.plan.question),
        body: chapters(&mut writer, &parts)?,
        claims: claims(&parts),
    })
}

/// The report on a survey: one article over all its parts, the machine described once.
///
/// # Errors
/// As [`compose`], and no part at all.
pub fn compose_survey(parts: &[Part<'_>]) -> Result<Document, ReportError> {
    let first = parts.first().ok_or(ReportError::NoRun)?;
    let mut writer = Writer::on(parts.iter().map(|part| part.run))?;
    let args = whereabouts(&writer, parts)?;
    Ok(Document {
        language: LANGUAGE,
        watermark: watermark(&writer, first.run)?,
        kicker: writer.say("kicker-survey", args)?,
        title: writer.label("survey-title")?,
        question: writer.label(tune::question(parts))?,
        body: chapters(&mut writer, parts)?,
        claims: claims(parts),
    })
}

/// When, by which build, on which machine and in which lab: what stands above a title.
fn whereabouts(writer: &Writer, parts: &[Part<'_>]) -> Result<Args, ReportError> {
    let run = parts[0].run;
    Ok(Args::new()
        .name("started", &moment(&run.started))
        .name("version", &run.version)
        .prose("machine", &testbed::machine_word(writer, run.environment())?)
        .prose("lab", &testbed::lab_of(writer, parts)?))
}

/// What marks an article on a model or on emulated machines; nothing on hardware.
fn watermark(writer: &Writer, run: &Run) -> Said {
    match (run.environment().is_simulated(), run.is_emulated()) {
        (true, _) => writer.label("watermark-simulated"),
        (_, true) => writer.label("watermark-emulated"),
        _ => Ok(Prose::default()),
    }
}

/// The outline is the same for every article: a chapter that has nothing to say says that. What was
/// found stands open; what it rests on is folded.
fn chapters(writer: &mut Writer, parts: &[Part<'_>]) -> Nodes {
    let own = elasticity::answer(writer, parts)?;
    let own = if own.is_some() { own } else { ladder::answer(writer, parts)? };
    let mut body = match own {
        Some(answer) => vec![answer],
        None => vec![answer::verdict_box(writer, parts)?],
    };
    body.extend(tune::section(writer, parts)?);
    body.extend(elasticity::nodes(writer, parts)?);
    body.extend(ladder::nodes(writer, parts)?);
    body.extend(glance::nodes(writer, parts)?);
    body.extend(measured::nodes(writer, parts)?);
    body.push(results::chapter(writer, parts)?);
    // Where the CPU is what is measured there is no cost beside it.
    if !machine::runs_alone(parts) {
        let cost = cost::chapter(writer, parts)?;
        body.push(if parts.len() > 1 { cost.fold() } else { cost });
    }
    body.push(doubts::chapter(writer, parts)?);
    body.push(testbed::chapter(writer, parts)?.fold());
    body.push(method::chapter(writer, parts)?.fold());
    body.push(reproduce::chapter(writer, parts)?.fold());
    body.push(appendix::chapter(writer, parts)?.fold());
    front::lead(&mut body);
    Ok(body)
}

/// The heaviest doubts with the part they are worst in, no two of one kind.
pub(super) fn heaviest<'p, 'a>(
    parts: &'p [Part<'a>],
    most: usize,
) -> Vec<(&'p Part<'a>, &'a Caveat)> {
    let mut chosen: Vec<(&Part<'_>, &Caveat)> = Vec::new();
    for (part, caveat) in all_caveats(parts) {
        let kind = std::mem::discriminant(caveat);
        match chosen.iter_mut().find(|(_, c)| std::mem::discriminant(*c) == kind) {
            Some(known) if doubts::weight(caveat) > doubts::weight(known.1) => {
                *known = (part, caveat);
            }
            Some(_) => {}
            None => chosen.push((part, caveat)),
        }
    }
    chosen.truncate(most);
    chosen
}

/// The doubts of all parts: the heaviest of each part come before the second of any.
pub(super) fn all_caveats<'p, 'a>(parts: &'p [Part<'a>]) -> Vec<(&'p Part<'a>, &'a Caveat)> {
    let longest = parts.iter().map(|p| p.analysis.caveats.len()).max().unwrap_or(0);
    let rank =
        |rank: usize| parts.iter().filter_map(move |p| Some((p, p.analysis.caveats.get(rank)?)));
    (0..longest).flat_map(rank).collect()
}
