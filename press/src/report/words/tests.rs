//! Checks the words as a translator would: every message used, no number typed.

use super::*;
use crate::figure;
use std::collections::BTreeSet;

/// Every file that says something.
const SPEAKERS: &[&str] = &[
    include_str!("../../figure/alt.rs"),
    include_str!("../../figure/forest.rs"),
    include_str!("../../figure/groups.rs"),
    include_str!("../../figure/heatmap.rs"),
    include_str!("../../figure/layout.rs"),
    include_str!("../../figure/percentile.rs"),
    include_str!("../../figure/roofline.rs"),
    include_str!("../../figure/timeline.rs"),
    include_str!("../../figure/waterfall.rs"),
    include_str!("../card.rs"),
    include_str!("../compose/advice.rs"),
    include_str!("../compose/along.rs"),
    include_str!("../compose/brief.rs"),
    include_str!("../compose/cause.rs"),
    include_str!("../compose/closing.rs"),
    include_str!("../compose/itself.rs"),
    include_str!("../compose/plot/groups.rs"),
    include_str!("../compose/entered.rs"),
    include_str!("../compose/paced.rs"),
    include_str!("../compose/traits.rs"),
    include_str!("../compose/worth.rs"),
    include_str!("../compose/glance.rs"),
    include_str!("../compose/plot/forest.rs"),
    include_str!("../compose/plot/heatmap.rs"),
    include_str!("../compose/plot/mod.rs"),
    include_str!("../compose/plot/percentile.rs"),
    include_str!("../compose/plot/ranks.rs"),
    include_str!("../compose/plot/roofline.rs"),
    include_str!("../compose/plot/timeline.rs"),
    include_str!("../compose/plot/waterfall.rs"),
    include_str!("../compose/ranks.rs"),
    include_str!("../compose/readers.rs"),
    include_str!("../compose/compare.rs"),
    include_str!("../compose/cost.rs"),
    include_str!("../compose/index.rs"),
    include_str!("../compose/interaction.rs"),
    include_str!("../compose/levels.rs"),
    include_str!("../compose/machine/facts.rs"),
    include_str!("../compose/machine/figures.rs"),
    include_str!("../compose/machine/mod.rs"),
    include_str!("../compose/machine/pairs.rs"),
    include_str!("../compose/machine/roofs.rs"),
    include_str!("../compose/matrix.rs"),
    include_str!("../compose/most.rs"),
    include_str!("../compose/crossed.rs"),
    include_str!("../compose/places.rs"),
    include_str!("../compose/published.rs"),
    include_str!("../compose/spent.rs"),
    include_str!("../compose/standard.rs"),
    include_str!("../compose/states.rs"),
    include_str!("../compose/withheld.rs"),
    include_str!("../compose/answer.rs"),
    include_str!("../compose/appendix.rs"),
    include_str!("../compose/basis.rs"),
    include_str!("../compose/curve.rs"),
    include_str!("../compose/dependence.rs"),
    include_str!("../compose/doubts.rs"),
    include_str!("../compose/effect.rs"),
    include_str!("../compose/elasticity.rs"),
    include_str!("../compose/figures.rs"),
    include_str!("../compose/gate.rs"),
    include_str!("../compose/ladder.rs"),
    include_str!("../compose/by_level.rs"),
    include_str!("../compose/limits.rs"),
    include_str!("../compose/measured/claimed.rs"),
    include_str!("../compose/measured/limits.rs"),
    include_str!("../compose/measured/mod.rs"),
    include_str!("../compose/measured/picture.rs"),
    include_str!("../compose/measured/records.rs"),
    include_str!("../compose/measured/rounds.rs"),
    include_str!("../compose/measured/table.rs"),
    include_str!("../compose/tune.rs"),
    include_str!("../compose/counted.rs"),
    include_str!("../compose/method.rs"),
    include_str!("../compose/mod.rs"),
    include_str!("../compose/reproduce.rs"),
    include_str!("../compose/results.rs"),
    include_str!("../compose/quantiles.rs"),
    include_str!("../compose/ruling.rs"),
    include_str!("../compose/say.rs"),
    include_str!("../compose/sessions.rs"),
    include_str!("../compose/machines.rs"),
    include_str!("../compose/testbed.rs"),
    include_str!("../html/around.rs"),
    include_str!("../watch/course.rs"),
    include_str!("../watch/found.rs"),
    include_str!("../watch/mod.rs"),
    include_str!("../watch/trial.rs"),
];

/// Every file of messages, those of the figures too.
fn messages() -> impl Iterator<Item = &'static str> {
    ENGLISH.into_iter().chain([figure::words::ENGLISH])
}

/// Every line of the messages.
fn lines() -> impl Iterator<Item = &'static str> {
    messages().flat_map(str::lines)
}

fn keys() -> BTreeSet<&'static str> {
    lines()
        .filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()))
        .filter_map(|line| line.split(" =").next())
        .collect()
}

