//! Knows when the clients, not the system under test, held a figure down; never which level won.

use super::bottleneck::carried;
use super::finding::{GeneratorBound, GeneratorSign};
use super::measure::{busy, by_host, is_client, is_server, reading};
use super::pairing::{Contest, Measured};
use crate::record::{Plan, TrialRecord};
use crate::stats::{Estimate, mean_or_single};
use crate::unit::Unit;

/// Share of the time from which a CPU counts as full, and a thread as wanting it all the time.
pub(super) const FULL: f64 = 0.95;
/// Share of the time below which a thread was clearly without a CPU, or without wanting one.
const FREE: f64 = 0.9;
/// Share of paced requests sent late from which the pace was not kept.
const LATE: f64 = 0.01;

/// Every point and level of a contest at which the clients were the limit.
pub(super) fn generator_bound(
    plan: &Plan,
    contest: &Contest<'_>,
    comparison: &str,
) -> Vec<GeneratorBound> {
    let mut found = Vec::new();
    for point in &contest.points {
        for (level, trials) in [contest.base, contest.other].into_iter().zip(point.sides()) {
            // A load that was set and carried is what was asked for, late requests and all.
            if carried(plan, &trials).is_some() {
                continue;
            }
            let Some((sign, evidence)) = generator_sign(&trials) else { continue };
            found.push(GeneratorBound {
                comparison: comparison.into(),
                level: level.name.clone(),
                at: point.at.clone(),
                sign,
                evidence,
            });
        }
    }
    found
}

/// How it shows that the clients were the limit of a level at a point, by means over its trials.
///
/// Clients make or take the load in every direction, so their threads are the generator's in all
/// of them. It takes a thread of the system under test that does not want its CPU all the time,
/// where that was read: if both ends run all the time, neither waits for the other. And it takes a
/// machine that is not full: on a full one the CPUs are the limit, and since both sides share it
/// and a sender is billed for the work of receiving, it is the sender that wants them. In that
/// order:
///
/// - starved: the client thread that most wants to run wants it at least 95 % of the time and has a
///   CPU for less than 90 %. Unknown of the system under test, so no sign.
/// - busy: a client thread has its CPU at least 95 % of the time.
/// - late: more than 1 % of a client's paced requests are late.
pub(super) fn generator_sign(trials: &[Measured<'_>]) -> Option<(GeneratorSign, Estimate)> {
    let mean = |share: &dyn Fn(&TrialRecord) -> Option<f64>| {
        let shares: Vec<f64> = trials.iter().filter_map(|t| share(t.record)).collect();
        mean_or_single(&shares, Unit::Share)
    };
    let from = |share: &Option<Estimate>, least: f64| {
        share.as_ref().is_some_and(|s| s.centre.value >= least)
    };
    let below =
        |share: &Option<Estimate>, most: f64| share.as_ref().is_some_and(|s| s.centre.value < most);
    let server = mean(&server_wants);
    let wants = mean(&|r| keenest_client(r).map(|(wants, _)| wants));
    let gets = mean(&|r| keenest_client(r).and_then(|(_, gets)| gets));
    if from(&server, FREE) || from(&mean(&busy), FULL) {
        return None;
    }
    if from(&wants, FULL) && below(&gets, FREE) && below(&server, FREE) {
        return wants.map(|share| (GeneratorSign::Starved, share));
    }
    let runs = mean(&|r| largest_of_clients(r, "thread", "cpu"));
    if from(&runs, FULL) {
        return runs.map(|share| (GeneratorSign::Busy, share));
    }
    let late = mean(&|r| largest_of_clients(r, "pace", "late"));
    late.filter(|share| share.centre.value > LATE).map(|share| (GeneratorSign::Late, share))
}

/// Share of the time for which a thread of the system under test wanted a CPU.
fn server_wants(record: &TrialRecord) -> Option<f64> {
    by_host(record, "thread", "runnable").find(|r| is_server(&r.host)).map(|r| r.quantity.value)
}

/// Of the client whose thread most wanted to run: the share for which it wanted, and that for which
/// the same thread ran.
fn keenest_client(record: &TrialRecord) -> Option<(f64, Option<f64>)> {
    let clients = by_host(record, "thread", "runnable").filter(|r| is_client(&r.host));
    let keenest = clients.max_by(|a, b| a.quantity.value.total_cmp(&b.quantity.value))?;
    Some((keenest.quantity.value, reading(record, "thread", &keenest.host, "cpu")))
}

fn largest_of_clients(record: &TrialRecord, probe: &str, key: &str) -> Option<f64> {
    let clients = by_host(record, probe, key).filter(|r| is_client(&r.host));
    clients.map(|r| r.quantity.value).max_by(f64::total_cmp)
}
