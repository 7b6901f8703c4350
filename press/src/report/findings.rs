//! Checks what the article says of costs, states, limits, interactions, advice and claims.

use super::media::figures;
use super::tests::{headline, of_three, parts};
use super::*;
use desk::record::Run;
use desk::stats::EstimateMethod;
use desk::unit::Quantity;
use desk::verdict::{Analysis, Basis, Caveat, Reader, Verdict, Withheld};

fn said(run: &Run, analysis: &Analysis) -> String {
    text(&compose(run, analysis).unwrap(), 20_000, true)
}

fn card_of(run: &Run, analysis: &Analysis) -> String {
    let parts = [Part { role: Role::Duel, run, analysis }];
    let input = CardInput {
        parts: &parts,
        report_path: "r.html",
        next_command: "stend run",
        left_out: &[],
    };
    card(&input, 80, true).unwrap()
}

fn sweeps(document: &Document) -> Vec<&crate::figure::Figure> {
    let all = figures(document).into_iter();
    all.filter(|f| f.kind == crate::figure::FigureKind::Sweep).collect()
}

#[test]
fn every_curve_has_throughput_cpu_and_index_over_one_axis() {
    let (run, analysis) = fixture::duel();
    let document = compose(&run, &analysis).unwrap();
    let all = figures(&document);
    let numbers = all.iter().map(|f| f.number as usize);
    assert!(numbers.eq(1..=all.len()), "numbered in the order of the article");
    let figures = sweeps(&document);
    let labels: Vec<&str> = figures.iter().map(|f| f.y.label.as_str()).collect();
    let cost = ["busy share of all CPUs", "P/E index (pair)"];
    let [throughput, rest] = [&labels[..3], &labels[3..]];
    assert_eq!(throughput, ["throughput"; 3]);
    assert_eq!(rest, [cost, cost, cost].concat());
    assert_eq!(figures[0].positions(), figures[4].positions());
    for figure in &figures {
        assert!(figure.subtitle.contains("engine batch, 64 requests a call"), "{figure:?}");
    }
}

#[test]
fn a_reason_to_withhold_is_said_once_with_its_points() {
    let (run, analysis) = fixture::duel();
    let said = said(&run, &analysis);
    for words in [
        "– No verdict on the P/E index at 64 B–128 B: the methods of CPU accounting",
        "– No verdict on the P/E index at 128 KiB–256 KiB: a level kept only 3.10 %",
        "over all points: at full load the levels were not equally fast",
        "An equal offered load would decide",
    ] {
        assert_eq!(said.matches(words).count(), 1, "{words}");
    }
}

#[test]
fn a_reason_that_holds_everywhere_needs_no_note() {
    let (run, mut analysis) = fixture::duel();
    for cost in &mut analysis.costs {
        cost.withheld_overall = Some(Withheld::SmtDiffers);
        cost.withheld = vec![Some(Withheld::SmtDiffers); cost.index.points.len()];
    }
    let said = said(&run, &analysis);
    assert_eq!(said.matches(", at any point or over all: ").count(), 3);
    assert!(!said.contains("– No verdict on"));
}

#[test]
fn equal_load_and_displaced_work_decide() {
    let (run, mut analysis) = fixture::duel();
    let words = said(&run, &analysis);
    assert!(words.contains(
        "so their costs compare directly: pro1000 takes less CPU for its work than onboard"
    ));
    let decides = "The work that a program at idle priority lost meanwhile decides instead";
    assert!(!words.contains(decides), "nothing displaced decides between unequal throughputs");
    assert_eq!(words.matches("Displaced CPUs").count(), 1);
    for cost in analysis.costs.iter_mut().filter(|c| !c.equal_load) {
        cost.withheld_overall = Some(Withheld::NotRead);
        cost.withheld.fill(Some(Withheld::NotRead));
    }
    assert!(said(&run, &analysis).contains(decides));
    for cost in &mut analysis.costs {
        cost.displaced = None;
        cost.basis = Basis::Server;
    }
    let words = said(&run, &analysis);
    assert!(!words.contains("Displaced CPUs") && words.contains("P/E index (server)"));
}

#[test]
fn a_cost_without_a_curve_has_a_table_and_no_curve_figure() {
    let (run, analysis) = fixture::priced();
    let document = compose(&run, &analysis).unwrap();
    assert_eq!(sweeps(&document).len(), 0);
    let said = said(&run, &analysis);
    assert!(said.contains("Cost of the load by level, server and clients together (pair)"));
    assert!(said.contains("Where the CPU time went"));
    assert!(said.contains("so their costs compare directly: ") && !said.contains("P/E index +"));
}

