//! Loads that go by different metrics: each by its own, and nothing mixes them.

use super::*;
use crate::verdict::{FailIf, GateOutcome, Wanted, compare_runs, enough, gate, gated, visits};

fn both() -> Run {
    let planted = Simulated { truth: |_| 1.3, noise: 0.002, blocks: 8, ..Simulated::default() };
    let mut run = planted.with_latency();
    run.plan.lab.links[1].settings.insert("tso".into(), word("off"));
    run
}

#[test]
fn each_load_is_judged_by_its_own_metric_and_its_own_way_of_better() {
    let found = analyse(&both());
    let told: Vec<(&str, &str, Verdict, Unit)> = found
        .comparisons
        .iter()
        .map(|c| (c.load.as_str(), c.metric.as_str(), c.verdict, c.points[0].base.centre.unit))
        .collect();
    assert_eq!(
        told,
        [
            ("net", "throughput", Verdict::Better, Unit::BitPerSecond),
            ("reach", "latency", Verdict::Worse, Unit::Second)
        ]
    );
    assert!(found.indexes.is_empty(), "a rate and a time have no common index");
    assert!(found.limits.iter().chain(found.point_limits.iter().map(|p| &p.limit)).count() == 0);
    assert_eq!(found.advice.len(), 1, "a load of the machine alone advises nobody: {found:?}");
    assert_eq!(found.advice[0].comparison, found.comparisons[0].id);
}

#[test]
fn a_load_of_the_machine_alone_has_neither_cost_nor_limit_although_its_cpu_is_full() {
    let mut run = both();
    for record in &mut run.records {
        for (key, value) in [("busy", 1.0), ("cpus", 1.0), ("busy.cpu0", 1.0), ("steal", 0.0)] {
            record.readings.push(Reading {
                probe: "cpu".into(),
                host: "machine".into(),
                key: key.into(),
                quantity: Quantity::new(value, Unit::Share),
            });
        }
    }
    let found = analyse(&run);
    let of = |id: &str| found.comparisons.iter().find(|c| c.id == id).unwrap().load.as_str();
    assert!(!found.limits.is_empty() && !found.costs.is_empty());
    assert!(found.limits.iter().all(|l| of(&l.comparison) == "net"), "{:?}", found.limits);
    assert!(found.costs.iter().all(|c| of(&c.comparison) == "net"));
}

#[test]
fn loads_of_one_workload_and_metric_still_make_an_index() {
    let mut run = both();
    let mut third = run.plan.loads[1].clone();
    third.name = "far".into();
    run.plan.loads.push(third);
    let far = |r: &TrialRecord| {
        let mut record = r.clone();
        record.trial.point.load = "far".into();
        record
    };
    let more: Vec<TrialRecord> =
        run.records.iter().filter(|r| r.trial.point.load == "reach").map(far).collect();
    run.records.extend(more);
    let found = analyse(&run);
    let [index] = &found.indexes[..] else { panic!("{:?}", found.indexes) };
    assert_eq!((index.metric.as_str(), index.over.len()), ("latency", 2));
    assert_eq!(index.verdict, Verdict::Worse);
}

#[test]
fn looks_visits_gates_and_sessions_follow_the_metric_of_the_load() {
    let run = both();
    assert!(enough(&run, 8));
    assert!(visits(&run).iter().all(|visit| visit.ratio.is_some()));
    let judged = gated(&run, Some("latency")).unwrap();
    let told = gate(&judged, &analyse(&judged), FailIf::Worse, Some("latency"));
    assert_eq!((told.checks.len(), told.outcome), (1, GateOutcome::Failed), "{told:?}");
    let sessions = compare_runs(&run, &run, Wanted::default()).unwrap();
    let metrics: Vec<&str> = sessions.comparisons.iter().map(|c| c.metric.as_str()).collect();
    assert_eq!(metrics, ["throughput", "throughput", "latency", "latency"]);
}

#[test]
fn a_record_from_before_loads_had_metrics_is_read_as_ever() {
    let run = Simulated::default().run();
    let text = serde_json::to_string(&run).unwrap();
    assert!(!text.contains("\"alone\"") && !text.contains("\"primary\":null"));
    let read: Run = serde_json::from_str(&text).unwrap();
    assert_eq!(read, run);
    assert_eq!(read.plan.primary("net"), "throughput");
    assert!(!read.plan.is_alone() && both().plan.runs_alone("reach"));
}
