//! Which events make a trial invalid, and what does not.

use super::{STEAL_MOST, grade};
use crate::record::{
    Fault, Flow, Flows, ParamRole, Plan, Reading, SteadyRule, TrialKind, TrialRecord, Value,
};
use crate::unit::{Quantity, Unit};
use crate::verdict::simulated::Simulated;

/// A plan that requires a steady rate, and a valid trial of it.
fn trial() -> (Plan, TrialRecord) {
    let run = Simulated::default().run();
    let mut plan = run.plan.clone();
    plan.method.steady = SteadyRule::Required;
    let counted = run.records.into_iter().find(|r| r.trial.kind == TrialKind::Counted);
    (plan, counted.unwrap())
}

/// The fault of a trial with these readings: probe, host, key, value.
fn with(readings: &[(&str, &str, &str, f64, Unit)]) -> Option<Fault> {
    let (plan, mut record) = trial();
    for (probe, host, key, value, unit) in readings {
        record.readings.push(Reading {
            probe: (*probe).into(),
            host: (*host).into(),
            key: (*key).into(),
            quantity: Quantity::new(*value, *unit),
        });
    }
    grade(&plan, &record)
}

#[test]
fn a_quiet_trial_is_valid_whatever_its_value() {
    let (plan, mut record) = trial();
    assert_eq!(grade(&plan, &record), None);
    for sample in &mut record.outcome.samples {
        sample.quantity.value *= 1e-6;
    }
    assert_eq!(grade(&plan, &record), None);
}

