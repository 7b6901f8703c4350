//! Knows where the CPU time of a level went, and whether the methods of counting it agree.
//!
//! Never: what the time was worth.

use super::measure::{
    by_host, has_own_machine, is_client, is_conductor, is_server, machine, reading,
};
use super::pairing::Measured;
use crate::record::{Reading, TrialRecord, Value};
use crate::stats::{Estimate, mean_or_single};
use crate::unit::Unit;
use crate::validity::relay;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Share of the machine's busy CPUs by which methods may differ.
const DIFFER_SHARE: f64 = 0.1;
/// CPUs by which methods may differ whatever the machine does.
const DIFFER_CPU: f64 = 0.01;

/// Where the CPU time of a level went, in CPUs, means over its paired trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuParts {
    /// The level.
    pub level: String,
    /// Value of the curve parameter, if there is one.
    pub at: Option<Value>,
    /// All CPUs together: 1 - idle / wall, summed.
    pub machine: Estimate,
    /// The process of the system under test.
    pub server: Estimate,
    /// The processes of the clients, but for those with machines of their own.
    pub clients: Estimate,
    /// The process of the relay, which is a part of the path, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relay: Option<Estimate>,
    /// The processes of other hosts between links, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between: Option<Estimate>,
    /// The process that conducts the run, where it runs on this machine.
    pub conductor: Option<Estimate>,
    /// Kernel threads.
    pub kernel: Estimate,
    /// Processes that are not ours.
    pub foreign: Estimate,
    /// The rest of the machine: interrupts on idle CPUs, processes that ended meanwhile.
    pub unattributed: Estimate,
    /// Taken by the hypervisor.
    pub steal: Estimate,
    /// Hosts by their control groups, the second opinion, where those could be made.
    pub second: Option<Estimate>,
}

/// CPU of one trial by where it went, in CPUs.
struct Split {
    machine: f64,
    server: f64,
    clients: f64,
    relay: Option<f64>,
    between: Option<f64>,
    conductor: Option<f64>,
    kernel: f64,
    foreign: f64,
    unattributed: f64,
    steal: f64,
}

impl Split {
    /// None where any part was not read.
    ///
    /// unattributed = machine - all our processes - kernel threads - other processes, those of
    /// hosts with a machine of their own left out: their time is not in that of this machine.
    fn of(record: &TrialRecord) -> Option<Self> {
        let machine = machine(record)?;
        let processes = |which: &dyn Fn(&str) -> bool| {
            let here = |r: &&Reading| which(r.host.name()) && !has_own_machine(record, &r.host);
            let mut read = by_host(record, "process", "cpu").filter(here).peekable();
            read.peek().is_some().then(|| read.map(|r| r.quantity.value).sum::<f64>())
        };
        let all = processes(&|_| true)?;
        let relay = relay::host(record);
        let is_relay = |host: &str| relay.is_some_and(|relay| *relay == *host);
        let (kernel, foreign) = (
            reading(record, "kernel", "machine", "threads")?,
            reading(record, "foreign", "machine", "cpu")?,
        );
        Some(Self {
            machine,
            server: processes(&is_server)?,
            clients: match all_clients_apart(record) {
                true => 0.0,
                false => processes(&is_client)?,
            },
            relay: processes(&is_relay),
            between: processes(&|host| {
                !is_server(host) && !is_client(host) && !is_conductor(host) && !is_relay(host)
            }),
            conductor: processes(&is_conductor),
            kernel,
            foreign,
            unattributed: machine - all - kernel - foreign,
            steal: reading(record, "cpu", "machine", "steal")?
                * reading(record, "cpu", "machine", "cpus")?,
        })
    }
}

