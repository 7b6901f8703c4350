//! Knows `stend resume`: what a run that was interrupted still lacks, and nothing else.

use super::destroy::Destroy;
use super::error::CliError;
use super::progress::Meter;
use super::report::Wanted;
use super::run::finish;
use super::session::{Session, revisions};
use super::{Options, Place, files, place, plans, store};
use desk::plan::{Asked, added, budget, extend, order, remaining};
use desk::record::{Added, Environment, LabKind, Run, Trial};
use desk::verdict::{Difference, compare_environments, declared};
use rig::store::{RunState, Store};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Goes on with a run where it was left, or adds the `blocks` that are asked for to one that has
/// ended; `physics` is that of a simulated one, `machines` the lab file of one on several machines,
/// `i_own` the addresses of servers of one's own, `destroy` the disks that may be overwritten.
///
/// # Errors
/// When nothing is left of it or blocks are added before its end, somebody writes it at this
/// moment, the machine is no longer the same, or what is left cannot be measured.
pub fn resume(
    wanted: &Wanted,
    blocks: Option<Asked>,
    (physics, machines): (Option<PathBuf>, Option<PathBuf>),
    (i_own, destroy): (Vec<Ipv4Addr>, Destroy),
) -> Result<u8, CliError> {
    let mut run = left(&store::read(wanted.store.as_deref())?, &wanted.run, blocks.is_some())?;
    // Before anything is built: the plan may be a stranger's, and so may the machine.
    plans::recheck(&run)?;
    // What other machines are, only their agents say.
    if run.plan.lab.machines.is_empty() {
        let seen = Run::of_local(seen(&run, physics.as_deref())?);
        refuse_another_machine(&run, seen, &|d| d.b.is_some())?;
    }
    let ended = run.last_block().unwrap_or_default();
    let further = blocks.map(|asked| added(&run.plan, ended, asked)).transpose()?;
    if let Some(further) = further {
        extend(&mut run.plan, further);
    }
    if !is_ordered_alike(&run, further) {
        return Err(CliError::OtherOrder { id: run.id });
    }
    let trials = remaining(&run.plan, &run.records).len();
    let options = Options {
        out: wanted.out.clone(),
        json: wanted.json,
        store: wanted.store.clone(),
        lab: place_of(&run),
        physics,
        machines,
        i_own,
        destroy,
    };
    let before_s = since_it_began(&run);
    let mut session = Session::begin(&run.plan, &options, run.command.clone())?;
    let warnings = refuse_another_machine(&run, session.machines(), &|_| true)?;
    let budget = budget(&run.plan);
    let whole = f64::from(budget.trials + budget.dry_trials).max(1.0);
    let share = f64::from(u32::try_from(trials).unwrap_or(u32::MAX)) / whole;
    let mut meter = Meter::new(Duration::from_secs_f64(budget.longest.value * share), true);
    let (title, kept) = (&run.plan.title, run.records.len());
    meter.say(&format!("{title}: {kept} records kept, {trials} trials left"));
    if let Some(Added { from, to }) = further {
        let looks: Vec<String> = run.plan.method.looks.iter().map(ToString::to_string).collect();
        meter.say(&format!(
            "adding {} blocks to {from}: {to} in all; the run is judged as one with looks at {} \
             blocks, each at its share of 5 %",
            to - from,
            looks.join(", ")
        ));
    }
    for told in run.plan.told() {
        meter.say(&format!("{} is taken to be {}, as told when it began", told.key, told.value));
    }
    for warning in warnings {
        meter.say(&format!("since it began {warning}"));
    }
    let directory = files::directory(options.out.as_deref(), &run.id)?;
    let run = session.resume(run, (before_s, further), &mut meter)?;
    finish(&session, &run, (&directory, options.json), &meter)
}

/// Seconds from the beginning of a run to now; simulated time stands still between two sittings.
fn since_it_began(run: &Run) -> f64 {
    let last = run.records.last().map_or(0.0, |record| record.started_s);
    if place_of(run) == Place::Sim {
        return last;
    }
    let began = humantime::parse_rfc3339(&run.started).ok();
    let since = began.and_then(|began| SystemTime::now().duration_since(began).ok());
    // A clock that was set back must not put later trials before earlier ones.
    since.map_or(last, |since| since.as_secs_f64().max(last))
}

/// The kind of place in which the run began: in another its trials would not be comparable.
fn place_of(run: &Run) -> Place {
    match run.environment().lab {
        Some((LabKind::RootNamespaces, _)) => Place::Root,
        Some((LabKind::UserNamespaces, _)) => Place::User,
        Some((LabKind::Simulated, _)) => Place::Sim,
        Some((LabKind::Loopback, _)) | None => Place::Loopback,
    }
}

/// The machine as far as it is known without a lab.
fn seen(run: &Run, physics: Option<&Path>) -> Result<Environment, CliError> {
    if place_of(run) != Place::Sim {
        place::settle_dead();
    }
    let seen = place::machine(&run.plan, place_of(run), physics)?;
    Ok(Environment { lab: run.environment().lab.clone(), ..seen })
}

/// Whether this build visits the trials that are kept in the order in which they were visited, in
/// all blocks that lack some: else the rest would not pair with them.
fn is_ordered_alike(run: &Run, further: Option<Added>) -> bool {
    let added = run.sittings.iter().filter_map(|sitting| sitting.added).chain(further);
    let whole = added.map(|added| added.from).max().unwrap_or_default();
    let order: BTreeMap<u32, Trial> =
        order(&run.plan).into_iter().map(|trial| (trial.id, trial)).collect();
    let place = |t: &Trial| (t.block, t.point_index, t.treatment.clone());
    let late = run.records.iter().map(|r| &r.trial).filter(|trial| trial.block > whole);
    // Of a search the order has its first step alone.
    let first = |t: &Trial| t.search.map_or(t.id, |search| search.id);
    late.into_iter().all(|trial| order.get(&first(trial)).map(place) == Some(place(trial)))
}

/// The run that is meant: for `last` the newest that is not complete, or the newest of all where
/// blocks are added.
fn left(store: &Store, id: &str, adds: bool) -> Result<Run, CliError> {
    let lines = store.list()?;
    let id = if id == "last" && !adds {
        let open = lines.iter().find(|l| !has_ended(l.state));
        open.map(|l| l.id.clone()).ok_or(CliError::NothingToResume)?
    } else {
        store.find(id)?
    };
    let state = lines.iter().find(|l| l.id == id).map(|l| l.state);
    match state {
        Some(state) if has_ended(state) && !adds => Err(CliError::HasEnded { id }),
        Some(RunState::Running) => Err(CliError::IsRunning { id }),
        Some(state) if adds && !has_ended(state) => Err(CliError::NotEnded { id }),
        _ => Ok(store.load(&id)?),
    }
}

/// Whether a run went to its end.
const fn has_ended(state: RunState) -> bool {
    matches!(state, RunState::Complete | RunState::Incomplete)
}

/// A run goes on only on the machine and with the stend with which it began: half its blocks would
/// else be another's. `binds` says which differences count. Gives what differs too little to
/// matter, in words.
fn refuse_another_machine(
    run: &Run,
    now: BTreeMap<String, Environment>,
    binds: &dyn Fn(&Difference) -> bool,
) -> Result<Vec<String>, CliError> {
    let today = Run {
        environments: now,
        version: env!("CARGO_PKG_VERSION").into(),
        workloads: revisions(&run.plan),
        ..run.clone()
    };
    let mut found = compare_environments(run, &today, &declared(&run.plan, &run.plan));
    found.confounders.retain(binds);
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
