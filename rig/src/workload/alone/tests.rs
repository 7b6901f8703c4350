//! Loads of one machine: what is dropped, refused and made of words.

use super::check::{Evidence, check};
use super::recipe::{Order, Ready, Recipe, Taken};
use super::size::{bytes_of, threads_of};
use crate::metal::{CacheOf, Cpus, Sampled, Series, Span, Taint, Thread, Together, Unready};
use desk::record::{Better, Fault, MetricSpec, Place, Sample, Settings, Value, WorkloadSpec};
use desk::unit::{Quantity, Unit};
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
        unit: Unit::OperationPerSecond,
        better: Better::Higher,
        limit: "the clock",
    }],
};

#[expect(clippy::unnecessary_wraps, reason = "the signature is the recipe's")]
fn figures(_: &Order, taken: &Taken) -> Result<Vec<Sample>, Fault> {
    let quantity = Quantity::new(taken.rate(), Unit::OperationPerSecond);
    Ok(vec![Sample { metric: "counts".into(), quantity }])
}

static TOY: Recipe = Recipe {
    spec: &SPEC,
    ready: |_| Ok(Ready { members: Vec::new(), made_with: Settings::new() }),
    figures,
    nominal: |_, _| vec![1e9],
};

fn order(params: &[(&str, Value)]) -> Order {
    let params = params.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
    Order { params, settings: Settings::new(), seed: 1 }
}

/// Samples of 1 ms with so much work each, of which some are disturbed.
fn series(work: &[(u64, Option<Taint>)]) -> Series {
    let sample = |(work, taint): &(u64, _)| Sampled { work: *work, ns: 1_000_000, taint: *taint };
    let samples = work.iter().map(sample).collect();
    Series { cpu: Some(1), samples, work: 100, verified: Ok(3) }
}

fn evidence(series: Vec<Series>) -> Evidence {
    let mut evidence = Evidence::new(order(&[]), Settings::new(), Duration::from_millis(1));
    evidence.span = Span { opens_ns: 5, closes_ns: 5 + 1_000_000_000 };
    evidence.together = Together { series, cpu_ns: 500_000_000 };
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

fn machine() -> Cpus {
    let cache = |level, bytes| CacheOf {
        level,
        kind: if level == 1 { "Data".into() } else { "Unified".into() },
        bytes,
        shared_by: vec![0],
    };
    let thread =
        |cpu, siblings: [u32; 2]| Thread { cpu, siblings: siblings.into(), package: 0, node: 0 };
    Cpus {
        threads: vec![thread(0, [0, 2]), thread(1, [1, 3]), thread(2, [0, 2]), thread(3, [1, 3])],
        caches: vec![cache(1, 48 << 10), cache(2, 2 << 20), cache(3, 32 << 20)],
    }
}

#[test]
fn words_of_sizes_are_those_of_the_machine() {
    let bytes = |size: Value| bytes_of(&order(&[("size", size)]), &machine(), 2);
    let word = |word: &str| Value::Word(word.into());
    assert_eq!(bytes(word("L1")), Ok(36 << 10));
    assert_eq!(bytes(word("L2")), Ok(1 << 20));
    assert_eq!(bytes(word("L3")), Ok(8 << 20));
    assert_eq!(bytes(word("memory")), Ok(64 << 20));
    assert_eq!(bytes(Value::Quantity(Quantity::bytes(12345))), Ok(12345));
    let bare = Cpus { threads: machine().threads, caches: Vec::new() };
    let lacks = bytes_of(&order(&[("size", word("L2"))]), &bare, 1);
    assert!(matches!(lacks, Err(Unready::NotAvailable(why)) if why.contains("L2")));
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
    assert!(matches!(threads(Value::Count(5), "spread"), Err(Unready::NotAvailable(_))));
}
