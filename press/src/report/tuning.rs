//! Holds what the owner of a machine is told whose settings were tried.

use super::compose::{Part, Role, compose_survey};
use super::tests::headline;
use super::text::text;
use super::{CardInput, card, fixture};
use desk::plan::AS_SET;
use desk::record::{Fact, KeyClass, Run, Settings, Value};
use desk::verdict::{Analysis, Caveat, Verdict};

/// A part in which `tso` was tried: this many times as fast as the machine as it was set.
fn tried(times: f64) -> (Run, Analysis) {
    let (mut run, mut analysis) = fixture::offload(times);
    let off = "off".to_owned() + AS_SET;
    let factor = &mut run.plan.factors[0];
    run.plan.method.compare.clone_from(&factor.name);
    factor.levels.truncate(2);
    for (level, (name, word)) in factor.levels.iter_mut().zip([(off.as_str(), "off"), ("on", "on")])
    {
        level.name = name.into();
        level.settings = Settings::from([("tso".into(), Value::Word(word.into()))]);
    }
    for comparison in &mut analysis.comparisons {
        (comparison.base, comparison.other) = (off.clone(), "on".into());
    }
    (run, analysis)
}

type Parts = Vec<(Role, (Run, Analysis))>;

/// The parts, with these facts.
fn with(mut parts: Parts, facts: &[(&str, &str)]) -> Parts {
    for (_, (run, _)) in &mut parts {
        let machine = run.environment_mut();
        let fact = |(key, value): &(&str, &str)| Fact {
            key: (*key).into(),
            value: (*value).into(),
            class: KeyClass::Info,
            source: String::new(),
        };
        machine.facts.extend(facts.iter().map(fact));
    }
    parts
}

fn all(parts: &Parts) -> Vec<Part<'_>> {
    parts.iter().map(|(role, (run, analysis))| Part { role: *role, run, analysis }).collect()
}

/// Headline and article.
fn told(parts: Parts, facts: &[(&str, &str)]) -> (String, String) {
    let parts = with(parts, facts);
    let all = all(&parts);
    let document = compose_survey(&all).unwrap();
    (headline(&document), text(&document, 20_000, true).replace('\u{a0}', " "))
}

/// What the part that tried `tso` keeps.
const LASTING: [(&str, &str); 4] = [
    ("tune.command", "ethtool -K eth7 tso on"),
    ("tune.file", "/etc/sysctl.d/x.conf"),
    ("tune.line", "a.b = c"),
    ("tune.holds", "network"),
];
const USUAL: (&str, &str) = ("tune.usual", "huge pages, governor");
/// Nothing was to be tried.
const LOOKED: [(&str, &str); 2] = [USUAL, ("tune.proposed", "")];
/// One setting was.
const PROPOSED: [(&str, &str); 2] = [USUAL, ("tune.proposed", "segmentation offload")];

fn floor() -> (Role, (Run, Analysis)) {
    (Role::NoiseFloor, fixture::single("A against A", 1.0))
}

#[test]
fn the_largest_gain_leads_with_its_command_and_where_it_holds() {
    let (said, page) =
        told(vec![floor(), (Role::Duel, tried(4.11))], &[&PROPOSED, &LASTING[..]].concat());
    assert!(said.contains("on instead of off (as set): throughput 4.11×"), "{said}");
    assert!(said.ends_with("on paths with almost no round-trip time"), "{said}");
    for words in [
        "ethtool -K eth7 tso on",
        "To make it permanent, write this line into /etc/sysctl.d/x.conf:",
        "huge pages, governor: at their usual level, with nothing to try.",
        "What could it gain by other settings?",
    ] {
        assert!(page.contains(words), "{words} is not in\n{page}");
    }
    let answer = page.split("\ntso on is ahead").next().unwrap();
    assert_eq!(answer.matches("4.11×").count(), 1, "the gain is told once\n{answer}");
}

#[test]
fn a_card_has_the_gain_where_it_holds_and_every_other_setting() {
    let lasting = [&PROPOSED, &LASTING[..]].concat();
    let mut parts =
        with(vec![floor(), (Role::Duel, tried(4.11)), (Role::Duel, tried(1.0))], &lasting);
    parts[2].1.0.plan.title = "Shaper of eth7".into();
    parts[2].1.1.comparisons[0].verdict = Verdict::Equivalent;
    let parts = all(&parts);
    let input = CardInput {
        parts: &parts,
        report_path: "r.html",
        next_command: "sudo ethtool -K eth7 tso on",
        left_out: &[],
    };
    let said = card(&input, 80, true).unwrap();
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "on instead of off (as set): throughput 4.11× (95 % interval ",
        ", on paths with almost no round-trip time",
        " Shaper of eth7, on instead of off (as set)",
        "Next: sudo ethtool -K eth7 tso on",
    ] {
        assert!(words.contains(part), "{part} is not in\n{said}");
    }
    assert_eq!(words.matches("4.11×").count(), 1, "{said}");
    assert!(said.lines().count() <= 20 && said.lines().all(|line| line.chars().count() <= 80));
}

