//! Checks the outline of the article, that its figures are led to, and what its kinds are made of.

use super::compose::{Writer, doubt_fix, doubt_lead, doubt_means};
use super::tests::{articles, headline, parts, survey};
use super::trace::figures;
use super::*;
use crate::figure::FigureKind;
use desk::record::{Fault, Plan, Run, Value};
use desk::stats::Estimate;
use desk::unit::{Quantity, Unit};
use desk::verdict::simulated::Simulated;
use desk::verdict::{Caveat, Collapsed, PowerSource, TooFew, Uneven, Verdict, Worth, analyse};
use std::collections::BTreeSet;

fn duel() -> Document {
    let (run, analysis) = fixture::duel();
    compose(&run, &analysis).unwrap()
}

#[test]
fn the_chapters_stand_in_their_order_behind_the_answer() {
    for document in [duel(), compose_survey(&parts(&survey())).unwrap()] {
        assert!(matches!(document.body.first(), Some(Node::VerdictBox { .. })));
        let ids: Vec<&str> = document
            .body
            .iter()
            .filter_map(|node| match node {
                Node::Section { id, .. } => Some(id.as_str()),
                _ => None,
            })
            .filter(|id| *id != "readers")
            .collect();
        let outline = ["results", "cost", "doubts", "testbed", "method", "reproduce", "appendix"];
        assert_eq!(ids, outline);
    }
}

#[test]
fn an_article_on_two_runs_has_the_chapters_too_and_the_doubts_of_either_run() {
    for forced in [false, true] {
        let (a, b, found) = fixture::two_sessions(forced);
        let document = compose_comparison(&a, &b, &found).unwrap();
        let section = |node: &Node| match node {
            Node::Section { id, .. } => Some(id.clone()),
            _ => None,
        };
        let ids: Vec<String> = document.body.iter().filter_map(section).collect();
        let outline = ["differences", "results", "cost", "doubts", "testbeds", "method"];
        assert_eq!(ids, [&outline[..], &["reproduce", "appendix"]].concat());
        let said = text(&document, 20_000, true);
        for words in [
            "Of B: The run is partial: the operator stopped it.",
            "Of A: 1 attempt was invalid; the first says: stream c02.0 moved nothing.",
            "Run 2026-12-05-0930-k13, which is B",
        ] {
            assert!(said.contains(words), "{words} is not in\n{said}");
        }
        let shared = said.matches("The machine is a guest of KVM.").count();
        assert_eq!(shared, 1, "a doubt of both is said once");
        let drawn = figures(&document.body);
        assert_eq!(drawn.iter().filter(|f| f.kind == FigureKind::Timeline).count(), 2);
    }
}

#[test]
fn the_answer_is_a_handful_of_statements() {
    for document in [duel(), compose_survey(&parts(&survey())).unwrap()] {
        let said = match document.body.first() {
            Some(Node::VerdictBox { rulings, limits, .. }) => 1 + rulings.len() + limits.len(),
            _ => 0,
        };
        assert!((4..=16).contains(&said), "{said} statements");
    }
    let Some(Node::VerdictBox { rulings, .. }) = duel().body.into_iter().next() else { return };
    let labels: Vec<String> = rulings.iter().map(|r| r.label.text().to_owned()).collect();
    assert_eq!(
        labels,
        [
            "What to do",
            "Compared",
            "By how much",
            "Where",
            "CPU cost",
            "Bottleneck",
            "How sure",
            "Measured at",
            "Other factors"
        ]
    );
}

/// Nodes in reading order, sections opened.
fn flat(nodes: &[Node]) -> Vec<&Node> {
    let mut all = Vec::new();
    for node in nodes {
        match node {
            Node::Section { body, .. } => all.extend(flat(body)),
            other => all.push(other),
        }
    }
    all
}

fn leads_to(node: &Node, id: &str) -> bool {
    let has = |p: &Prose| p.links().iter().any(|l| l.anchor == id && p.text().contains(&l.words));
    match node {
        Node::Paragraph(text) => has(text),
        Node::List(items) => items.iter().any(has),
        _ => false,
    }
}

