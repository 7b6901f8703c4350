//! Knows simulated runs, twelve of before the record was re-cut: what was measured and what was
//! concluded then is found now, to nine digits.
//!
//! `STEND_FREEZE=1 cargo test -p stend --test model frozen` writes the files anew; a change of them
//! needs its reason in the commit.

#![expect(clippy::expect_used, reason = "helpers of tests stand outside test functions")]

#[allow(dead_code, reason = "each test takes what it needs of it")]
use super::simulated;

use desk::record::{Run, TrialKind};
use desk::verdict::{Analysis, analyse};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Largest relative difference of a figure.
const TOLERANCE: f64 = 1e-9;

/// Most values of a swept parameter: the files are kept small.
const MOST: usize = 2;

/// Figures that are kept, by the end of their path.
const KEPT: [&str; 5] = ["at", "kind", "value", "verdict", "what"];

/// Name, plan, blocks, physics.
type Case = (&'static str, String, u32, &'static str);

const QUIET: &str = "seed = 5\n[noise]\nsd = \"1 %\"\ncpu = \"1 %\"\n";
const FAULTY: &str = "seed = 7\n[drift]\nshare = \"8 %\"\n[noise]\n\
    outliers = { share = \"5 %\", size = \"20 %\" }\nlaunch = { sd = \"2 %\", every = 10 }\n\
    [[faults]]\nkind = \"steal_burst\"\nshare = \"6 %\"\n\
    [[faults]]\nkind = \"link_flap\"\nshare = \"4 %\"\n\
    [[faults]]\nkind = \"wrong_bytes\"\nshare = \"2 %\"\n";
const ENDS: &str = "seed = 11\n[machine]\ncores = 8\n[link]\nline_rate = \"10 Gbit/s\"\n\
    [clients]\nmachine = \"own\"\nrate = \"6 Gbit/s\"\n[probes]\nceilings = true\nsoftirq = true\n";
const UNEVEN: &str = "seed = 13\n[noise]\nsd = \"2 %\"\n\
    dips = { share = \"15 %\", size = \"40 %\", spread = 0.3 }\n";

const METHOD: &str = "[method]\nseed = 3\nsettle = \"0.3 s\"\nsettle_max = \"1 s\"\n\
                      window = \"0.8 s\"\n";

/// A plan of the checkout, short enough for a test.
fn kept(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plans");
    fs::read_to_string(root.join(name)).expect("a plan of the checkout")
}

/// Where a load of a plan begins and ends.
fn load(text: &str, name: &str) -> (usize, usize) {
    let begin = text.find(&format!("[load.{name}]")).expect("the load");
    let end = text[begin..].find("\n\n").expect("lines behind it");
    (begin, begin + end)
}

/// A plan without a load that it was given after its run was frozen.
fn without(text: &str, name: &str) -> String {
    let (begin, end) = load(text, name);
    [&text[..begin], &text[end..]].concat()
}

/// A plan with this load alone.
fn only(text: &str, name: &str) -> String {
    let (begin, end) = load(text, name);
    let loads = text.find("[load.").expect("a load");
    let method = text.find("[method]").expect("a method");
    [&text[..loads], &text[begin..end], "\n", &text[method..]].concat()
}

fn written(lab: &str, factors: &str, loads: &str, method: &str) -> String {
    format!("title = \"frozen\"\n[lab]\n{lab}\n{factors}\n{loads}\n{METHOD}{method}\n")
}

/// Streams of a plan that crosses two factors and has a curve of sizes.
const CROSSED: &str = "[load.it]\nworkload = \"tcp_stream\"\n\
    over = { direction = [\"transmit\", \"duplex\"], request_size = \"1K..64K *8\" }\n";
const ONE: &str = "[load.it]\nworkload = \"tcp_stream\"\n";
const TSO: &str = "[factors.tso]\nlevels = [\"off\", \"on\"]\n";