/// Every quoted text of the files that say something; what their tests quote is not said.
fn quoted() -> impl Iterator<Item = &'static str> {
    let said = |source: &'static str| source.split("\nmod tests {").next().unwrap_or(source);
    SPEAKERS.iter().flat_map(move |source| said(source).split('"').skip(1).step_by(2))
}

/// Every family of messages of which one is picked by a kind: `word-*`.
fn families() -> impl Iterator<Item = (&'static str, &'static str)> {
    let words = |text: &&str| !text.contains(|c: char| c.is_whitespace() || c.is_uppercase());
    quoted()
        .filter(words)
        .filter_map(|text| text.split_once("-*"))
        .filter(|(stem, _)| !stem.is_empty())
}

/// Whether a message is one of a family.
fn is_of(key: &str, (stem, end): (&str, &str)) -> bool {
    key.strip_prefix(stem).and_then(|rest| rest.strip_suffix(end)).is_some_and(|k| k.len() > 1)
}

/// Every quoted text that looks like a key.
fn spoken() -> BTreeSet<&'static str> {
    quoted()
        .filter(|text| text.chars().all(|c| c.is_ascii_lowercase() || c == '-'))
        .filter(|text| text.len() > 1)
        .collect()
}

#[test]
fn every_message_is_said_somewhere_and_every_key_said_has_a_message() {
    let (keys, mut spoken) = (keys(), spoken());
    // A message can be set into another one.
    let inner = messages().flat_map(|source| source.split("{ ").skip(1));
    spoken.extend(inner.filter_map(|text| text.split(' ').next()).filter(|w| keys.contains(w)));
    let picked = |key: &&&str| families().any(|family| is_of(key, family));
    let unused: Vec<_> = keys.difference(&spoken).filter(|key| !picked(key)).collect();
    assert!(unused.is_empty(), "never said: {unused:?}");
    for family in families() {
        assert!(keys.iter().any(|key| is_of(key, family)), "no message of {family:?}");
    }
    // Names of arguments and anchors have no hyphen; a key always has one, but for `condition`.
    let missing: Vec<_> = spoken.difference(&keys).filter(|k| k.contains('-')).collect();
    assert!(missing.is_empty(), "no message: {missing:?}");
}

#[test]
fn no_key_is_that_of_two_messages() {
    let all = lines().filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase())).count();
    assert_eq!(all, keys().len());
}

#[test]
fn no_message_holds_a_digit() {
    for line in lines() {
        let comment = line.starts_with('#');
        assert!(comment || !line.contains(|c: char| c.is_ascii_digit()), "{line}");
    }
}

#[test]
fn no_message_inflects_what_is_set_into_it() {
    for line in lines() {
        for (at, _) in line.match_indices('}') {
            let next = line[at + 1..].chars().next().unwrap_or(' ');
            // `{ " " }` is a space that stands at the beginning of a message.
            let space = line[..at].ends_with("\" \" ");
            let ending = !space && (next.is_alphabetic() || ['\'', '’', '-'].contains(&next));
            assert!(!ending, "'{next}' is hung on a variable: {line}");
        }
    }
}

#[test]
fn nothing_that_is_said_has_a_number_typed_into_it() {
    for text in quoted() {
        assert!(!text.contains(|c: char| c.is_ascii_digit()), "{text}");
    }
}

#[test]
fn a_missing_message_and_a_missing_argument_are_errors() {
    let words = Words::english().unwrap();
    assert_eq!(words.label("no-such"), Err(ReportError::MissingWords("no-such".into())));
    let said = words.say("verdict-better", Args::new().name("other", "jumbo"));
    assert!(matches!(said, Err(ReportError::Unsaid { key, .. }) if key == "verdict-better"));
}

#[test]
fn what_was_set_into_a_sentence_is_remembered() {
    let words = Words::english().unwrap();
    let args = Args::new()
        .quantity("ratio", Quantity::new(2.934, desk::unit::Unit::Ratio))
        .range(
            "range",
            Quantity::new(2.711, desk::unit::Unit::Ratio),
            Quantity::new(3.169, desk::unit::Unit::Ratio),
        )
        .quantity("level", Quantity::new(0.95, desk::unit::Unit::Share));
    let said = words.say("effect-ratio", args).unwrap();
    assert_eq!(said.text(), "2.93× (95\u{a0}% interval 2.71–3.17×)");
    assert_eq!(said.arguments(), ["2.93×", "2.71–3.17×", "95\u{a0}%"]);
    assert!(said.sources().iter().all(|a| a.source == Source::Quantity));
    let estimate = desk::stats::Estimate::exact(Quantity::new(2.934, desk::unit::Unit::Ratio));
    let said = words.say("effect-plain", Args::new().estimate("centre", &estimate)).unwrap();
    assert_eq!(said.sources()[0].source, Source::Estimate(vec![estimate.centre.into()]));
}
