//! Knows `stend resume`: what a run that was interrupted still lacks, and nothing else.

use super::error::CliError;
use super::progress::Meter;
use super::report::Wanted;
use super::run::finish;
use super::session::{Session, revisions};
use super::{Options, Place, files, store};
use desk::plan::{budget, remaining};
use desk::record::{Environment, LabKind, Run};
use desk::verdict::{Difference, compare_environments, declared};
use rig::store::{RunState, Store};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// Goes on with a run where it was left; `physics` is that of a simulated one.
///
/// # Errors
/// When it is complete, somebody writes it at this moment, the machine is no longer the same, or
/// what is left cannot be measured.
pub fn resume(wanted: &Wanted, physics: Option<PathBuf>) -> Result<u8, CliError> {
    let run = left(&store::read(wanted.store.as_deref())?, &wanted.run)?;
    let trials = remaining(&run.plan, &run.records).len();
    let options = Options {
        out: wanted.out.clone(),
        json: wanted.json,
        store: wanted.store.clone(),
        lab: place(&run),
        physics,
    };
    let before_s = since_it_began(&run);
    let mut session = Session::begin(&run.plan, &options, run.command.clone())?;
    let warnings = refuse_another_machine(&run, &session.environment)?;
    let budget = budget(&run.plan);
    let whole = f64::from(budget.trials + budget.dry_trials).max(1.0);
    let share = f64::from(u32::try_from(trials).unwrap_or(u32::MAX)) / whole;
    let mut meter = Meter::new(Duration::from_secs_f64(budget.longest.value * share), true);
    let (title, kept) = (&run.plan.title, run.records.len());
    meter.say(&format!("{title}: {kept} records kept, {trials} trials left"));
    for told in run.plan.told() {
        meter.say(&format!("{} is taken to be {}, as told when it began", told.key, told.value));
    }
    for warning in warnings {
        meter.say(&format!("since it began {warning}"));
    }
    let directory = files::directory(options.out.as_deref(), &run.id)?;
    let run = session.resume(run, before_s, &mut meter)?;
    finish(&session, &run, (&directory, options.json), &meter)
}

/// Seconds from the beginning of a run to now; simulated time stands still between two sittings.
fn since_it_began(run: &Run) -> f64 {
    let last = run.records.last().map_or(0.0, |record| record.started_s);
    if place(run) == Place::Sim {
        return last;
    }
    let began = humantime::parse_rfc3339(&run.started).ok();
    let since = began.and_then(|began| SystemTime::now().duration_since(began).ok());
    // A clock that was set back must not put later trials before earlier ones.
    since.map_or(last, |since| since.as_secs_f64().max(last))
}

/// The kind of place in which the run began: in another its trials would not be comparable.
fn place(run: &Run) -> Place {
    match run.environment.lab {
        Some((LabKind::RootNamespaces, _)) => Place::Root,
        Some((LabKind::UserNamespaces, _)) => Place::User,
        Some((LabKind::Simulated, _)) => Place::Sim,
        Some((LabKind::Loopback, _)) | None => Place::Loopback,
    }
}

/// The run that is meant: the newest that is not complete for `last`.
fn left(store: &Store, id: &str) -> Result<Run, CliError> {
    let lines = store.list()?;
    let id = if id == "last" {
        let open = lines.iter().find(|l| l.state != RunState::Complete);
        open.map(|l| l.id.clone()).ok_or(CliError::NothingToResume)?
    } else {
        store.find(id)?
    };
    let state = lines.iter().find(|l| l.id == id).map(|l| l.state);
    match state {
        Some(RunState::Complete) => Err(CliError::IsComplete { id }),
        Some(RunState::Running) => Err(CliError::IsRunning { id }),
        _ => Ok(store.load(&id)?),
    }
}

/// A run goes on only on the machine and with the stend with which it began: half its blocks would
/// else be another's. Gives what differs too little to matter, in words.
fn refuse_another_machine(run: &Run, now: &Environment) -> Result<Vec<String>, CliError> {
    let today = Run {
        environment: now.clone(),
        version: env!("CARGO_PKG_VERSION").into(),
        workloads: revisions(&run.plan),
        ..run.clone()
    };
    let found = compare_environments(run, &today, &declared(&run.plan, &run.plan));
    let changed = words(&found.confounders);
    if changed.is_empty() {
        return Ok(words(&found.warnings));
    }
    Err(CliError::AnotherMachine { id: run.id.clone(), what: changed.join("; ") })
}

fn words(differences: &[Difference]) -> Vec<String> {
    let said = |value: &Option<String>| value.clone().unwrap_or_else(|| "not there".into());
    let word = |d: &Difference| format!("{} was {} and is {}", d.key, said(&d.a), said(&d.b));
    differences.iter().map(word).collect()
}
