//! What lies outside of the load and of its plan is named with its place: shapers and queues at any
//! end, small buffers, programs on the CPUs of the load.

use super::{Simulated, cpu, read, waiting};
use crate::record::TrialRecord;
use crate::unit::Quantity;
use crate::verdict::{Limit, LimitKind, LimitPlace, analyse};

/// The simulated load carries this, nearly.
const RATE: f64 = 1e9;

fn first(change: impl Fn(&mut TrialRecord)) -> Limit {
    let mut run = Simulated { noise: 1e-4, ..Simulated::default() }.run();
    run.records.iter_mut().for_each(change);
    let found = analyse(&run).limits;
    assert_eq!(found.len(), 2, "both levels were made alike: {found:?}");
    found.into_iter().next().unwrap()
}

fn named(limit: &Limit) -> Vec<LimitKind> {
    limit.named().collect()
}

fn place(at: &str, what: &str, most: Option<Quantity>) -> Option<LimitPlace> {
    Some(LimitPlace { at: at.into(), what: what.into(), most })
}

/// One stream that the system under test sends, window-limited for so much of its second.
fn sent(r: &mut TrialRecord, limited_ms: f64) {
    r.outcome.flows = waiting([limited_ms / 1000.0, 0.0]);
    let flow = &mut r.outcome.flows.rows[0];
    (flow.sender, flow.receiver) = ("sut".into(), "c01".into());
}

#[test]
fn a_shaper_whose_rate_is_not_known_is_named_where_packets_waited() {
    let waits = |overlimits: f64| {
        first(move |r| {
            cpu(r, "busy", 0.3);
            read(r, ["qdisc", "c01", "packets.htb"], 1000.0);
            read(r, ["qdisc", "c01", "overlimits.htb"], overlimits);
            read(r, ["qdisc", "c01", "drops.htb"], 50.0);
        })
    };
    let held = waits(400.0);
    assert_eq!(named(&held), [LimitKind::Shaper], "drops are how its rate holds TCP");
    assert_eq!(held.place, place("c01", "htb", None));
    assert!((held.evidence.centre.value - 0.4).abs() < 1e-9);
    assert_eq!(named(&waits(0.0)), [LimitKind::QueueDrops], "50 of 1,050 packets");
}

#[test]
fn a_queue_that_drops_few_packets_is_none() {
    let drops = |count: f64| {
        first(move |r| {
            cpu(r, "busy", 0.3);
            sent(r, 0.0);
            read(r, ["qdisc", "sut", "rate"], 10.0 * RATE);
            read(r, ["qdisc", "sut", "packets"], 1000.0);
            read(r, ["qdisc", "sut", "drops"], count);
        })
    };
    let short = drops(50.0);
    assert_eq!(
        (named(&short), short.place),
        (vec![LimitKind::QueueDrops], place("sut", "tbf", None))
    );
    assert_eq!(named(&drops(3.0)), [LimitKind::NoneSeen]);
}

#[test]
fn a_relay_that_is_late_is_the_limit_and_nothing_beside_it() {
    let relay = |late: f64, [dropped, lost]: [f64; 2], busy: f64| {
        first(move |r| {
            cpu(r, "busy", busy);
            sent(r, 0.0);
            let all = [("received", 1000.0), ("late", late), ("dropped", dropped), ("lost", lost)];
            for (key, count) in all {
                read(r, ["relay", "wan", &format!("{key}.near")], count);
            }
            read(r, ["relay", "wan", "received.far"], 0.0);
        })
    };
    let none = [0.0, 0.0];
    let behind = relay(200.0, none, 1.0);
    assert_eq!(named(&behind), [LimitKind::Relay], "full CPUs may be the relay's");
    assert!((behind.evidence.centre.value - 0.2).abs() < 1e-9);
    assert_eq!(named(&relay(50.0, none, 1.0)), [LimitKind::AllCpus], "50 of 1,000 frames");
    assert_eq!(named(&relay(0.0, [20.0, 0.0], 1.0)), [LimitKind::Relay], "dropped, not late");
    assert_eq!(named(&relay(50.0, [0.0, 10.0], 0.3)), [LimitKind::PathLosses]);
    assert_eq!(named(&relay(0.0, [5.0, 10.0], 1.0)), [LimitKind::AllCpus], "CPUs are full");
    assert_eq!(named(&relay(0.0, none, 0.3)), [LimitKind::NoneSeen]);
}

