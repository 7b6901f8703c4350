//! Knows what a gate must do where the truth is planted: fail with evidence, pass with evidence,
//! and else neither.

use super::*;
use crate::verdict::{FailIf, Gate, GateError, GateOutcome, GateReason, gate, gateable, gated};

fn judged(run: &Run, fail_if: FailIf) -> Gate {
    gate(run, &analyse(run), fail_if, None)
}

fn outcome(truth: fn(Cell) -> f64, noise: f64, fail_if: FailIf) -> GateOutcome {
    let run = Simulated { truth, noise, blocks: 7, ..Simulated::default() }.run();
    judged(&run, fail_if).outcome
}

#[test]
fn each_rule_passes_and_fails_with_evidence_and_is_else_inconclusive() {
    use FailIf::{Different, NotBetter, NotEquivalent, Worse};
    use GateOutcome::{Failed, Inconclusive, Passed};
    let noisy = 0.3;
    for (fail_if, worse, less, same, more, better) in [
        (Worse, Failed, Passed, Passed, Passed, Passed),
        (NotBetter, Failed, Failed, Failed, Failed, Passed),
        (NotEquivalent, Failed, Passed, Passed, Passed, Failed),
        (Different, Failed, Failed, Passed, Failed, Failed),
    ] {
        // The margin is 2 %: one per cent is a sure difference within it.
        assert_eq!(outcome(|_| 0.9, 0.001, fail_if), worse, "{fail_if:?}");
        assert_eq!(outcome(|_| 0.99, 0.0005, fail_if), less, "{fail_if:?}");
        assert_eq!(outcome(|_| 1.0, 0.001, fail_if), same, "{fail_if:?}");
        assert_eq!(outcome(|_| 1.01, 0.0005, fail_if), more, "{fail_if:?}");
        assert_eq!(outcome(|_| 1.1, 0.001, fail_if), better, "{fail_if:?}");
        assert_eq!(outcome(|_| 1.0, noisy, fail_if), Inconclusive, "{fail_if:?}");
    }
}

#[test]
fn less_is_better_turns_the_gate_round() {
    let slower = Simulated { truth: |_| 1.1, better: Better::Lower, ..Simulated::default() };
    assert_eq!(judged(&slower.run(), FailIf::Worse).outcome, GateOutcome::Failed);
    let faster = Simulated { truth: |_| 0.9, ..slower };
    assert_eq!(judged(&faster.run(), FailIf::Worse).outcome, GateOutcome::Passed);
    assert_eq!(judged(&faster.run(), FailIf::NotBetter).outcome, GateOutcome::Passed);
}

#[test]
fn a_gate_where_nothing_differs_fails_no_more_often_than_it_says() {
    let curve = Simulated { sizes: SIZES.to_vec(), ..Simulated::default() };
    for (base, fail_if) in [
        (Simulated::default(), FailIf::Worse),
        (Simulated::default(), FailIf::Different),
        (curve, FailIf::Worse),
    ] {
        let runs = 600;
        let mut said = 0.0;
        let failed = (0..runs).filter(|seed| {
            let run = Simulated { seed: *seed, ..base.clone() }.run();
            let found = judged(&run, fail_if);
            said = found.false_alarms.unwrap().value;
            found.outcome == GateOutcome::Failed
        });
        let share = failed.count() as f64 / runs as f64;
        // Three standard errors of a share of 600.
        let room = 3.0 * (said * (1.0 - said) / runs as f64).sqrt();
        assert!(share <= said + room, "{fail_if:?}: {share} of at most {said}");
    }
}

#[test]
fn a_single_bad_point_of_a_curve_is_evidence_and_is_named() {
    let truth = |cell: Cell| if cell.size == 64 { 0.8 } else { 1.1 };
    let run =
        Simulated { sizes: SIZES.to_vec(), truth, noise: 0.003, ..Simulated::default() }.run();
    let found = judged(&run, FailIf::Worse);
    assert_eq!(found.outcome, GateOutcome::Failed);
    assert_eq!(found.checks[0].why, GateReason::Point { at: size(64) });
    let effect = found.checks[0].effect.as_ref().unwrap();
    assert!((effect.centre.value - 0.8).abs() < 0.02);
    assert_eq!(judged(&run, FailIf::NotBetter).outcome, GateOutcome::Passed, "the whole is better");
}

