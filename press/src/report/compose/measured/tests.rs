//! Checks how absolute figures are laid out and said.

use crate::figure::Figure;
use crate::report::compose::Writer;
use crate::report::compose::places::among;
use crate::report::document::{Document, Node, Table};
use crate::report::tests::headline;
use crate::report::{CardInput, Part, Role, card, compose, compose_survey, fixture, summary, text};
use desk::record::{Fault, Outcome, ParamRole, Reading, Run, Series, TrialRecord, Value};
use desk::unit::{Quantity, Unit};
use desk::verdict::simulated::{Simulated, with_response};
use desk::verdict::{Analysis, analyse};
use std::collections::BTreeMap;

fn document(blocks: u32, levels: &[&str]) -> Document {
    let (run, analysis) = fixture::alone(blocks, levels);
    compose(&run, &analysis).unwrap()
}

fn words((run, analysis): &(Run, Analysis)) -> String {
    text(&compose(run, analysis).unwrap(), 20_000, true)
}

fn tables(nodes: &[Node]) -> Vec<&Table> {
    let mut all = Vec::new();
    for node in nodes {
        match node {
            Node::Section { body, .. } => all.extend(tables(body)),
            Node::Table(table) => all.push(table),
            _ => {}
        }
    }
    all
}

/// The table whose caption ends so, line by line: headings first.
fn table(document: &Document, caption: &str) -> (Vec<Vec<String>>, Vec<String>, bool) {
    let all = tables(&document.body);
    let caption = format!(". {caption}");
    let found: Vec<_> = all.iter().filter(|t| t.caption.text().ends_with(&caption)).collect();
    assert_eq!(found.len(), 1, "tables called {caption}");
    let plain = |p: &crate::report::document::Prose| p.text().replace('\u{a0}', " ");
    let mut rows = vec![found[0].columns.iter().map(|c| plain(&c.title)).collect()];
    rows.extend(found[0].rows.iter().map(|row| row.iter().map(plain).collect::<Vec<_>>()));
    (rows, found[0].notes.iter().map(plain).collect(), found[0].folded)
}

/// The article of a load of which block devices served these shares, one a point in turn.
fn served(shares: &[f64]) -> String {
    let (mut run, _) = fixture::alone(5, &[]);
    let mut points = BTreeMap::new();
    for record in &mut run.records {
        let of = points.len();
        let at = *points.entry(format!("{:?}", record.trial.point)).or_insert(of);
        record.readings.push(Reading {
            probe: "storage".into(),
            host: "sut".into(),
            key: "buffered".into(),
            quantity: Quantity::new(shares[at % shares.len()], Unit::Share),
        });
    }
    let analysis = analyse(&run);
    words(&(run, analysis)).replace('\u{a0}', " ")
}

#[test]
fn figures_of_storage_are_labelled_as_of_a_disk_or_of_memory() {
    let disk = served(&[0.97, 1.2]);
    assert!(disk.contains("From a disk: block devices served 97 % of the bytes"), "{disk}");
    let memory = served(&[0.0, 0.02]);
    let words = "From memory and not from a disk: block devices served 2 % of the bytes";
    assert!(memory.contains(words), "{memory}");
    let both = served(&[1.0, 0.5]);
    assert!(both.contains("at the others memory served some or all of the bytes: "), "{both}");
    assert!(!served_none().contains("block devices"));
}

/// What the article says held the sweep over operation, instructions and size down: the disk at
/// those points whose parameters are wanted, elsewhere a CPU.
fn held(wanted: impl Fn(&str) -> bool) -> String {
    let (mut run, _) = fixture::alone(5, &[]);
    for record in &mut run.records {
        let params = record.trial.point.params.values().map(ToString::to_string);
        let on_disk = wanted(&params.collect::<Vec<_>>().join(" "));
        for (key, share) in [("direct", 1.0), ("waited", if on_disk { 0.9 } else { 0.02 })] {
            record.readings.push(Reading {
                probe: "storage".into(),
                host: "sut".into(),
                key: key.into(),
                quantity: Quantity::new(share, Unit::Share),
            });
        }
    }
    let analysis = analyse(&run);
    let said = words(&(run, analysis)).replace('\u{a0}', " ");
    let (_, told) = said.split_once("Bottleneck: Stream: ").unwrap_or_else(|| panic!("{said}"));
    told.split_once(". ").map_or(told, |(told, _)| told).to_owned()
}

