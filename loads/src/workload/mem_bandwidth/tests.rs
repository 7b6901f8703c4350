//! Load points of `mem_bandwidth`: which loop they mean, what they give, and what is refused.

use super::check::{bus_share, figures};
use super::run::{self, nominal, ready};
use super::spec::SPEC;
use crate::engine::alone::fixture::series;
use crate::engine::alone::{Order, Ready, Taken};
use desk::record::{Fault, Settings, Value};
use desk::unit::{Quantity, Unit};
use rig::metal::kernel::{Isa, Operation, Row, Store, Walk, rows};
use rig::metal::{Gang, Span, Unready};

/// The first loop of one thread.
fn choose(order: &Order, bytes: u64) -> Result<&'static Row, Unready> {
    run::choose(order, (bytes, bytes)).map(|rows| rows[0])
}

fn order(params: &[(&str, &str)]) -> Order {
    let mut all: Settings = SPEC
        .params
        .iter()
        .map(|param| (param.name.to_owned(), Value::Word(param.default.to_owned())))
        .collect();
    all.insert("threads".into(), Value::Count(1));
    for (key, word) in params {
        all.insert((*key).to_owned(), Value::Word((*word).to_owned()));
    }
    Order { params: all, settings: Settings::new(), seed: 7 }
}

fn refused(params: &[(&str, &str)]) -> String {
    match choose(&order(params), 1 << 20) {
        Err(Unready::NotAvailable(why)) => why,
        other => panic!("{params:?}: {:?}", other.map(|row| row.name)),
    }
}

#[test]
fn the_best_is_the_widest_that_this_cpu_has() {
    let row = choose(&order(&[]), 1 << 20).unwrap();
    assert_eq!((row.operation, row.store), (Operation::Triad, Store::Temporal));
    assert_eq!(row.missing(), None);
    let width = |isa| {
        [Isa::Scalar, Isa::Sse, Isa::Avx2, Isa::Avx512].into_iter().position(|one| one == isa)
    };
    let same = |other: &&rig::metal::kernel::Row| {
        (other.operation, other.store, other.missing()) == (row.operation, row.store, None)
    };
    assert!(rows().filter(same).all(|other| width(other.isa) <= width(row.isa)), "{}", row.name);
}

#[test]
fn large_arrays_are_also_tried_in_another_order() {
    let walks = |words: &[(&str, &str)], sizes| {
        let rows = run::choose(&order(words), sizes).unwrap();
        assert!(rows.iter().all(|row| row.isa == rows[0].isa), "only the order differs");
        rows.into_iter().map(|row| row.walk).collect::<Vec<_>>()
    };
    let both = |bytes| (bytes, bytes);
    assert_eq!(walks(&[("operation", "read")], both(32 << 10)), [Walk::Straight]);
    let past = [("operation", "copy"), ("store", "nontemporal")];
    assert_eq!(walks(&past, both(1 << 20)), [Walk::Straight]);
    let scalar = [("operation", "read"), ("isa", "scalar")];
    assert_eq!(walks(&scalar, both(1 << 20)), [Walk::Straight]);
    if cfg!(target_arch = "x86_64") {
        let read = walks(&[("operation", "read")], both(1 << 20));
        assert_eq!(read, [Walk::Straight, Walk::Streams]);
        assert_eq!(walks(&past, both(1 << 30)), [Walk::Straight, Walk::Pages]);
        let many = walks(&past, (1 << 20, 64 << 20));
        assert_eq!(many.len(), 2, "what many threads have together is past the caches");
    }
}

#[test]
fn every_operation_has_a_loop_with_every_width() {
    for operation in Operation::ALL {
        let row = choose(&order(&[("operation", operation.word()), ("isa", "scalar")]), 1 << 20);
        assert_eq!(row.unwrap().operation, operation);
    }
    if cfg!(target_arch = "x86_64") {
        for isa in ["sse", "avx2", "avx512"] {
            for store in ["temporal", "nontemporal"] {
                let words = [("operation", "triad"), ("isa", isa), ("store", store)];
                let row = choose(&order(&words), 1 << 20).unwrap();
                assert_eq!((row.isa.word(), row.store.word()), (isa, store));
            }
        }
        let row = choose(&order(&[("operation", "write"), ("isa", "rep_q")]), 1 << 20).unwrap();
        assert_eq!(row.name, "write_rep_q");
    }
}

#[test]
fn what_does_not_exist_says_so() {
    let read = refused(&[("operation", "read"), ("store", "nontemporal")]);
    assert!(read.contains("a read stores nothing"), "{read}");
    if cfg!(target_arch = "x86_64") {
        assert!(refused(&[("isa", "rep")]).contains("rep copies and writes"));
    } else {
        assert!(refused(&[("isa", "avx512")]).contains("with avx512"));
    }
}

