//! Knows how to tell from readings what held the figures down; a first form, by fixed thresholds.
//!
//! Never: which level won.

use super::ceiling::{Ceiling, ceilings, filled_by_others, has_small, is_taken_from_clients, tops};
use super::compared::Asked;
use super::finding::{GeneratorBound, Limit, LimitKind, LimitPlace, PointLimit, Rival, Top};
use super::generator::{generator_sign, told};
use super::measure::{busy, is_client, offer_use, reached_offer};
use super::pairing::PairedPoint;
use super::place::place;
use super::storage;
use crate::record::{Level, Run, TrialRecord};
use crate::stats::{Estimate, mean_or_single};
use crate::unit::Unit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// What held a contest down.
pub(super) struct Held {
    /// The limit of both levels, baseline first: on a curve that of its largest point.
    pub largest: Vec<Limit>,
    /// The same at every point of the curve.
    pub along: Vec<PointLimit>,
    /// What ceilings leave of payload at the largest point, for each level by its name.
    pub tops: Vec<(String, Vec<Top>)>,
}

/// What held a load down at a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuredLimit {
    /// What was full.
    pub kind: LimitKind,
    /// How full it was, as a share; of [`LimitKind::NoneSeen`] how busy the CPUs were.
    pub evidence: Estimate,
    /// What was full beside it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ties: Vec<LimitKind>,
}

impl MeasuredLimit {
    /// The limit and what it ties with.
    pub fn named(&self) -> impl Iterator<Item = LimitKind> {
        std::iter::once(self.kind).chain(self.ties.iter().copied())
    }
}

/// What held both levels of a contest down; `bound` tells where the clients did.
///
/// On a curve the limit is that of the largest point: there a resource fills up, while small points
/// are often held down by the cost of each call. A level is left out where nothing was watched, for
/// then not even "none seen" is true. Where no visit of a contest is valid because its clients were
/// at their limit in all of them, that is said. A load of the system under test alone is bounded by
/// the part of the machine that it measures; only a quota, or a load that was set and carried,
/// holds it down from outside. For a load of storage that part is the disk, or the CPUs of its
/// threads.
pub(super) fn limits(run: &Run, asked: &Asked<'_>, bound: &[GeneratorBound]) -> Held {
    let contest = &asked.contest;
    let any = contest.points.iter().any(|point| !point.pairs.is_empty());
    let live = || contest.points.iter().filter(move |point| !any || !point.pairs.is_empty());
    let levels = [contest.base, contest.other];
    let of = |point: &PairedPoint<'_>| -> Vec<Limit> {
        let limit = |(level, (trials, visits)): (&Level, (Records<'_>, &Records<'_>))| {
            let trials = if any { trials } else { told(visits) };
            let at = bound.iter().find(|b| b.level == level.name && b.at == point.at);
            let clients = at.map(|bound| &bound.evidence);
            let full = full((run, contest.load.alone), &trials, (visits, clients))?;
            let (comparison, level) = (asked.id.clone(), level.name.clone());
            let Full { kind, evidence, place, ties, rivals } = full;
            Some(Limit { comparison, level, kind, evidence, place, ties, rivals })
        };
        let sides = records(point).into_iter().zip(&point.visits);
        levels.into_iter().zip(sides).filter_map(limit).collect()
    };
    let largest = live().max_by(|a, b| a.at.partial_cmp(&b.at).unwrap_or(Ordering::Equal));
    let placed = live().filter_map(|point| Some((point.at.as_ref()?, point)));
    let along = placed.flat_map(|(at, point)| {
        of(point).into_iter().map(|limit| PointLimit { at: at.clone(), limit })
    });
    let top = |point| {
        let of = |(level, side): (&Level, Records<'_>)| (level.name.clone(), tops(run, &side));
        levels.into_iter().zip(records(point)).map(of).collect()
    };
    Held {
        largest: largest.map(&of).unwrap_or_default(),
        along: along.collect(),
        tops: largest.map(top).unwrap_or_default(),
    }
}

/// What held a load down over the visits of a point that stands against no other; none where
/// nothing was watched.
pub(super) fn held(run: &Run, visits: &[&TrialRecord]) -> Option<MeasuredLimit> {
    let clients = generator_sign(&run.plan, visits).map(|(_, evidence)| evidence);
    let good = visits.iter().filter(|record| record.outcome.fault.is_none());
    let good: Vec<&TrialRecord> = good.copied().collect();
    let trials = if good.is_empty() { told(visits) } else { good };
    let is_alone = visits.first().is_some_and(|r| run.plan.runs_alone(&r.trial.point.load));
    let found = full((run, is_alone), &trials, (visits, clients.as_ref()))?;
    let Full { kind, evidence, ties, .. } = found;
    let ties = ties.iter().map(|tie| tie.kind).collect();
    Some(MeasuredLimit { kind, evidence, ties })
}

