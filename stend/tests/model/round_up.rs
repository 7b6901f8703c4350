//! Knows that a plan of several set-ups goes from its text to ranks in every file of its report.
#![expect(clippy::expect_used, reason = "helpers of tests stand outside test functions")]

use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Four set-ups, of which two do the same and one is far behind.
const PLAN: &str = "title = \"four\"\n[lab]\nclients = 2\n[factors.congestion]\n\
    levels = [\"cubic\", \"bbr\", \"reno\", \"vegas\"]\n[load.it]\nworkload = \"tcp_stream\"\n\
    request_size = \"64 KiB\"\n[method]\nblocks = 8\nsettle = \"0.3 s\"\nsettle_max = \"1 s\"\n\
    window = \"0.8 s\"\n";
const PHYSICS: &str = "[noise]\nsd = \"1 %\"\nar = 0.0\n\
    [effects]\ncongestion = { bbr = 1.3, reno = 1.0, vegas = 0.6 }\n";

/// The plan in the simulated lab, in one and the same order.
const SIM: [&str; 10] = [
    "run",
    "plan.toml",
    "--seed",
    "1",
    "--lab",
    "sim",
    "--physics",
    "physics.toml",
    "--out",
    "out",
];

struct Home(PathBuf);

impl Home {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("stend-round-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("a directory");
        fs::write(path.join("plan.toml"), PLAN).expect("a plan");
        fs::write(path.join("physics.toml"), PHYSICS).expect("a physics");
        Self(path)
    }

    fn good(&self, words: &[&str]) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stend"));
        command.args(words).current_dir(&self.0).env("XDG_STATE_HOME", &self.0);
        let output = command.output().expect("it starts");
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{words:?}: {error}");
    }

    fn text(&self, name: &str) -> String {
        let text = fs::read_to_string(self.0.join("out").join(name)).expect(name);
        text.replace('\u{a0}', " ")
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Level, best and worst rank of every level of the first ranking.
fn ranks(printed: &Value) -> Vec<(&str, u64, u64)> {
    let levels = printed["analysis"]["rankings"][0]["levels"].as_array().expect("levels");
    let number = |of: &Value, key: &str| of[key].as_u64().unwrap_or(0);
    let one = |l| (text_of(l, "level"), number(l, "from"), number(l, "to"));
    levels.iter().map(one).collect()
}

fn text_of<'v>(of: &'v Value, key: &str) -> &'v str {
    of[key].as_str().unwrap_or("")
}

#[test]
fn planted_ranks_are_in_the_json_and_in_every_file_of_the_report() {
    let home = Home::new("ranks");
    home.good(&SIM);
    let mut command = Command::new(env!("CARGO_BIN_EXE_stend"));
    command.args(["report", "last", "--json"]).current_dir(&home.0).env("XDG_STATE_HOME", &home.0);
    let printed = command.output().expect("it starts").stdout;
    let printed: Value = serde_json::from_slice(&printed).expect("JSON");
    let found = ranks(&printed);
    assert_eq!((found[0], found[3]), (("bbr", 1, 1), ("vegas", 4, 4)), "{found:?}");
    let mut middle: Vec<&str> = found[1..3].iter().map(|(level, ..)| *level).collect();
    middle.sort_unstable();
    assert_eq!(middle, ["cubic", "reno"]);
    assert!(found[1..3].iter().all(|(_, from, to)| (*from, *to) == (2, 3)), "{found:?}");
    for name in ["report.html", "report.txt", "report.md", "report.json"] {
        assert!(home.text(name).contains("is first of 4 levels of congestion"), "{name}");
    }
    for name in ["report.html", "report.txt", "report.json"] {
        assert!(home.text(name).contains("Not told apart from"), "{name}");
    }
}

#[test]
fn the_plan_that_comes_with_stend_runs_in_the_simulated_lab() {
    let home = Home::new("plan");
    home.good(&["run", "round-up", "--quick", "--lab", "sim", "--out", "out"]);
    let report = home.text("report.txt");
    assert!(report.contains("levels of setup") && report.contains("jumbo-bare"), "{report}");
    assert!(report.contains("all 2 conditions"), "{report}");
}

#[test]
fn a_primary_comparison_is_named_first_and_the_others_besides() {
    let home = Home::new("primary");
    let plan = format!("{PLAN}primary_comparison = {{ level = \"reno\" }}\n");
    fs::write(home.0.join("plan.toml"), plan).expect("a plan");
    home.good(&SIM);
    let report = home.text("report.txt");
    let lines = report.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(lines.contains("Primary comparison: "), "{report}");
    assert!(lines.contains("Of 2 other comparisons"), "{report}");
}