#[test]
fn limits_of_a_sweep_over_several_parameters_name_the_points() {
    assert_eq!(held(|_| true), "the disk at every point (90 %)");
    let by_size = held(|point| point.ends_with("GiB") || point.ends_with("MiB"));
    let says = "one CPU busy at size 16 KiB (98 %); the disk at size 1 MiB–1 GiB (90 %)";
    assert_eq!(by_size, says);
    let by_word = held(|point| !point.contains("scalar"));
    assert_eq!(by_word, "one CPU busy at isa scalar (98 %); the disk at isa avx2 (90 %)");
    let few = held(|point| point.contains("read") && point.ends_with("GiB"));
    let says = "one CPU busy in 9 of 11 cases (operation read, size 16 KiB, isa scalar; operation \
                read, size 1 MiB, isa scalar; operation read, size 16 KiB, isa avx2; and 6 more); \
                the disk in 2 of 11 cases (operation read, size 1 GiB, isa scalar; operation read, \
                size 1 GiB, isa avx2)";
    assert_eq!(few, says);
}

#[test]
fn words_of_an_axis_are_listed_and_numbers_are_stretches() {
    let writer = Writer::new().unwrap();
    let said = |all: [Value; 4], chosen: &[usize]| {
        let chosen: Vec<_> = chosen.iter().map(|at| Some(all[*at].clone())).collect();
        among(&writer, &all.map(Some), &chosen).unwrap().text().to_owned()
    };
    let words = ["read", "write", "mix", "trim"].map(|word| Value::Word(word.into()));
    assert_eq!(said(words.clone(), &[0, 1, 3]), "read, write, trim");
    assert_eq!(said(words, &[0, 1, 2, 3]), "every point");
    assert_eq!(said([1, 4, 16, 64].map(Value::Count), &[0, 2, 3]), "1, 16–64");
}

#[test]
fn a_long_fact_of_a_load_has_lines_that_end_between_its_parts() {
    let (mut run, analysis) = fixture::alone(5, &[]);
    for (record, state) in run.records.iter_mut().zip(["active", "clean"].iter().cycle()) {
        let members = format!("md0: level raid5, state {state}; sda1, sdb1: read-ahead 128 KiB");
        record.outcome.made_with.insert("members".into(), Value::Word(members));
    }
    let document = compose(&run, &analysis).unwrap();
    let rows = tables(&document.body).into_iter().flat_map(|table| &table.rows);
    let said: Vec<&str> =
        rows.filter(|row| row[0].text() == "members").map(|row| row[1].text()).collect();
    let fact = |state| {
        let last = "sda1, sdb1: read-ahead\u{a0}128\u{a0}KiB";
        format!("md0: level\u{a0}raid5, state\u{a0}{state}; {last}")
    };
    assert_eq!(said, [[fact("active"), fact("clean")].join(" / ")]);
}

/// A card of a survey of which these devices served this share of the bytes of the second part.
fn survey_card(spoil: impl Fn(&mut TrialRecord)) -> String {
    let (noise, floor) = fixture::single("Noise floor", 1.003);
    let (mut run, _) = fixture::alone(5, &[]);
    run.plan.title = "The store".into();
    run.records.iter_mut().for_each(spoil);
    let analysis = analyse(&run);
    let parts = [
        Part { role: Role::NoiseFloor, run: &noise, analysis: &floor },
        Part { role: Role::Duel, run: &run, analysis: &analysis },
    ];
    let input =
        CardInput { parts: &parts, report_path: "r.html", next_command: "stend", left_out: &[] };
    let said = card(&input, 80, true).unwrap();
    let article = text(&compose_survey(&parts).unwrap(), 80, true);
    let words = |said: &str| said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.lines().count() <= 20, "{said}");
    format!("{}\n{}", words(&said), words(&article))
}

fn storage(share: f64, device: &'static str) -> impl Fn(&mut TrialRecord) {
    move |record| {
        let quantity = Quantity::new(share, Unit::Share);
        let [probe, host, key] = ["storage", "sut", "direct"].map(str::to_owned);
        record.readings.push(Reading { probe, host: host.into(), key, quantity });
        record.outcome.made_with.insert("device".into(), Value::Word(device.into()));
    }
}

