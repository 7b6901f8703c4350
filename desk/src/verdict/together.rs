//! Knows the families that the words of a run are judged in: what is certain only by itself is
//! called undecided, on every medium.
//!
//! **The question** of a plan is its primary comparison, or without one all comparisons of the
//! compared factor with the order of its levels; its error is that of the plan. **The rest**
//! (points of curves, costs, prices, other factors, interactions, indexes, A against A, loads that
//! were carried) is one family at half that error. So in a run of equal levels any word names a
//! winner with a chance of at most 1.5 times the error of the plan: 7.5 %.
//!
//! Never: which word is said first.

use super::analyse::{analyse, conclude};
use super::bottleneck::was_carried;
use super::finding::{Comparison, Limit, PointResult, Verdict};
use super::primary::is_primary;
use super::ranking::place;
use super::ranks::Ranking;
use super::region::narrowed;
use super::{Analysis, inside::lies_inside};
use crate::record::{Plan, Run};
use crate::stats::{Estimate, JUDGED_FROM, block_means, difference_p, log_ratio, stepped_down};
use crate::unit::{Quantity, Unit};
use std::collections::{BTreeMap, BTreeSet};

/// A p value of the rest is held against the error of the plan after it was multiplied by this.
const REST: f64 = 2.0;

/// Block (or round of boots) and log ratio.
pub(super) type Blocks = Vec<(u32, f64)>;

/// A sample of a family, and where its p value stands.
struct Member<'f> {
    of_question: bool,
    blocks: Blocks,
    together: &'f mut Option<Quantity>,
}

/// Gives everything that may be called different its p value within its family, and calls undecided
/// what does not hold there.
pub(super) fn judge_together(plan: &Plan, found: &mut Analysis) {
    let question = question(plan, found);
    let mut members = Vec::new();
    for comparison in &mut found.comparisons {
        let of_question = question.contains(&comparison.id);
        add(&mut members, of_question, comparison);
    }
    let costs = found.costs.iter_mut().flat_map(|cost| {
        let plain = [&mut cost.cpu, &mut cost.index, &mut cost.per_work];
        plain.into_iter().chain(&mut cost.displaced)
    });
    let worth = found
        .prices
        .iter_mut()
        .chain(&mut found.powers)
        .filter_map(|worth| worth.per_unit.as_mut());
    for comparison in found.others.iter_mut().chain(costs).chain(worth) {
        add(&mut members, false, comparison);
    }
    let primary = plan.method.primary_comparison.is_some();
    for ranking in &mut found.rankings {
        let of_question = !primary && ranking.factor == plan.method.compare;
        for pair in &mut ranking.pairs {
            let blocks = pair.blocks.clone();
            members.push(Member { of_question, blocks, together: &mut pair.together });
        }
    }
    for one in &mut found.interactions {
        let (blocks, together) = (one.blocks.clone(), &mut one.together);
        members.push(Member { of_question: false, blocks, together });
    }
    for one in &mut found.indexes {
        let (blocks, together) = (one.blocks.clone(), &mut one.together);
        members.push(Member { of_question: false, blocks, together });
    }
    judge(members, plan.method.seed);
    heed(plan, found, 1);
}

/// The comparisons that the error of the plan is for: not A against A, not without a verdict, and
/// no load that was set and carried, which moves the same under both levels. Without any other the
/// carried loads are, and without those A against A.
fn question(plan: &Plan, found: &Analysis) -> BTreeSet<String> {
    let Analysis { comparisons, limits, .. } = found;
    let ids = |wanted: &dyn Fn(&Comparison) -> bool| -> BTreeSet<String> {
        comparisons.iter().filter(|c| wanted(c)).map(|c| c.id.clone()).collect()
    };
    let primary = ids(&|c| is_primary(plan, c));
    if plan.method.primary_comparison.is_some() {
        return primary;
    }
    let live = |c: &Comparison| !c.verdict.is_barred() && !c.aa;
    let carried = |limits: &[Limit], c: &Comparison| was_carried(limits, &c.id);
    let kinds: [&dyn Fn(&Comparison) -> bool; 3] =
        [&|c| live(c) && !carried(limits, c), &live, &|c| !c.verdict.is_barred()];
    kinds.into_iter().map(ids).find(|found| !found.is_empty()).unwrap_or_default()
}

/// A comparison and its points; what has no verdict by nature is in no family.
fn add<'f>(members: &mut Vec<Member<'f>>, of_question: bool, comparison: &'f mut Comparison) {
    let points: Vec<Blocks> = comparison.points.iter().map(numbered).collect();
    if !comparison.verdict.is_barred() {
        let kept = comparison.points.iter().zip(&points).filter(|(p, _)| !p.verdict.is_barred());
        let kept: Vec<&[(u32, f64)]> = kept.map(|(_, blocks)| blocks.as_slice()).collect();
        let blocks = block_means(&kept);
        members.push(Member { of_question, blocks, together: &mut comparison.together });
    }
    for (point, blocks) in comparison.points.iter_mut().zip(points) {
        if !point.verdict.is_barred() {
            let together = &mut point.together;
            members.push(Member { of_question: false, blocks, together });
        }
    }
}

/// ln(other / base) of every block of a point, with its number.
pub(super) fn numbered(point: &PointResult) -> Blocks {
    let pairs = point.blocks.iter().zip(point.base_runs.iter().zip(&point.other_runs));
    let log = |(block, (base, other)): (&u32, (&Quantity, &Quantity))| {
        Some((*block, log_ratio(base.value, other.value)?))
    };
    pairs.filter_map(log).collect()
}

