//! Knows what is planted to break in a simulated lab, and asks of every record whether it was
//! found: no affected trial counted, each named with its cause, the plan at its end or stopped with
//! a reason.

use super::simulated;

use desk::plan::ATTEMPTS;
use desk::plan::order;
use desk::record::{
    Better, Completeness, Derivation, Fault, LabKind, Place, Plan, Run, TrialKind, TrialRecord,
};
use desk::unit::Unit;
use desk::verdict::{Caveat, analyse};
use press::report;
use rig::lab::sim::{Physics, Spoil};
use simulated::run;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Two levels of one factor at two sizes, which the CPUs limit: 2 x 2 x `blocks` trials, and dry
/// visits before them. The clients have CPUs to spare.
fn plan(seed: u64, blocks: u32) -> Plan {
    let text = format!(
        "title = \"faults\"\n[lab]\nclients = 3\n[factors.tso]\nlevels = [\"off\", \"on\"]\n\
         [load.it]\nworkload = \"tcp_stream\"\ncongestion = \"cubic\"\n\
         over = {{ request_size = \"16K..64K *4\" }}\n[method]\nblocks = {blocks}\nseed = {seed}\n\
         settle = \"0.3 s\"\nsettle_max = \"1 s\"\nwindow = \"0.8 s\"\n"
    );
    simulated::plan(&text)
}

/// A slow machine behind a fast line, and these faults.
fn physics(seed: u64, faults: &str) -> Physics {
    let text = format!(
        "seed = {seed}\n[link]\nline_rate = \"400 Gbit/s\"\n[machine]\ncores = 8\n{faults}"
    );
    simulated::physics(&text)
}

fn word(kind: Spoil) -> &'static str {
    match kind {
        Spoil::DeadClient => "dead_client",
        Spoil::FrozenClient => "frozen_client",
        Spoil::FactorNotTaken => "factor_not_taken",
        Spoil::LinkFlap => "link_flap",
        Spoil::StealBurst => "steal_burst",
        Spoil::Throttle => "throttle",
        Spoil::GeneratorLimit => "generator_limit",
        Spoil::NeverLevel => "never_level",
        Spoil::WrongBytes => "wrong_bytes",
        Spoil::DeadStream => "dead_stream",
    }
}

/// Whether a fault names this cause, and the place where it was planted.
fn names(fault: &Fault, kind: Spoil, place: &str) -> bool {
    match (kind, fault) {
        (Spoil::DeadClient, Fault::DeadHost { host })
        | (Spoil::FrozenClient, Fault::Frozen { host })
        | (Spoil::LinkFlap, Fault::LinkFlap { host, .. }) => *host == *place,
        // All clients are held alike.
        (Spoil::GeneratorLimit, Fault::GeneratorLimit { host, .. }) => host.name().starts_with('c'),
        (Spoil::FactorNotTaken, Fault::Factor { what }) => what.contains("tso"),
        (Spoil::StealBurst, Fault::Steal { .. })
        | (Spoil::Throttle, Fault::Throttled { .. })
        | (Spoil::NeverLevel, Fault::NotSteady { .. }) => true,
        (Spoil::WrongBytes, Fault::WrongWork { what }) => {
            what.contains(place) && what.contains("is not what was sent")
        }
        (Spoil::DeadStream, Fault::DeadStream { stream }) => stream.contains(place),
        _ => false,
    }
}

/// The faults of a scenario: trial to visits spoilt. Which and how many hangs on the seed alone.
fn script(plan: &Plan, seed: u32) -> BTreeMap<u32, u32> {
    let trials = order(plan);
    let counted: Vec<u32> =
        trials.iter().filter(|t| t.kind == TrialKind::Counted).map(|t| t.id).collect();
    let mut script = BTreeMap::new();
    for number in 0..=(seed % 3) {
        let at = (seed * 7 + number * 11) as usize % counted.len();
        // From one visit, which is made good, to all of them, which loses the trial.
        script.insert(counted[at], 1 + (seed + number) % ATTEMPTS);
    }
    script
}

/// What a script and the place look like in a physics.
fn faults_toml(kind: Spoil, place: &str, script: &BTreeMap<u32, u32>) -> String {
    script.iter().fold(String::new(), |mut text, (trial, visits)| {
        let kind = word(kind);
        let _ = write!(
            text,
            "[[faults]]\nkind = \"{kind}\"\ntrial = {trial}\nvisits = {visits}\n\
             host = \"{place}\"\nfactor = \"tso\"\n"
        );
        text
    })
}

