//! Published claims beside runs of which the truth is known.

use super::{close, machine};
use crate::record::{
    Better, Derivation, DeriveSpec, FactorPlan, LabKind, Level, LoadPlan, Metric, MetricRole,
    ParamRole, Run, Settings, TrialRecord, Value,
};
use crate::unit::{Quantity, Unit};
use crate::verdict::simulated::{Simulated, size, word};
use crate::verdict::{
    ClaimCheck, ClaimFigure, ClaimNeed, LevelTable, Sides, Standing, Wanted, analyse, compare_runs,
    compare_sessions, line_shares, own_counts,
};

const CURVE: [u64; 7] = [512, 1024, 2048, 4096, 8192, 16384, 32768];

fn direction(record: &TrialRecord) -> &str {
    record.trial.point.params["direction"].word().unwrap()
}

/// Throughput as in test 000: it rises up to a size, and duplex is 0.6 of the sum; receive needs
/// half of the CPU.
fn published(bend: u64) -> Run {
    let directions = vec!["transmit", "receive", "duplex"];
    let sizes = CURVE.to_vec();
    let mut run = Simulated { directions, sizes, noise: 0.001, ..Simulated::default() }.run();
    run.plan.published = Some("000".into());
    for record in &mut run.records {
        let at = record.trial.point.params["size"].quantity().unwrap().value;
        let share = (at / size(bend).quantity().unwrap().value).min(1.0);
        let directions = if direction(record) == "duplex" { 1.2 } else { 1.0 };
        record.outcome.samples[0].quantity.value *= share * directions;
        let busy = if direction(record) == "receive" { 0.3 } else { 0.6 };
        machine(record, busy);
    }
    run
}

fn claim(run: &Run, id: &str) -> Standing {
    let all: Vec<ClaimCheck> = analyse(run).claims;
    all.into_iter().find(|check| check.id == id).unwrap().standing
}

fn missing(run: &Run, id: &str) -> Option<ClaimNeed> {
    match claim(run, id) {
        Standing::NotMeasured { missing } => Some(missing),
        Standing::Compared { .. } | Standing::PerCopy { .. } => None,
    }
}

#[test]
fn every_claim_of_the_source_stands_there_in_its_order() {
    let checks = analyse(&published(8192)).claims;
    let ids: Vec<&str> = checks.iter().map(|c| c.id.as_str()).collect();
    assert_eq!((ids.len(), ids[0], ids[11]), (12, "000-1", "000-12"));
    assert_eq!(checks[0].magnitude, "899 Mbit/s at best");
    let mut silent = published(8192);
    silent.plan.published = None;
    assert!(analyse(&silent).claims.is_empty());
    silent.plan.published = Some("002".into());
    assert_eq!(analyse(&silent).claims.len(), 3);
    assert_eq!(missing(&silent, "002-3"), Some(ClaimNeed::Load));
}

#[test]
fn a_knee_is_at_the_same_place_within_one_step() {
    // With the bend at 8 KB the first value within 5 % is at 8 KB; 32 KB is two steps away.
    for (bend, place, shape) in [
        (8192, Some(true), true),
        (4096, Some(true), true),
        (16384, Some(true), true),
        (2048, Some(false), true),
    ] {
        let Standing::Compared { shape: ours, knee, sign, knee_at, ours: figures } =
            claim(&published(bend), "000-1")
        else {
            panic!("{bend}")
        };
        assert_eq!((ours, knee, sign), (Some(shape), place, None), "{bend}");
        assert_eq!(knee_at, Some(size(bend)));
        assert_eq!(figures[0].0, ClaimFigure::Highest);
        close(figures[0].1.centre.value, 1e9, 0.05);
    }
    let rising = claim(&published(65_536), "000-1");
    let Standing::Compared { shape, knee, knee_at, .. } = rising else { panic!() };
    assert_eq!((shape, knee, knee_at), (Some(false), Some(false), None));
}

