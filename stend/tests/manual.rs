//! Knows what becomes of a plan with a factor that a person sets: refused without his word, run at
//! the level that he told, and set side by side with the run at the other.
#![expect(clippy::expect_used, reason = "helpers of tests stand outside test functions")]

use desk::record::{KeyClass, Run};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

/// Three blocks of the smallest load under a factor that a person sets; another one below it.
fn plan(more: &str) -> String {
    format!(
        "title = \"Snoop filter\"\n[lab]\nclients = 1\n[factors.snoop_filter]\nmanual = true\n\
         levels = [\"on\", \"off\"]\n{more}[load.net]\nworkload = \"tcp_stream\"\n[method]\n\
         blocks = 5\ndry = false\n"
    )
}

/// A filter that costs a tenth while it is off, and little chance besides.
const PHYSICS: &str = "[noise]\nsd = \"0.5 %\"\ncpu = \"0.5 %\"\n[link]\n\
                       line_rate = \"400 Gbit/s\"\n[effects.snoop_filter]\noff = 0.9\n";

struct Place(PathBuf);

impl Place {
    fn new(name: &str, plan: &str) -> Self {
        let name = format!("stend-manual-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a directory");
        fs::write(path.join("plan.toml"), plan).expect("a plan");
        fs::write(path.join("physics.toml"), PHYSICS).expect("a physics");
        Self(path)
    }

    fn stend(&self, words: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stend"));
        let state = self.0.join("state");
        command.args(words).current_dir(&self.0).env("XDG_STATE_HOME", state);
        command.output().expect("it starts")
    }

    /// A simulated run at these levels, into a directory of its own.
    fn run(&self, verb: &str, levels: &[&str], out: &str) -> Output {
        let levels = levels.iter().flat_map(|level| ["--level", level]);
        let mut words = vec![verb, "plan.toml", "--lab", "sim", "--physics", "physics.toml"];
        words.extend(["--out", out]);
        words.extend(levels);
        self.stend(&words)
    }

    /// Four more sessions at each level, of other seeds: `on2` to `on5`, `off2` to `off5`.
    fn repeat(&self) {
        for seed in 2..=5 {
            let text = format!("{}seed = {seed}\n", plan(""));
            fs::write(self.0.join("plan.toml"), text).expect("a plan");
            for level in ["on", "off"] {
                let out = format!("{level}{seed}");
                let output = self.run("run", &[&format!("snoop_filter={level}")], &out);
                assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
            }
        }
    }

    fn records(&self, out: &str) -> Run {
        let text = fs::read_to_string(self.0.join(out).join("records.json")).expect("records");
        serde_json::from_str(&text).expect("a run")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).replace('\u{a0}', " ")
}

#[test]
fn without_a_word_of_the_person_nothing_runs_and_the_commands_are_told() {
    let place = Place::new("untold", &plan(""));
    for verb in ["run", "gate", "aa", "elasticity"] {
        let output = place.run(verb, &[], "out");
        let words = errors(&output);
        assert_eq!(output.status.code(), Some(2), "{verb}: {words}");
        for level in ["on", "off"] {
            assert!(words.contains(&format!(" {verb} --level snoop_filter={level} ")), "{words}");
        }
        assert!(words.contains("set by a person") && words.contains(" compare "), "{words}");
    }
    for (level, part) in
        [("snoop_filter=of", "did you mean 'off'?"), ("snoop=on", "there is no factor 'snoop'")]
    {
        let output = place.run("run", &[level], "out");
        assert_eq!(output.status.code(), Some(2));
        assert!(errors(&output).contains(part), "{}", errors(&output));
    }
    assert!(!place.0.join("out").exists(), "nothing was measured");
    let shown = said(&place.stend(&["plan", "plan.toml"]));
    assert!(
        shown.contains("snoop_filter: on, off") && shown.contains("set by a person"),
        "{shown}"
    );
}

#[test]
fn two_runs_at_their_levels_compare_by_that_factor() {
    let place = Place::new("two", &plan(""));
    for level in ["on", "off"] {
        let output = place.run("run", &[&format!("snoop_filter={level}")], level);
        assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
        let run = place.records(level);
        assert!(run.records.len() >= 5);
        assert!(run.records.iter().all(|r| r.trial.treatment.levels["snoop_filter"] == *level));
        let fact = run.environment().facts.iter().find(|f| f.key == "manual.snoop_filter");
        let fact = fact.expect("the level is in the environment");
        assert_eq!((fact.value.as_str(), fact.class), (level, KeyClass::Factor));
        assert!(run.command.contains(&format!("--level snoop_filter={level}")), "{}", run.command);
    }
    // One session a side decides nothing.
    let compared = place.stend(&["compare", "on", "off", "--out", "cmp", "--json"]);
    assert_eq!(compared.status.code(), Some(0), "{}", errors(&compared));
    let json: serde_json::Value = serde_json::from_slice(&compared.stdout).expect("JSON");
    assert_eq!(json["comparison"]["comparisons"][0]["verdict"]["verdict"], "undecided");
    place.repeat();
    let [on, off] = ["on", "off"].map(|level| place.records(level).id);
    let compared = place.stend(&["compare", &on, &off, "--out", "cmp", "--json"]);
    assert_eq!(compared.status.code(), Some(0), "{}", errors(&compared));
    let json: serde_json::Value = serde_json::from_slice(&compared.stdout).expect("JSON");
    assert_eq!(json["comparable"], true);
    let comparison = &json["comparison"]["comparisons"][0];
    assert_eq!((&comparison["base"], &comparison["other"]), (&"A (on)".into(), &"B (off)".into()));
    assert_eq!(comparison["verdict"]["verdict"], "worse", "{comparison}");
    let declared = &json["comparison"]["comparability"]["factors"];
    let told =
        declared.as_array().expect("a list").iter().find(|d| d["key"] == "manual.snoop_filter");
    let told = told.expect("the factor is named");
    assert_eq!((&told["a"], &told["b"]), (&"on".into(), &"off".into()));
    let text = said(&place.stend(&["compare", &on, &off, "--out", "cmp"]));
    assert!(text.contains("Unpaired") && text.contains("snoop_filter"), "{text}");
    assert!(text.contains("worse"), "{text}");
}

