//! Knows what holds a real load down, because it makes it so, and asks whether stend names it:
//! twelve causes on network namespaces, and six loads that nothing holds down but the CPUs.
//!
//! Each goes through the door as a person's plan does. Without root the test is skipped aloud. With
//! it, a case that was not measured is a failure.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "helpers of tests stand outside test functions"
)]

use desk::record::Run;
use desk::verdict::{Analysis, Limit, LimitKind};
use rustix::thread::{CpuSet, sched_setaffinity};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::thread;

/// A plan that was not measured in whole because the machine was disturbed is run once more; what
/// is not measured then is a failure.
const RUNS_MOST: usize = 2;
/// Causes that are made.
const MADE: usize = 12;
/// So many of them must be measured and named.
const NAMED_LEAST: usize = 11;
/// Loads that nothing holds down but the CPUs.
const FREE: usize = 6;
/// What a free load must not be said to be held down by: the limit is the CPUs.
const INDUCED: [LimitKind; 6] = [
    LimitKind::ClientQuota,
    LimitKind::ClientLine,
    LimitKind::Generator,
    LimitKind::ServerQuota,
    LimitKind::SetRate,
    LimitKind::OneCpu,
];

/// A directory of a test, removed afterwards.
struct Place(PathBuf);

impl Place {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("stend-induced-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What `stend run --json` prints.
#[derive(Deserialize)]
struct Told {
    analysis: Analysis,
    run: Run,
}

/// One plan: its name, the factor that it compares, its loads.
struct Plan<'p> {
    name: &'p str,
    factor: &'p str,
    loads: &'p str,
    /// Everything runs on this CPU alone, where one is given.
    on: Option<usize>,
}

impl Plan<'_> {
    fn text(&self) -> String {
        format!(
            "title = \"{}\"\n[lab]\nclients = 2\nreceive_buffer = \"1 MiB\"\n[factors]\n{}\n{}\
             [method]\nblocks = 3\ndry = false\nsettle = \"100 ms\"\nsettle_max = \"250 ms\"\n\
             steady = \"noted\"\nwindow = \"250 ms\"\n",
            self.name, self.factor, self.loads
        )
    }

    /// Runs it, and once more if cases of it came to no valid trial. A case without an answer is
    /// one that was not named.
    fn cases(&self, place: &Place, judge: impl Fn(&Told) -> Vec<Case>) -> Vec<Case> {
        let mut cases: Vec<Case> = Vec::new();
        for _ in 0..RUNS_MOST {
            let told = match self.run(place) {
                Ok(told) => told,
                Err(said) => {
                    println!("{} gave nothing: {said}", self.name);
                    continue;
                }
            };
            let found = judge(&told);
            if cases.is_empty() {
                cases = found;
            } else {
                let open = cases.iter_mut().zip(found).filter(|(case, _)| case.said.is_empty());
                open.for_each(|(case, found)| *case = found);
            }
            if cases.iter().all(|case| !case.said.is_empty()) {
                break;
            }
            println!("{}: {}", self.name, spoilt(&told));
        }
        cases
    }

    /// Runs it; what was said where nothing came of it.
    fn run(&self, place: &Place) -> Result<Told, String> {
        let file = place.0.join(format!("{}.toml", self.name));
        fs::write(&file, self.text()).expect("a plan");
        let mut command = Command::new(env!("CARGO_BIN_EXE_stend"));
        let out = place.0.join(self.name);
        command.args(["run", "--lab", "root", "--json", "--out"]).arg(out).arg(&file);
        command.env("XDG_STATE_HOME", &place.0).stdin(Stdio::null());
        let on = self.on;
        // A process begins on the CPUs of the thread that starts it.
        let started = thread::spawn(move || {
            if let Some(cpu) = on {
                let mut set = CpuSet::new();
                set.set(cpu);
                sched_setaffinity(None, &set).expect("a CPU of ours");
            }
            command.output().expect("it starts")
        });
        let Output { stdout, stderr, status } = started.join().expect("a run");
        let words = || format!("{status}: {}", String::from_utf8_lossy(&stderr).trim());
        serde_json::from_slice(&stdout).map_err(|_| words())
    }
}

/// A cause that was made, or none; and what was said of it.
struct Case {
    name: String,
    right: bool,
    said: Vec<String>,
}

impl Case {
    fn of(name: String, limits: &[&Limit], is_right: impl Fn(&[LimitKind]) -> bool) -> Self {
        let named = |limit: &&Limit| limit.named().collect::<Vec<_>>();
        let right = !limits.is_empty() && limits.iter().all(|l| is_right(&named(l)));
        let word = |limit: &&Limit| {
            let share = limit.evidence.centre;
            let rivals: Vec<String> = limit
                .rivals
                .iter()
                .map(|r| format!("{:?} {}", r.kind, r.utilisation.centre))
                .collect();
            format!("{:?} {share} (not {})", named(limit), rivals.join(", "))
        };
        let mut said: Vec<String> = limits.iter().map(word).collect();
        said.dedup();
        Self { name, right, said }
    }
}

/// A case for each of these levels of the one factor.
fn by_level(told: &Told, levels: &[&str], kind: LimitKind) -> Vec<Case> {
    let of = |level: &&str| {
        let all = told.analysis.limits.iter();
        let its: Vec<&Limit> = all.filter(|limit| limit.level == *level).collect();
        let name = format!("{} {level}", told.run.plan.title);
        Case::of(name, &its, |named| *named == [kind])
    };
    levels.iter().map(of).collect()
}

