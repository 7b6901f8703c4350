//! Knows that a plan with boots goes from its text to its report, and that its verdicts err as
//! seldom as they say where each boot has a state of its own.
#![expect(clippy::expect_used, reason = "helpers of tests stand outside test functions")]

use super::simulated;

use desk::record::{Plan, Run, TrialKind};
use desk::stats::{Rule, decide};
use desk::verdict::{Verdict, analyse};
use press::report;
use rig::lab::sim::Physics;
use simulated::run;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

/// Two levels that set nothing and need a boot each, at one load that the CPUs limit.
const PLAN: &str = "title = \"boots\"\n[lab]\nclients = 3\n[factors.bios]\nkey = \"profile\"\n\
    reboot = true\nlevels = { old = {}, new = {} }\n[load.it]\nworkload = \"tcp_stream\"\n\
    congestion = \"cubic\"\n[method]\nsettle = \"0.3 s\"\nsettle_max = \"1 s\"\n\
    window = \"0.8 s\"\n";

fn plan(method: &str) -> Plan {
    simulated::plan(&format!("{PLAN}{method}"))
}

/// Boots differ by 2 %, trials of one boot by 1 %.
fn physics() -> Physics {
    simulated::physics(
        "[link]\nline_rate = \"400 Gbit/s\"\n[machine]\ncores = 8\n\
         [noise]\nsd = \"1 %\"\nar = 0.0\n\
         boot = { sd = \"2 %\" }\n",
    )
}

fn differs(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Better | Verdict::Worse)
}

/// The wrong analysis: every block of a boot set against that of the other level's boot in the
/// round, as though each were drawn anew.
fn pooled(run: &Run) -> bool {
    let mut pairs: BTreeMap<(u32, u32), [f64; 2]> = BTreeMap::new();
    for record in run.records.iter().filter(|r| r.trial.kind == TrialKind::Counted) {
        let trial = &record.trial;
        let place = (trial.block - 1) % run.plan.method.blocks;
        let side = usize::from(trial.treatment.levels["bios"] == "new");
        let value = record.outcome.metric("throughput").expect("a figure").value;
        pairs.entry((trial.round, place)).or_default()[side] = value.ln();
    }
    let logs: Vec<f64> = pairs.values().map(|[base, other]| other - base).collect();
    decide(&logs, Rule { margin: 0.02, alpha: 0.05, seed: 1 }).expect("pairs").differs
}

#[test]
fn boots_are_what_is_counted_and_pooling_their_trials_errs_in_a_third_of_the_plans() {
    let physics = physics();
    let (mut by_boots, mut by_trials) = (0, 0);
    for seed in 0..400 {
        let plan = plan(&format!("boots = 5\nblocks = 6\nseed = {seed}\n"));
        let run = run(&plan, &physics);
        let found = analyse(&run);
        assert_eq!((found.comparisons.len(), found.comparisons[0].overall.n), (1, 5));
        by_boots += u32::from(differs(found.comparisons[0].verdict));
        by_trials += u32::from(pooled(&run));
    }
    println!("of 400 plans of equal levels {by_boots} by boots, {by_trials} by trials pooled");
    // 400 at 5 %: 20, standard deviation 4.4; fewer than 8 or more than 35 have a chance of 0.1 %.
    assert!((8..=35).contains(&by_boots), "{by_boots} of 400");
    assert!(by_trials > 120, "{by_trials} of 400");
}

#[test]
fn the_time_of_boots_is_in_the_run_and_a_boot_begins_with_a_visit_that_is_not_counted() {
    let run = run(&plan("boots = 3\nblocks = 3\nboot_time = \"5 min\"\ndry = false\n"), &physics());
    let mut boots = run.records.chunk_by(|a, b| a.trial.boot == b.trial.boot);
    assert!(boots.all(|boot| boot[0].trial.kind == TrialKind::Dry && boot.len() == 4));
    assert!(run.records[0].started_s >= 300.0, "{}", run.records[0].started_s);
    let last = run.records.last().expect("records");
    assert!((1800.0..1900.0).contains(&last.started_s), "{}", last.started_s);
}

