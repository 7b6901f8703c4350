//! Knows the agents of this machine by their names, and how those of a dead conductor are ended.
//!
//! Must not know what they do.

use super::owner::Owner;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// The first word of an agent's command line; its host and its conductor follow.
const AGENT: &str = "stend-agent";

/// A host process of some conductor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// Its number.
    pub pid: u32,
    /// The host that it is.
    pub host: String,
    /// Its conductor.
    pub owner: Owner,
}

/// Name under which an agent is started.
pub(in crate::lab) fn name_of(host: &str, owner: &Owner) -> String {
    format!("{AGENT} {host} {}", owner.tag())
}

/// All agents of this machine, by the process table below `root`.
#[must_use]
pub fn agents(root: &Path) -> Vec<Agent> {
    let entries = fs::read_dir(root.join("proc")).into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut found: Vec<Agent> = pids.filter_map(|pid| agent(root, pid)).collect();
    found.sort_by_key(|agent| agent.pid);
    found
}

fn agent(root: &Path, pid: u32) -> Option<Agent> {
    let line = fs::read(root.join(format!("proc/{pid}/cmdline"))).ok()?;
    let mut arguments = line.split(|byte| *byte == 0);
    let name = std::str::from_utf8(arguments.next()?).ok()?;
    if arguments.next() != Some(b"agent") {
        return None;
    }
    let mut words = name.strip_prefix(AGENT)?.split_whitespace();
    let (host, tag) = (words.next()?.to_owned(), words.next()?);
    let (conductor, start) = tag.split_once('-')?;
    // An agent runs, so its conductor was of this boot.
    let boot = super::owner::boot(root).ok()?;
    let owner = Owner { pid: conductor.parse().ok()?, start_ticks: start.parse().ok()?, boot };
    Some(Agent { pid, host, owner })
}

impl Agent {
    /// Whether its conductor is gone.
    #[must_use]
    pub fn is_orphan(&self, root: &Path) -> bool {
        !self.owner.is_parent_of(root, self.pid)
    }

    /// Ends it, if the process of this number is still it.
    pub fn end(&self) {
        let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) else { return };
        let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { return };
        // The handle stays with the process that it was opened for.
        if agent(Path::new("/"), self.pid).as_ref() == Some(self) {
            let _ = pidfd_send_signal(&process, Signal::KILL);
        }
    }
}

/// Ends the agents of a conductor that is gone and waits until they are, at most `within`.
pub(super) fn end_agents_of(owner: &Owner, within: Duration) {
    let deadline = Instant::now() + within;
    loop {
        let mut left = agents(Path::new("/"));
        left.retain(|agent| agent.owner == *owner);
        if left.is_empty() || Instant::now() > deadline {
            return;
        }
        left.iter().for_each(Agent::end);
        std::thread::sleep(Duration::from_millis(2));
    }
}
