//! Knows `stend gate` as a build uses it: exit status, files, annotations, in a simulated lab.
#![expect(clippy::expect_used, reason = "helpers of tests stand outside test functions")]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

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
             steady = \"noted\"\nseed = 1\nsettle_max = \"100 ms\"\nwindow = \"100 ms\"\n{rest}\n"
        );
        fs::write(self.0.join("plan.toml"), text).expect("a file");
        "plan.toml".into()
    }

    /// What the simulated lab is made of: there is no doubt of what was planted.
    fn physics(&self, text: &str) {
        fs::write(self.0.join("p.toml"), text).expect("a file");
    }

    fn stend(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stend"));
        command.arg("gate").args(words).args(["--store", "x.stend"]);
        command.current_dir(&self.0).env_remove("GITHUB_ACTIONS");
        command
    }

    fn gate(&self, words: &[&str], github: bool) -> Output {
        let mut command = self.stend(words);
        command.args(["--lab", "sim"]);
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
    let plan = place.plan(FACTOR, "blocks = 5\nmargin = \"0.1 %\"");
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
    // Nothing would measure displaced work; and a file that cannot be written is no report.
    let plan = place.plan(FACTOR, "");
    let output = place.gate(&[&plan, "--metric", "displaced"], false);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("--displaced-work"), "{}", stderr(&output));
    for option in ["--junit", "--markdown"] {
        let output = place.gate(&[&plan, option, "plan.toml/x"], false);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    }
    assert!(!place.0.join("stend-out").exists());
    assert!(!place.0.join("x.stend").exists());
}

#[test]
fn displaced_work_is_judged_where_it_is_measured() {
    let place = Place::new("displaced");
    let plan = place.plan(FACTOR, "blocks = 5");
    let words = [plan.as_str(), "--metric", "displaced", "--displaced-work"];
    let output = place.gate(&words, false);
    assert!(matches!(output.status.code(), Some(0 | 3 | 4)), "{}", stderr(&output));
    let said = stdout(&output);
    assert!(said.contains("displaced"), "{said}");
}

#[test]
fn only_the_command_line_makes_a_gate_that_measures_nothing_and_it_says_so() {
    let place = Place::new("sim");
    let plan = place.plan(FACTOR, "blocks = 5");
    let from_variable = place.stend(&[&plan]).env("STEND_LAB", "sim").output().expect("it starts");
    assert_eq!(from_variable.status.code(), Some(2), "{}", stderr(&from_variable));
    fs::write(place.0.join("stend.toml"), "lab = \"sim\"\n").expect("a file");
    let from_file = place.stend(&[&plan]).output().expect("it starts");
    assert_eq!(from_file.status.code(), Some(2), "{}", stderr(&from_file));
    assert!(stderr(&from_file).contains("measures nothing"), "{}", stderr(&from_file));
    let typed = place.gate(&[&plan, "--junit", "j.xml"], false);
    assert!(stdout(&typed).contains("Simulated: The gate"), "{}", stdout(&typed));
    assert!(place.read("j.xml").contains("Simulated: The gate"));
}

#[test]
fn what_cannot_be_written_afterwards_hides_no_verdict() {
    let place = Place::new("pipe");
    let plan = place.plan(FACTOR, "blocks = 5");
    place.physics("[effects.congestion]\nbbr = 0.8\n");
    let full = || fs::File::options().write(true).open("/dev/full").expect("/dev/full");
    let mut command = place.stend(&[&plan, "--physics", "p.toml", "--lab", "sim"]);
    let status = command.stdout(full()).stderr(full()).status().expect("it starts");
    assert_eq!(status.code(), Some(3));
    // What passed is no success if nobody can read it.
    let quiet = |words: &[&str]| {
        place.stend(words).stdout(full()).stderr(full()).status().expect("it starts").code()
    };
    place.physics("[effects.congestion]\nbbr = 1.25\n");
    let passed = [&plan, "--physics", "p.toml", "--lab", "sim"].map(AsRef::as_ref);
    assert_eq!(quiet(&passed), Some(1));
    // A reader who has gone has seen enough.
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let status = place.stend(&["--run", "last"]).stdout(writer).status().expect("it starts");
    assert_eq!(status.code(), Some(0));
}

#[test]
fn where_the_plan_cannot_be_measured_the_gate_ends_with_five() {
    let place = Place::new("cannot");
    let plan = place.plan("[factors.mtu]\nlevels = [\"1500 B\", \"9000 B\"]", "blocks = 5");
    let output = place.stend(&[&plan, "--lab", "loopback"]).output().expect("it starts");
    assert_eq!(output.status.code(), Some(5), "{}", stderr(&output));
}

#[test]
fn a_partial_run_does_not_pass() {
    let place = Place::new("partial");
    let plan = place.plan(FACTOR, "blocks = 20");
    let faults: String = (20..40)
        .map(|n| format!("[[faults]]\nkind = \"dead_client\"\ntrial = {n}\nvisits = 3\n"))
        .collect();
    place.physics(&format!("[effects.congestion]\nbbr = 1.25\n{faults}"));
    let output = place.gate(&[&plan, "--physics", "p.toml"], false);
    assert_eq!(output.status.code(), Some(4), "{}{}", stdout(&output), stderr(&output));
    assert!(stdout(&output).contains("The run is partial"), "{}", stdout(&output));
}

#[test]
fn without_a_valid_trial_the_gate_is_invalid_and_never_passes() {
    let place = Place::new("invalid");
    let plan = place.plan(FACTOR, "blocks = 5");
    place.physics("[[faults]]\nkind = \"dead_client\"\nshare = \"100 %\"\n");
    let output = place.gate(&[&plan, "--physics", "p.toml", "--junit", "j.xml"], false);
    assert_eq!(output.status.code(), Some(6), "{}{}", stdout(&output), stderr(&output));
    assert!(stdout(&output).contains("nothing to judge"), "{}", stdout(&output));
    let junit = place.read("j.xml");
    assert!(junit.contains("<error message=") && junit.contains("failures=\"0\""), "{junit}");
}

#[test]
fn a_gate_that_is_stopped_ends_with_130() {
    let place = Place::new("stopped");
    let plan = place.plan(FACTOR, "blocks = 1000");
    let mut command = place.stend(&[&plan, "--lab", "sim"]);
    let mut child =
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let begun = lines.by_ref().map_while(Result::ok).any(|line| line.contains("dry attempts"));
    assert!(begun, "it never began");
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.expect("kill").success());
    // It must be able to write on.
    lines.for_each(drop);
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
}