#[test]
fn every_figure_is_led_to_before_it_or_right_behind_it() {
    let mut seen = 0;
    for document in articles() {
        let nodes = flat(&document.body);
        for (at, node) in nodes.iter().enumerate() {
            let Node::Figure(figure) = node else { continue };
            let near = &nodes[..(at + 2).min(nodes.len())];
            assert!(near.iter().any(|n| leads_to(n, &figure.id)), "{} {}", figure.id, figure.title);
            seen += 1;
        }
    }
    assert!(seen > 20, "only {seen} figures");
}

#[test]
fn anchors_of_figures_are_unique_and_every_link_leads_somewhere() {
    for document in articles() {
        let drawn = figures(&document.body);
        let ids: BTreeSet<&str> = drawn.iter().map(|f| f.id.as_str()).collect();
        assert_eq!(ids.len(), drawn.len());
        for text in super::tests::prose(&document) {
            for link in text.links() {
                assert!(ids.contains(link.anchor.as_str()), "{link:?}");
            }
        }
    }
}

#[test]
fn the_duel_has_every_kind_of_figure_that_its_data_carry() {
    let document = duel();
    let kinds: Vec<FigureKind> = figures(&document.body).iter().map(|f| f.kind).collect();
    assert_eq!(kinds.first(), Some(&FigureKind::Forest), "right behind the answer");
    for kind in [
        FigureKind::Heatmap,
        FigureKind::Sweep,
        FigureKind::Roofline,
        FigureKind::Percentile,
        FigureKind::Waterfall,
        FigureKind::Timeline,
    ] {
        assert!(kinds.contains(&kind), "{kind:?} is not in {kinds:?}");
    }
    assert_eq!(kinds.last(), Some(&FigureKind::Timeline), "in the appendix");
    let (run, analysis) = fixture::single("One ratio", 1.2);
    let plain = compose(&run, &analysis).unwrap();
    let kinds: Vec<FigureKind> = figures(&plain.body).iter().map(|f| f.kind).collect();
    assert_eq!(kinds, [FigureKind::Dots, FigureKind::Timeline], "and no other");
}

#[test]
fn an_invalid_visit_is_drawn_hollow_under_its_fault() {
    let document = duel();
    let all = figures(&document.body);
    let visits = all.last().unwrap();
    let names: Vec<&str> = visits.series.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["onboard", "pro1000", "dry", "stream still"]);
    let still = visits.series.last().unwrap();
    assert_eq!((still.marks.len(), still.marks[0].valid), (1, false));
    assert!(visits.series[0].marks.iter().all(|m| m.valid));
}

#[test]
fn the_visits_are_all_counted_and_none_that_is_invalid_is_thinned_away() {
    let (mut run, analysis) = fixture::duel();
    let faulty = [20, 60, 100, 140, 180];
    for id in faulty {
        run.records[id].outcome.fault = Some(Fault::Cancelled);
    }
    run.records[200].outcome = desk::record::Outcome::faulty(Fault::Cancelled);
    let again = run.records.clone();
    run.records.extend(again.into_iter().filter(|r| r.outcome.fault.is_none()));
    let (all, document) = (run.records.len(), compose(&run, &analysis).unwrap());
    assert!(all > 800, "so many that visits are thinned: {all}");
    let drawn = figures(&document.body);
    let visits = drawn.last().unwrap();
    assert_eq!(visits.title, format!("{all} attempts in order of time, 6 of them invalid"));
    let stopped = visits.series.iter().find(|s| s.name == "stopped").unwrap();
    assert_eq!(stopped.marks.len(), faulty.len(), "the sixth gave no figure");
    let marks: usize = visits.series.iter().map(|s| s.marks.len()).sum();
    assert!(marks < all / 2 && visits.footnote.contains("those with a fault are not thinned"));
}

