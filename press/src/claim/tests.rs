//! Checks which claims follow from findings, and what a condition is called.

use super::*;
use crate::report::fixture;
use desk::record::{FactorPlan, Level, Run, Settings, Value};
use desk::verdict::{Analysis, Verdict};

fn part<'a>((run, analysis): &'a (Run, Analysis)) -> [Part<'a>; 1] {
    [Part { role: Role::Duel, run, analysis }]
}

#[test]
fn the_answer_is_the_first_claim_and_every_finding_is_one() {
    let duel = fixture::duel();
    let all = claims(&part(&duel));
    let of = |topic: Topic| all.iter().filter(|claim| claim.topic == topic).count();
    let (_, found) = &duel;
    assert_eq!(all[0].subjects.levels[1].name, "pro1000");
    assert_eq!(of(Topic::Interaction), found.interactions.len());
    assert_eq!(of(Topic::Limit), found.limits.len());
    assert_eq!(of(Topic::Advice), found.advice.len());
    assert_eq!(of(Topic::Cost) + of(Topic::Efficiency), 2 * found.costs.len());
    let regions = found.comparisons.iter().chain(&found.others).flat_map(|c| &c.regions).count();
    assert_eq!(of(Topic::Region), regions);
    assert!(regions > 3 && !found.interactions.is_empty() && !found.advice.is_empty());
}

#[test]
fn one_rule_says_the_kind_of_a_verdict() {
    let (_, analysis) = fixture::single("Kinds", 1.2);
    let c = &analysis.comparisons[0];
    let kind = |verdict: Verdict, [low, centre, high]: [f64; 3], n: u32| {
        let mut ratio = c.overall.clone();
        (ratio.low.value, ratio.centre.value, ratio.high.value, ratio.n) = (low, centre, high, n);
        Kind::of(verdict, (&ratio, c.margin), c.better)
    };
    let open = Verdict::Undecided { more_blocks: None };
    assert_eq!(kind(Verdict::Better, [1.1, 1.2, 1.3], 9), Kind::Better);
    assert_eq!(kind(Verdict::Better, [1.001, 1.005, 1.01], 9), Kind::Inside);
    assert_eq!(kind(Verdict::Worse, [0.99, 0.995, 0.999], 9), Kind::Inside);
    assert_eq!(kind(open, [1.1, 1.2, 1.3], 3), Kind::LooksBetter);
    assert_eq!(kind(open, [0.7, 0.8, 0.9], 3), Kind::LooksWorse);
    assert_eq!(kind(open, [1.1, 1.2, 1.3], 9), Kind::Undecided);
    assert_eq!(kind(open, [0.9, 1.2, 1.3], 3), Kind::Undecided);
    assert_eq!(Kind::Inside.coarse(), Kind::Equivalent);
    assert_eq!(Kind::LooksBetter.coarse(), Kind::Undecided);
}

#[test]
fn comparisons_of_one_question_are_one_claim_with_the_stretches_that_say_otherwise() {
    let (run, mut analysis) = fixture::duel();
    analysis.comparisons.retain(|c| c.id.ends_with("transmit") || c.id.ends_with("both"));
    for c in &mut analysis.comparisons {
        c.verdict = Verdict::Better;
    }
    let found = (run, analysis);
    let [part] = part(&found);
    let both = together(&asked(&[part])).unwrap();
    assert_eq!((both.topic, both.kind), (Topic::Comparisons, Kind::Better));
    assert_eq!(both.evidence.comparisons.len(), 2);
    let against: Vec<Kind> =
        both.parts.iter().flat_map(|c| &c.parts).map(|region| region.kind).collect();
    assert!(!against.is_empty() && against.iter().all(|kind| *kind == Kind::Worse));
    let mut found = found;
    found.1.comparisons[0].verdict = Verdict::Undecided { more_blocks: None };
    let [part] = super::tests::part(&found);
    assert_eq!(together(&asked(&[part])).unwrap().kind, Kind::Split);
}

fn named(key: &str, level: &str, settings: Settings) -> String {
    let (mut run, _) = fixture::single("Names", 1.2);
    let levels = vec![Level { name: level.into(), settings }];
    run.plan.factors = vec![FactorPlan::new(key, levels)];
    level_name(&run.plan, key, level)
}

fn word(key: &str, value: &str) -> Settings {
    [(key.to_owned(), Value::Word(value.into()))].into()
}

#[test]
fn a_level_that_is_only_a_value_is_said_with_its_key() {
    assert_eq!(named("tso", "on", word("tso", "on")), "tso\u{a0}on");
    let name = named("interrupt_cpu", "all", word("interrupt_cpu", "all"));
    assert_eq!(name.replace('\u{a0}', " "), "interrupt cpu all");
}

#[test]
fn a_level_that_has_a_name_of_its_own_keeps_it() {
    assert_eq!(named("path", "onboard", word("path", "onboard")), "onboard");
    assert_eq!(named("setup", "jumbo", word("mtu", "9000 B")), "jumbo");
    let mut bundle = word("tso", "on");
    bundle.extend(word("gro", "on"));
    assert_eq!(named("setup", "on", bundle), "on");
}
