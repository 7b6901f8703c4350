//! Traces every number of every fixture article to what it came from.

use super::document::{LEDGER, unbroken};
use super::tests::{numbers, parts, prose, survey};
use super::*;
use crate::figure::Figure;
use desk::record::{Better, PrimaryComparison, Run, Value};
use desk::stats::{LEVEL, MoreBlocks};
use desk::unit::{Quantity, Unit};
use desk::verdict::simulated::{Cell, Simulated, Truth};
use desk::verdict::{FailIf, KNEE, PLATEAU, POWER, analyse, gate, share_unseen};
use serde::Serialize;
use std::collections::BTreeSet;

/// Centres and ends of every estimate in it.
fn estimates(found: &impl Serialize) -> BTreeSet<Exact> {
    let mut all = BTreeSet::new();
    collect(&serde_json::to_value(found).unwrap(), &mut all);
    all
}

fn collect(value: &serde_json::Value, all: &mut BTreeSet<Exact>) {
    match value {
        serde_json::Value::Object(map) => {
            if ["centre", "low", "high", "n", "method"].iter().all(|key| map.contains_key(*key)) {
                for key in ["centre", "low", "high"] {
                    let end: Quantity = serde_json::from_value(map[key].clone()).unwrap();
                    all.insert(end.into());
                }
            }
            map.values().for_each(|inner| collect(inner, all));
        }
        serde_json::Value::Array(items) => items.iter().for_each(|inner| collect(inner, all)),
        _ => {}
    }
}

/// Numbers of a text that no argument of it holds.
fn unaccounted(text: &Prose) -> Vec<String> {
    let given: Vec<String> = text.arguments().iter().flat_map(|a| numbers(a)).collect();
    numbers(text.text()).into_iter().filter(|n| !given.contains(n)).collect()
}

/// What an article may say: the estimates of its analysis, and the quantities of run and analysis
/// and those that the desk judges by, as they are written.
struct Known {
    estimates: BTreeSet<Exact>,
    quantities: BTreeSet<String>,
}

impl Known {
    fn of(found: &impl Serialize) -> Self {
        let mut all = BTreeSet::new();
        written(&serde_json::to_value(found).unwrap(), &mut all);
        for share in JUDGED_BY {
            all.insert(unbroken(&Quantity::new(share, Unit::Share).to_string()));
        }
        all.insert(unbroken(&PLATEAU.to_string()));
        all.extend((1..=100).map(|n| unbroken(&share_unseen(n).to_string())));
        Self { estimates: estimates(found), quantities: all }
    }
}

/// Levels, errors, thresholds: shares that stand in no record.
const JUDGED_BY: [f64; 8] =
    [LEVEL, 1.0 - LEVEL, 2.0 * LEVEL - 1.0, MoreBlocks::LEVEL, KNEE.value, POWER, 0.9, 0.5];

/// Every quantity, as it is written, and every text: a fact of the machine or of a person holds its
/// number as one.
fn written(value: &serde_json::Value, all: &mut BTreeSet<String>) {
    if let Ok(quantity) = serde_json::from_value::<Quantity>(value.clone()) {
        all.insert(unbroken(&quantity.to_string()));
    }
    match value {
        serde_json::Value::Object(map) => {
            // An estimate has its level as a bare share.
            let level = map.get("level").and_then(serde_json::Value::as_f64);
            let level = level.filter(|_| map.contains_key("centre"));
            all.extend(level.map(|l| unbroken(&Quantity::new(l, Unit::Share).to_string())));
            // A record has the MTU of an adapter as a bare number of bytes.
            let mtu = map.get("mtu").and_then(serde_json::Value::as_u64).map(Quantity::bytes);
            all.extend(mtu.map(|mtu| unbroken(&mtu.to_string())));
            map.values().for_each(|inner| written(inner, all));
        }
        serde_json::Value::Array(items) => items.iter().for_each(|inner| written(inner, all)),
        serde_json::Value::Number(number) => {
            all.insert(number.to_string());
        }
        serde_json::Value::String(text) => {
            let numbers = text.split_whitespace().filter(|word| word.parse::<f64>().is_ok());
            all.extend(numbers.map(str::to_owned));
        }
        _ => {}
    }
}

/// Sources of arguments that neither the analysis nor the run has.
fn unknown(text: &Prose, known: &Known) -> Vec<String> {
    let strange = |a: &&Argument| match &a.source {
        Source::Estimate(ends) => ends.iter().any(|end| !known.estimates.contains(end)),
        Source::Quantity => {
            let number = a.text.split('\u{a0}').next().unwrap_or_default();
            // A range is written in one unit.
            let range = a.text.contains('–');
            !range && ![a.text.as_str(), number].iter().any(|t| known.quantities.contains(*t))
        }
        Source::Name | Source::Count => false,
    };
    text.sources().iter().filter(strange).map(|a| a.text.clone()).collect()
}

