//! Knows every contest of a run, made once, and which of its points have no verdict of their own;
//! never what one would be.

use super::finding::{TwoStates, Verdict};
use super::headroom::short;
use super::identity::{UnlikeIdentity, unlike};
use super::merged::TooFew;
use super::pairing::{Contest, contests_of};
use super::states::two_states;
use super::winner::{Rule, name};
use crate::record::{Metric, Run};

/// A contest with what it is judged by.
pub(super) struct Asked<'r> {
    /// Name of the comparison.
    pub id: String,
    pub contest: Contest<'r>,
    pub rule: Rule<'r>,
    /// What stands in place of a verdict at points that have none, in the order of the points: two
    /// states, a generator without headroom, sides that are not comparable, or machines that are
    /// emulated.
    pub barred: Vec<Option<Verdict>>,
}

impl Asked<'_> {
    /// Whether a point has pairs, one state on both sides, and sides that were made by the same.
    pub(super) fn is_whole(&self, place: usize) -> bool {
        let live = self.contest.points.get(place).is_some_and(|point| !point.pairs.is_empty());
        live && self.barred.get(place).copied().flatten().is_none()
    }
}

/// Every contest over one factor, in the order of the plan.
pub(super) struct Compared<'r> {
    /// Name of the factor.
    pub factor: &'r str,
    pub asked: Vec<Asked<'r>>,
    pub states: Vec<TwoStates>,
    pub unlike: Vec<UnlikeIdentity>,
}

impl<'r> Compared<'r> {
    /// The place of the comparisons that has the fewest values for the quantile that decides there,
    /// of those that have too few: the metric, and how many.
    pub(super) fn too_few(&self) -> Option<(&'r Metric, TooFew)> {
        let all = self.asked.iter().flat_map(|one| {
            one.contest.points.iter().filter_map(|point| Some((one.rule.metric, point.too_few?)))
        });
        all.min_by(|(_, a), (_, b)| a.values.value.total_cmp(&b.values.value))
    }
}

/// The contests over the factor that a plan compares, and those over each of the others. Left out
/// are loads whose deciding metric the run does not describe.
pub(super) fn compared(run: &Run) -> (Compared<'_>, Vec<Compared<'_>>) {
    let plan = &run.plan;
    let others = plan.factors.iter().filter(|f| f.name != plan.method.compare);
    (over(run, &plan.method.compare), others.map(|f| over(run, &f.name)).collect())
}

/// The comparisons of all levels with the baseline, condition by condition.
pub(super) fn by_condition<'a, 'r>(
    asked: &'a [Asked<'r>],
) -> impl Iterator<Item = &'a [Asked<'r>]> {
    let alike = |a: &Contest<'_>, b: &Contest<'_>| {
        (&a.load.name, &a.stratum, &a.fixed) == (&b.load.name, &b.stratum, &b.fixed)
    };
    asked.chunk_by(move |a, b| alike(&a.contest, &b.contest))
}

fn over<'r>(run: &'r Run, factor: &'r str) -> Compared<'r> {
    let mut compared =
        Compared { factor, asked: Vec::new(), states: Vec::new(), unlike: Vec::new() };
    for contest in contests_of(run, factor) {
        let Some((asked, states, unlike)) = asked(run, contest) else { continue };
        compared.states.extend(states);
        compared.unlike.extend(unlike);
        compared.asked.push(asked);
    }
    compared
}

/// A contest with what it is judged by, and what bars verdicts there; none where the run does not
/// describe the metric that decides.
pub(super) fn asked<'r>(
    run: &'r Run,
    contest: Contest<'r>,
) -> Option<(Asked<'r>, Vec<TwoStates>, Vec<UnlikeIdentity>)> {
    let rule = Rule { metric: run.deciding(&contest.load.name)?, method: &run.plan.method };
    let id = name(&contest);
    let (torn, states) = two_states(run, &contest, &id);
    let mut barred: Vec<Option<Verdict>> =
        torn.into_iter().map(|torn| torn.then_some(Verdict::TwoStates)).collect();
    for place in short(run, &contest) {
        if let Some(bar) = barred.get_mut(place) {
            *bar = Some(Verdict::NoHeadroom);
        }
    }
    let mut differ = Vec::new();
    // Sides that were made by different things are not tested for two states.
    for (place, point) in unlike(&contest, &id) {
        if let Some(bar) = barred.get_mut(place) {
            *bar = Some(Verdict::NotComparable);
        }
        differ.push(point);
    }
    if run.is_emulated() {
        barred.fill(Some(Verdict::Emulated));
    }
    Some((Asked { id, contest, rule, barred }, states, differ))
}