#[test]
fn a_forest_counts_what_matters_and_its_rows_say_what_they_do_not_share() {
    let (run, mut analysis) = fixture::duel();
    let small = Estimate {
        centre: Quantity::new(1.01, desk::unit::Unit::Ratio),
        ..{
            let mut whole = analysis.comparisons[1].overall.clone();
            whole.low.value = 1.005;
            whole.high.value = 1.015;
            whole
        }
    };
    (analysis.comparisons[1].overall, analysis.comparisons[1].verdict) = (small, Verdict::Better);
    let drawn = |analysis: &_| figures(&compose(&run, analysis).unwrap().body)[0].clone();
    let forest = drawn(&analysis);
    assert!(
        forest.title.starts_with("1 of 3 comparisons ahead of the baseline, 1 behind"),
        "{}",
        forest.title
    );
    assert!(forest.series[1].name.ends_with("(neither ahead)"), "{}", forest.series[1].name);
    assert!(forest.subtitle.starts_with("throughput: "), "{}", forest.subtitle);
    for c in &mut analysis.comparisons {
        c.better = desk::record::Better::Lower;
    }
    let lower = drawn(&analysis);
    assert_eq!(lower.y.direction, "lower is better");
    assert!(!lower.series.iter().any(|s| s.name.contains("lower is better")), "once is enough");
    analysis.comparisons[0].better = desk::record::Better::Higher;
    analysis.comparisons[0].metric = "mean_segment".into();
    let mixed = drawn(&analysis);
    assert!(!mixed.subtitle.contains("throughput") && mixed.y.direction.is_empty());
    let named = |at: usize, words: &str| mixed.series[at].name.contains(words);
    assert!(named(0, "mean_segment") && !named(0, "lower"), "{:?}", mixed.series[0].name);
    assert!(named(1, "throughput (lower is better)"), "{:?}", mixed.series[1].name);
}

#[test]
fn loads_without_a_curve_are_grouped_by_condition_with_every_visit() {
    let (run, analysis) = fixture::jumbo(2.59, 0.93);
    let document = compose(&run, &analysis).unwrap();
    let drawn = figures(&document.body);
    let groups = drawn.iter().find(|f| f.kind == FigureKind::Groups).unwrap();
    assert_eq!(groups.x.names.len(), 2, "{:?}", groups.x.names);
    assert_eq!(groups.series.len(), 2, "the baseline is drawn once a group");
    let marks = groups.series.iter().flat_map(|s| &s.marks);
    assert!(marks.clone().all(|m| m.runs.len() == 5), "a dot a visit");
    assert_eq!(marks.count(), 4);
    assert!(!drawn.iter().any(|f| f.kind == FigureKind::Dots), "the forest has the ratios");
}

#[test]
fn the_bars_of_a_waterfall_go_on_where_the_last_one_ended() {
    let document = duel();
    let all = figures(&document.body);
    let bars = all.iter().find(|f| f.kind == FigureKind::Waterfall).unwrap();
    let ends: Vec<(f64, f64)> =
        bars.series.iter().map(|s| (s.marks[0].x, s.marks[0].centre)).collect();
    for pair in ends.windows(2) {
        let last = pair[1] == ends[ends.len() - 1];
        assert!(last || (pair[0].1 - pair[1].0).abs() < 1e-12, "{ends:?}");
    }
    let (last, before) = (ends[ends.len() - 1], ends[ends.len() - 2]);
    assert!(ends[0].0 == 0.0 && last.0 == 0.0 && (last.1 - before.1).abs() < 1e-9, "{ends:?}");
}

#[test]
fn no_point_stands_above_a_roof() {
    let document = duel();
    let all = figures(&document.body);
    let drawn = all.iter().find(|f| f.kind == FigureKind::Roofline).unwrap();
    let mut touched = 0;
    for mark in drawn.series.iter().flat_map(|s| &s.marks) {
        for roof in &drawn.roofs {
            let height = roof.slope.map_or(f64::INFINITY, |s| s * mark.x);
            let height = height.min(roof.ceiling.unwrap_or(f64::INFINITY));
            assert!(mark.centre <= height * (1.0 + 1e-9), "{mark:?} above {roof:?}");
            touched += usize::from(mark.centre > height * (1.0 - 1e-9));
        }
    }
    assert!(touched >= 2, "each roof is that of a point");
}

#[test]
fn a_point_without_a_valid_visit_is_hollow_and_in_no_table() {
    let mut run = Simulated { sizes: vec![64, 1024, 4096], ..Simulated::default() }.run();
    for record in &mut run.records {
        let at = record.trial.point.params["size"].to_string();
        if at == "1 KiB" {
            record.outcome.fault = Some(Fault::Cancelled);
        }
    }
    let analysis = analyse(&run);
    assert_eq!(analysis.comparisons[0].points.len(), 2);
    let document = compose(&run, &analysis).unwrap();
    let all = figures(&document.body);
    let curve = all.iter().find(|f| f.kind == FigureKind::Sweep).unwrap();
    for series in &curve.series {
        let drawn: Vec<(f64, bool)> = series.marks.iter().map(|m| (m.x, m.valid)).collect();
        assert_eq!(drawn, [(64.0, true), (1024.0, false), (4096.0, true)]);
    }
    assert!(curve.footnote.starts_with("Hollow points: all attempts invalid."));
}