/// Every text of a figure.
fn texts(figure: &Figure) -> Vec<&str> {
    let mut all = vec![&figure.title, &figure.subtitle, &figure.footnote];
    all.extend([&figure.x.label, &figure.y.label]);
    all.extend([&figure.x.direction, &figure.y.direction]);
    all.extend(figure.x.names.iter().chain(figure.series.iter().map(|s| &s.name)));
    all.extend(figure.zones.iter().map(|z| &z.name));
    all.extend(figure.references.iter().map(|r| &r.name));
    all.extend(figure.roofs.iter().map(|r| &r.name));
    all.into_iter().map(String::as_str).collect()
}

pub(super) fn figures(nodes: &[Node]) -> Vec<&Figure> {
    let mut all = Vec::new();
    for node in nodes {
        match node {
            Node::Section { body, .. } => all.extend(figures(body)),
            Node::Figure(figure) => all.push(figure),
            _ => {}
        }
    }
    all
}

/// An article with all that was said while it was made, and the estimates of its analyses.
fn made(make: impl FnOnce() -> (Document, Known)) -> (Document, Vec<Prose>, Known) {
    LEDGER.take();
    let (document, known) = make();
    (document, LEDGER.take(), known)
}

/// Runs that take resources down or parts out.
fn taken_apart() -> Vec<Run> {
    let simulated = |(truth, noise): (Truth, f64)| Simulated {
        truth,
        noise,
        blocks: 10,
        ..Simulated::default()
    };
    // A resource that is all, a part, none, and one of which too little is known.
    let down: [(Truth, f64); 4] =
        [(|_| 0.85, 0.01), (|_| 0.93, 0.01), (|_| 1.0, 0.01), (|_| 0.93, 0.2)];
    // Ladders: one part, several, none, and open steps.
    let several = |cell: Cell| match cell.offload {
        "as it is" => 0.5,
        "frames" => 2.0,
        _ => 1.0,
    };
    let out: [(Truth, f64); 4] = [
        (|cell| if cell.offload == "as it is" { 0.5 } else { 1.0 }, 0.002),
        (several, 0.002),
        (|_| 1.0, 0.002),
        (|_| 1.0, 0.2),
    ];
    let down = down.map(|one| simulated(one).taken_down());
    down.into_iter().chain(out.map(|one| simulated(one).climbed())).collect()
}

#[test]
fn parts_hold_a_rate_down_and_raise_a_time() {
    let said = |better: Better| -> String {
        let of = |run: Run| {
            let mut analysis = analyse(&run);
            analysis.ladders.iter_mut().for_each(|ladder| ladder.better = better);
            let document = (!analysis.ladders.is_empty()).then(|| compose(&run, &analysis));
            document.map(|document| text(&document.unwrap(), 20_000, true))
        };
        taken_apart().into_iter().filter_map(of).collect()
    };
    let (rate, time) = (said(Better::Higher), said(Better::Lower));
    assert!(rate.contains(" was held down by ") && !rate.contains(" was raised by "), "{rate}");
    for words in [
        " was raised by ",
        " was raised, one after the other, by ",
        "No part that went out kept the ",
        "no step is shown to lower it",
        "This part raised the ",
    ] {
        assert!(time.contains(words), "{words} is not in {time}");
    }
    assert!(!time.contains("held down"), "{time}");
}

fn traced() -> Vec<(Document, Vec<Prose>, Known)> {
    let mut all = vec![made(|| {
        let (run, analysis) = fixture::duel();
        (compose(&run, &analysis).unwrap(), Known::of(&(&run, &analysis)))
    })];
    all.push(made(|| {
        let survey = survey();
        let all: Vec<_> = survey.iter().map(|(_, run, analysis)| (run, analysis)).collect();
        (compose_survey(&parts(&survey)).unwrap(), Known::of(&all))
    }));
    for (run, analysis) in [fixture::machine(), fixture::huge_pages()] {
        let known = Known::of(&(&run, &analysis));
        all.push(made(|| (compose(&run, &analysis).unwrap(), known)));
    }
    for (run, analysis) in [fixture::priced(), fixture::jumbo(2.59, 0.93), fixture::offload(4.11)] {
        let known = Known::of(&(&run, &analysis));
        all.push(made(|| (compose(&run, &analysis).unwrap(), known)));
    }
    for forced in [false, true] {
        all.push(made(|| {
            let (a, b, found) = fixture::two_sessions(forced);
            (compose_comparison(&a, &b, &found).unwrap(), Known::of(&(&a, &b, &found)))
        }));
    }
    for run in taken_apart() {
        all.push(made(|| {
            let analysis = analyse(&run);
            assert_eq!(analysis.elasticity.len() + analysis.ladders.len(), 1);
            let known = Known::of(&(&run, &analysis));
            (compose(&run, &analysis).unwrap(), known)
        }));
    }
    // Loads of the machine: what was measured by itself, and beside ratios.
    for (blocks, levels) in [(5, &[][..]), (1, &[]), (8, &["always", "never"])] {
        all.push(made(|| {
            let (run, analysis) = fixture::alone(blocks, levels);
            let known = Known::of(&(&run, &analysis));
            (compose(&run, &analysis).unwrap(), known)
        }));
    }
    // Five levels: one first, a shared place, none told apart; and one comparison before others.
    for run in ranked() {
        all.push(made(|| {
            let analysis = analyse(&run);
            let known = Known::of(&(&run, &analysis));
            (compose(&run, &analysis).unwrap(), known)
        }));
    }
    // A gate, and levels that are alike.
    for (run, metric) in [(measured(1.2), "throughput"), (measured(1.0), "cpu")] {
        all.push(made(|| {
            let analysis = analyse(&run);
            let gate = gate(&run, &analysis, FailIf::Worse, Some(metric));
            let known = Known::of(&(&run, &analysis, &gate));
            (compose_gate(&run, &analysis, &gate).unwrap(), known)
        }));
    }
    all
}

