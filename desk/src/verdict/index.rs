//! Knows which comparisons of a run make one index; never what they compare.

use super::finding::{Comparison, Index, Verdict};
use super::measure::is_paced;
use super::winner::{Judged, Rule, judge_alone};
use crate::record::{Metric, Plan};
use crate::stats::block_means;
use std::collections::BTreeSet;

/// One index for every two levels that are compared under several loads or strata: the geometric
/// mean of the ratios, from their means within each whole block.
///
/// A paced load moves what was asked for under either level, and a comparison with two states has
/// no ratio: neither is in an index. None where no block is whole. Over strata that need boots of
/// their own, means of rounds stand for those of blocks.
pub(super) fn indexes(plan: &Plan, judged: &[Judged], metric: &Metric) -> Vec<Index> {
    let usable = |j: &&Judged| {
        let c = &j.comparison;
        let load = plan.loads.iter().find(|load| load.name == c.load);
        let paced = is_paced(&c.fixed) || load.is_some_and(|load| is_paced(&load.fixed));
        !paced && c.verdict != Verdict::TwoStates
    };
    let usable: Vec<&Judged> = judged.iter().filter(usable).collect();
    let pair = |j: &&Judged| (j.comparison.base.clone(), j.comparison.other.clone());
    let mut pairs: Vec<(String, String)> = usable.iter().map(pair).collect();
    let mut seen = BTreeSet::new();
    pairs.retain(|pair| seen.insert(pair.clone()));
    let of = |wanted: &(String, String)| {
        let part: Vec<&Judged> = usable.iter().copied().filter(|j| pair(j) == *wanted).collect();
        index(plan, &part, metric)
    };
    pairs.iter().filter_map(of).collect()
}

fn index<'p>(plan: &Plan, part: &[&'p Judged], metric: &Metric) -> Option<Index> {
    let place = |c: &Comparison| (c.load.clone(), c.stratum.clone());
    let places: BTreeSet<_> = part.iter().map(|j| place(&j.comparison)).collect();
    if places.len() < 2 {
        return None;
    }
    // What was measured in different boots shares no block, but a round.
    let apart = |factor: &str| {
        let level = |j: &&Judged| j.comparison.stratum.get(factor).cloned();
        part.iter().map(level).collect::<BTreeSet<_>>().len() > 1
    };
    let by_round = plan.rebooted().any(|factor| apart(&factor.name));
    let of = |j: &&'p Judged| if by_round { j.rounds.as_slice() } else { j.blocks.as_slice() };
    let series: Vec<&[(u32, f64)]> = part.iter().map(of).collect();
    let logs: Vec<f64> = block_means(&series).iter().map(|(_, log)| *log).collect();
    let (ratio, verdict) = judge_alone(&logs, Rule { metric, method: &plan.method })?;
    let first = &part.first()?.comparison;
    Some(Index {
        factor: first.factor.clone(),
        base: first.base.clone(),
        other: first.other.clone(),
        metric: first.metric.clone(),
        over: part.iter().map(|j| j.comparison.id.clone()).collect(),
        ratio,
        verdict,
    })
}