fn cases() -> Vec<Case> {
    let four = "clients = 4\n";
    let rate = "[factors.rate]\nlevels = [\"2 Gbit/s\", \"20 Gbit/s\"]\n";
    let boots = "[factors.bios]\nkey = \"profile\"\nreboot = true\n\
                 levels = { old = {}, new = {} }\n";
    let paced = "[load.full]\nworkload = \"tcp_stream\"\n[load.paced]\nworkload = \"tcp_stream\"\n\
                 offered_load = \"4 Gbit/s\"\n";
    // Without its web server, and what is there for it alone.
    let alone = kept("one-server.toml").replacen("[lab]\nclients = 1\n", "", 1);
    let alone = without(&without(&alone, "web_small"), "web_large");
    let alone = alone.replacen("curve = \"concurrency\"\n", "", 1);
    let times = |settle: &str, most: &str, window: &str| {
        format!("settle = \"{settle}\"\nsettle_max = \"{most}\"\nwindow = \"{window}\"\n")
    };
    let [now, then] = [times("50 ms", "300 ms", "300 ms"), times("20 ms", "20 ms", "100 ms")];
    assert!(alone.contains(&now), "the times of one-server");
    let alone = alone.replacen(&now, &then, 1);
    vec![
        ("adapters", kept("nic-duel.toml"), 5, QUIET),
        ("offloads", kept("offloads.toml"), 8, ENDS),
        ("congestion", kept("short-path.toml"), 10, UNEVEN),
        ("same", kept("aa.toml"), 10, QUIET),
        ("set-ups", kept("round-up.toml"), 8, QUIET),
        ("memory", kept("snoop-filter.toml"), 5, QUIET),
        ("server", without(&alone, "disk"), 5, QUIET),
        ("faults", written(four, TSO, CROSSED, "displaced_work = true"), 6, FAULTY),
        ("crossed", written(four, &format!("{TSO}{rate}"), CROSSED, ""), 5, ENDS),
        ("paced", written(four, TSO, paced, "displaced_work = true"), 12, UNEVEN),
        ("boots", written(four, boots, ONE, "boots = 6"), 3, QUIET),
        ("alone", written(four, "", CROSSED, ""), 6, ENDS),
        ("disk", only(&alone, "disk"), 5, QUIET),
    ]
}

fn run(case: &Case) -> Run {
    let (_, text, blocks, physics) = case;
    let mut plan = simulated::plan(text);
    plan.method.blocks = *blocks;
    plan.method.seed = 3;
    for (_, values) in plan.loads.iter_mut().flat_map(|load| &mut load.over) {
        values.truncate(MOST);
    }
    simulated::run(&plan, &simulated::physics(physics))
}

/// Every figure by its place: samples of counted trials, then what was concluded.
fn figures(run: &Run, analysis: &Analysis) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for record in run.records.iter().filter(|r| r.trial.kind == TrialKind::Counted) {
        let place = format!("trial {} {}", record.trial.id, record.attempt);
        for sample in &record.outcome.samples {
            let figure = Value::from(sample.quantity.value);
            found.insert(format!("{place} {}", sample.metric), figure);
        }
        if let Some(fault) = &record.outcome.fault {
            found.insert(format!("{place} fault"), Value::from(fault.to_string()));
        }
    }
    let concluded = serde_json::to_value(analysis).expect("an analysis");
    leaves("", &concluded, &mut found);
    found
}

/// A parameter that was a bare number when the runs were frozen, and now has its unit.
const HAS_A_UNIT: &str = "/pause/value";

/// Estimates and words of verdicts, by their path.
fn leaves(path: &str, value: &Value, found: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(fields) => {
            // The runs of a side are samples.
            for (name, inner) in fields.iter().filter(|(name, _)| !name.ends_with("_runs")) {
                leaves(&format!("{path}/{name}"), inner, found);
            }
        }
        Value::Array(items) => {
            for (number, inner) in items.iter().enumerate() {
                leaves(&format!("{path}/{number}"), inner, found);
            }
        }
        Value::Number(_) | Value::String(_)
            if path.rsplit('/').next().is_some_and(|end| KEPT.contains(&end)) =>
        {
            found.insert(path.into(), value.clone());
        }
        _ => {}
    }
}

fn same(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(a), Some(b)) => (a - b).abs() <= TOLERANCE * a.abs().max(b.abs()),
        _ => one == other,
    }
}

/// What was found, a line a figure.
fn lines(found: &BTreeMap<String, Value>) -> String {
    found.iter().fold(String::new(), |mut text, (place, figure)| {
        let _ = match figure.as_f64() {
            Some(number) => writeln!(text, "{place}\t{number:.10e}"),
            None => writeln!(text, "{place}\t{figure}"),
        };
        text
    })
}

fn parsed(text: &str) -> BTreeMap<String, Value> {
    let pair = |line: &str| {
        let (place, figure) = line.split_once('\t').expect("a place and a figure");
        (place.to_owned(), serde_json::from_str(figure).expect("a figure"))
    };
    text.lines().map(pair).collect()
}

#[test]
fn frozen_runs_give_what_they_gave() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/frozen");
    let freeze = std::env::var_os("STEND_FREEZE").is_some();
    let mut faults = Vec::new();
    for case in cases() {
        let run = run(&case);
        let found = figures(&run, &analyse(&run));
        let file = folder.join(format!("{}.txt", case.0));
        if freeze {
            fs::write(&file, lines(&found)).expect("a file");
        }
        let before = parsed(&fs::read_to_string(&file).expect("a frozen run"));
        for (place, figure) in &before {
            match found.get(place) {
                Some(now) if same(figure, now) => {}
                now => faults.push(format!("{}: {place}: {figure}, now {now:?}", case.0)),
            }
        }
        let new = |place: &&String| !before.contains_key(*place) && !place.ends_with(HAS_A_UNIT);
        for place in found.keys().filter(new) {
            faults.push(format!("{}: {place} is new", case.0));
        }
    }
    let first: Vec<_> = faults.iter().take(40).collect();
    assert!(faults.is_empty(), "{} differences: {first:#?}", faults.len());
}