// By hand: 0.3 / 0.6 = 0.5 of the CPU; 1.2 / (1 + 1) = 0.6 of the sum.
#[test]
fn directions_are_compared_within_blocks_of_the_same_treatment() {
    let run = published(8192);
    for (id, figure, ratio) in
        [("000-2", ClaimFigure::CpuRatio, 0.5), ("000-3", ClaimFigure::ThroughputRatio, 0.6)]
    {
        let Standing::Compared { sign, ours, .. } = claim(&run, id) else { panic!("{id}") };
        assert_eq!((sign, ours[0].0), (Some(true), figure));
        close(ours[0].1.centre.value, ratio, 0.01);
        assert_eq!(ours[0].1.n, 5);
    }
    let mut alike = published(8192);
    alike.records.iter_mut().filter(|r| direction(r) == "receive").for_each(|r| {
        let wobble = if r.trial.block % 2 == 0 { 0.31 } else { 0.29 };
        super::change(r, ["cpu", "machine", "busy"], wobble);
    });
    let Standing::Compared { sign, .. } = claim(&alike, "000-2") else { panic!() };
    assert_eq!(sign, None, "undecided has no sign");
    let mut wide = published(8192);
    wide.records.iter_mut().filter(|r| direction(r) == "duplex").for_each(|r| {
        r.outcome.samples[0].quantity.value *= 2.0;
    });
    let Standing::Compared { sign, .. } = claim(&wide, "000-3") else { panic!() };
    assert_eq!(sign, Some(false));
}

#[test]
fn what_the_run_lacks_is_named() {
    let run = published(8192);
    for (id, need) in [
        ("000-4", ClaimNeed::Smt),
        ("000-8", ClaimNeed::Smt),
        ("000-9", ClaimNeed::FileServer),
        ("000-10", ClaimNeed::Smt),
        ("000-11", ClaimNeed::Adapters),
        ("000-12", ClaimNeed::Verdicts),
    ] {
        assert_eq!(missing(&run, id), Some(need), "{id}");
    }
    let mut shared = run.clone();
    shared.environment_mut().lab = Some((LabKind::Loopback, String::new()));
    assert_eq!(missing(&shared, "000-2"), Some(ClaimNeed::Server));
    let mut one_way = run;
    one_way.records.retain(|r| direction(r) == "transmit");
    assert_eq!(missing(&one_way, "000-1"), None);
    assert_eq!(missing(&one_way, "000-2"), Some(ClaimNeed::Load));
    assert_eq!(missing(&one_way, "000-3"), Some(ClaimNeed::Load));
}

/// The published run with the second factor switching multithreading: off gives these ratios to
/// the throughput at small sizes, and 1.1 at large ones.
fn smt(small: f64) -> Run {
    let offloads = vec!["on", "off"];
    let directions = vec!["transmit", "receive", "duplex"];
    let sizes = CURVE.to_vec();
    let mut run =
        Simulated { directions, sizes, offloads, noise: 0.001, ..Simulated::default() }.run();
    run.plan.published = Some("000".into());
    let level = |word_: &str| Level {
        name: word_.into(),
        settings: [("smt".to_string(), word(word_))].into(),
    };
    run.plan.factors[1] = FactorPlan::new("offload", vec![level("on"), level("off")]);
    for record in &mut run.records {
        let at = record.trial.point.params["size"].quantity().unwrap().value;
        if record.trial.treatment.levels["offload"] == "off" {
            let ratio = if at < 8192.0 { small } else { 1.1 };
            record.outcome.samples[0].quantity.value *= ratio;
        }
    }
    run
}

#[test]
fn multithreading_is_compared_by_sign_where_a_plan_switches_it() {
    let sign = |run: &Run, id: &str| match claim(run, id) {
        Standing::Compared { sign, .. } => sign,
        Standing::PerCopy { .. } | Standing::NotMeasured { .. } => panic!("{id} was measured"),
    };
    let lower = smt(0.9);
    assert_eq!(sign(&lower, "000-4"), Some(false), "receive was to be higher");
    assert_eq!(sign(&lower, "000-5"), Some(true), "lower below, higher above");
    let higher = smt(1.2);
    assert_eq!((sign(&higher, "000-4"), sign(&higher, "000-5")), (Some(true), Some(false)));
    assert_eq!(sign(&higher, "000-6"), Some(true));
    assert_eq!(missing(&higher, "000-7"), Some(ClaimNeed::Load), "no CPU was read");
}

