//! Knows which comparison of a run is its primary one; never how it came out.

use super::finding::Comparison;
use crate::record::Plan;

/// Whether a comparison is the one that its plan names as the primary one.
pub(super) fn is_primary(plan: &Plan, comparison: &Comparison) -> bool {
    let c = comparison;
    plan.method.primary_comparison.as_ref().is_some_and(|named| {
        c.factor == plan.method.compare
            && (&named.level, &named.load, &named.stratum, &named.fixed)
                == (&c.other, &c.load, &c.stratum, &c.fixed)
    })
}

/// Name of the primary comparison: the one that the plan names, else the only one of levels that
/// differ.
///
/// Of several none is taken for it by its place: tested by itself beside a family of others it
/// would raise the chance of any false winner to 9.8 %.
pub(super) fn primary(plan: &Plan, comparisons: &[Comparison]) -> Option<String> {
    if plan.method.primary_comparison.is_some() {
        return comparisons.iter().find(|c| is_primary(plan, c)).map(|c| c.id.clone());
    }
    let mut asked = comparisons.iter().filter(|c| !c.aa);
    let only = asked.next().filter(|_| asked.next().is_none())?;
    Some(only.id.clone())
}
