//! Knows what is set on this machine by way of the journal, as the agent of the machine keeps it.
//!
//! Must not know which level is wanted when.

use super::held_row::HeldRow;
use super::machine_row::MachineRow;
use super::{FactorError, Mechanism};
use crate::lab::undo::{Fate, Journal, Settled, UndoError};
use desk::record::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};

/// The settings of the machine below a root, with the journal of those that are changed.
#[derive(Debug)]
pub struct MachineSettings {
    root: PathBuf,
    binary: PathBuf,
    journal: Option<Journal>,
    /// Entries of the journal that are not undone.
    open: BTreeSet<u64>,
    /// Files that hold a factor as long as they are open.
    held: BTreeMap<&'static str, File>,
}

impl MachineSettings {
    /// Nothing is changed yet. `binary` is what the guardian is executed from.
    #[must_use]
    pub fn new(binary: &Path) -> Self {
        let (root, open) = (PathBuf::from("/"), BTreeSet::new());
        Self { root, binary: binary.to_path_buf(), journal: None, open, held: BTreeMap::new() }
    }

    /// Sets a level of a factor and reads it back; gives the entries of the journal that undo it.
    ///
    /// # Errors
    /// When the machine refuses or does not take it; what was changed until then is undone.
    pub fn set(&mut self, factor: &str, level: &Value) -> Result<Vec<u64>, FactorError> {
        let row = match row(factor)? {
            Row::Machine(row) => row,
            Row::Held(row) => {
                // An older request of ours would be the least.
                self.held.remove(row.spec.name);
                self.held.insert(row.spec.name, row.hold(&self.root, level)?);
                return Ok(Vec::new());
            }
        };
        let journal = self.journal()?;
        let entries = row.apply(&self.root, &journal, level)?;
        self.open.extend(&entries);
        Ok(entries)
    }

    /// The level of a factor that is in force.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn level(&self, factor: &str) -> Result<Value, FactorError> {
        match row(factor)? {
            Row::Machine(row) => row.observe(&self.root),
            Row::Held(row) => row.observe(&self.root),
        }
    }

    /// Closes the file that holds a factor.
    pub fn let_go(&mut self, factor: &str) {
        self.held.remove(factor);
    }

    /// Undoes entries of the journal; gives what could not be brought back, in words for the
    /// person.
    pub fn undo(&mut self, entries: &[u64]) -> Vec<String> {
        let settled = self.journal.as_ref().map(|journal| journal.undo(entries));
        entries.iter().for_each(|entry| {
            self.open.remove(entry);
        });
        settled.iter().flatten().filter_map(complaint).collect()
    }

    /// Undoes all that is still set, last first, and closes the journal.
    pub fn undo_all(&mut self) -> Vec<String> {
        self.held.clear();
        let open: Vec<u64> = self.open.iter().rev().copied().collect();
        let left = self.undo(&open);
        self.close();
        left
    }

    /// Closes the journal; the next change opens a new one.
    pub fn close(&mut self) {
        self.journal = None;
    }

    /// The journal, which is opened before the first change. None can be kept: nothing may be set.
    fn journal(&mut self) -> Result<Journal, UndoError> {
        if let Some(journal) = &self.journal {
            return Ok(journal.clone());
        }
        let journal = Journal::of_this_process(&self.binary)?;
        self.journal = Some(journal.clone());
        Ok(journal)
    }
}

/// What the agent of the machine sets.
enum Row {
    Machine(&'static MachineRow),
    Held(&'static HeldRow),
}

fn row(factor: &str) -> Result<Row, FactorError> {
    match super::mechanism(factor) {
        Some(Mechanism::Machine(row)) => Ok(Row::Machine(row)),
        Some(Mechanism::Held(row)) => Ok(Row::Held(row)),
        _ => Err(FactorError::Unknown(factor.into())),
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