#[test]
fn a_gain_without_a_known_line_comes_behind_one_that_is_bounded() {
    let mut unbounded = tried(30.0);
    unbounded.0.plan.title = "Shaper of eth7".into();
    unbounded.0.id = "another".into();
    let unknown = [PROPOSED[0], PROPOSED[1], ("tune.holds", "line-unknown")];
    let unbounded = with(vec![(Role::Duel, unbounded)], &unknown).remove(0);
    let unbounded = with(vec![unbounded], &LASTING[..3]).remove(0);
    let bounded =
        with(vec![(Role::Duel, tried(1.3))], &[&PROPOSED, &LASTING[..]].concat()).remove(0);
    let (said, page) = told(vec![floor(), unbounded, bounded], &[]);
    assert!(said.contains("throughput 1.30×") || said.contains("throughput +30"), "{said}");
    assert!(page.contains("Shaper of eth7, as root"), "its command is told, too\n{page}");
    let mut unbounded = tried(30.0);
    unbounded.0.plan.title = "Shaper of eth7".into();
    let facts = [&unknown, &LASTING[..3]].concat();
    let (said, _) = told(vec![floor(), (Role::Duel, unbounded)], &facts);
    assert!(
        said.ends_with("the line rate of the adapter is not known and may allow less"),
        "{said}"
    );
}

#[test]
fn what_was_not_tried_is_told_with_its_reason() {
    let facts = [
        USUAL,
        ("tune.proposed", ""),
        ("tune.barred", "congestion control=not-allowed, offloads=no-links, huge pages=refused"),
    ];
    let (said, page) = told(vec![floor(), floor()], &facts);
    assert!(said.starts_with("No setting was tried. There was something to try at: congestion"));
    for words in [
        "congestion control: this user may not choose the usual level.",
        "offloads: the lab has no links.",
        "huge pages: the machine does not let this user switch it.",
    ] {
        assert!(page.contains(words), "{words} is not in\n{page}");
    }
}

#[test]
fn a_survey_says_what_the_machine_claims_and_what_was_measured() {
    let claimed = |facts: &[(&str, &str)]| {
        let alone = fixture::alone(5, &[]);
        let (_, page) = told(vec![floor(), (Role::Duel, alone)], facts);
        let from = page.split("Is it what it claims to be?").nth(1).unwrap().to_owned();
        from.split("What was measured").next().unwrap().to_owned()
    };
    let whole = claimed(&[]);
    assert!(whole.contains("no quota of CPU time") && !whole.contains("no, less"), "{whole}");
    let half = claimed(&[("cgroup.cpu_quota", "0.50 CPUs")]);
    assert!(half.contains("a quota of 0.50 CPUs") && half.contains("no, less"), "{half}");
}

#[test]
fn caveats_of_the_answer_begin_with_a_capital_and_say_what_a_block_is() {
    let mut floor = floor();
    floor.1.1.caveats = vec![
        Caveat::OneMachine,
        Caveat::FewBlocks {
            blocks: desk::unit::Quantity::count(5),
            smallest: floor.1.1.comparisons[0].overall.clone(),
        },
    ];
    let (_, page) = told(vec![floor], &[]);
    assert!(page.contains("Server and clients share this machine’s CPUs"), "{page}");
    assert!(page.contains("may stay unseen. A block runs every level once, in random order."));
}

#[test]
fn where_nothing_is_gained_nothing_is_recommended() {
    let mut even = tried(4.11);
    even.1.comparisons[0].verdict = Verdict::Equivalent;
    let (said, page) = told(vec![floor(), (Role::Duel, even)], &[&PROPOSED, &LASTING[..]].concat());
    assert!(said.starts_with("Nothing to gain: the 1 setting tried"), "{said}");
    assert!(!page.contains(", as root"), "{page}");
    let mut open = tried(4.11);
    open.1.comparisons[0].verdict = Verdict::Undecided { more_blocks: None };
    let (said, _) = told(vec![floor(), (Role::Duel, open)], &PROPOSED);
    assert!(said.starts_with("No gain is certain: of 1 setting tried, 1 undecided"), "{said}");
    let (said, _) = told(vec![floor(), floor()], &PROPOSED);
    assert_eq!(said, "No setting was tried. There was something to try at: segmentation offload");
    let (said, _) = told(vec![floor(), floor()], &LOOKED);
    assert_eq!(
        said,
        "Nothing to gain: none of the settings looked at departs from its usual level"
    );
}

#[test]
fn a_quota_is_told_and_no_quota_is_not() {
    let quota = |value| {
        told(vec![floor(), floor()], &[LOOKED[0], LOOKED[1], ("cgroup.cpu_quota", value)]).1
    };
    assert!(quota("0.50 CPUs").contains("The control group of stend is limited to 0.50 CPUs."));
    assert!(
        !quota("none").contains("is limited to") && !quota("999.00 CPUs").contains("is limited to")
    );
}

#[test]
fn a_survey_says_how_well_its_figures_are_known() {
    let alone = fixture::alone(5, &[]);
    let (said, page) = told(vec![floor(), (Role::Duel, alone)], &[]);
    assert!(page.contains("Half of these figures are known to within ±0."), "{said}");
    assert!(!page.contains("Looked at, with") && page.contains("What is it, what does it carry"));
}
