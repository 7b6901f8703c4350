//! Knows in which states of its load a machine is visited: under the largest that it carries first,
//! then under parts of that and idle, in random order.
//!
//! Never: what the figures of a state are.

use super::{Next, Step};
use crate::record::SearchPlan;
use std::num::NonZeroU64;

/// Shares of the largest load, 0 to 1; 0 is idle, 1 as much as can be.
pub const STATES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// The load of the first step, which is as much as can be; its figure is the largest load.
pub(super) const FULL: f64 = f64::INFINITY;

/// How near a load is to its share of the largest: figures of a record may have been rounded.
const NEAR: f64 = 1e-3;

/// The next load to try, drawn by this number from those that are left; none was found where
/// nothing was carried.
#[must_use]
pub(super) fn states(all: &[f64], steps: &[Step], chance: u64) -> Next {
    let Some(first) = steps.first() else { return Next::Try(FULL) };
    let largest = first.figure;
    if !(largest > 0.0 && largest.is_finite()) {
        return Next::Enough(None);
    }
    let seen =
        |share: &f64| steps.iter().any(|step| state(step.load, largest, all) == Some(*share));
    let left: Vec<f64> = all.iter().copied().filter(|share| !seen(share)).collect();
    let Some(count) = NonZeroU64::new(left.len() as u64) else { return Next::Enough(Some(FULL)) };
    let drawn = usize::try_from(chance % count).unwrap_or_default();
    Next::Try(left[drawn] * largest)
}

/// The states that a search visits, rising: the usual ones, or those of its plan and the largest
/// load.
#[must_use]
pub(crate) fn states_of(search: &SearchPlan) -> Vec<f64> {
    if search.shares.is_empty() {
        return STATES.to_vec();
    }
    let shares = search.shares.iter().map(|share| share.value);
    shares.filter(|share| *share < 1.0 - NEAR).chain([1.0]).collect()
}

/// The state in which a load is, of all these, by what was carried under as much as can be. None
/// where it is none of them.
#[must_use]
pub(crate) fn state(load: f64, largest: f64, all: &[f64]) -> Option<f64> {
    let share = if load.is_finite() { load / largest } else { 1.0 };
    all.iter().copied().find(|state| (state - share).abs() < NEAR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Loads and figures of one whole visit to a machine that carries so much at the most.
    fn visit(most: f64, mut chance: impl FnMut() -> u64) -> Vec<Step> {
        let mut steps = Vec::new();
        while let Next::Try(load) = states(&STATES, &steps, chance()) {
            let figure = if load == 0.0 { f64::NAN } else { load.min(most) };
            steps.push(Step { load, figure, ..Step::default() });
        }
        steps
    }

    #[test]
    fn the_largest_load_comes_first_and_every_state_once_in_an_order_by_chance() {
        let mut orders = BTreeSet::new();
        for seed in 0..200_u64 {
            let mut state_of = seed;
            let steps = visit(5e9, || {
                state_of = state_of.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                state_of >> 33
            });
            let shares: Vec<f64> =
                steps.iter().filter_map(|s| state(s.load, 5e9, &STATES)).collect();
            assert_eq!((shares.len(), shares[0]), (5, 1.0), "{steps:?}");
            let mut sorted = shares.clone();
            sorted.sort_by(f64::total_cmp);
            assert_eq!(sorted, STATES);
            assert_eq!(states(&STATES, &steps, 3), Next::Enough(Some(FULL)));
            orders.insert(format!("{:?}", &shares[1..]));
        }
        assert_eq!(orders.len(), 24, "all orders of four are met");
    }

    #[test]
    fn a_machine_that_carries_nothing_has_no_states() {
        for figure in [0.0, f64::NAN] {
            let steps = [Step { load: FULL, figure, ..Step::default() }];
            assert_eq!(states(&STATES, &steps, 1), Next::Enough(None));
        }
    }

    #[test]
    fn a_rounded_record_is_in_the_same_state_and_another_load_in_none() {
        let of = |load, largest| state(load, largest, &STATES);
        assert_eq!(of(2.4999e9, 5e9), Some(0.5));
        assert_eq!(of(0.0, 5e9), Some(0.0));
        assert_eq!(of(2e9, 5e9), None);
        assert_eq!(of(5.0, f64::NAN), None);
    }
}