#[test]
fn a_relay_without_cpu_time_is_the_limit_and_neither_end() {
    // Of four CPUs: those that are busy, and what the relay and other programs have of them.
    let relay = |busy: f64, relay: f64, waiting: f64, others: f64| {
        first(move |r| {
            cpu(r, "busy", busy);
            cpu(r, "cpus", 4.0);
            sent(r, 0.0);
            read(r, ["foreign", "machine", "cpu"], others);
            read(r, ["process", "wan", "cpu"], relay);
            read(r, ["relay", "wan", "waiting"], waiting);
            read(r, ["relay", "wan", "received.near"], 1000.0);
        })
    };
    let saturated = relay(0.6, 0.97, 0.0, 0.0);
    assert_eq!(named(&saturated), [LimitKind::RelayCpu]);
    assert!((saturated.evidence.centre.value - 0.97).abs() < 1e-9);
    assert_eq!(named(&relay(0.6, 0.97, 0.3, 0.0)), [LimitKind::NoneSeen], "it looks at the clock");
    assert_eq!(named(&relay(0.99, 0.6, 0.0, 0.0)), [LimitKind::RelayCpu], "three CPUs would do");
    assert_eq!(named(&relay(0.99, 0.3, 0.0, 0.0)), [LimitKind::AllCpus], "full without it, too");
    assert_eq!(named(&relay(0.99, 0.6, 0.0, 0.9)), [LimitKind::AllCpus], "others had more");
}

#[test]
fn a_relay_at_its_quota_is_named_by_that_and_not_by_what_it_does_to_others() {
    let relay = |used: f64, late: f64| {
        first(move |r| {
            cpu(r, "busy", 1.0);
            sent(r, 0.0);
            read(r, ["quota", "wan", "use"], used);
            read(r, ["quota", "sut", "use"], 0.4);
            read(r, ["relay", "wan", "received.near"], 1000.0);
            read(r, ["relay", "wan", "late.near"], late);
        })
    };
    assert_eq!(named(&relay(0.98, 300.0)), [LimitKind::RelayQuota], "which is why it is late");
    assert_eq!(named(&relay(0.98, 0.0)), [LimitKind::RelayQuota]);
    assert_eq!(named(&relay(0.5, 300.0)), [LimitKind::Relay]);
    assert_eq!(named(&relay(0.5, 0.0)), [LimitKind::AllCpus]);
}

#[test]
fn the_rate_of_the_path_is_a_limit_of_its_own() {
    let at = |part: f64| {
        first(move |r| {
            cpu(r, "busy", 0.3);
            sent(r, 0.0);
            read(r, ["relay", "wan", "rate"], RATE / 0.9564 / part);
            read(r, ["relay", "wan", "received.near"], 1000.0);
            read(r, ["relay", "wan", "lost.near"], 1.0);
        })
    };
    assert_eq!(named(&at(1.0)), [LimitKind::PathRate], "losses are not in the way");
    assert_eq!(named(&at(0.5)), [LimitKind::PathLosses]);
}

#[test]
fn a_bucket_counts_at_the_end_by_which_the_load_leaves() {
    let at = |end: &'static str| {
        let limit = first(move |r| {
            cpu(r, "busy", 0.3);
            sent(r, 0.0);
            read(r, ["qdisc", end, "rate"], RATE / 0.9564);
        });
        (limit.kind, limit.place)
    };
    assert_eq!(at("switch.c01"), (LimitKind::SetRate, place("switch.c01", "tbf", None)));
    assert_eq!(at("sut"), (LimitKind::SetRate, place("sut", "tbf", None)));
    for passed_by in ["c01", "switch", "switch.c02"] {
        assert_eq!(at(passed_by), (LimitKind::NoneSeen, None), "{passed_by}");
    }
}

#[test]
fn a_receive_buffer_too_small_for_any_load_stands_before_the_cpus_that_it_fills() {
    let limit = |buffer: f64, most: f64| {
        first(move |r| {
            cpu(r, "busy", 1.0);
            sent(r, 970.0);
            read(r, ["tcp", "c01", "receive_buffer"], buffer);
            read(r, ["tcp", "c01", "receive_buffer_max"], most);
        })
    };
    let small = limit(2304.0, 2304.0);
    assert_eq!(named(&small), [LimitKind::ReceiveWindow]);
    assert_eq!(small.place, place("c01", "tcp_rmem", Some(Quantity::bytes(2304))));
    assert!((small.evidence.centre.value - 0.97).abs() < 1e-9);
    assert_eq!(named(&limit(1e6, 6e6)), [LimitKind::AllCpus]);
    assert_eq!(named(&limit(1e6, 2304.0)), [LimitKind::AllCpus], "not in force");
    assert_eq!(named(&limit(2304.0, 6e6)), [LimitKind::AllCpus], "it may still grow");
}

#[test]
fn a_small_send_buffer_shows_in_the_sleep_of_the_sender() {
    let limit = |buffer: f64, slept: f64| {
        first(move |r| {
            cpu(r, "busy", 1.0);
            sent(r, 0.0);
            read(r, ["tcp", "sut", "send_buffer"], buffer);
            read(r, ["tcp", "sut", "send_buffer_max"], buffer);
            read(r, ["tcp", "sut", "send_wait"], slept);
        })
    };
    let small = limit(4608.0, 0.26);
    assert_eq!(named(&small), [LimitKind::SendBuffer]);
    assert_eq!(small.place, place("sut", "tcp_wmem", Some(Quantity::bytes(4608))));
    assert_eq!(named(&limit(4608.0, 0.02)), [LimitKind::AllCpus], "nobody waits for it");
    assert_eq!(named(&limit(4e6, 0.9)), [LimitKind::AllCpus], "it waits for something else");
}

