//! Checks that every medium prints the same numbers: text, HTML, JSON and Markdown.

use super::*;
use crate::figure::{Figure, braille, svg};
use desk::record::{Fault, Outcome};
use desk::verdict::simulated::{Cell, Simulated};
use desk::verdict::{FailIf, GateOutcome, analyse, gate};
use std::collections::BTreeMap;

/// Units as they are printed behind a number, the longest first.
const UNITS: [&str; 29] = [
    " Mbit/s per CPU %",
    " interrupts/s",
    " packet/s",
    " kpacket/s",
    " Mpacket/s",
    " bit/s",
    " kbit/s",
    " Mbit/s",
    " Gbit/s",
    " Tbit/s",
    " op/s",
    " kop/s",
    " Mop/s",
    " µs/KB",
    " s/GB",
    " CPU",
    " GiB",
    " MiB",
    " KiB",
    " GHz",
    " MHz",
    " B/s",
    " ms",
    " µs",
    " ns",
    " B",
    " s",
    " %",
    "×",
];

/// Numbers with their sign and unit, and how often each is there.
type Numbers = BTreeMap<String, usize>;

fn numbers(text: &str) -> Numbers {
    let text = text.replace(['\u{2060}', '\u{200b}'], "").replace("&ZeroWidthSpace;", "");
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut found = Numbers::new();
    let mut rest = text.as_str();
    let mut before = ' ';
    while let Some(c) = rest.chars().next() {
        if !c.is_ascii_digit() {
            before = c;
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let number = rest[..end].trim_end_matches('.');
        let after = &rest[number.len()..];
        let unit = UNITS.iter().find(|unit| {
            after.strip_prefix(**unit).is_some_and(|next| !next.starts_with(char::is_alphabetic))
        });
        let sign = if "+−±".contains(before) { before.to_string() } else { String::new() };
        let token = format!("{sign}{number}{}", unit.unwrap_or(&""));
        *found.entry(token).or_default() += 1;
        before = ' ';
        rest = &rest[end..];
    }
    found
}

/// What of `few` is not in `many` as often.
fn lacking(few: &Numbers, many: &Numbers) -> Vec<String> {
    let lacks = |(number, times): &(&String, &usize)| many.get(*number).unwrap_or(&0) < *times;
    few.iter().filter(lacks).map(|(n, times)| format!("{n} ({times} times)")).collect()
}

pub fn figures(document: &Document) -> Vec<&Figure> {
    fn walk<'a>(node: &'a Node, all: &mut Vec<&'a Figure>) {
        match node {
            Node::Section { body, .. } => body.iter().for_each(|node| walk(node, all)),
            Node::Figure(figure) => all.push(figure),
            _ => {}
        }
    }
    let mut all = Vec::new();
    document.body.iter().for_each(|node| walk(node, &mut all));
    all
}

/// What a drawing adds is checked apart; here a figure is what is said around it.
fn undrawn(mut page: String, document: &Document, of: impl Fn(&Figure) -> Vec<String>) -> String {
    for figure in figures(document) {
        for part in of(figure).into_iter().filter(|part| !part.trim().is_empty()) {
            assert!(page.contains(&part), "the drawing of {} is not where it was", figure.id);
            page = page.replacen(&part, " ", 1);
        }
    }
    page
}

const WIDE: u16 = 20_000;

fn of_text(document: &Document) -> Numbers {
    let page = text(document, WIDE, true);
    let drawing = |figure: &Figure| {
        let drawn = braille(figure, WIDE, 14, true).replace('\u{a0}', " ");
        drawn.lines().map(|line| format!("\n{}\n", line.trim_end_matches(' '))).collect()
    };
    let mut page = page.replace('\n', "\n\n");
    page = undrawn(page, document, drawing);
    numbers(&page)
}

/// The words of a page without its drawings, styles and scripts, and the captions of its figures.
/// What the file says of itself, behind the article, stands in no other medium.
fn of_html(document: &Document) -> Numbers {
    let mut page = tests::html(document);
    page.truncate(page.find("<section class=\"archive\"").expect("what the file carries"));
    for tag in ["style", "script", "svg"] {
        while let Some(start) = page.find(&format!("<{tag}")) {
            let close = format!("</{tag}>");
            let end = page[start..].find(&close).map(|end| start + end + close.len()).unwrap();
            page.replace_range(start..end, " ");
        }
    }
    // Captions are words of the drawing, which the next test reads.
    let captions = figures(document).iter().map(|f| caption(f)).collect::<String>();
    numbers(&format!("{} {captions}", untagged(&page)))
}

