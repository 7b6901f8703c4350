//! Checks the article as a reader gets it: numbers, words, widths, safety.

use super::compose::{Writer, roof_line};
use super::*;
use desk::record::Run;
use desk::verdict::{Analysis, Caveat, Verdict};

pub(super) fn survey() -> Vec<(Role, Run, Analysis)> {
    let part = |role, (run, analysis)| (role, run, analysis);
    vec![
        part(Role::NoiseFloor, fixture::single("Noise floor", 1.0031)),
        part(Role::Duel, fixture::single("Jumbo frames", 1.31)),
        part(Role::Duel, fixture::single("Segmentation offload", 3.3)),
        part(Role::Curve, fixture::curve()),
    ]
}

pub(super) fn parts(survey: &[(Role, Run, Analysis)]) -> Vec<Part<'_>> {
    survey.iter().map(|(role, run, analysis)| Part { role: *role, run, analysis }).collect()
}

/// The page of a document; what it carries is of no matter to its words.
pub(super) fn html(document: &Document) -> String {
    super::html(document, &Bundle::of_run(&fixture::duel().0)).unwrap()
}

/// Runs that only measure.
pub(super) fn alone() -> [(Run, Analysis); 3] {
    [(5, &[][..]), (1, &[]), (8, &["always", "never"])].map(|(blocks, levels)| {
        let (mut run, analysis) = fixture::alone(blocks, levels);
        run.plan.title = "Memory by itself".into();
        (run, analysis)
    })
}

pub(super) fn articles() -> Vec<Document> {
    let (run, analysis) = fixture::duel();
    let survey = survey();
    let mut all = vec![compose(&run, &analysis).unwrap(), compose_survey(&parts(&survey)).unwrap()];
    for (run, analysis) in alone() {
        all.push(compose(&run, &analysis).unwrap());
    }
    for forced in [false, true] {
        let (a, b, mut found) = fixture::two_sessions(forced);
        all.push(compose_comparison(&a, &b, &found).unwrap());
        // The same without --force is a refusal where there are confounders.
        (found.forced, found.comparisons) = (false, found.comparisons[..1].to_vec());
        all.push(compose_comparison(&a, &b, &found).unwrap());
    }
    for (run, analysis) in [fixture::machine(), fixture::huge_pages()] {
        all.push(compose(&run, &analysis).unwrap());
    }
    all
}

/// Every text of a document, in order.
pub(super) fn prose(document: &Document) -> Vec<Prose> {
    let mut all = vec![document.watermark.clone(), document.kicker.clone()];
    all.extend([document.title.clone(), document.question.clone()]);
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
            all.extend(table.notes.clone());
        }
        Node::List(items) => all.extend(items.clone()),
        Node::Code { caption, .. } => all.push(caption.clone()),
        Node::Note { lead, text } => all.extend([lead.clone(), text.clone()]),
        Node::Figure(_) => {}
    }
}

/// Maximal runs of digits, points between digits included.
pub(super) fn numbers(text: &str) -> Vec<String> {
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
    text.chars().filter(|c| !c.is_whitespace()).collect()
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
        // The font alone is data of the page.
        assert_eq!(
            page.matches("url(").count(),
            page.matches("url(data:font/woff2;base64,").count()
        );
        for forbidden in ["http:", "https:", " src=", "@import", "<link", "<iframe"] {
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
            let input = CardInput {
                parts,
                report_path: "r.html",
                next_command: "stend run",
                left_out: &[],
            };
            let card = card(&input, columns, unicode).unwrap();
            assert!(card.lines().count() <= 20, "{card}");
            let widest = card.lines().map(|l| l.chars().count()).max().unwrap();
            assert!(widest <= usize::from(columns.min(80)), "{widest} columns\n{card}");
            assert!(card.contains("Next: stend run"), "{card}");
            assert!(unicode || card.is_ascii());
        }
    }
    let left_out = ["Throughput by request size".to_owned()];
    let input = CardInput {
        parts: &survey[..1],
        report_path: "r.html",
        next_command: "stend run",
        left_out: &left_out,
    };
    let card = card(&input, 80, true).unwrap();
    assert!(card.contains("Left out for lack of time: Throughput by request size"), "{card}");
}

