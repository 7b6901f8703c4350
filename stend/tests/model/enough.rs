//! Knows what becomes of a run in which too few trials are valid; the lab is simulated, the faults
//! are planted.
#![expect(clippy::expect_used, reason = "helpers of tests stand outside test functions")]

use desk::plan::{Catalogue, order, read};
use desk::record::{Run, Trial, TrialKind};
use rig::factor;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("stend-enough-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }

    fn stend(&self, words: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stend"));
        command.env("XDG_STATE_HOME", self.0.join("state"));
        command.args(words.split_whitespace()).current_dir(&self.0).output().expect("it starts")
    }

    /// Runs a plan of these loads in which every visit to some of its counted trials is spoilt.
    fn run(&self, loads: &[&str], spoilt: &dyn Fn(&[Trial]) -> Vec<u32>) -> Output {
        let of = |name: &&str| format!("[load.{name}]\nworkload = \"tcp_stream\"\n");
        let loads: String = loads.iter().map(of).collect();
        let text = format!(
            "title = \"Enough\"\n[factors.tso]\nlevels = [\"off\", \"on\"]\n{loads}[method]\n\
             blocks = 5\nseed = 7\n"
        );
        let workloads: Vec<_> = loads::ALL.iter().map(|entry| entry.spec).collect();
        let catalogue = Catalogue { workloads: &workloads, factors: factor::ALL };
        let plan = read(&text, &catalogue).map_err(|e| e.to_string()).expect("a plan");
        let counted = order(&plan).into_iter().filter(|t| t.kind == TrialKind::Counted);
        let fault = |id: u32| {
            format!("[[faults]]\nkind = \"throttle\"\ntrial = {id}\nvisits = 3\nhost = \"sut\"\n")
        };
        let faults = spoilt(&counted.collect::<Vec<_>>()).into_iter().map(fault);
        fs::write(self.0.join("physics.toml"), faults.collect::<String>()).expect("a file");
        fs::write(self.0.join("plan.toml"), text).expect("a file");
        self.stend("run plan.toml --lab sim --physics physics.toml --out o")
    }

    fn records(&self) -> Run {
        let text = fs::read(self.0.join("o/records.json")).expect("records");
        serde_json::from_slice(&text).expect("a run")
    }

    fn state(&self) -> String {
        let list = self.stend("list --json");
        let rows: serde_json::Value = serde_json::from_slice(&list.stdout).expect("rows");
        rows[0]["state"].as_str().expect("a state").to_owned()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The first trial of a load in every block that is in the list.
fn first_of(trials: &[Trial], load: &str, blocks: &[u32]) -> Vec<u32> {
    let first = |block: &u32| {
        let here = |t: &&Trial| t.block == *block && t.point.load == load;
        trials.iter().find(here).expect("a trial").id
    };
    blocks.iter().map(first).collect()
}

#[test]
fn under_nine_valid_trials_of_ten_a_run_is_incomplete_and_says_so() {
    let place = Place::new("nine");
    let one = place.run(&["it"], &|trials| first_of(trials, "it", &[3]));
    assert_eq!(one.status.code(), Some(0), "{}", error(&one));
    assert_eq!(place.state(), "complete");
    let two = place.run(&["it"], &|trials| first_of(trials, "it", &[2, 5]));
    assert_eq!(two.status.code(), Some(7), "{}", error(&two));
    assert!(error(&two).contains("8 of 10 counted trials are valid"), "{}", error(&two));
    assert_eq!(place.state(), "incomplete");
    let text = fs::read_to_string(place.0.join("o/report.txt")).expect("a report");
    assert!(text.contains("8 of 10"), "{text}");
    let resumed = place.stend("resume last");
    assert_eq!(resumed.status.code(), Some(2), "{}", error(&resumed));
    assert!(error(&resumed).contains("nothing to resume"), "{}", error(&resumed));
    let gate = place.stend("gate --run last --fail-if not-better");
    let said = String::from_utf8_lossy(&gate.stdout).into_owned();
    assert!(said.contains("8 of 10 counted trials are valid"), "{said}{}", error(&gate));
    assert_ne!(gate.status.code(), Some(0), "{said}");
}

#[test]
fn a_load_that_loses_half_stops_and_the_other_is_whole() {
    let place = Place::new("half");
    let all = [1, 2, 3, 4, 5];
    let half = place.run(&["bad", "good"], &|trials| first_of(trials, "bad", &all));
    let said = error(&half);
    assert_eq!(half.status.code(), Some(1), "{said}");
    assert!(said.contains("load 'bad' lost 3 of 6 trials, most often to"), "{said}");
    assert_eq!(place.state(), "partial");
    let run = place.records();
    let mut valid = BTreeMap::new();
    let counted = run.records.iter().filter(|r| r.trial.kind == TrialKind::Counted);
    for record in counted.filter(|r| r.outcome.fault.is_none()) {
        *valid.entry(record.trial.point.load.as_str()).or_insert(0) += 1;
    }
    assert_eq!(valid, BTreeMap::from([("bad", 3), ("good", 10)]));
    let text = fs::read_to_string(place.0.join("o/report.txt")).expect("a report");
    assert!(text.contains("lost 3 of 6"), "{text}");
}
