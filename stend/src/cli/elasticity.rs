//! Knows `stend elasticity`: a plan in which one resource at a time is taken down, and what each
//! has of the cause.

use super::aa::{held, refuse_open};
use super::error::CliError;
use super::extent::Extent;
use super::manual;
use super::place;
use super::run::{How, carry_out, finish};
use super::{Options, invoked, outside, plans, quoted};
use desk::plan::{at_one_place, one_at_a_time};
use press::report::elasticity_words;

/// Step that is taken unless another is asked for, a share.
const STEP: &str = "0.15";
/// Smallest and largest step: a smaller one drowns in noise, a larger one is another system.
const STEPS: (f64, f64) = (0.02, 0.5);

/// Options of the verb.
#[derive(Clone, Debug, clap::Args)]
pub struct Wanted {
    /// File of the plan, or the name of a built-in one
    plan: String,
    /// By which share a resource is taken down, 0.02 to 0.5
    #[arg(long, value_name = "SHARE", default_value = STEP, value_parser = step)]
    step: f64,
    /// Short windows and at most five blocks
    #[arg(long)]
    quick: bool,
    /// Hold a factor at this level and not at its first; LEVEL alone is one of the compared factor
    #[arg(long, value_name = "FACTOR=LEVEL")]
    level: Vec<String>,
    #[command(flatten)]
    extent: Extent,
    #[command(flatten)]
    options: Options,
}

fn step(word: &str) -> Result<f64, String> {
    let (low, high) = STEPS;
    let step = word.parse().ok().filter(|step| (low..=high).contains(step));
    step.ok_or_else(|| format!("'{word}' is no step; write a share from {low} to {high}"))
}

/// Runs the plan with one resource at a time taken down.
///
/// # Errors
/// As `stend run`, a level that the plan has not, and a place where nothing can be taken down.
pub fn elasticity(wanted: &Wanted) -> Result<u8, CliError> {
    let (plan, text) = plans::load_for(&wanted.plan, wanted.options.machines.as_deref())?;
    outside::refuse_elasticity(&plan)?;
    let words = elasticity_words(&plan)?;
    let held = held(&plan, &wanted.level)?;
    refuse_open(&plan, &held, ("elasticity", &wanted.plan))?;
    let plan = at_one_place(&plan, &held)?;
    let (quick, extent) = (wanted.quick, wanted.extent);
    let how = How { only: &[], quick, displaced_work: false, extent };
    let options = &wanted.options;
    let throttling = place::throttles(&plan, options, wanted.step)?;
    if throttling.throttles.is_empty() {
        let why = throttling.fixed.iter().map(|f| format!("{}: {}", f.resource, f.why));
        return Err(CliError::NothingToThrottle(why.collect::<Vec<_>>().join("; ")));
    }
    let mut plan = one_at_a_time(&plan, throttling, &words);
    let (how, told) = how.apply(&mut plan)?;
    let levels = manual::again(&wanted.level);
    let step = match wanted.step.to_string() {
        usual if usual == STEP => String::new(),
        other => format!("--step {other} "),
    };
    let place = options.place_words();
    let words = format!("{}{step}{levels}{place}{}", how.words(), quoted(&wanted.plan));
    let command = format!("{} elasticity {words}", invoked());
    let done = carry_out(&plan, &text, (command, &told), options)?;
    finish(&done.session, &done.run, (&done.directory, options.json), &done.meter)
}