/// A doubt of each kind that the order of the blocks gives.
fn diagnoses() -> [Caveat; 3] {
    let (first, p) = (|| "mtu 9000 B against 1500 B".to_owned(), Quantity::count(0));
    let [seen, of, follows, share] = [1, 4, 1, 1].map(Quantity::count);
    let off = || Estimate::exact(Quantity::count(1));
    [
        Caveat::RatioMoved { first: first(), change: off(), p, seen, of },
        Caveat::NeighboursAlike { first: first(), follows, p, seen, of },
        Caveat::BlockApart { first: first(), block: of, off: off(), share, p, seen, of },
    ]
}

/// Two of twenty trials at 9000 B run at half the rate.
fn uneven() -> Caveat {
    let level = |level: &str, trials: u32| Collapsed {
        level: level.into(),
        trials,
        share: Estimate { n: 20, ..Estimate::exact(Quantity::new(0.1, Unit::Share)) },
        at: (trials > 0).then_some(Quantity::new(0.5, Unit::Share)),
    };
    let ratio = |value| Estimate::exact(Quantity::new(value, Unit::Ratio));
    let (base, other) = (level("1500 B", 0), level("9000 B", 2));
    let uneven = Box::new(Uneven { typical: ratio(1.0), mean: ratio(0.93), base, other });
    let [seen, of] = [1, 2].map(Quantity::count);
    Caveat::Uneven { first: "mtu 9000 B against 1500 B".into(), uneven, seen, of }
}

/// A list that was the faster the longer it was.
fn faster_with_more() -> Caveat {
    let [load, work, less, more] = ["box", "rules", "1000", "10000"].map(str::to_owned);
    Caveat::FasterWithMore { load, work, less, more, gain: Estimate::exact(Quantity::count(1)) }
}

/// An adapter whose peer could not take more.
fn held() -> Caveat {
    let [sent, received, trials, of] = [1000, 7, 2, 9].map(Quantity::count);
    Caveat::PauseFrames { adapter: "eth1".into(), sent, received, trials, of }
}

/// Three trials whose cache was exhausted, and one with a rebuild.
fn left_steady_state() -> Caveat {
    let [trials, of, lower, recovered] = [4, 9, 3, 1].map(Quantity::count);
    let none = Quantity::count(0);
    let earliest = Quantity::seconds(12.0);
    Caveat::LeftSteadyState { trials, of, lower, repeated: none, recovered, higher: none, earliest }
}

#[test]
fn every_doubt_has_evidence_a_consequence_and_a_remedy() {
    let share = || Estimate::exact(Quantity::count(1));
    let (count, why) = (Quantity::count, || "because".to_owned());
    let [moved, alike, apart] = diagnoses();
    let least = TooFew { at: count(1), values: count(450), needs: count(10_000) };
    let all = vec![
        Caveat::OneMachine,
        Caveat::Compound { machines: why(), differences: count(9), named: why() },
        Caveat::Loopback { why: why() },
        Caveat::Guest { hypervisor: "KVM".into() },
        Caveat::Steal { share: share() },
        Caveat::NoiseFloor { ratio: share() },
        faster_with_more(),
        Caveat::ShippedBridge { hosts: why() },
        moved,
        Caveat::Drifted { load: why(), change: share() },
        Caveat::Stepped { load: String::new(), change: share(), at: count(60) },
        Caveat::Paused { times: count(2), longest: count(90), at: count(10) },
        alike,
        apart,
        uneven(),
        Caveat::NotSteady { trials: count(3), of: count(9) },
        Caveat::Unsettled { never: count(1), late: count(2), of: count(9) },
        left_steady_state(),
        Caveat::FewRounds { trials: count(3), of: count(9), rounds: count(2), needs: count(15) },
        Caveat::NotFromDisk { trials: count(3), of: count(9), least: count(0) },
        Caveat::ArrayActivity { trials: count(3), of: count(9), first: why() },
        Caveat::FailedOperations { trials: count(3), of: count(9), classes: why() },
        Caveat::TooFew { metric: "p99.9 response".into(), least },
        Caveat::SearchEnds { load: why(), ended: count(3), of: count(9) },
        Caveat::Simulated,
        Caveat::Emulated { emulator: "QEMU".into() },
        Caveat::FromOutside { servers: why() },
        Caveat::ClientsOnly { places: count(2), first: why() },
        Caveat::Faults { trials: count(2), again: count(1), lost: count(1), first: why() },
        Caveat::Partial { why: why() },
        Caveat::Incomplete { valid: count(2), of: count(9) },
        Caveat::FewBlocks { blocks: count(5), smallest: share() },
        Caveat::VirtualLinks,
        Caveat::Foreign { cpu: share() },
        held(),
        Caveat::CpuMethods { by: share() },
    ];
    must_be_said(&all);
}

