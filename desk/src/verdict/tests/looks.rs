//! Verdicts from 8 blocks on, looks, and the index.

use super::{differs, only, per_cent};
use crate::record::Run;
use crate::stats::{EstimateMethod, MoreBlocks};
use crate::verdict::simulated::{Simulated, size};
use crate::verdict::{Verdict, analyse, enough};

#[test]
fn from_eight_blocks_on_a_against_a_is_still_called_different_in_one_run_of_twenty() {
    for blocks in [10, 20] {
        let base = Simulated { blocks, ..Simulated::default() };
        let alarms = per_cent(1000, &base, |c| differs(c.verdict));
        println!("{blocks} blocks: {alarms:.1} % false differences");
        assert!((2.5..=7.5).contains(&alarms), "{blocks}: {alarms} %");
    }
}

#[test]
fn the_method_follows_from_the_number_of_blocks() {
    for (blocks, alone, along) in [
        (7, EstimateMethod::PairedLogT, EstimateMethod::PairedLogTHolm),
        (8, EstimateMethod::HodgesLehmann, EstimateMethod::PairedLogMaxT),
    ] {
        let run = Simulated { blocks, sizes: vec![64, 256], ..Simulated::default() }.run();
        let analysis = analyse(&run);
        let comparison = only(&analysis);
        assert_eq!(comparison.overall.method, alone);
        assert!(comparison.points.iter().all(|point| point.ratio.method == along));
        assert!((comparison.overall.level - 0.95).abs() < 1e-12);
    }
}

/// A run of 40 blocks with four looks, and its records up to the first at which enough is known.
fn looked(base: &Simulated) -> (u32, Run) {
    let mut run = base.run();
    run.plan.method.looks = vec![5, 10, 20, 40];
    let stop = [5, 10, 20, 40].into_iter().find(|look| enough(&run, *look)).unwrap_or(40);
    run.records.retain(|record| record.trial.block <= stop);
    (stop, run)
}

#[test]
fn four_looks_together_call_equal_things_different_in_less_than_six_runs_of_a_hundred() {
    let runs = 1000;
    let mut stops = [0; 4];
    let mut alarms = 0;
    for seed in 0..runs {
        let base = Simulated { blocks: 40, noise: 0.03, seed, ..Simulated::default() };
        let (stop, run) = looked(&base);
        stops[[5, 10, 20, 40].iter().position(|look| *look == stop).unwrap()] += 1;
        alarms += u32::from(differs(only(&analyse(&run)).verdict));
    }
    let per_cent = 100.0 * f64::from(alarms) / 1000.0;
    println!("{per_cent:.1} % false differences; stopped at the looks: {stops:?}");
    assert!(per_cent < 6.0, "{per_cent} %");
    assert!(stops[3] > 0 && stops[3] < 1000, "{stops:?}");
}

#[test]
fn a_clear_difference_ends_at_the_first_look_at_the_level_of_a_look() {
    let (stop, run) =
        looked(&Simulated { blocks: 40, truth: |_| 1.2, noise: 0.005, ..Simulated::default() });
    assert_eq!(stop, 5);
    let analysis = analyse(&run);
    assert_eq!(only(&analysis).verdict, Verdict::Better);
    assert!((only(&analysis).overall.level - 0.9875).abs() < 1e-12);
    assert!((only(&analysis).points[0].base.level - 0.9875).abs() < 1e-12);
}

#[test]
fn enough_is_known_only_if_every_comparison_is_decided() {
    let both = |truth| {
        let directions = vec!["transmit", "receive"];
        Simulated { blocks: 10, directions, truth, noise: 0.005, ..Simulated::default() }.run()
    };
    assert!(enough(&both(|_| 1.2), 10));
    assert!(!enough(&both(|_| 1.2), 0), "no block, nothing known");
    let half = both(|cell| if cell.direction == "transmit" { 1.2 } else { 1.0 });
    let mut wide = half.clone();
    wide.plan.method.margin.value = 0.001;
    assert!(enough(&half, 10) && !enough(&wide, 10));
}

#[test]
fn what_is_undecided_says_how_many_further_blocks_it_takes() {
    let base = Simulated { noise: 0.03, truth: |_| 1.02, ..Simulated::default() };
    let analysis = analyse(&base.run());
    let Verdict::Undecided { more_blocks: Some(MoreBlocks { low, high }) } =
        only(&analysis).verdict
    else {
        panic!("{:?}", only(&analysis).verdict)
    };
    assert!(low >= 1 && high.is_none_or(|high| high > low), "{low} {high:?}");
}

#[test]
fn an_index_spans_strata_and_is_absent_where_there_is_one() {
    let truth =
        |cell: crate::verdict::simulated::Cell| if cell.offload == "on" { 2.0 } else { 8.0 };
    let base = Simulated { offloads: vec!["on", "off"], truth, ..Simulated::default() };
    let analysis = analyse(&base.run());
    let [index] = &analysis.indexes[..] else { panic!("{:?}", analysis.indexes) };
    assert_eq!((index.over.len(), index.ratio.n), (2, 5));
    assert!((index.ratio.centre.value / 4.0 - 1.0).abs() < 0.01, "{index:?}");
    assert_eq!(index.verdict, Verdict::Better);
    assert!(analyse(&Simulated::default().run()).indexes.is_empty());
    let directions = vec!["transmit", "receive"];
    let one_load = Simulated { directions, ..Simulated::default() };
    assert!(analyse(&one_load.run()).indexes.is_empty(), "directions of one load");
    let mut paced = base.run();
    let offer = size(1);
    paced.plan.loads[0].fixed.insert("offered_load".into(), offer);
    assert!(analyse(&paced).indexes.is_empty(), "a paced load moves what was asked for");
}