fn untagged(page: &str) -> String {
    let mut words = String::new();
    for part in page.split('<').skip(1) {
        words.push_str(part.split_once('>').map_or("", |(_, text)| text));
        words.push(' ');
    }
    let words = words.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">");
    words.replace("&amp;", "&")
}

fn caption(figure: &Figure) -> String {
    format!("{}\n{}\n{}\n", figure.title, figure.subtitle, figure.footnote)
}

/// Every text of an article; of a figure its captions.
fn of_json(document: &Document) -> Numbers {
    fn walk(value: &serde_json::Value, all: &mut String) {
        match value {
            serde_json::Value::String(text) => {
                all.push_str(text);
                all.push('\n');
            }
            serde_json::Value::Array(items) => items.iter().for_each(|item| walk(item, all)),
            serde_json::Value::Object(fields) if fields.get("node") == Some(&"figure".into()) => {
                for key in ["title", "subtitle", "footnote"] {
                    walk(&fields["figure"][key], all);
                }
            }
            serde_json::Value::Object(fields) => {
                // What is claimed as data stands beside the words.
                let data = ["id", "node", "claims"];
                let printed = fields.iter().filter(|(key, _)| !data.contains(&key.as_str()));
                printed.for_each(|(_, field)| walk(field, all));
            }
            _ => {}
        }
    }
    let mut all = String::new();
    walk(&json(document), &mut all);
    numbers(&all)
}

fn articles() -> Vec<Document> {
    let mut all = super::tests::articles();
    for (run, analysis) in [fixture::priced(), fixture::duel(), gated_run()] {
        all.push(compose(&run, &analysis).unwrap());
        for fail_if in [FailIf::Worse, FailIf::NotEquivalent] {
            let judged = gate(&run, &analysis, fail_if, None);
            all.push(compose_gate(&run, &analysis, &judged).unwrap());
        }
    }
    all
}

#[test]
fn text_html_and_json_print_the_same_numbers_and_markdown_none_besides() {
    let mut seen = 0;
    for document in articles() {
        let (text, html, json) = (of_text(&document), of_html(&document), of_json(&document));
        seen += text.values().sum::<usize>();
        for (few, many, which) in [
            (&text, &html, "text but not HTML"),
            (&text, &json, "text but not JSON"),
            (&json, &html, "JSON but not HTML"),
        ] {
            assert_eq!(
                lacking(few, many),
                Vec::<String>::new(),
                "{which}: {}",
                document.title.text()
            );
        }
        let once = |all: &Numbers| all.keys().map(|n| (n.clone(), 1)).collect::<Numbers>();
        // A cell that the text does not repeat is one that stands above it.
        for (printed, which) in [(&html, "HTML"), (&json, "JSON")] {
            assert_eq!(lacking(&once(printed), &text), Vec::<String>::new(), "only in {which}");
        }
        let summary = numbers(&unescaped(&markdown(&document)));
        for (many, which) in [(&text, "text"), (&html, "HTML"), (&json, "JSON")] {
            let lacking = lacking(&once(&summary), many);
            assert_eq!(lacking, Vec::<String>::new(), "in Markdown but not in {which}");
        }
        assert!(summary.values().sum::<usize>() > 3 || text.len() < 4, "{summary:?}");
    }
    assert!(seen > 2_000, "only {seen} numbers were looked at");
}

fn unescaped(summary: &str) -> String {
    summary.replace('\\', "").replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&")
}

#[test]
fn the_numbers_in_the_captions_and_names_of_figures_are_in_every_medium() {
    let mut seen = 0;
    for document in articles() {
        let (plain, page) = (text(&document, WIDE, true), tests::html(&document));
        let article = json(&document).to_string();
        let printed = [numbers(&plain), numbers(&article)];
        let media = [&plain, &page, &article].map(|medium| squeezed(medium));
        for figure in figures(&document) {
            let broad = svg(figure, 760);
            let drawn = numbers(&untagged(&broad));
            let broad = squeezed(&broad);
            for said in [&figure.title, &figure.subtitle, &figure.footnote] {
                let numbers = numbers(said);
                assert!(printed.iter().all(|all| lacking(&numbers, all).is_empty()), "{said}");
                assert_eq!(lacking(&numbers, &drawn), Vec::<String>::new(), "drawn: {said}");
                seen += numbers.len();
            }
            for name in figure.series.iter().map(|s| &s.name) {
                for number in numbers(name).keys().map(|n| squeezed(n)) {
                    assert!(media.iter().all(|m| m.contains(&number)), "{number} of {name}");
                    assert!(broad.contains(&number), "{number} of {name}");
                }
            }
        }
    }
    assert!(seen > 40, "only {seen} numbers in captions");
}

fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

#[test]
fn a_number_is_read_with_its_sign_and_its_unit() {
    let found = numbers("of 12.3\u{a0}Gbit/s, −7.0 % (−7.7 % to +6.3 %), 2.59× at 4 KiB. 5 blocks");
    let wanted = ["+6.3 %", "12.3 Gbit/s", "2.59×", "4 KiB", "5", "−7.0 %", "−7.7 %"];
    let mut wanted = wanted.map(str::to_owned).to_vec();
    wanted.sort();
    assert_eq!(found.into_keys().collect::<Vec<_>>(), wanted);
}

/// Six comparisons before a gate: some better, some worse, some neither.
fn gated_run() -> (desk::record::Run, desk::verdict::Analysis) {
    let truth = |cell: Cell| match (cell.direction, cell.size) {
        ("transmit", _) => 1.2,
        ("receive", 0..=64) => 0.8,
        ("receive", _) => 1.1,
        _ => 1.0,
    };
    let mut run = Simulated {
        directions: vec!["transmit", "receive", "duplex"],
        offloads: vec!["on", "off"],
        sizes: vec![64, 256, 1024, 4096],
        truth,
        noise: 0.02,
        ..Simulated::default()
    }
    .run();
    // One comparison has no valid trial, another jumps from block to block.
    for record in &mut run.records {
        let duplex = record.trial.point.params["direction"].word() == Some("duplex");
        let levels = &record.trial.treatment.levels;
        if duplex && levels["offload"] == "off" {
            record.outcome = Outcome::faulty(Fault::DeadHost { host: "c01".into() });
        } else if duplex && levels["path"] == "pro1000" && record.trial.block % 2 == 0 {
            record.outcome.samples[0].quantity.value *= 1.1;
        }
    }
    run.plan.title = "Two links | @someone".into();
    let analysis = analyse(&run);
    (run, analysis)
}

#[test]
fn a_gate_says_its_rule_its_outcome_and_what_each_comparison_rests_on() {
    let (run, analysis) = gated_run();
    let judged = gate(&run, &analysis, FailIf::Worse, None);
    let document = compose_gate(&run, &analysis, &judged).unwrap();
    let said = text(&document, 20_000, true);
    let first = said.lines().find(|l| l.starts_with("> The gate")).unwrap();
    assert!(first.starts_with("> The gate failed (fail if worse, by throughput, margin 2 %)"));
    let count = |wanted| judged.checks.iter().filter(|c| c.outcome == wanted).count();
    let tally = [
        (GateOutcome::Failed, "failed"),
        (GateOutcome::Inconclusive, "inconclusive"),
        (GateOutcome::NotMeasured, "not measured"),
        (GateOutcome::Passed, "passed"),
    ];
    for (outcome, word) in tally {
        assert!(count(outcome) > 0, "the run has one that is {word}: {first}\n{said}");
        assert!(first.contains(&format!("{} {word}", count(outcome))), "{first}");
    }
    assert!(
        said.contains("To decide it takes ") && said.contains("further blocks (80 %"),
        "{said}"
    );
    assert!(said.contains(" At 64 B: −"), "the point that fails is named");
}

#[test]
fn in_a_junit_report_a_failure_is_evidence_and_inconclusive_is_skipped() {
    let (run, analysis) = gated_run();
    let judged = gate(&run, &analysis, FailIf::Worse, None);
    let report = junit(&run, &judged).unwrap();
    let count = |wanted| judged.checks.iter().filter(|c| c.outcome == wanted).count();
    for (part, outcome) in [
        ("<failure message=", GateOutcome::Failed),
        ("<skipped message=", GateOutcome::Inconclusive),
        ("<error message=", GateOutcome::NotMeasured),
    ] {
        assert_eq!(report.matches(part).count(), count(outcome), "{part}\n{report}");
    }
    assert_eq!(report.matches("<testcase ").count(), judged.checks.len());
    let failure = report.lines().find(|l| l.contains("<failure")).unwrap();
    assert!(failure.contains("(95 % interval") && failure.contains(" to −"), "{failure}");
    assert_eq!(report, junit(&run, &judged).unwrap());
}
