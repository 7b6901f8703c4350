//! Knows how a run of the real binary is started, killed at a chance moment, and what it left.

#![expect(clippy::expect_used, reason = "helpers of tests stand outside test functions")]

use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

pub const STEND: &str = env!("CARGO_BIN_EXE_stend");

/// The five settings of the machine that the plan of [`Place::plan`] switches.
pub const SETTINGS: [&str; 5] = [
    "/sys/kernel/mm/transparent_hugepage/enabled",
    "/proc/sys/net/core/busy_poll",
    "/proc/sys/net/core/netdev_budget",
    "/proc/sys/net/core/netdev_max_backlog",
    "/proc/sys/kernel/sched_autogroup_enabled",
];

/// Both levels of every setting are other values than a machine usually begins with.
const PLAN: &str = r#"title = "Switched"
question = "Does it come back?"
[lab]
clients = 1
[factors.tuned]
key = "profile"
[factors.tuned.levels.one]
thp = "always"
busy_poll = "20 us"
netdev_budget = 600
netdev_backlog = 2000
autogroup = "off"
[factors.tuned.levels.two]
thp = "never"
busy_poll = "50 us"
netdev_budget = 900
netdev_backlog = 3000
autogroup = "off"
[load.stream]
workload = "tcp_stream"
request_size = "16 KiB"
[method]
blocks = 900
dry = false
settle = "50 ms"
settle_max = "100 ms"
window = "100 ms"
"#;

/// A directory of a test with a journal of its own, the machine's settings saved. When this goes,
/// they are what they were, whatever has happened. Settings are the whole machine's: one at a time.
pub struct Place {
    pub path: PathBuf,
    saved: Vec<String>,
    alone: Arc<File>,
}

impl Place {
    pub fn new(name: &str) -> Self {
        let alone = File::create(std::env::temp_dir().join("stend-machine.lock")).expect("a lock");
        flock(&alone, FlockOperation::LockExclusive).expect("the machine to ourselves");
        Self::at(name, Arc::new(alone))
    }

    /// Another place, for tests that share the machine because they switch what is not the whole
    /// machine's.
    pub fn beside(&self, name: &str) -> Self {
        Self::at(name, Arc::clone(&self.alone))
    }

    fn at(name: &str, alone: Arc<File>) -> Self {
        let path = std::env::temp_dir().join(format!("stend-{name}-{}", std::process::id()));
        fs::create_dir_all(path.join("journal")).expect("a directory");
        fs::write(path.join("plan.toml"), PLAN).expect("a plan");
        Self { path, saved: now(), alone }
    }

    /// The plan, with this in place of that.
    pub fn plan(&self, from: &str, to: &str) {
        assert!(PLAN.contains(from), "{from}");
        fs::write(self.path.join("plan.toml"), PLAN.replace(from, to)).expect("a plan");
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(&self.path).stdin(Stdio::null());
        command.env("STEND_JOURNAL", self.path.join("journal"));
        command.env("XDG_STATE_HOME", &self.path);
        command
    }

    /// Runs stend to its end.
    pub fn stend(&self, words: &[&str]) -> Output {
        self.command(&[&[STEND], words].concat()).output().expect("it starts")
    }

    /// Runs another program to its end.
    pub fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().expect("it starts")
    }

    /// Starts `stend WORDS...` and comes back at once.
    pub fn start(&self, words: &[&str]) -> Running {
        self.start_logged(&[&[STEND], words].concat(), "log")
    }

    /// Starts another program, whose errors go to a file, and comes back at once.
    pub fn start_logged(&self, words: &[&str], log: &str) -> Running {
        let mut command = self.command(words);
        let log = File::create(self.path.join(log)).expect("a log");
        command.stdout(Stdio::null()).stderr(log);
        Running(command.spawn().expect("it starts"))
    }

    /// How many of the five are not what they were.
    pub fn switched(&self) -> usize {
        now().iter().zip(&self.saved).filter(|(now, saved)| now != saved).count()
    }

    /// Waits until the run has switched everything.
    pub fn wait_switched(&self) {
        let seen = until(Duration::from_secs(20), || self.switched() == SETTINGS.len());
        assert!(seen.is_some(), "{}", fs::read_to_string(self.path.join("log")).expect("a log"));
    }

    /// Names of the journals.
    pub fn journals(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path.join("journal")).expect("journals").flatten();
        entries.map(|entry| entry.path()).collect()
    }

    /// Everything that conductor `pid` left, in words; empty when the machine is as it was.
    pub fn left_by(&self, pid: u32) -> Vec<String> {
        let mut left: Vec<String> =
            self.journals().iter().map(|p| p.display().to_string()).collect();
        for (path, (now, saved)) in SETTINGS.iter().zip(now().iter().zip(&self.saved)) {
            if now != saved {
                left.push(format!("{path} is {now}, was {saved}"));
            }
        }
        let prefix = format!("stend-{pid}-");
        let names = fs::read_dir("/run/netns").into_iter().flatten().flatten();
        let names = names.map(|entry| entry.path()).chain(groups());
        let ours = |path: &PathBuf| {
            path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(&prefix))
        };
        left.extend(names.filter(ours).map(|path| path.display().to_string()));
        left.extend(agents_of(pid).iter().map(|agent| format!("agent {agent}")));
        left
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        for (path, value) in SETTINGS.iter().zip(&self.saved) {
            let _ = fs::write(path, value);
        }
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// A conductor; killed when dropped.
pub struct Running(Child);