/// Runs over five levels with three truths, and one whose plan names a primary comparison.
pub(super) fn ranked() -> Vec<Run> {
    let first: Truth = |cell| if cell.offload == "d" { 1.5 } else { 1.0 };
    let shared: Truth = |cell| if cell.offload == "d" { 0.6 } else { 1.0 };
    let mut all = Vec::new();
    for truth in [first, shared, |_| 1.0] {
        let offloads = vec!["a", "b", "c", "d", "e"];
        let mut run = Simulated { truth, offloads, blocks: 8, ..Simulated::default() }.run();
        run.plan.method.compare = "offload".into();
        // On one link only.
        run.plan.factors.remove(0);
        run.records.retain(|r| r.trial.treatment.levels["path"] == "pro1000");
        all.push(run);
    }
    let mut named = Simulated {
        directions: vec!["transmit", "receive", "both"],
        truth: |_| 1.2,
        ..Simulated::default()
    }
    .run();
    named.plan.lab.links[1].settings.insert("tso".into(), Value::Word("on".into()));
    named.plan.factors.remove(1);
    named.plan.method.primary_comparison = Some(PrimaryComparison {
        level: "pro1000".into(),
        load: "net".into(),
        stratum: std::collections::BTreeMap::new(),
        fixed: [("direction".to_owned(), Value::Word("receive".into()))].into(),
    });
    all.push(named);
    all
}

/// A run of the simulated kind whose second level has this truth; 1 is A against A.
fn measured(truth: f64) -> Run {
    let truth = if truth > 1.0 { |_| 1.2 } else { |_| 1.0 };
    Simulated { truth, blocks: 10, sizes: vec![64, 1024, 16384], ..Simulated::default() }.run()
}

#[test]
fn every_number_of_the_text_and_every_estimate_in_it_is_known() {
    let (mut digits, mut traced_back, mut strange) = (0, 0, BTreeSet::new());
    for (document, _, known) in traced() {
        for text in prose(&document) {
            assert_eq!(unaccounted(&text), [""; 0], "in '{}'", text.text());
            strange.extend(unknown(&text, &known).into_iter().map(|n| (n, text.text().to_owned())));
            digits += numbers(text.text()).len();
            let of = |a: &&Argument| matches!(a.source, Source::Estimate(_));
            traced_back += text.sources().iter().filter(of).count();
        }
    }
    assert!(strange.is_empty(), "{strange:#?}");
    assert!(digits > 2000 && traced_back > 1000, "{digits} numbers, {traced_back} estimates");
}

#[test]
fn every_number_of_a_figure_was_said() {
    let (mut seen, mut strange) = (0, BTreeSet::new());
    for (document, said, known) in traced() {
        for text in &said {
            strange.extend(unknown(text, &known).into_iter().map(|n| (n, text.text().to_owned())));
        }
        for figure in figures(&document.body) {
            for text in texts(figure) {
                for number in numbers(text) {
                    let within = |p: &&Prose| {
                        !p.text().is_empty()
                            && text.contains(p.text())
                            && p.arguments().iter().any(|a| numbers(a).contains(&number))
                    };
                    let known = said.iter().any(|p| within(&p)) || is_name(text, &said);
                    assert!(known, "{number} in '{text}' of {}", figure.id);
                    seen += 1;
                }
            }
        }
    }
    assert!(strange.is_empty(), "{strange:#?}");
    assert!(seen > 100, "only {seen} numbers");
}

/// Names of series and places are names by themselves: an argument is the whole of them.
fn is_name(text: &str, said: &[Prose]) -> bool {
    said.iter().any(|p| p.arguments().contains(&text))
}

#[test]
fn a_number_that_nobody_gave_and_an_estimate_that_nobody_made_are_found() {
    let typed = Prose::join_with(&[Prose::verbatim("a"), Prose::verbatim("b")], " 7 % ahead of ");
    assert_eq!(unaccounted(&typed), ["7"]);
    let (_, analysis) = fixture::duel();
    let known = Known::of(&analysis);
    let mut estimate = analysis.comparisons[0].overall.clone();
    assert_eq!(unknown(&Prose::estimate(&estimate), &known), [""; 0]);
    estimate.centre.value *= 1.000_001;
    assert_eq!(unknown(&Prose::estimate(&estimate), &known).len(), 1);
    let share = |value| Prose::quantity(Quantity::new(value, Unit::Share));
    assert_eq!(unknown(&share(LEVEL), &known), [""; 0]);
    assert_eq!(unknown(&share(0.873), &known).len(), 1);
}
