//! Runs a survey, and a survey that tries settings, to the end.

#![expect(clippy::expect_used, reason = "helpers of tests stand outside test functions")]

#[allow(dead_code, reason = "each test takes what it needs of it")]
mod kill;

use kill::Place;
use serde_json::Value;
use std::fs;
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
    for words in [
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
    assert_eq!(titles, ["A against A", "The machine itself", "The network of the machine"]);
    let kept: Value = serde_json::from_str(&read(&place, "out/records.json")).expect("records");
    assert_eq!(kept.as_array().map(Vec::len), Some(3));
    assert!(said["article"].to_string().contains("none of the settings looked at"), "{said}");
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
