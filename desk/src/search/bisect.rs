//! Knows how the largest load is found that a device takes without a miss, such as a lost frame:
//! the largest first, then halves.
//!
//! Never: what the load or the figure is.

use super::range::{Outcome, Range, Within, largest};
use super::{Next, Step};

/// A figure that says yes or no to a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bisect {
    /// Loads between which the answer is sought; the largest is tried first.
    pub range: Range,
    /// Figures that are no miss.
    pub within: Within,
}

/// So many misses of a load are believed: one may be a transient of the machine and not of the
/// load.
const MISSES: usize = 2;

/// The next load to try, or the largest without a miss; none where even the least has one.
///
/// A load that missed is tried again: one good trial of two is enough (binary search with loss
/// verification, ETSI GS NFV-TST 009). When the steps are used up the answer is the largest
/// load without a miss by then.
#[must_use]
pub fn bisect(steps: &[Step], rule: &Bisect) -> Next {
    largest(steps, &rule.range, rule.range.within[1], |figures| {
        match figures.iter().any(|figure| rule.within.holds(*figure)) {
            true => Outcome::Met,
            false if figures.len() >= MISSES => Outcome::Missed,
            false => Outcome::Doubtful,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;

    const RULE: Bisect = Bisect {
        range: Range { within: [1e4, 1.5e7], resolution: 0.02, whole: false, steps: 40 },
        within: Within { limit: 0.0, at_least: false },
    };

    fn search(rule: &Bisect, mut lost: impl FnMut(f64) -> f64) -> (Vec<Step>, Option<f64>) {
        let mut steps = Vec::new();
        loop {
            match bisect(&steps, rule) {
                Next::Try(load) => steps.push(Step { load, figure: lost(load), ..Step::default() }),
                Next::TryFor(..) | Next::TryAt(..) => panic!("it sets no window"),
                Next::Enough(found) => return (steps, found),
            }
        }
    }

    /// Devices that lose what is above their capacity; with `stray`, now and then a frame of any
    /// trial is lost as well.
    fn within_the_resolution(stray: f64) -> usize {
        let mut hits = 0;
        for seed in 0..20 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let capacity = 10_f64.powf(rng.random_range(4.2..7.1));
            let (steps, found) = search(&RULE, |load| {
                let strays = rng.random_range(0.0..1.0) < stray;
                (1.0 - capacity / load).max(if strays { 1e-9 } else { 0.0 })
            });
            let share = found.unwrap_or(f64::NAN) / capacity;
            hits += usize::from((1.0 / 1.02..=1.0).contains(&share));
            assert!(steps.len() <= 30, "{seed}: {} steps", steps.len());
        }
        hits
    }

    #[test]
    fn the_planted_capacity_is_found_within_the_resolution_in_20_of_20_devices() {
        assert_eq!(within_the_resolution(0.0), 20);
    }

    #[test]
    fn a_frame_that_is_lost_by_chance_is_no_miss_of_the_device() {
        assert_eq!(within_the_resolution(0.03), 20);
    }

    #[test]
    fn a_device_that_takes_all_or_nothing_ends_at_the_bounds() {
        let (steps, found) = search(&RULE, |_| 0.0);
        assert_eq!((steps.len(), found), (1, Some(1.5e7)));
        let (steps, found) = search(&RULE, |_| 0.1);
        assert_eq!((steps.last().map(|step| step.load), found), (Some(1e4), None));
        let few = Bisect { range: Range { steps: 3, ..RULE.range }, ..RULE };
        assert_eq!(search(&few, |_| 0.1).1, None);
    }

    #[test]
    fn a_figure_that_is_no_number_is_a_miss() {
        assert_eq!(search(&RULE, |_| f64::NAN).1, None);
    }
}
