//! Knows at which points the clients, not the system under test, held figures down; never which
//! level won.

use super::compared::Asked;
use super::finding::GeneratorBound;
use crate::record::{Fault, Plan, TrialRecord};
use crate::stats::{Estimate, mean_or_single};
use crate::unit::Unit;
use crate::validity::{GeneratorLimit, GeneratorSign, generator_limit};

/// Of this many visits one at the limit of the clients is enough for a mark. A rarer one is an
/// accident; a point that meets the limit more often lies near it, and the visits that are left are
/// those in which the clients happened to be quick enough.
const ONE_IN: usize = 4;

/// Every point and level of a contest at which the clients were the limit.
pub(super) fn generator_bound(plan: &Plan, asked: &Asked<'_>) -> Vec<GeneratorBound> {
    let contest = &asked.contest;
    let mut found = Vec::new();
    for point in &contest.points {
        for (level, visits) in [contest.base, contest.other].into_iter().zip(&point.visits) {
            let Some((sign, evidence)) = generator_sign(plan, visits) else { continue };
            found.push(GeneratorBound {
                comparison: asked.id.clone(),
                level: level.name.clone(),
                at: point.at.clone(),
                sign,
                evidence,
            });
        }
    }
    found
}

/// How it shows that the clients were the limit of these visits, by the rule of each trial:
/// [`generator_limit`]. Visits that are invalid for that very reason are among them, those with
/// another fault are not: they say nothing. The sign is that of most of them, the first of equals.
pub(super) fn generator_sign(
    plan: &Plan,
    visits: &[&TrialRecord],
) -> Option<(GeneratorSign, Estimate)> {
    let told = told(visits);
    let found: Vec<GeneratorLimit> =
        told.iter().filter_map(|record| generator_limit(plan, record)).collect();
    if found.is_empty() || found.len() * ONE_IN < told.len() {
        return None;
    }
    let signs = [GeneratorSign::Late, GeneratorSign::Busy, GeneratorSign::Starved];
    let count = |sign: &GeneratorSign| found.iter().filter(|one| one.sign == *sign).count();
    let sign = signs.into_iter().max_by_key(count)?;
    let shares: Vec<f64> =
        found.iter().filter(|one| one.sign == sign).map(|one| one.share.value).collect();
    mean_or_single(&shares, Unit::Share).map(|evidence| (sign, evidence))
}

/// The visits that say something of the load: the valid ones, and those that only its clients
/// spoilt.
pub(super) fn told<'r>(visits: &[&'r TrialRecord]) -> Vec<&'r TrialRecord> {
    let tells =
        |r: &&&TrialRecord| matches!(r.outcome.fault, None | Some(Fault::GeneratorLimit { .. }));
    visits.iter().filter(tells).copied().collect()
}
