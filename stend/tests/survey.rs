//! Runs a survey, and a survey that tries settings, to the end.

#![expect(clippy::expect_used, reason = "helpers of tests stand outside test functions")]

#[allow(dead_code, reason = "each test takes what it needs of it")]
mod kill;
mod moment;

use desk::record::Run;
use kill::{Place, STEND};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Output;
use std::time::Duration;

/// The receive buffers that TCP begins with and grows to, of the whole machine.
const RMEM: &str = "/proc/sys/net/ipv4/tcp_rmem";

fn read(place: &Place, file: &str) -> String {
    fs::read_to_string(place.path.join(file)).expect(file).replace('\u{a0}', " ")
}

fn survey(place: &Place, words: &[&str]) -> Output {
    let stend = ["survey", "--store", "lab.stend", "--out", "out"];
    place.stend(&[&stend, words].concat())
}

#[test]
fn a_survey_describes_the_machine_beside_others() {
    let place = Place::new("survey");
    // A level against itself differs in one seed of twenty, and the card then says so.
    let output = survey(&place, &["--lab", "sim", "--seed", "7"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (card, article) = (read(&place, "out/card.txt"), read(&place, "out/report.txt"));
    assert!(card.lines().count() <= 20 && card.contains("survey --tune"), "{card}");
    assert!(card.contains(", p99 ") && card.contains("(searched to within 25 %)"), "{card}");
    for words in [
        "99th percentile of the response time",
        "Searched to within 25 %.",
        "Is it what it claims to be?",
        "Beside other machines",
        "Xeon E5430, 2009",
        "Xeon X3440, 2010",
        "How sure",
        "Simulation:",
    ] {
        assert!(article.contains(words), "{words} is not in\n{article}");
    }
}

#[test]
fn a_model_has_no_owner_whose_settings_are_tried() {
    let place = Place::new("survey-model");
    // Nothing is to be switched, so that nobody is asked.
    let output = survey(&place, &["--tune", "--lab", "sim", "--seed", "7", "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let article = read(&place, "out/report.txt");
    assert!(article.contains("Nothing to gain: none of the settings looked at"), "{article}");
    assert!(!article.contains("sysctl -w") && !read(&place, "out/card.txt").contains("sudo"));
    // What is printed is all of it, and nothing besides.
    let said: Value = serde_json::from_slice(&output.stdout).expect("JSON on standard output");
    let parts = said["parts"].as_array().expect("parts");
    let titles: Vec<&str> =
        parts.iter().filter_map(|p| p["run"]["plan"]["title"].as_str()).collect();
    let planned = [
        "A against A",
        "The machine itself",
        "The network of the machine",
        "Datagrams without loss",
        "The disk of the machine",
    ];
    assert_eq!(titles, planned);
    let kept: Value = serde_json::from_str(&read(&place, "out/records.json")).expect("records");
    assert_eq!(kept.as_array().map(Vec::len), Some(planned.len()));
    assert!(said["article"].to_string().contains("none of the settings looked at"), "{said}");
}

/// The part of the disk, with one load and three blocks.
const OF_THE_DISK: [&str; 7] =
    ["run", "disk.toml", "--only", "load=disk_4k_access", "--blocks", "3", "--json"];

/// Runs the part of the disk in this environment, by these words before them; its only point, and
/// what was said.
fn disk_part(place: &Place, before: &[&str], binary: &str) -> (Value, Output) {
    fs::write(place.path.join("disk.toml"), include_str!("../../plans/survey/disk.toml"))
        .expect("a plan");
    let words = [&["env"], before, &[binary], &OF_THE_DISK[..]].concat();
    let output = place.run(&words);
    let all: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    (all["analysis"]["measured"][0].clone(), output)
}

#[test]
fn the_disk_of_a_user_is_where_the_state_of_the_user_is() {
    let place = Place::new("survey-user");
    let user = ["-u", "STEND_JOURNAL", "-u", "XDG_STATE_HOME", "HOME=.", "setpriv"];
    let other = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    if !rustix::process::geteuid().is_root()
        || !place.run(&["setpriv", "--version"]).status.success()
    {
        println!("skipped: needs root and setpriv, to be another user");
        return;
    }
    let binary = place.path.join("stend-of-all");
    fs::copy(STEND, &binary).expect("a copy");
    fs::set_permissions(&place.path, fs::Permissions::from_mode(0o777)).expect("open to all");
    let binary = binary.display().to_string();
    let (point, output) = disk_part(&place, &[&user[..], &other].concat(), &binary);
    let said = String::from_utf8_lossy(&output.stderr);
    // A file system without O_DIRECT is another reason.
    assert!(!said.contains("no file can be made there"), "{said}");
    let figure = point["from_disk"].is_object() || said.contains("O_DIRECT");
    assert!(figure || every_trial_was_disturbed(&place), "{point} {said}");
}

/// Whether there are trials in the user's store, and the machine alone spoilt each of them.
fn every_trial_was_disturbed(place: &Place) -> bool {
    let store = ".local/state/stend/lab.stend";
    let output = place.stend(&["export", "--store", store, "--format", "json", "last"]);
    let run: Run = serde_json::from_slice(&output.stdout).expect("the records of a run");
    let mut faults = run.records.iter().map(|record| record.outcome.fault.as_ref());
    !run.records.is_empty() && faults.all(|fault| fault.is_some_and(moment::of_the_machine))
}

#[test]
fn a_disk_that_is_not_there_is_told_with_its_reason() {
    let place = Place::new("survey-no-disk");
    let (_, output) = disk_part(&place, &["STEND_JOURNAL=/proc/none"], STEND);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{said}");
    let why = "directory = \"/proc\": no file can be made there";
    assert!(said.contains(why) && said.contains("name a directory"), "{said}");
}

#[test]
#[ignore = "a minute: ./test full"]
fn a_survey_goes_on_without_a_disk_and_says_why() {
    let place = Place::new("survey-without");
    let survey = ["survey", "--blocks", "5", "--store", "lab.stend", "--out", "out"];
    let output = moment::taken(|| {
        place.run(&[&["env", "STEND_JOURNAL=/proc/none", STEND], &survey[..]].concat())
    });
    let (card, article) = (read(&place, "out/card.txt"), read(&place, "out/report.txt"));
    let card = card.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = "The disk of the machine: not available here: directory = \"/proc\": no file can be";
    assert_eq!(card.matches(line).count(), 1, "{card} {output:?}");
    assert!(card.contains("Network stream: "), "{card}");
    assert!(article.contains("Not available here: directory = "), "{article}");
}

/// Transparent huge pages, of the whole machine: the first of the settings that a [`Place`] keeps.
const HUGE_PAGES: &str = kill::SETTINGS[0];

#[test]
#[ignore = "a minute: ./test full"]
fn an_interrupted_tuning_puts_the_setting_back_and_reports_what_it_has() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: needs root, to plant a setting of the machine");
        return;
    }
    let place = Place::new("survey-interrupted");
    let chosen = |word: &str| {
        let said = fs::read_to_string(HUGE_PAGES).unwrap_or_default();
        said.contains(&format!("[{word}]"))
    };
    // When the place goes it gives the machine its own level back.
    if fs::write(HUGE_PAGES, "never").is_err() || !chosen("never") {
        println!("skipped: this machine does not let huge pages be switched");
        return;
    }
    let words =
        ["survey", "--tune", "--yes", "--blocks", "3", "--store", "lab.stend", "--out", "out"];
    let running = place.start(&words);
    let (pid, log) = (running.pid(), || fs::read_to_string(place.path.join("log")));
    let switched = kill::until(Duration::from_secs(120), || chosen("always"));
    assert!(switched.is_some(), "{:?}", log());
    assert_eq!(running.interrupt(), Some(130), "{:?}", log());
    assert!(chosen("never"), "the setting is as it was found");
    let left = place.left_by(pid);
    assert!(left.iter().all(|what| what.starts_with(HUGE_PAGES)), "{left:?}");
    let (card, article) = (read(&place, "out/card.txt"), read(&place, "out/report.txt"));
    assert!(card.lines().count() <= 20, "{card}");
    for words in ["The run is partial", "Is it what it claims to be?", "Beside other machines"] {
        assert!(article.contains(words), "{words} is not in\n{article}");
    }
    assert!(!article.contains(", as root"), "of a part of a comparison nothing is recommended");
}

/// The setting that a machine had, which comes back when this goes.
struct Planted(String);

impl Planted {
    fn rmem(words: &str) -> Self {
        let before = fs::read_to_string(RMEM).expect(RMEM);
        fs::write(RMEM, words).expect(RMEM);
        Self(before)
    }
}

impl Drop for Planted {
    fn drop(&mut self) {
        let _ = fs::write(RMEM, &self.0);
    }
}

#[test]
#[ignore = "a minute and a half: ./test full"]
fn a_small_receive_buffer_is_named_with_its_command_and_stays_as_it_was() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: needs root, to plant a setting of the machine");
        return;
    }
    let place = Place::new("survey-planted");
    let planted = Planted::rmem("4096 8192 16384");
    let output = survey(&place, &["--tune", "--yes"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found = fs::read_to_string(RMEM).expect(RMEM);
    assert_eq!(found.split_whitespace().collect::<Vec<_>>(), ["4096", "8192", "16384"]);
    drop(planted);
    let article = read(&place, "out/report.txt");
    for words in [
        "TCP receive buffers, 131072 to 6291456 bytes instead of 8192 to 16384 bytes",
        "sysctl -w net.ipv4.tcp_rmem='4096 131072 6291456'",
        "net.ipv4.tcp_rmem = 4096 131072 6291456",
    ] {
        let line = article.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(line.contains(words), "{words} is not in\n{article}");
    }
}
