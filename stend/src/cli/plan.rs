//! Knows `stend plan`: what would be done and what could be seen, before anything runs.

use super::error::CliError;
use super::extent::Extent;
use super::run::How;
use super::{OK, Place, aa, owned_words, place, place_words, plans, quoted, store, terminal};
use desk::plan::{Budget, SmallestEffect, budget, smallest_effect};
use desk::record::{LinkPlan, LoadPlan, Placement, Plan, Replicate, SearchPlan};
use desk::unit::{Quantity, Unit};
use desk::verdict::reclassed;
use std::fmt::Write as _;
use std::io::Write as _;
use std::net::Ipv4Addr;
use std::path::PathBuf;

/// Boots a level that are told besides those of the plan.
const BOOTS: [u32; 4] = [3, 5, 10, 20];
/// Noise of the mean of a boot for which they are told, a share.
const NOISE: f64 = 0.02;

/// Options of the verb.
#[derive(Clone, Debug, clap::Args)]
pub struct Wanted {
    /// File of the plan, or the name of a built-in one
    file: String,
    /// Print the text of the plan instead, to change it: stend plan --text nic-duel > mine.toml
    #[arg(long, conflicts_with_all = ["only", "quick", "Extent"])]
    text: bool,
    /// As it would be with the same --only of `stend run`
    #[arg(long, value_name = "KEY=VALUE[,VALUE]")]
    only: Vec<String>,
    /// As it would be with --quick
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    extent: Extent,
    /// Where it would run: the noise of an A/A run is that of its place
    #[arg(long, value_enum, default_value_t = Place::Best)]
    lab: Place,
    /// With --lab sim: what the simulated lab is made of [default: built in]
    #[arg(long, value_name = "FILE")]
    physics: Option<PathBuf>,
    /// Lab file: machines, their adapters and roles [default: all hosts on this machine]
    #[arg(long, value_name = "FILE")]
    machines: Option<PathBuf>,
    /// Address of a server of your own, which the plan may load although stend did not start it
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',')]
    i_own: Vec<Ipv4Addr>,
    /// File in which runs are kept [default: stend/lab.stend in the state directory]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
}

/// Prints trials, time and the smallest effects of a plan.
///
/// # Errors
/// When there is no such plan or it is refused, or a store that is there cannot be read.
pub fn show(wanted: &Wanted) -> Result<u8, CliError> {
    let (mut plan, text) = plans::load_for(&wanted.file, wanted.machines.as_deref())?;
    if wanted.text {
        terminal::out().write_all(text.as_bytes())?;
        return Ok(OK);
    }
    place::refuse_physics(wanted.lab, wanted.physics.as_deref())?;
    let (quick, extent) = (wanted.quick, wanted.extent);
    let how = How { only: &wanted.only, quick, displaced_work: false, extent };
    how.apply(&mut plan)?;
    let known = noise(&plan, wanted)?;
    let mut text = describe(&plan, &budget(&plan));
    match &known {
        Some(known) => {
            row(&mut text, &smallest_effect(&plan, known.noise.of_trial.value));
            let _ = writeln!(text, "The last row is measured: {}.", known.source());
        }
        None => {
            let _ = writeln!(
                text,
                "The noise is assumed: no A/A run of these loads on this machine is kept;\n\
                 `stend aa {}{}{}{}` makes one.",
                how.words(),
                place_words(wanted.lab, wanted.physics.as_deref(), wanted.machines.as_deref()),
                owned_words(&wanted.i_own),
                quoted(&wanted.file)
            );
        }
    }
    // What other machines have, their agents say when the run begins.
    let asked = wanted.lab != Place::Sim && plan.lab.machines.is_empty();
    if let (true, Err(why)) = (asked, place::refuse(&plan)) {
        let _ = writeln!(text, "\nThis machine cannot run it: {why}.");
    }
    terminal::out().write_all(text.as_bytes())?;
    Ok(OK)
}

