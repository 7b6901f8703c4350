//! A generator that is hardly faster than what it measures, and plans held against RFC 2544.

use super::*;
use crate::record::{
    Derivation, DeriveSpec, Metric, MetricRole, ParamRole, Sample, SearchKind, SearchLimit,
    SearchPlan, Value,
};
use crate::verdict::rfc2544::{Rfc2544, RfcTest, departures};
use crate::verdict::{
    FailIf, GateOutcome, GateReason, Wanted, Withheld, compare_runs, gate, headrooms,
};

const TWO: [u64; 2] = [64, 1518];

/// The second level is 1.5 times as fast; its generator reaches so many times its figure at each
/// size, and ten times that of the baseline.
fn with_headroom(times: [f64; 2]) -> Run {
    let mut run = Simulated { truth: |_| 1.5, sizes: TWO.to_vec(), ..Simulated::default() }.run();
    let derive = DeriveSpec::of(Derivation::Headroom, "headroom").stored();
    run.plan.loads.iter_mut().for_each(|load| load.derives.push(derive.clone()));
    run.metrics.push(Metric {
        name: "headroom".into(),
        title: "headroom".into(),
        role: MetricRole::Count,
        unit: Unit::Ratio,
        better: Better::Higher,
        quantile: None,
        workload: None,
    });
    for record in &mut run.records {
        let other = record.trial.treatment.levels["path"] == "pro1000";
        let small = record.trial.point.params.values().any(|value| *value == size(TWO[0]));
        let value = if other { times[usize::from(!small)] } else { 10.0 };
        let quantity = Quantity::new(value, Unit::Ratio);
        record.outcome.samples.push(Sample { metric: "headroom".into(), quantity });
    }
    run
}

#[test]
fn a_point_whose_generator_has_too_little_headroom_has_figures_and_no_verdict() {
    let run = with_headroom([4.9, 5.1]);
    let found = analyse(&run);
    let comparison = only(&found);
    let verdicts: Vec<Verdict> = comparison.points.iter().map(|p| p.verdict).collect();
    assert_eq!(verdicts, [Verdict::NoHeadroom, Verdict::Better]);
    assert_eq!(comparison.verdict, Verdict::Better, "of the point that is left");
    assert!((comparison.points[0].ratio.centre.value / 1.5 - 1.0).abs() < 0.1, "shown");
    let tables = headrooms(&run);
    let [table] = tables.as_slice() else { panic!("{tables:?}") };
    let cell = table.rows[0].1[1][0].as_ref().unwrap();
    assert!((cell.centre.value - 4.9).abs() < 1e-9, "{cell:?}");
}

#[test]
fn without_headroom_anywhere_there_is_no_verdict_no_advice_and_no_gate() {
    let mut run = with_headroom([1.4, 2.0]);
    run.records.iter_mut().for_each(|record| machine(record, 0.5));
    let found = analyse(&run);
    assert_eq!(only(&found).verdict, Verdict::NoHeadroom);
    assert!(found.advice.is_empty(), "{:?}", found.advice);
    let why: Vec<_> = found.costs.iter().map(|cost| cost.withheld_overall.as_ref()).collect();
    assert_eq!(why, [Some(&Withheld::NoHeadroom)]);
    let told = gate(&run, &found, FailIf::Worse, None);
    assert_eq!(told.outcome, GateOutcome::Inconclusive);
    assert_eq!(told.checks[0].why, GateReason::NoHeadroom);
    let mut later = run.clone();
    later.id = "later".into();
    let twice = compare_runs(&run, &later, Wanted::default()).unwrap();
    let of = |level: &str| {
        let mut all = twice.comparisons.iter().filter(|c| c.id.contains(level));
        all.next().map(|c| c.verdict)
    };
    assert_eq!(of("pro1000"), Some(Verdict::NoHeadroom), "{:?}", twice.comparisons);
    assert_ne!(of("onboard"), Some(Verdict::NoHeadroom));
}

#[test]
fn a_plan_departs_from_the_sections_that_it_does_not_follow() {
    let mut run = with_headroom([9.0, 9.0]);
    assert_eq!(departures(&run.plan), None, "not asked for");
    let asks = DeriveSpec::of(Derivation::Rfc2544, "").stored();
    let mut swept = run.plan.loads[0].over.iter();
    let name = swept.find(|(_, all)| all.contains(&size(TWO[0]))).unwrap().0.clone();
    let load = &mut run.plan.loads[0];
    load.derives.push(asks);
    load.roles.insert(ParamRole::Size, name);
    let found = departures(&run.plan).unwrap();
    assert!(found.sections.contains(&Rfc2544::FrameSizes), "{found:?}");
    let lacking: Vec<f64> = found.sizes.iter().map(|size| size.value).collect();
    assert_eq!(lacking, [128.0, 256.0, 512.0, 1024.0, 1280.0]);
    assert!(found.sections.contains(&Rfc2544::Duration));
    assert!(found.tests.contains(&RfcTest::Throughput) && found.tests.len() == 5);
    assert!(!found.sections.contains(&Rfc2544::Search), "{found:?}");
    assert_eq!(found.targets, 1, "nothing is said");
    let load = &mut run.plan.loads[0];
    load.roles.insert(ParamRole::Targets, "addresses".into());
    load.over.push(("addresses".into(), vec![Value::Count(7), Value::Count(300)]));
    assert_eq!(departures(&run.plan).unwrap().targets, 300);
    run.plan.loads[0].over.pop();
    // A plan that follows what it can.
    run.plan.method.window = Quantity::seconds(60.0);
    let load = &mut run.plan.loads[0];
    load.roles.insert(ParamRole::Offered, "rate".into());
    load.search = Some(SearchPlan {
        kind: SearchKind::Bisect,
        over: "rate".into(),
        metric: "loss".into(),
        quantile: None,
        from: size(1),
        to: size(9),
        limit: Some(SearchLimit {
            at: Quantity::new(0.0, Unit::Share),
            better: Better::Lower,
            of_load: false,
            resolution: Quantity::new(0.01, Unit::Share),
        }),
        goals: Vec::new(),
        shares: Vec::new(),
        steps: 9,
    });
    let found = departures(&run.plan).unwrap();
    assert!(!found.sections.contains(&Rfc2544::Duration), "{found:?}");
    assert!(!found.tests.contains(&RfcTest::Throughput));
    let search = run.plan.loads[0].search.as_mut().unwrap();
    search.kind = SearchKind::Mlr;
    assert!(departures(&run.plan).unwrap().sections.contains(&Rfc2544::Search));
}
