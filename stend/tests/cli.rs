//! Knows the door as a person uses it: words in, words and files out, exit status, as three kinds
//! of user.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "helpers of tests stand outside test functions"
)]

mod moment;

use desk::record::{Completeness, LabKind, Run};
use moment::{good_or_disturbed, taken};
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use std::{fs, thread};

const STEND: &str = env!("CARGO_BIN_EXE_stend");

/// Labs are heavy: one at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn lock() -> std::sync::MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A directory of a test that everybody may write to, removed afterwards.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("stend-cli-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("a directory");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).expect("open to all");
        Self(path)
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        fs::write(&path, text).expect("a file");
        path.display().to_string()
    }

    /// A copy of the binary where an ordinary user can reach it.
    fn public_binary(&self) -> String {
        let path = self.0.join("stend");
        fs::copy(STEND, &path).expect("a copy");
        path.display().to_string()
    }

    fn run(&self, words: &[&str]) -> Output {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(&self.0).stdin(Stdio::null());
        command.env("XDG_STATE_HOME", self.0.join("state"));
        // A copy just written may still be held open by a child of another test for a moment.
        for _ in 0..50 {
            match command.output() {
                Err(e) if e.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                    thread::sleep(Duration::from_millis(20));
                }
                output => return output.expect("it starts"),
            }
        }
        command.output().expect("it starts")
    }

    fn records(&self, directory: &str) -> Run {
        let path = self.0.join(directory).join("records.json");
        let text = fs::read_to_string(path).expect("records");
        serde_json::from_str(&text).expect("a run")
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

/// A plan of six short trials; `factor` is its `[factors...]` table.
fn small(factor: &str) -> String {
    format!(
        "title = \"Small\"\nquestion = \"Does it run?\"\n[lab]\nclients = 2\n{factor}\n\
         [load.stream]\nworkload = \"tcp_stream\"\nrequest_size = \"16 KiB\"\n[method]\n\
         blocks = 3\ndry = false\nsettle = \"50 ms\"\nsteady = \"noted\"\nsettle_max = \"100 ms\"\n\
         window = \"100 ms\"\n"
    )
}

const TSO: &str = "[factors.tso]\nlevels = [\"off\", \"on\"]";
const CONGESTION: &str = "[factors.congestion]\nlevels = [\"kernel\", \"reno\"]";

fn is_root() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().any(|l| l.split_whitespace().take(2).eq(["Uid:", "0"]))
}

fn have(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    if !found {
        println!("skipped: {program} is not installed");
    }
    found
}

/// Control groups of the machine whose names begin so.
fn groups(prefix: &str) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![PathBuf::from("/sys/fs/cgroup")]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
                if entry.file_name().to_string_lossy().starts_with(prefix) {
                    found.push(entry.path());
                }
            }
        }
    }
    found
}

#[test]
fn help_names_the_verbs_and_the_options() {
    let place = Place::new("help");
    let help = stdout(&place.run(&[STEND, "--help"]));
    let of_run = stdout(&place.run(&[STEND, "run", "--help"]));
    assert!(of_run.contains("--displaced-work"), "{of_run}");
    for word in ["run", "plan", "--out", "--json", "--lab"] {
        assert!(help.contains(word), "{word} in {help}");
    }
    for own in ["guardian", "listen"] {
        assert!(!help.contains(own), "what stend starts itself is not for people");
    }
}

#[test]
fn a_plan_is_priced_before_anything_runs() {
    let place = Place::new("plan");
    let output = place.run(&[STEND, "plan", "nic-duel", "--quick"]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0));
    for part in ["460 counted", "92 dry", "min", "Smallest effect", "5 %", "request_size"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!place.0.join("stend-out").exists());
}