/// The newest A/A run of the plan's loads here; none where nothing was ever kept.
fn noise(plan: &Plan, wanted: &Wanted) -> Result<Option<aa::Known>, CliError> {
    let path = match store::path(wanted.store.as_deref()) {
        Ok(path) if path.exists() => path,
        Ok(path) if wanted.store.is_some() => {
            return Err(rig::store::StoreError::None { path }.into());
        }
        _ => return Ok(None),
    };
    let machine = place::machine(plan, wanted.lab, wanted.physics.as_deref())?;
    aa::newest(plan, &store::read(Some(&path))?, &machine)
}

fn row(text: &mut String, smallest: &SmallestEffect) {
    let (noise, single) = (smallest.noise.to_string(), smallest.single.to_string());
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{noise:<18}{single:<18}{}", smallest.curve);
}

/// Hosts of a machine, and its adapter on each link.
fn machine(plan: &Plan, at: &Placement) -> String {
    let on = |link: &LinkPlan| Some(format!("; {} on link {}", link.adapter_of(at)?, link.name));
    at.hosts.join(", ") + &plan.lab.links.iter().filter_map(on).collect::<String>()
}

/// What stands in the lab, a row each.
fn lab(plan: &Plan) -> Vec<(&'static str, String)> {
    let clients = (!plan.is_alone()).then(|| ("clients", plan.lab.clients.to_string()));
    let links = plan.lab.links.iter().map(|link| ("link", link.name.clone()));
    let machines = plan.lab.machines.iter();
    let machines = machines.map(|at| ("machine", format!("{}: {}", at.machine, machine(plan, at))));
    let boxes = plan.lab.boxes.iter().map(|of| {
        let told = of.snmp.as_ref().map(|at| format!("; counters by SNMP at {at}"));
        ("box", format!("{} on link {}{}", of.name, of.link, told.unwrap_or_default()))
    });
    clients.into_iter().chain(links).chain(machines).chain(boxes).collect()
}

/// The plan in a dozen lines.
fn describe(plan: &Plan, budget: &Budget) -> String {
    let mut text = format!("{}\n{}\n\n", plan.title, plan.question);
    let mut row = |label: &str, value: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{label:<18}{value}");
    };
    for (label, value) in lab(plan) {
        row(label, value);
    }
    for factor in &plan.factors {
        let levels: Vec<&str> = factor.levels.iter().map(|l| l.name.as_str()).collect();
        let role = if factor.name == plan.method.compare { "  (compared)" } else { "" };
        let how = match (factor.reboot, factor.manual) {
            (true, _) => "  (needs a reboot)",
            (_, true) => "  (set by a person: a run at each level)",
            _ => "",
        };
        row("factor", format!("{}: {}{role}{how}", factor.name, levels.join(", ")));
    }
    for one in reclassed(plan) {
        let unknown = if one.known { "" } else { "  (no such key is known)" };
        let [class, usual] = [one.class, one.usual].map(|c| format!("{c:?}").to_lowercase());
        row("environment", format!("{}: {class}, not {usual}{unknown}", one.key));
    }
    for load in &plan.loads {
        for (name, values) in &load.over {
            let values: Vec<String> = values.iter().map(ToString::to_string).collect();
            row("sweep", format!("{name}: {}", values.join(", ")));
        }
        if let Some(search) = &load.search {
            row("search", sought(load, search));
        }
    }
    if let Some(each) = plan.method.boot_time {
        let (all, rounds) = (budget.boots, plan.method.boots);
        let time = minutes(budget.booting.value);
        row("boots", format!("{all}, {rounds} at each level: {time} at {each} a boot"));
    }
    row("trials", trials(plan, budget));
    if !plan.method.looks.is_empty() {
        let looks: Vec<String> = plan.method.looks.iter().map(ToString::to_string).collect();
        row("looks", format!("after {} blocks; ends where all is decided", looks.join(", ")));
    }
    let [least, most] = [budget.shortest, budget.longest].map(|time| minutes(time.value));
    row("time", if least == most { most } else { format!("{least} to {most}") });
    row("decided by", format!("{}, margin {}", deciding(plan), plan.method.margin));
    text.push_str("\nSmallest effect seen in four of five such runs:\n");
    let _ = writeln!(
        text,
        "{:<18}{:<18}on every point of a curve of {}",
        format!("noise of a {}", noisy(plan)),
        "on one ratio",
        budget.family
    );
    for smallest in &budget.smallest {
        self::row(&mut text, smallest);
    }
    if plan.replicate() == Replicate::Boot {
        by_boots(&mut text, plan);
    }
    text
}

