//! Knows what a screen says of a run while it is measured: progress, comparisons so far, limits,
//! the last trial, invalid attempts, the course of the primary metric.
//!
//! Gives: [`screen`] and [`empty`], lines of spans for a terminal. Never: where on the screen they
//! stand, which colour an ink is, or a statistic of its own.
//! Start reading at [`screen`].

mod course;
mod found;
mod ink;
mod trial;

pub use ink::{Ink, Line, Span};

use super::compose::{Part, Writer, count, lab_of, machine_word};
use super::document::Prose;
use super::error::ReportError;
use super::text::ascii;
use super::words::Args;
use ink::plain;

/// How a run stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Its conductor lives.
    Running,
    /// It went to its end.
    Complete,
    /// It went to its end with too few valid trials.
    Incomplete,
    /// It was stopped or given up, and why.
    Partial(String),
    /// Its conductor went away without a word.
    Interrupted,
}

/// How far a run is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Course {
    /// The block of the last trial; 0 while dry attempts are made.
    pub block: u32,
    /// Blocks in all.
    pub blocks: u32,
    /// Trials that are done, dry ones too.
    pub done: u32,
    /// Trials in all, dry ones too.
    pub planned: u32,
    /// Time that is left, in minutes and seconds, where the pace tells it.
    pub left: Option<String>,
}

/// A run of those that are followed.
#[derive(Clone, Debug)]
pub struct Stage<'a> {
    /// The run, with what was concluded from it last, perhaps from fewer of its trials.
    pub part: Part<'a>,
    /// How it stands.
    pub state: State,
    /// How far it is.
    pub course: Course,
}

/// What is to be shown.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// The runs; several of a survey.
    pub stages: &'a [Stage<'a>],
    /// Which of them.
    pub at: usize,
    /// Whether a person named it, rather than the run that is open being meant.
    pub named: bool,
    /// Columns of a line of the course.
    pub columns: u16,
    /// False if every character must be ASCII.
    pub unicode: bool,
}

/// Which part of a screen this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaneKind {
    /// Comparisons, or figures where nothing is compared.
    Found,
    /// What was full.
    Limits,
    /// The last trial with its readings.
    Trial,
    /// Every trial in the order of time.
    Course,
    /// Invalid attempts.
    Faults,
}

/// A part of a screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pane {
    /// Which.
    pub kind: PaneKind,
    /// Its heading.
    pub title: String,
    /// What stands in it, a statement each.
    pub lines: Vec<Line>,
}

/// What is said of a run, before it is laid out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Screen {
    /// What the run is.
    pub head: Vec<Line>,
    /// Trials done, of all.
    pub done: (u32, u32),
    /// The same in words.
    pub progress: Line,
    /// The parts, from the top.
    pub panes: Vec<Pane>,
    /// Which keys do what, in short.
    pub keys: Line,
    /// The same at length, its heading first.
    pub help: Vec<Line>,
}

/// What is said of a run.
///
/// # Errors
/// No run at that place, or missing words.
pub fn screen(shown: &Shown<'_>) -> Result<Screen, ReportError> {
    let stage = shown.stages.get(shown.at).ok_or(ReportError::NoRun)?;
    let writer = Writer::on(std::iter::once(stage.part.run))?;
    let mut panes = vec![found::pane(&writer, stage)?];
    panes.extend(found::limits(&writer, stage)?);
    panes.extend(trial::last(&writer, stage.part.run)?);
    panes.extend(course::pane(&writer, stage.part.run, (shown.columns, shown.unicode))?);
    panes.extend(trial::faults(&writer, stage.part.run)?);
    let keys = if shown.stages.len() > 1 { "watch-keys-parts" } else { "watch-keys" };
    let screen = Screen {
        head: head(&writer, shown, stage)?,
        done: (stage.course.done, stage.course.planned),
        progress: progress(&writer, stage)?,
        panes,
        keys: plain(&writer.label(keys)?, Ink::Dim),
        help: help(&writer)?,
    };
    Ok(if shown.unicode { screen } else { screen.in_ascii() })
}

