//! Checks what is derived of a machine and how it is said and drawn.

use crate::figure::{Figure, FigureKind};
use crate::record::{Cache, Run, Value};
use crate::report::document::Document;
use crate::report::trace::figures;
use crate::report::{compose, fixture, text};
use crate::unit::{Quantity, Unit};
use crate::verdict::{Analysis, DerivedFact, DerivedKind, analyse};

const KIB: f64 = 1024.0;

fn plain(document: &Document) -> String {
    text(document, 20_000, true).replace('\u{a0}', " ")
}

fn of(analysis: &Analysis, kind: DerivedKind) -> Vec<&DerivedFact> {
    analysis.derived.iter().filter(|fact| fact.kind == kind).collect()
}

/// The first cache and the caches that were inferred, each by what was told and whether it fits.
fn told(run: &Run) -> Vec<(Vec<Quantity>, Option<bool>)> {
    let analysis = analyse(run);
    let sizes =
        |fact: &&DerivedFact| (fact.told.iter().map(|(_, size)| *size).collect(), fact.agrees);
    of(&analysis, DerivedKind::CacheSize).iter().map(sizes).collect()
}

#[test]
fn an_inferred_cache_stands_beside_what_the_kernel_tells_of_it() {
    let (mut run, analysis) = fixture::machine();
    let all = plain(&compose(&run, &analysis).unwrap());
    for words in [
        "between 32 KiB and 64 KiB",
        "sysfs tells 48 KiB: fits",
        "sysfs tells 2 MiB: fits",
        "sysfs tells 260 MiB: disagrees",
        "what the kernel tells in sysfs, which has it from the processor’s own words (CPUID)",
    ] {
        assert!(all.contains(words), "{words} is not in\n{all}");
    }
    // Cores of two kinds: either may be the one that was measured.
    let other = Cache { size: Quantity::bytes(128 << 10), ..run.environment.caches[0].clone() };
    run.environment.caches.insert(0, other);
    let bytes = |kib: u64| Quantity::bytes(kib << 10);
    assert_eq!(told(&run)[0], (vec![bytes(128), bytes(48)], Some(true)));
    run.environment.caches.clear();
    assert_eq!(told(&run), vec![(Vec::new(), None); 3], "what is inferred needs nobody's word");
    let all = plain(&compose(&run, &analyse(&run)).unwrap());
    assert!(all.contains("the machine tells of none"), "{all}");
}

/// The run with walks by address of so many bytes, each of a time that follows from what it was.
fn walks(run: &Run, bytes: f64, time: impl Fn(f64) -> f64) -> Run {
    let mut run = run.clone();
    let size = Value::Quantity(Quantity::new(bytes, Unit::Byte));
    for load in run.plan.loads.iter_mut().filter(|load| load.name == "stride") {
        load.fixed.insert("size".into(), size.clone());
    }
    for record in run.records.iter_mut().filter(|r| r.trial.point.load == "stride") {
        record.trial.point.params.insert("size".into(), size.clone());
        record.outcome.made_with.insert("bytes".into(), size.clone());
        let latency = &mut record.outcome.samples[0].quantity.value;
        *latency = time(*latency);
    }
    run
}

fn ends(run: &Run) -> Vec<Option<Value>> {
    let analysis = analyse(run);
    of(&analysis, DerivedKind::PrefetchEnds).iter().map(|fact| fact.at.clone()).collect()
}

#[test]
fn prefetching_ends_nowhere_within_the_first_cache() {
    let (run, _) = fixture::machine();
    let at = |bytes: u64| vec![Some(Value::Quantity(Quantity::bytes(bytes)))];
    assert_eq!(ends(&run), at(256));
    // What random loads take there, over what they take in memory.
    let (first, second) = (|time: f64| time * 1.5 / 120.0, |time: f64| time * 6.4 / 120.0);
    assert_eq!(ends(&walks(&run, 256.0 * KIB, second)), at(256));
    assert_eq!(ends(&walks(&run, 32.0 * KIB, first)), []);
    assert_eq!(ends(&walks(&run, 48.0 * KIB, first)), [], "as the kernel tells");
    let mut silent = run;
    silent.environment.caches.clear();
    assert_eq!(ends(&walks(&silent, 32.0 * KIB, first)), [], "as it was inferred");
    assert_eq!(ends(&walks(&silent, 64.0 * KIB, second)), at(256));
}

#[test]
fn a_walk_of_which_the_shortest_stride_has_no_help_ends_nowhere() {
    let (run, _) = fixture::machine();
    assert_eq!(ends(&walks(&run, 65536.0 * KIB, |_| 1.1e-7)), []);
}

fn roofed(run: &Run) -> Vec<Figure> {
    let document = compose(run, &analyse(run)).unwrap();
    let roofed = |figure: &&Figure| figure.kind == FigureKind::Roofline;
    figures(&document.body).into_iter().filter(roofed).cloned().collect()
}

/// Level roofs by name.
fn levels(figure: &Figure) -> Vec<(&str, f64)> {
    let level = |roof: &'_ crate::figure::Roof| roof.ceiling;
    figure.roofs.iter().filter_map(|roof| Some((roof.name.as_str(), level(roof)?))).collect()
}

