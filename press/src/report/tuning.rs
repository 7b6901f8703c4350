//! Holds what the owner of a machine is told whose settings were tried.

use super::compose::{Part, Role, compose_survey};
use super::fixture;
use super::tests::headline;
use super::text::text;
use desk::plan::AS_SET;
use desk::record::{Fact, KeyClass, Run, Settings, Value};
use desk::verdict::{Analysis, Verdict};

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

fn told(mut parts: Vec<(Role, (Run, Analysis))>, facts: &[(&str, &str)]) -> (String, String) {
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
    let all: Vec<Part<'_>> =
        parts.iter().map(|(role, (run, analysis))| Part { role: *role, run, analysis }).collect();
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
        "Looked at, with nothing to try on this machine: huge pages, governor.",
        "What could it gain by other settings?",
    ] {
        assert!(page.contains(words), "{words} is not in\n{page}");
    }
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
