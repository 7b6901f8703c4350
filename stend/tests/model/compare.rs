//! Knows `stend compare` as a person uses it, over records whose keys are edited.
#![expect(clippy::expect_used, reason = "helpers of tests stand outside test functions")]

use desk::plan::{Catalogue, order, read};
use desk::record::{
    Adapter, Completeness, Environment, Fact, LabKind, Outcome, RUN_SCHEMA, Run, Sample, Settings,
    Trial, TrialRecord, WorkloadSpec, class_of,
};
use desk::unit::{Quantity, Unit};
use rig::factor;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

const PLAN: &str = "title = \"Offload\"\nquestion = \"Is it worth it?\"\n[factors.tso]\n\
    levels = [\"off\", \"on\"]\n[load.stream]\nworkload = \"tcp_stream\"\n\
    over = { request_size = \"64..1024 B *4\" }\n[method]\nblocks = 5\n";

/// A directory of a test, removed afterwards.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let name = format!("stend-compare-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }

    /// Writes both runs and compares them.
    fn compare(&self, a: &Run, b: &Run, words: &[&str]) -> Output {
        self.sessions(std::slice::from_ref(a), std::slice::from_ref(b), words)
    }

    /// Writes the sessions of both sides and compares them.
    fn sessions(&self, a: &[Run], b: &[Run], words: &[&str]) -> Output {
        let side = |name: &str, runs: &[Run]| {
            let write = |(at, run): (usize, &Run)| {
                let name = format!("{name}{at}.json");
                let text = serde_json::to_string(run).expect("JSON");
                fs::write(self.0.join(&name), text).expect("a file");
                name
            };
            runs.iter().enumerate().map(write).collect::<Vec<_>>().join(",")
        };
        let (a, b) = (side("a", a), side("b", b));
        let words = [&["compare", a.as_str(), b.as_str(), "--out", "out"], words].concat();
        self.stend(&words)
    }

    fn stend(&self, words: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stend"));
        command.args(words).current_dir(&self.0).output().expect("it starts")
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join("out").join(name)).expect(name)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).replace('\u{a0}', " ")
}

fn fact(key: &str, value: &str) -> Fact {
    Fact { key: key.into(), value: value.into(), class: class_of(key), source: String::new() }
}

fn environment() -> Environment {
    Environment {
        memory: Some(Quantity::bytes(1 << 34)),
        adapters: vec![Adapter { name: "eth0".into(), mtu: 1500, ..Adapter::default() }],
        facts: vec![fact("kernel.release", "6.18.3"), fact("lib.libc", "glibc 2.36")],
        lab: Some((LabKind::RootNamespaces, String::new())),
        ..Environment::default()
    }
}

/// A trial with a figure of its own, about a thousandth off from those of other blocks.
fn record(trial: Trial, scale: f64) -> TrialRecord {
    let wobble = 1.0 + 0.001 * (f64::from(trial.id) * 1.7 + 100.0 * scale).sin();
    let quantity = Quantity::new(1e9 * scale * wobble, Unit::BitPerSecond);
    let samples = vec![Sample { metric: "throughput".into(), quantity }];
    TrialRecord {
        trial,
        observed: Settings::new(),
        outcome: Outcome { samples, steady: true, ..Outcome::default() },
        readings: Vec::new(),
        tracks: Vec::new(),
        started_s: 0.0,
        attempt: 1,
    }
}

/// A run of the plan whose figures are all about `scale` Gbit/s.
fn run(id: &str, plan: &str, scale: f64) -> Run {
    let specs: Vec<&WorkloadSpec> = loads::ALL.iter().map(|entry| entry.spec).collect();
    let catalogue = Catalogue { workloads: &specs, factors: factor::ALL };
    let plan = read(plan, &catalogue).expect("a plan");
    let spec = loads::find(&plan.loads[0].workload).expect("a workload").spec;
    Run {
        schema: RUN_SCHEMA,
        id: id.into(),
        started: "2026-11-21T00:15:01Z".into(),
        version: "0.1.0".into(),
        command: String::new(),
        records: order(&plan).into_iter().map(|trial| record(trial, scale)).collect(),
        plan,
        plan_text: String::new(),
        metrics: spec.described().collect(),
        workloads: [(spec.name.to_owned(), spec.revision)].into(),
        environments: Run::of_local(environment()),
        completeness: Completeness::Complete,
        sittings: Vec::new(),
        digits: None,
    }
}

