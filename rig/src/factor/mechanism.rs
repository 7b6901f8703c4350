//! Knows how each kind of factor is set, read back and undone.
//!
//! Must not know the list of factors, nor which level is wanted when.

use super::cpus_row::CpusRow;
use super::link_row::LinkRow;
use super::machine_row::MachineRow;
use super::quota_row::QuotaRow;
use super::{FactorError, link_row};
use crate::lab::quota::Side;
use crate::lab::undo::{Fate, Journal, Settled, UndoError};
use crate::lab::wire::LinkRequest;
use crate::lab::{Lab, cpus};
use desk::record::Value;
use std::path::{Path, PathBuf};

/// How a factor is set. Its row says where.
#[derive(Clone, Copy, Debug)]
pub enum Mechanism {
    /// On all ends of a link, or on the hosts at its ends.
    Link(&'static LinkRow),
    /// In files or registers of the machine, by way of the journal.
    Machine(&'static MachineRow),
    /// By the control groups of a side.
    Quota(&'static QuotaRow),
    /// By the CPUs that the system under test may use.
    Cpus(&'static CpusRow),
}

/// What factors are set on.
#[derive(Debug)]
pub struct Ground<'g> {
    /// The hosts and their links.
    pub lab: &'g mut Lab,
    /// The machine that they stand on.
    pub machine: &'g mut Machine,
}

/// The machine itself, with the journal of what is set there.
#[derive(Debug)]
pub struct Machine {
    /// Below this stand `/proc` and `/sys`.
    pub root: PathBuf,
    binary: PathBuf,
    journal: Option<Journal>,
}

impl Machine {
    /// Nothing is set yet. `binary` is what the guardian is executed from.
    #[must_use]
    pub fn new(binary: &Path) -> Self {
        Self { root: PathBuf::from("/"), binary: binary.to_path_buf(), journal: None }
    }

    /// Its journal, which is opened before the first change.
    ///
    /// # Errors
    /// When it cannot be kept; then nothing may be changed.
    fn journal(&mut self) -> Result<Journal, UndoError> {
        if let Some(journal) = &self.journal {
            return Ok(journal.clone());
        }
        let journal = Journal::of_this_process(&self.binary)?;
        self.journal = Some(journal.clone());
        Ok(journal)
    }

    /// Undoes these entries of the journal.
    ///
    /// # Errors
    /// What could not be brought back, in words for the person.
    pub fn undo(&self, entries: &[u64]) -> Result<(), Vec<String>> {
        let settled = self.journal.as_ref().map(|journal| journal.undo(entries));
        let words: Vec<String> = settled.iter().flatten().filter_map(complaint).collect();
        if words.is_empty() { Ok(()) } else { Err(words) }
    }

    /// Closes the journal; the next change opens a new one.
    pub fn close(&mut self) {
        self.journal = None;
    }
}

/// How to bring back what a level changed.
#[derive(Debug)]
pub enum Undo {
    /// Link operations a host, in order.
    Links(Vec<(usize, Vec<LinkRequest>)>),
    /// Entries of the machine's journal.
    Journal(Vec<u64>),
    /// The side is held no more.
    Quota(Side),
    /// The system under test has these CPUs.
    Cpus(Vec<u32>),
}

impl Undo {
    /// Whether it ends with the lab, so that a lab that is gone needs none.
    #[must_use]
    pub const fn ends_with_lab(&self) -> bool {
        !matches!(self, Self::Journal(_))
    }

    /// Carries it out.
    ///
    /// # Errors
    /// When a host is gone; then its links are gone with it. Of the machine what could not be
    /// brought back ([`UndoError::Left`]).
    pub fn carry_out(&self, ground: &mut Ground<'_>) -> Result<(), FactorError> {
        match self {
            Self::Links(steps) => Ok(link_row::carry_out(ground.lab, steps)?),
            Self::Journal(entries) => {
                let left = |words: Vec<String>| UndoError::Left(words.join("; ")).into();
                ground.machine.undo(entries).map_err(left)
            }
            Self::Quota(side) => Ok(ground.lab.set_quota(*side, None)?),
            Self::Cpus(before) => Ok(ground.lab.hold_cpus(before)?),
        }
    }
}

impl Mechanism {
    /// Says before anything is measured why a level cannot be set on the machine below `root`, in a
    /// lab of so many clients. What only a lab can tell is not asked.
    ///
    /// # Errors
    /// With the reason and the remedy.
    pub fn refuse(self, root: &Path, level: &Value, clients: u32) -> Result<(), FactorError> {
        match self {
            Self::Machine(row) => row.refuse(root, level),
            Self::Quota(row) => row.refuse(root, level, clients),
            Self::Cpus(row) => row.refuse(root, level),
            Self::Link(_) => Ok(()),
        }
    }

    /// Sets a level, reads it back, and returns how to undo it. Only factors of links look at
    /// `link`.
    ///
    /// # Errors
    /// When the machine refuses or does not take it; what was changed until then is undone.
    pub fn apply(
        self,
        ground: &mut Ground<'_>,
        link: &str,
        level: &Value,
    ) -> Result<Undo, FactorError> {
        let (undo, done) = match self {
            Self::Link(row) => return row.apply(ground.lab, link, level),
            Self::Machine(row) => {
                let journal = ground.machine.journal()?;
                return row.apply(&ground.machine.root, &journal, level).map(Undo::Journal);
            }
            Self::Quota(row) => (Undo::Quota(row.side), row.apply(ground.lab, level)),
            Self::Cpus(row) => {
                let root = &ground.machine.root;
                // Hosts are born with ours; CPUs that are offline now are among them.
                (Undo::Cpus(cpus::allowed(root)), row.apply(ground.lab, root, level))
            }
        };
        if let Err(e) = done {
            // The first of two errors says more.
            let _ = undo.carry_out(ground);
            return Err(e);
        }
        Ok(undo)
    }

    /// Reads the level that is in force, as the plan writes it: `asked` where it is that to the
    /// resolution of the kernel.
    ///
    /// # Errors
    /// When it cannot be read, or the ends of the link, or the CPUs, disagree.
    pub fn observe(
        self,
        ground: &mut Ground<'_>,
        link: &str,
        asked: &Value,
    ) -> Result<Value, FactorError> {
        match self {
            Self::Link(row) => row.observe(ground.lab, link),
            Self::Machine(row) => row.observe(&ground.machine.root),
            Self::Quota(row) => row.observe(ground.lab, asked),
            Self::Cpus(row) => row.observe(ground.lab, &ground.machine.root, asked),
        }
    }

    /// Whether what was read is what was asked. Of the machine it may be another's since: that is
    /// in the record, and told at the end.
    ///
    /// # Errors
    /// [`FactorError::NotTaken`]: another level has changed it, or the kernel has.
    pub fn must_be(self, key: &str, asked: &Value, found: &Value) -> Result<(), FactorError> {
        let same = match self {
            Self::Link(_) => link_row::same(asked, found),
            Self::Quota(_) | Self::Cpus(_) => asked == found,
            Self::Machine(_) => true,
        };
        let spec = super::spec(key).filter(|_| !same);
        spec.map_or(Ok(()), |spec| {
            let (asked, found) = (asked.to_string(), found.to_string());
            let place = "the lab, after all levels were set".into();
            Err(FactorError::NotTaken { factor: spec.name, place, asked, found })
        })
    }
}

fn complaint(settled: &Settled) -> Option<String> {
    let Settled { entry, fate } = settled;
    let path = entry.path.display();
    match fate {
        Fate::Foreign { now } => Some(format!(
            "{path} was {} before the run, {} by its plan, and somebody else made it {now}: left",
            entry.old, entry.new
        )),
        Fate::Failed { why } => {
            Some(format!("{path} could not be set back to {}: {why}", entry.old))
        }
        _ => None,
    }
}
