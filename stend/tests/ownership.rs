//! Knows what another user can put in the way of results, does it as that user while root writes,
//! and asks whether a file of root's was touched; the lab is simulated.
//!
//! Without root nobody else's files can be made: then it says that it was skipped.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "helpers of tests stand outside test functions"
)]

use rustix::process::{Pid, Signal, geteuid, kill_process};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

const STEND: &str = env!("CARGO_BIN_EXE_stend");
/// The other user: no account is needed to run as one.
const OTHER: u32 = 12_345;
/// Longest time of a command; one that waits for a pipe never ends.
const LONGEST: Duration = Duration::from_secs(30);
/// Files that a report is made of, and others that stend writes.
const NAMES: [&str; 9] = [
    "report.html",
    "report.txt",
    "report.md",
    "report.json",
    "records.json",
    "card.txt",
    "comparison.json",
    "stend.1",
    "out.csv",
];
const MINE: &str = "root's own\n";

/// A place in which root has a store, files of its own, and ground that it shares with another.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Option<Self> {
        if !geteuid().is_root() {
            println!("skipped: needs root, to be another user");
            return None;
        }
        let path = std::env::temp_dir().join(format!("stend-own-{}-{name}", std::process::id()));
        let place = Self(path);
        place.directory("", 0, 0o755);
        place.directory("victims", 0, 0o755);
        for name in NAMES {
            fs::write(place.at("victims").join(name), MINE).expect("a victim");
        }
        place.directory("ground", 0, 0o1777);
        place.directory("safe", 0, 0o755);
        let run = ["run", "nic-duel", "--quick", "--lab", "sim", "--out", "first"];
        let made = place.stend("safe", &run);
        assert_eq!(made.status.code(), Some(0), "{}", error(&made));
        Some(place)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn directory(&self, name: &str, owner: u32, mode: u32) -> PathBuf {
        let path = self.at(name);
        fs::create_dir_all(&path).expect("a directory");
        chown(&path, Some(owner), Some(owner)).expect("its owner");
        fs::set_permissions(&path, Permissions::from_mode(mode)).expect("its rights");
        path
    }

    /// `stend` as root in a directory of the place, in its own time.
    fn stend(&self, cwd: &str, words: &[&str]) -> Output {
        let mut command = Command::new(STEND);
        command.args(words).env("STEND_STORE", self.at("root.stend"));
        self.ended(command, cwd)
    }

    fn ended(&self, mut command: Command, cwd: &str) -> Output {
        command.current_dir(self.at(cwd)).env("HOME", &self.0).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().expect("it starts");
        let process = Pid::from_child(&child);
        let (ended, wait) = mpsc::channel::<()>();
        let guard = std::thread::spawn(move || {
            let hangs = wait.recv_timeout(LONGEST) == Err(mpsc::RecvTimeoutError::Timeout);
            hangs && kill_process(process, Signal::KILL).is_ok()
        });
        let output = child.wait_with_output().expect("its output");
        drop(ended);
        assert!(!guard.join().expect("a guard"), "{command:?} hangs");
        output
    }

    /// A script of the other user, in the shared ground.
    fn other(&self, script: &str) -> Child {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", script]).uid(OTHER).gid(OTHER).current_dir(self.at("ground"));
        shell.env("victims", self.at("victims")).env("id", self.id());
        shell.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a shell")
    }

    /// The same, to its end.
    fn plants(&self, script: &str) {
        let done = self.other(script).wait().expect("its end");
        assert!(done.success(), "the other user could not: {script}");
    }

    fn id(&self) -> String {
        let list = self.stend("safe", &["list", "--json"]);
        let list: serde_json::Value = serde_json::from_slice(&list.stdout).expect("a list");
        list[0]["id"].as_str().expect("an id").to_owned()
    }

    /// Not a byte, a name or an owner of root's files has changed.
    fn untouched(&self, variant: &str) {
        let found = fs::read_dir(self.at("victims")).expect("victims").flatten();
        let mut names: Vec<_> = found.map(|e| e.file_name().into_string().expect("text")).collect();
        let mut whole = NAMES.map(str::to_owned);
        names.sort();
        whole.sort();
        assert_eq!(names, whole, "{variant}");
        for name in NAMES {
            let path = self.at("victims").join(name);
            let text = fs::read_to_string(&path).expect("a victim");
            assert_eq!(text, MINE, "{variant}: {name} was overwritten");
            assert_eq!(fs::metadata(&path).expect("a victim").uid(), 0, "{variant}");
        }
    }

    /// A command that is refused: a failure that names the directory, whose it is and the remedy.
    fn refused(&self, (variant, words): (&str, &[&str]), said: &[&str]) {
        let output = self.stend("ground", words);
        let error = error(&output);
        self.untouched(variant);
        assert_eq!(output.status.code(), Some(1), "{variant}: {error}");
        for word in said {
            assert!(error.contains(word), "{variant}: '{word}' is missing in: {error}");
        }
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

const REPORT: [&str; 2] = ["report", "last"];
const UID: &str = "uid 12345";

#[test]
fn a_link_in_place_of_a_directory_is_not_followed() {
    let Some(place) = Place::new("directory") else { return };
    place.plants("ln -s \"$victims\" stend-out");
    place.refused(("link as stend-out", &REPORT), &["stend-out", UID, "--out"]);
    place.plants("rm stend-out; mkdir stend-out; ln -s \"$victims\" stend-out/$id");
    place.refused(("link as the run's directory", &REPORT), &[UID, "--out"]);
    place.plants("mkdir named; ln -s \"$victims\" named/out");
    let words = ["report", "last", "--out", "named/out"];
    place.refused(("link as a directory that was named", &words), &["named/out", UID]);
}

#[test]
fn what_stands_in_place_of_a_file_in_anothers_directory_is_neither_followed_nor_waited_for() {
    let Some(place) = Place::new("file") else { return };
    let of_run = "rm -rf stend-out; mkdir -p stend-out/$id; cd stend-out/$id; ";
    let rows = [
        ("link as report.html", "ln -s \"$victims/report.html\" report.html"),
        ("dangling link as report.html", "ln -s \"$victims/made\" report.html"),
        ("pipe as report.html", "mkfifo report.html"),
        ("links at the names of temporary files", PARTS),
        ("empty", "true"),
    ];
    for (variant, script) in rows {
        place.plants(&format!("{of_run}{script}"));
        place.refused((variant, &REPORT), &["stend-out", "belongs to", UID, "--out"]);
    }
    // Only root can make this one where the kernel protects hard links.
    let hard = place.at("ground/stend-out").join(place.id()).join("report.html");
    fs::hard_link(place.at("victims/report.html"), &hard).expect("a hard link");
    place.refused(("hard link as report.html", &REPORT), &["belongs to", UID]);
    fs::remove_file(hard).expect("a hard link");
}

/// Links at every name that a temporary file of one of the next processes can have.
const PARTS: &str = "p=$$; while [ $p -lt $(($$ + 300)) ]; do \
                     ln -s \"$victims/out.csv\" .stend-$p-0.part; p=$((p + 1)); done";

#[test]
fn a_directory_that_others_can_write_to_is_no_place_for_results() {
    let Some(place) = Place::new("open") else { return };
    place.directory("ground/open", 0, 0o777);
    place.plants("ln -s \"$victims/report.html\" open/report.html");
    let words = ["report", "last", "--out", "open"];
    place.refused(("world-writable", &words), &["open", "0777", "uid 0", "chmod", "--out"]);
    place.directory("ground/team", 0, 0o775);
    chown(place.at("ground/team"), None, Some(OTHER)).expect("its group");
    place.plants("ln -s \"$victims/report.html\" team/report.html");
    let words = ["report", "last", "--out", "team"];
    place.refused(("of a group", &words), &["team", "0775", "gid 12345"]);
}

#[test]
fn a_file_that_root_names_is_not_written_through_anothers_link() {
    let Some(place) = Place::new("named") else { return };
    place.plants("ln -s \"$victims/out.csv\" out.csv; mkfifo pipe; ln -s \"$victims/made\" new");
    let rows = [
        ("export", &["export", "last", "-o", "out.csv"][..]),
        ("export to a dangling link", &["export", "last", "-o", "new"]),
        ("export to a pipe", &["export", "last", "-o", "pipe"]),
        ("figure", &["figure", "last", "1", "--format", "csv", "-o", "out.csv"]),
        ("gate's junit", &["gate", "--run", "last", "--junit", "out.csv"]),
        ("gate's markdown", &["gate", "--run", "last", "--markdown", "new"]),
    ];
    for (variant, words) in rows {
        place.refused((variant, words), &[words[words.len() - 1], UID]);
    }
    place.plants("mkdir man; ln -s \"$victims/stend.1\" man/stend.1");
    place.refused(("man", &["man", "man"]), &["man", UID, "another directory"]);
    // In another's directory a file that was named replaces what has its name, and is not it.
    place.plants("mkdir theirs");
    fs::hard_link(place.at("victims/out.csv"), place.at("ground/theirs/out.csv")).expect("a link");
    let words = ["export", "last", "-o", "theirs/out.csv"];
    assert_eq!(place.stend("ground", &words).status.code(), Some(0));
    place.untouched("hard link at a name that was named");
    // A directory of root's that the other could exchange for another of root's.
    let moved = place.directory("ground/theirs/roots", 0, 0o755);
    fs::write(moved.join("out.csv"), MINE).expect("a file");
    let words = ["export", "last", "-o", "theirs/roots/out.csv"];
    place.refused(("below another's directory", &words), &["theirs", UID]);
    let words = ["report", "last", "--out", "theirs/roots"];
    place.refused(("results below another's directory", &words), &["theirs", UID, "--out"]);
    assert_eq!(fs::read_to_string(moved.join("out.csv")).expect("a file"), MINE);
}

/// A script that ends with the test.
struct Endless(Child);

impl Drop for Endless {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs the other user's script over and over while root makes the report some times.
fn races(variant: &str, prepare: &str, script: &str) {
    let Some(place) = Place::new(variant) else { return };
    place.plants(prepare);
    let endless = format!("while :; do {script}; done");
    let other = Endless(place.other(&endless));
    let mut made = 0;
    for _ in 0..12 {
        let output = place.stend("ground/theirs", &REPORT);
        let code = output.status.code();
        assert!(matches!(code, Some(0 | 1)), "{variant}: {code:?} {}", error(&output));
        made += u32::from(code == Some(0));
    }
    drop(other);
    println!("{variant}: {made} of 12 reports written");
    place.untouched(variant);
}

#[test]
fn a_directory_that_is_renamed_while_it_is_written_to_takes_the_results_along() {
    let fill = "for f in report.html report.txt report.md report.json records.json; do \
                ln -s \"$victims/$f\" theirs/stend-out/$id/$f; done";
    // The run's directory is moved away as soon as root has made it, and links put in its place.
    let script = format!(
        "if [ -O theirs/stend-out/$id ]; then rm -rf theirs/stend-out/$id; fi; \
         if [ -d theirs/stend-out/$id ]; then n=$((n + 1)); \
         mv theirs/stend-out/$id theirs/stend-out/away$n && mkdir theirs/stend-out/$id && {fill}; \
         sleep 0.4; rm -rf theirs/stend-out/$id; fi"
    );
    races("renamed", "mkdir theirs theirs/stend-out", &script);
}

#[test]
fn a_parent_that_is_swapped_for_a_link_is_not_followed() {
    let script = "mv theirs/stend-out theirs/real; ln -s \"$victims\" theirs/stend-out; \
                  sleep 0.01; rm theirs/stend-out; mv theirs/real theirs/stend-out; sleep 0.01";
    races("swapped", "mkdir theirs theirs/stend-out", script);
}

#[test]
fn ordinary_uses_go_on() {
    let Some(place) = Place::new("ordinary") else { return };
    let good = |cwd: &str, words: &[&str]| {
        let output = place.stend(cwd, words);
        assert_eq!(output.status.code(), Some(0), "{cwd} {words:?}: {}", error(&output));
        output
    };
    let of_run = |cwd: &str| place.at(cwd).join("stend-out").join(place.id());
    // Root at home, in a sticky directory and in the home of another, twice each.
    place.plants("mkdir home");
    for cwd in ["safe", "ground", "ground/home"] {
        for _ in 0..2 {
            good(cwd, &REPORT);
            good(cwd, &["export", "-o", "mine.csv"]);
        }
        for name in ["report.html", "report.txt", "report.md", "report.json", "records.json"] {
            assert_eq!(fs::metadata(of_run(cwd).join(name)).expect(name).uid(), 0, "{cwd}");
        }
        good(cwd, &["man", "pages"]);
        assert!(place.at(cwd).join("pages/stend-run.1").is_file());
    }
    good("ground", &["report", "--out", "a/b/c"]);
    // Whatever the gate says.
    place.stend("ground", &["gate", "--run", "last", "--junit", "d/e.xml"]);
    assert!(place.at("ground/d/e.xml").is_file());
    // Links of one's own lead where one wants, and standard output is what it is.
    symlink(place.at("safe"), place.at("safe/again")).expect("a link");
    good("safe", &["report", "--out", "again/linked"]);
    assert!(place.at("safe/linked/report.html").is_file());
    symlink("later.csv", place.at("safe/link.csv")).expect("a link");
    good("safe", &["export", "-o", "link.csv"]);
    assert!(place.at("safe/later.csv").is_file());
    let stdout = good("safe", &["export", "-o", "/dev/stdout"]).stdout;
    assert_eq!(stdout, fs::read(place.at("safe/later.csv")).expect("a table"));
    good("safe", &["export", "-o", "/dev/null"]);
    assert!(good("safe", &["export", "-o", "-"]).stdout == stdout);
}

#[test]
fn another_user_writes_at_home_and_not_in_roots_directories() {
    let Some(place) = Place::new("user") else { return };
    let binary = place.at("stend");
    fs::copy(STEND, &binary).expect("a copy");
    let home = place.directory("ground/home", OTHER, 0o775);
    let user = |words: &[&str]| {
        let mut command = Command::new(&binary);
        command.args(words).uid(OTHER).gid(OTHER).env("STEND_STORE", home.join("own.stend"));
        place.ended(command, "ground/home")
    };
    for words in [&["run", "nic-duel", "--quick", "--lab", "sim"][..], &REPORT, &REPORT] {
        let output = user(words);
        assert_eq!(output.status.code(), Some(0), "{words:?}: {}", error(&output));
    }
    let output = user(&["report", "--out", "../new"]);
    assert_eq!(output.status.code(), Some(0), "in a sticky directory: {}", error(&output));
    assert!(is_file(&place.at("ground/new/report.html"), OTHER));
    let output = user(&["report", "--out", "../../victims"]);
    assert_eq!(output.status.code(), Some(1), "{}", error(&output));
    place.untouched("another user");
    // What the other made root may read, and writes beside it only what nobody can exchange.
    place.refused(("the user's", &["report", "last", "--out", "home/stend-out"]), &[UID]);
}

fn is_file(path: &Path, owner: u32) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.uid() == owner)
}
