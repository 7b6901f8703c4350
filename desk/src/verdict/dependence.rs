//! Knows under which levels of the other factors a level gains on the baseline, and what limits
//! where it does not.
//!
//! Never: how large a gain is worth its price.

use super::analysis::Analysis;
use super::finding::{Comparison, LimitKind, Verdict};
use crate::record::{Plan, Settings};
use crate::stats::Estimate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Levels of other factors, by factor, that hold at once.
pub type Condition = BTreeMap<String, String>;

/// Where a level gains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gaining {
    /// What must hold; other factors do not count.
    pub condition: Condition,
    /// The smallest ratio under it.
    pub least: Estimate,
    /// The largest.
    pub most: Estimate,
}

/// Where a level gains nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Idle {
    /// What must hold; other factors do not count.
    pub condition: Condition,
    /// What limits the level there, each once; none where none was seen.
    pub limits: Vec<LimitKind>,
}

/// A gain that hangs on levels of other factors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Dependence {
    /// The compared factor.
    pub factor: String,
    /// Its baseline.
    pub base: String,
    /// The level that gains somewhere.
    pub other: String,
    /// Name of the load in the plan.
    pub load: String,
    /// Parameters of the load that the plan sweeps.
    pub fixed: Settings,
    /// Name of the metric.
    pub metric: String,
    /// Conditions that together are all where it gains, the most general first.
    pub gains: Vec<Gaining>,
    /// Conditions that together are all where it gains nothing.
    pub nothing: Vec<Idle>,
    /// Conditions that together are all where it is open whether it gains.
    pub open: Vec<Condition>,
}

/// Every gain of a run that some levels of other factors have and others lack.
///
/// A comparison gains if its level is better, and not within the margin; it gains nothing if it is
/// within. Where one of them is worse, or better by less than the margin, there is no sentence on
/// the whole; others are open.
pub(super) fn dependences(plan: &Plan, found: &Analysis) -> Vec<Dependence> {
    let mut groups: Vec<Vec<&Comparison>> = Vec::new();
    let key = |c: &Comparison| [&c.factor, &c.base, &c.other, &c.load].map(String::clone);
    for one in found.comparisons.iter().filter(|c| c.factor == plan.method.compare) {
        let same = |group: &&mut Vec<&Comparison>| {
            group.first().is_some_and(|first| key(first) == key(one) && first.fixed == one.fixed)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups.iter().filter_map(|group| dependence(found, group)).collect()
}

fn dependence(found: &Analysis, group: &[&Comparison]) -> Option<Dependence> {
    let first = group.first()?;
    let (mut with, mut without, mut open) = (Vec::new(), Vec::new(), Vec::new());
    for one in group {
        match one.verdict {
            _ if one.within || one.verdict == Verdict::Equivalent => without.push(*one),
            Verdict::Better if is_beyond_margin(one) => with.push(*one),
            Verdict::Better | Verdict::Worse => return None,
            _ => open.push(*one),
        }
    }
    if with.is_empty() || without.is_empty() {
        return None;
    }
    let of = |condition: Condition| {
        let mut its: Vec<&Estimate> =
            with.iter().filter(|c| holds(&condition, c)).map(|c| &c.overall).collect();
        its.sort_by(|a, b| a.centre.value.total_cmp(&b.centre.value));
        let (least, most) = (its.first()?, its.last()?);
        Some(Gaining { least: (*least).clone(), most: (*most).clone(), condition })
    };
    let idle = |condition: Condition| {
        let its = without.iter().filter(|c| holds(&condition, c)).map(|c| c.id.as_str());
        let limits = limits(found, &its.collect::<Vec<_>>(), &first.other);
        Idle { condition, limits }
    };
    Some(Dependence {
        factor: first.factor.clone(),
        base: first.base.clone(),
        other: first.other.clone(),
        load: first.load.clone(),
        fixed: first.fixed.clone(),
        metric: first.metric.clone(),
        gains: cover(&with, [&without, &open]).into_iter().filter_map(of).collect(),
        nothing: cover(&without, [&with, &open]).into_iter().map(idle).collect(),
        open: cover(&open, [&with, &without]),
    })
}

fn is_beyond_margin(one: &Comparison) -> bool {
    one.overall.centre.value.ln().abs() > one.margin.value.ln_1p()
}

fn holds(condition: &Condition, of: &Comparison) -> bool {
    condition.iter().all(|(factor, level)| of.stratum.get(factor) == Some(level))
}

/// What limits a level in these comparisons, each kind once, the most frequent first.
fn limits(found: &Analysis, comparisons: &[&str], level: &str) -> Vec<LimitKind> {
    let its = found
        .limits
        .iter()
        .filter(|limit| limit.level == level && comparisons.contains(&limit.comparison.as_str()));
    let mut seen: BTreeMap<LimitKind, usize> = BTreeMap::new();
    for kind in its.map(|limit| limit.kind).filter(|kind| *kind != LimitKind::NoneSeen) {
        *seen.entry(kind).or_default() += 1;
    }
    let mut kinds: Vec<(LimitKind, usize)> = seen.into_iter().collect();
    kinds.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    kinds.into_iter().map(|(kind, _)| kind).collect()
}

/// Few and general conditions that hold in all of these comparisons and in none of
/// those: of the shortest that still say something new, the one that says most.
fn cover(these: &[&Comparison], those: [&[&Comparison]; 2]) -> Vec<Condition> {
    let mut left: Vec<&Comparison> = these.to_vec();
    let mut chosen = Vec::new();
    let factors = these.first().map_or(0, |one| one.stratum.len());
    for length in 1..=factors {
        let mut candidates: Vec<Condition> =
            these.iter().flat_map(|one| parts(&one.stratum, length)).collect();
        candidates.retain(|one| !those.iter().copied().flatten().any(|other| holds(one, other)));
        loop {
            let says = |one: &Condition| left.iter().filter(|c| holds(one, c)).count();
            // Of equals the first, which is that of the earlier stratum of the plan.
            let best = candidates.iter().rev().max_by_key(|one| says(one));
            let Some(best) = best.filter(|best| says(best) > 0).cloned() else { break };
            left.retain(|one| !holds(&best, one));
            chosen.push(best);
        }
    }
    chosen
}

/// Every choice of so many levels of a stratum.
fn parts(stratum: &Condition, length: usize) -> Vec<Condition> {
    let mut made = vec![Condition::new()];
    for (factor, level) in stratum {
        let mut longer = made.clone();
        for one in &mut longer {
            one.insert(factor.clone(), level.clone());
        }
        made.extend(longer);
    }
    made.retain(|one| one.len() == length);
    made
}
