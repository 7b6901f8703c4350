//! Knows what must come out where the truth is planted.

mod advice;
mod boots;
mod causes;
mod ceilings;
mod claims;
mod cost;
mod course;
mod diagnostics;
mod equal;
mod gate;
mod generator;
mod headroom;
mod identity;
mod interaction;
mod ladder;
mod loads;
mod looks;
mod primary;
mod quantile;
mod ranking;
mod states;
mod unpaired;

use super::simulated::{Cell, Simulated, size, with_response, word};
use super::{Analysis, Caveat, Comparison, LimitKind, Verdict, analyse};
use crate::record::flow::{BUSY, RECEIVE_WINDOW, RECEIVED, SEND_BUFFER};
use crate::record::{
    Better, Completeness, Fault, Flow, Flows, LabKind, Outcome, Reading, Run, TrialRecord,
};
use crate::stats::EstimateMethod;
use crate::unit::{Quantity, Unit};

const SIZES: [u64; 6] = [64, 256, 1024, 4096, 16384, 65536];

fn only(analysis: &Analysis) -> &Comparison {
    assert_eq!(analysis.comparisons.len(), 1);
    &analysis.comparisons[0]
}

/// Per cent of runs, over seeds, of which something holds.
fn per_cent(runs: u32, base: &Simulated, holds: impl Fn(&Comparison) -> bool) -> f64 {
    let hits = (0..runs).filter(|seed| {
        let analysis = analyse(&Simulated { seed: u64::from(*seed), ..base.clone() }.run());
        holds(only(&analysis))
    });
    100.0 * hits.count() as f64 / f64::from(runs)
}

fn differs(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Better | Verdict::Worse)
}

/// The counted trials of a path in a block at a size, to be spoilt.
fn trials<'r>(run: &'r mut Run, block: u32, path: &str, at: u64) -> Vec<&'r mut TrialRecord> {
    let wanted = |r: &&mut TrialRecord| {
        r.trial.block == block
            && r.trial.treatment.levels["path"] == path
            && r.trial.point.params["size"] == size(at)
    };
    run.records.iter_mut().filter(wanted).collect()
}

fn break_trial(run: &mut Run, block: u32, path: &str, at: u64) {
    for record in trials(run, block, path, at) {
        record.outcome = Outcome::faulty(Fault::DeadHost { host: "c01".into() });
    }
}

#[test]
fn a_against_a_is_called_different_in_one_run_of_twenty() {
    let false_alarms = per_cent(1000, &Simulated::default(), |c| differs(c.verdict));
    assert!((2.5..=7.5).contains(&false_alarms), "{false_alarms} %");
}

#[test]
fn five_per_cent_is_seen_through_noise_of_one() {
    let planted = Simulated { truth: |_| 1.05, ..Simulated::default() };
    assert!(per_cent(300, &planted, |c| c.verdict == Verdict::Better) >= 95.0);
}

#[test]
fn any_point_of_an_a_against_a_curve_differs_in_at_most_one_run_of_twenty() {
    let curve = Simulated { sizes: SIZES.to_vec(), ..Simulated::default() };
    let alarms = per_cent(400, &curve, |c| c.points.iter().any(|p| differs(p.verdict)));
    assert!(alarms <= 7.5, "{alarms} %");
}

#[test]
fn a_point_is_decided_where_its_interval_excludes_one_and_it_holds_in_its_family() {
    let truth = |cell: Cell| if cell.size > 1000 { 1.04 } else { 1.0 };
    let curve = Simulated { sizes: SIZES.to_vec(), truth, ..Simulated::default() };
    let mut seen = [0, 0];
    for seed in 0..50 {
        let analysis = analyse(&Simulated { seed, ..curve.clone() }.run());
        for point in &only(&analysis).points {
            let ratio = &point.ratio;
            let excludes = ratio.low.value > 1.0 || ratio.high.value < 1.0;
            assert!(excludes || !differs(point.verdict), "{point:?}");
            assert_eq!(ratio.method, EstimateMethod::PairedLogTHolm);
            let holds = point.together.is_some_and(|p| p.value <= 0.05);
            assert_eq!(differs(point.verdict), excludes && holds, "{point:?}");
            seen[usize::from(differs(point.verdict))] += 1;
        }
    }
    assert!(seen[0] > 50 && seen[1] > 50, "{seen:?}");
}