#[test]
fn a_survey_card_shows_noise_verdicts_with_intervals_and_two_doubts() {
    let survey = survey();
    let parts = parts(&survey);
    let input = CardInput {
        parts: &parts,
        report_path: "r.html",
        next_command: "stend run",
        left_out: &[],
    };
    let card = card(&input, 80, true).unwrap();
    for part in [
        "+0.3 % (",
        "+31 % (+30 % to +32 %)",
        "3.30× (3.27–3.33×)",
        "Limit of the network: all CPUs busy in every case",
        "4 KiB",
    ] {
        assert!(card.contains(part), "{part} is not in\n{card}");
    }
    assert_eq!(card.lines().filter(|l| l.starts_with("Caveat:")).count(), 2, "{card}");
}

#[test]
fn every_verdict_and_every_doubt_can_be_said() {
    let (run, mut analysis) = fixture::single("All of them", 1.2);
    let further = |low, high| {
        let more_blocks = Some(desk::stats::MoreBlocks { low, high });
        Verdict::Undecided { more_blocks }
    };
    let verdicts = [
        (Verdict::Better, 1.2, "is better than"),
        (Verdict::Better, 1.01, ", a certain difference inside the margin of"),
        (Verdict::Worse, 0.8, "is worse than"),
        (Verdict::Worse, 0.99, ", a certain difference inside the margin of"),
        (Verdict::Equivalent, 1.001, "No relevant difference"),
        (further(1, Some(1)), 1.03, "takes 1 further block (80 % interval)."),
        (further(8, Some(40)), 1.03, "takes 8 to 40 further blocks (80 % interval)."),
        (further(8, None), 1.03, "takes 8 or more further blocks, perhaps beyond 1000 in all (80"),
        (Verdict::Undecided { more_blocks: None }, 1.03, "Undecided between"),
    ];
    for (verdict, centre, words) in verdicts {
        let comparison = &mut analysis.comparisons[0];
        comparison.verdict = verdict;
        let ends = [&mut comparison.overall.low, &mut comparison.overall.high];
        ends.into_iter().zip([0.995, 1.005]).for_each(|(end, by)| end.value = by * centre);
        comparison.overall.centre.value = centre;
        let said = text(&compose(&run, &analysis).unwrap(), 400, true);
        assert!(said.contains(words), "{words}");
    }
    let share = desk::stats::Estimate::exact(desk::unit::Quantity::count(1));
    let why = || "because".to_owned();
    analysis.caveats = vec![
        Caveat::Loopback { why: why() },
        Caveat::Steal { share: share.clone() },
        Caveat::NotSteady {
            trials: desk::unit::Quantity::count(3),
            of: desk::unit::Quantity::count(9),
        },
        Caveat::Partial { why: why() },
        Caveat::Foreign { cpu: share.clone() },
        Caveat::CpuMethods { by: share },
    ];
    assert!(compose(&run, &analysis).is_ok());
}

