//! Knows when the clients, not the system under test, held a trial down.
//!
//! Never: which level won, nor what other trials say.

use super::facts::{
    busy, by_host, direction, has_own_machine, is_client, is_server, reached_offer, reading,
};
use crate::record::{Direction, HostName, Plan, TrialRecord};
use crate::unit::{Quantity, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Share of the time from which a CPU counts as full, and a thread as wanting it all the time.
pub(crate) const FULL: f64 = 0.95;
/// Share of the time below which a thread was clearly without a CPU, or without wanting one.
const FREE: f64 = 0.9;
/// Share of paced requests sent late from which the pace was not kept.
const LATE: f64 = 0.01;

/// How it shows that the generator was the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GeneratorSign {
    /// A thread of the clients ran all the time.
    Busy,
    /// A thread of the clients wanted to run all the time but was not let: its CPU was taken by
    /// others or by a quota.
    Starved,
    /// Paced requests went out late.
    Late,
}

/// A trial that shows the limit of its clients.
#[derive(Clone, Debug, PartialEq)]
pub struct GeneratorLimit {
    /// How it shows.
    pub sign: GeneratorSign,
    /// The client at which it shows most.
    pub host: HostName,
    /// The share that shows it: of the time, of a CPU, of the requests.
    pub share: Quantity,
}

/// How it shows that the clients were the limit of a trial, if they were.
///
/// A load that was set and carried is what was asked for, late requests and all. Clients between
/// which a load goes are what it measures. Else clients make or take the load in every direction,
/// so their threads are the generator's in all of them. It takes a thread of the system under test
/// that does not want its CPU all the time, where that was read: if both ends run all the time,
/// neither waits for the other. And it takes a machine that is not full: on a full one the CPUs are
/// the limit, and since both sides share it and a sender is billed for the work of receiving, it is
/// the sender that wants them.
/// Where a client's thread shares its CPU with the server's thread at the other end and that CPU is
/// full, it is the CPU that holds both: neither starved nor busy says anything of the client then.
/// In that order:
///
/// - starved: the client thread that most wants to run wants it at least 95 % of the time and has a
///   CPU for less than 90 %. Unknown of the system under test, so no sign.
/// - busy: a client thread has its CPU at least 95 % of the time.
/// - late: more than 1 % of a client's paced requests are late.
#[must_use]
pub fn generator_limit(plan: &Plan, record: &TrialRecord) -> Option<GeneratorLimit> {
    let server = server_wants(record);
    let full = busy(record).is_some_and(|share| share >= FULL);
    let between = direction(plan, record) == Some(Direction::Between);
    if between || reached_offer(plan, record) || full || server.is_some_and(|share| share >= FREE) {
        return None;
    }
    let found = |sign, (host, share): (HostName, f64)| {
        Some(GeneratorLimit { sign, host, share: Quantity::new(share, Unit::Share) })
    };
    if let Some((host, wants, gets)) = keenest_client(record) {
        let starved = wants >= FULL && gets.is_some_and(|gets| gets < FREE);
        let knows = server.is_some() || plan.is_external(&record.trial);
        if starved && knows && !shares_a_full_cpu(record, host.name()) {
            return found(GeneratorSign::Starved, (host, wants));
        }
    }
    let runs = largest_of_clients(record, "thread", "cpu").filter(|(_, share)| *share >= FULL);
    if let Some(runs) = runs.filter(|(host, _)| !shares_a_full_cpu(record, host.name())) {
        return found(GeneratorSign::Busy, runs);
    }
    let late = largest_of_clients(record, "pace", "late").filter(|(_, share)| *share > LATE)?;
    found(GeneratorSign::Late, late)
}

/// Share of the time for which a thread of the system under test wanted a CPU.
fn server_wants(record: &TrialRecord) -> Option<f64> {
    by_host(record, "thread", "runnable")
        .find(|r| is_server(r.host.name()))
        .map(|r| r.quantity.value)
}

/// Whether a stream of this client has both ends on one CPU, which is full.
fn shares_a_full_cpu(record: &TrialRecord, client: &str) -> bool {
    if has_own_machine(record, client) {
        return false;
    }
    let mut streams = record.outcome.flows.rows.iter();
    streams.any(|stream| {
        let its = stream.sender == client || stream.receiver == client;
        let shared = stream.sender_cpu.filter(|cpu| its && stream.receiver_cpu == Some(*cpu));
        shared.is_some_and(|cpu| {
            let key = format!("busy.cpu{cpu}");
            reading(record, "cpu", "machine", &key).is_some_and(|share| share >= FULL)
        })
    })
}

/// The client whose thread most wanted to run: the share for which it wanted, and that for which
/// the same thread ran.
fn keenest_client(record: &TrialRecord) -> Option<(HostName, f64, Option<f64>)> {
    let clients = by_host(record, "thread", "runnable").filter(|r| is_client(r.host.name()));
    let keenest = clients.max_by(|a, b| a.quantity.value.total_cmp(&b.quantity.value))?;
    let gets = reading(record, "thread", &keenest.host, "cpu");
    Some((keenest.host.clone(), keenest.quantity.value, gets))
}

fn largest_of_clients(record: &TrialRecord, probe: &str, key: &str) -> Option<(HostName, f64)> {
    let clients = by_host(record, probe, key).filter(|r| is_client(r.host.name()));
    let all = clients.map(|r| (r.host.clone(), r.quantity.value));
    all.max_by(|a, b| a.1.total_cmp(&b.1))
}
