//! Sides that were not made by the same have both figures and no verdict.

use super::*;
use crate::verdict::{FailIf, GateOutcome, GateReason, Wanted, compare_runs, gate};

fn planted() -> Simulated {
    let sizes = vec![64, 1024];
    Simulated { truth: |_| 1.3, noise: 0.002, blocks: 8, sizes, ..Simulated::default() }
}

/// A run whose links differ, every trial of it made by an engine; `of` names it by path and size.
fn run(of: impl Fn(&str, &crate::record::Value) -> [(&'static str, &'static str); 2]) -> Run {
    let mut run = planted().run();
    run.plan.lab.links[1].settings.insert("tso".into(), word("off"));
    for record in &mut run.records {
        let path = record.trial.treatment.levels["path"].clone();
        let made = of(&path, &record.trial.point.params["size"]);
        let made = made.map(|(key, value)| (key.to_owned(), word(value)));
        record.outcome.made_with.extend(made);
    }
    run
}

const SAME: [(&str, &str); 2] = [("engine", "aws-lc 1.19"), ("cpu_features", "sha,vaes")];

#[test]
fn one_engine_on_both_sides_is_compared_as_ever() {
    let found = analyse(&run(|_, _| SAME));
    assert_eq!(only(&found).verdict, Verdict::Better);
    assert!(found.unlike.is_empty());
}

#[test]
fn a_point_made_by_two_engines_leaves_the_curve_and_the_key_is_named() {
    let found = analyse(&run(|path, at| match (path, *at == size(64)) {
        ("pro1000", true) => [("engine", "openssl 3.0.22"), SAME[1]],
        _ => SAME,
    }));
    let comparison = only(&found);
    let verdicts: Vec<Verdict> = comparison.points.iter().map(|p| p.verdict).collect();
    assert_eq!(verdicts, [Verdict::NotComparable, Verdict::Better]);
    assert_eq!(comparison.verdict, Verdict::Better, "of the point that is left");
    assert!((comparison.points[0].base.centre.value / 1e9 - 1.0).abs() < 0.1, "both are shown");
    let [point] = &found.unlike[..] else { panic!("{:?}", found.unlike) };
    assert_eq!((&point.at, point.keys.len()), (&Some(size(64)), 1));
    let key = &point.keys[0];
    assert_eq!([&*key.key, &*key.base, &*key.other], ["engine", "aws-lc 1.19", "openssl 3.0.22"]);
}

#[test]
fn emulated_machines_have_figures_and_no_verdict_anywhere() {
    let mut emulated = run(|_, _| SAME);
    let machine = crate::record::Environment {
        cpu: crate::record::Cpu {
            hypervisor: Some("QEMU software emulation (TCG)".into()),
            ..Default::default()
        },
        ..Default::default()
    };
    emulated.environments.insert("load".into(), machine);
    let found = analyse(&emulated);
    assert_eq!(only(&found).verdict, Verdict::Emulated);
    assert!(only(&found).points.iter().all(|p| p.verdict == Verdict::Emulated));
    assert!((only(&found).points[0].base.centre.value / 1e9 - 1.0).abs() < 0.1, "shown");
    assert!(found.indexes.is_empty() && found.rankings.is_empty());
    assert!(found.advice.is_empty(), "{:?}", found.advice);
    assert!(matches!(found.caveats[0], Caveat::Emulated { .. }), "{:?}", found.caveats);
    let told = gate(&emulated, &found, FailIf::Worse, None);
    assert_eq!(told.outcome, GateOutcome::Inconclusive);
    assert_eq!(told.checks[0].why, GateReason::Emulated);
    let twice = compare_runs(&emulated, &emulated, Wanted::default()).unwrap();
    assert!(!twice.comparisons.is_empty());
    assert!(twice.comparisons.iter().all(|c| c.verdict == Verdict::Emulated));
}

#[test]
fn where_no_point_is_left_nothing_passes_a_gate_and_other_keys_change_nothing() {
    let libc = |path: &str, _: &crate::record::Value| match path {
        "pro1000" => [SAME[0], ("libc", "glibc 2.36")],
        _ => [SAME[0], ("libc", "musl")],
    };
    let unlike = run(libc);
    let found = analyse(&unlike);
    assert_eq!(only(&found).verdict, Verdict::NotComparable);
    assert!(found.indexes.is_empty() && found.rankings.is_empty());
    let told = gate(&unlike, &found, FailIf::Worse, None);
    assert_eq!(told.outcome, GateOutcome::Inconclusive);
    assert_eq!(told.checks[0].why, GateReason::NotComparable);
    let placement = |path: &str, _: &crate::record::Value| match path {
        "pro1000" => [SAME[0], ("placement", "same")],
        _ => [SAME[0], ("placement", "spread")],
    };
    assert_eq!(only(&analyse(&run(placement))).verdict, Verdict::Better);
}

#[test]
fn what_the_compared_factor_changes_is_the_thing_compared() {
    let features = |path: &str, _: &crate::record::Value| match path {
        "pro1000" => [SAME[0], ("cpu_features", "none")],
        _ => SAME,
    };
    let plain = run(features);
    assert_eq!(only(&analyse(&plain)).verdict, Verdict::NotComparable);
    let mut asked = plain.clone();
    for (level, value) in asked.plan.factors[0].levels.iter_mut().zip(["all", "~0x20000"]) {
        level.settings.insert("openssl_ia32cap".into(), word(value));
    }
    assert_eq!(only(&analyse(&asked)).verdict, Verdict::Better);
    let mut other = asked.clone();
    for record in &mut other.records {
        if record.trial.treatment.levels["path"] == "pro1000" {
            record.outcome.made_with.insert("engine".into(), word("openssl 3.0.22"));
        }
    }
    assert_eq!(only(&analyse(&other)).verdict, Verdict::NotComparable, "and nothing besides");
}

#[test]
fn another_file_is_the_thing_compared_where_levels_name_it() {
    let mut lists = run(|path, _| match path {
        "pro1000" => [SAME[0], ("file_digest", "17")],
        _ => [SAME[0], ("file_digest", "18")],
    });
    assert_eq!(only(&analyse(&lists)).verdict, Verdict::NotComparable);
    for (level, value) in lists.plan.factors[0].levels.iter_mut().zip(["/lists/a", "/lists/b"]) {
        level.settings.insert("rules".into(), word(value));
    }
    assert_eq!(only(&analyse(&lists)).verdict, Verdict::Better);
}

#[test]
fn sessions_of_two_engines_show_both_and_decide_nothing() {
    let a = run(|_, _| SAME);
    let b = run(|_, at| match *at == size(64) {
        true => [("engine", "aws-lc 1.20"), SAME[1]],
        false => SAME,
    });
    let same = compare_runs(&a, &a, Wanted::default()).unwrap();
    assert!(same.unlike.is_empty());
    let found = compare_runs(&a, &b, Wanted::default()).unwrap();
    assert_eq!(found.unlike.len(), 2, "under either path: {:?}", found.unlike);
    for comparison in &found.comparisons {
        let verdicts: Vec<bool> =
            comparison.points.iter().map(|p| p.verdict == Verdict::NotComparable).collect();
        assert_eq!(verdicts, [true, false]);
        assert!(comparison.verdict != Verdict::NotComparable);
    }
}
