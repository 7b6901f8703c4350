//! Knows how another program is run on certain CPUs, and whether it was disturbed there.
//!
//! Must not know what the program says.

use super::Failed;
use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How often a program is looked at of which the last part counts.
const LOOK: Duration = Duration::from_millis(10);
/// And any other: to look costs a CPU something that may be one of its own.
const LOOK_SELDOM: Duration = Duration::from_millis(100);
/// It is disturbed if for more than this share it waited for a CPU, or the hypervisor had that.
const MOST: f64 = 0.01;
/// The same where its figure is the best of many passes.
const MOST_OF_MANY: f64 = 0.1;
/// A tick of `/proc/stat`, seconds: USER_HZ is 100 on all of Linux that we know.
const TICK_S: f64 = 0.01;

/// Between the end of what a program timed and its own end lies less than this.
const CLOSING: Duration = Duration::from_millis(100);

/// So long hardly anything must have run before a round begins.
const CALM: Duration = Duration::from_millis(40);
/// And so long that is waited for.
const PATIENCE: Duration = Duration::from_secs(3);

/// How a program is started.
pub struct Job<'a> {
    /// Its name.
    pub program: &'a str,
    /// Its words.
    pub words: Vec<String>,
    /// CPUs that it may use.
    pub cpus: &'a [u32],
    /// Whether the memory that it allocates shall be in huge pages (glibc 2.35 or newer).
    pub huge: bool,
    /// Whether its memory is looked at, which costs it something.
    pub look: bool,
    /// When a disturbance counts.
    pub timed: Timed,
}

/// What of a run its figure is of.
#[derive(Clone, Copy)]
pub enum Timed {
    /// All of it.
    Whole,
    /// The last seconds, which its text tells: before them it made its arrays.
    Last(fn(&str) -> Result<f64, Failed>),
    /// The best of many passes, which a disturbance of some does not touch.
    Best,
}

/// What a run had lost at a moment since it began, seconds.
struct Lost {
    at: Instant,
    stolen_s: f64,
    waited_s: f64,
}

/// What came of it.
pub struct Ran {
    /// All that it wrote.
    pub text: String,
    /// Why it does not count, if it does not.
    pub disturbed: Option<String>,
    /// Most bytes in huge pages, if they were looked at.
    pub huge_bytes: u64,
}

impl Job<'_> {
    /// Runs it to its end.
    pub fn run(self) -> Result<Ran, Failed> {
        let list: Vec<String> = self.cpus.iter().map(u32::to_string).collect();
        let mut command = Command::new("taskset");
        command.args(["-c", &list.join(","), self.program]).args(&self.words);
        if self.huge {
            command.env("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1");
        }
        // As its authors advise: a thread of OpenMP a CPU, which stays there.
        command.env("OMP_PROC_BIND", "true");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let (mut huge_bytes, mut elsewhere) = (0, None);
        let mut lost = vec![Lost::now(0.0, self.cpus)];
        while child.try_wait()?.is_none() {
            lost.push(Lost::now(waited_of(child.id()), self.cpus));
            elsewhere = elsewhere.or_else(|| ran_on(child.id(), self.cpus));
            if self.look {
                huge_bytes = huge_of(child.id()).max(huge_bytes);
            }
            thread::sleep(match self.timed {
                Timed::Last(_) => LOOK,
                Timed::Whole | Timed::Best => LOOK_SELDOM,
            });
        }
        // A process that has ended has no threads to ask.
        lost.push(Lost::now(lost.iter().map(|l| l.waited_s).fold(0.0, f64::max), self.cpus));
        let output = child.wait_with_output()?;
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        if !output.status.success() {
            return Err(format!("{} ended with {}: {text}", self.program, output.status).into());
        }
        if let Some(cpu) = elsewhere {
            return Err(format!("{} ran on CPU {cpu}, not on {:?}", self.program, self.cpus).into());
        }
        let disturbed = self.timed.disturbed(&lost, &text)?;
        Ok(Ran { text, disturbed, huge_bytes })
    }
}