/// Judges the question, then the rest; a sample that stands in several places is one test.
fn judge(mut members: Vec<Member<'_>>, seed: u64) {
    let mut known: BTreeMap<Vec<(u32, u64)>, Option<Quantity>> = BTreeMap::new();
    for (of_question, scale) in [(true, 1.0), (false, REST)] {
        let mut keys = Vec::new();
        let mut samples: Vec<&[(u32, f64)]> = Vec::new();
        for member in members.iter().filter(|m| m.of_question == of_question) {
            let key = key(&member.blocks);
            if !known.contains_key(&key) && !keys.contains(&key) {
                keys.push(key);
                samples.push(&member.blocks);
            }
        }
        let share = |p: f64| Quantity::new((p * scale).min(1.0), Unit::Share);
        let ps = adjusted(&samples, seed);
        known.extend(keys.into_iter().zip(ps).map(|(key, p)| (key, p.map(share))));
    }
    for member in &mut members {
        *member.together = known.get(&key(&member.blocks)).copied().flatten();
    }
}

/// A sample and its opposite are one test.
fn key(blocks: &[(u32, f64)]) -> Vec<(u32, u64)> {
    let turned = blocks.iter().find(|(_, log)| *log != 0.0).is_some_and(|(_, log)| *log < 0.0);
    let sign = if turned { -1.0 } else { 1.0 };
    // -0.0 and 0.0 are one value.
    blocks.iter().map(|(block, log)| (*block, (sign * log + 0.0).to_bits())).collect()
}

/// p values by steps ([`stepped_down`]); of one sample by itself.
fn adjusted(samples: &[&[(u32, f64)]], seed: u64) -> Vec<Option<f64>> {
    let [one] = samples else { return stepped_down(samples, seed) };
    let logs: Vec<f64> = one.iter().map(|(_, log)| *log).collect();
    vec![difference_p(&logs).filter(|_| logs.len() >= JUDGED_FROM)]
}

/// Calls undecided (equal, where it is shown to lie within the margin) whatever does not hold in
/// its family over so many runs (Bonferroni), and draws regions and ranks anew.
fn heed(plan: &Plan, found: &mut Analysis, runs: usize) {
    let runs = f64::from(u32::try_from(runs).unwrap_or(u32::MAX));
    let holds = |together: Option<Quantity>| {
        together.is_some_and(|p| p.value * runs <= plan.method.alpha())
    };
    let word = |verdict: &mut Verdict, together: Option<Quantity>, within: bool| {
        if matches!(verdict, Verdict::Better | Verdict::Worse) && !holds(together) {
            *verdict = match within {
                true => Verdict::Equivalent,
                false => Verdict::Undecided { more_blocks: None },
            };
        }
    };
    let comparison = |c: &mut Comparison| {
        word(&mut c.verdict, c.together, c.within);
        for point in &mut c.points {
            word(&mut point.verdict, point.together, point.within);
        }
        c.regions = narrowed(c);
    };
    found.comparisons.iter_mut().chain(&mut found.others).for_each(comparison);
    for cost in &mut found.costs {
        let plain = [&mut cost.cpu, &mut cost.index, &mut cost.per_work];
        plain.into_iter().chain(&mut cost.displaced).for_each(comparison);
    }
    let worth = found.prices.iter_mut().chain(&mut found.powers);
    worth.filter_map(|worth| worth.per_unit.as_mut()).for_each(comparison);
    for one in &mut found.interactions {
        word(&mut one.verdict, one.together, one.within);
    }
    for one in &mut found.indexes {
        word(&mut one.verdict, one.together, one.within);
    }
    let ranking = |ranking: &mut Ranking| {
        for pair in &mut ranking.pairs {
            pair.differs = holds(pair.together);
        }
        place(ranking);
    };
    found.rankings.iter_mut().for_each(ranking);
}

/// Concludes everything from one of so many runs that share an article: a word must hold among all
/// of them.
#[must_use]
pub fn analyse_part(run: &Run, runs: usize) -> Analysis {
    let mut found = analyse(run);
    heed(&run.plan, &mut found, runs);
    conclude(run, &mut found);
    found
}

/// How many comparisons are certain by themselves and called undecided among all.
#[must_use]
pub fn certain_alone(asked: &[(&Run, &Comparison)]) -> u32 {
    let open = |c: &Comparison| {
        let undecided = matches!(c.verdict, Verdict::Undecided { .. });
        undecided && is_certain_alone(c)
    };
    u32::try_from(asked.iter().filter(|(_, c)| open(c)).count()).unwrap_or(u32::MAX)
}

/// Whether a comparison would be called different, were there no other.
#[must_use]
pub fn is_certain_alone(c: &Comparison) -> bool {
    leaves_one_out(c.verdict, &c.overall) && !lies_inside(Verdict::Better, &c.overall, c.margin)
}

/// Whether a ratio of five blocks or more is certain by itself: its own interval leaves 1 out.
pub(super) fn leaves_one_out(verdict: Verdict, ratio: &Estimate) -> bool {
    let judged = ratio.n as usize >= JUDGED_FROM && !verdict.is_barred();
    judged && (ratio.low.value > 1.0 || ratio.high.value < 1.0)
}
