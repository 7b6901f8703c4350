//! Knows `stend lab doctor`: which machines of a lab file can take part in a run, and what each
//! lets a run do.
//!
//! Gives: [`doctor`], [`LabDoctor`]. Never: finds out what a machine can do; its agent does.
//! Start reading at `ask.rs`.

mod ask;
mod json;
mod judge;
mod show;
#[cfg(test)]
mod tests;

pub use json::LabDoctor;

use super::error::CliError;
use super::{CANNOT, OK, machine, terminal};
use ask::Answer;
use clap::Args;
use desk::plan::LabFile;
use rig::lab::trust::Conductor;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::Write as _;
use std::path::PathBuf;

/// What is asked of the machines.
#[derive(Debug, Args)]
pub struct Wanted {
    /// Lab file: machines, their adapters and roles
    #[arg(long, value_name = "FILE", default_value = "lab.toml")]
    machines: PathBuf,
    /// Directory of the lab [default: STEND_LAB_DIR, else stend/lab in the state directory]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// Whether an agent answers, or how it fails to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It answered.
    Answers,
    /// No packet came back from its address.
    NoRoute,
    /// The machine is there, and nothing listens at the port.
    Refused,
    /// It took the connection and said nothing in time: it serves a run, or it is stopped.
    Silent,
    /// One end does not take the certificate of the other: removed, or of another lab.
    NotTrusted,
    /// It is of another version.
    OtherVersion,
    /// Anything else.
    Failed,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Silence {
    state: State,
    why: String,
}

/// A machine of the lab file, with what became of the question.
#[derive(Debug)]
struct Looked {
    name: String,
    address: String,
    /// Roles that the lab file gives it.
    roles: Vec<String>,
    /// Links of the lab file, each with its adapter, in the order in which they were asked for.
    links: Vec<(String, String)>,
    answer: Result<Answer, Silence>,
}

/// Asks all machines of a lab file, and tells which can take part in a run.
///
/// # Errors
/// When the lab file is refused, there is no lab in the directory, or standard output cannot be
/// written. A machine that does not answer is no error.
pub fn doctor(wanted: &Wanted) -> Result<u8, CliError> {
    let file = machine::read(&wanted.machines)?;
    let lab = Conductor::open(&super::lab::directory(wanted.dir.as_deref())?)?;
    let mut all = look(&file, &lab)?;
    judge::worst_first(&mut all);
    let mut out = terminal::out();
    if wanted.json {
        serde_json::to_writer_pretty(&mut out, &json::json(&all))?;
        out.write_all(b"\n")?;
    } else {
        let columns = usize::from(terminal::columns());
        out.write_all(show::show(&all, columns).as_bytes())?;
    }
    Ok(if judge::can_measure(&all) { OK } else { CANNOT })
}

fn look(file: &LabFile, lab: &Conductor) -> Result<Vec<Looked>, CliError> {
    let answers = ask::all(file, lab)?;
    let looked = file.machines.iter().zip(answers).map(|((name, address), answer)| Looked {
        name: name.clone(),
        address: address.clone(),
        roles: roles(file, name),
        links: links(file, name),
        answer,
    });
    Ok(looked.collect())
}

/// Names of the roles of a machine.
fn roles(file: &LabFile, machine: &str) -> Vec<String> {
    let has = |of: &[String]| of.iter().any(|name| name == machine);
    let (sut, clients) = (has(&file.sut), has(&file.clients));
    let fixed = [("sut", sut), ("clients", clients)].into_iter().filter(|(_, has)| *has);
    let hosts = file.hosts.iter().filter(|(_, of)| *of == machine).map(|(host, _)| host.clone());
    fixed.map(|(role, _)| role.to_owned()).chain(hosts).collect()
}

/// Links of a machine, each with its adapter.
fn links(file: &LabFile, machine: &str) -> Vec<(String, String)> {
    let own = |(link, ends): &(String, std::collections::BTreeMap<String, String>)| {
        Some((link.clone(), ends.get(machine)?.clone()))
    };
    file.links.iter().filter_map(own).collect()
}