/// Three texts of every doubt, none like another.
fn must_be_said(all: &[Caveat]) {
    let writer = Writer::new().unwrap();
    for caveat in all {
        // A new kind does not compile here until it stands in the list above.
        match caveat {
            Caveat::OneMachine
            | Caveat::Compound { .. }
            | Caveat::Loopback { .. }
            | Caveat::Guest { .. }
            | Caveat::Steal { .. }
            | Caveat::NoiseFloor { .. }
            | Caveat::FasterWithMore { .. }
            | Caveat::ShippedBridge { .. }
            | Caveat::RatioMoved { .. }
            | Caveat::Drifted { .. }
            | Caveat::Stepped { .. }
            | Caveat::Paused { .. }
            | Caveat::NeighboursAlike { .. }
            | Caveat::BlockApart { .. }
            | Caveat::Uneven { .. }
            | Caveat::NotSteady { .. }
            | Caveat::Unsettled { .. }
            | Caveat::LeftSteadyState { .. }
            | Caveat::FewRounds { .. }
            | Caveat::NotFromDisk { .. }
            | Caveat::ArrayActivity { .. }
            | Caveat::FailedOperations { .. }
            | Caveat::TooFew { .. }
            | Caveat::SearchEnds { .. }
            | Caveat::Simulated
            | Caveat::Emulated { .. }
            | Caveat::FromOutside { .. }
            | Caveat::ClientsOnly { .. }
            | Caveat::Faults { .. }
            | Caveat::Partial { .. }
            | Caveat::Incomplete { .. }
            | Caveat::FewBlocks { .. }
            | Caveat::VirtualLinks
            | Caveat::Foreign { .. }
            | Caveat::PauseFrames { .. }
            | Caveat::CpuMethods { .. } => {}
        }
        let said = [
            doubt_lead(&writer, caveat).unwrap(),
            doubt_means(&writer, caveat).unwrap(),
            doubt_fix(&writer, caveat).unwrap(),
        ];
        let texts: BTreeSet<&str> = said.iter().map(Prose::text).collect();
        assert_eq!(texts.len(), 3, "{caveat:?}");
        assert!(texts.iter().all(|t| t.len() > 10 && t.ends_with('.')), "{texts:?}");
    }
}

#[test]
fn what_a_person_entered_is_marked_as_such_and_makes_a_row_for_the_money() {
    let said = text(&duel(), 20_000, true);
    for words in [
        "Entered by hand, not measured",
        "ambient temperature    22 °C",
        "hum at night           41 dB(A)",
        "price of onboard card  25 EUR",
        "pro1000 card, onboard card together set pro1000 apart from onboard. For 25 EUR more",
        "Levels beside their work",
        "not measured; ambient 22 °C (entered)",
        "price list of a shop",
        "Price (entered)",
        "Mbit/s per EUR",
        "% per EUR (",
        "Power: not measured, not entered.",
    ] {
        assert!(said.contains(words), "{words} is not in\n{said}");
    }
    let (run, mut analysis) = fixture::duel();
    for (source, title) in [
        (PowerSource::Packages, "Power (packages and memory, mean)"),
        (PowerSource::Board, "Power (whole machine, mean)"),
    ] {
        let watts = |worth: &Worth| Worth {
            base: Quantity::new(20.0, Unit::Watt),
            other: Quantity::new(45.0, Unit::Watt),
            power: Some(source),
            ..worth.clone()
        };
        analysis.powers = analysis.prices.iter().map(watts).collect();
        let said = text(&compose(&run, &analysis).unwrap(), 20_000, true);
        for words in [title, "Mbit/s per W", "% per W ("] {
            assert!(said.contains(words), "{words} is not in\n{said}");
        }
    }
    (analysis.prices, analysis.powers) = (Vec::new(), Vec::new());
    let bare = text(&compose(&run, &analysis).unwrap(), 20_000, true);
    assert!(!bare.contains("per EUR"), "what the analysis has not is not made here");
    assert!(!bare.contains("Price: not entered."), "it was, and gives no ratio");
    let plan = Plan { facts: Vec::new(), parts: Vec::new(), ..run.plan.clone() };
    let run = Run { plan, ..run };
    let bare = text(&compose(&run, &analysis).unwrap(), 20_000, true);
    assert!(bare.contains("Power: not measured, not entered. Price: not entered."), "{bare}");
}

