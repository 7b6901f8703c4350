//! Checks what is derived of a machine and how it is said and drawn.

use crate::figure::{Figure, FigureKind, Scale, alt_text, braille, csv, svg};
use crate::report::document::Document;
use crate::report::trace::figures;
use crate::report::{compose, fixture, text};
use desk::record::{Better, Cache, Metric, MetricRole, Run, Sample, Value};
use desk::unit::{Quantity, Unit};
use desk::verdict::{Analysis, DerivedFact, DerivedKind, analyse};

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
    let other = Cache { size: Quantity::bytes(128 << 10), ..run.environment().caches[0].clone() };
    run.environment_mut().caches.insert(0, other);
    let bytes = |kib: u64| Quantity::bytes(kib << 10);
    assert_eq!(told(&run)[0], (vec![bytes(128), bytes(48)], Some(true)));
    run.environment_mut().caches.clear();
    assert_eq!(told(&run), vec![(Vec::new(), None); 3], "what is inferred needs nobody's word");
    let all = plain(&compose(&run, &analyse(&run)).unwrap());
    assert!(all.contains("the machine reports none"), "{all}");
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
    silent.environment_mut().caches.clear();
    assert_eq!(ends(&walks(&silent, 32.0 * KIB, first)), [], "as it was inferred");
    assert_eq!(ends(&walks(&silent, 64.0 * KIB, second)), at(256));
}

#[test]
fn a_walk_of_which_the_shortest_stride_has_no_help_ends_nowhere() {
    let (run, _) = fixture::machine();
    assert_eq!(ends(&walks(&run, 65536.0 * KIB, |_| 1.1e-7)), []);
}

fn of_kind(run: &Run, kind: FigureKind) -> Vec<Figure> {
    let document = compose(run, &analyse(run)).unwrap();
    figures(&document.body).into_iter().filter(|figure| figure.kind == kind).cloned().collect()
}

