//! A report as an archive: out of one store, by its file, into another, and the same file again.
#![expect(clippy::expect_used, reason = "helpers of tests stand outside test functions")]

use super::simulated;

use desk::record::{Run, Sitting};
use press::report::{Bundle, LARGEST, page};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

const SMALL: &str = "title = \"Small\"\nquestion = \"Does it come back?\"\n[factors.tso]\n\
    levels = [\"off\", \"on\"]\n[load.stream]\nworkload = \"tcp_stream\"\n\
    over = { request_size = \"64..1024 B *4\" }\n[method]\nblocks = 5\n";

/// A directory of a test, removed afterwards.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let name = format!("stend-bundle-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a directory");
        fs::write(path.join("small.toml"), SMALL).expect("a file");
        Self(path)
    }

    /// Runs stend, which has to succeed; gives what it printed.
    fn stend(&self, words: &str) -> String {
        let output = self.ask(words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "stend {words}: {said}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn ask(&self, words: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stend"));
        command.env("XDG_STATE_HOME", self.0.join("state"));
        command.args(words.split_whitespace()).current_dir(&self.0).output().expect("it starts")
    }

    fn refused(&self, words: &str) -> (Option<i32>, String) {
        let output = self.ask(words);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    }

    fn file(&self, name: &str) -> Vec<u8> {
        fs::read(self.0.join(name)).expect(name)
    }

    /// Ids of the runs of a store, the oldest first.
    fn ids(&self, store: &str) -> Vec<String> {
        let rows: serde_json::Value =
            serde_json::from_str(&self.stend(&format!("list --json --store {store}")))
                .expect("JSON");
        let rows = rows.as_array().expect("rows").iter().rev();
        rows.map(|row| row["id"].as_str().expect("an id").to_owned()).collect()
    }

    /// Takes a report into an empty store, and follows the command that this prints.
    fn again(&self, report: &str, out: &str) -> String {
        let said = self.stend(&format!("import {report} --store {out}.stend"));
        let command = said.lines().last().and_then(|line| line.split_once(": ")).expect("advice").1;
        let (_, words) = command.split_once(' ').expect("a program and its words");
        self.stend(&format!("{words} --out {out}"));
        said
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_run_comes_back_from_its_report_and_makes_the_same_file() {
    let place = Place::new("run");
    place.stend("run small.toml --lab sim --store a.stend --out one");
    let said = place.again("one/report.html", "two");
    assert!(said.starts_with("imported: "), "{said}");
    assert!(place.file("one/report.html") == place.file("two/report.html"), "another page");
    assert_eq!(place.file("one/records.json"), place.file("two/records.json"));
    assert_eq!(place.file("one/report.txt"), place.file("two/report.txt"));
    // Its records are as good as its page.
    place.again("one/records.json", "three");
    assert!(place.file("one/report.html") == place.file("three/report.html"));
    let said = place.stend("import one/report.html --store two.stend");
    assert!(said.starts_with("already there: "), "{said}");
}

#[test]
fn another_run_of_the_same_name_is_refused_and_nothing_is_lost() {
    let place = Place::new("other");
    place.stend("run small.toml --lab sim --store a.stend --out one");
    let mut run: Run = serde_json::from_slice(&place.file("one/records.json")).expect("a run");
    run.records[0].started_s += 1e-9;
    fs::write(place.0.join("b.json"), serde_json::to_string(&run).expect("JSON")).expect("a file");
    let (status, said) = place.refused("import b.json --store a.stend");
    assert_eq!(status, Some(1));
    assert!(said.contains("another run of the name") && said.contains("--store"), "{said}");
    run.id = "../../escaped".into();
    fs::write(place.0.join("c.json"), serde_json::to_string(&run).expect("JSON")).expect("a file");
    for (words, part) in [
        ("import c.json --store b.stend", "the name of a run is not"),
        ("import small.toml --store b.stend", "it holds no records of stend"),
        ("import one/report.txt --store b.stend", "it holds no records of stend"),
        ("import nowhere.html --store b.stend", "name a report.html"),
    ] {
        let (status, said) = place.refused(words);
        assert_eq!(status, Some(2), "{said}");
        assert!(said.contains(part), "{said}");
    }
    assert_eq!(place.ids("a.stend").len(), 1);
    assert!(!place.0.join("b.stend").exists(), "what is refused makes no store");
}

#[test]
fn a_survey_and_a_comparison_come_back_too() {
    let place = Place::new("survey");
    place.stend("--lab sim --store a.stend --out one");
    place.again("one/report.html", "two");
    assert!(place.file("one/report.html") == place.file("two/report.html"));
    let ids = place.ids("a.stend");
    let sitting = ids[0].rsplit_once('-').expect("a sitting and a number").0;
    place.stend(&format!("report {sitting} --store two.stend --out three"));
    assert!(place.file("one/report.html") == place.file("three/report.html"));
    let lines = |words: &str| place.stend(words).lines().count();
    let figures = lines(&format!("figure {sitting} --store two.stend"));
    assert!(figures > lines(&format!("figure {} --store two.stend", ids[0])), "of all parts");
    let last = format!("figure {sitting} {figures} --format csv --store two.stend");
    assert!(lines(&last) > 1, "the numbers are those of the article");

    for out in ["a", "b"] {
        place.stend(&format!("run small.toml --lab sim --store c.stend --out {out}"));
    }
    let ids = place.ids("c.stend");
    let pair = format!("compare {} {} --force", ids[0], ids[1]);
    place.stend(&format!("{pair} --store c.stend --out four"));
    let of_both = format!("figure {} --against {} --store c.stend", ids[0], ids[1]);
    assert!(place.stend(&of_both).contains("attempts in order of time"));
    place.again("four/report.html", "five");
    assert!(place.file("four/report.html") == place.file("five/report.html"));
}

#[test]
fn the_report_of_a_gate_comes_back_with_its_gate() {
    let place = Place::new("gate");
    let words = "gate small.toml --lab sim --store a.stend --fail-if different --metric";
    for (at, metric) in ["cpu", "throughput"].into_iter().enumerate() {
        let (one, store) = (format!("one{at}"), format!("two{at}.stend"));
        let gate = place.ask(&format!("{words} {metric} --out {one}"));
        let said = place.ask(&format!("import {one}/report.html --store {store}"));
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        let command = said.lines().last().and_then(|line| line.split_once(": ")).expect("advice").1;
        let (_, again) = command.split_once(' ').expect("a program and its words");
        let out = again.split_once("--out ").expect("a directory").1;
        let out = out.split(' ').next().expect("a directory");
        assert_eq!(place.ask(again).status.code(), gate.status.code(), "{again}");
        for file in ["report.html", "report.txt", "records.json"] {
            let (one, two) = (format!("{one}/{file}"), format!("{out}/{file}"));
            assert!(place.file(&one) == place.file(&two), "another {file} by {metric}");
        }
    }
}

/// A run of a NIC duel with 270,000 numbers that were measured: samples and readings.
fn large() -> Run {
    let text = "title = \"Large\"\nquestion = \"Does it fit?\"\n[lab]\nclients = 4\n[factors.tso]\n\
        levels = [\"off\", \"on\"]\n[factors.mtu]\nlevels = [\"1500 B\", \"9000 B\"]\n\
        [load.stream]\nworkload = \"tcp_stream\"\nover = { request_size = \"64..256K *2\", \
        direction = [\"transmit\", \"receive\", \"duplex\"] }\n[method]\ncompare = \"tso\"\n\
        curve = \"request_size\"\nblocks = 32\n";
    let run = simulated::run(&simulated::plan(text), &simulated::physics(""));
    let (started, boot) = (run.started.clone(), String::new());
    let sittings = vec![Sitting { started, boot, records_before: 0, added: None }];
    Run { id: "large".into(), plan_text: text.into(), sittings, ..run }
}

/// Every reading with noise down to its last bit, as clocks of a real machine give it.
fn noisy(run: &mut Run) {
    let mut state = 1_u64;
    for reading in run.records.iter_mut().flat_map(|record| &mut record.readings) {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let chance = f64::from(u32::try_from(state >> 32).unwrap_or(0)) / f64::from(u32::MAX);
        reading.quantity.value *= 1.0 + 1e-7 * (chance - 0.5);
    }
}

/// 270,000 numbers that a lab measured.
#[test]
fn a_page_stays_small_whatever_was_measured() {
    let mut run = large();
    let numbers: usize =
        run.records.iter().map(|r| r.outcome.samples.len() + r.readings.len()).sum();
    assert!(numbers >= 270_000, "only {numbers} numbers");
    for rough in [false, true] {
        if rough {
            noisy(&mut run);
        }
        let bundle = Bundle::of_run(&run);
        let document = bundle.document().expect("an article");
        let whole = page(&document, &bundle).expect("a page");
        assert!(whole.len() <= LARGEST, "{} bytes with noise: {rough}", whole.len());
        let back = Bundle::read(whole.as_bytes()).expect("a bundle");
        let is_rounded = back.parts[0].run.digits.is_some();
        assert_eq!(is_rounded, whole.contains("are rounded to"), "the page says what it did");
        assert_eq!(is_rounded, *back.parts[0].run != run, "without loss unless it says so");
        let samples = |run: &Run| -> Vec<_> {
            run.records.iter().map(|r| r.outcome.samples.clone()).collect()
        };
        assert_eq!(samples(&back.parts[0].run), samples(&run), "samples are as measured");
        let again = page(&back.document().expect("an article"), &back).expect("a page");
        assert!(again == whole, "the same page again");
    }
}