/// What is said where no run is.
///
/// # Errors
/// Missing words.
pub fn empty(store: &str, unicode: bool) -> Result<Screen, ReportError> {
    let writer = Writer::new()?;
    let none = writer.say("watch-none", Args::new().name("path", store))?;
    let screen = Screen {
        head: vec![plain(&none, Ink::Plain)],
        keys: plain(&writer.label("watch-keys")?, Ink::Dim),
        help: help(&writer)?,
        ..Screen::default()
    };
    Ok(if unicode { screen } else { screen.in_ascii() })
}

impl Screen {
    fn in_ascii(mut self) -> Self {
        let lines = self.head.iter_mut().chain([&mut self.progress, &mut self.keys]);
        let panes = self.panes.iter_mut();
        let (titles, bodies): (Vec<_>, Vec<_>) =
            panes.map(|pane| (&mut pane.title, &mut pane.lines)).unzip();
        titles.into_iter().for_each(|title| *title = ascii(title));
        let lines = lines.chain(bodies.into_iter().flatten()).chain(&mut self.help);
        lines.flatten().for_each(|span| span.text = ascii(&span.text).replace('·', "|"));
        self
    }
}

/// Title, place, how it stands, and which part it is.
fn head(writer: &Writer, shown: &Shown<'_>, stage: &Stage<'_>) -> Result<Vec<Line>, ReportError> {
    let run = stage.part.run;
    let title = writer.say("watch-head", Args::new().name("title", &run.plan.title))?;
    let place = Args::new()
        .prose("machine", &machine_word(writer, run.environment())?)
        .prose("lab", &lab_of(writer, &[stage.part])?);
    let state = state(writer, &stage.state)?;
    let open = shown.stages.iter().any(|stage| stage.state == State::Running);
    let key = if open || shown.named { "watch-run" } else { "watch-run-last" };
    let args = Args::new().name("run", &run.id).prose("state", &state);
    let ink = if stage.state == State::Running { Ink::Plain } else { Ink::Strong };
    let mut lines = vec![
        plain(&title, Ink::Strong),
        plain(&writer.say("watch-where", place)?, Ink::Dim),
        plain(&writer.say(key, args)?, ink),
    ];
    if shown.stages.len() > 1 {
        let at =
            Args::new().count("at", count(shown.at + 1)).count("of", count(shown.stages.len()));
        lines.push(plain(&writer.say("watch-part", at)?, Ink::Plain));
    }
    Ok(lines)
}

fn state(writer: &Writer, state: &State) -> Result<Prose, ReportError> {
    match state {
        State::Running => writer.label("watch-running"),
        State::Complete => writer.label("watch-complete"),
        State::Incomplete => writer.label("watch-incomplete"),
        State::Partial(why) => writer.say("watch-partial", Args::new().name("why", why)),
        State::Interrupted => writer.label("watch-interrupted"),
    }
}

/// `block 3 of 10, 42 of 120 trials, about 1:23 left`.
fn progress(writer: &Writer, stage: &Stage<'_>) -> Result<Line, ReportError> {
    let course = &stage.course;
    let blocks = Args::new().count("block", course.block).count("blocks", course.blocks);
    let block = match course.block {
        0 => writer.label("watch-dry")?,
        _ => writer.say("watch-block", blocks)?,
    };
    let trials = Args::new().count("done", course.done).count("planned", course.planned);
    let mut said = vec![block, writer.say("watch-trials", trials)?];
    if let Some(left) = course.left.as_ref().filter(|_| stage.state == State::Running) {
        said.push(writer.say("watch-left", Args::new().name("time", left))?);
    }
    Ok(plain(&Prose::join_with(&said, ", "), Ink::Plain))
}

fn help(writer: &Writer) -> Result<Vec<Line>, ReportError> {
    let keys = [
        "watch-help-quit",
        "watch-help-scroll",
        "watch-help-part",
        "watch-help-verdict",
        "watch-help-invalid",
        "watch-help-colour",
    ];
    let mut lines = vec![plain(&writer.label("watch-help")?, Ink::Strong)];
    for key in keys {
        lines.push(plain(&writer.label(key)?, Ink::Plain));
    }
    Ok(lines)
}
