//! Knows the way from a stored run to all that is concluded from it.

use super::bottleneck::limits;
use super::caveat::caveats;
use super::finding::Analysis;
use super::pairing::contests;
use super::winner::{Rule, judge};
use crate::record::Run;

/// Concludes everything from one run.
///
/// Only counted trials without a fault are used, paired within blocks. A comparison without one
/// valid pair is absent, as are all of them if the run does not describe its primary metric; the
/// caveats then say what happened to the trials.
#[must_use]
pub fn analyse(run: &Run) -> Analysis {
    let method = &run.plan.method;
    let mut judged = Vec::new();
    let mut found = Vec::new();
    if let Some(metric) = run.metrics.iter().find(|m| m.name == method.primary) {
        let rule = Rule { metric, margin: method.margin };
        for contest in contests(run) {
            let Some(one) = judge(&contest, rule) else { continue };
            found.extend(limits(&run.plan, &contest, &one.comparison.id));
            judged.push(one);
        }
    }
    let caveats = caveats(run, &judged);
    let comparisons = judged.into_iter().map(|j| j.comparison).collect();
    Analysis { comparisons, limits: found, caveats, ..Analysis::default() }
}
