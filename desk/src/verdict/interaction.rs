//! Knows whether the effect of a level depends on another factor: the difference of differences.

use super::compared::Asked;
use super::finding::Interaction;
use super::pairing::{Contest, Pair};
use super::winner::judge_alone;
use crate::record::{Plan, Replicate};
use crate::stats::{decide, mean};
use std::collections::BTreeMap;

/// What pairs of two contests must have in common: block, or round of boots.
pub(super) type Number = fn(&Pair<'_>) -> u32;

/// One interaction for every compared level, every further level of every other factor against
/// that factor's first, and all that contests are apart by besides.
pub(super) fn interactions(plan: &Plan, asked: &[Asked<'_>]) -> Vec<Interaction> {
    let mut all = Vec::new();
    for first in asked {
        let one = &first.contest;
        for by in plan.factors.iter().filter(|f| f.name != plan.method.compare) {
            let Some((base, others)) = by.levels.split_first() else { continue };
            if one.stratum.get(&by.name) != Some(&base.name) {
                continue;
            }
            for other in others {
                let mut stratum = one.stratum.clone();
                stratum.insert(by.name.clone(), other.name.clone());
                let Some(second) = asked.iter().find(|a| twin(&a.contest, one, &stratum)) else {
                    continue;
                };
                // Levels of `by` that need boots of their own share no block, but a round.
                let shared: Number = match plan.replicate_of(&[&by.name]) {
                    Replicate::Block => |pair| pair.block,
                    Replicate::Boot => |pair| pair.round,
                };
                all.extend(interaction((first, second), (&by.name, shared)));
            }
        }
    }
    all
}

fn twin(one: &Contest<'_>, first: &Contest<'_>, stratum: &BTreeMap<String, String>) -> bool {
    one.stratum == *stratum
        && one.other.name == first.other.name
        && one.load.name == first.load.name
        && one.fixed == first.fixed
}

/// Log ratios within a block under one level of the other factor and under another, means over the
/// points that both have pairs at; their difference, block by block, is judged like any ratio:
/// better if the judged level gains more on the baseline under the other level of `by`.
///
/// A block counts if it has a pair at each of those points under both, so that `difference` is
/// `second` / `first` exactly. A point with two states under either is left out. None if no block
/// is left. Where `by` needs boots of its own, rounds of boots stand for blocks, with the mean log
/// over the pairs of each.
fn interaction(
    (first, second): (&Asked<'_>, &Asked<'_>),
    (by, number): (&str, Number),
) -> Option<Interaction> {
    let (one, two, rule) = (&first.contest, &second.contest, first.rule);
    let shared: Vec<usize> = (0..one.points.len())
        .filter(|place| first.is_whole(*place) && second.is_whole(*place))
        .collect();
    let means = |contest| block_means(contest, &shared, number);
    let (here, there) = (means(one), means(two));
    let pairs: Vec<(u32, f64, f64)> =
        here.iter().filter_map(|(block, log)| Some((*block, *log, *there.get(block)?))).collect();
    let logs = |of: fn(&(u32, f64, f64)) -> f64| pairs.iter().map(of).collect::<Vec<f64>>();
    let effect = |logs: &[f64]| Some(decide(logs, rule.method.rule())?.ratio);
    let (difference, verdict, within) = judge_alone(&logs(|(_, a, b)| b - a), rule)?;
    let mut stratum = one.stratum.clone();
    stratum.remove(by);
    Some(Interaction {
        factor: one.factor.name.clone(),
        base: one.base.name.clone(),
        other: one.other.name.clone(),
        by: by.into(),
        by_base: one.stratum.get(by)?.clone(),
        by_other: two.stratum.get(by)?.clone(),
        stratum,
        fixed: one.fixed.clone(),
        load: one.load.name.clone(),
        metric: rule.metric.name.clone(),
        first: effect(&logs(|(_, a, _)| *a))?,
        second: effect(&logs(|(_, _, b)| *b))?,
        difference,
        verdict,
        together: None,
        within,
        blocks: pairs.iter().map(|(block, a, b)| (*block, b - a)).collect(),
    })
}

/// Mean log ratio over these points, of each block (or round) that has a pair at all of them.
pub(super) fn block_means(
    contest: &Contest<'_>,
    places: &[usize],
    number: Number,
) -> BTreeMap<u32, f64> {
    let mut blocks: BTreeMap<u32, BTreeMap<usize, Vec<f64>>> = BTreeMap::new();
    for place in places {
        for pair in contest.points.get(*place).iter().flat_map(|point| &point.pairs) {
            let here = blocks.entry(number(pair)).or_default();
            here.entry(*place).or_default().push(pair.log);
        }
    }
    let whole = blocks.into_iter().filter(|(_, points)| points.len() == places.len());
    let means = |points: BTreeMap<usize, Vec<f64>>| -> Vec<f64> {
        points.values().map(|logs| mean(logs)).collect()
    };
    whole.map(|(block, points)| (block, mean(&means(points)))).collect()
}