/// What held trials down, of a load of the system under test alone or of another.
fn full(
    (run, is_alone): (&Run, bool),
    trials: &[&TrialRecord],
    others: (&[&TrialRecord], Option<&Estimate>),
) -> Option<Full> {
    let from_outside = [LimitKind::ServerQuota, LimitKind::OfferedLoad];
    find(run, trials, others)
        .filter(|full| !is_alone || from_outside.contains(&full.kind))
        .or_else(|| storage::limit(trials).map(Full::of))
}

type Records<'r> = Vec<&'r TrialRecord>;

/// The paired trials of both levels, baseline first.
fn records<'r>(point: &PairedPoint<'r>) -> [Records<'r>; 2] {
    point.sides().map(|side| side.iter().map(|trial| trial.record).collect())
}

/// Whether both levels of a comparison carried the load that was set: they moved the same by
/// design, and only their cost is of interest.
#[must_use]
pub fn was_carried(limits: &[Limit], comparison: &str) -> bool {
    let mut of = limits.iter().filter(|limit| limit.comparison == comparison).peekable();
    of.peek().is_some() && of.all(|limit| limit.kind == LimitKind::OfferedLoad)
}

/// What was full, what was full beside it, and what was read and was not.
struct Full {
    kind: LimitKind,
    evidence: Estimate,
    place: Option<LimitPlace>,
    ties: Vec<Rival>,
    rivals: Vec<Rival>,
}

impl Full {
    /// A limit without a place, and with nothing beside it.
    fn of(limit: MeasuredLimit) -> Self {
        let MeasuredLimit { kind, evidence, .. } = limit;
        Self { kind, evidence, place: None, ties: Vec::new(), rivals: Vec::new() }
    }
}

/// The ceiling that is full; several that are full tie, unless one of them is a part of the other.
///
/// A load that was set and carried has no other limit. Of the rest the clients stand first because
/// they make the others look like what they are not: a client without enough CPU leaves a server
/// that waits. Their own rule keeps them from hiding others: a client that is busy or late counts
/// only on a machine that is not full, and no client counts beside a system under test that runs
/// all the time. CPUs that other programs fill do not tie with what is full besides: the load
/// reached that all the same. Sockets that wait are the limit only where nothing is full, for they
/// wait for what is; but sockets that wait for a buffer too small for any load make the threads at
/// both ends wake up for each few packets, so that full CPUs are its effect; what it holds stays in
/// caches, so that memory is not in the way.
///
/// `visits` are all of the level, also those that the clients' limit made invalid; `clients` is
/// what shows that they were the limit, where they were.
fn find(
    run: &Run,
    trials: &[&TrialRecord],
    (visits, clients): (&[&TrialRecord], Option<&Estimate>),
) -> Option<Full> {
    if let Some(evidence) = carried(run, trials) {
        let (kind, ties, rivals) = (LimitKind::OfferedLoad, Vec::new(), Vec::new());
        return Some(Full { kind, evidence, place: None, ties, rivals });
    }
    let seen = ceilings(run, trials);
    let mut full: Vec<Rival> = seen.iter().filter(|c| c.is_full()).map(rival).collect();
    let mut rivals: Vec<Rival> = seen.iter().filter(|c| !c.is_full()).map(rival).collect();
    match clients {
        Some(utilisation) => full.push(Rival {
            kind: LimitKind::Generator,
            utilisation: utilisation.clone(),
            place: None,
        }),
        None => rivals.extend(clients_use(visits)),
    }
    if full.iter().any(|one| is_small(one.kind, trials)) {
        let effects = [LimitKind::Generator, LimitKind::Memory];
        full.retain(|one| !is_cpu(one.kind) && !effects.contains(&one.kind));
    }
    full.sort_by_key(|one| one.kind);
    rivals.sort_by_key(|one| one.kind);
    let kinds: Vec<LimitKind> = full.iter().map(|one| one.kind).collect();
    let filled = filled_by_others(trials);
    let on_clients = trials.iter().any(|record| is_taken_from_clients(record));
    let covers = |full: LimitKind, other: LimitKind| match (full, other) {
        (LimitKind::OtherPrograms, LimitKind::AllCpus) => filled,
        (LimitKind::OtherPrograms, LimitKind::Generator) => on_clients,
        _ => covers(full, other),
    };
    full.retain(|one| !kinds.iter().any(|other| covers(*other, one.kind)));
    if full.iter().any(|one| !is_cpu(one.kind)) && filled {
        full.retain(|one| !is_cpu(one.kind));
    }
    // Who waits for a disk sends little, and what it sends is acknowledged late: no one waits then.
    if full.iter().all(|one| one.kind == LimitKind::DelayedAcks)
        && let Some(found) = storage::of_a_host(trials)
    {
        rivals.extend(full);
        rivals.retain(|rival| rival.kind != found.kind);
        return Some(Full { rivals, ..Full::of(found) });
    }
    if full.is_empty() {
        return none_seen(trials, rivals);
    }
    for one in &mut full {
        one.place = place(run, trials, one.kind);
    }
    let ties = full.split_off(1);
    let Rival { kind, utilisation: evidence, place } = full.pop()?;
    Some(Full { kind, evidence, place, ties, rivals })
}

