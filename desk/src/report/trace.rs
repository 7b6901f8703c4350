//! Traces every number of every fixture article to what it came from.

use super::document::LEDGER;
use super::tests::{numbers, parts, prose, survey};
use super::*;
use crate::figure::Figure;
use crate::unit::Quantity;
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

/// Estimates named as the source of an argument that the analysis does not have.
fn unknown(text: &Prose, known: &BTreeSet<Exact>) -> Vec<String> {
    let strange = |a: &&Argument| match &a.source {
        Source::Estimate(ends) => ends.iter().any(|end| !known.contains(end)),
        Source::Name | Source::Count | Source::Quantity => false,
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
fn made(
    make: impl FnOnce() -> (Document, BTreeSet<Exact>),
) -> (Document, Vec<Prose>, BTreeSet<Exact>) {
    LEDGER.take();
    let (document, known) = make();
    (document, LEDGER.take(), known)
}

fn traced() -> Vec<(Document, Vec<Prose>, BTreeSet<Exact>)> {
    let mut all = vec![made(|| {
        let (run, analysis) = fixture::duel();
        (compose(&run, &analysis).unwrap(), estimates(&analysis))
    })];
    all.push(made(|| {
        let survey = survey();
        let analyses: Vec<_> = survey.iter().map(|(_, _, analysis)| analysis).collect();
        (compose_survey(&parts(&survey)).unwrap(), estimates(&analyses))
    }));
    for (run, analysis) in [fixture::priced(), fixture::jumbo(2.59, 0.93), fixture::offload(4.11)] {
        all.push(made(|| (compose(&run, &analysis).unwrap(), estimates(&analysis))));
    }
    for forced in [false, true] {
        all.push(made(|| {
            let (a, b, found) = fixture::two_sessions(forced);
            (compose_comparison(&a, &b, &found).unwrap(), estimates(&found))
        }));
    }
    all
}

#[test]
fn every_number_of_the_text_and_every_estimate_in_it_is_known() {
    let (mut digits, mut traced_back) = (0, 0);
    for (document, _, known) in traced() {
        for text in prose(&document) {
            assert_eq!(unaccounted(&text), [""; 0], "in '{}'", text.text());
            assert_eq!(unknown(&text, &known), [""; 0], "in '{}'", text.text());
            digits += numbers(text.text()).len();
            let of = |a: &&Argument| matches!(a.source, Source::Estimate(_));
            traced_back += text.sources().iter().filter(of).count();
        }
    }
    assert!(digits > 2000 && traced_back > 1000, "{digits} numbers, {traced_back} estimates");
}

#[test]
fn every_number_of_a_figure_was_said() {
    let mut seen = 0;
    for (document, said, known) in traced() {
        for text in &said {
            assert_eq!(unknown(text, &known), [""; 0], "in '{}'", text.text());
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
    let known = estimates(&analysis);
    let mut estimate = analysis.comparisons[0].overall.clone();
    assert_eq!(unknown(&Prose::estimate(&estimate), &known), [""; 0]);
    estimate.centre.value *= 1.000_001;
    assert_eq!(unknown(&Prose::estimate(&estimate), &known).len(), 1);
}