#[test]
fn two_states_are_said_drawn_hollow_and_doubted() {
    let (run, analysis) = fixture::duel();
    let words = said(&run, &analysis);
    let sentence = "onboard at 8 KiB has two states: 610 Mbit/s with segments of 1.10 KiB in \
                    3 trials, 4.07 Gbit/s with segments of 8.68 KiB in 2 trials.";
    assert!(words.contains(sentence));
    let document = compose(&run, &analysis).unwrap();
    let figures = sweeps(&document);
    let hollow = figures[2].series[0].marks.iter().filter(|m| !m.valid).count();
    assert_eq!((hollow, figures[2].series[0].name.as_str()), (1, "onboard"));
    assert!(figures[2].footnote.starts_with("Hollow points: a level with two states."));
    let card = card_of(&run, &analysis);
    assert!(card.contains("Caveat: two states at 1 point"), "{card}");
}

#[test]
fn figures_of_the_clients_are_marked_and_explained() {
    let (run, analysis) = fixture::duel();
    let words = said(&run, &analysis);
    assert!(words.contains("†\u{a0}337") || words.contains("† 337"));
    let note = "† Under onboard at 64 B–128 B the clients were the limit: a thread of theirs ran \
                96.2–99.1 % of the time";
    assert!(words.contains(note));
}

#[test]
fn an_interaction_says_both_effects_and_their_ratio() {
    let (run, analysis) = fixture::duel();
    let words = said(&run, &analysis);
    let sentence = "mtu 9000 B against mtu 1500 B gives throughput 1.07× with onboard and 3.10× \
                    with pro1000. The factors interact: second over first 2.90×";
    assert!(words.contains(sentence));
}

#[test]
fn advice_that_agrees_is_one_sentence() {
    let (run, mut analysis) = fixture::duel();
    let words = said(&run, &analysis);
    assert!(words.contains("transmit: pro1000, throughput 1.75× (1.73–1.77×) against onboard; "));
    assert!(words.contains("both: no advice: a level has two states."));
    for advice in analysis.advice.iter_mut().filter(|a| a.reader == Reader::PeakThroughput) {
        advice.choice = Some("pro1000".into());
        advice.verdict = Verdict::Better;
    }
    let words = said(&run, &analysis);
    assert!(words.contains("pro1000, throughput +0.2 % to 1.75×"));
    let card = card_of(&run, &analysis);
    assert!(card.contains("For the highest throughput: pro1000\n"), "{card}");
}

#[test]
fn claims_stand_beside_ours_in_every_standing() {
    let (run, analysis) = fixture::duel();
    let words = said(&run, &analysis);
    for part in [
        "Beside the published test",
        "Of 10 published claims, 1 came out the same here, 1 in part, 1 differently, 1 undecided, \
         6 not measured.",
        "same: shape same, knee same, sign same",
        "in part: shape same, knee differs",
        "needs a file server",
        "knee at 8 KiB",
    ] {
        assert!(words.contains(part), "{part}");
    }
    let silent = Analysis { claims: Vec::new(), ..analysis };
    assert!(!said(&run, &silent).contains("Beside the published test"));
}

/// The duel with the comparisons whose ids end so, all of them better overall.
fn better(ends: &[&str]) -> (Run, Analysis) {
    let (run, mut analysis) = fixture::duel();
    analysis.comparisons.retain(|c| ends.iter().any(|end| c.id.ends_with(end)));
    for comparison in &mut analysis.comparisons {
        comparison.verdict = Verdict::Better;
    }
    (run, analysis)
}

#[test]
fn a_headline_does_not_hide_where_the_other_side_is_ahead() {
    let (run, analysis) = better(&["transmit", "both"]);
    let words = headline(&compose(&run, &analysis).unwrap());
    let wanted = "pro1000 is better than onboard overall in both comparisons, but behind from \
                  64 B to 4 KiB, from 16 KiB to 32 KiB with direction both.";
    assert!(words.starts_with(wanted), "{words}");
    let (run, analysis) = better(&["both"]);
    let words = headline(&compose(&run, &analysis).unwrap());
    assert!(
        words.starts_with("pro1000 is better than onboard overall, but behind from"),
        "{words}"
    );
    let (run, mut analysis) = better(&["both"]);
    analysis.comparisons[0].verdict = Verdict::Undecided { more_blocks: None };
    let words = headline(&compose(&run, &analysis).unwrap());
    assert!(words.starts_with("Undecided overall with 5 blocks between"), "{words}");
    let (run, analysis) = better(&["transmit"]);
    let words = headline(&compose(&run, &analysis).unwrap());
    assert!(words.starts_with("pro1000 is better than onboard: throughput"), "{words}");
}

