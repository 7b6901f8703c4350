//! Each ceiling is named when it is full, several tie, and what no load passes is none.

use super::{Simulated, cpu, limit, read, waiting};
use crate::record::{Derivation, DeriveSpec, Fault, Flow, Flows, Run, TrialRecord, Value};
use crate::unit::Unit;
use crate::verdict::{Limit, LimitKind, analyse};

/// The simulated load carries this, nearly.
const RATE: f64 = 1e9;

fn with(change: impl Fn(&mut TrialRecord)) -> Run {
    let mut run = Simulated { noise: 1e-4, ..Simulated::default() }.run();
    run.records.iter_mut().for_each(change);
    run
}

fn first(of: impl Fn(&mut TrialRecord)) -> Limit {
    let found = analyse(&with(of)).limits;
    assert_eq!(found.len(), 2, "both levels were made alike: {found:?}");
    found.into_iter().next().unwrap()
}

/// A trial whose CPUs idle, with one reading more.
fn beside(place: [&'static str; 3], value: f64) -> Limit {
    first(move |r| {
        cpu(r, "busy", 0.3);
        read(r, place, value);
    })
}

// By hand: MTU 1500 leaves 1448 of 1538 bytes, 94.15 %; of 1514 on the bus 95.64 %; of a bucket's
// 1514 the same.
#[test]
fn the_line_the_bus_and_the_bucket_count_the_headers_that_they_carry() {
    for (probe, host, key, carries, kind) in [
        ("ceiling", "machine", "line_rate", RATE / 0.9415, LimitKind::Goodput),
        ("ceiling", "machine", "pcie", RATE / 0.9564 / 8.0, LimitKind::Pcie),
        ("qdisc", "sut", "rate", RATE / 0.9564, LimitKind::SetRate),
        ("ceiling", "machine", "mem_copy", RATE / 8.0 * 2.0, LimitKind::Memory),
    ] {
        let full = beside([probe, host, key], carries);
        assert_eq!(full.kind, kind);
        assert!((full.evidence.centre.value - 1.0).abs() < 0.05, "{full:?}");
        assert!(full.ties.is_empty());
        let half = beside([probe, host, key], 2.0 * carries);
        assert_eq!(half.kind, LimitKind::NoneSeen);
        let rival = half.rivals.iter().find(|r| r.kind == kind).unwrap();
        assert!((rival.utilisation.centre.value - 0.5).abs() < 0.025, "{rival:?}");
        assert_eq!(rival.utilisation.centre.unit, Unit::Share);
        let beyond = beside([probe, host, key], carries / 1.5);
        assert_eq!(beyond.kind, LimitKind::NoneSeen, "the load does not pass {key}");
        assert!(beyond.rivals.iter().all(|r| r.kind != kind), "nor was it ruled out");
    }
}

// By hand: over IPv6 it leaves 1428 of 1538 bytes, 92.85 %; of 1514 94.32 %.
#[test]
fn over_ipv6_a_packet_has_twenty_bytes_less_for_the_load() {
    for (place, carries, kind) in [
        (["ceiling", "machine", "line_rate"], RATE / 0.9285, LimitKind::Goodput),
        (["ceiling", "machine", "pcie"], RATE / 0.9432 / 8.0, LimitKind::Pcie),
        (["qdisc", "sut", "rate"], RATE / 0.9432, LimitKind::SetRate),
    ] {
        let used = |version: u64| {
            let limit = first(move |r| {
                cpu(r, "busy", 0.3);
                read(r, place, carries);
                r.trial.settings.insert("ip_version".into(), Value::Count(version));
            });
            let rival = limit.rivals.iter().find(|rival| rival.kind == kind);
            rival.map_or(limit.evidence.centre.value, |rival| rival.utilisation.centre.value)
        };
        let [fourth, sixth] = [4, 6].map(used);
        assert!((sixth / fourth - 1448.0 / 1428.0).abs() < 1e-3, "{kind:?}: {fourth} {sixth}");
        assert!((sixth - 1.0).abs() < 0.05, "{kind:?}: {sixth}");
    }
}

#[test]
fn an_adapter_counts_only_if_it_carried_the_load() {
    let with_traffic = |sent: f64| {
        first(move |r| {
            cpu(r, "busy", 0.3);
            read(r, ["ceiling", "eth1", "line_rate"], RATE * 1.07);
            read(r, ["ceiling", "eth1", "tx"], sent);
            read(r, ["ceiling", "eth1", "rx"], sent / 50.0);
        })
    };
    let carried = with_traffic(RATE * 1.062);
    assert_eq!(carried.kind, LimitKind::Goodput, "{carried:?}");
    assert!(carried.ties.is_empty(), "its line rate is the same limit");
    assert_eq!(with_traffic(RATE / 100.0).kind, LimitKind::NoneSeen);
}

#[test]
fn the_limit_of_a_load_that_counts_what_a_line_carries_is_the_line() {
    let mut run = with(|r| {
        cpu(r, "busy", 0.3);
        read(r, ["ceiling", "eth1", "line_rate"], RATE * 1.07);
        read(r, ["ceiling", "eth1", "tx"], RATE * 1.062);
    });
    assert_eq!(analyse(&run).limits[0].kind, LimitKind::Goodput);
    let asked = DeriveSpec::of(Derivation::LineShare, "share").stored();
    run.plan.loads.iter_mut().for_each(|load| load.derives.push(asked.clone()));
    assert_eq!(analyse(&run).limits[0].kind, LimitKind::LineRate);
}

#[test]
fn a_shared_bus_counts_both_ways_and_a_serial_one_each() {
    let on = |key: &'static str| {
        first(move |r| {
            cpu(r, "busy", 0.3);
            read(r, ["ceiling", "eth1", key], RATE * 2.0 / 8.0);
            read(r, ["ceiling", "eth1", "tx"], RATE);
            read(r, ["ceiling", "eth1", "rx"], RATE);
        })
    };
    assert_eq!(on("pci").kind, LimitKind::Pcie);
    assert_eq!(on("pcie").kind, LimitKind::NoneSeen);
}

