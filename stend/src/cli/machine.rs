//! Knows which machines a run is made on: this one, unless a lab file names others.
//!
//! Must not know what is asked of a machine.

use super::error::CliError;
use super::{Options, progress};
use desk::plan::{HERE, LabFile, bind, refuse_unbound};
use desk::record::{LabPlan, Plan};
use rig::keeper;
use rig::lab::machine::Machine;
use rig::lab::machine_names;
use rig::run::RunError;
use std::path::Path;
use std::sync::atomic::AtomicBool;
#[cfg(feature = "machines")]
use {rig::lab::LabError, rig::lab::machine::Tls, rig::lab::trust::Conductor, std::time::Duration};

/// Longest wait of a run for a connection, and again for the proof of the other end.
#[cfg(feature = "machines")]
const CONNECT: Duration = Duration::from_secs(5);

/// Reads a lab file.
///
/// # Errors
/// When it cannot be read, or is refused.
pub fn read(path: &Path) -> Result<LabFile, CliError> {
    let name = || path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|source| CliError::NoLabFile { name: name(), source })?;
    LabFile::read(&text)
        .map_err(|source| CliError::LabFile { name: name(), source: Box::new(source) })
}

/// Gives the roles of a plan to the machines of the lab file, where there is one; what was left out
/// is told.
///
/// # Errors
/// When the file is refused, or the plan does not fit it.
pub fn give_roles(plan: &mut Plan, file: Option<&Path>) -> Result<(), CliError> {
    let Some(path) = file else { return Ok(refuse_unbound(plan)?) };
    for told in bind(plan, &read(path)?)? {
        progress::say(&format!("lab file: {told}"));
    }
    Ok(())
}

/// Refuses a lab file for what is of this machine alone.
///
/// # Errors
/// When there is one.
pub fn refuse_several(options: &Options) -> Result<(), CliError> {
    if options.machines.is_some() { Err(CliError::SurveyOfSeveral) } else { Ok(()) }
}

/// Connects to the machines of a lab, in the order of its plan.
///
/// # Errors
/// When the lab file does not name one, or the agent there does not answer or is refused.
pub fn connect(
    lab: &LabPlan,
    options: &Options,
    cancel: &'static AtomicBool,
) -> Result<Vec<Machine>, CliError> {
    let file = options.machines.as_deref().map(read).transpose()?.unwrap_or_default();
    let mut machines = Vec::new();
    for name in machine_names(lab) {
        let address = if lab.machines.is_empty() { Some(HERE) } else { file.address(name) };
        machines.push(match address {
            Some(HERE) => here(cancel)?,
            Some(address) => other(name, address, cancel)?,
            None => return Err(CliError::NoAddress { machine: name.into() }),
        });
    }
    Ok(machines)
}

fn here(cancel: &'static AtomicBool) -> Result<Machine, CliError> {
    let machine = keeper::here(&std::env::current_exe()?, cancel);
    Ok(machine.map_err(RunError::from)?)
}

/// Another machine, as the conductor of a lab.
#[cfg(feature = "machines")]
fn other(name: &str, address: &str, cancel: &'static AtomicBool) -> Result<Machine, CliError> {
    let lab = Conductor::open(&super::lab::directory(None)?)?;
    let machine = greet((name, address), (&lab, CONNECT), cancel);
    Ok(machine.map_err(RunError::from)?)
}

/// Connects to the agent of a machine at an address, within this time for the connection and again
/// for the proof of the other end.
///
/// # Errors
/// When the address is none, nobody answers there, or either end refuses the other.
#[cfg(feature = "machines")]
pub fn greet(
    (name, address): (&str, &str),
    (lab, within): (&Conductor, Duration),
    cancel: &'static AtomicBool,
) -> Result<Machine, LabError> {
    let at = || format!("{name} ({address})");
    let refused = |source| LabError::Connect { address: at(), source };
    let to = socket(address).map_err(refused)?;
    let tls = Tls::connect(to, name, lab, within).map_err(refused)?;
    Machine::greet(name, Box::new(tls), None, cancel)
}

#[cfg(not(feature = "machines"))]
fn other(_name: &str, _address: &str, _cancel: &'static AtomicBool) -> Result<Machine, CliError> {
    Err(CliError::NoMachines)
}

/// An address with its port.
///
/// # Errors
/// When it is none.
#[cfg(feature = "machines")]
pub fn socket(address: &str) -> std::io::Result<std::net::SocketAddr> {
    let wrong = format!("'{address}' is no address; write it as 198.18.0.2:7000");
    address.parse().map_err(|_| std::io::Error::other(wrong))
}