#[test]
fn a_buffer_that_only_the_distance_makes_small_is_named() {
    const KIB: f64 = 1024.0;
    // Under way at once, the buffer, the most that it may be, and how long the stream waits.
    let limit = |ends: [&'static str; 3], [flight, buffer, most, waits]: [f64; 4], busy: f64| {
        named(&first(move |r| {
            let [at, key, under_way] = ends;
            cpu(r, "busy", busy);
            sent(r, if key == "receive_buffer" { 1000.0 * waits } else { 0.0 });
            read(r, ["tcp", at, key], buffer);
            read(r, ["tcp", at, &format!("{key}_max")], most);
            read(r, ["tcp", at, under_way], flight);
            read(r, ["tcp", "sut", "send_wait"], waits);
        }))
    };
    let receives = ["c01", "receive_buffer", "receive_flight"];
    let sends = ["sut", "send_buffer", "send_flight"];
    for (ends, kind, least) in
        [(receives, LimitKind::ReceiveWindow, 0.25), (sends, LimitKind::SendBuffer, 0.5)]
    {
        for size in [64.0 * KIB, 1024.0 * KIB] {
            let of = |flight: f64, most: f64, waits: f64, busy: f64| {
                limit(ends, [flight * size, size, most * size, waits], busy)
            };
            assert_eq!(of(least + 0.01, 1.0, 0.3, 0.3), [kind], "{size} B");
            assert_eq!(of(0.9, 1.0, 0.3, 0.3), [kind], "{size} B");
            // Nothing else is taken for it.
            assert_eq!(of(least - 0.01, 1.0, 0.3, 0.3), [LimitKind::NoneSeen], "it holds more");
            assert_eq!(of(0.9, 1.5, 0.3, 0.3), [LimitKind::NoneSeen], "it may still grow");
            assert_eq!(of(0.9, 1.0, 0.05, 0.3), [LimitKind::NoneSeen], "nobody waits for it");
            assert_eq!(of(0.9, 1.0, 0.3, 1.0), [LimitKind::AllCpus], "no effect of the buffer");
        }
    }
}

#[test]
fn programs_on_a_full_cpu_of_the_load_are_named_and_on_others_not() {
    let limit = |own: f64, foreign: f64, busy: f64| {
        first(move |r| {
            cpu(r, "busy", f64::midpoint(busy, 0.3));
            cpu(r, "cpus", 2.0);
            cpu(r, "busy.cpu0", busy);
            cpu(r, "busy.cpu1", 0.3);
            read(r, ["foreign", "machine", "cpu"], foreign);
            read(r, ["thread", "sut", "cpu.cpu0"], own / 2.0);
            read(r, ["thread", "c01", "cpu.cpu0"], own / 2.0);
        })
    };
    let beside = limit(0.58, 0.41, 1.0);
    assert_eq!(named(&beside), [LimitKind::OtherPrograms]);
    assert_eq!(beside.place, place("0", "", None));
    assert!((beside.evidence.centre.value - 0.41).abs() < 1e-9, "no more than they had");
    let alone = limit(0.99, 0.41, 1.0);
    assert_eq!(named(&alone), [LimitKind::OneCpu], "they run on the other CPU");
    let at = alone.place.unwrap();
    assert_eq!((at.at.as_str(), at.what.as_str()), ("0", ""));
    assert!((at.most.unwrap().value - 0.3).abs() < 1e-9, "the others were 30 % busy");
    assert_eq!(named(&limit(0.3, 0.41, 0.7)), [LimitKind::NoneSeen], "there was room");
    assert_eq!(named(&limit(0.58, 0.02, 1.0)), [LimitKind::OneCpu], "the rest is the kernel's");
}

#[test]
fn interrupts_on_a_full_cpu_are_no_other_program() {
    let limit = first(|r| {
        cpu(r, "busy", 0.65);
        cpu(r, "cpus", 2.0);
        cpu(r, "busy.cpu0", 1.0);
        cpu(r, "busy.cpu1", 0.3);
        cpu(r, "softirq.cpu0", 0.3);
        read(r, ["foreign", "machine", "cpu"], 0.41);
        read(r, ["thread", "sut", "cpu.cpu0"], 0.7);
    });
    assert_eq!(named(&limit), [LimitKind::OneCpu], "they run on the other CPU");
}

#[test]
fn other_programs_limit_nothing_that_sleeps() {
    let limit = first(|r| {
        cpu(r, "busy", 1.0);
        cpu(r, "cpus", 1.0);
        cpu(r, "busy.cpu0", 1.0);
        sent(r, 970.0);
        read(r, ["foreign", "machine", "cpu"], 0.9);
        for host in ["sut", "c01"] {
            read(r, ["thread", host, "cpu.cpu0"], 0.05);
            read(r, ["thread", host, "runnable"], 0.05);
        }
    });
    assert_eq!(named(&limit), [LimitKind::ReceiveWindow]);
}