#[test]
fn a_difference_within_the_margin_is_no_news_and_equal_levels_have_no_winner() {
    let small = Simulated { truth: |_| 1.008, noise: 0.001, blocks: 10, ..Simulated::default() };
    let mut run = small.run();
    run.plan.lab.links[1].settings.insert("tso".into(), Value::Word("off".into()));
    let analysis = analyse(&run);
    let document = compose(&run, &analysis).unwrap();
    let said = headline(&document).replace('\u{a0}', " ");
    assert!(said.starts_with("No relevant difference between pro1000 and onboard"), "{said}");
    assert!(said.ends_with(", a certain difference inside the margin of 2 %."), "{said}");
    // Headline, title of the figure, table and gate say it in the same words.
    let words = text(&document, 20_000, true).replace('\u{a0}', " ");
    for part in ["pro1000 and onboard differ, but inside the margin: +", "= inside the margin"] {
        assert!(words.contains(part), "{part} is not in\n{words}");
    }
    assert!(!words.contains("▲ better"), "{words}");
    let gate = desk::verdict::gate(&run, &analysis, desk::verdict::FailIf::Worse, None);
    let lines = gate_lines(&run, &gate).unwrap();
    let inside = |(_, said): &(Prose, Prose)| said.text().contains("inside the margin of 2");
    assert!(lines.len() == 1 && lines.iter().all(inside), "{lines:?}");
    let (run, mut analysis) = fixture::single("Alike", 1.2);
    analysis.comparisons.iter_mut().for_each(|c| c.aa = true);
    let said = headline(&compose(&run, &analysis).unwrap());
    assert!(said.starts_with("Control run of two equal levels: throughput +20 %"), "{said}");
}

#[test]
fn the_curve_is_explained_by_what_was_full_and_by_where_the_lead_changes() {
    let said = text(&duel(), 20_000, true);
    for words in [
        "What limited it under onboard: all CPUs busy at 64 B–4 KiB (96.2 %); the rate set on the \
         link at 8 KiB–256 KiB (96.2 %).",
        "What limited it under pro1000: all CPUs busy at every point (97.4 %).",
    ] {
        assert!(said.contains(words), "{words}");
    }
    let (run, mut analysis) = fixture::duel();
    let both = &mut analysis.comparisons[2];
    let mut turned = both.regions[0].clone();
    let last = both.points[12].at.clone().unwrap();
    (turned.from, turned.to, turned.other_ahead) = (last.clone(), last, true);
    both.regions.push(turned);
    let said = text(&compose(&run, &analysis).unwrap(), 20_000, true);
    let words = "The lead changes between 32 KiB and 256 KiB: pro1000 against onboard has";
    assert!(said.contains(words), "{said}");
}

#[test]
fn the_second_of_two_equal_levels_is_named_after_the_first() {
    fn levels(plan: &desk::record::Plan, held: &[(&str, &str)]) -> Vec<String> {
        let held = held.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let words = aa_words(plan, &held).unwrap();
        let plan = desk::plan::against_itself(plan, &held, &words).unwrap();
        let compared = plan.factors.iter().find(|f| f.name == plan.method.compare).unwrap();
        compared.levels.iter().map(|l| l.name.clone()).collect()
    }
    let (mut run, _) = fixture::duel();
    assert_eq!(levels(&run.plan, &[]), ["onboard", "onboard again"]);
    assert_eq!(levels(&run.plan, &[("path", "pro1000")]), ["pro1000", "pro1000 again"]);
    run.plan.factors.clear();
    run.plan.method.compare.clear();
    assert_eq!(levels(&run.plan, &[]), ["as set", "as set again"]);
}