/// How many trials there are, and of what; of a search there may be fewer.
fn trials(plan: &Plan, budget: &Budget) -> String {
    let Budget { trials, dry_trials, points, treatments, .. } = budget;
    let boots = match budget.boots {
        0 => String::new(),
        _ => format!(" x {} boots", plan.method.boots),
    };
    let searches = plan.loads.iter().any(|load| load.search.is_some());
    let (most, blocks) = (if searches { "at most " } else { "" }, plan.method.blocks);
    format!(
        "{most}{trials} counted ({points} points x {treatments} treatments x {blocks} \
         blocks{boots}), {dry_trials} dry"
    )
}

/// What a load seeks, and how long that may take.
fn sought(load: &LoadPlan, search: &SearchPlan) -> String {
    let SearchPlan { kind, over, metric, from, to, limit, shares, steps, .. } = search;
    let shares: Vec<String> = shares.iter().map(ToString::to_string).collect();
    let then = if shares.is_empty() { "" } else { ", then " };
    let then = format!("{then}{}", shares.join(", "));
    let limit = limit.as_ref().map_or_else(String::new, |limit| format!(" {limit}"));
    let (name, kind) = (&load.name, kind.word());
    format!(
        "{name}: {kind} over {over}, {from} to {to}, by {metric}{limit}{then}; up to {steps} steps"
    )
}

/// The metrics that decide, each with its loads where there are several.
fn deciding(plan: &Plan) -> String {
    let mut all: Vec<(&str, Vec<&str>)> = Vec::new();
    for load in &plan.loads {
        let metric = plan.primary(&load.name);
        match all.iter_mut().find(|(known, _)| *known == metric) {
            Some((_, loads)) => loads.push(&load.name),
            None => all.push((metric, vec![&load.name])),
        }
    }
    match all.as_slice() {
        [] => plan.method.primary.clone(),
        [(only, _)] => (*only).to_owned(),
        several => {
            let of =
                |(metric, loads): &(&str, Vec<&str>)| format!("{metric} ({})", loads.join(", "));
            several.iter().map(of).collect::<Vec<_>>().join(", ")
        }
    }
}

/// Whose noise decides.
fn noisy(plan: &Plan) -> &'static str {
    match plan.replicate() {
        Replicate::Block => "trial",
        Replicate::Boot => "boot",
    }
}

/// What more boots cost, and what they would show at one noise.
fn by_boots(text: &mut String, plan: &Plan) {
    let noise = Quantity::new(NOISE, Unit::Share);
    let _ = writeln!(
        text,
        "\n{:<18}{:<18}on one ratio, at a noise of {noise}",
        "boots a level", "time"
    );
    let more = BOOTS.into_iter().filter(|boots| *boots > plan.method.boots);
    for boots in std::iter::once(plan.method.boots).chain(more) {
        let mut wanted = plan.clone();
        wanted.method.boots = boots;
        let time = minutes(budget(&wanted).longest.value);
        let smallest = smallest_effect(&wanted, NOISE).single;
        let _ = writeln!(text, "{boots:<18}{time:<18}{smallest}");
    }
}

fn minutes(seconds: f64) -> String {
    if seconds < 90.0 { format!("{seconds:.0} s") } else { format!("{:.1} min", seconds / 60.0) }
}