/// Where the CPU time of a level went at a point, means over its trials; none where not one trial
/// has all the readings.
pub(super) fn parts(level: &str, at: Option<&Value>, trials: &[Measured<'_>]) -> Option<CpuParts> {
    let splits: Vec<Split> = trials.iter().filter_map(|t| Split::of(t.record)).collect();
    let mean = |part: &dyn Fn(&Split) -> Option<f64>| {
        mean_or_single(&splits.iter().filter_map(part).collect::<Vec<_>>(), Unit::Cpu)
    };
    let second: Vec<f64> = trials.iter().filter_map(|t| control_groups(t.record)).collect();
    Some(CpuParts {
        level: level.into(),
        at: at.cloned(),
        machine: mean(&|s| Some(s.machine))?,
        server: mean(&|s| Some(s.server))?,
        clients: mean(&|s| Some(s.clients))?,
        relay: mean(&|s| s.relay),
        between: mean(&|s| s.between),
        conductor: mean(&|s| s.conductor),
        kernel: mean(&|s| Some(s.kernel))?,
        foreign: mean(&|s| Some(s.foreign))?,
        unattributed: mean(&|s| Some(s.unattributed))?,
        steal: mean(&|s| Some(s.steal))?,
        second: mean_or_single(&second, Unit::Cpu),
    })
}

/// Whether every client has a machine of its own, so that this one is the server's alone.
pub(super) fn all_clients_apart(record: &TrialRecord) -> bool {
    let mut clients =
        by_host(record, "process", "cpu").filter(|r| is_client(r.host.name())).peekable();
    clients.peek().is_some() && clients.all(|r| has_own_machine(record, &r.host))
}

/// CPU of all hosts of this machine by their control groups.
fn control_groups(record: &TrialRecord) -> Option<f64> {
    let here = |r: &&Reading| !has_own_machine(record, &r.host);
    let mut read = by_host(record, "cgroup", "cpu").filter(here).peekable();
    read.peek().is_some().then(|| read.map(|r| r.quantity.value).sum())
}

/// The largest disagreement of the methods over the trials of a level, in CPUs and without sign,
/// if it exceeds both 0.01 CPU and 10 % of what was counted: the machine, or the host.
///
/// Compared are, as means over the trials: what no process accounts for with what the idle lab
/// showed of that (0 where it was not measured), and each host's control group with its process
/// clock.
pub(super) fn disagreement(trials: &[Measured<'_>]) -> Option<Estimate> {
    let records = || trials.iter().map(|t| t.record);
    let machines: Vec<f64> = records().filter_map(machine).collect();
    let machine = mean_or_single(&machines, Unit::Cpu)?.centre.value;
    let unexplained: Vec<f64> = records()
        .filter_map(|r| {
            let baseline = reading(r, "cpu", "machine", "baseline").unwrap_or(0.0);
            Some(Split::of(r)?.unattributed - baseline)
        })
        .collect();
    let mut all = vec![(machine, unexplained)];
    let first = records().next()?;
    for host in by_host(first, "cgroup", "cpu").map(|r| &r.host) {
        let apart = |r: &TrialRecord| {
            Some(reading(r, "cgroup", host, "cpu")? - reading(r, "process", host, "cpu")?)
        };
        let clocks: Vec<f64> =
            records().filter_map(|r| reading(r, "process", host, "cpu")).collect();
        let clock = mean_or_single(&clocks, Unit::Cpu).map_or(0.0, |e| e.centre.value);
        all.push((clock, records().filter_map(apart).collect()));
    }
    all.iter()
        .filter_map(|(whole, values)| {
            let by = without_sign(mean_or_single(values, Unit::Cpu)?);
            (by.centre.value > DIFFER_CPU.max(DIFFER_SHARE * whole)).then_some(by)
        })
        .max_by(|a, b| a.centre.value.total_cmp(&b.centre.value))
}

/// Whether the trials have what a second count of the CPU time takes.
pub(super) fn counted_twice(trials: &[Measured<'_>]) -> bool {
    trials.iter().any(|t| Split::of(t.record).is_some())
}

fn without_sign(estimate: Estimate) -> Estimate {
    if estimate.centre.value >= 0.0 {
        return estimate;
    }
    let turned = |q: crate::unit::Quantity| crate::unit::Quantity::new(-q.value, q.unit);
    Estimate {
        centre: turned(estimate.centre),
        low: turned(estimate.high),
        high: turned(estimate.low),
        ..estimate
    }
}
