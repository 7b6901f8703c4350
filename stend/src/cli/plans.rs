//! Knows where plans come from: a file, or the ones built in; and what a plan may name.

use super::error::CliError;
use super::extent::draw;
use super::machine;
use desk::plan::{Catalogue, read_seeded};
use desk::record::{Completeness, Plan, Run, WorkloadSpec, address_of_page};
use rig::factor;
use rig::lab::LabError;
use rig::run::RunError;
use rig::service::External;
use std::path::Path;

/// Names of the built-in plans, as a person may write them.
pub const NAMES: &str = concat!(
    "aa, client-ramp, congestion, disk-array, faster-line, gigabit-path, latency, ",
    "loaded-latency, nic-duel, nic-duel-full, offloads, one-server, packet-box, ",
    "packet-cost, packet-forum, round-up, short-path, snoop-filter, web-server, ",
    "web-server-php",
);

/// How the name of a job file of fio ends.
const JOBS: &str = ".fio";

/// The plans of the first run.
pub mod survey {
    /// The same against itself.
    pub const NOISE: &str = include_str!("../../../plans/survey/noise.toml");
    /// What the machine itself gives.
    pub const MACHINE: &str = include_str!("../../../plans/survey/machine.toml");
    /// What its network carries.
    pub const NETWORK: &str = include_str!("../../../plans/survey/network.toml");
    /// At which rate its network carries datagrams without loss.
    pub const DATAGRAMS: &str = include_str!("../../../plans/survey/datagrams.toml");
    /// What its disk reads.
    pub const DISK: &str = include_str!("../../../plans/survey/disk.toml");
}

/// The plans that try a setting, with words in place of what is put in.
pub mod tune {
    /// A setting of the network.
    pub const NETWORK: &str = include_str!("../../../plans/tune/network.toml");
    /// A setting of the memory.
    pub const MEMORY: &str = include_str!("../../../plans/tune/memory.toml");
    /// A setting of the processors.
    pub const CPU: &str = include_str!("../../../plans/tune/cpu.toml");
}

/// The text of a built-in plan.
pub fn built_in(name: &str) -> Option<&'static str> {
    match name {
        "aa" => Some(include_str!("../../../plans/aa.toml")),
        "client-ramp" => Some(include_str!("../../../plans/client-ramp.toml")),
        "congestion" => Some(include_str!("../../../plans/congestion.toml")),
        "disk-array" => Some(include_str!("../../../plans/disk-array.toml")),
        "faster-line" => Some(include_str!("../../../plans/faster-line.toml")),
        "gigabit-path" => Some(include_str!("../../../plans/gigabit-path.toml")),
        "latency" => Some(include_str!("../../../plans/latency.toml")),
        "loaded-latency" => Some(include_str!("../../../plans/loaded-latency.toml")),
        "nic-duel" => Some(include_str!("../../../plans/nic-duel.toml")),
        "nic-duel-full" => Some(include_str!("../../../plans/nic-duel-full.toml")),
        "offloads" => Some(include_str!("../../../plans/offloads.toml")),
        "one-server" => Some(include_str!("../../../plans/one-server.toml")),
        "packet-box" => Some(include_str!("../../../plans/packet-box.toml")),
        "packet-cost" => Some(include_str!("../../../plans/packet-cost.toml")),
        "packet-forum" => Some(include_str!("../../../plans/packet-forum.toml")),
        "round-up" => Some(include_str!("../../../plans/round-up.toml")),
        "short-path" => Some(include_str!("../../../plans/short-path.toml")),
        "snoop-filter" => Some(include_str!("../../../plans/snoop-filter.toml")),
        "web-server-php" => Some(include_str!("../../../plans/web-server-php.toml")),
        "web-server" => Some(include_str!("../../../plans/web-server.toml")),
        _ => None,
    }
}

/// A plan and its text, from a file, a job file of fio, or the built-in ones.
///
/// # Errors
/// When there is no such plan, or it is refused.
pub fn load(name: &str) -> Result<(Plan, String), CliError> {
    let text = match std::fs::read_to_string(name) {
        Ok(jobs) if name.ends_with(JOBS) => {
            loads::plan_of_fio(&jobs).map_err(|what| CliError::Job { name: name.into(), what })?
        }
        Ok(text) => text,
        Err(_) if address_of_page(name).is_some() => of_page(name)?,
        Err(source) => {
            built_in(name).ok_or_else(|| CliError::NoPlan { name: name.into(), source })?.to_owned()
        }
    };
    Ok((parse(name, &text)?, text))
}

