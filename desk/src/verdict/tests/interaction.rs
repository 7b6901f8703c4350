//! Differences of differences.

use super::{SIZES, break_trial, close, judged};
use crate::record::TrialRecord;
use crate::verdict::simulated::{Cell, Simulated, size};
use crate::verdict::{Verdict, analyse};

fn planted(cell: Cell) -> f64 {
    match (cell.offload, cell.size) {
        ("on", _) => 1.2,
        (_, 0..=1024) => 1.0,
        _ => 1.44,
    }
}

// By hand: 1.2 with the offload on; off, half of the points have 1 and half 1.44, which is 1.2
// over the curve: no interaction. At the large sizes alone it is 1.44 / 1.2 = 1.2.
#[test]
fn the_difference_of_differences_is_the_ratio_of_ratios() {
    let base = Simulated {
        offloads: vec!["on", "off"],
        truth: planted,
        noise: 0.001,
        ..Simulated::default()
    };
    let curve = analyse(&Simulated { sizes: SIZES.to_vec(), ..base.clone() }.run());
    let [one] = &curve.interactions[..] else { panic!("{:?}", curve.interactions) };
    assert_eq!(
        (one.by.as_str(), one.by_base.as_str(), one.by_other.as_str()),
        ("offload", "on", "off")
    );
    assert_eq!((one.factor.as_str(), one.other.as_str()), ("path", "pro1000"));
    assert!(one.stratum.is_empty());
    assert!((one.difference.centre.value - 1.0).abs() < 0.005);
    assert_eq!(one.verdict, Verdict::Equivalent);
    let large = analyse(&Simulated { sizes: vec![4096], ..base.clone() }.run());
    let one = &large.interactions[0];
    assert_eq!((one.verdict, one.difference.n), (Verdict::Better, 5));
    let ratio = one.second.centre.value / one.first.centre.value;
    assert!((one.difference.centre.value - ratio).abs() < 1e-12);
    assert!((ratio - 1.2).abs() < 0.005);
    let small = analyse(&Simulated { sizes: vec![256], ..base }.run());
    assert_eq!(small.interactions[0].verdict, Verdict::Worse);
}

#[test]
fn effects_alike_are_called_different_in_one_run_of_twenty() {
    let (mut alone, mut named) = (0, 0);
    for seed in 0..600 {
        let offloads = vec!["on", "off"];
        let run = Simulated { seed, offloads, truth: |_| 1.3, ..Simulated::default() }.run();
        let one = &analyse(&run).interactions[0];
        alone += u32::from(one.difference.low.value > 1.0 || one.difference.high.value < 1.0);
        named += u32::from(matches!(one.verdict, Verdict::Better | Verdict::Worse));
    }
    // 600 at 5 %: 30, standard deviation 5.3. The word holds among all that is not the question.
    assert!((15..=45).contains(&alone) && named <= 27, "{alone} alone, {named} named");
}

#[test]
fn there_is_one_for_every_direction_and_further_level_and_none_without_a_second_factor() {
    let directions = vec!["transmit", "receive"];
    let offloads = vec!["on", "off", "auto"];
    let analysis = analyse(&Simulated { directions, offloads, ..Simulated::default() }.run());
    let found: Vec<_> = analysis
        .interactions
        .iter()
        .map(|i| (i.fixed["direction"].to_string(), i.by_other.clone()))
        .collect();
    let all = [("transmit", "off"), ("transmit", "auto"), ("receive", "off"), ("receive", "auto")];
    assert_eq!(found, all.map(|(a, b)| (a.to_string(), b.to_string())));
    assert!(analyse(&Simulated::default().run()).interactions.is_empty());
}

#[test]
fn a_block_counts_if_it_is_whole_under_both() {
    let offloads = vec!["on", "off"];
    let sizes = vec![64, 256];
    let mut run = Simulated { offloads, sizes, ..Simulated::default() }.run();
    let broken = |r: &&mut TrialRecord| {
        r.trial.block == 2
            && r.trial.treatment.levels["offload"] == "off"
            && r.trial.point.params["size"] == size(64)
    };
    run.records.iter_mut().filter(broken).for_each(|r| {
        r.outcome.samples.clear();
    });
    assert_eq!(analyse(&run).interactions[0].difference.n, 4);
    (1..=5).for_each(|block| break_trial(&mut run, block, "onboard", 64));
    // The small size has no pair left anywhere; the large one is whole in all blocks.
    assert_eq!(analyse(&run).interactions[0].difference.n, 5);
}

// With the offload off the small size is lost; on, it has 1.5, and the large one 1.2.
#[test]
fn a_point_that_is_missing_or_torn_under_one_level_is_left_out_under_both() {
    let truth = |cell: Cell| match (cell.offload, cell.size) {
        ("on", 64) => 1.5,
        ("on", _) => 1.2,
        _ => 1.0,
    };
    let offloads = vec!["on", "off"];
    let sizes = vec![64, 256];
    let run = Simulated { offloads, sizes, truth, noise: 0.001, ..Simulated::default() }.run();
    let small = |r: &&mut TrialRecord| {
        r.trial.treatment.levels["offload"] == "off" && r.trial.point.params["size"] == size(64)
    };
    let mut lost = run.clone();
    lost.records.iter_mut().filter(small).for_each(|r| r.outcome.samples.clear());
    let mut torn = run;
    let fast = |r: &&mut TrialRecord| judged(r) && matches!(r.trial.block, 1 | 2);
    torn.records.iter_mut().filter(small).filter(fast).for_each(|r| {
        r.outcome.samples[0].quantity.value *= 3.0;
    });
    assert_eq!(analyse(&torn).two_states.len(), 1);
    for run in [lost, torn] {
        let one = analyse(&run).interactions.remove(0);
        close(one.first.centre.value, 1.2, 0.005);
        close(one.difference.centre.value, 1.0 / 1.2, 0.005);
        assert_eq!(one.difference.n, 5);
    }
}
