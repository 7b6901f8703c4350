//! Knows the stable form of what was found on all machines: keys are added, never renamed or taken
//! away.

use super::{Answer, Looked, State, judge};
use desk::unit::Quantity;
use rig::lab::machine::NamedAdapter;
use schemars::JsonSchema;
use serde::Serialize;

/// Version of the form.
const FORMAT: u32 = 1;

/// What `lab doctor` prints with `--json`.
#[derive(Serialize, JsonSchema)]
pub struct LabDoctor<'a> {
    /// Version of this form.
    format: u32,
    /// Version of stend.
    version: &'a str,
    /// Whether every machine with a role can take part in a run.
    can_measure: bool,
    /// Machines of the lab file, the worst first.
    machines: Vec<Machine<'a>>,
}

/// A machine of the lab file.
#[derive(Serialize, JsonSchema)]
struct Machine<'a> {
    /// Its name.
    name: &'a str,
    /// Address and port of its agent, or `here`.
    address: &'a str,
    /// Its roles: `sut`, `clients`, names of hosts between links.
    roles: &'a [String],
    /// Whether its agent answers, or how it fails to.
    state: State,
    /// Why it cannot take part in a run, and why it does not answer; empty if it can.
    problems: Vec<String>,
    /// What makes its figures worse than they could be.
    remarks: Vec<String>,
    /// Its agent; none without an answer.
    agent: Option<Agent<'a>>,
    /// Its monotonic clock; none without an answer, and on the machine of the conductor.
    clock: Option<Clock>,
    /// What it lets a run do or see: kinds of place, rights, factors of the machine.
    capabilities: Vec<Capability<'a>>,
    /// Adapters over which orders reach it, each with those that it stands on.
    control: &'a [String],
    /// Links whose adapter is one of these.
    control_shares: Vec<&'a str>,
    /// Its adapters in the lab file.
    adapters: Vec<Adapter<'a>>,
    /// What killed runs left there, in words.
    left: &'a [String],
}

/// The agent of a machine.
#[derive(Serialize, JsonSchema)]
struct Agent<'a> {
    /// Version of its stend.
    version: &'a str,
    /// Its effective user.
    user: u32,
    /// Whether that is root.
    root: bool,
    /// Names of the rights that it lacks.
    lacks: Vec<&'a str>,
}

/// The monotonic clock of a machine.
#[derive(Serialize, JsonSchema)]
struct Clock {
    /// Its clock less that of the conductor.
    offset: Quantity,
    /// How far that may be from the truth.
    bound: Quantity,
}

/// A capability as its agent tried it.
#[derive(Serialize, JsonSchema)]
struct Capability<'a> {
    /// Its name.
    name: &'a str,
    /// `ok`, `degraded` or `absent`.
    state: &'a str,
    /// What was seen.
    evidence: &'a str,
    /// What would help there.
    fix: Option<&'a str>,
}

/// An adapter that the lab file names.
#[derive(Serialize, JsonSchema)]
struct Adapter<'a> {
    /// The link of the lab file.
    link: &'a str,
    /// As the lab file writes it.
    written: &'a str,
    /// Its name there; none where the machine has none.
    name: Option<&'a str>,
    /// Its driver.
    driver: Option<&'a str>,
    /// Line rate now; none without a line.
    line_rate: Option<Quantity>,
    /// Line rate at best.
    line_rate_best: Option<Quantity>,
    /// Whether it is switched on; a run switches it on.
    up: bool,
    /// Whether it has a carrier; false while it is switched off.
    carrier: bool,
    /// Why it cannot be lent to a run; none where it can.
    refused: Option<&'a str>,
    /// Factors of links that its driver does not have; none where its agent may not know.
    lacking: Option<&'a [String]>,
}

/// All of it.
pub fn json(all: &[Looked]) -> LabDoctor<'_> {
    LabDoctor {
        format: FORMAT,
        version: env!("CARGO_PKG_VERSION"),
        can_measure: judge::can_measure(all),
        machines: all.iter().map(machine).collect(),
    }
}

fn machine(one: &Looked) -> Machine<'_> {
    let answer = one.answer.as_ref().ok();
    let examined = answer.map(|answer| &answer.examined);
    let capabilities = examined.map(|found| found.capabilities.as_slice()).unwrap_or_default();
    Machine {
        name: &one.name,
        address: &one.address,
        roles: &one.roles,
        state: one.state(),
        problems: one.problems(),
        remarks: one.remarks(),
        agent: answer.map(agent),
        clock: answer.and_then(Answer::clock).map(|[offset, bound]| Clock { offset, bound }),
        capabilities: capabilities.iter().map(capability).collect(),
        control: examined.map(|found| found.control.as_slice()).unwrap_or_default(),
        control_shares: one.shared(),
        adapters: one.adapters().map(adapter).collect(),
        left: examined.map(|found| found.left.as_slice()).unwrap_or_default(),
    }
}

fn agent(answer: &Answer) -> Agent<'_> {
    let (version, user) = (&answer.examined.version, answer.examined.user);
    Agent { version, user, root: user == 0, lacks: answer.lacks() }
}

fn capability(found: &rig::lab::capability::Capability) -> Capability<'_> {
    Capability {
        name: &found.name,
        state: found.state.name(),
        evidence: &found.evidence,
        fix: found.fix.as_deref(),
    }
}

fn adapter<'a>((link, named): (&'a str, &'a NamedAdapter)) -> Adapter<'a> {
    let found = named.found.as_ref();
    Adapter {
        link,
        written: &named.written,
        name: found.map(|found| found.name.as_str()),
        driver: found.and_then(|found| found.driver.as_deref()),
        line_rate: found.and_then(|found| found.speed_now),
        line_rate_best: found.and_then(|found| found.speed_best),
        up: named.up,
        carrier: found.is_some_and(|found| found.has_carrier()),
        refused: named.refused.as_deref(),
        lacking: named.lacking.as_deref(),
    }
}