#[test]
fn what_is_too_noisy_says_how_many_more_blocks_it_takes() {
    let noisy = Simulated { noise: 0.03, ..Simulated::default() };
    let mut all =
        (0..20).map(|seed| judged(&Simulated { seed, ..noisy.clone() }.run(), FailIf::Worse));
    let found = all.find(|gate| gate.outcome == GateOutcome::Inconclusive).unwrap();
    let GateReason::Wide { more_blocks: Some(more) } = &found.checks[0].why else {
        panic!("{:?}", found.checks[0].why);
    };
    assert!(more.low >= 1);
}

#[test]
fn without_a_valid_trial_nothing_passes() {
    for fail_if in [FailIf::Worse, FailIf::NotBetter, FailIf::NotEquivalent, FailIf::Different] {
        let mut run = Simulated::default().run();
        run.records.clear();
        assert_eq!(judged(&run, fail_if).outcome, GateOutcome::NotMeasured);
        let mut one = Simulated { directions: vec!["transmit", "receive"], ..Simulated::default() };
        one.truth = |_| 1.5;
        let mut run = one.run();
        run.records.retain(|r| r.trial.point.params["direction"] != word("receive"));
        let found = judged(&run, fail_if);
        assert_eq!(found.checks[1].why, GateReason::NoPair);
        assert_ne!(found.outcome, GateOutcome::Passed, "{fail_if:?}");
    }
}

#[test]
fn one_block_is_no_evidence() {
    let mut run = Simulated { truth: |_| 1.5, ..Simulated::default() }.run();
    run.records.retain(|r| r.trial.block < 2);
    assert_eq!(judged(&run, FailIf::Worse).outcome, GateOutcome::Inconclusive);
}

#[test]
fn a_partial_run_is_inconclusive_at_best_and_still_fails_with_evidence() {
    let of = |truth| {
        let mut run = Simulated { truth, noise: 0.001, ..Simulated::default() }.run();
        run.completeness = Completeness::Partial { why: "it was stopped".into() };
        judged(&run, FailIf::Worse)
    };
    let found = of(|_| 1.2);
    assert_eq!(found.outcome, GateOutcome::Inconclusive);
    assert_eq!(found.checks[0].why, GateReason::Partial);
    assert_eq!(found.partial.as_deref(), Some("it was stopped"));
    assert_eq!(of(|_| 0.8).outcome, GateOutcome::Failed);
}

#[test]
fn a_metric_that_is_not_there_and_a_plan_without_a_factor_are_refused() {
    let mut run = Simulated::default().run();
    let error = gated(&run, Some("speed")).unwrap_err().to_string();
    assert!(error.contains("'speed'") && error.contains("throughput, cpu, pe_index"), "{error}");
    assert_eq!(gated(&run, Some("cpu")).unwrap().plan.method.primary, "throughput");
    let of_cpu = gate(&run, &analyse(&run), FailIf::Worse, Some("cpu"));
    assert_eq!(of_cpu.outcome, GateOutcome::NotMeasured, "no trial has readings");
    run.plan.factors.clear();
    run.plan.method.compare.clear();
    assert!(matches!(gated(&run, None), Err(GateError::NothingCompared(_))));
}

#[test]
fn a_curve_that_lacks_a_point_does_not_pass_and_still_fails_with_evidence() {
    let of = |truth, rule| {
        let mut run =
            Simulated { sizes: SIZES.to_vec(), truth, noise: 0.001, ..Simulated::default() }.run();
        let gone = |r: &TrialRecord| {
            r.trial.point.params.get("size") == Some(&size(64))
                && r.trial.treatment.levels["path"] != "onboard"
        };
        run.records.retain(|r| !gone(r));
        judged(&run, rule)
    };
    let found = of(|_| 1.2, FailIf::Worse);
    assert_eq!(found.outcome, GateOutcome::Inconclusive);
    assert_eq!(found.checks[0].why, GateReason::Gaps { at: vec![size(64)] });
    assert_eq!(of(|_| 0.8, FailIf::Worse).outcome, GateOutcome::Failed);
    assert_eq!(of(|_| 1.2, FailIf::NotBetter).outcome, GateOutcome::Inconclusive);
}

#[test]
fn displaced_work_is_refused_where_nothing_will_measure_it() {
    let mut plan = Simulated::default().run().plan;
    let error = gateable(&plan, &[], Some("displaced")).unwrap_err().to_string();
    assert!(error.contains("--displaced-work"), "{error}");
    plan.method.displaced_work = true;
    assert_eq!(gateable(&plan, &[], Some("displaced")), Ok(()));
}