#[test]
fn a_report_says_boots_where_n_counts_boots() {
    let run = run(&plan("boots = 3\n"), &physics());
    let analysis = analyse(&run);
    let said = report::text(&report::compose(&run, &analysis).expect("words"), 20_000, true);
    for words in [
        "n = 3 boots in random order",
        "A level of bios takes effect at boot only.",
        "Boots are compared,",
        "below 8 boots: levels are divided within each round",
        "There are 3 boots; the smallest effect",
        "Measure more boots: raise boots in the plan.",
        "5 in each of 6 boots, 3 boots a level",
        "The mean of every boot, by round",
    ] {
        assert!(said.contains(words), "{words} is not in\n{said}");
    }
    assert!(!said.contains("further block"), "{said}");
}

#[test]
fn what_n_counts_is_said_of_every_factor_that_is_crossed_with_a_boot() {
    let tso = "[factors.tso]\nlevels = [\"off\", \"on\"]\n";
    let text = PLAN.replace("[load.it]", &format!("{tso}[load.it]"));
    let said = |compare: &str| {
        let method = format!("boots = 3\nblocks = 3\ncompare = \"{compare}\"\n");
        let run = run(&simulated::plan(&format!("{text}{method}")), &physics());
        let document = report::compose(&run, &analyse(&run)).expect("words");
        report::text(&document, 20_000, true)
    };
    let by_boots = "Levels of bios take hold when the machine starts, so they are set against each \
                    other by boots: n counts boots";
    let inside = "Levels of tso are switched inside a boot: n counts the blocks of all boots.";
    let (of_bios, of_tso) = (said("tso"), said("bios"));
    assert!(of_bios.contains(by_boots) && !of_bios.contains(inside), "{of_bios}");
    assert!(of_tso.contains(inside) && !of_tso.contains(by_boots), "{of_tso}");
}

/// A directory of a test, removed afterwards.
struct Dir(PathBuf);

impl Dir {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("stend-boots-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("a directory");
        fs::write(path.join("plan.toml"), format!("{PLAN}boots = 3\nblocks = 3\n"))
            .expect("a file");
        Self(path)
    }

    fn stend(&self, words: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stend"));
        command.args(words).current_dir(&self.0).env("XDG_STATE_HOME", self.0.join("state"));
        command.output().expect("it starts")
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_real_lab_refuses_boots_before_anything_is_made_and_says_what_to_do() {
    let dir = Dir::new("refused");
    for lab in ["root", "user", "loopback", "best"] {
        let output = dir.stend(&["run", "plan.toml", "--lab", lab]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(5), "{lab}: {said}");
        for words in ["factor 'bios' needs a reboot", "`stend compare`", "--lab sim"] {
            assert!(said.contains(words), "{lab}: {said}");
        }
    }
    assert!(!dir.0.join("state").exists(), "nothing was opened");
}

#[test]
fn a_simulated_lab_boots_and_a_plan_says_what_boots_cost_and_show() {
    let dir = Dir::new("simulated");
    let output = dir.stend(&["plan", "plan.toml", "--lab", "sim"]);
    let said = String::from_utf8_lossy(&output.stdout);
    for words in [
        "bios: old, new  (compared)  (needs a reboot)",
        "6, 3 at each level: 12.0 min at 120 s a boot",
        "18 counted (1 points x 2 treatments x 3 blocks x 3 boots), 6 dry",
        "noise of a boot",
        "boots a level",
    ] {
        assert!(said.contains(words), "{words} is not in\n{said}");
    }
    let output = dir.stend(&["run", "plan.toml", "--lab", "sim", "--out", "out"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let records = fs::read_to_string(dir.0.join("out/records.json")).expect("records");
    let run: Run = serde_json::from_str(&records).expect("a run");
    assert_eq!(run.records.last().map(|r| (r.trial.boot, r.trial.round)), Some((6, 3)));
    assert!(dir.0.join("out/report.html").exists());
}
