//! Knows how runs are followed that another process writes: what was read of them, and when it is
//! worth the CPU to look again.
//!
//! Never: holds the store open between two looks.

use super::super::error::CliError;
use desk::plan::order;
use desk::record::{Completeness, Run, TrialRecord};
use desk::verdict::{Analysis, analyse_part, judged_together};
use press::report::watch::{Course, Stage, State};
use press::report::{Part, Role};
use rig::store::{Conductor, News, RunState, Stamp, Store};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Least pause between two looks.
pub const EVERY: Duration = Duration::from_secs(1);
/// A look is followed by a pause of so many times what it took, and so is an analysis: together
/// they take at most 1 % of the time of a CPU.
const SHARE: u32 = 200;
/// Trials of a sitting from which on its pace tells the time that is left.
const PACED: usize = 5;

/// The runs that are followed.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    named: Option<String>,
    stamp: Stamp,
    /// A record is in the file a moment before a reader can see it.
    unsettled: bool,
    runs: Vec<Followed>,
    analysed_from: Instant,
}

/// A run, as far as it was read.
#[derive(Debug)]
struct Followed {
    run: Run,
    state: State,
    conductor: Conductor,
    done: BTreeSet<u32>,
    planned: usize,
    blocks: u32,
    analysis: Analysis,
    /// Records that the analysis rests on; none before the first.
    rests_on: Option<usize>,
}

impl Follower {
    /// Nothing was read yet. Without a name it is the run that is open, else the last.
    pub fn new(path: PathBuf, named: Option<String>) -> Self {
        let (stamp, analysed_from) = (Stamp::default(), Instant::now());
        Self { path, named, stamp, unsettled: true, runs: Vec::new(), analysed_from }
    }

    /// Where the runs are kept.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a person named the run.
    pub const fn is_named(&self) -> bool {
        self.named.is_some()
    }

    /// Looks whether something was added, and reads it; gives whether anything has changed.
    ///
    /// # Errors
    /// When there is no store or no such run, or it cannot be read.
    pub fn look(&mut self) -> Result<bool, CliError> {
        let stamp = Stamp::of(&self.path);
        let added = stamp != self.stamp;
        let died = self.runs.iter().any(|one| one.is_open() && !one.conductor.lives());
        let read = added || self.unsettled || died;
        if read {
            self.read()?;
        }
        (self.stamp, self.unsettled) = (stamp, added);
        Ok(self.analyse() || read)
    }

    /// Reads what was added to the runs, and which they are.
    fn read(&mut self) -> Result<(), CliError> {
        let store = Store::read(&self.path)?;
        let ids = self.wanted(&store)?;
        self.runs.retain(|one| ids.contains(&one.run.id));
        for id in ids {
            match self.runs.iter_mut().find(|one| one.run.id == id) {
                Some(known) => known.read(&store)?,
                None => self.runs.push(Followed::begin(&store, &id)?),
            }
        }
        Ok(())
    }

    /// Ids of the runs to follow: of a name that several share all of them.
    fn wanted(&self, store: &Store) -> Result<Vec<String>, CliError> {
        if let Some(name) = &self.named {
            let parts = store.started_by(name)?;
            return Ok(if parts.is_empty() { vec![store.find(name)?] } else { parts });
        }
        // Of two that are open the one stays that is looked at.
        let own = self.runs.iter().find(|one| one.is_open() && one.conductor.lives());
        let open = match own {
            Some(own) => Some(own.run.id.clone()),
            None => store.current()?,
        };
        let Some(open) = open else { return Ok(Vec::new()) };
        let start = open.rsplit_once('-').map_or(open.as_str(), |(start, _)| start);
        let parts = store.started_by(start)?;
        Ok(if parts.contains(&open) { parts } else { vec![open] })
    }

    /// Concludes anew from runs that have grown; gives whether it did.
    fn analyse(&mut self) -> bool {
        let together = judged_together(self.runs.iter().map(|one| &one.run.plan));
        let mut changed = false;
        for one in &mut self.runs {
            let grown = one.rests_on != Some(one.run.records.len());
            let waits =
                one.is_open() && one.rests_on.is_some() && { Instant::now() < self.analysed_from };
            if grown && !waits {
                let begun = Instant::now();
                one.analysis = analyse_part(&one.run, together);
                one.rests_on = Some(one.run.records.len());
                self.analysed_from = Instant::now() + begun.elapsed() * SHARE;
                changed = true;
            }
        }
        changed
    }

