//! Knows which CPUs a process may use, in which order they are taken, and how one is held to some.
//!
//! Must not know why.

use super::environment::cpu_list;
use super::error::LabError;
use super::host::HostProcess;
use super::standing::{SUT, Standing};
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

/// Most CPUs that a set of the kernel's calls holds here.
const MOST: u32 = CpuSet::MAX_CPU as u32;
/// Times that the threads of a process are listed until no new one has come.
const LOOKS: usize = 8;

/// The CPUs that this process may use, as the files below `root` tell, one thread of each core
/// first and its siblings behind, each by number.
#[must_use]
pub fn allowed(root: &Path) -> Vec<u32> {
    let status = fs::read_to_string(root.join("proc/self/status")).unwrap_or_default();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let mut cpus = cpu_list(list.unwrap_or_default());
    if let Ok(online) = fs::read_to_string(root.join("sys/devices/system/cpu/online")) {
        let online = cpu_list(&online);
        cpus.retain(|cpu| online.contains(cpu));
    }
    cpus.sort_by_key(|cpu| (sibling(root, *cpu), *cpu));
    cpus
}

/// Which of its core's threads a CPU is, from 0.
fn sibling(root: &Path, cpu: u32) -> usize {
    let path = format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
    let text = fs::read_to_string(root.join(path)).unwrap_or_default();
    cpu_list(&text).iter().position(|other| *other == cpu).unwrap_or(0)
}

/// The CPUs of a list such as `0-3,8`, as they are listed; what is not a number is left out.
#[must_use]
pub fn parse(text: &str) -> Vec<u32> {
    cpu_list(text)
}

/// CPUs as the kernel lists them: `0-2,8`.
#[must_use]
pub fn list(cpus: &[u32]) -> String {
    let sorted: BTreeSet<u32> = cpus.iter().copied().collect();
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for cpu in sorted {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == cpu => *last = cpu,
            _ => ranges.push((cpu, cpu)),
        }
    }
    let word = |(first, last): &(u32, u32)| match last - first {
        0 => first.to_string(),
        _ => format!("{first}-{last}"),
    };
    ranges.iter().map(word).collect::<Vec<_>>().join(",")
}

/// CPUs as a mask of the kernel: hexadecimal, a comma after every 32 of them.
#[must_use]
pub fn mask(cpus: &[u32]) -> String {
    let last = cpus.iter().max().map_or(0, |cpu| cpu / 32);
    let word = |at: u32| {
        let here = cpus.iter().filter(|cpu| **cpu / 32 == at);
        here.fold(0_u32, |bits, cpu| bits | 1 << (cpu % 32))
    };
    let words: Vec<String> = (0..=last).rev().map(|at| format!("{:08x}", word(at))).collect();
    words.join(",")
}

/// The CPUs of such a mask, by number; none where it is no mask.
#[must_use]
pub fn of_mask(text: &str) -> Option<Vec<u32>> {
    let mut cpus = Vec::new();
    for (at, word) in (0..).zip(text.split(',').rev()) {
        let bits = u32::from_str_radix(word, 16).ok()?;
        cpus.extend((0..32).filter(|bit| bits >> bit & 1 == 1).map(|bit| at * 32 + bit));
    }
    Some(cpus)
}

/// The CPUs that a thread may use, by number.
fn of(thread: Option<Pid>) -> io::Result<Vec<u32>> {
    let set = sched_getaffinity(thread)?;
    Ok((0..MOST).filter(|cpu| set.is_set(*cpu as usize)).collect())
}

/// The CPUs that this thread may use, by number.
///
/// # Errors
/// When the kernel refuses to say.
pub fn mine() -> io::Result<Vec<u32>> {
    of(None)
}

/// Binds this thread to one CPU.
///
/// # Errors
/// When the kernel refuses, or there is no such CPU.
pub fn pin(cpu: u32) -> io::Result<()> {
    sched_setaffinity(None, &set_of(&[cpu])).map_err(Into::into)
}

/// Binds this thread, and what it starts from now on, to these CPUs.
///
/// # Errors
/// When the kernel refuses, or there is none of them.
pub fn pin_to(cpus: &[u32]) -> io::Result<()> {
    sched_setaffinity(None, &set_of(cpus)).map_err(Into::into)
}

