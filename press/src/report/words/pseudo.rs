//! Checks that every word of an article is a message or comes from the records: in a language of
//! accents a word of the program's source is one that has none.

use crate::figure::words::accents::{self, Known, shown};
use crate::report::document::{Document, Node};
use crate::report::tests::{alone, articles, html, parts, survey};
use crate::report::watch::{Course, Screen, Shown, Stage, State, empty, screen};
use crate::report::{
    CardInput, Part, Role, card, compose, compose_gate, fixture, markdown, summary, text,
};
use desk::record::Run;
use desk::verdict::{Analysis, FailIf, gate};
use std::collections::BTreeMap;

/// Fields of a record whose keys are names that a workload gave.
const NAMED: [&str; 3] = ["fixed", "made_with", "params"];

/// The rules of the gates, which an article names as the command line has them.
const RULES: [FailIf; 2] = [FailIf::Worse, FailIf::NotEquivalent];

/// The article without what a machine reads: commands and plans as they are typed.
fn without_code(mut document: Document) -> Document {
    fn clear(node: &mut Node) {
        match node {
            Node::Section { body, .. } => body.iter_mut().for_each(clear),
            Node::Code { text, .. } => text.clear(),
            _ => {}
        }
    }
    document.body.iter_mut().for_each(clear);
    document
}

/// Every text of a medium, with the name of the medium.
fn media(document: &Document) -> Vec<(&'static str, String)> {
    // What Markdown marks up and escapes says nothing.
    let marked = markdown(document).replace("&ZeroWidthSpace;", "").replace("[!CAUTION]", "");
    let media = [
        ("text", text(document, 20_000, true)),
        ("ascii", text(document, 400, false)),
        ("summary", summary(document, 100, true)),
        ("markdown", shown(&format!("<p>{marked}"))),
        ("page", shown(&html(document))),
    ];
    // Behind the accented `if`.
    let rule = |text: String, rule: FailIf| text.replace(&format!("f {},", rule.word()), "");
    media.map(|(medium, text)| (medium, RULES.into_iter().fold(text, rule))).into()
}

/// Runs of which [`articles`] has no article.
fn further() -> [(Run, Analysis); 3] {
    [fixture::priced(), fixture::offload(1.2), fixture::jumbo(1.3, 0.9)]
}

/// The articles of those, and what gates say.
fn further_articles() -> Vec<Document> {
    let mut all: Vec<_> = further().iter().map(|(run, a)| compose(run, a).unwrap()).collect();
    for (run, analysis) in further().into_iter().chain([fixture::duel()]) {
        for fail_if in RULES {
            let judged = gate(&run, &analysis, fail_if, None);
            all.push(compose_gate(&run, &analysis, &judged).unwrap());
        }
    }
    all
}

/// Every run that the articles are made of, with what was found in it.
fn runs() -> Vec<(Run, Analysis)> {
    let survey = survey().into_iter().map(|(_, run, analysis)| (run, analysis));
    let all = [fixture::duel(), fixture::machine(), fixture::huge_pages()];
    all.into_iter().chain(further()).chain(alone()).chain(survey).collect()
}

/// What a terminal says of each run while it is made.
fn screens() -> Vec<String> {
    let write = |screen: &Screen| {
        let panes = screen.panes.iter();
        let titles = panes.clone().map(|pane| pane.title.clone());
        let rest = [&screen.progress, &screen.keys].into_iter().chain(&screen.help);
        let lines = panes.flat_map(|pane| &pane.lines).chain(&screen.head).chain(rest);
        let lines = lines.map(|line| line.iter().map(|span| span.text.as_str()).collect());
        titles.chain(lines).collect::<Vec<String>>().join("\n")
    };
    let states = [State::Running, State::Complete, State::Incomplete, State::Interrupted];
    let mut all = vec![write(&empty("", true).unwrap())];
    for ((run, analysis), state) in runs().iter().zip(states.into_iter().cycle()) {
        let part = Part { role: Role::Duel, run, analysis };
        let course = Course { block: 1, blocks: 5, done: 9, planned: 50, left: None };
        let stages = [Stage { part, state, course }];
        let shown = Shown { stages: &stages, at: 0, named: false, columns: 100, unicode: true };
        all.push(write(&screen(&shown).unwrap()));
    }
    all
}

fn cards() -> Vec<String> {
    let (survey, runs) = (survey(), runs());
    let single = runs.iter().map(|(run, analysis)| vec![Part { role: Role::Duel, run, analysis }]);
    let write = |parts: Vec<Part<'_>>| {
        let input = CardInput { parts: &parts, report_path: "", next_command: "", left_out: &[] };
        card(&input, 80, true).unwrap()
    };
    single.chain([parts(&survey)]).map(write).collect()
}

/// Every word of the records, and of the texts that were found for them; a finding of one small
/// word is a kind, for which the article has a message.
fn recorded() -> Known {
    let mut known = Known::new();
    let (a, b, found) = fixture::two_sessions(true);
    let (runs, analyses): (Vec<_>, Vec<_>) = runs().into_iter().unzip();
    for run in runs.iter().chain([&a, &b]) {
        known.read(&serde_json::to_value(run).unwrap(), &NAMED, |_| true);
    }
    let analyses = analyses.iter().map(|analysis| serde_json::to_value(analysis).unwrap());
    for analysis in analyses.chain([serde_json::to_value(&found).unwrap()]) {
        known.read(&analysis, &NAMED, |text| {
            !text.chars().all(|c| c.is_ascii_lowercase() || c == '_')
        });
    }
    known
}

#[test]
fn every_word_of_an_article_is_a_message_or_comes_from_the_records() {
    let said: Vec<(&str, String)> = accents::with(|| {
        let articles = articles().into_iter().chain(further_articles()).map(without_code);
        let cards = cards().into_iter().map(|card| ("card", card));
        let screens = screens().into_iter().map(|screen| ("screen", screen));
        articles.flat_map(|document| media(&document)).chain(cards).chain(screens).collect()
    });
    let known = recorded();
    let mut left = BTreeMap::new();
    // Without Unicode a curve is drawn by the letters of its levels.
    let curve = |word: &str| word.chars().all(|c| matches!(c, 'a' | 'b'));
    for (medium, text) in &said {
        let unknown = known.unknown(text).into_iter();
        for (word, line) in unknown.filter(|(word, _)| *medium != "ascii" || !curve(word)) {
            left.entry(word).or_insert((medium, line));
        }
    }
    assert!(left.is_empty(), "{left:#?}");
}
