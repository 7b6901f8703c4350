//! Asks of two hundred reports on two levels that do the same whether a winner is in the headline.
//!
//! The levels differ in a setting (`tso`) that changes nothing here, as the line is the limit, so
//! that stend does not know that they are alike. Seeds are 1 to 200, none left out.

#![expect(clippy::expect_used, reason = "helpers of tests stand outside test functions")]

use desk::plan::{Catalogue, order, read};
use desk::record::{Metric, Plan, RUN_SCHEMA, Run, TrialRecord};
use desk::report::{Node, Tone, compose};
use desk::verdict::{analyse, is_aa};
use rig::lab::sim::{self, Physics};
use rig::run::{Orders, Simulated, conduct};
use rig::{factor, workload};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

static NEVER: AtomicBool = AtomicBool::new(false);

/// Reports.
const REPORTS: u64 = 200;
/// Headlines with a winner that are let pass: 5 %.
const MOST: usize = 10;

fn plan(seed: u64) -> Plan {
    let text = format!(
        "title = \"alike\"\n[lab]\nclients = 2\n[factors.tso]\nlevels = [\"off\", \"on\"]\n\
         [load.it]\nworkload = \"tcp_stream\"\ncongestion = \"cubic\"\n\
         over = {{ request_size = \"16K..64K *4\" }}\n[method]\nblocks = 5\nseed = {seed}\n\
         settle = \"0.3 s\"\nsettle_max = \"1 s\"\nwindow = \"0.8 s\"\n\
         curve = \"request_size\"\n"
    );
    let workloads: Vec<_> = workload::ALL.iter().map(|entry| entry.spec).collect();
    let catalogue = Catalogue { workloads: &workloads, factors: factor::ALL };
    read(&text, &catalogue).map_err(|e| e.to_string()).expect("a plan")
}

/// A machine with CPUs to spare behind a slow line; its trials scatter by `sd`.
fn physics(seed: u64, sd: &str) -> Physics {
    let text = format!(
        "seed = {seed}\n[link]\nline_rate = \"1 Gbit/s\"\n[machine]\ncores = 8\n\
         [noise]\nsd = \"{sd}\"\n"
    );
    Physics::read(&text).map_err(|e| e.to_string()).expect("a physics")
}

fn run(seed: u64, sd: &str) -> Run {
    let (plan, physics) = (plan(seed), physics(seed, sd));
    let trials = order(&plan).into_iter().map(|trial| (trial, 1)).collect();
    let keep = &mut |_: &TrialRecord| Ok(());
    let orders = Orders {
        plan: &plan,
        trials,
        before_s: 0.0,
        keep,
        enough: &mut |_| false,
        tell: &mut |_| (),
    };
    let visited = conduct(&mut Simulated::new(physics.clone(), &NEVER), orders).expect("a lab");
    Run {
        schema: RUN_SCHEMA,
        id: format!("alike-{seed}"),
        started: "2026-01-01T00:00:00Z".into(),
        version: "0".into(),
        command: String::new(),
        workloads: BTreeMap::new(),
        metrics: workload::ALL.iter().flat_map(|e| e.spec.metrics).map(Metric::from).collect(),
        plan,
        plan_text: String::new(),
        environment: sim::environment(&physics, "test.toml", &["lan".into()]),
        records: visited.records,
        completeness: visited.completeness,
        sittings: Vec::new(),
        digits: None,
    }
}

/// The headline, and whether it names a winner: as a whole, or somewhere along the curve.
fn headline(run: &Run) -> (String, bool) {
    let analysis = analyse(run);
    assert_eq!(analysis.comparisons.len(), 1, "nothing was compared");
    assert!(!is_aa(&run.plan, &analysis.comparisons[0]), "stend is not to know");
    let document = compose(run, &analysis).expect("an article");
    let Some(Node::VerdictBox { headline, tone, .. }) = document.body.first() else {
        return (String::new(), true);
    };
    let said = headline.text().to_owned();
    let words = ["better", "worse", "ahead", "behind"].iter().any(|word| said.contains(word));
    (said, words || matches!(tone, Tone::Good | Tone::Bad))
}

/// A true rate of 5 % would give 10 of 200, and more than 10 in 42 % of such tests by chance alone.
/// That the count stays below is shown for these seeds, not proved for all: a count of 10 or less
/// has true rates up to 9 % in its 95 % interval, one of 0 up to 1.8 %.
#[test]
fn two_hundred_reports_of_equal_levels_name_a_winner_in_five_per_cent_at_most() {
    let mut winners = Vec::new();
    for seed in 1..=REPORTS {
        // Half of them quiet, half of them as noisy as a shared machine.
        let sd = if seed % 2 == 0 { "1 %" } else { "3 %" };
        let (said, wins) = headline(&run(seed, sd));
        if wins {
            winners.push(format!("seed {seed}, noise {sd}: {said}"));
        }
    }
    println!("{} of {REPORTS} headlines name a winner", winners.len());
    assert!(winners.len() <= MOST, "{}: {winners:#?}", winners.len());
}
