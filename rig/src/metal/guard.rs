//! Knows what disturbs a thread while it is measured: waiting for its CPU, and steal.
//!
//! Reads what the kernel counts of the thread itself, before and after a sample and never within.
//! Must not know what the thread does.

use crate::lab::clock::TICK_NS;
use crate::lab::environment::cpu_flag;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::OnceLock;

/// A sample is disturbed that waited for longer than this share of itself, or lost more than it to
/// the hypervisor.
const LOST_MOST: f64 = 0.01;
/// A wait of more than this, nanoseconds, is another thread's turn on the CPU. What the kernel does
/// in between is shorter.
const TURN_NS: u64 = 1_000_000;
/// Such a turn leaves caches cold: a sample is disturbed that begins so soon after it, nanoseconds.
const COLD_NS: u64 = 4_000_000;
/// Where two threads take turns every sample is near one: a sample is disturbed that begins so soon
/// after a turn that came so soon after another, nanoseconds.
const AFTER_NS: u64 = 20_000_000;
/// Longest line that is read of a file of the kernel.
const LINE: usize = 256;
/// So much of `/proc/stat` is read at once, bytes.
const CHUNK: usize = 16 << 10;

/// By what a sample was disturbed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Taint {
    /// The thread waited for its CPU while others ran there.
    Waited,
    /// The hypervisor gave its CPU to others.
    Steal,
}

/// Watches some threads and one CPU.
#[derive(Debug)]
pub struct Guard {
    /// `schedstat` of each thread.
    threads: Vec<File>,
    /// `/proc/stat`, and the names of the CPUs' lines in it; none where no hypervisor can steal.
    stat: Option<(File, Vec<String>)>,
    before: Counts,
    /// When another thread's turn was last seen, nanoseconds.
    turn_ns: Option<u64>,
    /// Whether that one came soon after another.
    again: bool,
}

/// What the kernel has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    /// Time that the threads could run and did not, nanoseconds.
    waited_ns: u64,
    /// Ticks that the hypervisor took of the CPU.
    steal: u64,
}

impl Guard {
    /// Watches the thread that calls and these others, by their numbers, and the steal of CPUs.
    #[must_use]
    pub fn of(others: &[i32], cpus: &[u32]) -> Self {
        let me = rustix::thread::gettid().as_raw_nonzero().get();
        let all = std::iter::once(me).chain(others.iter().copied());
        let open = |tid| File::open(format!("/proc/{tid}/schedstat")).ok();
        let lines: Vec<String> = cpus.iter().map(|cpu| format!("cpu{cpu} ")).collect();
        let stat = File::open("/proc/stat").ok().filter(|_| !lines.is_empty() && is_guest());
        let stat = stat.map(|file| (file, lines));
        let threads = all.filter_map(open).collect();
        let mut guard =
            Self { threads, stat, before: Counts::default(), turn_ns: None, again: false };
        guard.before = guard.read();
        guard
    }

    /// Notes what stands now: the first sample begins.
    pub fn begin(&mut self) {
        self.before = self.read();
    }

    /// What disturbed the sample that began with [`Self::begin`], or with the end of the one
    /// before, and took from one moment to another, nanoseconds on the monotonic clock. Of that so
    /// much was outside what was timed: two threads that hand over on one CPU wait for each other.
    pub fn end(&mut self, from_ns: u64, to_ns: u64, outside_ns: u64) -> Option<Taint> {
        let now = self.read();
        let before = std::mem::replace(&mut self.before, now);
        let waited_ns = now.waited_ns.saturating_sub(before.waited_ns + outside_ns);
        let stolen_ns = now.steal.saturating_sub(before.steal) * TICK_NS;
        #[expect(clippy::cast_precision_loss, reason = "times of a sample are far below 2^53")]
        let much = |ns: u64| ns as f64 > LOST_MOST * to_ns.saturating_sub(from_ns) as f64;
        let soon = |at: u64, within| from_ns.saturating_sub(at) < within;
        let near =
            self.turn_ns.is_some_and(|at| soon(at, COLD_NS) || self.again && soon(at, AFTER_NS));
        if waited_ns > TURN_NS {
            self.again = self.turn_ns.is_some_and(|at| soon(at, AFTER_NS));
            self.turn_ns = Some(to_ns);
        }
        if much(stolen_ns) {
            return Some(Taint::Steal);
        }
        (much(waited_ns) || near).then_some(Taint::Waited)
    }

