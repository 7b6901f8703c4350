//! Knows how to tell from readings what held the figures down; a first form, by fixed thresholds.
//!
//! Never: which level won.

use super::effective::effective;
use super::finding::{Limit, LimitKind, PointLimit};
use super::generator::generator_sign;
use super::measure::{busy, directions, is_client, offer_use, reached_offer, throughput};
use super::pairing::{Contest, Measured, PairedPoint};
use crate::record::{Level, Plan, StreamFacts, TrialRecord};
use crate::stats::{Estimate, mean_or_single};
use crate::unit::Unit;
use crate::validity::FULL;
use std::cmp::Ordering;

/// Share of a set rate from which the rate counts as reached; the rest is headers.
const AT_RATE: f64 = 0.9;
/// Share of a stream's busy time from which waiting counts as the limit.
const WAITING: f64 = 0.5;

/// The limit of both levels of a contest, baseline first, and that at every point of its curve.
///
/// On a curve the limit is that of the largest point: there a resource fills up, while small points
/// are often held down by the cost of each call. A level is left out where nothing was watched, for
/// then not even "none seen" is true.
pub(super) fn limits(
    plan: &Plan,
    contest: &Contest<'_>,
    comparison: &str,
) -> (Vec<Limit>, Vec<PointLimit>) {
    let by_place = |a: &&PairedPoint<'_>, b: &&PairedPoint<'_>| {
        a.at.partial_cmp(&b.at).unwrap_or(Ordering::Equal)
    };
    let live = || contest.points.iter().filter(|point| !point.pairs.is_empty());
    let of = |point: &PairedPoint<'_>| -> Vec<Limit> {
        let limit = |(level, trials): (&Level, Vec<Measured<'_>>)| {
            let found = find(plan, &trials, &contest.visits(point, level))?;
            let (comparison, level) = (comparison.into(), level.name.clone());
            let Full { kind, evidence, rivals } = found;
            Some(Limit { comparison, level, kind, evidence, rivals })
        };
        let [base, other] = point.sides();
        [(contest.base, base), (contest.other, other)].into_iter().filter_map(limit).collect()
    };
    let largest = live().max_by(by_place).map(&of).unwrap_or_default();
    let placed = live().filter_map(|point| Some((point.at.as_ref()?, point)));
    let along = placed.flat_map(|(at, point)| {
        of(point).into_iter().map(|limit| PointLimit { at: at.clone(), limit })
    });
    (largest, along.collect())
}

/// Whether both levels of a comparison carried the load that was set: they moved the same by
/// design, and only their cost is of interest.
#[must_use]
pub fn was_carried(limits: &[Limit], comparison: &str) -> bool {
    let mut of = limits.iter().filter(|limit| limit.comparison == comparison).peekable();
    of.peek().is_some() && of.all(|limit| limit.kind == LimitKind::OfferedLoad)
}

/// What was full, and what was read before it and was not.
struct Full {
    kind: LimitKind,
    evidence: Estimate,
    rivals: Vec<LimitKind>,
}

/// The first limit that shows, in the order: load offered, generator, CPUs, one CPU, set rate,
/// waiting sockets.
///
/// A load that was set and carried has no other limit. The generator stands next because it makes
/// the others look like what they are not: a client without enough CPU leaves a server that waits.
/// Its own rule keeps it from hiding them: a client
/// that is busy or late counts only on a machine that is not full, and no client counts beside a
/// system under test that runs all the time.
///
/// `visits` are all of the level, also those that the clients' limit made invalid.
fn find(plan: &Plan, trials: &[Measured<'_>], visits: &[&TrialRecord]) -> Option<Full> {
    let full = |kind, evidence, rivals| Some(Full { kind, evidence, rivals });
    if let Some(carried) = carried(plan, trials) {
        return full(LimitKind::OfferedLoad, carried, Vec::new());
    }
    if let Some((_, evidence)) = generator_sign(plan, visits) {
        return full(LimitKind::Generator, evidence, Vec::new());
    }
    let mean = |share: &dyn Fn(&TrialRecord) -> Option<f64>| {
        let shares: Vec<f64> = trials.iter().filter_map(|t| share(t.record)).collect();
        mean_or_single(&shares, Unit::Share)
    };
    let busy = mean(&busy);
    let watched = [
        (LimitKind::AllCpus, FULL, busy.clone()),
        (LimitKind::OneCpu, FULL, mean(&busiest_cpu)),
        (LimitKind::SetRate, AT_RATE, mean(&|record| rate_use(plan, record))),
        (LimitKind::ReceiveWindow, WAITING, mean(&|r| waiting(r, |s| s.receive_window_limited_us))),
        (LimitKind::SendBuffer, WAITING, mean(&|r| waiting(r, |s| s.send_buffer_limited_us))),
    ];
    let mut rivals = Vec::new();
    rivals.extend(clients_were_read(visits).then_some(LimitKind::Generator));
    for (kind, threshold, share) in watched {
        // What nobody read is no rival that was ruled out.
        let Some(share) = share else { continue };
        if share.centre.value >= threshold {
            return full(kind, share, rivals);
        }
        rivals.push(kind);
    }
    full(LimitKind::NoneSeen, busy?, rivals)
}

/// Whether the threads of the clients were watched in any visit.
fn clients_were_read(visits: &[&TrialRecord]) -> bool {
    let mut readings = visits.iter().flat_map(|record| &record.readings);
    readings.any(|r| r.probe == "thread" && is_client(&r.host))
}

/// Share of the load offered that was carried, if one was set and every trial reached it.
fn carried(plan: &Plan, trials: &[Measured<'_>]) -> Option<Estimate> {
    if trials.is_empty() || !trials.iter().all(|t| reached_offer(plan, t.record)) {
        return None;
    }
    let shares: Vec<f64> = trials.iter().filter_map(|t| offer_use(plan, t.record)).collect();
    mean_or_single(&shares, Unit::Share)
}

/// Busy share of the busiest CPU of the trial: which one it is may change from trial to trial.
fn busiest_cpu(record: &TrialRecord) -> Option<f64> {
    let cpus = record
        .readings
        .iter()
        .filter(|r| r.probe == "cpu" && r.host == "machine" && r.key.starts_with("busy.cpu"));
    cpus.map(|r| r.quantity.value).max_by(f64::total_cmp)
}

/// Throughput over the `rate` in force on the link, counted in both directions for `duplex`.
fn rate_use(plan: &Plan, record: &TrialRecord) -> Option<f64> {
    let rate = effective(plan, &record.trial.settings).get("rate")?.quantity()?;
    let directions = directions(&record.trial.point.params);
    let limited = rate.unit == Unit::BitPerSecond && rate.value > 0.0;
    let moved = throughput(plan, record).filter(|_| limited)?;
    Some(moved / (rate.value * directions))
}

/// Share of the streams' busy time that went by waiting; none without streams.
#[expect(clippy::cast_precision_loss, reason = "microseconds of a run are far below 2^53")]
fn waiting(record: &TrialRecord, waited: impl Fn(&StreamFacts) -> u64) -> Option<f64> {
    let streams = &record.outcome.streams;
    let busy: u64 = streams.iter().map(|s| s.busy_us).sum();
    let waited: u64 = streams.iter().map(waited).sum();
    (busy > 0).then(|| waited as f64 / busy as f64)
}