    /// The place of the run that is open, else of the last.
    pub fn open(&self) -> usize {
        let last = self.runs.len().saturating_sub(1);
        self.runs.iter().position(Followed::is_open).unwrap_or(last)
    }

    /// The runs for a screen.
    pub fn stages(&self) -> Vec<Stage<'_>> {
        self.runs.iter().map(Followed::stage).collect()
    }
}

/// The pause after a look that took so long.
pub fn pause(took: Duration) -> Duration {
    EVERY.max(took * SHARE)
}

impl Followed {
    fn begin(store: &Store, id: &str) -> Result<Self, CliError> {
        let run = store.load(id)?;
        let trials = order(&run.plan);
        let news = store.news(id, length(&run.records))?;
        let mut one = Self {
            state: State::Running,
            conductor: news.conductor.clone(),
            done: run.records.iter().map(number).collect(),
            planned: trials.len(),
            blocks: trials.iter().map(|trial| trial.block).max().unwrap_or(0),
            analysis: Analysis::default(),
            rests_on: None,
            run,
        };
        one.take(news);
        Ok(one)
    }

    fn read(&mut self, store: &Store) -> Result<(), CliError> {
        let news = store.news(&self.run.id, length(&self.run.records))?;
        // A later sitting may have added blocks to the plan.
        if news.sittings.len() != self.run.sittings.len() {
            *self = Self::begin(store, &self.run.id)?;
        } else {
            self.take(news);
        }
        Ok(())
    }

    fn take(&mut self, news: News) {
        self.state = match (news.line.state, news.completeness) {
            (RunState::Running, _) => State::Running,
            (RunState::Complete, _) => State::Complete,
            (RunState::Incomplete, _) => State::Incomplete,
            (RunState::Partial, Completeness::Partial { why }) => State::Partial(why),
            (RunState::Partial | RunState::Interrupted, _) => State::Interrupted,
        };
        self.conductor = news.conductor;
        self.done.extend(news.records.iter().map(number));
        self.run.records.extend(news.records);
    }

    fn is_open(&self) -> bool {
        self.state == State::Running
    }

    fn stage(&self) -> Stage<'_> {
        let (run, analysis) = (&self.run, &self.analysis);
        let part = Part { role: Role::of(run), run, analysis };
        Stage { part, state: self.state.clone(), course: self.course() }
    }

    fn course(&self) -> Course {
        let small = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        let last = self.run.records.last();
        let left = self.planned.saturating_sub(self.done.len());
        Course {
            block: last.map_or(0, |record| record.trial.block),
            blocks: self.blocks,
            done: small(self.done.len()),
            planned: small(self.planned),
            left: self.pace_s().map(|pace| minutes(pace * f64::from(small(left)))),
        }
    }

    /// Time from one trial to the next in the present sitting, seconds; none in a simulated lab,
    /// whose time is not that of the person.
    fn pace_s(&self) -> Option<f64> {
        if self.run.environment().is_simulated() {
            return None;
        }
        let before = self.run.sittings.last().map_or(0, |sitting| sitting.records_before);
        let records = self.run.records.get(before as usize..)?;
        let (first, last) = (records.first()?, records.last()?);
        let gaps = u32::try_from(records.len() - 1).ok()?;
        let paced = records.len() >= PACED;
        paced.then(|| (last.started_s - first.started_s) / f64::from(gaps))
    }
}

/// A trial, or the search that it is a step of.
fn number(record: &TrialRecord) -> u32 {
    record.trial.search.map_or(record.trial.id, |search| search.id)
}

fn length(records: &[TrialRecord]) -> u32 {
    u32::try_from(records.len()).unwrap_or(u32::MAX)
}

/// `1:23`, or `2:01:23` from an hour on.
fn minutes(seconds: f64) -> String {
    let whole = Duration::try_from_secs_f64(seconds).unwrap_or_default().as_secs();
    let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}