/// Where nothing that was watched held a load down.
fn none_seen(trials: &[&TrialRecord], rivals: Vec<Rival>) -> Option<Full> {
    let shares: Vec<f64> = trials.iter().filter_map(|record| busy(record)).collect();
    let (kind, evidence) = (LimitKind::NoneSeen, mean_or_single(&shares, Unit::Share)?);
    Some(Full { kind, evidence, place: None, ties: Vec::new(), rivals })
}

const fn is_cpu(kind: LimitKind) -> bool {
    use LimitKind as K;
    matches!(kind, K::OtherPrograms | K::AllCpus | K::OneCpu | K::SoftirqCpu)
}

const fn is_relay(kind: LimitKind) -> bool {
    matches!(kind, LimitKind::RelayQuota | LimitKind::RelayCpu | LimitKind::Relay)
}

/// Whether sockets that wait wait for a buffer that is too small for any load.
fn is_small(kind: LimitKind, trials: &[&TrialRecord]) -> bool {
    let key = match kind {
        LimitKind::ReceiveWindow => "receive_buffer",
        LimitKind::SendBuffer => "send_buffer",
        _ => return false,
    };
    !trials.is_empty() && trials.iter().all(|record| has_small(record, key))
}

fn rival(ceiling: &Ceiling) -> Rival {
    Rival { kind: ceiling.kind, utilisation: ceiling.utilisation.clone(), place: None }
}

/// Whether the first being full is why the second is: it holds it, or makes sockets wait.
///
/// A relay that did not keep the path tells nothing of what is behind it, nor does one whose quota
/// is used up, which is why it is late. A relay that fills CPUs is why they are full. Losses are
/// the limit only where nothing is full. A client that cannot send or take more has its reason in
/// its quota or its line. A CPU is one of all; one that is full of interrupts is full; that of a
/// client is the client's. Goodput is that of the line. What a bucket or a full line drops is how
/// its rate holds TCP. A CPU that other programs share with the load is full of both; all CPUs and
/// clients are only where these programs fill the one or run on the CPUs of the other. A copy keeps
/// a CPU busy, and whether full CPUs wait for memory is not read.
fn covers(full: LimitKind, other: LimitKind) -> bool {
    use LimitKind as K;
    match full {
        K::RelayQuota => return other != K::RelayQuota,
        K::Relay => return !is_relay(other),
        K::RelayCpu if matches!(other, K::Relay | K::Generator) => return true,
        K::RelayCpu if is_cpu(other) => return other != K::OtherPrograms,
        _ => {}
    }
    match other {
        K::PathLosses => full != K::PathLosses,
        K::Generator => matches!(full, K::ClientQuota | K::ClientLine),
        K::QueueDrops => {
            matches!(
                full,
                K::ClientLine | K::SetRate | K::PathRate | K::Shaper | K::Goodput | K::LineRate
            )
        }
        K::LineRate => full == K::Goodput,
        K::Memory => is_cpu(full),
        K::SoftirqCpu => matches!(full, K::AllCpus | K::OtherPrograms),
        K::OneCpu => matches!(
            full,
            K::AllCpus
                | K::SoftirqCpu
                | K::OtherPrograms
                | K::ClientQuota
                | K::ClientLine
                | K::Generator
        ),
        K::Workers | K::ReceiveWindow | K::SendBuffer | K::DelayedAcks => full < K::Workers,
        _ => false,
    }
}

/// Share of the time for which the busiest thread of any client had a CPU, as the rival that was
/// ruled out; none where their threads were not watched.
fn clients_use(visits: &[&TrialRecord]) -> Option<Rival> {
    let of = |record: &&TrialRecord| {
        let mut threads: Vec<f64> = Vec::new();
        for r in &record.readings {
            if r.probe == "thread" && r.key == "cpu" && is_client(r.host.name()) {
                threads.push(r.quantity.value);
            }
        }
        threads.into_iter().max_by(f64::total_cmp)
    };
    let shares: Vec<f64> = visits.iter().filter_map(of).collect();
    let utilisation = mean_or_single(&shares, Unit::Share)?;
    Some(Rival { kind: LimitKind::Generator, utilisation, place: None })
}

/// Share of the load offered that was carried, if one was set and every trial reached it.
fn carried(run: &Run, trials: &[&TrialRecord]) -> Option<Estimate> {
    if trials.is_empty() || !trials.iter().all(|record| reached_offer(&run.plan, record)) {
        return None;
    }
    let shares: Vec<f64> =
        trials.iter().filter_map(|record| offer_use(&run.plan, record)).collect();
    mean_or_single(&shares, Unit::Share)
}