#[test]
fn a_survey_says_on_its_card_whether_a_disk_or_memory_served_a_load_and_which_disk() {
    let said = survey_card(storage(0.97, "sda1, scheduler none"));
    let reach = said.lines().next().unwrap();
    assert!(reach.contains("%; from sda1 Reach: 1.29 ns to 105 ns; "), "{said}");
    assert!(said.contains("From disk sda1: block devices served 97 % of the bytes"), "{said}");
    assert!(said.contains("at size 1 GiB. From disk sda1. "), "the answer is short\n{said}");
    let said = survey_card(storage(0.02, "sda1"));
    assert!(said.contains("; from memory Reach: ") && !said.contains("disk sda1"), "{said}");
    assert!(!survey_card(|_| ()).contains("; from "));
}

#[test]
fn a_part_that_a_machine_cannot_do_is_one_line_with_its_reason() {
    let without = |record: &mut TrialRecord| {
        let what = format!("no room for {}", record.trial.point.load);
        record.outcome = Outcome::faulty(Fault::NotAvailable { what });
    };
    let said = survey_card(without);
    let card = said.lines().next().unwrap();
    let line = "The store: not available here: no room for stream ";
    assert_eq!(card.matches(line).count(), 1, "{said}");
    assert_eq!(card.matches("not available").count(), 1, "{said}");
    assert!(!card.contains("Reach"), "{said}");
    assert!(said.contains("The store: Not available here: no room for stream."), "{said}");
    assert!(said.contains("Not available here: no room for reach."), "by its own section\n{said}");
    assert!(!said.contains("no point has a valid"), "{said}");
    // Of a part that has some, each load for itself.
    let some = |record: &mut TrialRecord| {
        if record.trial.point.load == "reach" {
            without(record);
        }
    };
    let said = survey_card(some);
    let card = said.lines().next().unwrap();
    assert!(card.contains("Reach: not available here: no room for reach"), "{said}");
    assert!(card.contains("Stream: ") && !card.contains("The store"), "{said}");
}

fn served_none() -> String {
    words(&fixture::alone(5, &[]))
}

/// Sections in reading order.
fn sections(nodes: &[Node]) -> Vec<String> {
    let mut all = Vec::new();
    for node in nodes {
        if let Node::Section { id, body, .. } = node {
            all.push(id.clone());
            all.extend(sections(body));
        }
    }
    all
}

#[test]
fn three_sweeps_are_rows_columns_and_a_column_before_the_rows() {
    let document = document(5, &[]);
    let (rows, notes, folded) = table(&document, "stream: bandwidth by operation, size, isa");
    assert!(!folded);
    assert_eq!(rows[0], ["operation", "size", "scalar", "avx2", "avx512"]);
    assert_eq!(rows.len(), 1 + 2 * 3);
    assert_eq!(rows[1][..2], ["read", "16 KiB"]);
    assert_eq!(rows[6][..2], ["copy", "1 GiB"]);
    assert!(rows[1][3].starts_with("123 GB/s (12") && rows[1][3].ends_with(" GB/s)"), "{rows:?}");
    assert!(rows[1..].iter().all(|row| row[4] == "– (a)"));
    assert_eq!(rows[6][2], "– (b)");
    assert_eq!(
        notes,
        [
            "(a) not available here: this CPU has no AVX-512",
            "(b) no valid counted attempt; the first says: the hypervisor took 21 % of the CPU \
             time",
            "Each figure is the geometric mean over 4–5 blocks, with its 95 % interval between \
             them (Student’s t on logarithms).",
            "6 counted attempts are in none of these figures, because a fault hit them.",
        ]
    );
}

#[test]
fn one_sweep_has_the_figure_the_best_of_all_trials_and_the_number_of_blocks() {
    let fixture = fixture::alone(5, &[]);
    let document = compose(&fixture.0, &fixture.1).unwrap();
    let (rows, ..) = table(&document, "reach: latency by size");
    assert_eq!(rows[0], ["size", "latency", "Best of all trials", "n"]);
    let point = fixture.1.measured.iter().find(|m| m.load == "reach").unwrap();
    let best = point.figure("best_latency").unwrap().best.unwrap();
    assert_eq!(
        (rows[1][0].as_str(), &rows[1][2], rows[1][3].as_str()),
        ("16 KiB", &best.to_string(), "5")
    );
    assert!(best.value < point.figure("latency").unwrap().estimate.low.value);
    let (rows, _, folded) =
        table(&document, "reach: best latency by size, the best of all valid trials");
    assert!(folded && rows[1][1] == best.to_string(), "{rows:?}");
}

