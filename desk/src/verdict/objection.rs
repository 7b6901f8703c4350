//! Knows what speaks against a verdict on one figure of a cost; the one rule for all who judge by
//! it.
//!
//! Never: what the figure says.

use super::finding::{Comparison, Cost, Withheld};
use super::measure::{CPU, DISPLACED, INDEX};
use crate::record::Value;

/// Why a figure of a cost, by the name of its metric, has no verdict over all points.
///
/// The index has its own reasons. With an equal load the others decide directly, so unequal
/// throughput is no objection, and neither is a CPU that is mostly idle: that spoils the index,
/// which divides by it, and at unequal loads the time for each byte, but never the busy share.
/// Displaced work is a measurement of its own, so it does not fall with the methods of counting
/// CPU time.
#[must_use]
pub fn objection(cost: &Cost, metric: &str) -> Option<Withheld> {
    if metric == INDEX.name {
        return cost.withheld_overall.clone();
    }
    let none = figure(cost, metric).and_then(|figure| Withheld::left_out(figure.verdict));
    if none.is_some() {
        return none;
    }
    let all = cost.withheld_overall.iter().chain(cost.withheld.iter().flatten());
    let mut whole = all.filter(|why| !why.leaves_out());
    whole.find(|why| objects(cost, metric, why)).cloned()
}

/// The same at a point of the curve.
pub(super) fn objection_at(cost: &Cost, metric: &str, at: Option<&Value>) -> Option<Withheld> {
    let places = cost.index.points.iter().zip(&cost.withheld);
    let mut here = places.filter(|(point, _)| point.at.as_ref() == at);
    let why = here.find_map(|(_, why)| why.as_ref())?;
    (metric == INDEX.name || objects(cost, metric, why)).then(|| why.clone())
}

/// The figure of a cost that goes by the name of a metric.
pub(super) fn figure<'a>(cost: &'a Cost, metric: &str) -> Option<&'a Comparison> {
    match metric {
        name if name == CPU.name => Some(&cost.cpu),
        name if name == INDEX.name => Some(&cost.index),
        name if name == cost.per_work.metric => Some(&cost.per_work),
        name if name == DISPLACED.name => cost.displaced.as_ref(),
        _ => None,
    }
}

fn objects(cost: &Cost, metric: &str, why: &Withheld) -> bool {
    let displaced = metric == DISPLACED.name;
    match why {
        Withheld::TwoStates | Withheld::NoHeadroom | Withheld::SmtDiffers => true,
        Withheld::UnequalAtSaturation { .. } => !cost.equal_load,
        Withheld::LowCpu { .. } => metric == cost.per_work.metric && !cost.equal_load,
        Withheld::MethodsDisagree { .. } | Withheld::NotRead => !displaced,
    }
}