#[test]
fn too_small_arrays_and_too_many_threads_are_not_available() {
    let mut small = order(&[("pages", "own")]);
    small.params.insert("size".into(), Value::Quantity(Quantity::bytes(8)));
    assert!(matches!(ready(&small), Err(Unready::NotAvailable(why)) if why.contains("too few")));
    let mut many = small;
    many.params.insert("threads".into(), Value::Count(100_000));
    assert!(matches!(ready(&many), Err(Unready::NotAvailable(why)) if why.contains("threads")));
}

#[test]
fn a_load_runs_and_is_right() {
    for operation in Operation::ALL {
        let mut order = order(&[("operation", operation.word()), ("pages", "base")]);
        order.params.insert("size".into(), Value::Quantity(Quantity::bytes(96 << 10)));
        let Ready { members, made_with } = ready(&order).unwrap();
        for (key, word) in [("pages", "base"), ("placement", "spread"), ("store", "temporal")] {
            assert_eq!(made_with[key], Value::Word(word.into()), "read back as a factor");
        }
        let gang = Gang::start(members).unwrap();
        let now_ns = rig::lab::clock::now_ns();
        let span = Span { opens_ns: now_ns, closes_ns: now_ns + 20_000_000 };
        let series = gang.measure(span).unwrap().series;
        assert!(series[0].verified.as_ref().unwrap() > &0, "{}", operation.word());
        let samples = figures(&order, &Taken { series, made_with }).unwrap();
        assert!(samples.iter().all(|sample| sample.quantity.value > 0.0), "{samples:?}");
        for sample in samples {
            let spec = SPEC.metrics.iter().find(|spec| spec.name == sample.metric).unwrap();
            assert_eq!(spec.unit, sample.quantity.unit);
        }
    }
}

fn taken(clock: Option<f64>) -> Taken {
    let series = series(&[4_000_000, 6_000_000, 5_000_000], 1_000_000);
    let mut made_with = Settings::new();
    if let Some(hertz) = clock {
        let clock = Value::Quantity(Quantity::new(hertz, Unit::Hertz));
        made_with.insert("core_clock".into(), clock);
    }
    Taken { series: vec![series.clone(), series], made_with }
}

#[test]
fn figures_are_the_median_the_best_and_what_the_bus_carries() {
    let values = |order: &Order, clock| -> Vec<f64> {
        let samples = figures(order, &taken(clock)).unwrap();
        samples.into_iter().map(|sample| sample.quantity.value).collect()
    };
    // Two threads of 5 GB/s; of a triad's four arrays on the bus three are counted.
    let all = values(&order(&[]), Some(2.5e9));
    let wanted = [1e10, 1e10 * 4.0 / 3.0, 1.2e10, 2.0];
    assert!(all.iter().zip(wanted).all(|(a, b)| (a / b - 1.0).abs() < 1e-9), "{all:?}");
    assert_eq!(all.len(), 4);
    let past = values(&order(&[("store", "nontemporal")]), None);
    assert_eq!((past.len(), (past[1] / 1e10 - 1.0).abs() < 1e-9), (3, true));
}

#[test]
fn more_than_a_core_can_move_is_no_figure() {
    // 5 GB/s at 20 MHz are 250 bytes a clock, at 19 MHz 263.
    assert_eq!(figures(&order(&[]), &taken(Some(20e6))).unwrap().len(), 4);
    let fault = figures(&order(&[]), &taken(Some(19e6))).unwrap_err();
    let says = |what: &str| what.contains("263 bytes a clock") && what.contains("no core moves");
    assert!(matches!(&fault, Fault::WrongWork { what } if says(what)), "{fault}");
}

#[test]
fn the_book_of_write_allocate() {
    let share = |operation| bus_share(operation, Store::Temporal);
    assert_eq!(Operation::ALL.map(share), [1.0, 2.0, 1.5, 1.5, 4.0 / 3.0, 4.0 / 3.0]);
    // The table of loops says the same.
    for row in rows() {
        let by_row = row.bus(1 << 20) as f64 / row.counted(1 << 20) as f64;
        assert!((bus_share(row.operation, row.store) - by_row).abs() < 1e-12, "{}", row.name);
    }
}

#[test]
fn a_simulated_load_has_as_many_threads_as_were_asked_for() {
    let mut two = order(&[]);
    two.params.insert("threads".into(), Value::Count(2));
    assert_eq!(nominal(&two, 8).len(), 2);
    assert_eq!(nominal(&order(&[("threads", "all")]), 8).len(), 8);
}