/// Compares a run with what was planted in it, record by record.
fn check_records(run: &Run, (kind, place): (Spoil, &str), script: &BTreeMap<u32, u32>) {
    for record in &run.records {
        let (id, attempt) = (record.trial.id, record.attempt);
        let planted = script.get(&id).is_some_and(|visits| attempt <= *visits);
        match &record.outcome.fault {
            None => assert!(!planted, "{kind:?}: trial {id}, visit {attempt} is counted"),
            Some(fault) => {
                assert!(planted, "{kind:?}: trial {id}, visit {attempt} is good, but {fault}");
                assert!(names(fault, kind, place), "{kind:?} on {place} is called {fault}");
            }
        }
    }
    for (id, visits) in script {
        let most = if kind == Spoil::GeneratorLimit { 2 } else { ATTEMPTS };
        let made = run.records.iter().filter(|r| r.trial.id == *id).count();
        assert_eq!(made, (visits + 1).min(most) as usize, "{kind:?}: visits to trial {id}");
    }
}

/// The same run as if the spoilt visits had never been.
fn without_faults(run: &Run) -> Run {
    let mut clean = run.clone();
    clean.records.retain(|r| r.outcome.fault.is_none());
    clean
}

#[test]
fn in_a_hundred_scenarios_no_affected_trial_is_counted_and_each_is_named_with_its_cause() {
    let mut scenarios = 0;
    for kind in Spoil::ALL {
        for seed in 0..10_u32 {
            let plan = plan(u64::from(seed) + 1, 5);
            let place = ["c01", "c02", "c03"][seed as usize % 3];
            let script = script(&plan, seed);
            let physics = physics(seed.into(), &faults_toml(kind, place, &script));
            let run = run(&plan, &physics);
            scenarios += 1;
            assert_eq!(run.completeness, Completeness::Complete, "{kind:?} {seed}");
            check_records(&run, (kind, place), &script);
            let (found, clean) = (analyse(&run), analyse(&without_faults(&run)));
            for (a, b) in found.comparisons.iter().zip(&clean.comparisons) {
                assert_eq!((&a.points, &a.overall, a.verdict), (&b.points, &b.overall, b.verdict));
            }
            assert_eq!(found.comparisons.len(), clean.comparisons.len());
            let told = found.caveats.iter().find_map(|caveat| match caveat {
                Caveat::Faults { trials, again, lost, .. } => {
                    Some([trials, again, lost].map(|quantity| quantity.value))
                }
                _ => None,
            });
            let most = if kind == Spoil::GeneratorLimit { 2 } else { ATTEMPTS };
            let lost = script.values().filter(|visits| **visits >= most).count();
            let visits: u32 = script.values().map(|visits| (*visits).min(most)).sum();
            let told = told.expect("the faults are told");
            let good = script.len() - lost;
            let planted = [f64::from(visits), f64::from(good as u32), f64::from(lost as u32)];
            assert_eq!(told, planted, "{kind:?} {seed}");
        }
    }
    println!("{scenarios} scenarios");
    assert_eq!(scenarios, 100);
}

#[test]
fn faults_by_chance_are_found_too_and_a_lab_that_only_faults_is_given_up_with_a_reason() {
    let plan = plan(3, 20);
    for kind in Spoil::ALL {
        let faults = format!("[[faults]]\nkind = \"{}\"\nshare = \"10 %\"\n", word(kind));
        let some = run(&plan, &physics(5, &faults));
        let faulty: Vec<_> = some.records.iter().filter_map(|r| r.outcome.fault.as_ref()).collect();
        assert!(faulty.len() > 3, "{kind:?}: {}", faulty.len());
        for fault in faulty {
            assert!(names(fault, kind, "c01"), "{kind:?} is called {fault}");
        }
    }
    let always = "[[faults]]\nkind = \"dead_client\"\nshare = \"100 %\"\n";
    let run = run(&plan, &physics(5, always));
    let Completeness::Partial { why } = &run.completeness else { panic!("it went on") };
    assert!(why.contains("faults in a row") && why.contains("c01"), "{why}");
    assert!(analyse(&run).comparisons.is_empty());
}

