//! Knows the way from a stored run to all that is concluded from it.

use super::advice::advice;
use super::analysis::Analysis;
use super::barred::{Bars, bars};
use super::bottleneck::{limits, tops_of};
use super::caveat::caveats;
use super::claims::claim_checks;
use super::crossed::others;
use super::efficiency::cost;
use super::elasticity::elasticities;
use super::finding::Top;
use super::generator::generator_bound;
use super::index::indexes;
use super::interaction::interactions;
use super::machine::{cells, derived};
use super::measured::measured;
use super::pairing::{Contest, contests};
use super::percentile::trial_quantiles;
use super::price::price;
use super::primary::primary;
use super::ranking::rankings;
use super::region::curve_verdicts;
use super::roof::roofs;
use super::searched::observed;
use super::together::judge_together;
use super::winner::{Judged, Rule, judge, name};
use crate::record::Run;
use std::collections::BTreeMap;

/// Concludes everything from one run.
///
/// Only counted trials without a fault are used, paired within blocks; all trials of a search are
/// one. A comparison without one
/// valid pair is absent, as is one at a load whose deciding metric the run does not describe; the
/// caveats then say what happened to the trials.
#[must_use]
pub fn analyse(run: &Run) -> Analysis {
    let run = &*observed(run);
    let mut found = Analysis::default();
    let mut tops = BTreeMap::new();
    let judged = judged(run, &mut found, &mut tops);
    found.caveats = caveats(run, &judged, &found.costs);
    found.comparisons = judged.into_iter().map(|j| j.comparison).collect();
    judge_together(&run.plan, &mut found);
    found.quantiles = trial_quantiles(&run.plan, &found.comparisons);
    found.primary = primary(&run.plan, &found.comparisons);
    found.cells = cells(run);
    found.derived = derived(run, &found.cells);
    found.measured = measured(run);
    found.roofs = roofs(&found, &tops);
    conclude(run, &mut found);
    found
}

/// What follows from the verdicts as they stand.
pub(super) fn conclude(run: &Run, found: &mut Analysis) {
    found.curves = curve_verdicts(&found.comparisons);
    found.advice = advice(&run.plan, &found.comparisons, &found.costs);
    found.claims = claim_checks(run, found);
}

/// Every comparison of the run, with what is found besides from the very same trials.
fn judged(
    run: &Run,
    found: &mut Analysis,
    tops: &mut BTreeMap<String, Vec<(String, Vec<Top>)>>,
) -> Vec<Judged> {
    let contests: Vec<Contest<'_>> =
        contests(run).into_iter().filter(|c| run.deciding(&c.load.name).is_some()).collect();
    let (mut judged, mut marks) = (Vec::new(), Vec::new());
    for contest in &contests {
        let Bars { barred, states, unlike } = bars(run, contest);
        found.two_states.extend(states);
        found.unlike.extend(unlike);
        marks.push(barred);
    }
    for (contest, barred) in contests.iter().zip(&marks) {
        let Some(rule) = Rule::of(run, &contest.load.name) else { continue };
        // A comparison whose every trial was at the limit of the clients is named all the same.
        let id = &name(contest);
        found.generator_bound.extend(generator_bound(&run.plan, contest, id));
        let (largest, along) = limits(run, contest, id);
        found.limits.extend(largest);
        found.point_limits.extend(along);
        let Some(one) = judge(contest, rule, barred) else { continue };
        tops.insert(id.clone(), tops_of(run, contest));
        found.costs.extend(cost(run, contest, id, barred));
        found.prices.extend(price(run, contest, (rule, barred)));
        judged.push(one);
    }
    let marked: Vec<_> =
        contests.iter().zip(&marks).map(|(c, bars)| (c, bars.as_slice())).collect();
    found.interactions = interactions(run, &marked);
    found.rankings = rankings(run, &marked);
    found.others = others(run);
    found.elasticity = elasticities(run);
    found.indexes = indexes(run, &judged);
    judged
}
