//! Knows how the place that a person asked for is had: a lab on this machine, or a simulated one.
//!
//! Must not know what is measured in it.

use super::error::CliError;
use super::{Options, Place, destroy, machine, outside};
use desk::record::Throttling;
use desk::record::{Environment, LabKind, Plan, Scope};
use rig::factor;
use rig::lab::machine::{Machine, Order};
use rig::lab::sim::{self, Physics};
use rig::lab::{Blueprint, LabError, Wanted, environment, refuse_adapters, refuse_names, undo};
use rig::run::{self, Bench, RunError, Simulated, Stand};
use rig::service;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Where trials are visited, and what the machine is.
pub struct Ground {
    /// The hands.
    pub stand: Box<dyn Stand>,
    /// The machine of the system under test, and where the hosts live.
    pub environment: Environment,
    /// The other machines of the lab, by name.
    pub others: BTreeMap<String, Environment>,
}

/// Makes the place ready for the trials of plans that share this one's lab.
///
/// # Errors
/// When no lab of the wanted kind is to be had, or a physics cannot be read.
pub fn prepare(
    plan: &Plan,
    options: &Options,
    cancel: &'static AtomicBool,
) -> Result<Ground, CliError> {
    refuse_physics(options.lab, options.physics.as_deref())?;
    outside::refuse(plan, options)?;
    destroy::judge(plan, options.lab, &options.destroy)?;
    let links: Vec<String> = plan.lab.links.iter().map(|l| l.name.clone()).collect();
    match options.lab {
        Place::Sim => simulated(options.physics.as_deref(), &links, cancel),
        // No namespace reaches what is outside of this machine.
        _ if plan.externals().next().is_some() => {
            real(plan, (Wanted::Only(LabKind::Loopback), options), cancel)
        }
        place => real(plan, (place.into(), options), cancel),
    }
}

/// A physics is of a simulated lab only.
///
/// # Errors
/// When it is given for another.
pub fn refuse_physics(place: Place, physics: Option<&Path>) -> Result<(), CliError> {
    match physics {
        Some(_) if place != Place::Sim => Err(CliError::PhysicsOfReal(place.name())),
        _ => Ok(()),
    }
}

/// What the machine is, as far as it is known before a lab stands on it: also the kind of that lab,
/// where it was named.
///
/// # Errors
/// When a physics cannot be read.
pub fn machine(plan: &Plan, place: Place, physics: Option<&Path>) -> Result<Environment, CliError> {
    if place == Place::Sim {
        let links: Vec<String> = plan.lab.links.iter().map(|l| l.name.clone()).collect();
        return Ok(model(physics, &links)?.1);
    }
    let mut environment = environment::here();
    environment.facts.extend(factor::facts(plan, Path::new("/")));
    environment.facts.extend(plan.told());
    environment.facts.sort_by(|a, b| a.key.cmp(&b.key));
    if let Wanted::Only(kind) = place.into() {
        environment.lab = Some((kind, String::new()));
    }
    Ok(environment)
}

/// What of a plan this machine does not have, as far as it is known before a lab stands.
///
/// # Errors
/// The first link, adapter or setting that it refuses, with the remedy.
pub fn refuse(plan: &Plan) -> Result<(), RunError> {
    let root = Path::new("/");
    refuse_names(&plan.lab, root)?;
    refuse_adapters(&plan.lab, 0, root)?;
    service::refuse(plan)?;
    factor::refuse_on_adapters(plan, 0, root)?;
    Ok(factor::refuse(plan, root)?)
}

fn real(
    plan: &Plan,
    (wanted, options): (Wanted, &Options),
    cancel: &'static AtomicBool,
) -> Result<Ground, CliError> {
    let mut machines = machine::connect(&plan.lab, options, cancel)?;
    let mut environments = Vec::new();
    for (at, machine) in machines.iter_mut().enumerate() {
        environments.push(look(machine, (plan, at)).map_err(RunError::from)?);
    }
    let blueprint = Blueprint { wanted, lab: plan.lab.clone() };
    let asked = matches!(wanted, Wanted::Only(_));
    let bench = Bench::build(&blueprint, loads::ALL, machines).map_err(|e| match e {
        RunError::Lab(LabError::Cancelled) => CliError::Run(e),
        e if asked => CliError::Place(e),
        e => CliError::Run(e),
    })?;
    let mut named = BTreeMap::new();
    for (at, mut environment) in environments.into_iter().enumerate() {
        environment.facts.extend(bench.facts().get(at).into_iter().flatten().cloned());
        environment.facts.sort_by(|a, b| a.key.cmp(&b.key));
        environment.lab = Some((bench.lab.kind, bench.lab.reason.clone()));
        named.insert(bench.lab.machine_name(at).to_owned(), environment);
    }
    let environment = named.remove(bench.lab.machine_name(0)).unwrap_or_default();
    Ok(Ground { stand: Box::new(bench), environment, others: named })
}