/// A case for each load, whatever the level.
fn by_load(told: &Told, is_right: impl Fn(&[LimitKind]) -> bool) -> Vec<Case> {
    let of = |load: &desk::record::LoadPlan| {
        let its = |limit: &&Limit| {
            let compared = told.analysis.comparisons.iter().find(|c| c.id == limit.comparison);
            compared.is_some_and(|c| c.load == load.name)
        };
        let limits: Vec<&Limit> = told.analysis.limits.iter().filter(its).collect();
        Case::of(format!("{} {}", told.run.plan.title, load.name), &limits, &is_right)
    };
    told.run.plan.loads.iter().map(of).collect()
}

/// Prints a table and counts the right ones.
fn right(cases: &[Case]) -> usize {
    for Case { name, right, said } in cases {
        let word = match (*right, said.is_empty()) {
            (true, _) => "right",
            (false, true) => "NOT MEASURED",
            (false, false) => "WRONG",
        };
        println!("{word} {name}");
        said.iter().for_each(|line| println!("      {line}"));
    }
    cases.iter().filter(|case| case.right).count()
}

/// How many cases have an answer.
fn measured(cases: &[Case]) -> usize {
    cases.iter().filter(|case| !case.said.is_empty()).count()
}

/// What other programs had, in CPUs, at most in a trial.
fn foreign(told: &Told) -> f64 {
    let read = told.run.records.iter().filter_map(|r| r.reading("foreign", "machine", "cpu"));
    read.map(|quantity| quantity.value).fold(0.0, f64::max)
}

/// Why trials were not valid, each reason once.
fn spoilt(told: &Told) -> String {
    let faults = told.run.records.iter().filter_map(|r| r.outcome.fault.as_ref());
    let words: BTreeSet<String> = faults.map(ToString::to_string).collect();
    words.into_iter().collect::<Vec<_>>().join("; ")
}

/// A load of one direction, by its lines.
fn load(name: &str, lines: &str) -> String {
    format!("[load.{name}]\nworkload = \"tcp_stream\"\n{lines}\n")
}

/// The link of the system under test, at three rates.
fn capped(place: &Place) -> Vec<Case> {
    let levels = ["200 Mbit/s", "600 Mbit/s", "2 Gbit/s"];
    let plan = Plan {
        name: "link",
        factor: &format!("rate = {{ levels = {levels:?} }}"),
        loads: &load("it", "request_size = \"64 KiB\""),
        on: None,
    };
    plan.cases(place, |told| by_level(told, &levels, LimitKind::SetRate))
}

/// A quota on one side, of which the sending end is, so that it pays for most of the work.
fn held(place: &Place, (factor, direction): (&str, &str), kind: LimitKind) -> Vec<Case> {
    let plan = Plan {
        name: factor,
        factor: &format!("{factor} = {{ levels = [\"off\", 0.05, 0.1, 0.2] }}"),
        loads: &load("it", &format!("request_size = \"64 KiB\"\ndirection = \"{direction}\"")),
        on: None,
    };
    plan.cases(place, |told| {
        let held = &told.run.plan.factors[0].levels[1..];
        let levels: Vec<&str> = held.iter().map(|level| &*level.name).collect();
        by_level(told, &levels, kind)
    })
}

/// Conductor, server and clients on the first CPU.
fn crowded(place: &Place) -> Vec<Case> {
    let plan = Plan {
        name: "one-cpu",
        factor: "congestion = { levels = [\"cubic\", \"reno\"] }",
        loads: &[
            load("send", "request_size = \"64 KiB\""),
            load("take", "request_size = \"1 KiB\"\ndirection = \"receive\""),
            load("both", "request_size = \"16 KiB\"\ndirection = \"duplex\"\nstreams = 2"),
        ]
        .concat(),
        on: Some(0),
    };
    let is_right = |named: &[LimitKind]| *named == [LimitKind::OneCpu];
    plan.cases(place, |told| by_load(told, is_right))
}

/// Six loads that nothing holds down but the CPUs.
fn free(place: &Place) -> Vec<Case> {
    let plan = Plan {
        name: "free",
        factor: "congestion = { levels = [\"cubic\", \"reno\"] }",
        loads: &[
            load("send", "request_size = \"64 KiB\""),
            load("take", "request_size = \"64 KiB\"\ndirection = \"receive\""),
            load("both", "request_size = \"16 KiB\"\ndirection = \"duplex\""),
            load("small", "request_size = \"1 KiB\"\nstreams = 2"),
            load("many", "request_size = \"8 KiB\"\nstreams = 4\ndirection = \"receive\""),
            load("batch", "request_size = \"64 B\"\nengine = \"batch\"\nstreams = 2"),
        ]
        .concat(),
        on: None,
    };
    let is_right = |named: &[LimitKind]| INDUCED.iter().all(|kind| !named.contains(kind));
    plan.cases(place, |told| {
        println!("others had up to {:.2} CPUs beside the free loads", foreign(told));
        by_load(told, is_right)
    })
}

#[test]
fn what_was_made_to_hold_a_load_down_is_named() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root may make the named namespaces and control groups");
        return;
    }
    let place = Place::new();
    let mut cases = capped(&place);
    cases.extend(held(&place, ("server_quota", "transmit"), LimitKind::ServerQuota));
    cases.extend(held(&place, ("client_quota", "receive"), LimitKind::ClientQuota));
    cases.extend(crowded(&place));
    let induced = right(&cases);
    println!("{induced} of {MADE} causes named, {} of them measured", measured(&cases));
    let free = free(&place);
    let free_right = right(&free);
    println!("{free_right} of {FREE} free loads without one, {} measured", measured(&free));
    assert!(induced >= NAMED_LEAST, "{induced} of {MADE} causes were measured and named");
    assert_eq!(free_right, FREE, "a free load was not measured or was said to be held down");
}
