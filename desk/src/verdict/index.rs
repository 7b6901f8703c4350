//! Knows which comparisons of a run make one index; never what they compare.

use super::finding::{Comparison, Index};
use super::winner::{Judged, Rule, judge_alone};
use crate::record::Run;
use crate::stats::block_means;
use std::collections::BTreeSet;

/// One index for every two levels that are compared under several loads or strata by one workload
/// and its metric: the geometric mean of the ratios, from their means within each whole block.
///
/// A paced load moves what was asked for under either level, and a comparison with two states or
/// unlike sides has no ratio: neither is in an index. None where no block is whole. Over strata
/// that need boots of their own, means of rounds stand for those of blocks.
pub(super) fn indexes(run: &Run, judged: &[Judged]) -> Vec<Index> {
    let plan = &run.plan;
    let usable = |j: &&Judged| {
        let c = &j.comparison;
        let load = plan.load(&c.load);
        let paced = load.is_some_and(|load| load.is_paced(&c.fixed));
        !paced && !c.verdict.is_barred()
    };
    let usable: Vec<&Judged> = judged.iter().filter(usable).collect();
    let kind = |j: &&Judged| {
        let c = &j.comparison;
        let load = plan.load(&c.load);
        let workload = load.map(|load| load.workload.clone());
        (c.base.clone(), c.other.clone(), workload, c.metric.clone())
    };
    let mut kinds: Vec<_> = usable.iter().map(kind).collect();
    let mut seen = BTreeSet::new();
    kinds.retain(|kind| seen.insert(kind.clone()));
    let of = |wanted: &_| {
        let part: Vec<&Judged> = usable.iter().copied().filter(|j| kind(j) == *wanted).collect();
        index(run, &part)
    };
    kinds.iter().filter_map(of).collect()
}

fn index<'p>(run: &Run, part: &[&'p Judged]) -> Option<Index> {
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
    let by_round = run.plan.rebooted().any(|factor| apart(&factor.name));
    let of = |j: &&'p Judged| if by_round { j.rounds.as_slice() } else { j.blocks.as_slice() };
    let series: Vec<&[(u32, f64)]> = part.iter().map(of).collect();
    let blocks = block_means(&series);
    let logs: Vec<f64> = blocks.iter().map(|(_, log)| *log).collect();
    let first = &part.first()?.comparison;
    let rule = Rule { metric: run.deciding(&first.load)?, method: &run.plan.method };
    let (ratio, verdict, within) = judge_alone(&logs, rule)?;
    Some(Index {
        factor: first.factor.clone(),
        base: first.base.clone(),
        other: first.other.clone(),
        metric: first.metric.clone(),
        over: part.iter().map(|j| j.comparison.id.clone()).collect(),
        ratio,
        verdict,
        together: None,
        within,
        blocks,
    })
}