    fn read(&self) -> Counts {
        let waited_ns = self.threads.iter().filter_map(waited_ns).sum();
        let steal = self.stat.as_ref().and_then(|(file, lines)| steal(file, lines)).unwrap_or(0);
        Counts { waited_ns, steal }
    }
}

/// Second number of a thread's `schedstat`: nanoseconds on a run queue (kernel's
/// Documentation/scheduler/sched-stats.rst).
fn waited_ns(file: &File) -> Option<u64> {
    let mut bytes = [0; LINE];
    let length = file.read_at(&mut bytes, 0).ok()?;
    std::str::from_utf8(&bytes[..length]).ok()?.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Whether the kernel counts what a thread waited for.
#[must_use]
pub fn can_watch() -> bool {
    File::open("/proc/thread-self/schedstat").is_ok()
}

/// Whether the processor says that a hypervisor stands below it, or does not say.
fn is_guest() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| cpu_flag(Path::new("/"), "hypervisor").unwrap_or(true))
}

/// Eighth number of the lines of CPUs in `/proc/stat`: steal, in ticks (`man 5 proc_stat`), of all
/// of them together.
fn steal(file: &File, lines: &[String]) -> Option<u64> {
    // The lines of CPUs stand first; one has at most some 120 characters.
    let mut text = vec![0; CHUNK];
    let mut length = 0;
    loop {
        length += file.read_at(&mut text[length..], length as u64).ok()?;
        let read = String::from_utf8_lossy(&text[..length]);
        let whole = read.rsplit_once('\n').map_or("", |(whole, _)| whole);
        let found: Vec<&str> =
            whole.lines().filter(|l| lines.iter().any(|line| l.starts_with(line))).collect();
        if found.len() == lines.len() {
            let ticks = |line: &&str| line.split_ascii_whitespace().nth(8)?.parse::<u64>().ok();
            return found.iter().map(ticks).sum();
        }
        if whole.lines().any(|line| line.starts_with("intr")) || length < text.len() {
            return None;
        }
        text.resize(length + CHUNK, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::clock;
    use crate::metal::{Cpus, pin};
    use std::path::Path;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    fn spin(ns: u64) -> (u64, u64) {
        let from_ns = clock::now_ns();
        while clock::now_ns() - from_ns < ns {}
        (from_ns, clock::now_ns())
    }

    /// What disturbed 100 samples, each of 3 ms, on the first CPU beside a busy loop; of each so
    /// much was outside what was timed.
    fn taints(outside_ns: u64) -> Vec<Taint> {
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                pin(Cpus::read(Path::new("/")).threads[0].cpu).unwrap();
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            let found = scope.spawn(|| sampled(outside_ns)).join().unwrap();
            stop.store(true, Ordering::Relaxed);
            found
        })
    }

    fn sampled(outside_ns: u64) -> Vec<Taint> {
        pin(Cpus::read(Path::new("/")).threads[0].cpu).unwrap();
        let mut guard = Guard::of(&[], &[]);
        let sample = |_| {
            guard.begin();
            let (from_ns, to_ns) = spin(3_000_000);
            guard.end(from_ns, to_ns, outside_ns)
        };
        (0..100).filter_map(sample).collect()
    }

    #[test]
    fn a_busy_loop_on_the_same_cpu_is_told_in_nearly_every_sample() {
        let found = taints(0).len();
        assert!(found >= 95, "{found} of 100");
    }

    #[test]
    fn a_wait_outside_of_what_was_timed_is_no_disturbance() {
        assert!(!taints(u64::from(u32::MAX)).contains(&Taint::Waited));
    }

    #[test]
    fn a_line_of_the_kernel_is_read_by_its_place() {
        let path = std::env::temp_dir().join(format!("stend-stat-{}", std::process::id()));
        let text = "cpu  9 9 9 9 9 9 9 9 9 9\ncpu1 1 2 3 4 5 6 7 11 9 10\ncpu10 0 0 0 0 0 0 0 99\n";
        std::fs::write(&path, text).unwrap();
        let file = File::open(&path).unwrap();
        let of = |names: &[&str]| {
            steal(&file, &names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!((of(&["cpu1 "]), of(&["cpu10 "])), (Some(11), Some(99)));
        assert_eq!(of(&["cpu10 ", "cpu1 "]), Some(110));
        assert_eq!(of(&["cpu2 "]), None);
        std::fs::remove_file(path).unwrap();
    }
}