#[test]
fn the_answer_of_a_plan_that_compares_nothing_says_what_was_measured() {
    let fixture = fixture::alone(5, &[]);
    let document = compose(&fixture.0, &fixture.1).unwrap();
    assert_eq!(headline(&document), "2 loads measured, no levels compared.");
    let said = words(&fixture);
    for part in [
        "Latency: 1.29 ns (1.",
        " at size 16 KiB to 105 ns (10",
        "6 of 18 points are not available here. 1 of 18 points has no valid counted attempt.",
    ] {
        assert!(said.contains(part), "{part} is not in\n{said}");
    }
    for part in ["Nothing was compared: no", "were declared irrelevant before the run"] {
        assert!(!said.contains(part), "{part}");
    }
    assert_eq!(sections(&document.body)[0], "measured", "right behind the answer");
    let (mut run, mut analysis) = fixture;
    run.plan.loads.remove(0);
    analysis.measured.retain(|m| m.load == "reach");
    let one = headline(&compose(&run, &analysis).unwrap());
    assert!(one.starts_with("Latency: 1.29 ns ("), "{one}");
    analysis.measured.clear();
    let none = headline(&compose(&run, &analysis).unwrap());
    assert!(none.starts_with("Nothing was compared"), "{none}");
}

#[test]
fn a_single_block_has_no_interval_and_many_have_that_of_ranks() {
    let (rows, notes, _) = table(&document(1, &[]), "reach: latency by size");
    assert_eq!(rows[1][1], "1.29 ns");
    assert_eq!(notes, ["A figure without an interval is of one block."]);
    let (_, notes, _) = table(&document(8, &[]), "reach: latency by size");
    assert!(notes[0].starts_with("Each figure is the Hodges-Lehmann estimate over 8 blocks"));
}

#[test]
fn levels_that_are_compared_stand_beside_each_other_among_the_results() {
    let fixture = fixture::alone(8, &["always", "never"]);
    let document = compose(&fixture.0, &fixture.1).unwrap();
    let (rows, ..) = table(&document, "reach: latency by size, thp");
    assert_eq!(rows[0], ["size", "thp always", "thp never"]);
    let (rows, ..) = table(&document, "stream: bandwidth by operation, isa, size, thp");
    assert_eq!(rows[0][3..], ["thp always", "thp never"]);
    assert!(!headline(&document).contains("measured"));
    let all = sections(&document.body);
    let results = all.iter().position(|id| id == "results").unwrap();
    let at = all.iter().position(|id| *id == format!("measured-{}", fixture.0.id)).unwrap();
    assert!(results < at && !all.contains(&"measured".to_owned()));
    assert!(!words(&fixture::duel()).contains("What was measured"), "a network plan is as it was");
}

#[test]
fn a_screen_has_the_tables_of_a_plan_that_only_measures() {
    let said = summary(&document(5, &[]), 200, true);
    for part in ["stream: bandwidth by operation", "reach: latency by size", "(a) not available"] {
        assert_eq!(said.matches(part).count(), 1, "{part} is not once in\n{said}");
    }
    assert!(
        !summary(&document(8, &["always", "never"]), 200, true).contains("reach: latency by size")
    );
}

#[test]
fn what_is_not_available_is_no_invalid_visit() {
    let fixture = fixture::alone(5, &[]);
    let said = words(&fixture);
    assert_eq!(said.matches("this CPU has no AVX-512").count(), 2, "once a metric\n{said}");
    assert!(said.contains("the hypervisor took 21 % of the CPU time"));
}

#[test]
fn a_card_has_a_line_a_load() {
    let (run, analysis) = fixture::alone(5, &[]);
    let parts = [Part { role: Role::Duel, run: &run, analysis: &analysis }];
    let input =
        CardInput { parts: &parts, report_path: "r.html", next_command: "stend", left_out: &[] };
    let said = card(&input, 80, true).unwrap();
    assert!(said.contains("Stream: Bandwidth: ") && said.contains("Reach: Latency: 1.29 ns"));
    assert!(said.lines().count() <= 20, "{said}");
}

#[test]
fn a_quantile_is_of_all_values_and_one_that_too_few_carry_is_not_available() {
    let alone = || Simulated { sizes: vec![64, 1024], ..Simulated::default() }.only_measuring();
    let table_of =
        |run: &Run| table(&compose(run, &analyse(run)).unwrap(), "net: tail of response by size");
    let (rows, notes, _) = table_of(&with_response(alone(), 0.999, 450));
    assert_eq!(rows[1][1], "– (a)", "{rows:?}");
    assert_eq!(notes[0], "(a) not available: too few samples for p99.9 (2250 of 10000)");
    let (rows, notes, _) = table_of(&with_response(alone(), 0.9, 450));
    assert!(rows[1][1].contains(" ms ("), "{rows:?}");
    assert!(notes[0].starts_with("Each figure is the quantile of all values of 5 blocks"));
}