#[test]
fn theft_is_an_event_above_five_per_cent() {
    let stolen = |share| with(&[("cpu", "machine", "steal", share, Unit::Share)]);
    assert_eq!(stolen(STEAL_MOST), None);
    match stolen(0.051) {
        Some(Fault::Steal { share }) => assert_eq!(share.value, 0.051),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_frame_of_several_packets_at_the_relay_is_an_event_by_its_host() {
    let long = |count| with(&[("relay", "wan", "long.near", count, Unit::Count)]);
    assert_eq!(long(0.0), None);
    match long(2.0) {
        Some(Fault::Disturbed { host, what }) => {
            assert_eq!(host, "wan");
            assert!(what.contains("longer than a packet"), "{what}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_relay_that_stood_still_beside_a_free_cpu_is_an_event() {
    let relay = |missed: f64, [works, busy, quota]: [f64; 3]| {
        with(&[
            ("relay", "wan", "received.near", 970.0, Unit::Count),
            ("relay", "wan", "dropped.near", 30.0, Unit::Count),
            ("relay", "wan", "missed.near", missed, Unit::Count),
            ("relay", "wan", "waiting", 0.1, Unit::Cpu),
            ("process", "wan", "cpu", 0.1 + works, Unit::Cpu),
            ("cpu", "machine", "busy", busy, Unit::Share),
            ("quota", "wan", "use", quota, Unit::Share),
        ])
    };
    match relay(30.0, [0.07, 0.07, 0.1]) {
        Some(Fault::Disturbed { host, what }) => {
            assert_eq!(host, "wan");
            assert!(what.contains("missed or delayed 3 % of its frames"), "{what}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(relay(0.0, [0.07, 0.07, 0.1]), None, "its memory or the kernel, which comes again");
    assert_eq!(relay(30.0, [0.07, 0.07, 0.98]), None, "its quota held it");
    assert_eq!(relay(30.0, [0.9, 0.5, 0.1]), None, "it worked all the time");
    assert_eq!(relay(30.0, [0.07, 0.95, 0.1]), None, "no CPU was free");
    let elsewhere = with(&[
        ("relay", "wan", "received.near", 970.0, Unit::Count),
        ("relay", "wan", "missed.near", 30.0, Unit::Count),
        ("process", "wan", "cpu", 0.1, Unit::Cpu),
        ("cpu", "machine", "busy", 0.95, Unit::Share),
        ("cpu", "wan", "busy", 0.1, Unit::Share),
    ]);
    assert!(elsewhere.is_some(), "its own machine had a CPU free");
}

#[test]
fn a_load_off_its_pace_beside_other_programs_is_disturbed() {
    let of = |carried: f64, others: f64, paced: bool| {
        let (mut plan, mut record) = trial();
        let rate = record.outcome.samples[0].quantity.value;
        let load = &mut plan.loads[0];
        load.roles.insert(ParamRole::Offered, "offered_load".into());
        if paced {
            let offered = Quantity::new(rate / carried, Unit::BitPerSecond);
            record.trial.point.params.insert("offered_load".into(), Value::Quantity(offered));
        }
        for (probe, key, value) in [("cpu", "cpus", 2.0), ("foreign", "cpu", others)] {
            record.readings.push(Reading {
                probe: probe.into(),
                host: "machine".into(),
                key: key.into(),
                quantity: Quantity::new(value, Unit::Cpu),
            });
        }
        grade(&plan, &record)
    };
    for carried in [0.5, 0.96, 1.04, 1.36] {
        let found = of(carried, 0.6, true);
        let Some(Fault::Disturbed { what, .. }) = found else { panic!("{carried}: {found:?}") };
        assert!(what.starts_with("other programs had 0.6") && what.contains("pace"), "{what}");
        assert_eq!(of(carried, 0.4, true), None, "they had little");
        assert_eq!(of(carried, 0.6, false), None, "it had no pace");
    }
    assert_eq!(of(0.98, 2.0, true), None);
    assert_eq!(of(1.02, 2.0, true), None);
}

#[test]
fn a_throttled_cpu_and_a_flapped_link_are_named_with_their_place() {
    let rows = [
        ("throttle", "machine", "core", 0.0, Unit::Count),
        ("throttle", "machine", "package", 3.0, Unit::Count),
        ("throttle", "machine", "core.time", 9.0, Unit::Second),
    ];
    assert_eq!(with(&rows[..1]), None);
    assert_eq!(with(&rows[2..]), None, "a time without a count is no event");
    match with(&rows) {
        Some(Fault::Throttled { host, what }) => {
            assert_eq!((host.name(), what.as_str()), ("machine", "package: 3 times"));
        }
        other => panic!("{other:?}"),
    }
    match with(&[rows[1], ("flap", "c02", "lan", 1.0, Unit::Count)]) {
        Some(Fault::LinkFlap { host, what }) => {
            assert_eq!((host.name(), what.as_str()), ("c02", "carrier of lan: once"));
        }
        other => panic!("the graver first: {other:?}"),
    }
    assert_eq!(with(&[("flap", "sut", "lan", 0.0, Unit::Count)]), None);
}

#[test]
fn clients_at_their_limit_are_an_event_and_name_the_client() {
    let rows = [
        ("thread", "sut", "runnable", 0.5, Unit::Share),
        ("thread", "c01", "cpu", 0.3, Unit::Share),
        ("thread", "c02", "cpu", 0.97, Unit::Share),
    ];
    match with(&rows) {
        Some(Fault::GeneratorLimit { host, what }) => {
            assert_eq!(host, "c02");
            assert!(what.contains("97 %"), "{what}");
        }
        other => panic!("{other:?}"),
    }
    let full = [rows[0], rows[1], rows[2], ("cpu", "machine", "busy", 0.96, Unit::Share)];
    assert_eq!(with(&full), None, "on a full machine the CPUs are the limit");
}

#[test]
fn a_full_cpu_that_both_ends_share_is_the_limit_of_both() {
    let fault_beside = |server_cpu: u32, share: f64, own: Option<f64>| {
        let (plan, mut record) = trial();
        let flow = Flow {
            sender: "sut".into(),
            receiver: "c01".into(),
            sender_cpu: Some(server_cpu),
            receiver_cpu: Some(1),
            ..Flow::default()
        };
        record.outcome.flows = Flows::new(&[], vec![flow]);
        let rows = [
            ("thread", "sut", "runnable", 0.6),
            ("thread", "c01", "runnable", 1.0),
            ("thread", "c01", "cpu", 0.6),
            ("cpu", "machine", "busy.cpu1", share),
        ];
        record.readings.extend(rows.map(|(probe, host, key, value)| Reading {
            probe: probe.into(),
            host: host.into(),
            key: key.into(),
            quantity: Quantity::new(value, Unit::Share),
        }));
        record.readings.extend(own.map(|busy| Reading {
            probe: "cpu".into(),
            host: "c01".into(),
            key: "busy".into(),
            quantity: Quantity::new(busy, Unit::Share),
        }));
        grade(&plan, &record)
    };
    let fault = |server_cpu, share| fault_beside(server_cpu, share, None);
    assert_eq!(fault(1, 0.99), None);
    let starved = |fault| matches!(fault, Some(Fault::GeneratorLimit { .. }));
    assert!(starved(fault(0, 0.99)), "the server had a CPU of its own");
    assert!(starved(fault(1, 0.3)), "a quota held the client, not the CPU");
    let apart = fault_beside(1, 0.99, Some(0.5));
    assert!(starved(apart), "the CPUs are of two machines, and have one number");
}

#[test]
fn an_unsteady_rate_is_an_event_only_where_the_plan_requires_a_steady_one() {
    let (mut plan, mut record) = trial();
    record.outcome.steady = false;
    assert!(matches!(grade(&plan, &record), Some(Fault::NotSteady { .. })));
    plan.method.steady = SteadyRule::Noted;
    assert_eq!(grade(&plan, &record), None);
}

#[test]
fn a_dry_visit_is_not_graded_and_a_fault_stays() {
    let (plan, mut record) = trial();
    record.outcome.steady = false;
    record.outcome.fault = Some(Fault::DeadHost { host: "c01".into() });
    assert_eq!(grade(&plan, &record), None);
    record.outcome.fault = None;
    record.trial.kind = TrialKind::Dry;
    assert_eq!(grade(&plan, &record), None);
}
