//! Checks what may be called equal, and by how many blocks.

use super::*;
use crate::record::TrialKind;
use crate::verdict::share_unseen;

/// Chance of a trial, 0-1, from its number alone.
fn chance(seed: u64, id: u64) -> f64 {
    let mixed = (seed << 32 ^ id).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ mixed >> 31) >> 11) as f64 / (1u64 << 53) as f64
}

/// A run of equal levels of which one lost so much in a share of its trials, and in how many.
fn collapsing(blocks: u32, (share, left): (f64, f64), seed: u64) -> (Run, u32) {
    let mut run = Simulated { blocks, noise: 0.003, seed, ..Simulated::default() }.run();
    let mut hit = 0;
    for (id, record) in (0..).zip(&mut run.records) {
        let counted = record.trial.kind == TrialKind::Counted;
        let other = record.trial.treatment.levels["path"] == "pro1000";
        if counted && other && chance(seed, id) < share {
            record.outcome.samples[0].quantity.value *= left;
            hit += 1;
        }
    }
    (run, hit)
}

#[test]
fn a_level_that_collapses_in_a_trial_is_seldom_called_equal() {
    for share in [0.02, 0.05, 0.1, 0.3] {
        // Means apart by more than the margin of 2 %: a rarer collapse has to be a deeper one.
        let left = if share < 0.05 { 0.2 } else { 0.5 };
        for blocks in [10, 20, 40] {
            let (mut plans, mut equal) = (0, 0);
            for seed in 0..400 {
                let (run, hit) = collapsing(blocks, (share, left), seed);
                if hit > 0 {
                    plans += 1;
                    equal += u32::from(only(&analyse(&run)).verdict == Verdict::Equivalent);
                }
            }
            println!("{share} of {blocks}: {equal} of {plans} equal");
            assert!(plans > 50 && f64::from(equal) <= 0.05 * f64::from(plans), "{equal}, {plans}");
        }
    }
}

#[test]
fn three_and_four_blocks_never_have_a_verdict_and_five_have() {
    for blocks in [3, 4] {
        let clear = Simulated { blocks, truth: |_| 2.0, ..Simulated::default() };
        let equal = Simulated { blocks, noise: 0.0001, ..Simulated::default() };
        for base in [clear, equal] {
            let open = |c: &Comparison| matches!(c.verdict, Verdict::Undecided { .. });
            assert_eq!(per_cent(200, &base, open), 100.0, "{blocks} blocks");
        }
    }
    let five = Simulated { truth: |_| 2.0, ..Simulated::default() };
    assert_eq!(per_cent(200, &five, |c| c.verdict == Verdict::Better), 100.0);
}

// By hand: 1 - 0.05^(1/20).
#[test]
fn what_an_equal_can_have_missed_follows_from_its_blocks() {
    assert!((share_unseen(20).value - 0.139_108_3).abs() < 1e-6);
    assert_eq!(share_unseen(0).value, 1.0);
}

#[test]
fn a_level_that_collapses_in_some_trials_has_a_mean_apart_from_the_typical_ratio() {
    let two = |share| {
        let (run, _) = collapsing(20, (share, 0.5), 1);
        only(&analyse(&run)).points[0].has_two_answers()
    };
    assert_eq!([two(0.0), two(0.2)], [false, true]);
}