// Four streams come first in the records and carry nine times as much in duplex alone.
#[test]
fn what_is_swept_besides_stays_at_its_first_value() {
    let mut run = published(8192);
    run.plan.loads[0].over.push(("streams".into(), vec![Value::Count(1), Value::Count(4)]));
    let mut four = run.records.clone();
    for (records, streams) in [(&mut run.records, 1), (&mut four, 4)] {
        for record in records {
            record.trial.point.params.insert("streams".into(), Value::Count(streams));
        }
    }
    four.iter_mut().filter(|r| direction(r) == "duplex").for_each(|r| {
        r.outcome.samples[0].quantity.value *= 9.0;
    });
    four.append(&mut run.records);
    run.records = four;
    let Standing::Compared { ours, .. } = claim(&run, "000-3") else { panic!() };
    close(ours[0].1.centre.value, 0.6, 0.01);
}

/// A run at one level of the snoop filter: copies of memory by these algorithms, each with its
/// bandwidth beside that of the others, GB/s.
fn copies(level: &str, seed: u64, algorithms: &[(&str, f64)]) -> Run {
    let mut run = Simulated { seed, noise: 1e-4, ..Simulated::default() }.only_measuring();
    let settings: Settings = [("snoop_filter".to_owned(), word(level))].into();
    let only = Level { name: level.into(), settings: settings.clone() };
    let factor = FactorPlan::new("snoop_filter", vec![only]);
    run.plan.factors = vec![FactorPlan { manual: true, ..factor }];
    let words = algorithms.iter().map(|(name, _)| word(name)).collect();
    run.plan.loads = vec![LoadPlan {
        name: "copy_memory".into(),
        workload: "mem_copy".into(),
        fixed: [("size".to_owned(), word("memory"))].into(),
        over: vec![("algorithm".into(), words)],
        primary: None,
        roles: [(ParamRole::WorkingSet, "size"), (ParamRole::Algorithm, "algorithm")]
            .map(|(role, name)| (role, name.to_owned()))
            .into(),
        derives: vec![DeriveSpec::along(Derivation::Ways, "algorithm").stored()],
        search: None,
        alone: true,
    }];
    run.plan.published = Some("003".into());
    run.plan.method.primary = "bandwidth".into();
    run.plan.method.compare = String::new();
    run.metrics = vec![Metric {
        name: "bandwidth".into(),
        title: "bandwidth".into(),
        role: MetricRole::Rate,
        quantile: None,
        unit: Unit::BytePerSecond,
        better: Better::Higher,
        workload: None,
    }];
    run.workloads = [("mem_copy".to_owned(), 1)].into();
    let mut records = Vec::new();
    for record in &run.records {
        for (at, (name, rate)) in (0..).zip(algorithms) {
            let mut record = record.clone();
            record.trial.point_index = at;
            record.trial.point.load = "copy_memory".into();
            record.trial.point.workload = "mem_copy".into();
            record.trial.point.params =
                [("algorithm", word(name)), ("size", word("memory"))].map(owned).into();
            record.trial.treatment.levels.insert("snoop_filter".into(), level.into());
            record.trial.settings = settings.clone();
            let sample = &mut record.outcome.samples[0];
            sample.metric = "bandwidth".into();
            sample.quantity = Quantity::new(sample.quantity.value * rate, Unit::BytePerSecond);
            records.push(record);
        }
    }
    run.records = records;
    run
}

fn owned((name, value): (&str, Value)) -> (String, Value) {
    (name.into(), value)
}

/// Wide copies by one way and plain copies by two.
fn both_kinds(level: &str, seed: u64, [wide, plain]: [f64; 2]) -> Run {
    copies(level, seed, &[("sse_nt", wide), ("registers", plain), ("rep_movsq", plain)])
}

fn of_two(a: &Run, b: &Run) -> Vec<ClaimCheck> {
    compare_runs(a, b, Wanted::default()).unwrap().claims
}

/// Five sessions a side, from these seeds on.
fn of_five(first: [(&str, u64, [f64; 2]); 2]) -> Vec<ClaimCheck> {
    let side = |(level, seed, rates): (&str, u64, [f64; 2])| -> Vec<Run> {
        (seed..seed + 5).map(|seed| both_kinds(level, seed, rates)).collect()
    };
    let [a, b] = first.map(side);
    let [a, b] = [&a, &b].map(|runs| runs.iter().collect::<Vec<&Run>>());
    let sides = Sides { a: &a, b: &b, others: &[] };
    compare_sessions(sides, Wanted::default()).unwrap().claims
}