impl Running {
    pub fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Kills it, and nothing else of its.
    pub fn kill(mut self) -> u32 {
        // Not waited for yet: what tidies up must not take the dead for the living.
        signal(self.pid(), Signal::KILL);
        let pid = self.pid();
        thread::sleep(Duration::from_millis(1));
        self.0.wait().expect("it ends");
        pid
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        self.0.try_wait().expect("it can be waited for").is_some()
    }

    /// Waits for its end, at most `limit`; a status only if it ends and was not killed.
    pub fn ends(mut self, limit: Duration) -> Option<i32> {
        let begun = Instant::now();
        while begun.elapsed() < limit {
            if let Some(status) = self.0.try_wait().expect("it can be waited for") {
                return status.code();
            }
            thread::sleep(Duration::from_millis(5));
        }
        None
    }

    /// Waits for its end and gives its exit status.
    pub fn wait(mut self) -> Option<i32> {
        self.0.wait().expect("it ends").code()
    }

    /// Asks it to stop and gives its exit status.
    pub fn interrupt(mut self) -> Option<i32> {
        signal(self.pid(), Signal::INT);
        self.0.wait().expect("it ends").code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub fn signal(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a process");
    let _ = kill_process(pid, signal);
}

/// The present words of the five settings.
fn now() -> Vec<String> {
    let read = |path: &&str| {
        let text = fs::read_to_string(path).unwrap_or_default();
        let chosen = text.split_whitespace().find_map(|w| w.strip_prefix('[')?.strip_suffix(']'));
        chosen.unwrap_or(text.trim()).to_owned()
    };
    SETTINGS.iter().map(read).collect()
}

/// Time until it holds, at most `limit`.
pub fn until(limit: Duration, holds: impl Fn() -> bool) -> Option<Duration> {
    let begun = Instant::now();
    loop {
        if holds() {
            return Some(begun.elapsed());
        }
        if begun.elapsed() > limit {
            return None;
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// A time by chance, below `limit`.
pub fn chance(limit: Duration) -> Duration {
    let mut bytes = [0; 4];
    rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty()).expect("chance");
    limit.mul_f64(f64::from(u32::from_le_bytes(bytes)) / f64::from(u32::MAX))
}

/// How often a test kills: the number in the environment, else `usual`.
pub fn kills(variable: &str, usual: u32) -> u32 {
    std::env::var(variable).ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

/// Processes whose command line begins so.
fn processes(prefix: &str) -> Vec<(u32, String)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let named = pids.filter_map(|pid: u32| {
        let line = fs::read(Path::new("/proc").join(pid.to_string()).join("cmdline")).ok()?;
        let name = String::from_utf8_lossy(line.split(|byte| *byte == 0).next()?).into_owned();
        name.starts_with(prefix).then_some((pid, name))
    });
    named.collect()
}

/// Hosts that a process has started.
pub fn agents_of(conductor: u32) -> Vec<u32> {
    let tag = format!(" {conductor}-");
    let agents = processes("stend-agent ").into_iter().filter(|(_, name)| name.contains(&tag));
    agents.map(|(pid, _)| pid).collect()
}

/// The guardian of a conductor.
pub fn guardian_of(conductor: u32) -> Option<u32> {
    let name = format!("stend-guardian {conductor}");
    processes(&name).into_iter().find(|(_, whole)| *whole == name).map(|(pid, _)| pid)
}

/// All control groups of the machine.
fn groups() -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![PathBuf::from("/sys/fs/cgroup")]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
                found.push(entry.path());
            }
        }
    }
    found
}