#[test]
fn repeated_sessions_of_the_store_are_used_and_none_is_on_two_sides() {
    let place = Place::new("repeated", &plan(""));
    for level in ["on", "off"] {
        place.run("run", &[&format!("snoop_filter={level}")], level);
    }
    place.repeat();
    let [on, off, more] = ["on", "off", "on2"].map(|level| place.records(level).id);
    let sessions = |words: &[&str]| {
        let output = place.stend(&[&["compare", "--out", "c", "--json"], words].concat());
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        (json["comparison"]["sessions"].clone(), errors(&output))
    };
    let list = |of: &serde_json::Value, side: &str| of[side].as_array().expect("a list").clone();
    let counts = |of: &serde_json::Value| ["a", "b", "others"].map(|side| list(of, side).len());
    let (found, told) = sessions(&[&on, &off]);
    assert_eq!((counts(&found), &found["spreads"][0]["source"]), ([5, 5, 0], &"sides".into()));
    assert!(list(&found, "a").iter().all(|run| !list(&found, "b").contains(run)), "{found}");
    for side in ["A", "B"] {
        assert!(told.contains(&format!("further sessions of {side}: ")), "{told}");
    }
    assert!(told.contains("--alone leaves them out"), "{told}");
    let (found, _) = sessions(&[&on, &off, "--alone"]);
    assert_eq!((counts(&found), &found["spreads"][0]["source"]), ([1, 1, 0], &"prior".into()));
    // Two runs of one set-up: what else the store has of it may be of either side.
    let (found, told) = sessions(&[&on, &more]);
    assert_eq!((counts(&found), &found["spreads"][0]["source"]), ([1, 1, 3], &"others".into()));
    assert!(told.contains("for the spread alone"), "{told}");
    // The page holds all of them and is made again by the command that it gives.
    let page = fs::read_to_string(place.0.join("c/report.html")).expect("a page");
    let command = page.split_once("stend compare ").expect("a command").1;
    let command = command.split(['<', '\n']).next().expect("its words");
    assert!(command.contains(" --spread "), "{command}");
    let words: Vec<&str> = ["compare", "--out", "again"].into_iter().collect();
    let output =
        place.stend(&[&words[..], &command.split_whitespace().collect::<Vec<_>>()].concat());
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    let again = fs::read_to_string(place.0.join("again/report.html")).expect("a page");
    assert!(again == page, "another page");
}

#[test]
fn what_the_run_switches_is_still_compared_within_it() {
    let more = "[factors.tso]\nlevels = [\"on\", \"off\"]\n";
    let place = Place::new("crossed", &plan(more));
    let output = place.run("run", &["snoop_filter=off"], "out");
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    let run = place.records("out");
    assert_eq!(run.plan.method.compare, "tso");
    let output = place.run("run", &["tso=on"], "out");
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("switched by the run itself"), "{}", errors(&output));
    // The same under two names, at the level that was told.
    let output = place.run("aa", &["snoop_filter=off"], "same");
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    let run = place.records("same");
    assert!(run.records.iter().all(|r| r.trial.settings["snoop_filter"].word() == Some("off")));
}

#[test]
fn a_report_of_one_level_can_be_made_again() {
    let place = Place::new("again", &plan(""));
    let output = place.run("run", &["snoop_filter=on"], "out");
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    let again = place.stend(&["report", "last", "--out", "again"]);
    assert_eq!(again.status.code(), Some(0), "{}", errors(&again));
    let read = |at: &str| fs::read_to_string(place.0.join(at).join("report.txt")).expect("a text");
    assert_eq!(read("out"), read("again"));
}

/// Loads and copies of memory under the filter, beside the published test of one.
const PUBLISHED: &str = "title = \"Snoop filter\"\npublished = \"003\"\n[factors.snoop_filter]\n\
    manual = true\nlevels = [\"on\", \"off\"]\n[load.memory]\nworkload = \"mem_bandwidth\"\n\
    operation = \"read\"\nsize = \"memory\"\n[load.copy]\nworkload = \"mem_copy\"\n\
    size = \"memory\"\nover = { algorithm = [\"sse_nt\", \"registers\", \"rep_movsq\"] }\n\
    [method]\nblocks = 5\ndry = false\n";

// A filter that is off costs a tenth of every load: claim 003-1 holds, and of 003-2 the half that
// plain copies are slower with it on does not.
#[test]
fn published_claims_of_a_feature_stand_in_the_comparison_of_its_levels() {
    let place = Place::new("published", PUBLISHED);
    for level in ["on", "off"] {
        let output = place.run("run", &[&format!("snoop_filter={level}")], level);
        assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    }
    for (a, b) in [("on", "off"), ("off", "on")] {
        let compared = place.stend(&["compare", a, b, "--out", "cmp"]);
        assert_eq!(compared.status.code(), Some(0), "{}", errors(&compared));
        let words = said(&compared).split_whitespace().collect::<Vec<_>>().join(" ");
        for part in [
            "Beside the published test",
            "Ours are of two runs, one with the feature on and one with it off.",
            "Of 2 published claims, 2 undecided.",
        ] {
            assert!(words.contains(part), "{part}: {words}");
        }
    }
}
