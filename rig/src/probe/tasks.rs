//! Knows what the kernel's own threads took and what processes took that are not ours.
//!
//! At the edges only names and CPU clocks are read: one directory and one system call a process,
//! measured at 0.06 ms for 90 processes and 0.8 ms for 1,090. Which of them is a kernel thread is
//! asked afterwards, and only of those whose clock went on. The clock is the run time in
//! nanoseconds that `schedstat` tells too, not the tick samples behind `utime` and `stime`.
//!
//! A process that began in the window counts with all its time. One that ended in it cannot be
//! asked any more: the desk finds its time as unattributed.
//!
//! The threads that work on interrupts when these are too many tell how much of a CPU they took.
//!
//! What a process of ours has started is ours, too. Its children are asked for at both edges, and
//! the parents of whoever is left afterwards: one that ended meanwhile has none any more.
//!
//! Must not know what a process does; ours are named to it.

use super::{Moment, Probe, per_wall, reading};
use crate::lab::{Ours, clock};
use desk::record::Reading;
use desk::unit::Unit;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// `PF_KTHREAD` of the kernel's `include/linux/sched.h`.
const KERNEL_THREAD: u64 = 0x0020_0000;
/// Name of the thread that works on the interrupts of a CPU when they are too many, before its
/// number.
const SOFTIRQS: &str = "ksoftirqd/";
/// `kthreadd`, the parent of all kernel threads, and itself one.
const PARENT: u32 = 2;
/// Parents that are asked at most: a load starts a program, perhaps through another.
const GENERATIONS: u32 = 8;

/// Walks `/proc` at both edges.
#[derive(Debug)]
pub struct TaskProbe {
    processes: PathBuf,
    opened: Option<Snapshot>,
    /// What ours had started when the window opened.
    family: BTreeSet<u32>,
}

/// The CPU clock of every process at one moment, nanoseconds.
#[derive(Clone, Debug, Default)]
struct Snapshot {
    at_ns: u64,
    clocks: BTreeMap<u32, u64>,
}

impl TaskProbe {
    /// A probe that looks for processes below `root`.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        Self { processes: root.join("proc"), opened: None, family: BTreeSet::new() }
    }

    fn snapshot(&self) -> Option<Snapshot> {
        let before_ns = clock::now_ns();
        let entries = fs::read_dir(&self.processes).ok()?.flatten();
        let numbers = entries.filter_map(|e| e.file_name().to_str()?.parse::<u32>().ok());
        let clocks = numbers.filter_map(|n| Some((n, clock::cpu_ns_of(n)?))).collect();
        Some(Snapshot { at_ns: before_ns.midpoint(clock::now_ns()), clocks })
    }

    /// Whether a process is a thread of the kernel; none when it is gone.
    fn of_kernel(&self, process: u32) -> Option<bool> {
        let path = self.processes.join(process.to_string()).join("stat");
        is_kernel_thread(process, &fs::read_to_string(path).ok()?)
    }

    /// Every process that the hosts have started, and what these have: from
    /// `/proc/PID/task/TID/children`, empty on kernels without CONFIG_PROC_CHILDREN.
    fn family(&self, ours: &Ours) -> BTreeSet<u32> {
        let mut open: Vec<u32> = ours.hosts.iter().map(|(_, process)| *process).collect();
        let mut family = BTreeSet::new();
        while let Some(process) = open.pop() {
            let threads = self.processes.join(process.to_string()).join("task");
            for thread in fs::read_dir(threads).into_iter().flatten().flatten() {
                let text = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
                let children = text.split_ascii_whitespace().filter_map(|word| word.parse().ok());
                open.extend(children.filter(|child| family.insert(*child)));
            }
        }
        family
    }

    /// Whether a host has started a process, by the parents that live.
    fn descends(&self, process: u32, ours: &Ours) -> bool {
        let mut at = process;
        for _ in 0..GENERATIONS {
            let path = self.processes.join(at.to_string()).join("stat");
            let parent = fs::read_to_string(path).ok().and_then(|stat| parent_of(&stat));
            match parent {
                Some(parent) if ours.hosts.iter().any(|(_, host)| *host == parent) => return true,
                Some(parent) if parent > PARENT => at = parent,
                _ => return false,
            }
        }
        false
    }

    /// CPU number and what its `ksoftirqd` gained, nanoseconds.
    fn softirqs(&self, gained: &[(u32, u64)]) -> Vec<(u32, u64)> {
        let of = |(process, gained): &(u32, u64)| {
            let path = self.processes.join(process.to_string());
            let name = fs::read_to_string(path.join("comm")).ok()?;
            let cpu = name.trim().strip_prefix(SOFTIRQS)?.parse().ok()?;
            (self.of_kernel(*process)? && *gained > 0).then_some((cpu, *gained))
        };
        gained.iter().filter_map(of).collect()
    }

    /// What threads of the kernel and what processes that are not ours gained, nanoseconds.
    fn sums(&self, gained: &[(u32, u64)], (ours, family): (&Ours, &BTreeSet<u32>)) -> (u64, u64) {
        let (mut kernel_ns, mut foreign_ns) = (0, 0);
        let own = |number: u32| {
            ours.has_process(number) || family.contains(&number) || self.descends(number, ours)
        };
        for (process, gained) in gained.iter().filter(|(number, _)| !own(*number)) {
            // One that ended since was a process: threads of the kernel stay.
            match self.of_kernel(*process) {
                Some(true) => kernel_ns += gained,
                Some(false) | None => foreign_ns += gained,
            }
        }
        (kernel_ns, foreign_ns)
    }
}