impl Lost {
    fn now(waited_s: f64, cpus: &[u32]) -> Self {
        Self { at: Instant::now(), stolen_s: column_s(cpus, 8), waited_s }
    }
}

impl Timed {
    /// Whether too much was lost of what its figure is of, and of what.
    fn disturbed(self, lost: &[Lost], text: &str) -> Result<Option<String>, Failed> {
        let [first, .., last] = lost else { return Ok(None) };
        let whole_s = (last.at - first.at).as_secs_f64();
        let (timed_s, most) = match self {
            Self::Whole => (whole_s, MOST),
            Self::Best => (whole_s, MOST_OF_MANY),
            Self::Last(seconds) => (seconds(text)?, MOST),
        };
        // Where in its last part it was timed is not known: whatever it lost there is counted.
        let span = Duration::try_from_secs_f64(timed_s)? + CLOSING;
        let from = last.at.checked_sub(span).unwrap_or(first.at);
        let before = lost.iter().rev().find(|l| l.at <= from).unwrap_or(first);
        let most_s = most * timed_s;
        let stolen_s = last.stolen_s - before.stolen_s;
        let waited_s = last.waited_s - before.waited_s;
        Ok(match () {
            () if stolen_s > most_s => Some(format!("{stolen_s:.2} s of the peer stolen")),
            () if waited_s > most_s => Some(format!("the peer waited for {waited_s:.3} s")),
            () => None,
        })
    }
}

/// Seconds that the threads of a process could run and did not (`schedstat`, second number).
fn waited_of(process: u32) -> f64 {
    let Ok(tasks) = fs::read_dir(format!("/proc/{process}/task")) else { return 0.0 };
    let one = |task: fs::DirEntry| {
        let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split_ascii_whitespace().nth(1)?.parse::<f64>().ok()
    };
    tasks.flatten().filter_map(one).sum::<f64>() / 1e9
}

/// The CPU of the thread of a process that has run longest, if it is none of these; fields 14, 15
/// and 39 of its line say so (`man 5 proc_pid_stat`). Others may wait anywhere.
fn ran_on(process: u32, cpus: &[u32]) -> Option<u32> {
    let task = |task: fs::DirEntry| {
        let text = fs::read_to_string(task.path().join("stat")).ok()?;
        // What stands in brackets is the name, which may hold blanks.
        let rest: Vec<u64> = text
            .rsplit_once(')')?
            .1
            .split_ascii_whitespace()
            .skip(1)
            .map_while(|w| w.parse::<i64>().ok().map(i64::unsigned_abs))
            .collect();
        Some((rest.get(10)? + rest.get(11)?, u32::try_from(*rest.get(35)?).ok()?))
    };
    let tasks = fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let (ticks, cpu) = tasks.flatten().filter_map(task).max()?;
    (ticks > 0 && !cpus.contains(&cpu)).then_some(cpu)
}

/// Bytes of a process in huge pages.
fn huge_of(process: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("AnonHugePages:"));
    let kibibytes = line.and_then(|l| l.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kibibytes.unwrap_or(0) * 1024
}

/// Waits until hardly anything runs on these CPUs, but not for ever: rounds tell for themselves.
pub fn wait_for_calm(cpus: &[u32]) {
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        let (idle_s, at) = (column_s(cpus, 4), Instant::now());
        thread::sleep(CALM);
        #[expect(clippy::cast_precision_loss, reason = "a handful of CPUs")]
        let most_s = at.elapsed().as_secs_f64() * cpus.len() as f64;
        // Ticks are coarse: one less a CPU is no sign of work.
        if column_s(cpus, 4) - idle_s > 0.7 * most_s {
            return;
        }
    }
}

/// A column of `/proc/stat`, of these CPUs together, seconds.
fn column_s(cpus: &[u32], nth: usize) -> f64 {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let of = |cpu: &u32| {
        let name = format!("cpu{cpu} ");
        let line = text.lines().find(|line| line.starts_with(&name))?;
        line.split_ascii_whitespace().nth(nth)?.parse::<f64>().ok()
    };
    cpus.iter().filter_map(of).sum::<f64>() * TICK_S
}