#[test]
fn a_load_that_stands_alone_tells_what_held_it_down_and_which_program_used_the_time() {
    let sizes = vec![64, 1024, 4096];
    let mut run = Simulated { sizes: sizes.clone(), ..Simulated::default() }.only_measuring();
    run.metrics[0].unit = Unit::OperationPerSecond;
    for record in &mut run.records {
        let small = record.trial.point.params["size"] == Value::Quantity(Quantity::bytes(64));
        let mut read = |probe: &str, host: &str, key: &str, value, unit| {
            let quantity = Quantity::new(value, unit);
            let (probe, key) = (probe.into(), key.into());
            record.readings.push(Reading { probe, host: host.into(), key, quantity });
        };
        read("cpu", "machine", "busy", if small { 0.3 } else { 0.99 }, Unit::Share);
        read("process", "sut", "cpu.apache2", 2.0, Unit::Cpu);
        read("process", "sut", "cpu.mariadbd", 1.0, Unit::Cpu);
        let sample = &mut record.outcome.samples[0];
        sample.quantity = Quantity::new(if small { 1000.0 } else { 2000.0 }, run.metrics[0].unit);
    }
    let said = words(&(run.clone(), analyse(&run))).replace('\u{a0}', " ");
    let held = "no watched resource was full at size 64 B (CPUs 30 % busy); \
                all CPUs busy at size 1 KiB–4 KiB (99 %)";
    assert!(said.contains(&format!("Bottleneck: {held}.")), "{said}");
    assert!(said.contains(&format!("Net: {held}.")), "{said}");
    assert!(said.contains("apache2 1 ms (1–1 ms), mariadbd 500 µs (500–500 µs)."), "{said}");
    assert!(
        said.contains(
            "The curve first comes within 5 % of its highest value, 2 kop/s, at size 1 KiB."
        ),
        "{said}"
    );
    run.records.iter_mut().for_each(|record| record.readings.clear());
    let said = words(&(run.clone(), analyse(&run)));
    assert!(!said.contains("Bottleneck") && !said.contains("CPU time of an operation"), "{said}");
}

/// Figures of an article.
fn figures(nodes: &[Node]) -> Vec<Figure> {
    let of = |node: &Node| match node {
        Node::Figure(figure) => vec![figure.clone()],
        Node::Section { body, .. } => figures(body),
        _ => Vec::new(),
    };
    nodes.iter().flat_map(of).collect()
}

#[test]
fn rates_over_the_window_are_drawn_where_there_are_rounds_enough() {
    let (mut run, _) = fixture::alone(5, &[]);
    run.plan.loads[0].roles.insert(ParamRole::Round, "lap".into());
    let drawn = |run: &Run| {
        let document = compose(run, &analyse(run)).unwrap();
        let all = figures(&document.body).into_iter();
        all.filter(|figure| figure.title.ends_with("over the window")).collect::<Vec<_>>()
    };
    assert!(drawn(&run).is_empty());
    for record in run.records.iter_mut().filter(|record| record.trial.point.load == "stream") {
        let size = record.trial.point.params["size"].to_string();
        let fall = if size == "1 GiB" { 0.5 } else { 1.0 };
        let outcome = &mut record.outcome;
        outcome.window.closed_ns = outcome.window.opened_ns + 2_000_000_000;
        outcome.series = vec![Series {
            metric: "bandwidth".into(),
            unit: Unit::BytePerSecond,
            step: Quantity::seconds(0.1),
            values: (0..20).map(|at| if at < 9 { 8e9 } else { 8e9 * fall }).collect(),
        }];
    }
    let found = drawn(&run);
    let [figure] = &found[..] else { panic!("{found:?}") };
    assert_eq!(figure.title, "Stream: bandwidth over the window");
    let of = " cases that changed most";
    assert!(figure.subtitle.contains("each round of 100\u{a0}ms; bands: 95\u{a0}% intervals"));
    assert!(figure.subtitle.ends_with(of), "{}", figure.subtitle);
    assert_eq!(figure.series.len(), 5);
    assert!(figure.series[0].name.contains("1\u{a0}GiB"), "{}", figure.series[0].name);
    let marks = &figure.series[0].marks;
    assert_eq!((marks.len(), marks[0].x, marks[19].centre.round()), (20, 0.1, 4e9));
}