fn crossing(cell: Cell) -> f64 {
    match cell.size {
        0..=256 => 1.2,
        257..=1024 => 1.0,
        1025..=4096 => 0.8,
        _ => 0.7,
    }
}

#[test]
fn a_curve_that_crosses_has_a_region_for_each_side() {
    let sizes = SIZES.to_vec();
    let run = Simulated { sizes, truth: crossing, noise: 0.005, ..Simulated::default() }.run();
    let analysis = analyse(&run);
    let comparison = only(&analysis);
    let [ahead, behind] = &comparison.regions[..] else { panic!("{:?}", comparison.regions) };
    assert_eq!((&ahead.from, &ahead.to, ahead.other_ahead), (&size(64), &size(256), true));
    assert_eq!((&behind.from, &behind.to, behind.other_ahead), (&size(4096), &size(65536), false));
    assert!((behind.least.centre.value - 0.7).abs() < 0.02);
    assert!((behind.most.centre.value - 0.8).abs() < 0.02);
    let mean = (1.2_f64.powi(2) * 0.8 * 0.7 * 0.7).powf(1.0 / 6.0);
    assert!((comparison.overall.centre.value - mean).abs() < 0.01);
    assert_eq!(comparison.verdict, Verdict::Worse);
}

#[test]
fn a_point_without_results_ends_a_region() {
    let sizes = SIZES.to_vec();
    let mut run = Simulated { sizes, truth: |_| 2.0, ..Simulated::default() }.run();
    (1..=5).for_each(|block| break_trial(&mut run, block, "pro1000", 1024));
    let analysis = analyse(&run);
    let comparison = only(&analysis);
    assert_eq!(comparison.points.len(), 5);
    assert_eq!(comparison.left_out, 10);
    let ends: Vec<_> = comparison.regions.iter().map(|r| (r.from.clone(), r.to.clone())).collect();
    assert_eq!(ends, [(size(64), size(256)), (size(4096), size(65536))]);
    assert_eq!(comparison.overall.n, 5);
}

#[test]
fn less_is_better_turns_the_verdict_and_the_regions_round() {
    let sizes = SIZES.to_vec();
    let base = Simulated { sizes, truth: |_| 1.1, better: Better::Lower, ..Simulated::default() };
    let slower = analyse(&base.run());
    assert_eq!(only(&slower).verdict, Verdict::Worse);
    assert!(!only(&slower).regions[0].other_ahead);
    let faster = analyse(&Simulated { truth: |_| 0.9, ..base }.run());
    assert_eq!(only(&faster).verdict, Verdict::Better);
    assert!(only(&faster).regions[0].other_ahead);
}

