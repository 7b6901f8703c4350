//! Plants a drift, a step and a pause into runs, and looks how often they are told.

use super::super::course::{Pause, course, pauses};
use super::super::finding::Caveat;
use super::super::simulated::Simulated;
use crate::record::{Added, Run, Sitting};
use crate::unit::Quantity;

/// A run whose blocks scatter by 1 %. `log` is what is planted, of the share of the run that has
/// passed.
fn run(blocks: u32, seed: u64, log: impl Fn(f64) -> f64) -> Run {
    let mut run = Simulated { blocks, seed, noise: 1e-9, ..Simulated::default() }.run();
    let noisy = Simulated { blocks, seed, noise: 0.01, ..Simulated::default() }.run();
    let settle = run.plan.method.settle.value + run.plan.method.window.value;
    for (at, (record, noise)) in run.records.iter_mut().zip(&noisy.records).enumerate() {
        let passed = f64::from(record.trial.block.max(1) - 1) / f64::from(blocks - 1);
        let other = noise.outcome.samples[0].quantity.value;
        let drawn = if record.trial.block == 0 { 0.0 } else { (other / 1e9).ln() / 10.0 };
        record.outcome.samples[0].quantity.value *= (drawn + log(passed)).exp();
        record.started_s = at as f64 * (settle + 0.5);
    }
    run
}

fn told(run: &Run) -> Option<Caveat> {
    course(run).into_iter().next()
}

#[test]
fn of_runs_whose_level_stays_at_most_one_in_twenty_is_doubted() {
    for blocks in [5, 10, 20] {
        let alarms = (0..400)
            .filter(|seed| {
                let mut run = run(blocks, *seed, |_| 0.0);
                // Every size is told, so that the count is of the test and not of the margin.
                run.plan.method.margin = Quantity::new(1e-9, crate::unit::Unit::Share);
                told(&run).is_some()
            })
            .count();
        assert!((2..=33).contains(&alarms), "{alarms} of 400 at {blocks} blocks");
    }
}

#[test]
fn a_drift_that_all_levels_share_is_told_with_its_size() {
    let found: Vec<Option<Caveat>> =
        (0..40).map(|seed| told(&run(10, seed, |passed| -0.139 * passed))).collect();
    let sizes = found.iter().filter_map(|caveat| match caveat {
        Some(Caveat::Drifted { change, load, .. }) if load.is_empty() => Some(change.clone()),
        _ => None,
    });
    let sizes: Vec<_> = sizes.collect();
    assert!(sizes.len() >= 36, "{found:?}");
    let held = sizes.iter().filter(|c| c.low.value <= 0.87 && 0.87 <= c.high.value).count();
    assert!(held >= 30, "{sizes:?}");
}

#[test]
fn a_step_is_told_with_its_moment() {
    let mut right = 0;
    for seed in 0..40 {
        let run = run(10, seed, |passed| if passed < 0.6 { 0.0 } else { -0.139 });
        // 6 of 10 blocks of two trials each lie before, and two dry visits.
        let moment = run.records[2 + 12].started_s;
        let at = |at: Quantity| (at.value - moment).abs() < 1e-9;
        right +=
            u32::from(matches!(told(&run), Some(Caveat::Stepped { at: when, .. }) if at(when)));
    }
    assert!(right >= 36, "{right} of 40");
}

#[test]
fn a_pause_is_told_between_sittings_and_within_one_and_no_other_wait_is_one() {
    let mut clean = run(10, 3, |_| 0.0);
    assert_eq!(pauses(&clean), []);
    for record in &mut clean.records[9..] {
        record.started_s += 420.0;
    }
    let found = pauses(&clean);
    let Pause { from_s, to_s } = found[0];
    assert_eq!((found.len(), to_s), (1, clean.records[9].started_s));
    assert!((to_s - from_s - 420.0).abs() < 1.0 && from_s > clean.records[8].started_s);
    assert!(course(&clean).iter().any(|c| matches!(c, Caveat::Paused { times, longest, .. }
            if times.value == 1.0 && (longest.value - 420.0).abs() < 1.0)));
    // A workload that is a minute and a half in staging has no pause, unless a sitting ended there.
    let mut slow = run(10, 3, |_| 0.0);
    for (at, record) in slow.records.iter_mut().enumerate() {
        record.started_s += 90.0 * at as f64;
    }
    assert_eq!(pauses(&slow), []);
    let added = Some(Added { from: 3, to: 10 });
    slow.sittings =
        vec![Sitting { started: String::new(), boot: String::new(), records_before: 8, added }];
    assert_eq!(pauses(&slow).len(), 1);
    // A boot that the plan asks for takes its minutes.
    for record in &mut clean.records[9..] {
        record.trial.boot = 2;
    }
    assert_eq!(pauses(&clean), []);
}