/// The plan of a page of a server of one's own; the page is asked for once, to know its length.
fn of_page(url: &str) -> Result<String, CliError> {
    let page = External::of(url).unwrap_or_else(|| Err(url.into()));
    let length = page.and_then(|page| loads::length_of_page(&page));
    let length = length.map_err(|why| RunError::from(LabError::NoService(why)))?;
    let text = include_str!("../../../plans/own/page.toml");
    Ok(text.replace("BYTES", &length.to_string()).replace("URL", url))
}

/// The same, with its roles given to the machines of a lab file, where there is one.
///
/// # Errors
/// As [`load`]; when the lab file is refused or the plan does not fit it.
pub fn load_for(name: &str, machines: Option<&Path>) -> Result<(Plan, String), CliError> {
    let (mut plan, text) = load(name)?;
    machine::give_roles(&mut plan, machines)?;
    Ok((plan, text))
}

/// Reads the text of a plan against everything this binary can do. A plan that names no seed has
/// one drawn anew.
///
/// # Errors
/// When the plan is refused.
pub fn parse(name: &str, text: &str) -> Result<Plan, CliError> {
    parse_seeded(name, text, draw())
}

/// The same with this seed where the plan names none.
///
/// # Errors
/// When the plan is refused.
pub fn parse_seeded(name: &str, text: &str, seed: u64) -> Result<Plan, CliError> {
    let workloads = workloads();
    let catalogue = Catalogue { workloads: &workloads, factors: factor::ALL };
    read_seeded(text, &catalogue, seed)
        .map_err(|e| CliError::Plan { name: name.into(), source: Box::new(e) })
}

fn workloads() -> Vec<&'static WorkloadSpec> {
    loads::ALL.iter().map(|entry| entry.spec).collect()
}

/// Holds the plan of a stored run to all that one from a file is held to.
///
/// # Errors
/// The first value that no file could give.
pub fn recheck(run: &Run) -> Result<(), CliError> {
    let workloads = workloads();
    let catalogue = Catalogue { workloads: &workloads, factors: factor::ALL };
    desk::plan::recheck(&run.plan, &catalogue)
        .map_err(|e| CliError::StoredPlan { id: run.id.clone(), source: Box::new(e) })
}

/// The same of a run that comes from elsewhere. A run that has ended may name what this build does
/// not have: it is read, and [`recheck`] refuses to add blocks to it.
///
/// # Errors
/// As [`recheck`].
pub fn recheck_foreign(run: &Run) -> Result<(), CliError> {
    match recheck(run) {
        Err(CliError::StoredPlan { source, .. })
            if source.is_unknown() && run.completeness == Completeness::Complete =>
        {
            Ok(())
        }
        checked => checked,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Also as it stands in a record, at full length and quick.
    fn accepted(name: &str, mut plan: Plan) {
        let workloads = workloads();
        let catalogue = Catalogue { workloads: &workloads, factors: factor::ALL };
        desk::plan::recheck(&plan, &catalogue).unwrap_or_else(|e| panic!("{name}: {e}"));
        desk::plan::quicken(&mut plan);
        desk::plan::recheck(&plan, &catalogue).unwrap_or_else(|e| panic!("quick {name}: {e}"));
    }

    #[test]
    fn every_built_in_plan_can_be_narrowed_to_each_of_its_loads() {
        let workloads = workloads();
        let catalogue = Catalogue { workloads: &workloads, factors: factor::ALL };
        for name in NAMES.split(", ") {
            let whole = load(name).unwrap().0;
            for only in whole.loads.iter().map(|load| load.name.clone()) {
                let mut plan = whole.clone();
                desk::plan::narrow(&mut plan, "load", std::slice::from_ref(&only)).unwrap();
                desk::plan::recheck(&plan, &catalogue)
                    .unwrap_or_else(|e| panic!("{name} {only}: {e}"));
            }
        }
    }

    #[test]
    fn an_array_takes_the_manual_factors_that_its_plan_names() {
        let text = built_in("disk-array").unwrap();
        let rows = text.lines().filter_map(|line| line.strip_prefix("#   [factors."));
        let rows: Vec<String> = rows
            .map(|row| format!("[factors.{}", row.replacen(']', "]\n", 1).replacen(", ", "\n", 1)))
            .collect();
        assert_eq!(rows.len(), 4);
        for row in rows {
            let plan = parse("disk-array", &format!("{text}\n{row}\n")).unwrap();
            assert!(plan.factors[0].manual && plan.untold().is_some(), "{row}");
        }
    }

    #[test]
    fn every_built_in_plan_is_accepted() {
        for name in NAMES.split(", ") {
            accepted(name, load(name).unwrap().0);
        }
        for text in [survey::NOISE, survey::MACHINE, survey::NETWORK, survey::DATAGRAMS] {
            accepted(text, parse("survey", text).unwrap());
        }
    }
}
