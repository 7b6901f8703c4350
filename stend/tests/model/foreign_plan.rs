//! Knows what a plan in a stranger's record can ask for, and asks whether anything is built for it:
//! by import, and by resume of a store that an import without checks has filled.
#![expect(clippy::expect_used, reason = "helpers of tests stand outside test functions")]

use desk::record::{Completeness, LabKind, Run};
use rig::store::Store;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

const SMALL: &str = "title = \"Small\"\nquestion = \"Is it safe?\"\n[factors.tso]\n\
    levels = [\"off\", \"on\"]\n[load.stream]\nworkload = \"tcp_stream\"\n\
    over = { request_size = \"64..1024 B *4\" }\n[method]\nblocks = 5\n";

struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("stend-door-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("a directory");
        fs::write(path.join("small.toml"), SMALL).expect("a plan");
        Self(path)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stend"));
        command.args(words).current_dir(&self.0).env("HOME", &self.0);
        command.env("STEND_JOURNAL", self.0.join("journal")).stdin(Stdio::null());
        command
    }

    fn stend(&self, words: &[&str]) -> Output {
        self.command(words).output().expect("it starts")
    }

    fn good(&self, words: &[&str]) {
        let output = self.stend(words);
        assert_eq!(output.status.code(), Some(0), "{words:?}: {}", error(&output));
    }

    /// The same, and how many processes it started: hosts of a lab, its guardian.
    fn watched(&self, words: &[&str]) -> (Output, usize) {
        let mut command = self.command(words);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        // No program that asks drives: it would be counted too.
        command.env("PATH", "/nonexistent");
        let mut child = command.spawn().expect("it starts");
        let process = child.id();
        let mut started = std::collections::BTreeSet::new();
        while child.try_wait().expect("a child").is_none() {
            started.extend(children(process));
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        (child.wait_with_output().expect("its output"), started.len())
    }

    /// Leaves each run of a file before its end, and resumes it: its plan is held to all rules.
    fn resumes(&self, records: &std::path::Path, number: usize) {
        let text: Value =
            serde_json::from_slice(&fs::read(records).expect("records")).expect("JSON");
        let parts: Vec<Value> = match text {
            Value::Array(parts) => parts.into_iter().map(|part| part["run"].clone()).collect(),
            run => vec![run],
        };
        for (part, run) in parts.into_iter().enumerate() {
            let mut run: Run = serde_json::from_value(run).expect("a run");
            // A simulated lab without links counts no adapters, and its first run one.
            if run.plan.lab.clients == 0 && number == 4 {
                continue;
            }
            run.records.truncate(run.records.len() - 2);
            run.completeness = Completeness::Partial { why: "left".into() };
            let file = format!("left{number}-{part}.stend");
            Store::open(&self.0.join(&file)).expect("a store").add(&[&run]).expect("a run");
            let resumed = self.stend(&["resume", "last", "--store", &file, "--out", "again"]);
            let code = resumed.status.code();
            assert!(matches!(code, Some(0 | 7)), "{}: {}", run.plan.title, error(&resumed));
        }
    }

    /// A run of a simulated lab that was left before its end and says that it is one of root.
    fn left(&self) -> Value {
        self.good(&["run", "small.toml", "--lab", "sim", "--out", "o", "--store", "a.stend"]);
        let text = fs::read(self.0.join("o/records.json")).expect("records");
        let mut run: Run = serde_json::from_slice(&text).expect("a run");
        run.records.truncate(4);
        run.completeness = Completeness::Partial { why: "left".into() };
        run.environment_mut().lab = Some((LabKind::RootNamespaces, String::new()));
        serde_json::to_value(run).expect("JSON")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn children(process: u32) -> Vec<String> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let of = |thread: fs::DirEntry| fs::read_to_string(thread.path().join("children")).ok();
    let all: Vec<String> = threads.filter_map(of).collect();
    all.iter().flat_map(|text| text.split_whitespace()).map(str::to_owned).collect()
}

fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn factor(name: &str, levels: [Value; 2]) -> Value {
    factor_of(name, name, levels)
}

fn factor_of(name: &str, key: &str, levels: [Value; 2]) -> Value {
    let level = |value: &Value| {
        let word = value.to_string();
        json!({ "name": word.trim_matches('"'), "settings": { key: value } })
    };
    json!([{ "name": name, "levels": levels.iter().map(level).collect::<Vec<_>>() }])
}

/// The same of a factor that a person sets.
fn by_hand(name: &str, levels: [Value; 2]) -> Value {
    let mut factors = factor(name, levels);
    factors[0]["manual"] = json!(true);
    factors
}

fn share(value: f64) -> Value {
    json!({ "value": value, "unit": "share" })
}

/// What is changed, where in the plan, to what, and the words of the refusal.
fn hostile() -> [(&'static str, &'static str, Value, [&'static str; 2]); 16] {
    let seconds = |value: f64| json!({ "value": value, "unit": "s" });
    let streams: Vec<u64> = (1..=40).collect();
    let sizes = [json!({ "value": -64.0, "unit": "B" }), json!({ "value": 64.0, "unit": "B" })];
    [
        ("300 clients", "/lab/clients", json!(300), ["clients", "300"]),
        (
            "netdev_budget = 0",
            "/factors",
            factor("netdev_budget", [json!(300), json!(0)]),
            ["netdev_budget", "'0'"],
        ),
        ("20,000 streams", "/loads/0/fixed/streams", json!(20_000), ["streams", "20000"]),
        ("roles of its own", "/loads/0/roles", json!({}), ["roles = {}", "workload"]),
        ("negative size", "/loads/0/over", json!([["request_size", sizes]]), ["size", "-64"]),
        ("negative window", "/method/window", seconds(-1.0), ["window", "-1 s"]),
        ("window 1e300", "/method/window", seconds(1e300), ["window", "1 h or less"]),
        (
            "unknown factor",
            "/factors",
            factor("warp", [json!("1"), json!("2")]),
            ["factor", "warp"],
        ),
        (
            "a level of a person that is a parameter",
            "/factors",
            by_hand("engine", [json!("sys"), json!("miner")]),
            ["engine", "miner"],
        ),
        (
            "an unknown setting under the name of throttled resources",
            "/factors",
            factor_of("throttled", "warp", [json!("1"), json!("2")]),
            ["factor", "warp"],
        ),
        (
            "more than all of a resource",
            "/factors",
            factor_of("throttled", "cpu_speed", [share(1.0), share(7.0)]),
            ["cpu_speed", "700 %"],
        ),
        ("unknown workload", "/loads/0/workload", json!("miner"), ["workload", "miner"]),
        ("too many trials", "/loads/0/over/1", json!(["streams", streams]), ["trials", "0000"]),
        (
            "level out of bounds",
            "/factors/0/levels/1/settings/tso",
            json!("perhaps"),
            ["tso", "perhaps"],
        ),
        ("a link of the machine", "/lab/links/0/name", json!("../eth0"), ["link", "../eth0"]),
        (
            "identity that may differ",
            "/reclass",
            json!({ "plan.lab.clients": "info" }),
            ["plan.lab.clients", "must match"],
        ),
    ]
}

fn changed(run: &Value, at: &str, to: &Value) -> Value {
    let mut run = run.clone();
    let plan = &mut run["plan"];
    if at == "/loads/0/over/1" {
        plan["method"]["blocks"] = json!(1000);
        let load = plan["loads"][0].as_object_mut().expect("a load");
        load["fixed"].as_object_mut().expect("settings").remove("streams");
        load["over"].as_array_mut().expect("sweeps").push(to.clone());
        return run;
    }
    *plan.pointer_mut(at).expect("a place in the plan") = to.clone();
    if at == "/factors" {
        plan["method"]["compare"] = to[0]["name"].clone();
    }
    run
}

#[test]
fn what_no_file_could_ask_for_is_not_imported() {
    let place = Place::new("import");
    let run = place.left();
    for (what, at, to, words) in hostile() {
        let bytes = serde_json::to_vec(&changed(&run, at, &to)).expect("JSON");
        fs::write(place.0.join("hostile.json"), bytes).expect("a file");
        let words_of = ["import", "hostile.json", "--store", "hostile.stend"];
        let (output, started) = place.watched(&words_of);
        let error = error(&output);
        assert_eq!((output.status.code(), started), (Some(2), 0), "{what}: {error}");
        assert!(words.iter().all(|word| error.contains(word)), "{what}: {error}");
        assert!(!error.contains("line "), "a line of no file: {error}");
        assert!(!place.0.join("hostile.stend").exists(), "{what}: a store was made");
    }
}

#[test]
fn what_no_file_could_ask_for_is_not_gone_on_with() {
    let place = Place::new("resume");
    let run = place.left();
    for (number, (what, at, to, words)) in hostile().into_iter().enumerate() {
        let file = format!("{number}.stend");
        let run: Run = serde_json::from_value(changed(&run, at, &to)).expect("a run");
        let mut store = Store::open(&place.0.join(&file)).expect("a store");
        store.add(&[&run]).expect("a run");
        drop(store);
        let (output, started) = place.watched(&["resume", "last", "--store", &file, "--out", "x"]);
        let error = error(&output);
        assert_eq!((output.status.code(), started), (Some(2), 0), "{what}: {error}");
        assert!(words.iter().all(|word| error.contains(word)), "{what}: {error}");
        assert!(!place.0.join("x").exists(), "{what}");
        let journal = fs::read_dir(place.0.join("journal")).map_or(0, Iterator::count);
        assert_eq!(journal, 0, "{what}: a journal was written");
    }
}

#[test]
fn another_machine_is_refused_before_a_lab_is_built() {
    let place = Place::new("machine");
    let run: Run = serde_json::from_value(place.left()).expect("a run");
    let mut store = Store::open(&place.0.join("b.stend")).expect("a store");
    store.add(&[&run]).expect("a run");
    drop(store);
    let (output, started) = place.watched(&["resume", "--store", "b.stend", "--out", "x"]);
    assert_eq!((output.status.code(), started), (Some(5), 0), "{}", error(&output));
    assert!(error(&output).contains("cannot go on"), "{}", error(&output));
}

#[test]
fn what_a_run_makes_of_a_plan_itself_comes_back() {
    let place = Place::new("own");
    let runs = [
        &["run", "round-up", "--quick"][..],
        &["run", "one-server", "--quick", "--displaced-work"],
        &["aa", "nic-duel", "--quick"],
        &["elasticity", "nic-duel", "--quick"],
        &[],
    ];
    for (number, words) in runs.into_iter().enumerate() {
        let out = format!("o{number}");
        let lab = ["--lab", "sim", "--store", "own.stend", "--out", &out];
        let made = place.stend(&[words, &lab[..]].concat());
        assert!(matches!(made.status.code(), Some(0 | 1 | 7)), "{words:?}: {}", error(&made));
        let file = format!("{out}/report.html");
        place.good(&["import", &file, "--store", &format!("{number}.stend")]);
        place.resumes(&place.0.join(out).join("records.json"), number);
    }
}
