//! Checks the article as a reader gets it: numbers, words, widths, safety.

use super::*;
use crate::record::Run;
use crate::verdict::{Analysis, Caveat, Verdict};

fn survey() -> Vec<(Role, Run, Analysis)> {
    let part = |role, (run, analysis)| (role, run, analysis);
    vec![
        part(Role::NoiseFloor, fixture::single("Noise floor", 1.0031)),
        part(Role::Duel, fixture::single("Jumbo frames", 1.31)),
        part(Role::Duel, fixture::single("Segmentation offload", 3.3)),
        part(Role::Curve, fixture::curve()),
    ]
}

fn parts(survey: &[(Role, Run, Analysis)]) -> Vec<Part<'_>> {
    survey.iter().map(|(role, run, analysis)| Part { role: *role, run, analysis }).collect()
}

fn articles() -> Vec<Document> {
    let (run, analysis) = fixture::duel();
    let survey = survey();
    vec![compose(&run, &analysis).unwrap(), compose_survey(&parts(&survey)).unwrap()]
}

/// Every text of a document, in order.
fn prose(document: &Document) -> Vec<Prose> {
    let mut all = vec![document.kicker.clone(), document.title.clone(), document.question.clone()];
    document.body.iter().for_each(|node| prose_of(node, &mut all));
    all
}

fn prose_of(node: &Node, all: &mut Vec<Prose>) {
    match node {
        Node::Section { title, body, .. } => {
            all.push(title.clone());
            body.iter().for_each(|node| prose_of(node, all));
        }
        Node::Paragraph(text) => all.push(text.clone()),
        Node::VerdictBox { headline, rulings, caution, limits, .. } => {
            all.extend([headline.clone(), caution.clone()]);
            all.extend(rulings.iter().flat_map(|r| [r.label.clone(), r.sentence.clone()]));
            all.extend(limits.clone());
        }
        Node::Facts(rows) => all.extend(rows.iter().flat_map(|(k, v)| [k.clone(), v.clone()])),
        Node::Table(table) => {
            all.push(table.caption.clone());
            all.extend(table.columns.iter().map(|c| c.title.clone()));
            all.extend(table.rows.iter().flatten().cloned());
        }
        Node::List(items) => all.extend(items.clone()),
        Node::Code { caption, .. } => all.push(caption.clone()),
        Node::Note { lead, text } => all.extend([lead.clone(), text.clone()]),
        Node::Figure(_) => {}
    }
}

/// Maximal runs of digits, points between digits included.
fn numbers(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_ascii_digit() && c != '.')
        .map(|n| n.trim_matches('.').to_owned())
        .filter(|n| !n.is_empty())
        .collect()
}

#[test]
fn every_number_in_a_text_was_an_argument_of_it() {
    let mut seen = 0;
    for text in articles().iter().flat_map(prose) {
        let given: Vec<String> = text.arguments().iter().flat_map(|a| numbers(a)).collect();
        for number in numbers(text.text()) {
            assert!(given.contains(&number), "{number} in '{}'", text.text());
            seen += 1;
        }
    }
    assert!(seen > 500, "only {seen} numbers were looked at");
}

#[test]
fn html_and_text_print_every_word_of_the_document() {
    for document in articles() {
        let page = html(&document);
        let page = without_tags(&page);
        let plain = squeezed(&text(&document, 20_000, true));
        for said in prose(&document) {
            let said = squeezed(said.text());
            assert!(page.contains(&said), "not in the HTML: {said}");
            assert!(plain.contains(&said), "not in the text: {said}");
        }
    }
}

/// Text without its layout: no space, no line end, no quotation mark of a text block.
fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && *c != '\u{2060}').collect()
}

fn without_tags(page: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for c in page.chars() {
        match c {
            '<' => inside = true,
            '>' => inside = false,
            c if !inside => out.push(c),
            _ => {}
        }
    }
    let out = out.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    squeezed(&out.replace("&amp;", "&"))
}

#[test]
fn a_page_asks_for_nothing_and_is_small() {
    for document in articles() {
        let page = html(&document);
        for forbidden in ["http:", "https:", "src=", "url(", "<script", "@import", "href="] {
            assert!(!page.contains(forbidden), "{forbidden}");
        }
        assert!(page.contains("default-src 'none'"));
        assert!(page.contains("<html lang=\"en\">"));
        assert!(page.len() < 1_500_000, "{} bytes", page.len());
    }
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    let (first, second) = (articles(), articles());
    for (a, b) in first.iter().zip(&second) {
        assert_eq!(html(a), html(b));
        assert_eq!(text(a, 80, true), text(b, 80, true));
    }
}

#[test]
fn foreign_names_cannot_become_markup() {
    let (mut run, analysis) = fixture::duel();
    run.plan.title = "<img onerror=x> & co".into();
    let page = html(&compose(&run, &analysis).unwrap());
    assert!(!page.contains("<img"));
    assert!(page.contains("&lt;img onerror=x&gt; &amp; co"));
}

