//! Follows runs of the real binary with `stend watch`, while they are measured and afterwards;
//! nothing is measured, the lab is simulated.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "helpers of tests stand outside test functions"
)]

#[allow(dead_code, reason = "each test takes what it needs of it")]
mod kill;

use kill::{STEND, until};
use rustix::process::Signal;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Longest that a run, or a word on a screen, is waited for.
const LONGEST: Duration = Duration::from_secs(90);

struct Home(PathBuf);

/// A process that is killed when this goes.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Home {
    /// A directory with a plan of so many blocks.
    fn new(name: &str, blocks: u32) -> Self {
        let path = std::env::temp_dir().join(format!("stend-watch-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a directory");
        let plan = format!(
            "title = \"Watched\"\nquestion = \"Is it seen?\"\n[lab]\nclients = 1\n[factors.tso]\n\
             levels = [\"off\", \"on\"]\n[load.stream]\nworkload = \"tcp_stream\"\n\
             request_size = \"16 KiB\"\n[method]\nblocks = {blocks}\ndry = false\n"
        );
        fs::write(path.join("plan.toml"), plan).expect("a plan");
        Self(path)
    }

    fn command(&self, program: &str, words: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(words).current_dir(&self.0).stdin(Stdio::null()).env("HOME", &self.0);
        command.env("XDG_STATE_HOME", &self.0).env_remove("NO_COLOR").env_remove("COLUMNS");
        command
    }

    fn stend(&self, words: &[&str]) -> Output {
        self.command(STEND, words).output().expect("it starts")
    }

    fn good(&self, words: &[&str]) -> String {
        let output = self.stend(words);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{words:?}: {error}");
        String::from_utf8(output.stdout).expect("text")
    }

    /// Starts a run of the plan and comes back at once.
    fn begin(&self) -> Running {
        let words = ["run", "plan.toml", "--lab", "sim", "--seed", "3"];
        let log = File::create(self.0.join("log")).expect("a log");
        let mut command = self.command(STEND, &words);
        Running(command.stdout(Stdio::null()).stderr(log).spawn().expect("it starts"))
    }

    /// Waits until a snapshot says this.
    fn wait_for(&self, words: &str) -> String {
        let mut last = String::new();
        let begun = Instant::now();
        while begun.elapsed() < LONGEST {
            let output = self.stend(&["watch", "--once"]);
            last = String::from_utf8_lossy(&output.stdout).into_owned();
            if last.contains(words) {
                return last;
            }
        }
        panic!("never said '{words}', last:\n{last}\n{}", self.log());
    }

    fn log(&self) -> String {
        fs::read_to_string(self.0.join("log")).unwrap_or_default()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// How many trials a snapshot calls done.
fn done(snapshot: &str) -> Option<u32> {
    let (before, _) = snapshot.split_once(" trials")?;
    let mut words = before.rsplit_once(" of ")?.0.split_whitespace();
    words.next_back()?.parse().ok()
}

#[test]
fn a_run_is_followed_from_another_process_and_nobody_waits() {
    let home = Home::new("run", 400);
    let mut run = home.begin();
    let early = home.wait_for(": running");
    assert!(early.contains("Watched") && early.contains("so far"), "{early}");
    let mut seen = vec![done(&early).expect("a count")];
    let mut looks = 0;
    while run.0.try_wait().expect("a child").is_none() {
        let begun = Instant::now();
        let text = home.good(&["watch", "--once"]);
        assert!(begun.elapsed() < Duration::from_secs(8), "it waited for {:?}", begun.elapsed());
        seen.extend(done(&text));
        looks += 1;
    }
    assert!(looks > 2, "the run was over at once");
    assert_eq!(run.0.wait().expect("it ends").code(), Some(0), "{}", home.log());
    assert!(seen.is_sorted() && seen.first() < seen.last(), "{seen:?}");
    let end = home.good(&["watch", "--once"]);
    assert!(end.contains("No run is open. Last run") && end.contains("complete"), "{end}");
    assert!(end.contains("block 400 of 400, 800 of 800 trials"), "{end}");
    assert!(!end.contains("so far") && end.contains("400 blocks"), "{end}");
    // What the screen says is what the report says.
    let report = home.good(&["report"]).replace('\u{a0}', " ");
    let effect = end.split("throughput ").nth(1).and_then(|rest| rest.split(", 400").next());
    let effect = effect.expect("an effect").split_whitespace().collect::<Vec<_>>().join(" ");
    let centre = effect.split(" (").next().expect("a centre");
    assert!(report.contains(centre), "{centre} is not in\n{report}");
}

#[test]
fn a_run_whose_process_died_is_interrupted_and_a_resumed_one_goes_on() {
    let home = Home::new("dead", 400);
    let run = home.begin();
    home.wait_for("block ");
    drop(run);
    let dead = home.good(&["watch", "--once"]);
    let dead = dead.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(dead.contains("interrupted; `stend resume` continues it"), "{dead}");
    home.good(&["resume"]);
    let whole = home.good(&["watch", "--once"]);
    assert!(whole.contains("complete") && whole.contains("block 400 of 400"), "{whole}");
    home.good(&["resume", "last", "--blocks", "+2"]);
    let more = home.good(&["watch", "--once"]);
    assert!(more.contains("block 402 of 402, 804 of 804 trials"), "{more}");
}

#[test]
fn a_survey_is_one_thing_with_parts_and_an_id_names_a_part() {
    let home = Home::new("survey", 3);
    home.good(&["survey", "--lab", "sim"]);
    let last = home.good(&["watch", "--once"]);
    assert!(last.contains("Part 5 of 5"), "{last}");
    let list = home.good(&["list"]);
    let id = list.lines().nth(1).and_then(|line| line.split_whitespace().next()).expect("an id");
    let (start, _) = id.rsplit_once('-').expect("a number");
    assert!(home.good(&["watch", "--once", start]).contains("Part 5 of 5"));
    let first = home.good(&["watch", "--once", &format!("{start}-1")]);
    assert!(!first.contains("Part ") && first.contains(&format!("Run {start}-1")), "{first}");
    let none = home.stend(&["watch", "--once", "none"]);
    assert_ne!(none.status.code(), Some(0));
}

#[test]
fn colours_follow_the_option_and_a_store_that_is_not_there_is_an_error() {
    let home = Home::new("colour", 5);
    let none = home.stend(&["watch"]);
    let error = String::from_utf8_lossy(&none.stderr);
    assert!(none.status.code() != Some(0) && error.contains("no store is at"), "{error}");
    home.good(&["run", "plan.toml", "--lab", "sim"]);
    assert!(!home.good(&["watch"]).contains('\x1b'), "a pipe takes no colours");
    let coloured = home.good(&["watch", "--color", "always"]);
    assert!(coloured.contains("\x1b[38;5;68moff\x1b[0m"), "{coloured}");
}

/// A watch in a terminal of its own, whose bytes go to a file; none without script(1). A shell runs
/// what stands `before` it.
fn screened(home: &Home, before: &str) -> Option<Running> {
    let line = format!("{before}stty rows 24 cols 80; TERM=xterm exec {STEND} watch");
    let mut command = home.command("script", &["-qefc", &line, "typescript"]);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
    if child.is_err() {
        println!("skipped: script is not installed");
    }
    child.ok().map(Running)
}

#[test]
fn the_terminal_is_brought_back_after_a_key_and_after_a_signal() {
    let home = Home::new("screen", 5);
    home.good(&["run", "plan.toml", "--lab", "sim"]);
    let bytes = || fs::read_to_string(home.0.join("typescript")).unwrap_or_default();
    let (enter, leave) = ("\x1b[?1049h", "\x1b[?1049l");
    let drawn = |bytes: &str| bytes.contains(enter) && bytes.contains("Watched");
    for signal in [None, Some(Signal::TERM), Some(Signal::INT)] {
        let Some(mut child) = screened(&home, "") else { return };
        assert!(until(LONGEST, || drawn(&bytes())).is_some(), "{}", bytes());
        assert!(!bytes().contains(leave));
        match signal {
            None => child.0.stdin.as_mut().expect("keys").write_all(b"?q").expect("a key"),
            Some(signal) => kill::signal(watcher(child.0.id()), signal),
        }
        assert!(until(LONGEST, || bytes().contains(leave)).is_some(), "{}", bytes());
        let status = child.0.wait().expect("it ends");
        assert_eq!(status.code(), Some(0), "{signal:?}: {}", bytes());
        fs::remove_file(home.0.join("typescript")).expect("it goes");
    }
}

#[test]
fn without_its_terminal_a_watch_ends() {
    let home = Home::new("gone", 5);
    home.good(&["run", "plan.toml", "--lab", "sim"]);
    let drawn = || fs::read_to_string(home.0.join("typescript")).unwrap_or_default();
    for before in ["", "trap '' HUP; "] {
        let Some(mut child) = screened(&home, before) else { return };
        assert!(until(LONGEST, || drawn().contains("Watched")).is_some(), "{}", drawn());
        let watch = watcher(child.0.id());
        child.0.kill().expect("script goes");
        child.0.wait().expect("it went");
        let ended = until(Duration::from_secs(5), || is_gone(watch));
        if ended.is_none() {
            kill::signal(watch, Signal::KILL);
        }
        assert!(ended.is_some(), "it goes on without a terminal, '{before}'");
        fs::remove_file(home.0.join("typescript")).expect("it goes");
    }
}

/// Whether a process has ended, whoever waits for it.
fn is_gone(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_none_or(|(_, state)| state.starts_with('Z'))
}

/// The child of script(1).
fn watcher(script: u32) -> u32 {
    let path = format!("/proc/{script}/task/{script}/children");
    let children = fs::read_to_string(path).expect("children");
    children.split_whitespace().next().and_then(|pid| pid.parse().ok()).expect("a child")
}
