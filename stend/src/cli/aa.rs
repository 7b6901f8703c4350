//! Knows `stend aa`: a plan against itself, what that tells of noise, and where it is found again.

use super::error::CliError;
use super::extent::Extent;
use super::manual::{self, Words};
use super::run::{How, carry_out, finish, narrow_to};
use super::session::revisions;
use super::{Options, enough, invoked, plans, quoted};
use desk::plan::{against_itself, smallest_effect};
use desk::record::{Environment, LabKind, Plan, Replicate, Run};
use desk::stats::LEVEL;
use desk::unit::{Quantity, Unit, show_range};
use desk::verdict::{Alarms, NoiseFloor, analyse, compare_environments, declared, noise_floor};
use press::report::aa_words;
use rig::store::{RunState, Store};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Options of the verb.
#[derive(Clone, Debug, clap::Args)]
pub struct Wanted {
    /// File of the plan, or the name of a built-in one
    plan: String,
    /// Keep only these loads, levels and values of sweeps, as in `stend run`
    #[arg(long, value_name = "KEY=VALUE[,VALUE]")]
    only: Vec<String>,
    /// Short windows and at most five blocks
    #[arg(long)]
    quick: bool,
    /// Also measure how much application work the load displaces
    #[arg(long)]
    displaced_work: bool,
    /// Hold a factor at this level and not at its first; LEVEL alone is one of the compared factor
    #[arg(long, value_name = "FACTOR=LEVEL")]
    level: Vec<String>,
    #[command(flatten)]
    extent: Extent,
    #[command(flatten)]
    options: Options,
}

/// Runs the plan with one treatment under two names.
///
/// # Errors
/// As `stend run`, and a level that the plan has not.
pub fn aa(wanted: &Wanted) -> Result<u8, CliError> {
    let (mut plan, text) = plans::load_for(&wanted.plan, wanted.options.machines.as_deref())?;
    // Before its levels are called by two names.
    narrow_to(&mut plan, &wanted.only)?;
    let held = held(&plan, &wanted.level)?;
    refuse_open(&plan, &held, ("aa", &wanted.plan))?;
    let Wanted { quick, displaced_work, extent, .. } = *wanted;
    let how = How { only: &[], quick, displaced_work, extent };
    let mut plan = against_itself(&plan, &held, &aa_words(&plan, &held)?)?;
    let (how, told) = how.apply(&mut plan)?;
    let how = How { only: &wanted.only, ..how };
    enough::refuse_few(&plan, "aa")?;
    let levels = manual::again(&wanted.level);
    let options = &wanted.options;
    let words = format!("{}{levels}{}{}", how.words(), options.place_words(), quoted(&wanted.plan));
    let command = format!("{} aa {words}", invoked());
    let done = carry_out(&plan, &text, (command, &told), options)?;
    finish(&done.session, &done.run, (&done.directory, options.json), &done.meter)
}

/// Refuses a plan with a factor that a person sets whose level is not among those held: the machine
/// is at one of them, and nobody said at which.
pub(super) fn refuse_open(
    plan: &Plan,
    held: &BTreeMap<String, String>,
    (verb, name): (&str, &str),
) -> Result<(), CliError> {
    let mut rest = plan.clone();
    rest.factors.retain(|factor| !held.contains_key(&factor.name));
    manual::refuse_untold(&rest, &Words { verb, options: "", plan: name })
}

/// Factor to level, of words such as `path=a`, or `a` for the compared factor.
pub(super) fn held(plan: &Plan, words: &[String]) -> Result<BTreeMap<String, String>, CliError> {
    let known = |name: &str| plan.factors.iter().any(|f| f.name == name);
    let pair = |word: &String| match word.split_once('=') {
        // The name of a level may hold an equals sign.
        Some((factor, level)) if known(factor) || !level_of_compared(plan, word) => {
            (factor.to_owned(), level.to_owned())
        }
        _ => (plan.method.compare.clone(), word.clone()),
    };
    let mut held: BTreeMap<String, String> = BTreeMap::new();
    for (factor, second) in words.iter().map(pair) {
        if let Some(first) = held.insert(factor.clone(), second.clone()) {
            return Err(CliError::TwoLevels { factor, first, second });
        }
    }
    Ok(held)
}

fn level_of_compared(plan: &Plan, word: &str) -> bool {
    let compared = plan.factors.iter().filter(|f| f.name == plan.method.compare);
    compared.flat_map(|f| &f.levels).any(|l| l.name == word)
}

