//! Knows `stend gate` as a build uses it: exit status, files, annotations, in a simulated lab.
#![expect(clippy::expect_used, reason = "helpers of tests stand outside test functions")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

/// A directory of a test, removed afterwards.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("stend-gate-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }

    fn plan(&self, factor: &str, rest: &str) -> String {
        let text = format!(
            "title = \"Gate | @someone\"\nquestion = \"Does it pass?\"\n{factor}\n[load.stream]\n\
             workload = \"tcp_stream\"\nrequest_size = \"16 KiB\"\n[method]\nsettle = \"50 ms\"\n\
             steady = \"noted\"\nsettle_max = \"100 ms\"\nwindow = \"100 ms\"\n{rest}\n"
        );
        fs::write(self.0.join("plan.toml"), text).expect("a file");
        "plan.toml".into()
    }

    /// What the simulated lab is made of: there is no doubt of what was planted.
    fn physics(&self, text: &str) {
        fs::write(self.0.join("p.toml"), text).expect("a file");
    }

    fn gate(&self, words: &[&str], github: bool) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stend"));
        command.arg("gate").args(words).args(["--lab", "sim", "--store", "x.stend"]);
        command.current_dir(&self.0).env_remove("GITHUB_ACTIONS");
        if github {
            command.env("GITHUB_ACTIONS", "true");
        }
        command.output().expect("it starts")
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).expect(name)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const FACTOR: &str = "[factors.congestion]\nlevels = [\"cubic\", \"bbr\"]";

#[test]
fn a_loss_fails_the_gate_with_its_evidence_in_every_form() {
    let place = Place::new("loss");
    let plan = place.plan(FACTOR, "blocks = 5");
    place.physics("[effects.congestion]\nbbr = 0.8\n");
    let files = ["--physics", "p.toml", "--junit", "j.xml", "--markdown", "m.md", "--out", "out"];
    let output = place.gate(&[&[plan.as_str()], &files[..]].concat(), true);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stdout(&output).contains("The gate failed"), "{}", stdout(&output));
    let annotations = stderr(&output);
    let line = annotations.lines().find(|l| l.starts_with("::error title=")).expect("an error");
    assert!(line.contains("is worse than") && line.contains("95 %25 interval"), "{line}");
    let junit = place.read("j.xml");
    assert!(junit.contains("<failure message=") && junit.contains("interval"), "{junit}");
    let summary = place.read("m.md");
    assert!(summary.contains("The gate failed") && summary.lines().count() <= 60, "{summary}");
    assert!(summary.contains("Gate \\| @&ZeroWidthSpace;someone"), "{summary}");
    assert_eq!(summary, place.read("out/report.md"));
    for name in ["records.json", "report.html", "report.txt", "report.json"] {
        assert!(!place.read(&format!("out/{name}")).is_empty());
    }
    // The same run, by another rule, without measuring anything.
    let quiet = place.gate(&["--run", "last", "--fail-if", "not-better"], false);
    assert_eq!(quiet.status.code(), Some(3));
    assert!(!stderr(&quiet).contains("::error"), "not on GitHub: {}", stderr(&quiet));
}

#[test]
fn a_gain_passes() {
    let place = Place::new("gain");
    let plan = place.plan(FACTOR, "blocks = 5");
    place.physics("[effects.congestion]\nbbr = 1.25\n");
    for rule in ["worse", "not-better"] {
        let output = place.gate(&[&plan, "--fail-if", rule, "--physics", "p.toml"], true);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(!stderr(&output).contains("\n::"), "{}", stderr(&output));
    }
    for rule in ["not-equivalent", "different"] {
        assert_eq!(place.gate(&["--run", "last", "--fail-if", rule], false).status.code(), Some(3));
    }
}

#[test]
fn what_cannot_be_told_is_inconclusive_and_says_what_it_takes() {
    let place = Place::new("open");
    // A margin far below the noise of the simulated lab.
    let plan = place.plan(FACTOR, "blocks = 3\nmargin = \"0.1 %\"");
    let output = place.gate(&[&plan, "--fail-if", "not-equivalent", "--junit", "j.xml"], true);
    let said = stdout(&output);
    assert_eq!(output.status.code(), Some(4), "{said}{}", stderr(&output));
    assert!(said.contains("further block") && said.contains("80 %"), "{said}");
    assert!(place.read("j.xml").contains("<skipped message="));
    assert!(stderr(&output).contains("::warning title="), "{}", stderr(&output));
}

#[test]
fn a_gate_that_cannot_be_asked_is_refused_before_anything_is_measured() {
    let place = Place::new("usage");
    let plan = place.plan(FACTOR, "");
    for words in
        [&[plan.as_str(), "--metric", "speed"][..], &["nowhere.toml"], &[], &["--run", "x"]]
    {
        let output = place.gate(words, false);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {}", stderr(&output));
        assert_eq!(stdout(&output), "");
    }
    let nothing = place.plan("", "");
    let output = place.gate(&[&nothing], false);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("compares nothing"), "{}", stderr(&output));
    assert!(!place.0.join("stend-out").exists());
}

#[test]
fn without_a_valid_trial_the_gate_is_invalid_and_never_passes() {
    let place = Place::new("invalid");
    let plan = place.plan(FACTOR, "blocks = 3");
    place.physics("[[faults]]\nkind = \"dead_client\"\nshare = \"100 %\"\n");
    let output = place.gate(&[&plan, "--physics", "p.toml", "--junit", "j.xml"], false);
    assert_eq!(output.status.code(), Some(6), "{}{}", stdout(&output), stderr(&output));
    assert!(stdout(&output).contains("nothing to judge"), "{}", stdout(&output));
    let junit = place.read("j.xml");
    assert!(junit.contains("<error message=") && junit.contains("failures=\"0\""), "{junit}");
}
