//! A metric that is a quantile of a distribution in each trial.

use super::*;
use crate::record::Distribution;
use crate::verdict::simulated::with_response;
use crate::verdict::{TooFew, Wanted, compare_runs};

fn judged(truth: fn(Cell) -> f64, at: f64, count: u32) -> Run {
    with_response(Simulated { truth, blocks: 8, ..Simulated::default() }.run(), at, count)
}

/// Every value of the counted trials of a level, rising, seconds.
fn all(run: &Run, path: &str) -> Vec<f64> {
    let of = |r: &&TrialRecord| r.trial.block > 0 && r.trial.treatment.levels["path"] == path;
    let mut values = Vec::new();
    for record in run.records.iter().filter(of) {
        for step in record.outcome.distributions[0].read().unwrap().iter_recorded() {
            let value = step.value_iterated_to() as f64 * 1e-9;
            values.extend((0..step.count_at_value()).map(|_| value));
        }
    }
    values.sort_by(f64::total_cmp);
    values
}

#[test]
fn a_level_is_told_by_all_its_values_and_compared_trial_by_trial() {
    let run = judged(|_| 1.2, 0.99, 1000);
    let found = analyse(&run);
    let comparison = only(&found);
    assert_eq!(comparison.verdict, Verdict::Worse, "20 % slower");
    let ratio = &comparison.overall;
    assert!((ratio.centre.value / 1.2 - 1.0).abs() < 0.05, "{ratio:?}");
    assert!(ratio.low.value > 1.0 && ratio.method == EstimateMethod::HodgesLehmann);
    let point = &comparison.points[0];
    for (level, path) in [(&point.base, "onboard"), (&point.other, "pro1000")] {
        let values = all(&run, path);
        let exact = values[(0.99 * values.len() as f64).ceil() as usize - 1];
        assert!((level.centre.value / exact - 1.0).abs() <= 1e-3, "{level:?} and {exact}");
        assert!(level.low <= level.centre && level.centre <= level.high);
        assert_eq!((level.method, level.n), (EstimateMethod::MergedQuantile, 8));
    }
    let trial = run.records.iter().find(|r| r.trial.block == 1).unwrap();
    let own = trial.outcome.distributions[0].read().unwrap().value_at_quantile(0.99);
    assert_eq!(run.figure(trial), Some(Quantity::seconds(own as f64 * 1e-9)));
    assert!(point.base_runs.contains(&run.figure(trial).unwrap()));
}

#[test]
fn equal_distributions_are_equal() {
    let mut run = judged(|_| 1.0, 0.9, 4000);
    let of = run.records[0].outcome.distributions.clone();
    run.records.iter_mut().for_each(|record| record.outcome.distributions.clone_from(&of));
    let found = analyse(&run);
    assert_eq!(only(&found).verdict, Verdict::Equivalent);
    let drawn = judged(|_| 1.0, 0.5, 20_000);
    let ratio = only(&analyse(&drawn)).overall.clone();
    assert!(ratio.low.value < 1.0 && ratio.high.value > 1.0, "{ratio:?}");
}

/// 8 trials of 120 values: 9.6 beyond p99 in all, 1.2 in each.
#[test]
fn a_quantile_that_too_few_values_carry_is_absent_with_its_reason() {
    let few = TooFew {
        at: Quantity::new(0.99, Unit::Share),
        values: Quantity::count(960),
        needs: Quantity::count(1000),
    };
    let run = judged(|_| 2.0, 0.99, 120);
    let found = analyse(&run);
    assert_eq!(found.comparisons, []);
    let told = Caveat::TooFew { metric: "tail of response".into(), least: few };
    assert!(found.caveats.contains(&told), "{:?}", found.caveats);
    // Where no trial was valid it is not for the number of values.
    let mut lost = run.clone();
    lost.records.iter_mut().for_each(|record| record.outcome = Outcome::faulty(Fault::Cancelled));
    assert!(!analyse(&lost).caveats.iter().any(|c| matches!(c, Caveat::TooFew { .. })));
    let enough = analyse(&judged(|_| 2.0, 0.99, 125));
    assert_eq!(only(&enough).verdict, Verdict::Worse);
    let alone = Simulated { blocks: 8, ..Simulated::default() }.only_measuring();
    let found = analyse(&with_response(alone.clone(), 0.99, 120));
    assert_eq!((found.measured[0].figure("tail"), found.measured[0].too_few["tail"]), (None, few));
    let found = analyse(&with_response(alone, 0.99, 125));
    let figure = &found.measured[0].figure("tail").unwrap().estimate;
    assert_eq!(figure.method, EstimateMethod::MergedQuantile);
    // With 99 values a trial not one is expected beyond its own p99: nothing can be paired.
    let single = judged(|_| 2.0, 0.99, 99);
    assert!(single.records.iter().all(|record| single.figure(record).is_none()));
}

#[test]
fn runs_are_compared_by_their_trials_and_told_by_all_their_values() {
    let [a, b] = [1, 2].map(|seed| {
        let one = Simulated { blocks: 8, seed, ..Simulated::default() }.only_measuring();
        with_response(one, 0.99, 1000)
    });
    let found = compare_runs(&a, &b, Wanted::default()).unwrap();
    let point = &found.comparisons[0].points[0];
    let counted = |run: &Run| -> Vec<Distribution> {
        let counted = run.records.iter().filter(|r| r.trial.block > 0);
        counted.flat_map(|r| r.outcome.distributions.clone()).collect()
    };
    for (side, run) in [(&point.base, &a), (&point.other, &b)] {
        let merged = Distribution::merged(&counted(run)).unwrap().unwrap();
        assert_eq!(side.centre.value, merged.value_at_quantile(0.99) as f64 * 1e-9);
        assert_eq!(side.method, EstimateMethod::MergedQuantile);
    }
    let few = a.records.iter().cloned().map(|mut record| {
        record.outcome.distributions.clear();
        record
    });
    let few = Run { records: few.collect(), ..b };
    assert_eq!(compare_runs(&a, &few, Wanted::default()).unwrap().comparisons, []);
}