#[test]
fn a_survey_prefers_a_sure_effect_to_a_split_with_an_undecided_side() {
    let (run, mut jumbo) = fixture::jumbo(2.59, 1.01);
    jumbo.comparisons[1].verdict = Verdict::Undecided { more_blocks: None };
    let survey = of_three((run, jumbo));
    let words = headline(&compose_survey(&parts(&survey)).unwrap());
    assert!(words.starts_with("tso on is better than tso off"), "{words}");
}

#[test]
fn what_is_not_decided_is_not_called_equal() {
    let (run, analysis) = fixture::duel();
    let words = said(&run, &analysis);
    assert!(words.contains("Undecided with 5 blocks from 64 KiB to 256 KiB."));
    assert!(!words.contains("No difference was shown"));
}

#[test]
fn less_than_can_be_shown_has_no_sign() {
    let (run, mut analysis) = fixture::duel();
    for parts in analysis.costs.iter_mut().flat_map(|cost| &mut cost.parts) {
        parts.unattributed.centre.value = -0.001;
    }
    let words = said(&run, &analysis);
    assert!(words.contains("Where the CPU time went") && !words.contains("-0.00"));
}

#[test]
fn stretches_of_one_kind_are_one_sentence() {
    let (run, mut analysis) = fixture::duel();
    let comparison = &mut analysis.comparisons[0];
    for (place, point) in comparison.points.iter_mut().enumerate() {
        point.verdict = match place {
            3 => Verdict::Better,
            _ => Verdict::Undecided { more_blocks: None },
        };
    }
    analysis.comparisons.truncate(1);
    let words = said(&run, &analysis);
    let section = words.split("Over all points of").nth(1).unwrap();
    let open = section.split("Undecided with 5 blocks from ").nth(1).unwrap();
    assert!(open.split('.').next().unwrap().contains(", from "), "{open}");
}

#[test]
fn full_cpus_are_said_in_a_sentence_and_not_drawn() {
    let (run, mut analysis) = fixture::duel();
    for cost in &mut analysis.costs {
        (cost.equal_load, cost.displaced) = (false, None);
        for point in &mut cost.cpu.points {
            (point.base.centre.value, point.other.centre.value) = (1.0, 1.0);
        }
    }
    let document = compose(&run, &analysis).unwrap();
    assert!(sweeps(&document).iter().all(|f| f.y.label == "throughput"));
    let words = said(&run, &analysis);
    let sentence = "All CPUs are full at every point of 3 curves under both levels, 100 %";
    assert_eq!(words.matches(sentence).count(), 1);
    assert_eq!(words.matches("Cost of the load by level").count(), 3, "the tables stay");
    assert!(!words.contains("P/E against the baseline"), "there is no verdict to show");
}

#[test]
fn offloads_of_segments_on_virtual_links_come_with_a_warning() {
    let (mut run, mut analysis) = fixture::duel();
    let warned = |run: &Run, analysis: &Analysis| said(run, analysis).contains("never cut");
    let tso = desk::record::Value::Word("on".into());
    run.plan.lab.settings.insert("tso".into(), tso);
    analysis.caveats.retain(|c| *c != Caveat::VirtualLinks);
    assert!(!warned(&run, &analysis));
    analysis.caveats.push(Caveat::VirtualLinks);
    assert!(warned(&run, &analysis));
    run.plan.lab.settings.clear();
    for factor in &mut run.plan.factors {
        factor.levels.iter_mut().for_each(|level| level.settings.retain(|key, _| key != "tso"));
    }
    run.plan.lab.links.iter_mut().for_each(|link| link.settings.retain(|key, _| key != "tso"));
    assert!(!warned(&run, &analysis), "the plan switches nothing of the kind");
}

#[test]
fn a_survey_gives_its_advice_with_the_part_and_prices_no_noise() {
    let (run, analysis) = fixture::duel();
    let (noise, floor) = fixture::priced();
    let part = |role, run, analysis| Part { role, run, analysis };
    let document = compose_survey(&[
        part(Role::NoiseFloor, &noise, &floor),
        part(Role::Curve, &run, &analysis),
    ]);
    let words = text(&document.unwrap(), 20_000, true);
    assert!(words.contains("- For the highest throughput: transmit: pro1000"));
    assert!(words.contains("server and clients together (pair)"));
    let alone = compose_survey(&[part(Role::NoiseFloor, &noise, &floor)]).unwrap();
    assert!(!text(&alone, 20_000, true).contains("server and clients together (pair)"));
}

