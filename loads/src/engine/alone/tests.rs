//! Loads of one machine: what is dropped, refused and made of words.

use super::check::{Evidence, check};
use super::fixture;
use super::recipe::{Order, Ready, Recipe, Taken};
use super::size::{bytes_of, threads_of};
use desk::record::{
    Better, Fault, MetricRole, MetricSpec, Place, Sample, Settings, Value, WorkloadSpec,
};
use desk::unit::{Quantity, Unit};
use rig::metal::{CacheOf, Cpus, Paced, Sampled, Series, Span, Taint, Thread, Together, Unready};
use rig::workload::Checked;
use std::time::Duration;

const SPEC: WorkloadSpec = WorkloadSpec {
    name: "toy",
    question: "how fast it counts",
    place: Place::Machine,
    revision: 1,
    params: &[],
    metrics: &[MetricSpec {
        name: "counts",
        title: "counts",
        role: MetricRole::Rate,
        unit: Unit::OperationPerSecond,
        better: Better::Higher,
        limit: "the clock",
    }],
    quantiles: &[],
    derives: &[],
};

#[expect(clippy::unnecessary_wraps, reason = "the signature is the recipe's")]
fn figures(_: &Order, taken: &Taken) -> Result<Vec<Sample>, Fault> {
    let quantity = Quantity::new(taken.rate(), Unit::OperationPerSecond);
    Ok(vec![Sample { metric: "counts".into(), quantity }])
}

static TOY: Recipe = Recipe {
    storing: |_| None,
    spec: &SPEC,
    ready: |_| Ok(Ready { members: Vec::new(), made_with: Settings::new() }),
    figures,
    nominal: |_, _| vec![1e9],
    staging: |_| Duration::from_secs(1),
};

fn order(params: &[(&str, Value)]) -> Order {
    let params = params.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
    Order { params, settings: Settings::new(), seed: 1 }
}

/// Samples of 1 ms with so much work each, of which some are disturbed.
fn series(work: &[(u64, Option<Taint>)]) -> Series {
    let sample = |(work, taint): &(u64, _)| Sampled { work: *work, ns: 1_000_000, taint: *taint };
    let samples = work.iter().map(sample).collect();
    Series { cpu: Some(1), samples, work: 100, verified: Ok(3), ..fixture::series(&[], 0) }
}

fn evidence(series: Vec<Series>) -> Evidence {
    let mut evidence = Evidence::new(order(&[]), Settings::new(), Duration::from_millis(1));
    evidence.span = Span { opens_ns: 5, closes_ns: 5 + 1_000_000_000 };
    evidence.together = Together { series, cpu_ns: 500_000_000, stored: None };
    evidence
}

#[test]
fn disturbed_samples_are_dropped_and_counted() {
    let work =
        [(10, None), (30, None), (20, None), (1, Some(Taint::Waited)), (20, None), (20, None)];
    let checked = check(&TOY, &evidence(vec![series(&work), series(&work[..3])])).unwrap();
    // Medians of 20 and 20 a millisecond.
    let rate = checked.outcome.metric("counts").unwrap();
    assert!((rate.value / 40_000.0 - 1.0).abs() < 1e-12, "{rate}");
    let reading = |key: &str| checked.readings.iter().find(|r| r.key == key).unwrap().quantity;
    assert_eq!((reading("samples").value, reading("waited").value), (9.0, 1.0));
    assert_eq!((reading("steal").value, reading("cpu").value), (0.0, 0.5));
    assert_eq!(checked.outcome.work.content_checks, 6);
    assert_eq!(checked.outcome.made_with["cpus"], Value::Word("1 1".into()));
}

#[test]
fn in_an_open_loop_what_was_not_begun_is_an_error_and_what_was_late_a_reading() {
    let mut paced = series(&[(10, None)]);
    paced.paced = Some(Paced { due: 90, late: 9, unsent: 4 });
    let checked = check(&TOY, &evidence(vec![paced.clone(), paced, series(&[(1, None)])])).unwrap();
    assert_eq!(checked.outcome.work.errors.get("unsent"), Some(&8));
    let late = |checked: &Checked| {
        let found = checked.readings.iter().find(|r| (&*r.probe, &*r.key) == ("pace", "late"));
        found.map(|reading| reading.quantity.value)
    };
    assert_eq!(late(&checked), Some(0.1));
    let closed = check(&TOY, &evidence(vec![series(&[(1, None)])])).unwrap();
    assert_eq!((late(&closed), closed.outcome.work.errors.len()), (None, 0));
}

