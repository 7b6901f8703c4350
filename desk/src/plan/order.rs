//! Knows in which order trials run: randomised blocks from the plan's seed.
//!
//! A block visits every treatment of every point once. Treatments of a point run next to each
//! other, so that slow drift hits both sides of a ratio alike; which of them comes first is drawn
//! anew each time, because a fixed order would hand the drift to one side.

use super::expand::expand;
use crate::record::{Plan, Trial, TrialKind};
use rand::Rng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Every trial of the plan in the order in which it runs; the same plan gives the same order.
///
/// Dry visits come first, in the order of the plan. Within a block points are in random order, and
/// within a point so are the treatments.
#[must_use]
pub fn order(plan: &Plan) -> Vec<Trial> {
    let (points, treatments) = expand(plan);
    let mut chance = ChaCha8Rng::seed_from_u64(plan.method.seed);
    let mut trials = Vec::new();
    let mut point_order: Vec<usize> = (0..points.len()).collect();
    let mut treatment_order: Vec<usize> = (0..treatments.len()).collect();
    let mut visit = |block, kind, point_index: usize, treatment_index: usize| {
        let (treatment, settings) = treatments[treatment_index].clone();
        let id = index(trials.len());
        trials.push(Trial {
            id,
            block,
            point_index: index(point_index),
            point: points[point_index].clone(),
            treatment,
            settings,
            seed: trial_seed(plan.method.seed, id),
            kind,
        });
    };
    if plan.method.dry {
        for &point in &point_order {
            for &treatment in &treatment_order {
                visit(0, TrialKind::Dry, point, treatment);
            }
        }
    }
    for block in 1..=plan.method.blocks {
        point_order.shuffle(&mut chance);
        for &point in &point_order {
            treatment_order.shuffle(&mut chance);
            for &treatment in &treatment_order {
                visit(block, TrialKind::Counted, point, treatment);
            }
        }
    }
    trials
}

/// The seed of one trial: a stream of its own, so that it does not hang on how many draws came
/// before.
fn trial_seed(seed: u64, id: u32) -> u64 {
    let mut stream = ChaCha8Rng::seed_from_u64(seed);
    stream.set_stream(u64::from(id) + 1);
    stream.next_u64()
}

/// A plan that was read has at most 100,000 trials, so that every index fits.
fn index(of: usize) -> u32 {
    u32::try_from(of).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::example::small;
    use std::collections::BTreeSet;

    /// Point and treatment of every trial of a block, in order.
    fn visits(trials: &[Trial], block: u32) -> Vec<(u32, String)> {
        let of_block = trials.iter().filter(|t| t.block == block);
        of_block.map(|t| (t.point_index, format!("{:?}", t.treatment))).collect()
    }

    #[test]
    fn a_block_visits_every_treatment_of_every_point_once_and_next_to_each_other() {
        let trials = order(&small());
        assert_eq!(trials.len(), 16 * 6);
        for block in 0..=5 {
            let visits = visits(&trials, block);
            assert_eq!(visits.len(), 16);
            assert_eq!(visits.iter().collect::<BTreeSet<_>>().len(), 16);
            for group in visits.chunks(4) {
                assert!(group.iter().all(|(point, _)| *point == group[0].0), "{group:?}");
            }
        }
    }

    #[test]
    fn dry_visits_come_first_in_the_order_of_the_plan() {
        let mut plan = small();
        let trials = order(&plan);
        assert!(trials[..16].iter().all(|t| t.kind == TrialKind::Dry));
        assert!(trials[16..].iter().all(|t| t.kind == TrialKind::Counted));
        assert!(trials[..16].is_sorted_by_key(|t| t.point_index));
        assert_eq!(trials[0].settings["path"].to_string(), "one");
        assert!(trials.iter().enumerate().all(|(i, t)| t.id as usize == i));
        plan.method.dry = false;
        assert_eq!(order(&plan)[0].block, 1);
    }

    #[test]
    fn the_seed_alone_fixes_the_order() {
        let mut plan = small();
        let trials = order(&plan);
        assert_eq!(trials, order(&plan));
        let points = |block| visits(&trials, block).into_iter().map(|(p, _)| p).collect::<Vec<_>>();
        assert!((2..=5).any(|block| points(block) != points(1)));
        assert_ne!(visits(&trials, 1), visits(&trials, 2));
        let seeds: BTreeSet<u64> = trials.iter().map(|t| t.seed).collect();
        assert_eq!(seeds.len(), trials.len());
        plan.method.seed += 1;
        assert_ne!(visits(&trials, 1), visits(&order(&plan), 1));
    }

    #[test]
    fn each_side_goes_first_about_half_the_time() {
        let mut plan = small();
        plan.factors.truncate(1);
        plan.method.blocks = 500;
        let trials = order(&plan);
        let counted: Vec<&Trial> = trials.iter().filter(|t| t.block > 0).collect();
        let first = counted.chunks(2).filter(|pair| pair[0].treatment.levels["path"] == "one");
        let first = first.count();
        // 2000 pairs: the standard deviation is 22.
        assert!((910..=1090).contains(&first), "{first} of 2000");
    }
}