#[test]
fn a_single_block_is_not_given_an_interval() {
    let (run, mut analysis) = fixture::single("One block", 1.2);
    let comparison = &mut analysis.comparisons[0];
    comparison.overall = desk::stats::Estimate::exact(comparison.overall.centre);
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

pub(super) fn headline(document: &Document) -> String {
    let Some(Node::VerdictBox { headline, .. }) = document.body.first() else {
        return String::new();
    };
    headline.text().replace('\u{a0}', " ")
}

pub(super) fn of_three(jumbo: (Run, Analysis)) -> Vec<(Role, Run, Analysis)> {
    let part = |role, (run, analysis)| (role, run, analysis);
    vec![
        part(Role::NoiseFloor, fixture::single("Noise floor", 9.0)),
        part(Role::Duel, fixture::offload(4.11)),
        part(Role::Duel, jumbo),
    ]
}

#[test]
fn a_survey_leads_with_the_split_that_nobody_would_guess() {
    let survey = of_three(fixture::jumbo(2.59, 0.93));
    let said = headline(&compose_survey(&parts(&survey)).unwrap());
    let wanted =
        "mtu 9000 B against mtu 1500 B: throughput 2.59× with tso off, −7.0 % with tso on.";
    assert_eq!(said, wanted);
}

#[test]
fn without_such_a_split_a_survey_leads_with_its_largest_effect_and_never_with_noise() {
    let survey = of_three(fixture::jumbo(1.2, 1.3));
    let said = headline(&compose_survey(&parts(&survey)).unwrap());
    assert!(said.starts_with("tso on is better than tso off: throughput 4.11×"), "{said}");
    let (jumbo, analysis) = fixture::jumbo(6.0, 1.3);
    let survey = of_three((jumbo, analysis));
    let said = headline(&compose_survey(&parts(&survey)).unwrap());
    assert!(said.starts_with("With tso off, mtu 9000 B is better than mtu 1500 B"), "{said}");
}

#[test]
fn a_level_is_never_said_without_its_factor() {
    let (run, analysis) = fixture::offload(4.11);
    let said = text(&compose(&run, &analysis).unwrap(), 400, true);
    assert!(said.contains("tso on is better than tso off"));
    let words: Vec<&str> = said.split_whitespace().collect();
    for pair in words.windows(2) {
        assert!(pair[1] != "off" || ["tso", ":"].contains(&pair[0]), "{pair:?}");
    }
}

#[test]
fn a_card_says_where_the_roofs_of_a_curve_meet() {
    let (run, mut analysis) = fixture::duel();
    let roofs = std::mem::take(&mut analysis.roofs);
    let said = |analysis: &Analysis| {
        let parts = [Part { run: &run, analysis, role: Role::Curve }];
        let line = roof_line(&Writer::on([&run].into_iter()).unwrap(), &parts).unwrap();
        line.map(|line| line.text().replace('\u{a0}', " "))
    };
    assert_eq!(said(&analysis), None);
    analysis.roofs = roofs;
    let line = said(&analysis).unwrap();
    assert!(line.starts_with("Roofs of pro1000: ") && line.contains(" up to 1 KiB, "), "{line}");
}

#[test]
fn a_card_says_both_sides_of_a_split_and_cuts_nothing() {
    let survey = of_three(fixture::jumbo(2.59, 0.93));
    let parts = parts(&survey);
    let input = CardInput {
        parts: &parts,
        report_path: "r.html",
        next_command: "stend run",
        left_out: &[],
    };
    for columns in [80, 60, 40] {
        let card = card(&input, columns, true).unwrap();
        let line = card.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            line.contains("mtu 9000 B : 1500 B, tso off; ▼ −7.0 % (−7.7 % to −6.3 %) tso on"),
            "{card}"
        );
        assert!(!card.contains('…'), "{card}");
        assert!(card.lines().count() <= 20 && card.ends_with("Next: stend run\n"), "{card}");
    }
}

#[test]
fn a_summary_is_short_and_has_no_table() {
    let survey = survey();
    for document in [articles().remove(0), compose_survey(&parts(&survey)).unwrap()] {
        let said = summary(&document, 80, true);
        assert!(said.lines().count() <= 110, "{} lines\n{said}", said.lines().count());
        assert!(!said.contains("Table") && !said.contains("Appendix"), "{said}");
        assert!(summary(&document, 80, false).is_ascii());
    }
}