/// What a machine is, before a lab stands on it; it has this place in the plan, and refuses what it
/// does not have of it.
fn look(machine: &mut Machine, (plan, at): (&Plan, usize)) -> Result<Environment, LabError> {
    machine.must(&Order::Refuse(Box::new(plan.clone()), at))?;
    let mut environment = machine.environment()?;
    environment.facts.extend(machine.facts(&Order::Facts(Box::new(plan.clone())))?);
    Ok(environment)
}

/// What a dead conductor left switched must not be taken for the machine's own.
pub fn settle_dead() {
    if let Ok(journals) = undo::directory() {
        let _ = undo::settle_dead(&journals, Path::new("/"));
    }
}

/// A plan with boots runs in a simulated lab only; said before anything is opened or made.
///
/// # Errors
/// The first factor that needs a reboot, and the remedy.
pub fn refuse_boots(plan: &Plan, place: Place) -> Result<(), CliError> {
    match place {
        Place::Sim => Ok(()),
        _ => Ok(run::refuse_boots(plan)?),
    }
}

/// A plan that changes links cannot run where there are none; said before anything is measured.
/// `reason` is why the kernel refused namespaces, empty where loopback was asked for.
///
/// # Errors
/// The first such factor, why there are no links, and the remedy.
pub fn refuse_without_links(plan: &Plan, kind: LabKind, reason: &str) -> Result<(), CliError> {
    let place = match kind {
        LabKind::Loopback => "the loopback interface has no links",
        LabKind::Simulated => "a simulated lab has none",
        LabKind::RootNamespaces | LabKind::UserNamespaces => return Ok(()),
    };
    if let Some(host) = plan.lab.hosts.first() {
        return Err(CliError::NoHostBetween { host: host.name.clone(), place });
    }
    if kind == LabKind::Simulated {
        return Ok(());
    }
    let levels = plan.factors.iter().flat_map(|f| &f.levels).map(|l| &l.settings);
    let links = plan.lab.links.iter().map(|l| &l.settings);
    let mut keys = levels.chain(links).chain([&plan.lab.settings]).flat_map(|all| all.keys());
    let linked = |key: &&String| {
        factor::spec(key)
            .is_some_and(|f| matches!(f.scope, Scope::Link | Scope::Host | Scope::Path))
    };
    let Some(factor) = keys.find(linked) else { return Ok(()) };
    let (why, remedy) = match reason {
        "" => ("the lab is the loopback interface".into(), "leave out --lab loopback"),
        reason => (
            format!("the kernel refused namespaces ({reason})"),
            "run as root, or allow user namespaces (sysctl user.max_user_namespaces)",
        ),
    };
    Err(CliError::NoLinks { factor: factor.clone(), why, remedy })
}

/// What can be taken down by a step (a share) where a plan is to run.
///
/// # Errors
/// When a physics cannot be read.
pub fn throttles(plan: &Plan, options: &Options, step: f64) -> Result<Throttling, CliError> {
    let physics = match options.lab {
        Place::Sim => Some(model(options.physics.as_deref(), &[])?.0),
        _ => None,
    };
    Ok(run::throttles(plan, step, Path::new("/"), physics.as_ref()))
}

fn simulated(
    file: Option<&Path>,
    links: &[String],
    cancel: &'static AtomicBool,
) -> Result<Ground, CliError> {
    let (physics, environment) = model(file, links)?;
    let stand = Box::new(Simulated::new(physics, loads::ALL, cancel));
    Ok(Ground { stand, environment, others: BTreeMap::new() })
}

/// What a simulated lab is made of, and what it says of itself.
fn model(file: Option<&Path>, links: &[String]) -> Result<(Physics, Environment), CliError> {
    let name = file.map_or_else(|| "built in".into(), |path| path.display().to_string());
    let text = file.map(std::fs::read_to_string).transpose();
    let text = text.map_err(|source| CliError::NoPhysics { name: name.clone(), source })?;
    let physics = Physics::read(&text.unwrap_or_default())
        .map_err(|source| CliError::Physics { name: name.clone(), source: Box::new(source) })?;
    let environment = sim::environment(&physics, &name, links);
    Ok((physics, environment))
}