fn near(found: &[(&str, f64)], planted: &[(&str, f64)]) {
    assert_eq!(found.len(), planted.len(), "{found:?}");
    for (found, planted) in found.iter().zip(planted) {
        assert_eq!(found.0, planted.0);
        assert!((found.1 / planted.1 - 1.0).abs() < 0.02, "{found:?}, not {planted:?}");
    }
}

#[test]
fn ciphers_stand_under_the_memory_of_as_many_threads() {
    let (mut run, _) = fixture::machine();
    let all = roofed(&run);
    let [one, four] = &all[..] else { panic!("{} figures", all.len()) };
    assert_eq!(one.title, "Ciphers under the roof of memory, 1 thread");
    assert_eq!(four.title, "Ciphers under the roof of memory, 4 threads");
    let names = |figure: &Figure| figure.series.iter().map(|s| s.name.clone()).collect::<Vec<_>>();
    assert_eq!((names(one), names(four)), (vec!["one_core".into()], vec!["all_cores".into()]));
    // The quickest copy of one thread is 0.8 times 16 GB/s times 1.4, read and written.
    near(&levels(one), &[("memory, copied", 0.4 * 16e9 * 1.4), ("memory, read only", 16e9)]);
    near(&levels(four), &[("memory, read only", 16e9 * 2.2)]);
    assert!(one.footnote.contains("half of the highest bandwidth of copying memory"));
    assert!(!four.footnote.contains("copying") && !four.footnote.contains("not drawn"));
    // A cipher that is quicker than a copy is served by the caches.
    for record in run.records.iter_mut().filter(|r| r.trial.point.load == "one_core") {
        record.outcome.samples[0].quantity.value *= 2.0;
    }
    let all = roofed(&run);
    near(&levels(&all[0]), &[("memory, read only", 16e9)]);
    assert!(all[0].footnote.contains("A roof of memory below a point is not drawn"));
    // Without memory of one thread there is nothing to stand under.
    run.records.retain(|r| {
        r.outcome.made_with.get("threads").and_then(Value::count) != Some(1)
            || r.trial.point.workload == "cipher"
    });
    let left: Vec<String> = roofed(&run).into_iter().map(|figure| figure.title).collect();
    assert_eq!(left, ["Ciphers under the roof of memory, 4 threads"]);
}

#[test]
fn bytes_of_memory_for_a_byte_of_cipher_are_held_against_two_to_three() {
    let (run, analysis) = fixture::machine();
    let all = plain(&compose(&run, &analysis).unwrap());
    assert!(all.contains("below two to three, memory holds such a cipher down"), "{all}");
    assert!(!all.contains("less than one"), "{all}");
}

#[test]
fn a_cell_has_the_figures_that_were_measured_by_themselves() {
    let mut seen = 0;
    for (blocks, levels) in [(1, &[][..]), (5, &[]), (8, &["always", "never"])] {
        let (_, analysis) = fixture::alone(blocks, levels);
        for point in analysis.measured.iter().filter(|point| !point.figures.is_empty()) {
            let here = |cell: &&crate::verdict::MachineCell| {
                cell.load == point.load
                    && cell.levels == point.levels
                    && point.at.iter().all(|(key, value)| cell.params.get(key) == Some(value))
            };
            let cells: Vec<_> = analysis.cells.iter().filter(here).collect();
            let [cell] = cells[..] else { panic!("{} cells at {:?}", cells.len(), point.at) };
            assert_eq!(cell.figures.len(), point.figures.len());
            for figure in &point.figures {
                assert_eq!(cell.figures[&figure.metric], figure.estimate);
                seen += 1;
            }
            let n = cell.figure().unwrap().n;
            assert_eq!(cell.blocks.len(), usize::try_from(n).unwrap());
        }
    }
    assert!(seen > 60, "{seen} figures");
}

#[test]
fn where_boots_are_compared_a_cell_has_one_value_for_each_round() {
    let (mut run, _) = fixture::alone(6, &["always", "never"]);
    (run.plan.factors[0].reboot, run.plan.method.boots) = (true, 3);
    run.records.retain(|r| r.trial.block > 0);
    for record in &mut run.records {
        record.trial.round = record.trial.block.div_ceil(2);
        let never = u32::from(record.trial.treatment.levels["thp"] == "never");
        record.trial.boot = 2 * record.trial.round - 1 + never;
    }
    let analysis = analyse(&run);
    let cell = analysis.cells.iter().find(|cell| cell.load == "reach").unwrap();
    let first = run.records.iter().filter(|r| {
        let trial = &r.trial;
        trial.point.params == cell.params
            && trial.point.load == "reach"
            && trial.treatment.levels == cell.levels
            && trial.round == 1
    });
    let logs: Vec<f64> = first.map(|r| r.outcome.samples[0].quantity.value.ln()).collect();
    assert_eq!((logs.len(), cell.blocks.len(), cell.figure().unwrap().n), (2, 3, 3));
    let mean = f64::midpoint(logs[0], logs[1]).exp();
    assert!((cell.blocks[&1].value / mean - 1.0).abs() < 1e-12, "{:?}", cell.blocks);
}