#[test]
fn two_that_are_full_are_both_named_and_neither_is_a_rival() {
    let tied = first(|r| {
        cpu(r, "busy", 0.99);
        cpu(r, "busy.cpu0", 1.0);
        read(r, ["qdisc", "sut", "rate"], RATE / 0.9564);
        read(r, ["ceiling", "machine", "mem_copy"], RATE);
    });
    assert_eq!(tied.named().collect::<Vec<_>>(), [LimitKind::SetRate, LimitKind::AllCpus]);
    let rivals: Vec<LimitKind> = tied.rivals.iter().map(|r| r.kind).collect();
    assert_eq!(rivals, [LimitKind::Memory], "one CPU is one of all that are full");
}

#[test]
fn full_cpus_may_wait_for_memory_and_nobody_read_that() {
    let copying = first(|r| {
        cpu(r, "busy", 0.99);
        read(r, ["ceiling", "machine", "mem_copy"], RATE / 4.0);
    });
    assert_eq!(copying.named().collect::<Vec<_>>(), [LimitKind::AllCpus]);
    assert!(copying.rivals.is_empty(), "memory was not ruled out: {copying:?}");
}

#[test]
fn a_quota_is_named_by_whose_it_is_and_a_clients_is_the_generators() {
    assert_eq!(beside(["quota", "sut", "use"], 0.98).kind, LimitKind::ServerQuota);
    assert_eq!(beside(["quota", "sut", "use"], 0.7).kind, LimitKind::NoneSeen);
    // A window cuts the periods: the share of those in which it was held back tells more.
    for used in [0.87, 1.3] {
        let held = first(|r| {
            cpu(r, "busy", 0.5);
            read(r, ["quota", "sut", "use"], used);
            read(r, ["quota", "sut", "throttled"], 0.98);
        });
        assert_eq!(held.kind, LimitKind::ServerQuota, "{used}");
    }
    let client = first(|r| {
        cpu(r, "busy", 0.5);
        read(r, ["quota", "c01", "use"], 0.97);
        read(r, ["quota", "c02", "use"], 0.2);
        read(r, ["thread", "c01", "runnable"], 0.99);
        read(r, ["thread", "c01", "cpu"], 0.2);
        read(r, ["thread", "sut", "runnable"], 0.3);
    });
    assert_eq!(client.named().collect::<Vec<_>>(), [LimitKind::ClientQuota]);
}

#[test]
fn where_the_clients_spoilt_every_visit_they_are_named_all_the_same() {
    let mut run = with(|r| {
        cpu(r, "busy", 0.4);
        read(r, ["quota", "c01", "use"], 0.99);
    });
    for record in &mut run.records {
        record.outcome.fault =
            Some(Fault::GeneratorLimit { host: "c01".into(), what: "starved".into() });
    }
    let found = analyse(&run);
    assert!(found.comparisons.is_empty());
    let kinds: Vec<LimitKind> = found.limits.iter().map(|l| l.kind).collect();
    assert_eq!(kinds, [LimitKind::ClientQuota; 2]);
}

#[test]
fn a_cpu_full_of_interrupts_is_told_from_one_that_is_only_full() {
    let full = |key: &'static str, share: f64| {
        first(move |r| {
            cpu(r, "busy", 0.4);
            cpu(r, "busy.cpu0", 0.99);
            cpu(r, "busy.cpu1", 0.1);
            cpu(r, key, share);
        })
    };
    for key in ["softirq.cpu0", "ksoftirqd.cpu0", "softirq_samples.cpu0"] {
        assert_eq!(full(key, 0.98).kind, LimitKind::SoftirqCpu);
        assert_eq!(full(key, 0.5).kind, LimitKind::OneCpu);
    }
}