#[test]
fn a_lab_without_a_reason_is_still_a_sentence() {
    let (mut run, analysis) = fixture::single("Lab", 1.2);
    for kind in [
        desk::record::LabKind::RootNamespaces,
        desk::record::LabKind::UserNamespaces,
        desk::record::LabKind::Loopback,
        desk::record::LabKind::Simulated,
    ] {
        run.environment_mut().lab = Some((kind, String::new()));
        let said = text(&compose(&run, &analysis).unwrap(), 400, true);
        assert!(!said.contains(": .") && !said.contains(":  "), "{kind:?}");
    }
}

#[test]
fn doubts_of_one_kind_are_one_note_with_the_worst_part() {
    let (first, mut light) = fixture::single("Light", 1.2);
    let (second, mut heavy) = fixture::single("Heavy", 1.2);
    let count = desk::unit::Quantity::count;
    let faults = |n| Caveat::Faults {
        trials: count(n),
        again: count(n - 1),
        lost: count(1),
        first: "x".into(),
    };
    light.caveats = vec![faults(1)];
    heavy.caveats = vec![faults(7)];
    let parts = [
        Part { role: Role::Duel, run: &first, analysis: &light },
        Part { role: Role::Duel, run: &second, analysis: &heavy },
    ];
    let said = text(&compose_survey(&parts).unwrap(), 400, true);
    assert!(said.contains("7 attempts were invalid") && said.contains("worst part is “Heavy”"));
    assert!(!said.contains("1 attempt was invalid"), "{said}");
}

#[test]
fn two_sessions_are_never_judged_without_saying_that_they_are_two() {
    let (a, b, found) = fixture::two_sessions(false);
    let document = compose_comparison(&a, &b, &found).unwrap();
    let said = text(&document, 20_000, true);
    let words = ["is better than", "is worse than", "is ahead from", "No relevant difference"];
    let mut seen = 0;
    for (at, _) in words.iter().flat_map(|word| said.match_indices(word)) {
        let sentence = said[..at].rsplit(['\n', '.']).next().unwrap_or_default();
        assert!(sentence.contains("Unpaired, 5 sessions of A and 5 of B: "), "{sentence}");
        seen += 1;
    }
    assert!(seen > 5, "only {seen} verdicts");
    assert!(said.contains("Differs by less than its grain") && !said.contains("COMPARABLE"));
    assert!(said.contains("plan.factor.mtu.4000 B"), "a level without a partner is listed");
}

#[test]
fn a_watermark_is_the_first_line_and_behind_the_page_and_shuts_every_verdict_up() {
    let (a, b, found) = fixture::two_sessions(true);
    let document = compose_comparison(&a, &b, &found).unwrap();
    let said = text(&document, 20_000, true);
    let first = "NOT COMPARABLE: kernel.release, mitigation.m0, mitigation.m1, mitigation.m2, \
                 mitigation.m3, mitigation.m4 and 4 more";
    assert_eq!(said.lines().next(), Some(first));
    assert!(summary(&document, 20_000, true).starts_with(first));
    let page = html(&document);
    assert!(page.contains("<header class=\"watermark\">NOT COMPARABLE"));
    // A sign alone may be the mark of a series.
    for word in ["better than", "worse than", "▲ better", "▼ worse", "ahead"] {
        assert!(!said.contains(word), "{word}");
    }
    let (run, analysis) = fixture::duel();
    let page = html(&compose(&run, &analysis).unwrap());
    assert!(!page.contains("class=\"marked\"") && !page.contains("class=\"watermark\""));
}

#[test]
fn a_plan_that_classes_keys_anew_is_told_in_the_test_bed() {
    use desk::record::KeyClass;
    let (mut run, analysis) = fixture::duel();
    run.plan.reclass = [("kernel.release".to_owned(), KeyClass::Info)].into();
    run.plan.reclass.insert("kernal".into(), KeyClass::Factor);
    let said = text(&compose(&run, &analysis).unwrap(), 20_000, true);
    assert!(said.contains("The plan treats kernel.release as info, not as critical"));
    assert!(said.contains("The plan treats kernal as factor; no such key is known"));
}