/// The parent in a line of `/proc/PID/stat`.
fn parent_of(stat: &str) -> Option<u32> {
    stat.get(stat.rfind(')')? + 1..)?.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// From a line of `/proc/PID/stat` (proc(5)): parent and flags stand after the name, which may hold
/// blanks and brackets.
fn is_kernel_thread(process: u32, stat: &str) -> Option<bool> {
    let fields: Vec<&str> = stat.get(stat.rfind(')')? + 1..)?.split_ascii_whitespace().collect();
    let parent: u32 = fields.get(1)?.parse().ok()?;
    let flags: u64 = fields.get(6)?.parse().ok()?;
    Some(flags & KERNEL_THREAD != 0 || (process == PARENT && parent == 0))
}

/// What every process gained, those left out that gained nothing. A clock that went back is that of
/// a new process with an old number.
fn gained(opened: &Snapshot, closed: &Snapshot) -> Vec<(u32, u64)> {
    let gain = |(process, now): (&u32, &u64)| {
        let then = opened.clocks.get(process).copied().filter(|then| then <= now).unwrap_or(0);
        (*process, now - then)
    };
    closed.clocks.iter().map(gain).filter(|(_, gained)| *gained > 0).collect()
}

impl Probe for TaskProbe {
    fn begin(&mut self, moment: &Moment) {
        self.opened = self.snapshot();
        self.family = self.family(moment.ours);
    }

    fn end(&mut self, moment: &Moment) -> Vec<Reading> {
        let (Some(opened), Some(closed)) = (self.opened.take(), self.snapshot()) else {
            return Vec::new();
        };
        let gained = gained(&opened, &closed);
        let mut family = std::mem::take(&mut self.family);
        family.extend(self.family(moment.ours));
        let (kernel_ns, foreign_ns) = self.sums(&gained, (moment.ours, &family));
        let wall_ns = closed.at_ns.saturating_sub(opened.at_ns);
        let mut rows = vec![
            reading("kernel", "machine", "threads", per_wall(kernel_ns, wall_ns), Unit::Cpu),
            reading("foreign", "machine", "cpu", per_wall(foreign_ns, wall_ns), Unit::Cpu),
        ];
        for (cpu, gained_ns) in self.softirqs(&gained) {
            let share = per_wall(gained_ns, wall_ns).min(1.0);
            rows.push(reading(
                "cpu",
                "machine",
                &format!("ksoftirqd.cpu{cpu}"),
                share,
                Unit::Share,
            ));
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_threads_are_told_by_their_flag_whatever_their_name() {
        let kworker = "17 (kworker/0:1) events) I 2 0 0 0 -1 69238880 0 0 0 0 0 4 0 0 20 0 1 0 7";
        let shell = "99 (a) b (c) S 1 99 99 0 -1 4194304 301 0 0 0 0 0 0 0 20 0 1 0 7";
        assert_eq!(is_kernel_thread(17, kworker), Some(true));
        assert_eq!(is_kernel_thread(99, shell), Some(false));
        assert_eq!(is_kernel_thread(99, "99 (cut off"), None);
    }

    #[test]
    fn a_number_used_again_counts_from_its_beginning() {
        let snapshot =
            |clocks: &[(u32, u64)]| Snapshot { at_ns: 0, clocks: clocks.iter().copied().collect() };
        let opened = snapshot(&[(1, 50), (2, 900), (3, 5), (4, 7)]);
        let closed = snapshot(&[(1, 80), (2, 30), (4, 7), (5, 11)]);
        assert_eq!(gained(&opened, &closed), [(1, 30), (2, 30), (5, 11)]);
    }

    #[test]
    fn what_is_not_ours_is_the_kernels_or_foreign() {
        let root = std::env::temp_dir().join(format!("stend-tasks-{}", std::process::id()));
        let stat = |process: u32, text: &str| {
            let folder = root.join("proc").join(process.to_string());
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("stat"), format!("{process} {text}\n")).unwrap();
        };
        stat(14, "(ksoftirqd/0) S 2 0 0 0 -1 69238848 0 0");
        stat(50, "(stend) S 1 50 50 0 -1 4194560 0 0");
        stat(60, "(make) R 1 60 60 0 -1 4194304 0 0");
        let probe = TaskProbe::new(&root);
        let gained = [(14, 3), (50, 40), (60, 500), (61, 6000), (std::process::id(), 70_000)];
        let ours = Ours { hosts: vec![("sut".into(), 50)], groups: Vec::new(), quotas: Vec::new() };
        let none = BTreeSet::new();
        assert_eq!(probe.sums(&gained, (&ours, &none)), (3, 6500), "61 has ended; we are ours");
        assert_eq!(probe.sums(&gained, (&Ours::default(), &none)), (3, 6540));
        // What a host has started: 70 by a shell of its own; 61 was seen before it ended.
        stat(69, "(sh) S 50 69 69 0 -1 4194304 0 0");
        stat(70, "(openssl) R 69 69 69 0 -1 4194304 0 0");
        let started = [(60, 500), (61, 6000), (70, 80_000)];
        assert_eq!(probe.sums(&started, (&ours, &BTreeSet::from([61]))), (0, 500));
        assert_eq!(probe.sums(&started, (&Ours::default(), &none)), (0, 86_500));
        let named = |process: u32, name: &str| {
            fs::write(root.join(format!("proc/{process}/comm")), format!("{name}\n")).unwrap();
        };
        named(14, "ksoftirqd/0");
        named(60, "ksoftirqd/1");
        assert_eq!(probe.softirqs(&gained), [(0, 3)], "60 has only the name");
        fs::remove_dir_all(root).unwrap();
    }

    /// A host that starts a busy child through a shell: this process is no host, the shell is.
    #[test]
    fn a_busy_child_of_a_host_is_ours_on_this_machine() {
        let script = "sh -c 'while :; do :; done' & child=$!; echo $child; read wait; kill $child";
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", script]).stdin(std::process::Stdio::piped());
        let mut host = shell.stdout(std::process::Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let out = host.stdout.take().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut line).unwrap();
        let child: u32 = line.trim().parse().unwrap();
        let hosts = vec![("sut".into(), host.id())];
        let ours = Ours { hosts, ..Ours::default() };
        let (mut probe, mut stranger) =
            (TaskProbe::new(Path::new("/")), TaskProbe::new(Path::new("/")));
        let moment = Moment { ours: &ours, soaker: &[] };
        let nobodys = Moment { ours: &Ours::default(), soaker: &[] };
        assert!(probe.family(&ours).contains(&child), "the kernel names children");
        probe.begin(&moment);
        stranger.begin(&nobodys);
        let before = clock::cpu_ns_of(child).unwrap();
        while clock::cpu_ns_of(child).unwrap() < before + 100_000_000 {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let (with, without) = (probe.end(&moment), stranger.end(&nobodys));
        drop(host.stdin.take());
        host.wait().unwrap();
        let cpus =
            |rows: &[Reading]| rows.iter().find(|r| r.probe == "foreign").unwrap().quantity.value;
        let (with, without) = (cpus(&with), cpus(&without));
        // Others of the machine are in both; the child is the difference.
        assert!(without - with > 0.05, "{with} with its parent as host, {without} without");
    }

    #[test]
    fn on_this_machine_a_busy_child_is_seen() {
        let shell = std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn();
        let mut child = shell.unwrap();
        let mut probe = TaskProbe::new(Path::new("/"));
        let moment = Moment { ours: &Ours::default(), soaker: &[] };
        probe.begin(&moment);
        let before = clock::cpu_ns_of(child.id()).unwrap();
        while clock::cpu_ns_of(child.id()).unwrap() < before + 50_000_000 {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let rows = probe.end(&moment);
        child.kill().unwrap();
        child.wait().unwrap();
        let foreign = rows.iter().find(|r| r.probe == "foreign").unwrap().quantity.value;
        assert!(foreign > 0.0, "{rows:?}");
    }
}
