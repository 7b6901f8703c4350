//! Knows which differences still hold when all comparisons of a run are judged together, so that
//! the largest of many may be named first; never which one is named.

use super::advice::load_is_paced;
use super::effective::is_aa;
use super::finding::{Comparison, Verdict};
use super::winner::{Judged, alpha};
use crate::record::Plan;
use crate::stats::adjusted;
use crate::unit::{Quantity, Unit};

/// Gives every comparison that can differ its p value among all that can: not A against A, not two
/// states, and no load that was set, which moves the same under both levels. Without any other the
/// set loads are judged.
pub(super) fn judge_together(plan: &Plan, judged: &mut [Judged]) {
    let live =
        |j: &Judged| j.comparison.verdict != Verdict::TwoStates && !is_aa(plan, &j.comparison);
    let free = |j: &Judged| live(j) && !load_is_paced(plan, &j.comparison);
    let any_free = judged.iter().any(free);
    let of = |j: &&mut Judged| if any_free { free(j) } else { live(j) };
    let mut family: Vec<&mut Judged> = judged.iter_mut().filter(of).collect();
    let samples: Vec<&[(u32, f64)]> = family.iter().map(|j| j.blocks.as_slice()).collect();
    let together = adjusted(&samples, plan.method.seed);
    for (one, p) in family.iter_mut().zip(together) {
        one.comparison.together = p.map(|p| Quantity::new(p, Unit::Share));
    }
}

/// Whether a difference holds among all comparisons of so many runs: its p value among those of its
/// own run, times the runs (Bonferroni), is within the error of the plan. True of what was not
/// judged together.
#[must_use]
pub fn holds_together(plan: &Plan, comparison: &Comparison, runs: u32) -> bool {
    let p = comparison.together.map(|p| p.value * f64::from(runs));
    p.is_none_or(|p| p <= alpha(&plan.method))
}
