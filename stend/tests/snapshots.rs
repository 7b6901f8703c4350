//! Knows what plans unfold to and what stend says to mistakes, as snapshots in `snapshots/`.
//!
//! A snapshot that differs is a change that somebody sees: look at it, and if it is wanted, take it
//! with `INSTA_UPDATE=always cargo test -p stend --test snapshots`. Nothing here depends on the
//! machine.

use desk::plan::{Catalogue, expand, read};
use desk::record::{Fault, Plan, Settings, WorkloadSpec};
use desk::unit::{Quantity, Unit};
use rig::factor;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

fn parse(text: &str) -> Result<Plan, String> {
    let workloads: Vec<&WorkloadSpec> = loads::ALL.iter().map(|entry| entry.spec).collect();
    read(text, &Catalogue { workloads: &workloads, factors: factor::ALL })
        .map_err(|e| e.to_string())
}

fn words(settings: &Settings) -> String {
    let words: Vec<String> = settings.iter().map(|(key, value)| format!("{key} {value}")).collect();
    words.join(", ")
}

/// What is measured under what, and how often.
fn unfolded(plan: &Plan) -> String {
    let (points, treatments) = expand(plan);
    let mut text = format!("{}\n{}\n", plan.title, plan.question);
    let links = plan.lab.links.iter().map(|link| link.name.as_str());
    let links: Vec<&str> = links.collect();
    let _ = writeln!(text, "lab: {} clients, links {}", plan.lab.clients, links.join(", "));
    let m = &plan.method;
    let _ = writeln!(text, "method: {} blocks, looks {:?}, margin {}", m.blocks, m.looks, m.margin);
    let _ = writeln!(text, "compares: {}, by {}", m.compare, m.primary);
    for (treatment, settings) in &treatments {
        let _ = writeln!(text, "treatment {:?}: {}", treatment.levels, words(settings));
    }
    for point in &points {
        let _ = writeln!(text, "{} {}: {}", point.load, point.workload, words(&point.params));
    }
    text
}

#[test]
fn built_in_plans_unfold_to_these_points_and_treatments() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plans");
    let mut files = Vec::new();
    for folder in [root.clone(), root.join("survey")] {
        let entries = fs::read_dir(folder).expect("plans").flatten().map(|entry| entry.path());
        files.extend(entries.filter(|path| path.extension().is_some_and(|end| end == "toml")));
    }
    files.sort();
    assert!(files.len() >= 19, "14 plans and 5 of the survey, found {files:?}");
    for file in files {
        let name = file.strip_prefix(&root).expect("below").with_extension("");
        let name = name.display().to_string().replace('/', "_");
        let plan = parse(&fs::read_to_string(&file).expect("a plan")).expect("a right plan");
        insta::assert_snapshot!(format!("plan_{name}"), unfolded(&plan));
    }
}

/// A plan in which one thing is spoilt at a time.
const RIGHT: &str = "title = \"t\"\n[lab]\nclients = 2\n[factors.tso]\n\
    levels = [\"off\", \"on\"]\n[load.it]\nworkload = \"tcp_stream\"\n\
    over = { request_size = \"1K..4K *2\" }\n[method]\nblocks = 5\n";

const SPOILT: [(&str, &str); 22] = [
    ("title = \"t\"", ""),
    ("title = \"t\"", "titel = \"t\""),
    ("clients = 2", "clients = 0"),
    ("clients = 2", "clients = \"two\""),
    ("clients = 2", "clients = 2\nclients = 3"),
    ("[factors.tso]", "[factors.tsp]"),
    ("[\"off\", \"on\"]", "[\"off\"]"),
    ("[\"off\", \"on\"]", "[\"off\", \"maybe\"]"),
    ("[\"off\", \"on\"]", "[\"off\", \"off\"]"),
    ("\"tcp_stream\"", "\"tcp_steam\""),
    ("request_size", "request_syze"),
    ("1K..4K *2", "1K..4K"),
    ("1K..4K *2", "4K..1K *2"),
    ("1K..4K *2", "1 B..1 MiB +1 B"),
    ("1K..4K *2", "1 s"),
    ("blocks = 5", "blocks = 0"),
    ("blocks = 5", "blocks = 100001"),
    ("blocks = 5", "blocks = 5\nmargin = 2"),
    ("blocks = 5", "blocks = 5\nwindow = \"300\""),
    ("blocks = 5", "blocks = 5\nprimary = \"speed\""),
    ("[method]", "[methods]"),
    ("[method]", "[method"),
];

#[test]
fn a_plan_with_a_mistake_is_refused_in_these_words() {
    assert!(parse(RIGHT).is_ok());
    let mut text = String::new();
    for (from, to) in SPOILT {
        assert!(RIGHT.contains(from), "{from}");
        let refusal = parse(&RIGHT.replace(from, to)).expect_err(to);
        let _ = writeln!(text, "{from:?} -> {to:?}\n    {refusal}");
    }
    insta::assert_snapshot!(text);
}

#[test]
fn faults_are_kept_and_said_in_these_words() {
    let what = || "13 and not 14".to_owned();
    let host = || "c01".into();
    let faults = [
        Fault::DeadHost { host: host() },
        Fault::Frozen { host: host() },
        Fault::WrongWork { what: what() },
        Fault::DeadStream { stream: "c01.0 transmit".into() },
        Fault::Factor { what: what() },
        Fault::Failed { host: host(), what: what() },
        Fault::Disturbed { host: host(), what: what() },
        Fault::Steal { share: Quantity::new(0.02, Unit::Share) },
        Fault::Throttled { host: host(), what: what() },
        Fault::LinkFlap { host: host(), what: what() },
        Fault::GeneratorLimit { host: host(), what: what() },
        Fault::NotSteady { what: what() },
        Fault::NotAvailable { what: what() },
        Fault::Cancelled,
    ];
    let mut text = String::new();
    for fault in faults {
        let json = serde_json::to_string(&fault).expect("JSON");
        let _ = writeln!(text, "{json}\n    {fault}");
    }
    insta::assert_snapshot!(text);
}

#[test]
fn a_wrong_command_line_ends_in_these_words_and_with_this_status() {
    let place = std::env::temp_dir().join(format!("stend-snapshots-{}", std::process::id()));
    fs::create_dir_all(&place).expect("a folder");
    fs::write(place.join("broken.toml"), "title = 1\n").expect("a plan");
    fs::write(place.join("text.stend"), "no store\n").expect("a file");
    let lines: [&[&str]; 12] = [
        &["run", "no-such-plan"],
        &["run", "broken.toml"],
        &["run", "aa", "--lab", "moon"],
        &["run", "aa", "--lab", "sim", "--physics", "none.toml"],
        &["plan", "nic-dual"],
        &["report", "--store", "none.stend", "last"],
        &["list", "--store", "text.stend"],
        &["resume", "--store", "none.stend"],
        &["compare", "a", "b", "--store", "none.stend"],
        &["explain", "tcp_steam"],
        &["export", "last", "--store", "none.stend"],
        &["frobnicate"],
    ];
    let mut text = String::new();
    for words in lines {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stend"));
        command.args(words).current_dir(&place).env_clear().env("HOME", &place);
        let output =
            command.env("STEND_JOURNAL", place.join("journal")).output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.replace(&place.display().to_string(), "HERE");
        let status = output.status.code().map_or("killed".into(), |code| code.to_string());
        let _ = writeln!(text, "stend {}\n  status {status}\n{said}", words.join(" "));
    }
    fs::remove_dir_all(&place).expect("it goes");
    insta::assert_snapshot!(text);
}
