//! Pairs are chosen, refused and summed up as asked, and hand over on this machine.

use super::check::{figures, tell_pairs};
use super::run::{home, nominal, pairs, ready};
use super::spec::SPEC;
use crate::engine::alone::fixture::{self, bytes, series, word};
use crate::engine::alone::{Order, Taken};
use desk::record::{Outcome, Settings, Value, Window};
use desk::unit::{Quantity, Unit};
use rig::lab::clock;
use rig::metal::pair::Home;
use rig::metal::{Cpus, Gang, Span, Thread, Unready};
use rig::workload::Checked;

fn order(params: &[(&str, Value)]) -> Order {
    let defaults = [
        ("block", bytes(4096)),
        ("home", word("ping")),
        ("method", word("cas")),
        ("pair", word("all")),
        ("pairs", Value::Count(28)),
    ];
    fixture::order(&SPEC, &defaults, params)
}

/// So many CPUs, the odd ones on node 1.
fn machine(cpus: u32) -> Cpus {
    let thread = |cpu: u32| Thread {
        cpu,
        siblings: vec![cpu],
        package: 0,
        node: cpu % 2,
        caches: Vec::new(),
    };
    Cpus { threads: (0..cpus).map(thread).collect() }
}

#[test]
fn a_pair_is_two_cpus_in_their_order_or_all_in_turn() {
    let chosen = |pair: &str, cpus| pairs(&order(&[("pair", word(pair))]), &machine(cpus));
    assert_eq!(chosen("3-1", 4), Ok(vec![(3, 1)]));
    assert_eq!(chosen("all", 3), Ok(vec![(0, 1), (0, 2), (1, 2)]));
    assert_eq!(chosen("all", 8).unwrap().len(), 28);
    let drawn = chosen("all", 64).unwrap();
    assert_eq!(drawn.len(), 28);
    let other = Order { seed: 6, ..order(&[]) };
    assert_eq!(pairs(&other, &machine(64)), Ok(drawn), "the same in trials of every seed");
}

#[test]
fn what_is_no_pair_is_refused() {
    for word in ["3", "1-1", "a-b", "1-2-3", ""] {
        let why = pairs(&order(&[("pair", Value::Word(word.into()))]), &machine(4)).unwrap_err();
        assert!(matches!(&why, Unready::Failed(text) if text.contains("0-1")), "{why:?}");
    }
    let none = "CPU 7 is not there, or may not be used; those that may: 0-3";
    for (word, cpus, what) in [("0-7", 4, none), ("all", 1, "here is one"), ("0-1", 1, "one")] {
        let why = pairs(&order(&[("pair", Value::Word(word.into()))]), &machine(cpus)).unwrap_err();
        assert!(matches!(&why, Unready::NotAvailable(text) if text.contains(what)), "{why:?}");
    }
}

#[test]
fn the_home_of_the_line_is_one_of_three() {
    let of = |name: &str, nodes: &[u32]| {
        home(&order(&[("home", word(name))]), (0, 1), &machine(4), nodes)
    };
    assert_eq!((of("ping", &[0]), of("pong", &[0])), (Ok(Home::Ping), Ok(Home::Pong)));
    assert_eq!(of("third", &[0, 1, 3]), Ok(Home::Node(3)));
    assert!(matches!(of("third", &[0, 1]), Err(Unready::NotAvailable(_))));
}

fn taken(rates: &[u64], names: &str) -> Taken {
    let series = |rate: &u64| series(&[*rate], 1_000_000_000);
    let made_with = Settings::from([("pairs".to_owned(), word(names))]);
    Taken { series: rates.iter().map(series).collect(), made_with }
}

#[test]
fn all_pairs_give_their_median_their_worst_and_a_reading_each() {
    let rates = [20_000_000, 10_000_000, 5_000_000];
    let samples = figures(&order(&[]), &taken(&rates, "0-1 0-2 1-2")).unwrap();
    let mut checked = Checked { outcome: Outcome { samples, ..outcome() }, readings: Vec::new() };
    tell_pairs(&mut checked);
    let told: Vec<(&str, f64)> = checked
        .outcome
        .samples
        .iter()
        .map(|s| (s.metric.as_str(), (s.quantity.value * 1e9).round()))
        .collect();
    assert_eq!(told, [("latency", 100.0), ("worst_latency", 200.0)]);
    let rows: Vec<(&str, f64)> = checked
        .readings
        .iter()
        .map(|r| (r.key.as_str(), (r.quantity.value * 1e9).round()))
        .collect();
    assert_eq!(rows, [("0-1", 50.0), ("0-2", 100.0), ("1-2", 200.0)]);
    assert!(checked.readings.iter().all(|r| r.probe == "core_pair" && r.host == "sut"));
    // Of an even number the two in the middle.
    let even = figures(&order(&[]), &taken(&rates[..2], "0-1 0-2")).unwrap();
    assert!((even[0].quantity.value * 1e9 - 75.0).abs() < 1e-9, "{even:?}");
    assert_eq!(figures(&order(&[]), &taken(&rates[..1], "")).unwrap().len(), 2, "no names");
    assert!(figures(&order(&[]), &taken(&[0], "0-1")).is_err());
}

fn outcome() -> Outcome {
    Outcome { window: Window { opened_ns: 1, closed_ns: 2 }, steady: true, ..Outcome::default() }
}

#[test]
fn blocks_are_a_bandwidth_and_no_latency() {
    let blocks = order(&[("method", word("handover"))]);
    let samples = figures(&blocks, &taken(&[1_000_000], "0-1")).unwrap();
    let mut checked = Checked { outcome: Outcome { samples, ..outcome() }, readings: Vec::new() };
    tell_pairs(&mut checked);
    let samples = &checked.outcome.samples;
    assert_eq!(samples.len(), 1);
    assert_eq!(samples[0].metric, "bandwidth");
    assert_eq!(samples[0].quantity, Quantity::new(4.096e9, Unit::BytePerSecond));
    let reading = &checked.readings[0];
    assert_eq!((reading.probe.as_str(), reading.key.as_str()), ("core_handover", "0-1"));
    assert_eq!(reading.quantity, samples[0].quantity);
}

#[test]
fn a_simulated_machine_has_as_many_pairs_as_are_asked_for() {
    assert_eq!(nominal(&order(&[]), 4).len(), 6);
    assert_eq!(nominal(&order(&[("pairs", Value::Count(2))]), 4).len(), 2);
    assert_eq!(nominal(&order(&[("pair", word("0-1"))]), 4).len(), 1);
}

#[test]
fn every_method_hands_over_on_this_machine() {
    if Cpus::read(std::path::Path::new("/")).threads.len() < 2 {
        assert!(matches!(ready(&order(&[])), Err(Unready::NotAvailable(_))));
        return;
    }
    for method in ["cas", "store", "two_lines", "handover"] {
        for home in ["ping", "pong"] {
            let order = order(&[("method", word(method)), ("home", word(home))]);
            let staged = ready(&order).unwrap();
            let gang = Gang::start(staged.members).unwrap();
            let opens_ns = clock::now_ns() + 2_000_000;
            let span = Span { opens_ns, closes_ns: opens_ns + 10_000_000 };
            let together = gang.measure(span).unwrap();
            assert!(together.series.iter().all(|s| s.verified.as_ref().is_ok_and(|n| *n > 0)));
            let taken = Taken { series: together.series, made_with: staged.made_with };
            let samples = figures(&order, &taken).unwrap();
            assert!(samples.iter().all(|s| s.quantity.value > 0.0), "{samples:?}");
        }
    }
}