// On gives 1.2 of what off gives to wide copies and 0.9 to plain ones, as published.
#[test]
fn a_feature_that_a_person_switches_is_judged_over_sessions() {
    let [off, on] = [("off", 1, [1.0, 1.0]), ("on", 11, [1.2, 0.9])];
    for sides in [[off, on], [on, off]] {
        let checks = of_five(sides);
        let ids: Vec<&str> = checks.iter().map(|check| check.id.as_str()).collect();
        assert_eq!(ids, ["003-1", "003-2"], "only what is about the feature");
        let load = Standing::NotMeasured { missing: ClaimNeed::Load };
        assert_eq!(checks[0].standing, load, "nothing loads memory");
        let Standing::Compared { sign, ours, .. } = &checks[1].standing else { panic!() };
        assert_eq!((*sign, ours.len(), ours[0].1.n), (Some(true), 2, 5));
        assert_eq!(ours[0].0, ClaimFigure::BandwidthRatio);
        close(ours[0].1.centre.value, 1.2, 0.005);
        close(ours[1].1.centre.value, 0.9, 0.005);
    }
    // One session a side shows the figures and no sign.
    let checks = of_two(&both_kinds("off", 1, [1.0, 1.0]), &both_kinds("on", 2, [2.0, 0.5]));
    let Standing::Compared { sign, ours, .. } = &checks[1].standing else { panic!() };
    assert_eq!((*sign, ours[0].1.n), (None, 1));
}

#[test]
fn a_feature_that_does_the_contrary_has_another_sign() {
    for (rates, expected) in [([0.9, 0.9], Some(false)), ([1.2, 1.1], Some(false))] {
        let checks = of_five([("off", 1, [1.0, 1.0]), ("on", 11, rates)]);
        let Standing::Compared { sign, .. } = &checks[1].standing else { panic!("{rates:?}") };
        assert_eq!(*sign, expected, "{rates:?}");
    }
}

#[test]
fn what_two_runs_lack_for_a_feature_is_named() {
    let wide = |level, seed| copies(level, seed, &[("sse_nt", 1.0)]);
    let (off, on) = (wide("off", 1), wide("on", 2));
    let load = Standing::NotMeasured { missing: ClaimNeed::Load };
    assert_eq!(of_two(&off, &on)[1].standing, load, "no plain copies");
    assert!(of_two(&off, &wide("off", 3)).is_empty(), "one level");
    let mut silent = on.clone();
    silent.plan.published = None;
    assert!(of_two(&off, &silent).is_empty(), "only one names the test");
    let mut other = on;
    other.version = "9.9".into();
    assert!(of_two(&off, &other).is_empty(), "not comparable");
}

#[test]
fn one_run_says_that_a_feature_needs_the_other_level() {
    let mut run = both_kinds("on", 1, [1.0, 1.0]);
    assert_eq!(missing(&run, "003-2"), Some(ClaimNeed::OtherLevel));
    assert_eq!(missing(&run, "003-1"), Some(ClaimNeed::Load), "nothing loads memory");
    run.plan.factors.clear();
    assert_eq!(missing(&run, "003-2"), Some(ClaimNeed::Feature));
}

/// A web server with these rates at so many connections, and files of 1 B.
fn served(rates: &[(u64, f64)]) -> Run {
    let sizes = rates.iter().map(|(count, _)| *count).collect();
    let directions = vec!["transmit"];
    let mut run = Simulated { directions, sizes, noise: 0.001, ..Simulated::default() }.run();
    run.plan.published = Some("004".into());
    run.plan.method.curve = Some("connections".into());
    let load = &mut run.plan.loads[0];
    load.roles = [
        (ParamRole::Concurrency, "connections".to_owned()),
        (ParamRole::Size, "response".to_owned()),
    ]
    .into();
    load.over =
        vec![("connections".into(), rates.iter().map(|(count, _)| Value::Count(*count)).collect())];
    load.fixed = Settings::from([("response".into(), size(1)), ("page".into(), word("file"))]);
    run.plan.method.primary = "requests".into();
    for record in &mut run.records {
        let params = &mut record.trial.point.params;
        let count = params.remove("size").and_then(|size| size.quantity()).unwrap().value;
        let (count, rate) = rates.iter().find(|(known, _)| *known as f64 == count).unwrap();
        params.insert("connections".into(), Value::Count(*count));
        params.insert("response".into(), size(1));
        record.outcome.samples[0].quantity.value *= rate;
        record.outcome.samples[0].metric = "requests".into();
    }
    run
}

