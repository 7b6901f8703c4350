//! Knows in which order trials run: randomised blocks from the plan's seed.
//!
//! A block visits every treatment of every point once. Treatments of a point run next to each other,
//! so that slow drift hits both sides of a ratio alike; which of them comes first is drawn anew each
//! time, because a fixed order would hand the drift to one side.

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

/// The seed of one trial: a stream of its own, so that it does not hang on how many draws came before.
fn trial_seed(seed: u64, id: u32) -> u64 {
    let mut stream = ChaCha8Rng::seed_from_u64(seed);
    stream.set_stream(u64::from(id) + 1);
    stream.next_u64()
}

/// A plan that was read has at most 100,000 trials, so that every index fits.
fn index(of: usize) -> u32 {
    u32::try_from(of).unwrap_or(u32::MAX)
}