#[test]
fn a_trial_of_many_disturbed_samples_is_none() {
    let work = [(10, None), (30, None), (1, Some(Taint::Steal))];
    let fault = check(&TOY, &evidence(vec![series(&work)])).unwrap_err();
    assert!(matches!(&fault, Fault::Disturbed { what, .. } if what.contains("1 of 3")), "{fault}");
}

#[test]
fn wrong_results_and_idle_loops_are_refused() {
    let mut wrong = series(&[(10, None)]);
    wrong.verified = Err("sum 3 and not 4".into());
    let fault = check(&TOY, &evidence(vec![wrong])).unwrap_err();
    assert!(fault.to_string().contains("CPU 1: sum 3 and not 4"), "{fault}");
    let fault = check(&TOY, &evidence(vec![series(&[(0, None)])])).unwrap_err();
    assert!(matches!(fault, Fault::WrongWork { .. }), "{fault}");
    assert!(check(&TOY, &evidence(Vec::new())).is_err());
}

/// Two cores of two threads each: 0 and 2, 1 and 3; one third cache.
fn machine() -> Cpus {
    cpus(&|cpu| {
        let core = [cpu % 2, cpu % 2 + 2];
        vec![(1, 48 << 10, core.into()), (2, 2 << 20, core.into()), (3, 32 << 20, vec![0, 1, 2, 3])]
    })
}

/// Four CPUs, of each the level, bytes and sharers of its caches.
fn cpus(caches: &dyn Fn(u32) -> Vec<(u32, u64, Vec<u32>)>) -> Cpus {
    let cache = |(level, bytes, shared_by)| CacheOf {
        level,
        kind: if level == 1 { "Data".into() } else { "Unified".into() },
        bytes,
        shared_by,
    };
    let thread = |cpu: u32| Thread {
        cpu,
        siblings: vec![cpu % 2, cpu % 2 + 2],
        package: 0,
        node: 0,
        caches: caches(cpu).into_iter().map(cache).collect(),
    };
    Cpus { threads: (0..4).map(thread).collect() }
}

const GIB: u64 = 1 << 30;

/// Bytes of a word on CPUs of a machine with so much memory available.
fn bytes(word: &str, cpus: &Cpus, used: &[u32], available: u64) -> Result<u64, Unready> {
    bytes_of(&order(&[("size", Value::Word(word.into()))]), cpus, used, available)
}

#[test]
fn words_of_sizes_are_those_of_the_cpus_that_are_used() {
    let of = |word: &str, used: &[u32]| bytes(word, &machine(), used, 8 * GIB).unwrap();
    assert_eq!((of("L1", &[0]), of("L2", &[0])), (36 << 10, 1 << 20));
    assert_eq!((of("L1", &[0, 1]), of("L2", &[0, 1])), (36 << 10, 1 << 20));
    // Both threads of one core, alone or among others, halve what each has.
    assert_eq!((of("L1", &[0, 2]), of("L2", &[0, 1, 2])), (18 << 10, 512 << 10));
    // An eighth is below 16 x L2, and that is not below a half of what each has.
    assert_eq!((of("L3", &[0]), of("L3", &[0, 1])), (16 << 20, 8 << 20));
    assert_eq!(of("L3", &[0, 1, 2, 3]), 4 << 20);
    let size = Value::Quantity(Quantity::bytes(12345));
    assert_eq!(bytes_of(&order(&[("size", size)]), &machine(), &[0], 0), Ok(12345));
}

#[test]
fn the_smallest_core_of_a_load_decides() {
    // Two large cores of their own second cache, two small ones that share theirs.
    let hybrid = cpus(&|cpu| match cpu {
        0 | 1 => vec![(1, 48 << 10, vec![cpu]), (2, 2 << 20, vec![cpu]), (3, 36 << 20, vec![0, 1])],
        _ => vec![(1, 32 << 10, vec![cpu]), (2, 2 << 20, vec![2, 3])],
    });
    let of = |word: &str, used: &[u32]| bytes(word, &hybrid, used, 8 * GIB);
    assert_eq!((of("L1", &[0]), of("L1", &[2]), of("L1", &[0, 2])), {
        let small = Ok(24 << 10);
        (Ok(36 << 10), small.clone(), small)
    });
    assert_eq!((of("L2", &[0, 1, 2]), of("L2", &[0, 2, 3])), (Ok(1 << 20), Ok(512 << 10)));
    assert_eq!(of("L3", &[0]), Ok(18 << 20));
    let lacks = of("L3", &[0, 2]);
    let says = "tells of no cache L3 of CPU 2; write a size in bytes";
    assert!(matches!(&lacks, Err(Unready::NotAvailable(why)) if why.contains(says)), "{lacks:?}");
    // Last caches of the machine: 36 MiB and the 2 MiB beside it, whichever CPU is used.
    assert_eq!(of("memory", &[2]), Ok(4 * (38 << 20)));
}