fn roofed(run: &Run) -> Vec<Figure> {
    of_kind(run, FigureKind::Roofline)
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
fn ciphers_stand_beside_the_memory_of_as_many_threads() {
    let (mut run, _) = fixture::machine();
    let all = roofed(&run);
    let [one, four] = &all[..] else { panic!("{} figures", all.len()) };
    let title = "Ciphers beside the bandwidth of memory, load";
    assert_eq!(one.title, format!("{title} “one core”, 1 thread"));
    assert_eq!(four.title, format!("{title} “all cores”, 4 threads"));
    let names = |figure: &Figure| figure.series.iter().map(|s| s.name.clone()).collect::<Vec<_>>();
    assert_eq!((names(one), names(four)), (vec!["one core".into()], vec!["all cores".into()]));
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
    assert!(all[0].footnote.contains("A bandwidth of memory below a point is not drawn"));
    // Without memory of one thread there is nothing to stand under.
    run.records.retain(|r| {
        r.outcome.made_with.get("threads").and_then(Value::count) != Some(1)
            || r.trial.point.workload == "cipher"
    });
    let left: Vec<String> = roofed(&run).into_iter().map(|figure| figure.title).collect();
    assert_eq!(left, [format!("{title} “all cores”, 4 threads")]);
}

#[test]
fn no_medium_says_that_memory_binds_a_cipher_whose_messages_lie_in_the_caches() {
    let (run, _) = fixture::machine();
    for figure in roofed(&run) {
        assert!(figure.footnote.contains("lie in the caches"), "{}", figure.footnote);
        let alt = alt_text(&figure).replace('\u{a0}', " ");
        let said = "No roof binds from 16 B to 16 KiB: messages lie in the caches.";
        assert!(alt.contains(said) && !alt.contains("bound by"), "{alt}");
        let drawn = svg(&figure, 760);
        assert!(drawn.contains("messages lie in the caches") && !drawn.contains("bound by"));
        let text = braille(&figure, 80, 16, true);
        assert!(text.contains("messages lie in the caches"), "{text}");
        assert!(!text.contains(", under "), "{text}");
        let table = csv(&figure);
        let name = &figure.series[0].name;
        let points: Vec<&str> =
            table.lines().filter(|line| line.starts_with(&format!("{name},"))).collect();
        assert_eq!(points.len(), 6, "{table}");
        for line in points {
            assert!(!line.contains("memory") && !line.contains("calls"), "{line}");
        }
    }
}

#[test]
fn each_load_of_ciphers_has_a_figure_of_its_own() {
    let (mut run, _) = fixture::machine();
    let mut twin = run.plan.load("one_core").unwrap().clone();
    twin.name = "host_library".into();
    run.plan.loads.push(twin);
    let own = run.records.iter().filter(|r| r.trial.point.load == "one_core");
    let mut more: Vec<_> = own.cloned().collect();
    for record in &mut more {
        record.trial.point.load = "host_library".into();
    }
    run.records.extend(more);
    let all = roofed(&run);
    let names: Vec<&str> =
        all.iter().flat_map(|figure| &figure.series).map(|one| one.name.as_str()).collect();
    assert_eq!((all.len(), names), (3, vec!["one core", "all cores", "host library"]));
}

/// The run whose walk by address has in place of strides what other threads are told by a
/// parameter, and what they moved by it, in bytes a second.
fn loaded(run: &Run, by: &str, steps: [u32; 7], moved: impl Fn(u32) -> Option<f64>) -> Run {
    let mut run = run.clone();
    run.metrics.push(Metric {
        name: "injected_bandwidth".into(),
        title: "bandwidth beside it".into(),
        role: MetricRole::Rate,
        quantile: None,
        unit: Unit::BytePerSecond,
        better: Better::Higher,
        workload: Some("mem_latency".into()),
    });
    for load in run.plan.loads.iter_mut().filter(|load| load.name == "stride") {
        let values = steps.map(|step| Value::Count(u64::from(step)));
        load.over = vec![(by.to_owned(), values.to_vec())];
    }
    for record in run.records.iter_mut().filter(|r| r.trial.point.load == "stride") {
        let params = &mut record.trial.point.params;
        let stride = params.remove("stride").and_then(|value| value.quantity()).unwrap().value;
        let place = (0..).take_while(|power| 16.0 * 2_f64.powi(*power) < stride).count();
        params.insert("load".into(), Value::Count(1));
        params.insert(by.to_owned(), Value::Count(u64::from(steps[place])));
        record.outcome.samples.extend(moved(steps[place]).map(|rate| Sample {
            metric: "injected_bandwidth".into(),
            quantity: Quantity::new(rate, Unit::BytePerSecond),
        }));
    }
    run
}

/// The places of the line of loaded latency.
fn places(run: &Run) -> Vec<f64> {
    let all = of_kind(run, FigureKind::Sweep);
    let title = "latency of a load by injected bandwidth, load “stride”";
    let figure = all.iter().find(|figure| figure.title == title).unwrap();
    let x = &figure.x;
    let axis = (x.label.as_str(), x.unit, x.scale);
    assert_eq!(axis, ("injected bandwidth", Unit::BytePerSecond, Scale::Linear));
    assert_eq!((figure.series.len(), figure.series[0].name.as_str()), (1, "stride"));
    figure.series[0].marks.iter().map(|mark| mark.x).collect()
}

#[test]
fn loaded_latency_lies_over_what_was_injected() {
    let (run, _) = fixture::machine();
    let rate = |pause: u32| 10e9 / (1.0 + f64::from(pause) / 400.0);
    let pauses = [0, 100, 1000, 3000, 10_000, 30_000, 100_000];
    let found = places(&loaded(&run, "pause", pauses, |pause| Some(rate(pause))));
    for (found, pause) in found.iter().rev().zip(pauses) {
        assert!((found / rate(pause) - 1.0).abs() < 1e-9, "{found} of a pause of {pause} ns");
    }
    assert_eq!(found.len(), pauses.len());
    // Without such threads nothing is injected.
    let threads = [0, 1, 2, 3, 4, 5, 6];
    let rate = |threads: u32| (threads > 0).then(|| f64::from(threads) * 1e9);
    let found = places(&loaded(&run, "load", threads, rate));
    assert!(found.len() == threads.len() && found[0].abs() < 1e-9, "{found:?}");
    assert!(found.windows(2).all(|pair| pair[0] < pair[1]), "{found:?}");
}

#[test]
fn each_method_has_a_map_that_says_how_many_pairs_were_measured() {
    let (mut run, _) = fixture::machine();
    let titles = |run: &Run| -> Vec<String> {
        of_kind(run, FigureKind::Heatmap).into_iter().map(|figure| figure.title).collect()
    };
    let title = |method: &str| {
        let what = "ratio to the median of the pairs";
        format!("One-way latency between CPUs, method “{method}”: {what}")
    };
    assert_eq!(titles(&run), [title("cas"), title("store")]);
    let all = plain(&compose(&run, &analyse(&run)).unwrap());
    assert!(all.contains("shows every pair of 4 CPUs."), "{all}");
    for record in &mut run.records {
        record.readings.retain(|reading| reading.key != "1-2");
    }
    let maps = of_kind(&run, FigureKind::Heatmap);
    let said = "the median of the 5 pairs measured (of 6 between these CPUs)";
    assert!(maps.len() == 2 && maps.iter().all(|figure| figure.subtitle.contains(said)));
    let all = plain(&compose(&run, &analyse(&run)).unwrap());
    assert!(all.contains("shows 5 of the 6 pairs of 4 CPUs; the others were not measured."));
    assert!(!all.contains("shows every pair"), "{all}");
}

#[test]
fn a_load_is_named_in_words_and_quotation_marks() {
    let (mut run, _) = fixture::machine();
    for load in run.plan.loads.iter_mut().filter(|load| load.name == "copy") {
        load.name = "copy_memory".into();
    }
    for record in run.records.iter_mut().filter(|r| r.trial.point.load == "copy") {
        record.trial.point.load = "copy_memory".into();
    }
    let all = of_kind(&run, FigureKind::Dots);
    let named = |figure: &&Figure| figure.title.contains("load “copy memory”");
    assert!(all.iter().filter(named).count() == 2, "a figure for each size");
    let all = plain(&compose(&run, &analyse(&run)).unwrap());
    assert!(!all.contains("has the course") && all.contains("shows bandwidth by size of the data"));
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
            let here = |cell: &&desk::verdict::MachineCell| {
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