#[test]
fn several_loads_have_a_row_each_under_the_outcome_of_their_comparisons() {
    let (mut run, mut analysis) = fixture::duel();
    let matrix = |run: &Run, analysis: &Analysis| {
        let document = compose(run, analysis).unwrap();
        document.body.into_iter().find_map(|node| match node {
            Node::Table(table) if table.caption.text().contains("By load") => Some(table),
            _ => None,
        })
    };
    assert!(matrix(&run, &analysis).is_none(), "one load needs no table of loads");
    let mut load = run.plan.loads[0].clone();
    load.name = "small".into();
    run.plan.loads.push(load);
    analysis.comparisons[0].load = "small".into();
    analysis.comparisons[0].verdict = Verdict::Worse;
    for one in &mut analysis.comparisons[1..] {
        let ratio = &mut one.overall;
        (ratio.low.value, ratio.centre.value, ratio.high.value) = (1.2, 1.3, 1.4);
        one.verdict = Verdict::Better;
    }
    let table = matrix(&run, &analysis).unwrap();
    let row = |load: &str| {
        let row = table.rows.iter().find(|row| row[0].text() == load).unwrap();
        row.iter().skip(1).map(|cell| cell.text() != "–").collect::<Vec<_>>()
    };
    assert_eq!(table.rows.len(), 2);
    assert_eq!(row("small"), [false, false, true, false]);
    assert_eq!(row(&run.plan.loads[0].name), [true, false, false, false]);
}

#[test]
fn an_index_and_the_method_of_many_blocks_are_said() {
    let (mut run, mut analysis) = fixture::duel();
    assert!(!said(&run, &analysis).contains("Over all loads"));
    let first = &analysis.comparisons[0];
    analysis.indexes.push(desk::verdict::Index {
        factor: first.factor.clone(),
        base: first.base.clone(),
        other: first.other.clone(),
        metric: first.metric.clone(),
        over: vec!["one".into(), "two".into()],
        ratio: first.overall.clone(),
        verdict: Verdict::Worse,
        together: None,
        within: false,
        blocks: Vec::new(),
    });
    run.plan.method.looks = vec![5, 10, 20, 40];
    analysis.comparisons[0].overall.method = EstimateMethod::HodgesLehmann;
    analysis.comparisons[0].points[0].ratio.method = EstimateMethod::PairedLogMaxT;
    let words = said(&run, &analysis).replace('\u{a0}', " ");
    for part in [
        "Over 2 comparisons pro1000 is worse than onboard: the geometric mean of their throughput",
        "from 8 blocks on: levels are divided within each block. The ratio is the Hodges-Leh",
        "max-T over sign flips of whole blocks",
        "after 5, 10, 20 blocks the run could end if every comparison was decided, at the latest \
         after 40. Each look has an error of 1.25 %",
    ] {
        assert!(words.contains(part), "{part}");
    }
}

#[test]
fn a_card_counts_what_it_leaves_out_and_keeps_its_doubts() {
    let (run, mut analysis) = fixture::duel();
    for at in 0_u32..8 {
        let mut one = analysis.comparisons[0].clone();
        one.id = format!("more-{at}");
        one.factor = format!("factor_{at}");
        analysis.comparisons.push(one);
    }
    let card = card_of(&run, &analysis);
    assert!(card.lines().count() <= 20, "{card}");
    assert_eq!(card.lines().filter(|l| l.starts_with("Caveat:")).count(), 3, "{card}");
    assert!(card.contains("(+ 5 more in the report)"), "{card}");
    assert!(card.lines().any(|l| l.starts_with("+ ") && l.ends_with("more in the report")));
    assert!(card.ends_with("Next: stend run\n"), "{card}");
}

#[test]
fn the_method_says_how_cpu_time_was_counted_only_where_it_was() {
    let (run, analysis) = fixture::duel();
    let with = said(&run, &analysis);
    assert!(with.contains("this kernel counts by tick, interrupts not accounted apart"));
    let bare = Analysis { costs: Vec::new(), ..analysis };
    assert!(!said(&run, &bare).contains("this kernel counts"));
    let (mut run, analysis) = fixture::duel();
    run.environment_mut().facts.clear();
    assert!(said(&run, &analysis).contains("how this kernel counts was not recorded"));
}

#[test]
fn a_single_place_has_its_kind_of_limit_in_words() {
    let (run, mut analysis) = fixture::duel();
    for (sign, words) in [
        (desk::verdict::GeneratorSign::Starved, "waited to run 98 % of the time"),
        (desk::verdict::GeneratorSign::Late, "they sent 98 % of the paced requests late"),
    ] {
        analysis.generator_bound.truncate(1);
        analysis.generator_bound[0].sign = sign;
        analysis.generator_bound[0].evidence.centre = Quantity::new(0.98, desk::unit::Unit::Share);
        assert!(said(&run, &analysis).contains(words), "{words}");
    }
}
