//! Checks that of equal levels seldom anything names a winner, on any medium.

use super::*;
use desk::record::{Run, Value};
use desk::verdict::simulated::Simulated;
use desk::verdict::{Analysis, FailIf, GateOutcome, analyse, gate};

/// What names a winner in a text: the words of tables and of sentences.
const WINNERS: [&str; 4] = ["▲ better", "▼ worse", " is better than ", " is worse than "];
/// What names one on the card.
const MARKS: [&str; 2] = ["▲ ", "▼ "];

/// Sixteen comparisons of levels that differ in nothing but their names and one setting.
fn equal(seed: u64) -> Run {
    let mut run = Simulated {
        directions: vec!["transmit", "receive", "both", "idle"],
        offloads: vec!["a", "b", "c", "d"],
        noise: 0.02,
        seed,
        ..Simulated::default()
    }
    .run();
    run.plan.lab.links[1].settings.insert("tso".into(), Value::Word("off".into()));
    run
}

fn names_a_winner(run: &Run) -> bool {
    let analysis = analyse(run);
    let told = serde_json::to_string(&analysis).unwrap();
    let word = ["\"verdict\":\"better\"", "\"verdict\":\"worse\"", "\"differs\":true"];
    let judged = word.iter().any(|word| told.contains(word));
    let chosen = analysis.advice.iter().any(|advice| advice.choice.is_some());
    let failed = gate(run, &analysis, FailIf::Worse, None).outcome == GateOutcome::Failed;
    let (articles, card) = media(run, &analysis);
    let marks = MARKS.iter().map(|mark| (*mark, &card));
    let words = articles.iter().flat_map(|text| WINNERS.iter().map(move |word| (*word, text)));
    for (word, medium) in marks.chain(words) {
        assert!(judged || !medium.contains(word), "{word:?} without a verdict in\n{medium}");
    }
    judged || chosen || failed
}

/// The article as text, Markdown and HTML without its bundle, and the card.
fn media(run: &Run, analysis: &Analysis) -> ([String; 3], String) {
    let article = compose(run, analysis).unwrap();
    let part = Part { role: Role::Duel, run, analysis };
    let input = CardInput {
        parts: &[part],
        report_path: "report.html",
        next_command: "stend",
        left_out: &[],
    };
    let card = card(&input, 80, true).unwrap();
    let page = html(&article, &Bundle::of_runs(&[])).unwrap();
    let articles = [text(&article, 200, true), markdown(&article), page];
    (articles.map(|article| article.replace('\u{a0}', " ")), card)
}

#[test]
fn of_sixteen_equal_comparisons_a_winner_is_named_anywhere_in_eight_per_cent_of_reports() {
    let runs = 400;
    let named = (0..runs).filter(|seed| names_a_winner(&equal(*seed))).count();
    println!("{named} of {runs} reports name a winner");
    assert!(named <= 32, "{named} of {runs}");
    let clear = Simulated { truth: |_| 1.5, ..Simulated::default() }.run();
    assert!(names_a_winner(&clear), "a test that finds nothing");
}
