//! Knows an instance of a service, as the host has it: a keeper that puts it up and counts for it.
//!
//! Must not know how it is kept.

use super::told::{FileSum, FromKeeper, ToKeeper, Wanted, hear, say};
use super::{Why, find};
use crate::lab::logs;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::fs;
use std::io::{BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// Longest wait for its end, which waits less for that of the service.
const END: Duration = Duration::from_secs(4);
const LOOK: Duration = Duration::from_millis(2);

/// A service that this host has put up; it goes with the value.
#[derive(Debug)]
pub struct Instance {
    service: String,
    keeper: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    /// Where it listens.
    pub port: u16,
    /// What it says of its version.
    pub version: String,
}

impl Instance {
    /// Longest wait for a word of the keeper, which waits less for the service and its database.
    pub const LONGEST: Duration = Duration::from_secs(60);

    /// Puts one up with these files, paths below the run directory, and waits until it serves.
    ///
    /// # Errors
    /// What is missing, with the remedy; why it does not serve, with the end of its log.
    pub fn start(wanted: &Wanted, files: &[(String, &[u8])]) -> Result<Self, Why> {
        let fail = |e: std::io::Error| format!("service {}: {e}", wanted.service);
        let binary = std::env::current_exe().map_err(fail)?;
        let mut keeper = Command::new(binary)
            .arg0(format!("stend-service {}", wanted.service))
            .arg("service")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(fail)?;
        let (to, from) = (keeper.stdin.take(), keeper.stdout.take());
        let (service, version) = (wanted.service.clone(), String::new());
        let Some(from) = from.map(BufReader::new) else { return Err("no pipe".into()) };
        let mut instance = Self { service, keeper, to, from, port: 0, version };
        let lengths = files.iter().map(|(name, bytes)| (name.clone(), bytes.len() as u64));
        instance.tell(&ToKeeper::Start(wanted.clone(), lengths.collect()))?;
        for (_, bytes) in files {
            // One that has failed says why.
            let _ = instance.to.as_mut().map(|to| to.write_all(bytes));
        }
        match instance.hear()? {
            FromKeeper::Serves(port, version) => {
                (instance.port, instance.version) = (port, version);
                Ok(instance)
            }
            other => Err(instance.odd(&other)),
        }
    }

    /// Requests that it has served for others than us, by its own count.
    ///
    /// # Errors
    /// When it has ended, with the end of its log.
    pub fn served(&mut self) -> Result<u64, Why> {
        self.tell(&ToKeeper::Count)?;
        match self.hear()? {
            FromKeeper::Served(count) => Ok(count),
            other => Err(self.odd(&other)),
        }
    }

    /// Requests that wait in it for a worker, 0 where all wait in the kernel; none where it did not
    /// answer.
    #[must_use]
    pub fn waiting(&mut self) -> Option<u64> {
        if find(&self.service)?.waiting.is_none() {
            return Some(0);
        }
        self.tell(&ToKeeper::Wait).ok()?;
        match self.hear() {
            Ok(FromKeeper::Waiting(waiting)) => waiting,
            _ => None,
        }
    }

    /// Whether its files are as they were put there.
    ///
    /// # Errors
    /// When it has ended, with the end of its log.
    pub(super) fn is_whole(&mut self, files: &[FileSum]) -> Result<bool, Why> {
        self.tell(&ToKeeper::Compare(files.to_vec()))?;
        match self.hear()? {
            FromKeeper::Compared(whole) => Ok(whole),
            other => Err(self.odd(&other)),
        }
    }

    /// CPU that its processes have used, by the names of their programs, nanoseconds, with that of
    /// children of theirs that have ended. Its keeper, which sleeps, is not among them.
    #[must_use]
    pub fn cpu_ns(&self) -> BTreeMap<String, u64> {
        let (mut all, mut used) = (BTreeSet::new(), BTreeMap::new());
        descend(self.keeper.id(), &mut all);
        let comm = |pid: &dyn Display| fs::read_to_string(format!("/proc/{pid}/comm"));
        let own = comm(&self.keeper.id()).unwrap_or_default();
        for pid in all {
            let Some(name) = comm(&pid).ok().filter(|name| *name != own) else { continue };
            *used.entry(name.trim_end().to_owned()).or_default() += used_ns(pid) + ended_ns(pid);
        }
        used
    }

    fn tell(&mut self, what: &ToKeeper) -> Result<(), Why> {
        let gone = || format!("service {}: its keeper is gone", self.service);
        let to = self.to.as_mut().ok_or_else(gone)?;
        // A keeper that is gone has said why.
        let _ = say(to, what);
        Ok(())
    }

    fn hear(&mut self) -> Result<FromKeeper, Why> {
        let silent = || format!("service {}: its keeper says nothing", self.service);
        if self.from.buffer().is_empty() {
            let mut polled = [PollFd::new(self.from.get_ref(), PollFlags::IN)];
            let longest = Timespec { tv_sec: Self::LONGEST.as_secs().cast_signed(), tv_nsec: 0 };
            if poll(&mut polled, Some(&longest)) != Ok(1) {
                return Err(silent());
            }
        }
        match hear(&mut self.from)? {
            Some(FromKeeper::Failed(why, log)) => {
                if !log.is_empty() {
                    logs::keep(&self.service, log);
                }
                Err(format!("service {}: {why}", self.service))
            }
            Some(told) => Ok(told),
            None => Err(format!("service {}: its keeper is gone", self.service)),
        }
    }

    fn odd(&self, told: &FromKeeper) -> Why {
        format!("service {}: its keeper says {told:?}", self.service)
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.to = None;
        let deadline = Instant::now() + END;
        while matches!(self.keeper.try_wait(), Ok(None)) && Instant::now() < deadline {
            std::thread::sleep(LOOK);
        }
        let _ = self.keeper.kill();
        let _ = self.keeper.wait();
    }
}

/// A process and all that descend from it.
fn descend(pid: u32, all: &mut BTreeSet<u32>) {
    if !all.insert(pid) {
        return;
    }
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    for task in tasks {
        let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        for child in children.split_ascii_whitespace().filter_map(|word| word.parse().ok()) {
            descend(child, all);
        }
    }
}

/// CPU time of the children of a process that have ended and were waited for, with theirs:
/// `cutime` and `cstime` (proc(5)), which the kernel tells in hundredths of a second.
fn ended_ns(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // A name may hold anything but ends with the last parenthesis; behind it stands field 3.
    let behind = stat.rsplit_once(')').map_or("", |(_, behind)| behind);
    let ticks = behind.split_ascii_whitespace().skip(13).take(2);
    ticks.filter_map(|word| word.parse::<u64>().ok()).sum::<u64>() * 10_000_000
}

/// CPU time of all threads of a process, by the scheduler's account.
fn used_ns(pid: u32) -> u64 {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let used = tasks.filter_map(|task| {
        let account = fs::read_to_string(task.path().join("schedstat")).ok()?;
        account.split_ascii_whitespace().next()?.parse::<u64>().ok()
    });
    used.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_that_has_ended_is_counted() {
        let mut burn = Command::new("sh");
        burn.args(["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"]);
        let before = ended_ns(std::process::id());
        assert!(burn.status().unwrap().success());
        assert!(ended_ns(std::process::id()) > before + 20_000_000);
    }
}