#[test]
fn text_keeps_to_its_width_and_to_ascii_if_asked() {
    for document in articles() {
        for line in text(&document, 80, true).lines() {
            let code = line.starts_with("    ");
            assert!(code || line.chars().count() <= 80, "{line}");
        }
        assert!(text(&document, 80, false).is_ascii());
    }
}

#[test]
fn a_card_has_twenty_lines_of_eighty_columns_at_most() {
    let survey = survey();
    let (duel, findings) = fixture::duel();
    let duel = [Part { role: Role::Duel, run: &duel, analysis: &findings }];
    let survey = parts(&survey);
    for parts in [survey.as_slice(), &duel] {
        for (columns, unicode) in [(80, true), (80, false), (200, true), (60, true)] {
            let input = CardInput { parts, report_path: "r.html", next_command: "stend run" };
            let card = card(&input, columns, unicode).unwrap();
            assert!(card.lines().count() <= 20, "{card}");
            let widest = card.lines().map(|l| l.chars().count()).max().unwrap();
            assert!(widest <= usize::from(columns.min(80)), "{widest} columns\n{card}");
            assert!(card.contains("Next: stend run"), "{card}");
            assert!(unicode || card.is_ascii());
        }
    }
}

#[test]
fn a_survey_card_shows_noise_verdicts_with_intervals_and_two_doubts() {
    let survey = survey();
    let parts = parts(&survey);
    let input = CardInput { parts: &parts, report_path: "r.html", next_command: "stend run" };
    let card = card(&input, 80, true).unwrap();
    for part in [
        "+0.3 % (",
        "+31 % (+30 % to +32 %)",
        "3.30× (3.27–3.33×)",
        "Limit: all CPUs busy in every",
        "4 KiB",
    ] {
        assert!(card.contains(part), "{part} is not in\n{card}");
    }
    assert_eq!(card.lines().filter(|l| l.starts_with("Doubt:")).count(), 2, "{card}");
}

#[test]
fn every_verdict_and_every_doubt_can_be_said() {
    let (run, mut analysis) = fixture::single("All of them", 1.2);
    let verdicts = [
        (Verdict::Better, 1.2, "is better than"),
        (Verdict::Better, 1.01, "is ahead of onboard, but by less than the margin"),
        (Verdict::Worse, 0.8, "is worse than"),
        (Verdict::Worse, 0.99, "is behind onboard, but by less"),
        (Verdict::Equivalent, 1.001, "No difference that matters"),
        (Verdict::Undecided { more_blocks: Some(1) }, 1.03, "1 more block would"),
        (Verdict::Undecided { more_blocks: Some(7) }, 1.03, "7 more blocks would"),
        (Verdict::Undecided { more_blocks: None }, 1.03, "Undecided between"),
    ];
    for (verdict, centre, words) in verdicts {
        let comparison = &mut analysis.comparisons[0];
        comparison.verdict = verdict;
        comparison.overall.centre.value = centre;
        let said = text(&compose(&run, &analysis).unwrap(), 400, true);
        assert!(said.contains(words), "{words}");
    }
    let share = crate::stats::Estimate::exact(crate::unit::Quantity::count(1));
    let why = || "because".to_owned();
    analysis.caveats = vec![
        Caveat::Loopback { why: why() },
        Caveat::Steal { share },
        Caveat::NotSteady {
            trials: crate::unit::Quantity::count(3),
            of: crate::unit::Quantity::count(9),
        },
        Caveat::Partial { why: why() },
    ];
    assert!(compose(&run, &analysis).is_ok());
}

#[test]
fn a_single_block_is_not_given_an_interval() {
    let (run, mut analysis) = fixture::single("One block", 1.2);
    let comparison = &mut analysis.comparisons[0];
    comparison.overall = crate::stats::Estimate::exact(comparison.overall.centre);
    comparison.points[0].ratio = comparison.overall.clone();
    let said = text(&compose(&run, &analysis).unwrap(), 400, true);
    assert!(said.contains("throughput +20 % (one block, so no interval)"));
    assert!(said.contains("A single block, so no interval"));
    assert!(!said.contains("100 %"), "{said}");
}

#[test]
fn nothing_compared_is_said_and_no_part_is_an_error() {
    let (run, _) = fixture::single("Nothing", 1.2);
    let said = text(&compose(&run, &Analysis::default()).unwrap(), 400, true);
    assert!(said.contains("Nothing was compared"));
    assert_eq!(compose_survey(&[]), Err(ReportError::NoRun));
}

#[test]
fn the_figure_shows_both_levels_and_where_one_is_ahead() {
    let (run, analysis) = fixture::duel();
    let document = compose(&run, &analysis).unwrap();
    let page = format!("{document:?}");
    assert!(page.contains("\"pro1000 ahead\""));
    assert!(page.contains("\"onboard ahead\""));
}