/// The second run, twice as fast, with a fact changed.
fn other(key: &str, value: &str) -> Run {
    let mut other = run("later", PLAN, 2.0);
    other.environment_mut().facts.retain(|f| f.key != key);
    other.environment_mut().facts.push(fact(key, value));
    other
}

fn first() -> Run {
    run("earlier", PLAN, 1.0)
}

#[test]
fn a_minor_kernel_an_mtu_or_a_library_refuses_by_name_and_writes_nothing() {
    let mut jumbo = run("later", PLAN, 2.0);
    jumbo.environment_mut().adapters[0].mtu = 9000;
    for (name, other, key, values) in [
        ("kernel", other("kernel.release", "6.19.0"), "kernel.release", ["6.18.3", "6.19.0"]),
        ("library", other("lib.libc", "glibc 2.41"), "lib.libc", ["glibc 2.36", "glibc 2.41"]),
        ("mtu", jumbo, "adapter.0.mtu", ["1500 B", "9000 B"]),
    ] {
        let place = Place::new(name);
        let output = place.compare(&first(), &other, &[]);
        let text = stdout(&output);
        assert_eq!(output.status.code(), Some(3), "{text}");
        assert!(!place.0.join("out").exists());
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(&format!("{key} {} {} critical", values[0], values[1])), "{text}");
        for part in ["No verdict", "What would make them comparable", "--force", "[environment]"] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(!text.contains("better") && !text.contains("Welch"), "{text}");
        let output = place.compare(&first(), &other, &["--json"]);
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!((output.status.code(), &document["comparable"]), (Some(3), &false.into()));
        let confounders = &document["comparison"]["comparability"]["confounders"];
        assert_eq!(confounders[0]["key"], key);
        assert_eq!(confounders.as_array().map(Vec::len), Some(1));
    }
}

/// Sessions of a run, a few thousandths apart.
fn repeated(run: &Run, many: u32) -> Vec<Run> {
    let session = |at: u32| {
        let mut run = Run { id: format!("{}-{at}", run.id), ..run.clone() };
        for sample in run.records.iter_mut().flat_map(|r| &mut r.outcome.samples) {
            let by = 1.0 + 0.003 * f64::from(at % 3);
            sample.quantity = Quantity::new(sample.quantity.value * by, sample.quantity.unit);
        }
        run
    };
    (0..many).map(session).collect()
}

#[test]
fn one_session_a_side_is_undecided_in_every_medium_and_says_what_is_lacking() {
    let place = Place::new("one");
    let output = place.compare(&first(), &run("later", PLAN, 1.1), &[]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    let json = place.read("comparison.json");
    let found: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let comparison = &found["comparison"]["comparisons"][0];
    assert_eq!(comparison["verdict"]["verdict"], "undecided");
    let points = comparison["points"].as_array().expect("points");
    assert!(points.iter().all(|point| point["verdict"]["verdict"] == "undecided"));
    let sessions = &found["comparison"]["sessions"];
    assert_eq!((&sessions["a"][0], &sessions["b"][0]), (&"earlier".into(), &"later".into()));
    assert_eq!(sessions["least"], 5);
    assert_eq!(sessions["spreads"][0]["source"], "prior");
    let (html, md) = (place.read("report.html"), place.read("report.md"));
    for (medium, said) in [("terminal", text), ("html", html), ("md", md), ("json", json)] {
        let said = said.replace('\u{a0}', " ").replace("\\u{a0}", " ").replace("\n>", "");
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in [
            "Unpaired, 1 session of A and 1 of B: Undecided",
            "1 session of A and 1 of B. A verdict takes 5 sessions a side.",
            "More sessions are needed, not more blocks.",
            "No session was repeated: the standard deviation between sessions is assumed to be",
            "sessions a side would decide this difference at this spread.",
        ] {
            assert!(said.contains(part), "{part} in {medium}: {said}");
        }
        assert!(!said.contains("is better than"), "{medium}");
    }
}

#[test]
fn a_run_named_twice_and_a_stranger_on_a_side_are_wrong_usage() {
    let place = Place::new("sides");
    let all = repeated(&first(), 2);
    for (a, b) in [(&all[..], &all[..1]), (&[all[0].clone(), all[0].clone()], &all[1..])] {
        let output = place.sessions(a, b, &[]);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains("run earlier-0 is named twice"), "{text}");
    }
    let stranger = other("kernel.release", "6.19.0");
    let output = place.sessions(&[all[0].clone(), stranger], &all[1..], &[]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("run later is no further session of earlier-0"), "{text}");
    assert!(text.contains("kernel.release"), "{text}");
    // A comma with nothing before it names no run.
    let output = place.stend(&["compare", ",", "a0.json"]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("a side of the comparison has no run"), "{text}");
}

