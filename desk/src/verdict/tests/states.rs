//! Levels that are fast or slow for a whole trial.

use super::{SIZES, machine, only};
use crate::record::{Metric, MetricRole, Run, Sample};
use crate::unit::{Quantity, Unit};
use crate::verdict::simulated::{Cell, Simulated, size};
use crate::verdict::{Verdict, Withheld, analyse};

/// Makes the judged level 1.6 times as fast, with segments 1.6 times as large, in blocks 2 and 4.
fn tear(run: &mut Run, at: u64) {
    let segment = Metric {
        name: "mean_segment".into(),
        role: MetricRole::Segment,
        unit: Unit::Byte,
        ..run.metrics[0].clone()
    };
    run.metrics.push(segment);
    for record in &mut run.records {
        let torn = super::judged(record)
            && record.trial.point.params["size"] == size(at)
            && record.trial.block % 2 == 0
            && record.trial.block > 0;
        let state = if torn { 1.6 } else { 1.0 };
        record.outcome.samples[0].quantity.value *= state;
        let quantity = Quantity::new(1448.0 * state, Unit::Byte);
        record.outcome.samples.push(Sample { metric: "mean_segment".into(), quantity });
    }
}

fn truth(cell: Cell) -> f64 {
    if cell.size > 1000 { 1.1 } else { 1.0 }
}

#[test]
fn a_point_with_two_states_leaves_the_curve_and_ends_its_regions() {
    let sizes = SIZES.to_vec();
    let mut run = Simulated { sizes, truth, noise: 0.002, ..Simulated::default() }.run();
    let plain = only(&analyse(&run)).clone();
    tear(&mut run, 4096);
    run.records.iter_mut().for_each(|record| machine(record, 0.5));
    let analysis = analyse(&run);
    let [found] = &analysis.two_states[..] else { panic!("{:?}", analysis.two_states) };
    assert_eq!((found.level.as_str(), &found.at), ("pro1000", &Some(size(4096))));
    assert_eq!((found.slow.trials, found.fast.trials), (3, 2));
    assert!((found.fast.segment.as_ref().unwrap().centre.value - 2316.8).abs() < 1e-6);
    assert_eq!(found.slow.rate.centre.unit, Unit::BitPerSecond);
    let comparison = only(&analysis);
    let verdicts: Vec<Verdict> = comparison.points.iter().map(|p| p.verdict).collect();
    assert_eq!(verdicts[3], Verdict::TwoStates);
    assert_eq!((verdicts[2], verdicts[4]), (Verdict::Better, Verdict::Better));
    let ends: Vec<_> = comparison.regions.iter().map(|r| (r.from.clone(), r.to.clone())).collect();
    assert_eq!(ends, [(size(1024), size(1024)), (size(16384), size(65536))]);
    // By hand: two of five points at 1 and three at 1.1 are left; before it were four of six.
    let mean = |ratio: f64| comparison.overall.centre.value - ratio;
    assert!(mean(1.1_f64.powf(0.6)).abs() < 0.003, "{:?}", comparison.overall);
    assert!((plain.overall.centre.value - 1.1_f64.powf(4.0 / 6.0)).abs() < 0.003);
    let cost = &analysis.costs[0];
    assert_eq!(cost.withheld[3], Some(Withheld::TwoStates));
    assert_ne!(cost.withheld_overall, Some(Withheld::TwoStates));
    assert_eq!(cost.index.points[3].verdict, Verdict::TwoStates);
}

#[test]
fn where_no_other_point_is_left_there_is_no_single_verdict() {
    let mut run = Simulated { noise: 0.002, ..Simulated::default() }.run();
    tear(&mut run, 1024);
    // Links that differ, or the comparison is one of A with A, which advises nobody.
    run.plan.lab.links[1].settings.insert("tso".into(), crate::verdict::simulated::word("off"));
    run.records.iter_mut().for_each(|record| machine(record, 0.5));
    let analysis = analyse(&run);
    assert_eq!(only(&analysis).verdict, Verdict::TwoStates);
    assert_eq!(only(&analysis).overall.n, 5);
    assert!(analysis.caveats.is_empty(), "{:?}", analysis.caveats);
    assert_eq!(analysis.costs[0].withheld_overall, Some(Withheld::TwoStates));
    let peak = &analysis.advice[0];
    assert_eq!((&peak.choice, &peak.withheld), (&None, &Some(Withheld::TwoStates)));
}

/// How many cells of 1,000 have two states, by the whole way from trials to findings.
fn alarms(noise: f64, spoil: impl Fn(&mut Run)) -> usize {
    let cells = (0..500).map(|seed| {
        let mut run = Simulated { seed, noise, ..Simulated::default() }.run();
        spoil(&mut run);
        analyse(&run).two_states.len()
    });
    cells.sum()
}

// The whole block moves by ten times the noise of a trial: half of the speed and twice it are
// among these, for both levels alike.
#[test]
fn ordinary_noise_and_slow_blocks_are_one_state() {
    for noise in [0.01, 0.05] {
        let alarms = alarms(noise, |_| ());
        assert!(alarms < 10, "{alarms} of 1000 cells at {noise}");
    }
    let slow_blocks = |run: &mut Run| {
        for record in run.records.iter_mut().filter(|r| r.trial.block > 3) {
            record.outcome.samples[0].quantity.value *= 0.5;
        }
    };
    let alarms = alarms(0.002, slow_blocks);
    assert!(alarms < 10, "{alarms} of 1000 cells");
}

#[test]
fn both_levels_can_have_two_states_of_their_own() {
    let mut run = Simulated { noise: 0.002, ..Simulated::default() }.run();
    tear(&mut run, 1024);
    for record in run.records.iter_mut().filter(|r| !super::judged(r)) {
        if matches!(record.trial.block, 1 | 2) {
            record.outcome.samples.iter_mut().for_each(|s| s.quantity.value *= 1.6);
        }
    }
    let found = analyse(&run).two_states;
    let levels: Vec<&str> = found.iter().map(|state| state.level.as_str()).collect();
    assert_eq!(levels, ["onboard", "pro1000"]);
}
