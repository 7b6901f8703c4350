//! Knows which differences still hold when all comparisons of a run are judged together, so that
//! the largest of many may be named first; never which one is named.

use super::bottleneck::was_carried;
use super::effective::is_aa;
use super::finding::{Comparison, Limit, Verdict};
use super::inside::is_inside;
use super::primary::is_primary;
use super::winner::{Judged, alpha};
use crate::record::{Plan, Run};
use crate::stats::adjusted;
use crate::unit::{Quantity, Unit};
use std::collections::BTreeSet;

/// Gives every comparison that can differ its p value among all that can: not A against A, not two
/// states, and no load that was set and carried, which moves the same under both levels. Without
/// any other the set loads are judged.
///
/// The comparison that the plan names as its primary one is no member: its p is its own, and the
/// others are judged among themselves. max-T takes the place of Holm where the blocks allow it, for
/// it is never weaker in simulation and uses that comparisons of one block hang together.
pub(super) fn judge_together(plan: &Plan, limits: &[Limit], judged: &mut [Judged]) {
    if let Some(primary) = judged.iter_mut().find(|j| is_primary(plan, &j.comparison)) {
        let p = adjusted(&[primary.blocks.as_slice()], plan.method.seed).remove(0);
        primary.comparison.together = p.map(|p| Quantity::new(p, Unit::Share));
    }
    let live = |j: &Judged| !j.comparison.verdict.is_barred() && !is_aa(plan, &j.comparison);
    let live = |j: &Judged| live(j) && !is_primary(plan, &j.comparison);
    let free = |j: &Judged| live(j) && !was_carried(limits, &j.comparison.id);
    let any_free = judged.iter().any(free);
    let of = |j: &&mut Judged| if any_free { free(j) } else { live(j) };
    let mut family: Vec<&mut Judged> = judged.iter_mut().filter(of).collect();
    let samples: Vec<&[(u32, f64)]> = family.iter().map(|j| j.blocks.as_slice()).collect();
    let together = adjusted(&samples, plan.method.seed);
    for (one, p) in family.iter_mut().zip(together) {
        one.comparison.together = p.map(|p| Quantity::new(p, Unit::Share));
    }
}

/// Comparisons as a headline over all of them takes them: a difference that does not hold among
/// them is undecided (equivalent, if its interval lies within the margin), and no stretch of its
/// curve is ahead. With it, how many those are.
#[must_use]
pub fn among(asked: &[(&Run, &Comparison)]) -> (Vec<Comparison>, u32) {
    let runs: BTreeSet<&str> = asked.iter().map(|(run, _)| run.id.as_str()).collect();
    let mut open = 0;
    let mut all = Vec::new();
    for (run, comparison) in asked {
        let mut told = (*comparison).clone();
        let differs = matches!(told.verdict, Verdict::Better | Verdict::Worse);
        if differs && !holds(&run.plan, comparison, runs.len()) {
            // A wider interval may hold 1, but this one lies within the margin: that is
            // equivalence.
            let inside = is_inside(comparison);
            told.verdict = match inside {
                true => Verdict::Equivalent,
                false => Verdict::Undecided { more_blocks: None },
            };
            told.regions.clear();
            open += u32::from(!inside);
        }
        all.push(told);
    }
    (all, open)
}

/// Whether a difference holds among all comparisons of so many runs: its p value among those of its
/// own run, times the runs (Bonferroni), is within the error of the plan. True of what was not
/// judged together.
fn holds(plan: &Plan, comparison: &Comparison, runs: usize) -> bool {
    let runs = f64::from(u32::try_from(runs).unwrap_or(u32::MAX));
    comparison.together.is_none_or(|p| p.value * runs <= alpha(&plan.method))
}
