//! Knows the way from a stored run to all that is concluded from it.

use super::advice::advice;
use super::analysis::Analysis;
use super::bottleneck::limits;
use super::caveat::caveats;
use super::claims::claim_checks;
use super::compared::{Asked, compared};
use super::crossed::others;
use super::dependence::dependences;
use super::efficiency::cost;
use super::elasticity::elasticities;
use super::generator::generator_bound;
use super::index::indexes;
use super::interaction::interactions;
use super::ladder::ladders;
use super::machine::{cells, derived};
use super::measured::measured;
use super::paced::paced;
use super::percentile::trial_quantiles;
use super::primary::primary;
use super::ranking::rankings;
use super::region::curve_verdicts;
use super::roof::{Tops, roofs};
use super::searched::observed;
use super::together::judge_together;
use super::traits::traits;
use super::winner::{Judged, judge};
use super::worth::{power, price};
use crate::record::Run;
use std::collections::BTreeMap;

/// Concludes everything from one run.
///
/// Only counted trials without a fault are used, paired within blocks; all trials of a search are
/// one. A comparison without one valid pair is absent, as is one at a load whose deciding metric
/// the run does not describe; the caveats then say what happened to the trials.
#[must_use]
pub fn analyse(run: &Run) -> Analysis {
    let paced = paced(run);
    let run = &*observed(run);
    let (compared, crossed) = compared(run);
    let mut found = Analysis { paced, ..Analysis::default() };
    let mut tops = BTreeMap::new();
    let judged = judged(run, &compared.asked, (&mut found, &mut tops));
    found.interactions = interactions(&run.plan, &compared.asked);
    found.rankings = rankings(&run.plan, &compared, &crossed);
    found.others = others(&crossed);
    found.elasticity = elasticities(run, [&compared].into_iter().chain(&crossed));
    found.ladders = ladders(run, [&compared].into_iter().chain(&crossed));
    found.indexes = indexes(run, &judged);
    found.caveats = caveats(run, &compared, (&judged, &found.costs));
    (found.two_states, found.unlike) = (compared.states, compared.unlike);
    found.comparisons = judged.into_iter().map(|j| j.comparison).collect();
    judge_together(&run.plan, &mut found);
    found.quantiles = trial_quantiles(&run.plan, &found.comparisons);
    found.primary = primary(&run.plan, &found.comparisons);
    found.cells = cells(run);
    found.derived = derived(run, &found.cells);
    found.measured = measured(run);
    found.roofs = roofs(&found, &tops);
    found.traits = traits(run);
    conclude(run, &mut found);
    found
}

/// What follows from the verdicts as they stand.
pub(super) fn conclude(run: &Run, found: &mut Analysis) {
    found.curves = curve_verdicts(&found.comparisons);
    found.dependences = dependences(&run.plan, found);
    found.advice = advice(run, &found.comparisons, &found.costs);
    found.claims = claim_checks(run, found);
}

/// Every comparison of the run, with what is found besides from the very same trials.
fn judged(
    run: &Run,
    asked: &[Asked<'_>],
    (found, tops): (&mut Analysis, &mut Tops),
) -> Vec<Judged> {
    let mut judged = Vec::new();
    for one in asked {
        // A comparison whose every trial was at the limit of the clients has a limit all the same.
        let bound = generator_bound(&run.plan, one);
        let held = limits(run, one, &bound);
        found.generator_bound.extend(bound);
        found.limits.extend(held.largest);
        found.point_limits.extend(held.along);
        let Some(comparison) = judge(&one.contest, one.rule, &one.barred) else { continue };
        tops.insert(one.id.clone(), held.tops);
        found.costs.extend(cost(run, one));
        found.prices.extend(price(run, one));
        found.powers.extend(power(run, one));
        judged.push(comparison);
    }
    judged
}