#[test]
fn one_full_cpu_stands_out_only_where_the_others_have_room() {
    let beside = |other: f64| {
        with(move |r| {
            cpu(r, "busy", f64::midpoint(0.97, other));
            cpu(r, "busy.cpu0", 0.97);
            cpu(r, "busy.cpu1", other);
        })
    };
    assert_eq!(limit(&beside(0.86)), [LimitKind::AllCpus; 2]);
    assert_eq!(limit(&beside(0.7)), [LimitKind::OneCpu; 2]);
}

/// Flows of which each has both ends on one of these CPUs.
fn pinned(cpus: &[u32]) -> Flows {
    let on = |at: &u32| Flow { sender_cpu: Some(*at), receiver_cpu: Some(*at), ..Flow::default() };
    Flows::new(&[], cpus.iter().map(on).collect())
}

#[test]
fn sockets_wait_for_what_is_full() {
    let waits = |busy: f64| {
        first(move |r| {
            cpu(r, "busy", busy);
            r.outcome.flows = waiting([0.9, 0.0]);
        })
    };
    assert_eq!(waits(0.5).kind, LimitKind::ReceiveWindow);
    let full = waits(0.99);
    assert_eq!(full.named().collect::<Vec<_>>(), [LimitKind::AllCpus]);
    assert!(full.rivals.iter().all(|r| r.kind != LimitKind::ReceiveWindow), "not ruled out");
}

#[test]
fn what_a_plan_sets_is_nothing_where_the_kernel_tells_another_rate() {
    let mut run = with(|r| {
        cpu(r, "busy", 0.3);
        read(r, ["qdisc", "sut", "rate"], 10.0 * RATE);
    });
    let rate = crate::unit::Quantity::new(RATE, Unit::BitPerSecond);
    for link in &mut run.plan.lab.links {
        link.settings.insert("rate".into(), crate::record::Value::Quantity(rate));
    }
    assert_eq!(limit(&run), [LimitKind::NoneSeen; 2]);
}

#[test]
fn cpus_that_others_keep_busy_are_no_limit_of_a_load_that_sleeps() {
    let wants = |share: f64| {
        first(move |r| {
            cpu(r, "busy", 1.0);
            cpu(r, "busy.cpu0", 1.0);
            read(r, ["thread", "sut", "runnable"], share / 3.0);
            read(r, ["thread", "c01", "runnable"], share * 2.0 / 3.0);
            read(r, ["qdisc", "sut", "rate"], RATE / 0.9564);
        })
    };
    assert_eq!(wants(0.4).named().collect::<Vec<_>>(), [LimitKind::SetRate]);
    let both = wants(1.2);
    assert_eq!(both.named().collect::<Vec<_>>(), [LimitKind::SetRate, LimitKind::AllCpus]);
}

#[test]
fn for_a_load_that_may_run_on_one_cpu_alone_the_others_are_none() {
    let on = |cpus: [u32; 2]| {
        first(move |r| {
            cpu(r, "busy", 1.0);
            cpu(r, "busy.cpu0", 1.0);
            cpu(r, "busy.cpu1", 1.0);
            r.outcome.flows = pinned(&cpus);
        })
    };
    assert_eq!(on([0, 0]).kind, LimitKind::OneCpu);
    assert_eq!(on([0, 1]).kind, LimitKind::AllCpus);
    let single = first(|r| {
        cpu(r, "busy", 1.0);
        cpu(r, "busy.cpu0", 1.0);
        r.outcome.flows = pinned(&[0]);
    });
    assert_eq!(single.kind, LimitKind::AllCpus, "there are no others");
}

#[test]
fn cpus_that_others_fill_do_not_tie_with_what_is_full_besides() {
    let beside = |foreign: f64, bucket: bool| {
        first(move |r| {
            cpu(r, "busy", 1.0);
            cpu(r, "cpus", 2.0);
            read(r, ["foreign", "machine", "cpu"], foreign);
            if bucket {
                read(r, ["qdisc", "sut", "rate"], RATE / 0.9564);
            }
        })
    };
    assert_eq!(beside(1.2, true).named().collect::<Vec<_>>(), [LimitKind::SetRate]);
    let own = [LimitKind::SetRate, LimitKind::AllCpus];
    assert_eq!(beside(0.02, true).named().collect::<Vec<_>>(), own);
    assert_eq!(beside(1.2, false).kind, LimitKind::AllCpus, "a load that wants them has no other");
}
