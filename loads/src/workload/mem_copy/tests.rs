//! Ways of copying: which loop each means, what they give, and what is refused.

use super::check::figures;
use super::run::{self, nominal, ready};
use super::spec::{ALGORITHMS, SPEC};
use crate::engine::alone::fixture::series;
use crate::engine::alone::{Order, Ready, Taken};
use desk::record::{Settings, Value};
use desk::unit::{Quantity, Unit};
use rig::metal::kernel::{Isa, Operation, Row, Store, Walk, rows};
use rig::metal::{Gang, Span, Unready};
use std::collections::BTreeSet;

/// The first loop of one thread.
fn choose(word: &str, bytes: u64, fast: bool) -> Result<&'static Row, Unready> {
    run::choose(word, (bytes, bytes), fast).map(|rows| rows[0])
}

fn order(algorithm: &str, bytes: u64) -> Order {
    let word = |word: &str| Value::Word(word.to_owned());
    let params = Settings::from([
        ("algorithm".into(), word(algorithm)),
        ("pages".into(), word("base")),
        ("placement".into(), word("packed")),
        ("size".into(), Value::Quantity(Quantity::bytes(bytes))),
        ("threads".into(), Value::Count(1)),
    ]);
    Order { params, settings: Settings::new(), seed: 3 }
}

#[test]
fn every_word_is_a_copy_of_its_own_or_not_of_this_kind_of_cpu() {
    let mut names = BTreeSet::new();
    for word in ALGORITHMS.iter().filter(|word| **word != "best") {
        match choose(word, 1 << 20, true) {
            Ok(row) => {
                assert_eq!(row.operation, Operation::Copy, "{word}");
                assert!(names.insert(row.name), "{word} is {} again", row.name);
            }
            Err(Unready::NotAvailable(why)) => {
                assert!(why.contains(word) && why.contains("registers, libc or best"), "{why}");
            }
            Err(why) => panic!("{word}: {why}"),
        }
    }
    let known = if cfg!(target_arch = "x86_64") { ALGORITHMS.len() - 1 } else { 2 };
    assert_eq!(names.len(), known, "{names:?}");
    assert!(choose("mmx", 1 << 20, true).is_err());
}

#[test]
fn the_best_copy_goes_by_the_size() {
    let best = |bytes, fast| run::choose("best", (bytes, bytes), fast).unwrap();
    for rows in [best(64 << 10, true), best(1 << 20, false)] {
        let [row] = rows[..] else { panic!("{rows:?}") };
        assert_eq!((row.store, row.walk, row.missing()), (Store::Temporal, Walk::Straight, None));
        assert!(!matches!(row.isa, Isa::Rep | Isa::Libc | Isa::Compiler), "{}", row.name);
    }
    let large = best(1 << 30, true);
    assert!(large.iter().all(|row| row.store == Store::NonTemporal && row.missing().is_none()));
    assert_eq!(large[0].walk, Walk::Straight);
    assert_eq!(large.last().unwrap().walk == Walk::Pages, cfg!(target_arch = "x86_64"));
    if cfg!(target_arch = "x86_64") {
        let isas: Vec<Isa> = best(1 << 20, true).iter().map(|row| row.isa).collect();
        assert_eq!((isas.len(), isas[1]), (2, Isa::Rep), "{isas:?}");
    }
}

#[test]
fn words_say_what_is_done() {
    if cfg!(target_arch = "x86_64") {
        let row = choose("avx2_nt_prefetched", 1 << 20, true).unwrap();
        let wanted = (Isa::Avx2, Store::NonTemporal, Walk::Prefetched);
        assert_eq!((row.isa, row.store, row.walk), wanted);
        assert_eq!(choose("rep_movsq", 1 << 20, true).unwrap().isa, Isa::RepQ);
        assert_eq!(choose("block_16k", 1 << 20, true).unwrap().walk, Walk::Blocks(16384));
    }
    let row = choose("registers_nt", 1 << 20, true).unwrap();
    assert_eq!((row.isa, row.store), (Isa::Scalar, Store::NonTemporal));
}

#[test]
fn every_way_copies_what_it_is_given() {
    for word in ALGORITHMS {
        let order = order(word, 256 << 10);
        let Ready { members, made_with } = match ready(&order) {
            Ok(ready) => ready,
            Err(Unready::NotAvailable(_)) => continue,
            Err(why) => panic!("{word}: {why}"),
        };
        assert_eq!(made_with.contains_key("libc"), *word == "libc");
        for (key, word) in [("pages", "base"), ("placement", "packed")] {
            assert_eq!(made_with[key], Value::Word(word.into()), "read back as a factor");
        }
        assert_eq!(made_with["bytes"], Value::Quantity(Quantity::bytes(256 << 10)), "{word}");
        let name = made_with["loop"].word().unwrap();
        assert!(rows().any(|row| row.name == name), "{name}");
        let gang = Gang::start(members).unwrap();
        let now_ns = rig::lab::clock::now_ns();
        let span = Span { opens_ns: now_ns, closes_ns: now_ns + 5_000_000 };
        let series = gang.measure(span).unwrap().series;
        assert!(series[0].verified.as_ref().unwrap() > &0, "{word}");
        assert!(series[0].samples.iter().all(|sample| sample.work > 0), "{word}");
    }
}

#[test]
fn a_block_that_does_not_fit_is_not_available() {
    let blocks = ready(&order("block_16k", 8 << 10));
    let none = matches!(blocks, Err(Unready::NotAvailable(why)) if why.contains("too few"));
    assert!(none);
}

#[test]
fn figures_are_the_median_and_the_best_of_all_threads() {
    let series = series(&[4_000_000, 6_000_000, 5_000_000], 1_000_000);
    let taken = Taken { series: vec![series.clone(), series], made_with: Settings::new() };
    let samples = figures(&order("libc", 1), &taken).unwrap();
    for (sample, (name, value)) in
        samples.iter().zip([("bandwidth", 1e10), ("best_bandwidth", 1.2e10)])
    {
        assert_eq!((sample.metric.as_str(), sample.quantity.unit), (name, Unit::BytePerSecond));
        assert!((sample.quantity.value / value - 1.0).abs() < 1e-9, "{sample:?}");
        assert!(SPEC.metrics.iter().any(|spec| spec.name == name));
    }
    assert_eq!(nominal(&order("libc", 1), 8).len(), 1);
}