#[test]
fn a_web_server_is_judged_by_its_connections() {
    let peak = served(&[(1, 0.4), (10, 0.7), (100, 1.0), (200, 0.9), (500, 0.5)]);
    let Standing::Compared { sign, ours, .. } = claim(&peak, "004-4") else { panic!() };
    assert_eq!((sign, ours.len(), ours[0].0), (Some(true), 2, ClaimFigure::RateRatio));
    close(ours[0].1.centre.value, 0.9, 0.005);
    let rises = served(&[(1, 0.4), (10, 0.7), (100, 0.8), (200, 0.9), (500, 1.0)]);
    let Standing::Compared { sign, .. } = claim(&rises, "004-4") else { panic!() };
    assert_eq!(sign, Some(false));
    let Standing::Compared { sign, ours, .. } = claim(&rises, "004-2") else { panic!() };
    assert_eq!((sign, ours.len()), (Some(true), 1), "files of 1 B alone");
    assert_eq!(missing(&served(&[(1, 0.4), (10, 0.7)]), "004-4"), Some(ClaimNeed::WebServer));
}

/// The run of test 000 as one of frames: another counts so much of what each trial counted, and the
/// second level gives so much of the first.
fn counted_twice(share: f64, second: f64) -> Run {
    let sizes = vec![64, 128, 256];
    let mut run = Simulated { sizes, noise: 0.0005, truth: |_| 1.0, ..Simulated::default() }.run();
    run.plan.published = Some("002".into());
    let derive = DeriveSpec::of(Derivation::OwnCount, "own").stored();
    for load in &mut run.plan.loads {
        load.derives.push(derive.clone());
    }
    for record in &mut run.records {
        let onboard = record.trial.treatment.levels.values().any(|level| level == "onboard");
        let sample = &mut record.outcome.samples[0];
        sample.quantity.value *= if onboard { 1.0 } else { second };
        let mut own = sample.clone();
        own.metric = "own".into();
        own.quantity.value *= share;
        record.outcome.samples.push(own);
    }
    run
}

#[test]
fn two_counts_of_the_same_work_are_equal_within_the_margin_or_not() {
    let sign = |run: &Run, id: &str| match claim(run, id) {
        Standing::Compared { sign, .. } => sign,
        other => panic!("{other:?}"),
    };
    assert_eq!(sign(&counted_twice(0.999, 0.9), "002-3"), Some(true));
    assert_eq!(sign(&counted_twice(0.9, 0.9), "002-3"), Some(false));
    assert_eq!(sign(&counted_twice(1.0, 0.9), "002-2"), Some(true), "services take some");
    assert_eq!(sign(&counted_twice(1.0, 1.1), "002-2"), Some(false));
    assert_eq!(missing(&counted_twice(1.0, 1.0), "002-1"), Some(ClaimNeed::Adapters));
    let found = own_counts(&counted_twice(0.97, 0.5));
    let [one] = found.as_slice() else { panic!("{found:?}") };
    let LevelTable { levels, rows, .. } = &one.table;
    assert_eq!((levels.len(), rows.len()), (2, 3));
    close(one.farthest.value, 0.03, 0.001);
    let [first, second] = rows[1].1.as_slice() else { panic!("{:?}", rows[1]) };
    let centre = |of: &Option<crate::stats::Estimate>| of.as_ref().unwrap().centre.value;
    close(centre(&second[0]) / centre(&first[0]), 0.5, 0.02);
    close(centre(&second[1]) / centre(&second[0]), 0.97, 0.001);
}

#[test]
fn shares_of_a_declared_line_are_told_by_level_and_only_where_there_are_any() {
    let mut run = counted_twice(1.0, 0.5);
    assert!(line_shares(&run).is_empty(), "not asked for");
    let asked = DeriveSpec::of(Derivation::LineShare, "share").stored();
    run.plan.loads.iter_mut().for_each(|load| load.derives.push(asked.clone()));
    assert!(line_shares(&run).is_empty(), "no line is declared");
    for record in &mut run.records {
        let mut share = record.outcome.samples[0].clone();
        (share.metric, share.quantity.value) = ("share".into(), share.quantity.value / 1e12);
        record.outcome.samples.push(share);
    }
    let found = line_shares(&run);
    let [one] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((one.levels.len(), one.rows.len()), (2, 3));
    for (_, groups) in &one.rows {
        let [[Some(first)], [Some(second)]] = [&groups[0][..], &groups[1][..]] else { panic!() };
        close(second.centre.value / first.centre.value, 0.5, 0.02);
    }
}