#[test]
fn a_load_that_the_clients_cannot_make_has_no_figure_and_is_named() {
    let plan = plan(1, 5);
    let run = run(&plan, &physics(1, "[clients]\ncpu = \"40 %\"\n"));
    assert_eq!(run.completeness, Completeness::Complete);
    let counted = || run.records.iter().filter(|r| r.trial.kind == TrialKind::Counted);
    assert!(counted().all(|r| matches!(r.outcome.fault, Some(Fault::GeneratorLimit { .. }))));
    assert!(counted().all(|r| !r.outcome.samples.is_empty()), "what was seen is kept");
    assert_eq!(counted().count(), 2 * 20, "each was tried twice");
    let analysis = analyse(&run);
    assert!(analysis.comparisons.is_empty());
    assert_eq!(analysis.generator_bound.len(), 4, "two levels at two sizes");
    let only = |c: &Caveat| matches!(c, Caveat::ClientsOnly { places, .. } if places.value == 4.0);
    assert!(analysis.caveats.iter().any(only), "{:?}", analysis.caveats);
    let document = report::compose(&run, &analysis).expect("a report");
    let said = report::text(&document, 400, true);
    assert!(said.contains("the clients were at their limit in every attempt"), "{said}");
    assert!(said.contains("Figures (not counted)") && said.contains("Gbit/s"), "{said}");
}

#[test]
fn the_same_seeds_give_the_same_records_and_others_do_not() {
    let faults = "[[faults]]\nkind = \"steal_burst\"\nshare = \"5 %\"\n";
    let records = |plan_seed, seed| run(&plan(plan_seed, 5), &physics(seed, faults)).records;
    let first = records(1, 1);
    assert_eq!(first, records(1, 1));
    let rates = |records: &[TrialRecord]| {
        let valid = records.iter().filter_map(|r| r.outcome.metric("throughput"));
        valid.map(|q| q.value.to_string()).collect::<BTreeSet<_>>()
    };
    assert!(rates(&first).is_disjoint(&rates(&records(1, 2))));
    assert!(rates(&first).is_disjoint(&rates(&records(2, 1))));
}

#[test]
fn a_report_of_a_simulation_says_so_and_a_thousand_trials_run() {
    let plan = plan(1, 250);
    let run = run(&plan, &physics(1, ""));
    assert_eq!(run.records.len(), 1000 + 4);
    assert!(run.records.iter().all(|r| r.outcome.fault.is_none()));
    assert!(matches!(&run.environment().lab, Some((LabKind::Simulated, why))
        if why == "physics test.toml, seed 1"));
    let analysis = analyse(&run);
    assert_eq!(analysis.caveats.first(), Some(&Caveat::Simulated));
    let document = report::compose(&run, &analysis).expect("a report");
    let said = report::text(&document, 400, true);
    assert!(said.contains("This run is simulated"), "{said}");
    assert!(said.contains("Nothing was measured"), "{said}");
}

#[test]
fn every_workload_has_a_model_that_gives_every_metric_of_its_spec() {
    for entry in loads::ALL {
        let name = entry.spec.name;
        let path = entry.spec.place == Place::Path;
        let lab = if path { "[lab]\nclients = 2\n" } else { "" };
        let plan =
            simulated::plan(&format!("title = \"x\"\n{lab}[load.it]\nworkload = \"{name}\"\n"));
        let run = run(&plan, &physics(1, ""));
        for record in run.records.iter().filter(|r| r.trial.kind == TrialKind::Counted) {
            assert_eq!(record.outcome.fault, None, "{name}");
            // A further figure of a machine needs what a model has not, or another way of the load.
            let mut given = 0;
            for metric in entry.spec.described() {
                let Some(sample) = record.outcome.figure(&metric) else { continue };
                assert_eq!(sample.unit, metric.unit, "{name} {}", metric.name);
                // A share that is better lower is of what went wrong.
                let may_be_none = metric.unit == Unit::Share && metric.better == Better::Lower;
                let is_there = sample.value > 0.0 || (may_be_none && sample.value == 0.0);
                assert!(sample.value.is_finite() && is_there, "{name}: {sample}");
                given += 1;
            }
            // This plan declares no line.
            let derives = entry.spec.derives.iter();
            let lacking = derives.filter(|one| one.what == Derivation::LineShare).count();
            let all = entry.spec.metrics.len() - lacking;
            assert!(given > 0 && (!path || given == all), "{name}: {given}");
            assert!(record.outcome.work.content_checks > 0, "{name}");
        }
    }
}

#[test]
fn a_stream_beside_operations_is_not_available() {
    let text = "title = \"x\"\n[load.it]\nworkload = \"tcp_rr\"\nbeside = \"BESIDE\"\n";
    for (beside, there) in [("none", true), ("transmit", false)] {
        let run = run(&simulated::plan(&text.replace("BESIDE", beside)), &physics(1, ""));
        let fault = run.records.iter().find_map(|record| record.outcome.fault.as_ref());
        let refused =
            matches!(fault, Some(Fault::NotAvailable { what }) if what.contains("beside"));
        assert_eq!((fault.is_none(), refused), (there, !there), "{fault:?}");
    }
}
