//! A trial becomes the chase that it asks for, or a reason; its samples become figures.

use super::check::figures;
use super::run::{Wanted, nominal, ready};
use super::spec::SPEC;
use crate::engine::alone::fixture::{self, bytes, word};
use crate::engine::alone::{Order, Taken};
use desk::record::{Settings, Value};
use desk::unit::{Quantity, Unit};
use rig::lab::clock;
use rig::metal::chase::Order as Visit;
use rig::metal::{CacheOf, Cpus, Gang, PageSize, Series, Span, Thread, Unready};

/// An order with every parameter at its default, but for these.
fn order(params: &[(&str, Value)]) -> Order {
    let defaults = [
        ("cpu", word("first")),
        ("inject", word("read")),
        ("load", Value::Count(0)),
        ("node", word("local")),
        ("order", word("random")),
        ("pages", word("huge")),
        ("pause", Value::Quantity(Quantity::seconds(0.0))),
        ("size", word("L2")),
        ("stride", bytes(64)),
    ];
    fixture::order(&SPEC, &defaults, params)
}

/// Two cores of two threads, 0 and 2, 1 and 3; the second core has half the caches of the first.
fn machine() -> Cpus {
    let thread = |cpu: u32| {
        let (core, half) = (vec![cpu % 2, cpu % 2 + 2], cpu % 2);
        let shared_by = core.clone();
        let cache = |level, kind: &str, bytes: u64| CacheOf {
            level,
            kind: kind.into(),
            bytes: bytes >> half,
            shared_by: shared_by.clone(),
        };
        let caches = vec![cache(1, "Data", 48 << 10), cache(2, "Unified", 2 << 20)];
        Thread { cpu, siblings: core, package: 0, node: 0, caches }
    };
    Cpus { threads: (0..4).map(thread).collect() }
}

/// On that machine with 8 GiB of memory.
fn wanted(params: &[(&str, Value)], nodes: &[u32]) -> Result<Wanted, Unready> {
    Wanted::read(&order(params), &machine(), nodes, 8 << 30)
}

#[test]
fn three_kinds_of_latency_are_told_apart() {
    let kind =
        |visit: &str, granted| wanted(&[("order", word(visit))], &[0]).unwrap().kind(granted);
    assert_eq!(kind("random", Some(1.0)), "load-to-use");
    for few in [Some(0.9), Some(0.0), None] {
        assert_eq!(kind("random", few), "load-to-use with TLB misses");
    }
    for visit in ["sequential", "in_page"] {
        assert_eq!(kind(visit, Some(1.0)), "prefetch-helped");
        assert_eq!(kind(visit, Some(0.0)), "prefetch-helped");
    }
    let pages = |name: &str| wanted(&[("pages", word(name))], &[0]).unwrap().pages;
    let all = [PageSize::Huge, PageSize::Base, PageSize::Own];
    assert_eq!(["huge", "base", "own"].map(pages), all);
}

#[test]
fn a_trial_becomes_a_layout_and_cpus() {
    let plain = wanted(&[], &[0]).unwrap();
    assert_eq!((plain.cpu, plain.busy.as_slice(), plain.node), (0, &[][..], None));
    assert_eq!((plain.layout.size, plain.layout.stride, plain.layout.seed), (1 << 20, 64, 5));
    assert_eq!((plain.layout.order, plain.pages), (Visit::Random, PageSize::Huge));
    let params = [
        ("load", Value::Count(3)),
        ("cpu", Value::Count(1)),
        ("size", bytes(8 << 10)),
        ("stride", bytes(4)),
    ];
    let loaded = wanted(&params, &[0]).unwrap();
    assert_eq!(
        (loaded.cpu, loaded.busy.as_slice()),
        (1, &[0, 2, 3][..]),
        "a core of its own first"
    );
    assert_eq!((loaded.layout.size, loaded.layout.stride), (8 << 10, 4));
    assert_eq!(loaded.busy_bytes, (64 << 20) / 3, "memory, shared by three");
    assert_eq!(plain.busy_bytes, 0);
    let second = wanted(&[("cpu", Value::Count(3))], &[0]).unwrap();
    assert_eq!(second.layout.size, 512 << 10, "half of the second cache of that CPU");
    let far = wanted(&[("node", Value::Count(1))], &[0, 1]).unwrap();
    assert_eq!(far.node, Some(1));
}

#[test]
fn what_the_machine_lacks_is_not_available_and_named() {
    let lacks = [
        (vec![("node", Value::Count(0))], vec![0], "one node only"),
        (vec![("node", Value::Count(7))], vec![0, 1], "node 7, not of 0, 1"),
        (vec![("cpu", Value::Count(9))], vec![0], "those that may: 0-3"),
        (vec![("load", Value::Count(4))], vec![0], "ask for 3 or fewer"),
        (vec![("size", bytes(1 << 30)), ("stride", bytes(4))], vec![0], "larger stride"),
    ];
    for (params, nodes, what) in lacks {
        let why = wanted(&params, &nodes).unwrap_err();
        assert!(matches!(&why, Unready::NotAvailable(text) if text.contains(what)), "{why:?}");
    }
    let odd = wanted(&[("stride", bytes(24))], &[0]).unwrap_err();
    assert!(matches!(&odd, Unready::Failed(text) if text.contains("power of two")), "{odd:?}");
}

