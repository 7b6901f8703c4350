//! What each kind of reader is told.

use super::{change, close, machine, read};
use crate::record::{MetricRole, Run, TrialRecord, Value};
use crate::unit::{Quantity, Unit};
use crate::verdict::simulated::{Cell, Simulated, with_response};
use crate::verdict::{Advice, Reader, Verdict, Withheld, analyse};

fn run(truth: fn(Cell) -> f64, busy: f64, change: impl Fn(&mut TrialRecord)) -> Run {
    let mut run = Simulated { truth, noise: 0.001, ..Simulated::default() }.run();
    // Links that differ, or the comparison is one of A with A.
    run.plan.lab.links[1].settings.insert("tso".into(), Value::Word("off".into()));
    for record in &mut run.records {
        machine(record, if super::judged(record) { busy } else { 0.5 });
        change(record);
    }
    run
}

fn told(run: &Run) -> [Advice; 2] {
    let [peak, other] = analyse(run).advice.try_into().unwrap();
    let (peak, other): (Advice, Advice) = (peak, other);
    assert_eq!((peak.reader, other.reader), (Reader::PeakThroughput, Reader::OtherWork));
    [peak, other]
}

#[test]
fn readers_part_where_speed_and_cost_do() {
    let [peak, other] = told(&run(|_| 1.0, 0.4, |_| ()));
    assert_eq!((peak.choice, peak.verdict), (None, Verdict::Equivalent));
    assert_eq!((other.choice.as_deref(), other.metric.as_str()), (Some("pro1000"), "cpu_per_gb"));
    close(other.effect.centre.value, 0.8, 0.01);
    let [_, dearer] = told(&run(|_| 1.0, 0.6, |_| ()));
    assert_eq!(dearer.choice.as_deref(), Some("onboard"));
}

#[test]
fn a_cost_that_is_withheld_chooses_nothing_and_says_why() {
    let [peak, other] = told(&run(|_| 1.2, 0.4, |_| ()));
    assert_eq!((peak.choice.as_deref(), peak.withheld), (Some("pro1000"), None));
    assert_eq!((other.choice, other.verdict), (None, Verdict::Undecided { more_blocks: None }));
    assert!(matches!(other.withheld, Some(Withheld::UnequalAtSaturation { .. })));
    let [slower, _] = told(&run(|_| 0.8, 0.4, |_| ()));
    assert_eq!(slower.choice.as_deref(), Some("onboard"));
}

#[test]
fn displaced_work_goes_before_accounted_time_and_does_not_fall_with_it() {
    let soaked = run(
        |_| 1.0,
        0.4,
        |record| {
            let displaced = if super::judged(record) { 1.3 } else { 1.0 };
            read(record, ["soaker", "machine", "displaced"], displaced);
            change(record, ["process", "sut", "cpu"], -0.4);
        },
    );
    let [_, other] = told(&soaked);
    assert_eq!((other.choice.as_deref(), other.metric.as_str()), (Some("onboard"), "displaced"));
    assert_eq!(other.withheld, None);
}

fn offer(record: &mut TrialRecord) {
    let rate = Value::Quantity(Quantity::new(0.9e9, Unit::BitPerSecond));
    record.trial.point.params.insert("offered_load".into(), rate);
}

/// A run with the load `net` at full speed, where the judged level is faster, and `paced`, where
/// it is cheaper.
fn both() -> Run {
    let mut both = run(|_| 1.2, 0.4, |_| ());
    let paced = run(|_| 1.0, 0.3, offer);
    let mut load = both.plan.loads[0].clone();
    load.name = "paced".into();
    let rate = paced.records[0].trial.point.params["offered_load"].clone();
    load.fixed.insert("offered_load".into(), rate);
    both.plan.loads.push(load);
    both.records.extend(paced.records.into_iter().map(|mut record| {
        record.trial.point.load = "paced".into();
        record
    }));
    both
}

#[test]
fn the_paced_load_tells_who_runs_other_work() {
    let [peak, other] = told(&both());
    assert_eq!(
        (peak.comparison.as_str(), peak.choice.as_deref()),
        ("path-pro1000-net-offload-on-transmit", Some("pro1000"))
    );
    assert_eq!(
        (other.comparison.as_str(), other.choice.as_deref()),
        ("path-pro1000-paced-offload-on-transmit", Some("pro1000"))
    );
    close(other.effect.centre.value, 0.6, 0.01);
    assert_eq!(other.withheld, None);
}

#[test]
fn a_paced_load_of_another_kind_does_not_speak_for_the_full_one() {
    let mut run = both();
    run.plan.loads[1].fixed.insert("streams".into(), Value::Count(9));
    let advice = analyse(&run).advice;
    let of = |load: &str| advice.iter().filter(|a| a.comparison.contains(load)).count();
    assert_eq!((of("-net-"), of("-paced-")), (2, 1));
}

#[test]
fn with_an_equal_load_an_idle_cpu_is_no_objection() {
    let idle = run(|_| 1.0, 0.03, offer);
    let advice = analyse(&idle).advice;
    // The parameter alone, without the plan's word for it, leaves the load at full speed.
    let other = advice.iter().find(|a| a.reader == Reader::OtherWork).unwrap();
    assert_eq!((other.choice.as_deref(), &other.withheld), (Some("pro1000"), &None));
    let full = run(|_| 1.0, 0.03, |_| ());
    let [_, other] = told(&full);
    assert!(matches!(other.withheld, Some(Withheld::LowCpu { .. })));
}

#[test]
fn a_against_a_and_a_run_without_readings_advise_nobody_on_costs() {
    assert!(analyse(&Simulated::default().run()).advice.is_empty());
    let mut bare = run(|_| 1.2, 0.4, |_| ());
    bare.records.iter_mut().for_each(|r| r.readings.clear());
    let advice = analyse(&bare).advice;
    assert_eq!(advice.len(), 1);
    assert_eq!(advice[0].reader, Reader::PeakThroughput);
}

#[test]
fn who_wants_the_lowest_latency_is_told_by_a_latency_and_by_nothing_else() {
    let mut run = with_response(run(|_| 1.2, 0.4, |_| ()), 0.5, 1_000);
    let [advice] = analyse(&run).advice.try_into().unwrap();
    let advice: Advice = advice;
    assert_eq!((advice.reader, advice.choice.as_deref()), (Reader::Latency, Some("onboard")));
    run.metrics[0].role = MetricRole::Count;
    assert!(analyse(&run).advice.is_empty());
}