#[test]
fn a_fault_leaves_out_its_block_and_is_counted() {
    let mut run = Simulated::default().run();
    break_trial(&mut run, 2, "pro1000", 1024);
    let analysis = analyse(&run);
    let comparison = only(&analysis);
    assert_eq!((comparison.overall.n, comparison.left_out), (4, 2));
    assert_eq!(comparison.points[0].base_runs.len(), 4);
    let first = String::from("host c01 went away");
    match &analysis.caveats[..] {
        [Caveat::Faults { trials, first: said, .. }] => {
            assert_eq!((trials, said), (&Quantity::count(1), &first));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_trial_run_again_fills_the_place_of_the_broken_one() {
    let mut run = Simulated::default().run();
    let again = trials(&mut run, 2, "pro1000", 1024)[0].clone();
    break_trial(&mut run, 2, "pro1000", 1024);
    run.records.push(again);
    let analysis = analyse(&run);
    let left_out = only(&analysis).left_out;
    assert_eq!((only(&analysis).overall.n, left_out), (5, 0), "a trial is none of its visits");
}

#[test]
fn a_value_of_zero_has_no_ratio_and_is_counted() {
    let mut run = Simulated::default().run();
    trials(&mut run, 3, "onboard", 1024)[0].outcome.samples[0].quantity.value = 0.0;
    let analysis = analyse(&run);
    assert_eq!((only(&analysis).overall.n, only(&analysis).left_out), (4, 2));
}

#[test]
fn one_block_is_shown_and_never_judged() {
    let single = Simulated { blocks: 1, truth: |_| 3.0, ..Simulated::default() };
    let analysis = analyse(&single.run());
    assert_eq!(only(&analysis).verdict, Verdict::Undecided { more_blocks: None });
    assert_eq!(only(&analysis).overall.method, EstimateMethod::Exact);
}

#[test]
fn a_curve_without_a_whole_block_has_no_overall_verdict() {
    let sizes = vec![64, 256];
    let mut run = Simulated { sizes, blocks: 2, truth: |_| 3.0, ..Simulated::default() }.run();
    break_trial(&mut run, 1, "onboard", 64);
    break_trial(&mut run, 2, "onboard", 256);
    let analysis = analyse(&run);
    assert_eq!(only(&analysis).overall.n, 0);
    assert_eq!(only(&analysis).verdict, Verdict::Undecided { more_blocks: None });
    assert!((only(&analysis).overall.centre.value - 3.0).abs() < 0.2);
}

#[test]
fn a_run_without_a_valid_pair_has_no_comparison_but_says_why() {
    let mut run = Simulated::default().run();
    (1..=5).for_each(|block| break_trial(&mut run, block, "onboard", 1024));
    let analysis = analyse(&run);
    assert!(analysis.comparisons.is_empty());
    assert!(matches!(analysis.caveats[..], [Caveat::Faults { .. }]));
}

#[test]
fn small_noise_makes_equal_things_equivalent_and_small_differences_differences() {
    let quiet = Simulated { noise: 0.001, ..Simulated::default() };
    assert!(per_cent(200, &quiet, |c| c.verdict == Verdict::Equivalent) >= 90.0);
    let inside_margin = Simulated { truth: |_| 1.01, ..quiet };
    assert!(per_cent(200, &inside_margin, |c| c.verdict == Verdict::Better) >= 95.0);
}

#[test]
fn comparisons_are_apart_by_stratum_and_parameter_in_the_order_of_the_plan() {
    let truth = |cell: Cell| match (cell.direction, cell.offload) {
        ("transmit", "on") => 1.1,
        ("transmit", _) => 1.2,
        (_, "on") => 1.3,
        _ => 1.4,
    };
    let directions = vec!["transmit", "receive"];
    let offloads = vec!["on", "off"];
    let analysis =
        analyse(&Simulated { directions, offloads, truth, ..Simulated::default() }.run());
    let found: Vec<(&str, f64)> = analysis
        .comparisons
        .iter()
        .map(|c| (c.id.as_str(), (10.0 * c.overall.centre.value).round() / 10.0))
        .collect();
    assert_eq!(
        found,
        [
            ("path-pro1000-offload-on-transmit", 1.1),
            ("path-pro1000-offload-on-receive", 1.3),
            ("path-pro1000-offload-off-transmit", 1.2),
            ("path-pro1000-offload-off-receive", 1.4),
        ]
    );
    assert!(analysis.comparisons.iter().all(|c| c.left_out == 0));
}

#[test]
fn two_links_set_alike_are_a_against_a() {
    let mut run = Simulated::default().run();
    assert!(only(&analyse(&run)).aa);
    run.plan.lab.links[1].settings.insert("tso".into(), word("off"));
    assert!(!only(&analyse(&run)).aa);
}

/// A run in which every counted trial is changed in the same way.
fn with(change: impl Fn(&mut TrialRecord)) -> Run {
    let mut run = Simulated::default().run();
    run.records.iter_mut().for_each(change);
    run
}

fn cpu(record: &mut TrialRecord, key: &str, share: f64) {
    read(record, ["cpu", "machine", key], share);
}

/// Adds a reading: probe, host, key.
fn read(record: &mut TrialRecord, [probe, host, key]: [&str; 3], value: f64) {
    let quantity = Quantity::new(value, Unit::Share);
    let (probe, host) = (probe.into(), host.into());
    record.readings.push(Reading { probe, host, key: key.into(), quantity });
}

/// Changes a reading that is there.
fn change(record: &mut TrialRecord, [probe, host, key]: [&str; 3], by: f64) {
    let here = |r: &&mut Reading| r.probe == probe && r.host == host && r.key == key;
    record.readings.iter_mut().find(here).unwrap().quantity.value += by;
}

/// Adds every reading of a machine of four CPUs on which all time is accounted for: half of it the
/// server's, 39 % the client's, 1 % the conductor's, a tenth kernel threads.
fn machine(record: &mut TrialRecord, busy: f64) {
    cpu(record, "busy", busy);
    cpu(record, "cpus", 4.0);
    cpu(record, "steal", 0.0);
    cpu(record, "baseline", 0.0);
    for (host, share) in [("sut", 0.5), ("c01", 0.39), ("conductor", 0.01)] {
        read(record, ["process", host, "cpu"], 4.0 * busy * share);
    }
    read(record, ["kernel", "machine", "threads"], 4.0 * busy * 0.1);
    read(record, ["foreign", "machine", "cpu"], 0.0);
}

/// Which path a trial went over.
fn path(record: &TrialRecord) -> &str {
    &record.trial.treatment.levels["path"]
}

/// Whether a trial belongs to the level that is judged.
fn judged(record: &TrialRecord) -> bool {
    path(record) == "pro1000"
}

fn close(ours: f64, by_hand: f64, within: f64) {
    assert!((ours / by_hand - 1.0).abs() < within, "{ours} is not {by_hand}");
}

fn limit(run: &Run) -> Vec<LimitKind> {
    analyse(run).limits.iter().map(|l| l.kind).collect()
}

#[test]
fn the_first_full_resource_is_the_limit() {
    assert!(limit(&with(|_| ())).is_empty(), "nothing watched");
    assert_eq!(limit(&with(|r| cpu(r, "busy", 0.6))), [LimitKind::NoneSeen; 2]);
    assert_eq!(limit(&with(|r| cpu(r, "busy", 0.97))), [LimitKind::AllCpus; 2]);
    let one_cpu = with(|r| {
        cpu(r, "busy", 0.6);
        // Another CPU is the full one in every block.
        let full = r.trial.block % 2;
        cpu(r, &format!("busy.cpu{full}"), 0.99);
        cpu(r, &format!("busy.cpu{}", 1 - full), 0.21);
    });
    assert_eq!(limit(&one_cpu), [LimitKind::OneCpu; 2]);
}

#[test]
fn the_rate_of_the_link_that_carries_the_traffic_counts_once_a_direction() {
    let rated = |direction: &'static str, rate: f64| {
        let noise = 0.001;
        let mut run =
            Simulated { directions: vec![direction], noise, ..Simulated::default() }.run();
        let rate = crate::record::Value::Quantity(Quantity::new(rate, Unit::BitPerSecond));
        run.plan.lab.links[1].settings.insert("rate".into(), rate);
        analyse(&run).limits
    };
    let limits = rated("transmit", 1.05e9);
    assert_eq!(limits.len(), 1, "the first link has no rate");
    assert_eq!((limits[0].level.as_str(), limits[0].kind), ("pro1000", LimitKind::SetRate));
    assert!((limits[0].evidence.centre.value - 0.95).abs() < 0.03);
    assert!(rated("duplex", 1.05e9).is_empty());
    assert_eq!(rated("duplex", 0.52e9).len(), 1);
}

#[test]
fn streams_that_wait_name_the_side_that_holds_them_back() {
    let waits = |window, buffer| with(move |r| r.outcome.flows = waiting([window, buffer]));
    assert_eq!(limit(&waits(0.6, 0.1)), [LimitKind::ReceiveWindow; 2]);
    assert_eq!(limit(&waits(0.1, 0.6)), [LimitKind::SendBuffer; 2]);
    assert!(limit(&waits(0.3, 0.3)).is_empty());
}

#[test]
fn operations_that_wait_for_late_acknowledgements_name_them() {
    let acks = |share: f64, busy: f64| {
        let mut run = with_response(with(move |r| cpu(r, "busy", busy)), 0.5, 100);
        for record in &mut run.records {
            let times = record.outcome.distributions[0].read().unwrap();
            let all = times.mean() * 1e-9 * times.len() as f64;
            read(record, ["tcp", "c01", "delayed_acks"], share * all / 0.04);
            read(record, ["tcp", "sut", "delayed_acks"], 0.0);
        }
        limit(&run)
    };
    assert_eq!(acks(0.9, 0.2), [LimitKind::DelayedAcks; 2]);
    assert_eq!(acks(0.9, 0.97), [LimitKind::AllCpus; 2], "an effect");
    for share in [0.0, 0.4, 1.5] {
        assert_eq!(acks(share, 0.2), [LimitKind::NoneSeen; 2], "{share}");
    }
}

#[test]
fn connections_that_wait_to_be_accepted_name_the_workers_unless_something_is_full() {
    let queue = |share: f64, busy: f64| {
        limit(&with(move |r| {
            cpu(r, "busy", busy);
            read(r, ["accept", "sut", "queue"], share);
        }))
    };
    assert_eq!(queue(0.49, 0.2), [LimitKind::Workers; 2]);
    assert_eq!(queue(0.49, 0.97), [LimitKind::AllCpus; 2], "they wait for what is full");
    assert_eq!(queue(0.02, 0.2), [LimitKind::NoneSeen; 2], "those which came just then");
}

/// One flow that is busy for a second, and so long of it held back by the peer's window and by its
/// own buffer, seconds.
fn waiting([window, buffer]: [f64; 2]) -> Flows {
    let columns = [
        (RECEIVED, Unit::Byte),
        (BUSY, Unit::Second),
        (RECEIVE_WINDOW, Unit::Second),
        (SEND_BUFFER, Unit::Second),
    ];
    let figures = [1e6, 1.0, window, buffer].map(Some).to_vec();
    Flows::new(&columns, vec![Flow { figures, ..Flow::default() }])
}

#[test]
fn doubts_stand_in_the_order_of_their_weight() {
    let planted = Simulated { truth: |_| 1.5, noise: 0.05, blocks: 6, ..Simulated::default() };
    let mut run = planted.run();
    for record in &mut run.records {
        record.outcome.steady = record.trial.block != 4;
        cpu(record, "steal", 0.02);
    }
    for (id, record) in (0..).zip(&mut run.records) {
        record.trial.id = id;
    }
    break_trial(&mut run, 5, "onboard", 1024);
    run.completeness = Completeness::Partial { why: "time ran out".into() };
    run.environment_mut().cpu.hypervisor = Some("kvm".into());
    run.environment_mut().lab = Some((LabKind::RootNamespaces, String::new()));
    let caveats = analyse(&run).caveats;
    let [
        Caveat::NoiseFloor { ratio },
        Caveat::Partial { .. },
        Caveat::Faults { .. },
        Caveat::FewBlocks { blocks, smallest },
        Caveat::NotSteady { trials, of },
        Caveat::Steal { share },
        Caveat::OneMachine,
        Caveat::VirtualLinks,
        Caveat::Guest { .. },
    ] = &caveats[..]
    else {
        panic!("{caveats:?}")
    };
    assert!(ratio.low.value > 1.0);
    assert_eq!((trials.value, of.value, blocks.value), (2.0, 11.0, 5.0));
    assert!((share.centre.value - 0.02).abs() < 1e-12);
    assert!(smallest.centre.value > 1.03, "{smallest:?}");
    // Another visit makes the trial good.
    let broken = run.records.iter().find(|r| r.outcome.fault.is_some()).unwrap();
    let mut again = broken.clone();
    (again.outcome.fault, again.attempt) = (None, 2);
    run.records.push(again);
    let mended = analyse(&run).caveats;
    assert!(matches!(mended.last(), Some(Caveat::Faults { .. })), "{mended:?}");
}

#[test]
fn a_quiet_run_on_real_machines_leaves_no_doubt() {
    let quiet = Simulated { noise: 0.001, ..Simulated::default() };
    assert!(analyse(&quiet.run()).caveats.is_empty());
    let mut loopback = quiet.run();
    loopback.environment_mut().lab = Some((LabKind::Loopback, "no namespaces".into()));
    let why = String::from("no namespaces");
    assert_eq!(analyse(&loopback).caveats, [Caveat::Loopback { why }, Caveat::OneMachine]);
}
