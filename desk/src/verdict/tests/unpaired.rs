//! Checks the comparison of two runs against runs whose truth is planted.

use crate::record::{FactorPlan, Fault, Level, Run, Settings};
use crate::unit::Quantity;
use crate::verdict::simulated::{Simulated, word};
use crate::verdict::{CompareError, Unpaired, Verdict, Wanted, compare_runs};

const SIZES: [u64; 5] = [64, 256, 1024, 4096, 16384];

fn simulated(seed: u64, sizes: &[u64]) -> Run {
    Simulated { seed, sizes: sizes.to_vec(), ..Simulated::default() }.run()
}

/// The same with every figure times a factor.
fn scaled(mut run: Run, factor: f64) -> Run {
    for sample in run.records.iter_mut().flat_map(|r| &mut r.outcome.samples) {
        sample.quantity = Quantity::new(sample.quantity.value * factor, sample.quantity.unit);
    }
    run
}

fn compared(a: &Run, b: &Run, force: bool) -> Unpaired {
    compare_runs(a, b, Wanted { metric: None, force }).unwrap()
}

fn verdicts(found: &Unpaired) -> Vec<Verdict> {
    found.comparisons.iter().map(|c| c.verdict).collect()
}

#[test]
fn equal_runs_are_called_different_as_seldom_as_is_said() {
    let (mut overall, mut anywhere, mut all) = (0, 0, 0);
    let differs = |v: &Verdict| matches!(v, Verdict::Better | Verdict::Worse);
    for pair in 0..200 {
        let [a, b] = [2 * pair + 1, 2 * pair + 2].map(|seed| simulated(seed, &SIZES));
        for found in compared(&a, &b, false).comparisons {
            all += 1;
            overall += u32::from(differs(&found.verdict));
            anywhere += u32::from(found.points.iter().any(|p| differs(&p.verdict)));
        }
    }
    assert_eq!(all, 400, "two levels a pair");
    assert!(overall * 100 <= 6 * all, "{overall} of {all} overall");
    assert!(anywhere * 100 <= 6 * all, "{anywhere} of {all} at any point");
}

#[test]
fn a_planted_difference_is_found_and_has_its_side() {
    // A block moves by ten times the noise of a trial, and nothing pairs it out.
    let (a, b) = (simulated(1, &SIZES), simulated(2, &SIZES));
    let found = compared(&a, &scaled(b.clone(), 3.0), false);
    assert_eq!(verdicts(&found), [Verdict::Better; 2]);
    let comparison = &found.comparisons[0];
    assert!(comparison.points.iter().all(|p| p.verdict == Verdict::Better));
    assert_eq!((comparison.points.len(), comparison.regions.len()), (5, 1));
    let ratio = &comparison.overall;
    assert!(ratio.low.value < 3.0 && 3.0 < ratio.high.value && ratio.n == 5, "{ratio:?}");
    assert_eq!(verdicts(&compared(&scaled(b, 3.0), &a, false)), [Verdict::Worse; 2]);
}

#[test]
fn equal_runs_with_little_noise_are_equivalent() {
    let quiet = |seed| Simulated { seed, noise: 1e-4, ..Simulated::default() }.run();
    assert_eq!(verdicts(&compared(&quiet(1), &quiet(2), false)), [Verdict::Equivalent; 2]);
}

#[test]
fn confounded_runs_have_no_comparison_and_by_force_no_verdict() {
    let a = simulated(1, &SIZES);
    let mut b = scaled(simulated(2, &SIZES), 3.0);
    b.version = "9.9".into();
    let refused = compared(&a, &b, false);
    assert!(refused.comparisons.is_empty() && refused.watermark().is_none());
    assert_eq!(refused.comparability.confounders[0].key, "stend.version");
    let forced = compared(&a, &b, true);
    assert_eq!(forced.watermark(), Some(vec!["stend.version"]));
    let open = Verdict::Undecided { more_blocks: None };
    assert_eq!(verdicts(&forced), [open; 2]);
    assert!(forced.comparisons.iter().flat_map(|c| &c.points).all(|p| p.verdict == open));
    assert!(forced.comparisons[0].overall.low.value > 1.5, "the figures are there");
    assert!(forced.comparisons[0].regions.is_empty());
}

#[test]
fn nothing_needs_force_where_runs_are_comparable() {
    let found = compared(&simulated(1, &[64]), &scaled(simulated(2, &[64]), 3.0), true);
    assert!(!found.forced && found.watermark().is_none());
    assert_eq!(verdicts(&found), [Verdict::Better; 2]);
}

#[test]
fn a_level_without_a_partner_is_left_out_and_two_of_them_stand_against_each_other() {
    let a = simulated(1, &[64]);
    let mut fewer = simulated(2, &[64]);
    fewer.plan.factors[0].levels.pop();
    fewer.records.retain(|r| r.trial.treatment.levels["path"] == "onboard");
    let found = compared(&a, &fewer, false);
    assert_eq!(found.comparisons.len(), 1);
    assert_eq!(found.comparisons[0].stratum["path"], "onboard");
    let mut renamed = simulated(2, &[64]);
    renamed.plan.factors[0].levels[1] =
        Level { name: "x710".into(), settings: [("path".to_owned(), word("x710"))].into() };
    for record in &mut renamed.records {
        let level = record.trial.treatment.levels.get_mut("path").unwrap();
        if level == "pro1000" {
            *level = "x710".into();
        }
    }
    let found = compared(&a, &renamed, false);
    assert!(found.comparability.comparable());
    assert_eq!(found.comparability.factors.len(), 2);
    let names: Vec<(&str, &str)> =
        found.comparisons.iter().map(|c| (c.base.as_str(), c.other.as_str())).collect();
    assert_eq!(names, [("A", "B"), ("A (pro1000)", "B (x710)")]);
}

#[test]
fn faulty_dry_and_missing_trials_enter_no_mean() {
    let a = simulated(1, &SIZES);
    let mut b = simulated(2, &SIZES);
    let record = b.records.iter_mut().find(|r| r.trial.block == 3).unwrap();
    record.outcome.fault = Some(Fault::Cancelled);
    let found = compared(&a, &b, false);
    let comparison = &found.comparisons[0];
    assert_eq!(
        (comparison.points[0].base_runs.len(), comparison.points[0].other_runs.len()),
        (5, 4)
    );
    assert_eq!((comparison.left_out, comparison.overall.n), (1, 4));
    assert_eq!(found.comparisons[1].left_out, 0);
    b.records.retain(|r| r.trial.block < 2);
    let found = compared(&a, &b, false);
    assert_eq!(verdicts(&found), [Verdict::Undecided { more_blocks: None }; 2]);
}

#[test]
fn a_metric_that_a_run_lacks_is_refused_with_what_it_has() {
    let a = simulated(1, &[64]);
    let wanted = Wanted { metric: Some("latency"), force: false };
    let refused = compare_runs(&a, &a, wanted).unwrap_err();
    assert!(matches!(&refused, CompareError::NoMetric { known, .. } if known == "throughput"));
}

#[test]
fn plans_without_a_factor_are_compared_whole() {
    let bare = |seed| {
        let mut run = simulated(seed, &[64]);
        run.plan.factors = Vec::<FactorPlan>::new();
        run.records.retain(|r| r.trial.treatment.levels["path"] == "onboard");
        for record in &mut run.records {
            record.trial.treatment.levels.clear();
            record.trial.settings = Settings::new();
        }
        run
    };
    assert_eq!(compared(&bare(1), &bare(2), false).comparisons.len(), 1);
}