/// What lies within the bounds of the kernel's calls.
fn set_of(cpus: &[u32]) -> CpuSet {
    let mut set = CpuSet::new();
    cpus.iter().filter(|cpu| **cpu < MOST).for_each(|cpu| set.set(*cpu as usize));
    set
}

/// Holds every thread of a process to these CPUs, those that it starts meanwhile, too.
///
/// # Errors
/// When the kernel refuses, or threads come faster than they can be held.
fn hold(process: u32, cpus: &[u32]) -> io::Result<()> {
    let set = set_of(cpus);
    // Of CPUs that are offline the kernel keeps the wish, and does not tell it.
    let mut held = BTreeSet::new();
    for _ in 0..LOOKS {
        let mut late = false;
        for thread in threads(process)? {
            // One that has ended since needs nothing.
            match sched_getaffinity(Some(thread)) {
                Ok(now) if now == set || held.contains(&thread.as_raw_nonzero()) => {}
                Ok(_) => {
                    sched_setaffinity(Some(thread), &set)?;
                    held.insert(thread.as_raw_nonzero());
                    late = true;
                }
                Err(rustix::io::Errno::SRCH) => {}
                Err(e) => return Err(e.into()),
            }
        }
        if !late {
            return Ok(());
        }
    }
    Err(io::Error::other("its threads do not stay on the CPUs that they are held to"))
}

fn threads(process: u32) -> io::Result<Vec<Pid>> {
    let entries = fs::read_dir(format!("/proc/{process}/task"))?;
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse::<i32>().ok();
    Ok(entries.flatten().filter_map(number).filter_map(Pid::from_raw).collect())
}

impl Standing {
    /// Holds the processes of the system under test to these CPUs. It ends with the lab, or when
    /// they are given all CPUs again.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn hold_cpus(&self, cpus: &[u32]) -> Result<(), LabError> {
        let process = self.sut()?;
        hold(process, cpus).map_err(|source| fault(process, source))
    }

    /// The CPUs that the system under test may use, by number.
    ///
    /// # Errors
    /// When it is gone.
    pub fn cpus(&self) -> Result<Vec<u32>, LabError> {
        let process = self.sut()?;
        let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
        of(pid).map_err(|source| fault(process, source))
    }

    fn sut(&self) -> Result<u32, LabError> {
        let sut = self.hosts.get(SUT).map(HostProcess::pid);
        sut.ok_or_else(|| LabError::Gone("sut".into()))
    }
}

fn fault(process: u32, source: io::Error) -> LabError {
    LabError::File { path: format!("CPUs of process {process}"), source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn one_thread_of_each_core_comes_before_its_sibling() {
        let root = std::env::temp_dir().join(format!("stend-cpus-{}", std::process::id()));
        let put = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-3,5\n");
        for (cpu, siblings) in [(0, "0-1"), (1, "0-1"), (2, "2-3"), (3, "2-3")] {
            let at = format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
            put(&at, siblings);
        }
        let found = allowed(&root);
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(found, [0, 2, 5, 1, 3]);
        assert_eq!(list(&found), "0-3,5");
        assert_eq!(list(&[]), "");
    }

    #[test]
    fn a_mask_is_that_of_the_kernel_and_is_read_in_any_width() {
        assert_eq!(mask(&[0, 1, 5]), "00000023");
        assert_eq!(mask(&[33, 0]), "00000002,00000001");
        assert_eq!(mask(&[]), "00000000");
        assert_eq!(of_mask("3"), Some(vec![0, 1]));
        assert_eq!(of_mask("00000002,00000001"), Some(vec![0, 33]));
        assert_eq!((of_mask("0"), of_mask("0-1"), of_mask("")), (Some(vec![]), None, None));
    }

    #[test]
    fn a_process_is_held_with_its_threads_and_let_go() {
        let before = of(None).unwrap();
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap());
        let last = *before.last().unwrap();
        let held = hold(child.id(), &[last]).and_then(|()| of(pid));
        let free = hold(child.id(), &before).and_then(|()| of(pid));
        let none = hold(child.id(), &[]);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(held.unwrap(), [last]);
        assert_eq!(free.unwrap(), before);
        assert!(none.is_err(), "no CPU at all is refused by the kernel");
    }
}