#[test]
fn a_patch_release_is_warned_of_and_compared() {
    let place = Place::new("patch");
    let later = other("kernel.release", "6.18.5");
    let output = place.sessions(&repeated(&first(), 5), &repeated(&later, 5), &[]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("a warning") && flat.contains("kernel.release 6.18.3 6.18.5"), "{text}");
    assert!(
        flat.contains("Unpaired, 5 sessions of A and 5 of B: B is better than A: throughput"),
        "{text}"
    );
    // No sentence tells a verdict without saying so first.
    for verdict in flat.match_indices("B is better than A") {
        let said = flat[..verdict.0].replace("> ", "");
        assert!(said.ends_with("Unpaired, 5 sessions of A and 5 of B: "), "{said}");
    }
    assert!(!flat.contains("NOT COMPARABLE"));
    let html = place.read("report.html");
    assert!(html.contains("<svg") && !html.contains("class=\"watermark\""));
    let json: serde_json::Value =
        serde_json::from_str(&place.read("comparison.json")).expect("JSON");
    assert!(json["watermark"].is_null());
    assert_eq!(json["comparison"]["comparisons"][0]["verdict"]["verdict"], "better");
    assert_eq!(json["comparison"]["comparisons"][0]["points"].as_array().map(Vec::len), Some(3));
}

#[test]
fn a_plan_may_reclass_a_key_and_the_reports_say_so() {
    let place = Place::new("reclass");
    let plan = format!("{PLAN}[environment]\n\"kernel.release\" = \"info\"\nkernal = \"info\"\n");
    let mut later = run("later", &plan, 2.0);
    later.environment_mut().facts[0] = fact("kernel.release", "6.19.0");
    let output = place.compare(&first(), &later, &[]);
    assert_eq!(output.status.code(), Some(0));
    let flat = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("The plan treats kernel.release as info, not as critical"), "{flat}");
    assert!(flat.contains("kernal as info; no such key is known"), "{flat}");
}

#[test]
fn force_shows_figures_under_a_mark_in_every_medium_and_no_verdict() {
    let place = Place::new("force");
    let other = other("kernel.release", "6.19.0");
    let output = place.compare(&first(), &other, &["--force"]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    let mark = "NOT COMPARABLE: kernel.release";
    assert_eq!(text.lines().next(), Some(mark));
    assert_eq!(place.read("report.txt").lines().next(), Some(mark));
    assert!(text.contains("2.00×") && text.contains("no verdict"), "{text}");
    assert!(!text.contains("better than") && !text.contains("▲ better"), "{text}");
    let html = place.read("report.html");
    assert!(html.contains("<body class=\"marked\">"), "a background");
    assert!(html.contains(&format!("<header class=\"watermark\">{mark}</header>")), "a banner");
    let json: serde_json::Value =
        serde_json::from_str(&place.read("comparison.json")).expect("JSON");
    assert_eq!((&json["watermark"], &json["comparable"]), (&mark.into(), &false.into()));
    assert_eq!(json["comparison"]["comparisons"][0]["verdict"]["verdict"], "undecided");
    let output = place.compare(&first(), &other, &["--force", "--json"]);
    let shown: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(shown["watermark"], mark);
}

#[test]
fn another_plan_is_refused_with_what_differs() {
    let place = Place::new("plan");
    let other = run("later", &PLAN.replace("64..1024", "64..4096"), 2.0);
    let output = place.compare(&first(), &other, &[]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(3), "{text}");
    for part in ["plan.load.stream.over.request_size", "identity", "the same plan"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn a_run_that_is_not_there_and_a_metric_that_is_not_known_are_wrong_usage() {
    let place = Place::new("usage");
    let output = place.compare(&first(), &run("later", PLAN, 1.0), &["--metric", "latency"]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("'latency'") && text.contains("throughput"), "{text}");
    let output = Command::new(env!("CARGO_BIN_EXE_stend"))
        .args(["compare", "nowhere", "b0.json"])
        .current_dir(&place.0)
        .env("XDG_STATE_HOME", &place.0)
        .output()
        .expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no store is at"));
    fs::write(place.0.join("bad.json"), "[]").expect("a file");
    let output = Command::new(env!("CARGO_BIN_EXE_stend"))
        .args(["compare", "bad.json", "b0.json"])
        .current_dir(&place.0)
        .output()
        .expect("it starts");
    assert_eq!(output.status.code(), Some(2));
}