/// What the noise of a plan comes to, in lines; `noise` is of a run of it against itself.
pub fn words(plan: &Plan, noise: &NoiseFloor) -> String {
    let mut text = String::from("\nNoise floor, of a level against itself\n");
    let mut row = |label: &str, value: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{label:<18}{value}");
    };
    let expected = Quantity::new(1.0 - LEVEL, Unit::Share);
    let (whole, points) = (alarms(&noise.comparisons), alarms(&noise.points));
    row("false alarms", format!("{whole} comparisons, {points} points"));
    row("", format!("expected: at most {expected} of the comparisons"));
    if noise.two_states > 0 {
        row("two states", format!("{} points", noise.two_states));
    }
    let [one, pair, neighbours] = match plan.replicate() {
        Replicate::Block => ["trial", "block", "blocks"],
        Replicate::Boot => ["boot", "round of boots", "boots"],
    };
    row(&format!("noise of a {one}"), format!("{} (standard deviation of ln)", noise.of_trial));
    let at = noise.noisiest_point.as_ref().map_or_else(String::new, |at| format!(" at {at}"));
    row("", format!("noisiest: {}, {}{at}", noise.noisiest, noise.noisiest_at));
    row("noise of a ratio", format!("{} within a {pair}", noise.of_ratio));
    let (width, widest) = (noise.width, noise.widest);
    row("intervals", format!("{width} wide at the middle point, {widest} at the widest"));
    if let Some(lag) = noise.lag_one {
        let none = -1.0 / f64::from(noise.blocks.max(1));
        let by_chance = format!("about {none:.2} if {neighbours} have no memory");
        row(&format!("neighbour {neighbours}"), format!("correlate by {lag:.2}; {by_chance}"));
    }
    row("smallest effect", smallest(plan, noise));
    text
}

fn smallest(plan: &Plan, noise: &NoiseFloor) -> String {
    let effect = smallest_effect(plan, noise.of_trial.value);
    let (single, curve) = (effect.single, effect.curve);
    format!("{single} on one ratio, {curve} on every point of a curve")
}

fn alarms(alarms: &Alarms) -> String {
    let Alarms { false_ones, of, low, high, .. } = alarms;
    format!("{false_ones} of {of} ({})", show_range(*low, *high))
}

/// A measured noise floor, and the run that it is from.
pub struct Known {
    /// The run, without its records.
    pub run: Run,
    /// What it told.
    pub noise: NoiseFloor,
}

impl Known {
    /// Which run, when, in what lab, and at which levels.
    pub fn source(&self) -> String {
        let lab = self.run.environment().lab.as_ref().map(|(kind, _)| *kind);
        let lab = match lab {
            Some(LabKind::RootNamespaces) => "namespaces of root",
            Some(LabKind::UserNamespaces) => "namespaces of a user",
            Some(LabKind::Simulated) => "a simulated lab",
            Some(LabKind::Loopback) | None => "loopback",
        };
        let factors = self.run.plan.factors.iter();
        let levels: Vec<String> = factors
            .filter_map(|f| Some(format!("{} {}", f.name, f.levels.first()?.name)))
            .collect();
        let Run { id, started, .. } = &self.run;
        format!("A/A run {id} of {started}, in {lab}, {}", levels.join(", "))
    }
}

/// The newest run of a level against itself with the loads, lab and window of a plan on this
/// machine that went to its end.
///
/// # Errors
/// When the store cannot be read.
pub fn newest(
    plan: &Plan,
    store: &Store,
    machine: &Environment,
) -> Result<Option<Known>, CliError> {
    for line in store.list()?.iter().filter(|line| line.state == RunState::Complete) {
        let head = store.head(&line.id)?;
        if !is_of(&head, plan) || !same_machine(&head, machine) {
            continue;
        }
        let run = store.load(&line.id)?;
        if let Some(noise) = noise_floor(&analyse(&run)) {
            return Ok(Some(Known { run: Run { records: Vec::new(), ..run }, noise }));
        }
    }
    Ok(None)
}

/// Whether a run is one of a plan with these loads, lab and window against itself.
fn is_of(head: &Run, plan: &Plan) -> bool {
    let ours = &head.plan;
    let compared = ours.factors.iter().find(|f| f.name == ours.method.compare);
    let alike = |levels: &[desk::record::Level]| {
        levels.len() > 1 && levels.iter().all(|l| l.settings == levels[0].settings)
    };
    compared.is_some_and(|factor| alike(&factor.levels))
        && ours.replicate() == plan.replicate()
        && ours.loads == plan.loads
        && ours.lab == plan.lab
        && ours.method.window == plan.method.window
        && plan.loads.iter().all(|load| ours.primary(&load.name) == plan.primary(&load.name))
}

/// Whether a run was made on this machine, in such a place and with this stend: nothing that both
/// know differs in what matters. What is known only once the lab stands is not known here.
fn same_machine(head: &Run, machine: &Environment) -> bool {
    let today = Run {
        environments: Run::of_local(machine.clone()),
        version: env!("CARGO_PKG_VERSION").into(),
        workloads: revisions(&head.plan),
        ..head.clone()
    };
    let found = compare_environments(head, &today, &declared(&head.plan, &head.plan));
    let both = |d: &desk::verdict::Difference| d.a.is_some() && d.b.is_some();
    head.environment().is_simulated() == machine.is_simulated()
        && !found.confounders.iter().any(both)
}
