//! Knows every test that this build has, and whether it would run here, or why not.
//!
//! A test is a plan in a kind of place: every built-in plan, every part of the first run, every
//! factor at a level, every workload by every engine. Must not know how an answer is shown.

use super::ground::{self, Common, Ground};
use super::items::DISK;
use crate::cli::error::CliError;
use crate::cli::{place, plans, survey};
use desk::record::{Environment, FactorSpec, LabKind, Place, Plan, Scope, Value, Words};
use desk::unit::Kind;
use rig::factor::{self, Mechanism};
use rig::lab::environment;
use rig::workload::Entry;
use std::path::{Path, PathBuf};

/// A plan in a kind of place.
pub struct Test {
    /// What is tested: `plan aa`, `survey network`, `factor mtu`, `workload tcp_stream (batch)`.
    pub id: String,
    /// Where, as `--lab` calls it.
    pub lab: &'static str,
    /// Names of the items that it needs.
    pub needs: Vec<String>,
    /// Why it cannot run, in the words of the run that is refused; none if it can.
    pub reason: Option<String>,
    /// Why this place refuses it, wherever runs are kept; none if it does not.
    pub here: Option<String>,
    /// The plan.
    pub text: String,
}

/// Every test with its answer; `store` is where runs would be kept.
///
/// # Errors
/// When a plan of this build cannot be read.
pub fn tests(store: &Result<PathBuf, CliError>) -> Result<Vec<Test>, CliError> {
    let binary = std::env::current_exe()?;
    let (common, machine) = (Common::look(store), environment::observe(Path::new("/")));
    let mut found = Vec::new();
    for ground in &mut ground::all(&binary) {
        for (id, text) in all(&machine) {
            let plan = plans::parse(&id, &text)?;
            let here = ground.refusal(&plan, &common, &binary);
            // A plan for links is refused on loopback before anything is opened.
            let linked = place::refuse_without_links(&plan, ground.kind, "").is_ok();
            let store = common.store.clone().filter(|_| linked);
            let (reason, needs) = (store.or_else(|| here.clone()), needs(ground, &plan));
            found.push(Test { id, lab: ground.name, needs, reason, here, text });
        }
    }
    // One test after the other, each with its places side by side.
    let mut order: Vec<String> = Vec::new();
    for test in &found {
        if !order.contains(&test.id) {
            order.push(test.id.clone());
        }
    }
    found.sort_by_key(|test| order.iter().position(|id| *id == test.id));
    Ok(found)
}

/// Name and plan of every test.
fn all(machine: &Environment) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    for name in plans::NAMES.split(", ") {
        let text = plans::built_in(name).unwrap_or_default();
        rows.push((format!("plan {name}"), text.to_owned()));
    }
    rows.extend(survey::PARTS.map(|(name, text)| (format!("survey {name}"), text.to_owned())));
    rows.extend(factor::ALL.iter().map(|spec| of_factor(spec, machine)));
    rows.extend(loads::ALL.iter().flat_map(of_workload));
    let soaked = small("displaced work", "", ("", "displaced_work = true\n"));
    rows.push(("displaced work".into(), soaked));
    rows
}

/// The smallest plan: what it sets, what its load says, what its method says besides.
fn small(title: &str, set: &str, (load, method): (&str, &str)) -> String {
    let workload = over_sockets().map_or("", |entry| entry.spec.name);
    let load = if load.contains("workload") {
        load.to_owned()
    } else {
        format!("workload = \"{workload}\"\n{load}")
    };
    format!(
        "title = \"{title}\"\nquestion = \"Does it run here?\"\n[lab]\nclients = 1\n{set}\
         [load.it]\n{load}[method]\nblocks = 3\ndry = false\nsettle = \"50 ms\"\n\
         steady = \"noted\"\nsettle_max = \"50 ms\"\nwindow = \"50 ms\"\n{method}"
    )
}

/// The smallest plan of a workload; one of the machine alone has no clients.
fn with_load(title: &str, set: &str, (entry, line): (&Entry, &str)) -> String {
    let load = format!("workload = \"{}\"\n{line}", entry.spec.name);
    let text = small(title, set, (&load, ""));
    match entry.spec.place {
        Place::Machine => text.replace("clients = 1\n", ""),
        Place::Path => text,
    }
}

/// The first workload that every factor of sockets can be set for, else the first of all.
fn over_sockets() -> Option<&'static Entry> {
    let has = |entry: &&Entry, spec: &FactorSpec| {
        entry.spec.params.iter().any(|param| param.name == spec.name)
    };
    let mut all = loads::ALL.iter();
    let fits = |entry: &&Entry| {
        let mut of_sockets = factor::ALL.iter().filter(|spec| spec.scope == Scope::Socket);
        of_sockets.all(|spec| has(entry, spec))
    };
    all.find(fits).or(loads::ALL.first())
}

/// A lab with a relay, for what it keeps.
const RELAYED: &str = "[lab.hosts.relay]\nrole = \"relay\"\n\
    [lab.links.far]\nkind = \"direct\"\nmembers = [\"sut\", \"relay\"]\n\
    [lab.links.near]\nkind = \"direct\"\nmembers = [\"c01\", \"relay\"]\n";

