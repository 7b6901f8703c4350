//! Knows which setting that was tried gains its owner most.
//!
//! Must not know how it is made to last.

use super::{Analysis, Comparison, Verdict, compares, is_inside};
use crate::plan::{is_tuning, lasting};
use crate::record::{Plan, Run};

/// How many parts of a survey share its error: those that compare, at least one.
pub fn judged_together<'a>(plans: impl Iterator<Item = &'a Plan>) -> usize {
    plans.filter(|plan| compares(plan)).count().max(1)
}

/// The comparisons of settings that were tried against the machine as it was found.
pub fn tried<'a>(
    parts: impl Iterator<Item = (&'a Run, &'a Analysis)>,
) -> impl Iterator<Item = (&'a Run, &'a Comparison)> {
    let tried = parts.filter(|(run, _)| is_tuning(&run.plan));
    tried.flat_map(|(run, analysis)| analysis.comparisons.iter().map(move |c| (run, c)))
}

/// Of those that are better, and not inside the margin, the one whose gain is largest for certain:
/// at the nearer end of its interval. A gain that the machine itself does not bound comes last.
pub fn largest_gain<'a>(
    parts: impl Iterator<Item = (&'a Run, &'a Analysis)>,
) -> Option<(&'a Run, &'a Comparison)> {
    let bounded = |run: &Run| lasting(run.environment()).is_none_or(|made| made.holds.is_bounded());
    let gains = tried(parts).filter(|(_, c)| c.verdict == Verdict::Better && !is_inside(c));
    gains.max_by(|(a_run, a), (b_run, b)| {
        let certain = a.overall.nearest().total_cmp(&b.overall.nearest());
        bounded(a_run).cmp(&bounded(b_run)).then(certain)
    })
}
