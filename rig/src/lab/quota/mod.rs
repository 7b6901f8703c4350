//! Quotas: how the processes of a side of the lab are held to so many CPUs together.
//!
//! Knows: control groups with CPU bandwidth control, one for each host, in either version.
//! Gives: [`Side`], [`QuotaGroup`], [`find`], [`try_out`], and what a lab does with them.
//! Never: why a side is held, or what came of it.
//! Start reading at `place.rs`; one group stands in `group.rs`.

mod group;
mod place;
#[cfg(test)]
mod tests;

pub use group::{Counts, LEAST, QuotaGroup};
pub use place::{Version, find, try_out};

use super::cgroup;
use super::error::LabError;
use super::host::HostProcess;
use super::standing::{SUT, Standing};
use super::undo::{Intent, Journal, Kind};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// Who is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Side {
    /// The system under test.
    Server,
    /// All clients, each to an equal part.
    Clients,
    /// The host that carries frames between two links.
    Relay,
}

/// The groups of a lab that stands; without any nobody is held.
#[derive(Debug, Default)]
pub(super) struct Quotas {
    groups: Vec<QuotaGroup>,
    /// What was made, as it stands in the journal.
    written: Option<(Journal, Vec<u64>)>,
}

impl Quotas {
    /// A copy of the groups.
    pub(super) fn groups(&self) -> Vec<QuotaGroup> {
        self.groups.clone()
    }

    /// Makes a group for each of these hosts (name, process) and moves them in; without a limit.
    fn hold(&mut self, hosts: &[(String, u32)], binary: &Path) -> Result<(), LabError> {
        let place = find(Path::new("/")).map_err(LabError::NoQuota)?;
        let name = |host: &str| format!("{}{}-{host}", cgroup::PREFIX, std::process::id());
        let intent = |key: &str, kind, path: PathBuf| Intent {
            key: key.into(),
            kind,
            path,
            new: "present".into(),
        };
        let mut intents = Vec::new();
        if let Some(file) = &place.enable {
            intents.push(intent("cpu", Kind::Controller, file.clone()));
        }
        for (host, _) in hosts {
            intents.push(intent(host, Kind::Group, place.directory.join(name(host))));
        }
        let journal = Journal::of_this_process(binary)?;
        let entries = journal.intend(intents)?;
        self.written = Some((journal, entries));
        if let Some(file) = &place.enable {
            write(file, "+cpu")?;
        }
        for (host, process) in hosts {
            let directory = place.directory.join(name(host));
            if !directory.exists() {
                let fail =
                    |source| LabError::File { path: directory.display().to_string(), source };
                fs::create_dir(&directory).map_err(fail)?;
            }
            let group = QuotaGroup::new(host, *process, (place.version, directory));
            self.groups.push(group.clone());
            group.enter().map_err(|source| {
                let path = group.directory().join("cgroup.procs").display().to_string();
                LabError::File { path, source }
            })?;
        }
        Ok(())
    }

    /// Moves what still runs back to where it was and removes the groups.
    pub(super) fn release(&mut self) {
        for group in self.groups.drain(..) {
            // A process that has ended needs no moving.
            let _ = group.leave();
        }
        if let Some((journal, entries)) = self.written.take() {
            // What stays is in the journal, and the guardian tries again.
            let _ = journal.undo(&entries);
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), LabError> {
    let fail = |source| LabError::File { path: path.display().to_string(), source };
    fs::write(path, text).map_err(fail)
}

impl Standing {
    /// Gives every host of these sides a group of its own, without a limit yet, so that a limit is
    /// all that differs from then on.
    ///
    /// # Errors
    /// When groups are refused, with the reason; then no host has one.
    pub fn hold(&mut self, sides: &[Side], binary: &Path) -> Result<(), LabError> {
        let hosts: Vec<(String, u32)> = sides
            .iter()
            .flat_map(|side| self.side(*side))
            .filter_map(|at| self.hosts.get(at))
            .map(|host| (host.name().to_owned(), host.pid()))
            .collect();
        if hosts.is_empty() {
            return Ok(());
        }
        if let Err(e) = self.quotas.hold(&hosts, binary) {
            self.release();
            return Err(e);
        }
        for group in self.quotas.groups().iter().filter(|g| g.version() == Version::Two) {
            // A process is in one group of the unified hierarchy: its clock is there now.
            self.groups.read_in(&group.host, Some(group.directory()));
        }
        Ok(())
    }

    /// Moves all hosts out of these groups and removes them.
    pub fn release(&mut self) {
        for group in self.quotas.groups() {
            self.groups.read_in(&group.host, None);
        }
        self.quotas.release();
    }

    /// Holds a side to so many CPUs together, or to none.
    ///
    /// # Errors
    /// When the kernel refuses; the groups must have been made before.
    pub fn set_quota(&mut self, side: Side, cpus: Option<f64>) -> Result<(), LabError> {
        let groups = self.quota_groups(side)?;
        let each = cpus.map(|cpus| cpus / count(groups.len()));
        for group in groups {
            let path = group.directory().display().to_string();
            group.set(each).map_err(|source| LabError::File { path, source })?;
        }
        Ok(())
    }

    /// What the kernel says that a side is held to, CPUs together; none for no limit.
    ///
    /// # Errors
    /// When a limit cannot be read, or its hosts disagree.
    pub fn quota(&self, side: Side) -> Result<Option<f64>, LabError> {
        let groups = self.quota_groups(side)?;
        let mut limits = Vec::new();
        for group in &groups {
            let path = group.directory().display().to_string();
            limits.push(group.limit().map_err(|source| LabError::File { path, source })?);
        }
        match limits.iter().flatten().count() {
            0 => Ok(None),
            held if held == groups.len() => Ok(Some(limits.iter().flatten().sum())),
            held => {
                let of = groups.len();
                Err(LabError::NoQuota(format!("{held} of {of} hosts of this side have a limit")))
            }
        }
    }

    fn quota_groups(&self, side: Side) -> Result<Vec<QuotaGroup>, LabError> {
        let names: Vec<&str> =
            self.side(side).filter_map(|at| self.hosts.get(at)).map(HostProcess::name).collect();
        let mut groups = self.quotas.groups();
        groups.retain(|group| names.contains(&group.host.as_str()));
        if groups.len() == names.len() {
            return Ok(groups);
        }
        Err(LabError::NoQuota("its hosts have no groups; the plan did not name it".into()))
    }

    fn side(&self, side: Side) -> std::ops::Range<usize> {
        match side {
            Side::Server => SUT..SUT + 1,
            Side::Clients => 1..self.clients + 1,
            Side::Relay => self.relay.map_or(0..0, |at| at..at + 1),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "at most 64 hosts")]
const fn count(hosts: usize) -> f64 {
    hosts as f64
}