/// A factor at one level: of the machine at that in force, so that nothing changes.
fn of_factor(spec: &FactorSpec, machine: &Environment) -> (String, String) {
    let own = machine.fact("tcp.congestion_default").unwrap_or("cubic");
    // A dotted name of the kernel is one key in quotes.
    let name = match spec.name {
        dotted if dotted.contains('.') => format!("\"{dotted}\""),
        plain => plain.to_owned(),
    };
    let level = written(&level(spec, own));
    let set = match spec.scope {
        Scope::Machine | Scope::Host | Scope::Side | Scope::Network | Scope::Program => {
            format!("{name} = {level}\n")
        }
        Scope::Relay => format!("{name} = {level}\n{RELAYED}"),
        Scope::Link => format!("[lab.links.lan]\n{name} = {level}\n"),
        Scope::Path => {
            format!("[lab.links.a]\n[lab.links.b]\n[factors.{name}]\nlevels = [\"a\", \"b\"]\n")
        }
        Scope::Sut => format!("[factors.{name}]\nlevels = [\"a\", \"b\"]\n"),
        Scope::Socket => format!("[factors.{name}]\nlevels = [\"kernel\", \"{own}\"]\n"),
        Scope::Profile => format!(
            "[factors.{name}.levels]\none = {{ congestion = \"kernel\" }}\n\
             two = {{ congestion = \"kernel\" }}\n"
        ),
    };
    let title = format!("factor {}", spec.name);
    let text = match loads::ALL.iter().find(|entry| entry.hears.contains(&spec.name)) {
        Some(entry) => with_load(&title, &set, (entry, "")),
        None => small(&title, &set, ("", "")),
    };
    (title, text)
}

/// The level at which a factor is tried: that in force on the machine if there is one and a plan
/// could name it, else the first or least that it may have; of a word of the network stack the
/// machine's `own`.
fn level(spec: &FactorSpec, own: &str) -> Value {
    let in_force = match factor::mechanism(spec.name) {
        Some(Mechanism::Machine(row)) => row.now(Path::new("/")).ok().map(|(level, _)| level),
        Some(Mechanism::Held(row)) => row.observe(Path::new("/")).ok(),
        _ => None,
    };
    if let Some(value) = in_force.filter(|value| spec.kind.takes(value)) {
        return value;
    }
    match (spec.kind.words, spec.kind.range) {
        // A link that has nothing set on it shows nothing.
        (Words::Of(["off", second, ..]), _) if spec.scope == Scope::Link => {
            Value::Word((*second).into())
        }
        (Words::Of(["off"]), Some(range)) if spec.scope == Scope::Link => {
            range.nearest(range.least)
        }
        (Words::Of([first, ..]) | Words::CpusOr([first, ..]), _) => Value::Word((*first).into()),
        // IPv4 is there wherever a lab is.
        (_, Some(range)) if spec.scope == Scope::Network => range.nearest(range.most),
        // The MTU of ordinary frames and a rate of every link, where they are within the bounds.
        (_, Some(range)) => match range.family {
            Kind::Size => range.nearest(1500.0),
            Kind::Rate => range.nearest(1e9),
            _ => range.nearest(range.least),
        },
        (_, None) if spec.scope == Scope::Host => Value::Word(own.into()),
        (_, None) => Value::Word("performance".into()),
    }
}

/// As a plan writes it, without digits grouped or a prefix rounded.
fn written(value: &Value) -> String {
    value.count().map_or_else(|| format!("\"{}\"", value.exact()), |count| count.to_string())
}

/// A workload, by each of its engines if it has several.
fn of_workload(entry: &Entry) -> Vec<(String, String)> {
    let name = entry.spec.name;
    let one = |id: String, line: String| {
        let text = with_load(&id, "", (entry, &line));
        (id, text)
    };
    let engine = entry.spec.params.iter().find(|param| param.name == "engine");
    match engine.map(|param| param.kind.words) {
        Some(Words::Of(words @ [_, ..])) => {
            let line = |word: &&str| format!("engine = \"{word}\"\n");
            words.iter().map(|w| one(format!("workload {name} ({w})"), line(w))).collect()
        }
        _ => vec![one(format!("workload {name}"), String::new())],
    }
}

/// Which items a plan needs in a kind of place.
fn needs(ground: &Ground, plan: &Plan) -> Vec<String> {
    let mut needs = vec![DISK.to_owned()];
    if ground.kind == LabKind::Simulated {
        return needs;
    }
    needs.push(format!("lab {}", ground.name));
    if ground.kind == LabKind::RootNamespaces || ground::sets_machine(plan) {
        needs.push("journal of undos".into());
    }
    let keys = ground::settings(plan).flat_map(|all| all.keys());
    for key in keys.map(|key| format!("factor {key}")) {
        if !needs.contains(&key) {
            needs.push(key);
        }
    }
    needs
}
