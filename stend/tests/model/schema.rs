//! Knows that what is published about plans and outputs is what the program reads and writes.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests stand outside test functions"
)]

use desk::plan::{Catalogue, read};
use desk::record::WorkloadSpec;
use jsonschema::Validator;
use rig::factor;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const KINDS: &[&str] = &[
    "plan",
    "run",
    "result",
    "survey",
    "report",
    "list",
    "compare",
    "gate",
    "elasticity",
    "doctor",
    #[cfg(feature = "machines")]
    "lab-doctor",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A directory of a test, removed afterwards.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("stend-schema-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }

    fn stend(&self, words: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stend"));
        command.args(words).current_dir(&self.0).env("XDG_STATE_HOME", &self.0);
        command.output().expect("it starts")
    }

    fn json(&self, words: &[&str]) -> Value {
        let output = self.stend(words);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| {
            panic!("{words:?}: {e}: {}", String::from_utf8_lossy(&output.stderr))
        })
    }

    fn file(&self, name: &str) -> Value {
        let text = fs::read_to_string(self.0.join(name)).expect(name);
        serde_json::from_str(&text).expect("JSON")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn published(kind: &str) -> Value {
    let path = root().join(format!("docs/schema/{kind}.schema.json"));
    serde_json::from_str(&fs::read_to_string(path).expect("it is published")).expect("JSON")
}

fn validator(kind: &str) -> Validator {
    jsonschema::validator_for(&published(kind)).expect("a schema")
}

fn assert_valid(kind: &str, value: &Value) {
    let validator = validator(kind);
    let errors: Vec<String> =
        validator.iter_errors(value).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{kind}: {:#?}", &errors[..errors.len().min(5)]);
}

#[test]
fn the_published_schemas_are_what_the_program_prints() {
    let place = Place::new("published");
    for kind in KINDS {
        let printed = place.json(&["schema", kind]);
        assert!(
            printed == published(kind),
            "docs/schema/{kind}.schema.json is old; write: stend schema {kind}"
        );
    }
}

#[test]
fn what_the_program_writes_is_what_its_schemas_say() {
    let place = Place::new("outputs");
    let sim = ["--lab", "sim", "--store", "x.stend", "--json"];
    let of = |words: &[&'static str]| [words, &sim].concat();
    for out in ["a", "b"] {
        let printed = place.json(&of(&["run", "nic-duel", "--quick", "--out", out]));
        assert_valid("result", &printed);
        assert_valid("run", &place.file(&format!("{out}/records.json")));
        let report = place.file(&format!("{out}/report.json"));
        assert_valid("report", &report);
        assert_eq!(report["article"], printed["article"]);
    }
    assert_valid("list", &place.json(&["list", "--store", "x.stend", "--json"]));
    let compared = place.json(&["compare", "a", "b", "--json", "--out", "c"]);
    assert_valid("compare", &compared);
    assert_eq!(compared, place.file("c/comparison.json"));
    assert_valid("gate", &place.json(&of(&["gate", "aa", "--quick", "--out", "g"])));
    assert_valid("gate", &place.json(&["gate", "--run", "last", "--store", "x.stend", "--json"]));
    assert_valid("survey", &place.json(&of(&["--out", "s"])));
    let against_itself = place.json(&of(&["aa", "short-path", "--quick", "--out", "aa"]));
    assert_valid("result", &against_itself);
    assert!(against_itself["noise"].is_object(), "what `aa` is for");
    let shares = place.json(&of(&["elasticity", "aa", "--quick", "--out", "e"]));
    assert_valid("elasticity", &shares);
    assert_valid("doctor", &place.json(&["doctor", "--no-noise", "--json"]));
    let broken = serde_json::json!({ "schema": 1, "article": { "title": 5 } });
    assert!(!validator("report").is_valid(&broken), "a schema that takes anything says nothing");
}

fn plans() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for folder in ["plans", "plans/survey"] {
        for entry in fs::read_dir(root().join(folder)).expect("plans") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|end| end == "toml") {
                found.push((path.clone(), fs::read_to_string(path).expect("a plan")));
            }
        }
    }
    found
}

fn as_json(plan: &str) -> Value {
    let table: toml::Table = plan.parse().expect("TOML");
    serde_json::to_value(table).expect("JSON")
}

fn reads(plan: &str) -> Result<(), String> {
    let workloads: Vec<&WorkloadSpec> = loads::ALL.iter().map(|entry| entry.spec).collect();
    let catalogue = Catalogue { workloads: &workloads, factors: factor::ALL };
    read(plan, &catalogue).map(|_| ()).map_err(|e| e.to_string())
}

#[test]
fn every_plan_that_comes_along_is_valid() {
    let plans = plans();
    assert!(plans.len() > 8, "only {} plans", plans.len());
    for (path, text) in plans {
        reads(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert_valid("plan", &as_json(&text));
    }
}

const PLAN: &str = r#"title = "Small"
[lab]
clients = 2
[lab.links.lan]
mtu = "9000 B"
[lab.boxes.firewall]
link = "lan"
snmp = "192.0.2.9"
ports = ["lan1"]
[factors.tso]
levels = ["off", "on"]
[factors.mine]
key = "receive_buffer"
levels = ["64 KiB", "1M"]
[factors.placement]
levels = ["same", "none"]
[factors.crowd]
key = "queue_depth"
levels = [1, 64]
[factors.cpus]
levels = [1, "0-1,4"]
[factors.snoop_filter]
manual = true
levels = ["on", "off", "home snoop", 2]
[load.stream]
workload = "tcp_stream"
offered_load = "full"
over = { request_size = ["64..256K *4", "1 MiB"], streams = [1, "2", "4..8 +2"] }
[method]
blocks = 5
looks = [3, "5"]
margin = "2 %"
settle = "50 ms"
[environment]
kernel.release = "info"
"#;

#[test]
fn a_mistyped_plan_is_refused_by_the_schema_as_by_the_reader() {
    reads(PLAN).expect("it is right so far");
    assert_valid("plan", &as_json(PLAN));
    let schema = validator("plan");
    for (right, wrong) in [
        ("title = \"Small\"", "titel = \"Small\""),
        ("title = \"Small\"", "title = 5"),
        ("clients = 2", "clients = 65"),
        ("clients = 2", "cleints = 2"),
        ("mtu = \"9000 B\"", "mtu = 9000"),
        ("mtu = \"9000 B\"", "mtu = \"9000\""),
        ("mtu = \"9000 B\"", "mtu = \"9000 s\""),
        ("[lab.links.lan]", "[lab.links.lo]"),
        ("link = \"lan\"", "lnk = \"lan\""),
        ("\"192.0.2.9\"", "\"firewall\""),
        ("ports = [\"lan1\"]", "ports = []"),
        ("ports = [\"lan1\"]\n", ""),
        ("\"off\", \"on\"", "\"off\", \"maybe\""),
        ("\"off\", \"on\"", "\"off\""),
        ("[factors.tso]", "[factors.tsso]"),
        ("key = \"receive_buffer\"", "key = \"receive_bufer\""),
        ("[\"same\", \"none\"]", "[\"same\", \"nowhere\"]"),
        ("[factors.placement]", "[factors.plaecment]"),
        ("key = \"queue_depth\"", "key = \"queue_deep\""),
        ("\"0-1,4\"", "\"0-1;4\""),
        ("manual = true", "manual = false"),
        ("manual = true", "manual = true\nreboot = true"),
        ("\"on\", \"off\", \"home snoop\", 2", "\"on\""),
        ("tcp_stream", "tcp_steam"),
        ("offered_load = \"full\"", "offered_load = \"all\""),
        ("request_size = [", "requst_size = ["),
        ("64..256K *4", "64..256 *4"),
        ("64..256K *4", "64..256K"),
        ("streams = [1", "streams = [0"),
        ("blocks = 5", "blocks = 2"),
        ("blocks = 5", "blcoks = 5"),
        ("looks = [3, \"5\"]", "looks = [5]"),
        ("margin = \"2 %\"", "margin = 0.02"),
        ("settle = \"50 ms\"", "settle = \"50 parsecs\""),
        ("\"info\"", "\"trifle\""),
    ] {
        assert!(PLAN.contains(right), "{right}");
        let plan = PLAN.replace(right, wrong);
        assert!(reads(&plan).is_err(), "the reader takes {wrong}");
        assert!(!schema.is_valid(&as_json(&plan)), "the schema takes {wrong}");
    }
}

/// What the reader says it knows where it meets a key that it does not.
fn known(plan: &str) -> BTreeSet<String> {
    let error = reads(plan).expect_err("the key is unknown");
    let (_, known) = error.split_once("known here: ").unwrap_or_else(|| panic!("{error}"));
    known.split(", ").map(str::to_owned).collect()
}

fn keys(schema: &Value) -> BTreeSet<String> {
    schema["properties"].as_object().expect("properties").keys().cloned().collect()
}

#[test]
fn the_schema_has_every_key_that_the_reader_knows_and_no_other() {
    let schema = published("plan");
    let strange = "qqqqqqqqqqqqqqqqqqqq = 1\n";
    assert_eq!(known(&format!("{strange}{PLAN}")), keys(&schema));
    for (header, place) in [("[lab]\n", "lab"), ("[method]\n", "method")] {
        let plan = PLAN.replacen(header, &format!("{header}{strange}"), 1);
        assert_eq!(known(&plan), keys(&schema["properties"][place]), "{place}");
    }
    let loads = &schema["properties"]["load"]["additionalProperties"]["oneOf"];
    let is_stream = |load: &&Value| load["properties"]["workload"]["enum"][0] == "tcp_stream";
    let load = loads.as_array().expect("loads").iter().find(is_stream).expect("the load");
    let plan = PLAN.replacen("[load.stream]\n", &format!("[load.stream]\n{strange}"), 1);
    assert_eq!(known(&plan), keys(load));
}
