//! Knows at which shares of the load that a search found further trials are made, and how the
//! figures of these are called.
//!
//! Never: how the load was found, nor what the figures are.

use super::states::{state, states_of};
use super::{Next, Step};
use crate::record::{LoadPlan, Metric, Quantile, SearchKind, SearchPlan};
use crate::unit::Quantity;
use std::num::NonZeroU64;

/// The share that follows, drawn by this number from those that are left; none when all were
/// visited, by these steps.
pub(super) fn draw(search: &SearchPlan, visited: &[Step], found: f64, chance: u64) -> Option<Next> {
    let seen = |share: &f64| visited.iter().any(|step| step.share == Some(*share));
    let left: Vec<f64> =
        search.shares.iter().map(|share| share.value).filter(|share| !seen(share)).collect();
    let count = NonZeroU64::new(left.len() as u64)?;
    let share = left[usize::try_from(chance % count).unwrap_or_default()];
    let is_whole = search.from.quantity().is_none();
    let load = if is_whole { (share * found).round().max(1.0) } else { share * found };
    Some(Next::TryAt(load, share))
}

/// The share of what was found at which a step of a search was; none of a step that sought it.
/// `first` is the first step of the search: of states what it carried is the largest load.
#[must_use]
pub(crate) fn share_of(search: &SearchPlan, step: &Step, first: &Step) -> Option<f64> {
    if search.kind != SearchKind::States {
        return step.share;
    }
    state(step.load, first.figure, &states_of(search))
}

/// Name of a metric at a share of the load that the search of a load found, such as `web_p99_at90`.
#[must_use]
pub(crate) fn at_share(load: &str, name: &str, share: f64) -> String {
    format!("{load}_{name}_at{:.0}", share * 100.0)
}

/// The metrics that shares of a load give, of these of its workload: all that are quantiles.
#[must_use]
pub(crate) fn shared<'m>(load: &LoadPlan, known: impl Iterator<Item = &'m Metric>) -> Vec<Metric> {
    let shares = || load.search.iter().flat_map(|search| &search.shares);
    let of = |metric: &Metric| -> Vec<Metric> {
        let Some(quantile) = &metric.quantile else { return Vec::new() };
        let at = |share: &Quantity| Metric {
            name: at_share(&load.name, &metric.name, share.value),
            title: format!("{}, {share} of the largest load", metric.title),
            quantile: Some(Quantile {
                of: at_share(&load.name, &quantile.of, share.value),
                at: quantile.at,
            }),
            workload: Some(load.workload.clone()),
            ..metric.clone()
        };
        shares().map(at).collect()
    };
    known.flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Value;
    use crate::unit::Unit;

    fn search(from: Value, shares: &[f64]) -> SearchPlan {
        SearchPlan {
            kind: SearchKind::Bisect,
            over: "load".into(),
            metric: "loss".into(),
            quantile: None,
            to: from.clone(),
            from,
            limit: None,
            goals: Vec::new(),
            shares: shares.iter().map(|share| Quantity::new(*share, Unit::Share)).collect(),
            steps: 40,
        }
    }

    #[test]
    fn every_share_is_visited_once_in_an_order_by_chance() {
        let rate = Value::Quantity(Quantity::new(1.0, Unit::BitPerSecond));
        let search = search(rate, &[0.1, 0.5, 0.9]);
        let mut orders = std::collections::BTreeSet::new();
        for chance in 0..6 {
            let mut visited = Vec::new();
            while let Some(Next::TryAt(load, share)) = draw(&search, &visited, 2e9, chance) {
                assert!((load / 2e9 - share).abs() < 1e-12);
                visited.push(Step { load, share: Some(share), ..Step::default() });
            }
            let shares: Vec<f64> = visited.iter().filter_map(|step| step.share).collect();
            let mut sorted = shares.clone();
            sorted.sort_by(f64::total_cmp);
            assert_eq!(sorted, [0.1, 0.5, 0.9]);
            orders.insert(format!("{shares:?}"));
        }
        assert!(orders.len() > 2, "{orders:?}");
    }

    #[test]
    fn a_share_of_a_number_is_a_number_and_never_none() {
        let search = search(Value::Count(1), &[0.1]);
        assert_eq!(draw(&search, &[], 26.0, 0), Some(Next::TryAt(3.0, 0.1)));
        assert_eq!(draw(&search, &[], 2.0, 0), Some(Next::TryAt(1.0, 0.1)));
    }
}