#[test]
fn a_bad_plan_is_refused_with_line_value_and_remedy() {
    let place = Place::new("bad");
    let file = place.file("bad.toml", &small(TSO).replace("16 KiB", "16 parsecs"));
    for verb in ["plan", "run"] {
        let output = place.run(&[STEND, verb, &file]);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        let text = stderr(&output);
        for part in ["bad.toml", "line 9", "parsecs", "KiB"] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert_eq!(stdout(&output), "");
    }
    let output = place.run(&[STEND, "run", "nic-dule"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("nic-duel"), "{}", stderr(&output));
}

/// Each of the six trials of the small plan was visited, and the product failed in none.
fn six_visited(run: &Run) {
    let trials: BTreeSet<u32> = run.records.iter().map(|r| r.trial.id).collect();
    assert_eq!(trials.len(), 6, "of {} visits", run.records.len());
    for record in &run.records {
        assert!(good_or_disturbed(record.outcome.fault.as_ref()), "{:?}", record.outcome.fault);
    }
}

#[test]
fn a_run_writes_its_report_and_says_the_same_on_standard_output() {
    let _lock = lock();
    let place = Place::new("run");
    let file = place.file("small.toml", &small(CONGESTION));
    let output = taken(|| place.run(&[STEND, "run", &file, "--out", "here"]));
    let run = place.records("here");
    assert_eq!(run.completeness, Completeness::Complete);
    six_visited(&run);
    assert!(run.records.iter().all(|r| r.outcome.work.sent_bytes > 0));
    let html = fs::read_to_string(place.0.join("here/report.html")).expect("a report");
    assert!(html.contains("<svg"));
    assert!(!html.replace("http://www.w3.org/2000/svg", "").contains("://"), "no request");
    assert!(html.len() < 1_500_000, "{} B", html.len());
    assert!(fs::read_to_string(place.0.join("here/report.txt")).expect("text").len() > 1000);
    assert!(stdout(&output).contains("congestion"), "{}", stdout(&output));
    assert!(stderr(&output).contains("report.html"), "{}", stderr(&output));
}

#[test]
fn displaced_work_asked_for_on_the_command_line_is_read_and_can_be_asked_for_again() {
    let _lock = lock();
    let place = Place::new("displaced");
    let file = place.file("small.toml", &small(CONGESTION));
    taken(|| place.run(&[STEND, "run", &file, "--displaced-work", "--out", "here"]));
    let run = place.records("here");
    assert!(run.plan.method.displaced_work);
    assert!(run.command.contains("--displaced-work"), "{}", run.command);
    for record in &run.records {
        let value = |probe: &str, key: &str| {
            record.reading(probe, "machine", key).map(|quantity| quantity.value)
        };
        let cpus = value("cpu", "cpus").expect("CPUs");
        let calibrated = value("soaker", "calibrated").expect("a calibration");
        if calibrated < 0.9 * cpus {
            println!("not judged: others were busy in a calibration, {calibrated} CPUs were left");
        } else {
            // A full load of two clients leaves an idle thread little.
            let displaced = value("soaker", "displaced").expect("displaced work");
            assert!((0.3 * cpus..=cpus).contains(&displaced), "{displaced} of {cpus} CPUs");
            assert!(value("soaker", "displaced.cpu0").is_some());
        }
        assert!(value("soaker", "cpu").is_some() && value("cpu", "baseline").is_some());
        assert!(value("kernel", "threads").is_some() && value("foreign", "cpu").is_some());
    }
}

#[test]
fn json_is_one_document_with_run_and_analysis() {
    let _lock = lock();
    let place = Place::new("json");
    let file = place.file("small.toml", &small(CONGESTION));
    let output = place.run(&[STEND, "run", &file, "--json"]);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("json");
    let records = document["run"]["records"].as_array().expect("records");
    // A visit that something disturbed is there too.
    let trials: BTreeSet<_> = records.iter().map(|r| r["trial"]["id"].as_u64()).collect();
    assert_eq!(trials.len(), 6);
    assert!(records.iter().any(|r| r["outcome"]["fault"].is_null()), "none of them is valid");
    assert_eq!(document["analysis"]["comparisons"].as_array().map(Vec::len), Some(1));
}

#[test]
fn an_ordinary_user_gets_namespaces_of_his_own() {
    let _lock = lock();
    if !is_root() || !have("setpriv") {
        println!("skipped: needs root, to become an ordinary user");
        return;
    }
    let place = Place::new("user");
    let (binary, file) = (place.public_binary(), place.file("small.toml", &small(TSO)));
    let user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    if !place.run(&[&user[..], &["unshare", "-Urn", "true"]].concat()).status.success() {
        println!("skipped: this kernel gives ordinary users no namespaces");
        return;
    }
    let words = [&user[..], &[binary.as_str(), "run", &file, "--out", "here"]].concat();
    taken(|| place.run(&words));
    let run = place.records("here");
    assert_eq!(run.environment().lab.as_ref().map(|l| l.0), Some(LabKind::UserNamespaces));
    six_visited(&run);
}

#[test]
fn a_store_in_a_directory_of_somebody_else_can_be_read() {
    let place = Place::new("foreign-store");
    if !is_root() || !have("setpriv") {
        println!("skipped: needs root, to become an ordinary user");
        return;
    }
    let (binary, file) = (place.public_binary(), place.file("small.toml", &small(CONGESTION)));
    let closed = place.0.join("closed");
    fs::create_dir(&closed).expect("a directory");
    let simulated = ["run", &file, "--lab", "sim", "--store", "closed/a#1.stend", "--out", "o"];
    let output = place.run(&[&[binary.as_str()][..], &simulated].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).expect("closed to others");
    let user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", &binary];
    let list = place.run(&[&user[..], &["list", "--store", "closed/a#1.stend"]].concat());
    assert!(stdout(&list).contains("complete"), "{}{}", stdout(&list), stderr(&list));
    let report = ["report", "--store", "closed/a#1.stend", "--out", "again"];
    let output = place.run(&[&user[..], &report].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn where_namespaces_are_refused_the_report_says_loopback_and_links_are_refused() {
    let _lock = lock();
    if !have("unshare") || !have("setpriv") {
        return;
    }
    let place = Place::new("refused");
    let refuse = "echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv \
                  --bounding-set=-all --inh-caps=-all --no-new-privs \"$@\"";
    let without = ["unshare", "-Ur", "sh", "-c", refuse, "sh"];
    let run = |text: &str| {
        let (binary, file) = (place.public_binary(), place.file("small.toml", text));
        place.run(&[&without[..], &[binary.as_str(), "run", &file, "--out", "here"]].concat())
    };
    if stderr(&place.run(&[&without[..], &["true"]].concat())).contains("unshare failed") {
        println!("skipped: this kernel gives no user namespace to refuse them in");
        return;
    }
    let output = taken(|| run(&small(CONGESTION)));
    let (kind, reason) = place.records("here").environment().lab.clone().expect("a lab");
    assert_eq!(kind, LabKind::Loopback);
    assert!(reason.contains("unshare"), "{reason}");
    assert!(stdout(&output).to_lowercase().contains("loopback"), "{}", stdout(&output));
    let output = run(&small(TSO));
    assert_eq!(output.status.code(), Some(5), "{}", stderr(&output));
    assert!(stderr(&output).contains("'tso'"), "{}", stderr(&output));
}

#[test]
fn an_interrupt_gives_a_partial_report_and_leaves_nothing() {
    let _lock = lock();
    let place = Place::new("interrupt");
    let text = small(CONGESTION).replace("blocks = 3", "blocks = 500");
    let file = place.file("long.toml", &text);
    let mut child = Command::new(STEND)
        .args(["run", &file, "--out", "here"])
        .current_dir(&place.0)
        .env("XDG_STATE_HOME", place.0.join("state"))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let pid = child.id();
    let mut told =
        BufReader::new(child.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
    let kept = |line: &str| {
        let trials = line.split_once(" trials")?.0.rsplit(' ').next()?;
        trials.split_once('/')?.0.parse::<usize>().ok()
    };
    assert!(told.any(|line| kept(&line) > Some(6)), "it says how many trials it has");
    let status = Command::new("kill").args(["-INT", &pid.to_string()]).status();
    assert!(status.expect("kill").success());
    let rest: Vec<String> = told.collect();
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{rest:?}");
    let run = place.records("here");
    assert!(matches!(run.completeness, Completeness::Partial { .. }));
    assert!(run.records.len() > 6, "{} trials", run.records.len());
    assert!(place.0.join("here/report.html").exists());
    let left = fs::read_dir("/run/netns").into_iter().flatten().flatten();
    let prefix = format!("stend-{pid}-");
    let mut left = left.filter(|e| e.file_name().to_string_lossy().starts_with(&prefix));
    assert!(left.next().is_none(), "a namespace of the run is left");
    assert_eq!(groups(&prefix), Vec::<PathBuf>::new(), "a control group of the run is left");
    assert!(!Path::new(&format!("/proc/{pid}")).exists());
}

#[test]
fn what_a_killed_run_left_the_next_one_removes() {
    let _lock = lock();
    let place = Place::new("killed");
    let text = small(CONGESTION).replace("blocks = 3", "blocks = 500");
    let file = place.file("long.toml", &text);
    let mut child = Command::new(STEND)
        .args(["run", &file, "--out", "there"])
        .current_dir(&place.0)
        .env("XDG_STATE_HOME", place.0.join("state"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let prefix = format!("stend-{}-", child.id());
    let begun = Instant::now();
    while groups(&prefix).is_empty() && begun.elapsed() < Duration::from_secs(20) {
        let ended = child.try_wait().expect("it can be waited for");
        assert_eq!(ended, None, "it runs for minutes");
        thread::sleep(Duration::from_millis(20));
    }
    child.kill().expect("kill");
    child.wait().expect("it ends");
    let left = groups(&prefix);
    if left.is_empty() {
        println!("skipped: no control groups can be made here");
        return;
    }
    let file = place.file("small.toml", &small(CONGESTION));
    taken(|| place.run(&[STEND, "run", &file, "--out", "here"]));
    assert_eq!(groups(&prefix), Vec::<PathBuf>::new(), "{left:?} were there");
}
