//! Checks how effects are worded, which no file that speaks may show in figures.

use super::Writer;
use super::effect::{plain_effects, short_effects};
use super::say::{sentence, sign, title, word};
use crate::claim::{Claim, Kind, Part, Role, Topic, of_comparison};
use crate::report::{compose, fixture, markdown, text};
use desk::record::{LinkKind, Placement};
use desk::verdict::Verdict;

#[test]
fn two_effects_of_one_sentence_are_both_per_cents_or_both_factors() {
    let writer = Writer::new().unwrap();
    let (_, analysis) = fixture::duel();
    let with = |value: f64| {
        let mut ratio = analysis.comparisons[0].overall.clone();
        (ratio.centre.value, ratio.low.value, ratio.high.value) = (value, value - 0.01, value);
        ratio
    };
    let said = |a: f64, b: f64| {
        let [first, second] = plain_effects(&writer, [&with(a), &with(b)]).unwrap();
        format!("{} {}", first.text(), second.text()).replace('\u{a0}', " ")
    };
    assert_eq!(said(0.73, 0.38), "0.73× 0.38×");
    assert_eq!(said(0.9, 1.2), "−10 % +20 %");
    let [_, second] = short_effects(&writer, [&with(2.0), &with(1.2)]).unwrap();
    assert_eq!(second.text(), "1.20× (1.19–1.20×)");
}

/// Every kind that a verdict on two levels can be of.
const KINDS: [Kind; 12] = [
    Kind::Better,
    Kind::Worse,
    Kind::Inside,
    Kind::Equivalent,
    Kind::LooksBetter,
    Kind::LooksWorse,
    Kind::Undecided,
    Kind::TwoStates,
    Kind::NotComparable,
    Kind::Emulated,
    Kind::NoHeadroom,
    Kind::Withheld,
];

#[test]
fn a_claim_of_every_kind_has_a_sentence_a_title_a_word_and_a_sign() {
    let writer = Writer::new().unwrap();
    let (run, analysis) = fixture::single("Kinds", 1.2);
    let claim = of_comparison((&run, &analysis.comparisons[0]));
    let mut said = std::collections::BTreeSet::new();
    for kind in KINDS {
        let claim = Claim { kind, ..claim.clone() };
        let sentence = sentence(&writer, &claim).unwrap();
        assert!(sentence.text().ends_with('.'), "{kind:?}: {}", sentence.text());
        said.insert(sentence.text().to_owned());
        assert!(!title(&writer, &claim).unwrap().text().is_empty());
        let sign = sign(&writer, kind).unwrap();
        assert!(word(&writer, kind).unwrap().text().starts_with(sign.text()), "{kind:?}");
        for topic in [Topic::Index, Topic::Cost, Topic::Efficiency] {
            assert!(super::say::sentence(&writer, &Claim { topic, ..claim.clone() }).is_ok());
        }
    }
    assert_eq!(said.len(), KINDS.len(), "no two kinds are said alike");
}

#[test]
fn machines_of_a_lab_are_told_with_their_hosts_and_adapters() {
    let (mut run, analysis) = fixture::duel();
    let place = |machine: &str, hosts: &[&str]| Placement {
        machine: machine.into(),
        hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
    };
    run.plan.lab.machines = vec![place("server", &["sut"]), place("rack", &["c01", "c02"])];
    let mut other = run.environment().clone();
    other.cpu.model = "Rack CPU".into();
    other.adapters[1].rx_ring = Some(512);
    run.environments.insert("rack".into(), other);
    for link in &mut run.plan.lab.links {
        link.kind = Some(LinkKind::Adapter);
        link.adapters = [("sut", "server/eth7"), ("c01", "rack/eth1")]
            .map(|(host, adapter)| (host.to_owned(), adapter.to_owned()))
            .into();
    }
    let article = text(&compose(&run, &analysis).unwrap(), 100, true).replace('\u{a0}', " ");
    for words in ["made on 2 machines", "Machines of the lab", "Rack CPU", "c01, c02", "eth7"] {
        assert!(article.contains(words), "{words} is not in\n{article}");
    }
    for words in ["adapters on the links of the lab", "rack: eth1", "256 and 512 descriptors"] {
        assert!(article.contains(words), "{words} is not in\n{article}");
    }
    assert!(!article.contains("server: eth"), "an adapter that is not known is not described");
    assert!(!article.contains("this one machine"));
}

#[test]
fn an_article_on_emulated_machines_has_a_mark_figures_and_no_verdict() {
    let (mut run, mut analysis) = fixture::single("Emulated", 1.2);
    run.environment_mut().cpu.hypervisor = Some("QEMU software emulation (TCG)".into());
    for comparison in &mut analysis.comparisons {
        comparison.verdict = Verdict::Emulated;
        comparison.points.iter_mut().for_each(|point| point.verdict = Verdict::Emulated);
    }
    let page = markdown(&compose(&run, &analysis).unwrap());
    for said in
        ["Emulation: software computes", "**No verdict on pro1000 and onboard:", "≁ emulated"]
    {
        assert!(page.contains(said), "{said}: {page}");
    }
    for never in ["What to do", "▲", "▼", "ahead"] {
        assert!(!page.contains(never), "{never}: {page}");
    }
}

#[test]
fn a_comparison_without_headroom_among_others_is_told_beside_the_headline() {
    let (run, mut analysis) = fixture::single("Headroom", 1.2);
    let mut second = analysis.comparisons[0].clone();
    second.id = "second".into();
    second.verdict = Verdict::NoHeadroom;
    second.points.iter_mut().for_each(|point| point.verdict = Verdict::NoHeadroom);
    analysis.comparisons.push(second);
    let page = text(&compose(&run, &analysis).unwrap(), 200, true);
    assert!(page.contains("1 of 2 comparisons has no verdict: the load generator"), "{page}");
    let (first, second) = (&analysis.comparisons[0], &analysis.comparisons[1]);
    let part = Part { role: Role::Duel, run: &run, analysis: &analysis };
    // The baseline stands in a verdict, and the other level of the second comparison in none.
    let other = desk::verdict::Comparison { other: "third".into(), ..second.clone() };
    for (all, filled) in [(vec![first, &other], [true, true, false]), (vec![&other], [false; 3])] {
        let figure = super::plot::groups(&mut Writer::new().unwrap(), &part, &all).unwrap();
        let series = figure.unwrap().series;
        let valid = series.iter().map(|series| series.marks.iter().all(|mark| mark.valid));
        assert!(valid.eq(filled[..series.len()].iter().copied()), "{series:?}");
        assert_eq!(series.len(), all.len() + 1);
    }
}