#[test]
fn a_third_cache_that_is_small_or_a_whole_hosts_is_bounded() {
    let of = |second: u64, third: u64, used: &[u32]| {
        let all = || vec![0, 1, 2, 3];
        let machine = cpus(&|_| vec![(2, second << 20, all()), (3, third << 20, all())]);
        bytes("L3", &machine, used, 8 * GIB)
    };
    // A share of the third that hardly holds more than the second does is no level of its own.
    let small = of(8, 15, &[0, 1, 2, 3]).unwrap_err().to_string();
    assert!(
        small.contains("has 3932160 B of the third cache and 2097152 B of the second"),
        "{small}"
    );
    let of = |second: u64, third: u64, used: &[u32]| of(second, third, used).unwrap();
    // As an N100: half of the third cache, not sixteen times the second.
    assert_eq!(of(2, 6, &[0]), 3 << 20);
    assert_eq!(of(2, 6, &[0, 1, 2, 3]), (3 << 20) / 4);
    assert_eq!(of(2, 480, &[0]), 60 << 20);
    assert_eq!(of(2, 960, &[0]), 64 << 20);
    assert_eq!(of(32, 960, &[0]), 64 << 20);
}

#[test]
fn memory_is_beyond_all_last_caches_and_half_of_what_there_is() {
    let of = |third: u64, used: &[u32], available: u64| {
        let machine = cpus(&|cpu| vec![(3, third << 20, vec![cpu % 2, cpu % 2 + 2])]);
        bytes("memory", &machine, used, available)
    };
    // Two caches of 8 MiB, shared by the threads.
    assert_eq!((of(8, &[0], 8 * GIB), of(8, &[0, 1], 8 * GIB)), (Ok(64 << 20), Ok(32 << 20)));
    assert_eq!(of(2, &[0], 8 * GIB), Ok(64 << 20), "at least");
    assert_eq!(of(240, &[0], 8 * GIB), Ok(GIB), "480 MiB together");
    assert_eq!(of(384, &[0, 1], 8 * GIB), Ok(768 << 20), "twice 768 MiB, where that is more");
    assert_eq!(of(8, &[0], 60 << 20), Ok(30 << 20), "half of what is available");
    let why = of(240, &[0], 900 << 20).unwrap_err().to_string();
    for part in ["471859200 B", "503316480 B", "write a size in bytes, or free memory"] {
        assert!(why.contains(part), "{why}");
    }
    let one = cpus(&|_| vec![(3, 480 << 20, vec![0, 1, 2, 3])]);
    assert_eq!(bytes("memory", &one, &[0], 8 * GIB), Ok(GIB));
    assert_eq!(bytes("memory", &cpus(&|_| Vec::new()), &[0], 8 * GIB), Ok(256 << 20));
}

#[test]
fn what_was_asked_for_is_told_where_the_workload_has_it() {
    let pages = Value::Word("own".into());
    let order = order(&[("pages", pages.clone()), ("size", Value::Word("L1".into()))]);
    assert_eq!(order.words(&["pages", "store"]), Settings::from([("pages".into(), pages)]));
}

#[test]
fn threads_are_a_number_or_all_and_never_more_than_cpus() {
    let threads = |value: Value, placement: &str| {
        let params = [("threads", value), ("placement", Value::Word(placement.into()))];
        threads_of(&order(&params), &machine())
    };
    assert_eq!(threads(Value::Count(2), "spread"), Ok(vec![0, 1]));
    assert_eq!(threads(Value::Count(2), "packed"), Ok(vec![0, 2]));
    assert_eq!(threads(Value::Word("all".into()), "spread"), Ok(vec![0, 1, 2, 3]));
    let many = threads(Value::Count(5), "spread");
    let says = "5 threads want as many CPUs, and 4 may be used (0-3); ask for 4 or fewer, or for \
                \"all\"";
    assert_eq!(many, Err(Unready::NotAvailable(says.into())));
}