#[test]
fn more_memory_than_there_is_is_refused_before_it_is_touched() {
    let wanted = |params: &[(&str, Value)], available: u64| {
        Wanted::read(&order(params), &machine(), &[0], available)
    };
    let refused = |params: &[(&str, Value)], available: u64| match wanted(params, available) {
        Err(Unready::NotAvailable(why)) => why,
        other => panic!("{other:?}"),
    };
    let large = ("size", bytes(1 << 30));
    assert!(wanted(std::slice::from_ref(&large), 2 << 30).is_ok());
    let by_address = ("order", Value::Word("sequential".into()));
    let why = refused(&[large.clone(), by_address.clone()], 1 << 30);
    assert!(why.starts_with("1 thread wants 1073741824 B of memory, and 939524096 B"), "{why}");
    // To draw an order takes 4 bytes a member, 64 MiB.
    let why = refused(&[large], 1 << 30);
    assert!(why.starts_with("1 thread wants 1140850688 B of memory"), "{why}");
    // Injectors count, in whole pages of 2 MiB: 64 MiB of three are 3 x 22 MiB.
    let busy = [("size", bytes(836 << 20)), by_address, ("load", Value::Count(3))];
    let why = refused(&busy, 1 << 30);
    assert!(why.starts_with("4 threads want 945815552 B of memory, and 939524096 B"), "{why}");
    assert!(wanted(&busy[..2], 1 << 30).is_ok());
    // A level leaves room for the injectors' own.
    let both = [("size", word("memory")), ("order", word("sequential")), ("load", Value::Count(1))];
    let shared = wanted(&both, 100 << 20).unwrap();
    assert_eq!((shared.layout.size, shared.busy_bytes), (50 << 20, 25 << 20));
}

/// So many rates, of a second each.
fn series(rates: &[u64]) -> Series {
    fixture::series(rates, 1_000_000_000)
}

#[test]
fn the_walker_gives_the_latency_and_all_others_the_bandwidth() {
    let mut taken = Taken {
        series: vec![series(&[10_000_000, 8_000_000, 5_000_000])],
        made_with: Settings::new(),
    };
    let figure = |taken: &Taken, metric: &str| {
        let samples = figures(&order(&[]), taken).unwrap();
        samples.iter().find(|s| s.metric == metric).map(|s| s.quantity)
    };
    let ns = |figure: Option<Quantity>| (figure.unwrap().value * 1e9).round();
    assert_eq!((ns(figure(&taken, "latency")), ns(figure(&taken, "best_latency"))), (125.0, 100.0));
    assert_eq!(
        (figure(&taken, "latency_clocks"), figure(&taken, "injected_bandwidth")),
        (None, None)
    );
    let clock = Quantity::new(2e9, Unit::Hertz);
    taken.made_with.insert("core_clock".into(), Value::Quantity(clock));
    taken.series.extend([series(&[3, 4, 5]), series(&[10])]);
    assert_eq!(figure(&taken, "latency_clocks"), Some(Quantity::new(250.0, Unit::Count)));
    let injected = Quantity::new(14.0, Unit::BytePerSecond);
    assert_eq!(figure(&taken, "injected_bandwidth"), Some(injected));
    assert_eq!(ns(figure(&taken, "latency")), 125.0);
    taken.series.clear();
    assert!(figures(&order(&[]), &taken).is_err());
}

#[test]
fn a_simulated_machine_is_slower_where_more_is_walked_through() {
    let rate = |size: Value| nominal(&order(&[("size", size)]), 4)[0];
    let rates = [word("L1"), bytes(1 << 19), word("L3"), word("memory")].map(rate);
    assert!(rates.is_sorted_by(|a, b| a > b), "{rates:?}");
    assert_eq!(nominal(&order(&[("load", Value::Count(9))]), 4).len(), 4);
}

#[test]
fn a_trial_on_this_machine_gives_every_figure() {
    let few = Cpus::read(std::path::Path::new("/")).threads.len() < 2;
    let load = Value::Count(u64::from(!few));
    let params = [
        ("size", bytes(64 << 10)),
        ("pages", word("base")),
        ("load", load),
        ("pause", Value::Quantity(Quantity::seconds(2e-6))),
    ];
    let order = order(&params);
    let staged = ready(&order).unwrap();
    assert_eq!(staged.made_with["pages"], word("base"), "read back as a factor");
    let gang = Gang::start(staged.members).unwrap();
    let opens_ns = clock::now_ns() + 5_000_000;
    let together = gang.measure(Span { opens_ns, closes_ns: opens_ns + 30_000_000 }).unwrap();
    assert_eq!(together.series[0].verified, Ok(1024));
    assert!(together.series.iter().all(|s| s.verified.is_ok()), "{:?}", together.series);
    let taken = Taken { series: together.series, made_with: staged.made_with };
    let samples = figures(&order, &taken).unwrap();
    assert_eq!(taken.word("kind"), "load-to-use with TLB misses");
    assert!(samples.iter().all(|s| s.quantity.value > 0.0), "{samples:?}");
    // No load of this century takes less than 0.1 ns.
    assert!(samples[0].quantity.value > 1e-10, "{samples:?}");
}
