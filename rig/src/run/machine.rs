//! Knows what of the machine itself is set for a run, and brings it back.
//!
//! Must not know which levels a plan wants when, nor how a setting is written.

use crate::factor::{self, FactorError};
use crate::lab::undo::{Fate, Journal, Settled, UndoError};
use desk::record::{Settings, Value};
use std::path::{Path, PathBuf};

/// Settings of the machine that a run has made; gone when this is.
#[derive(Debug)]
pub struct MachineSettings {
    root: PathBuf,
    binary: PathBuf,
    journal: Option<Journal>,
    /// Factor, level, and the entries of the journal that undo it; in the order of setting.
    set: Vec<(String, Value, Vec<u64>)>,
    /// What could not be brought back, in words for the person.
    left: Vec<String>,
}

impl MachineSettings {
    /// Nothing is set yet. `binary` is what the guardian is executed from.
    #[must_use]
    pub fn new(binary: &Path) -> Self {
        let (root, binary) = (PathBuf::from("/"), binary.to_path_buf());
        Self { root, binary, journal: None, set: Vec::new(), left: Vec::new() }
    }

    /// Brings the machine to what these settings say, and reads every one back; only differences
    /// are set.
    ///
    /// # Errors
    /// When a level does not take, or one that is no longer wanted cannot be undone.
    pub fn bring_to(
        &mut self,
        wanted: &Settings,
        observed: &mut Settings,
    ) -> Result<(), FactorError> {
        let wanted: Vec<_> =
            wanted.iter().filter_map(|(k, v)| Some((factor::find_machine(k)?, v))).collect();
        let stays = |(key, level, _): &(String, Value, Vec<u64>)| {
            wanted.iter().any(|(row, value)| row.spec.name == key && *value == level)
        };
        let keep = self.set.iter().position(|s| !stays(s)).unwrap_or(self.set.len());
        self.undo_to(keep)?;
        for (row, level) in wanted {
            let name = row.spec.name;
            if !self.set.iter().any(|(key, ..)| key == name) {
                let journal = self.journal()?;
                let entries = row.apply(&self.root, &journal, level)?;
                self.set.push((name.into(), level.clone(), entries));
            }
            observed.insert(name.into(), row.observe(&self.root)?);
        }
        Ok(())
    }

    /// Brings everything back. What cannot be is in [`Self::left`].
    pub fn undo_all(&mut self) {
        while !self.set.is_empty() {
            // What fails is told by `left`; the rest is undone all the same.
            let _ = self.undo_to(0);
        }
        self.journal = None;
    }

    /// What could not be brought back, in words for the person.
    #[must_use]
    pub fn left(&self) -> &[String] {
        &self.left
    }

    fn journal(&mut self) -> Result<Journal, FactorError> {
        if let Some(journal) = &self.journal {
            return Ok(journal.clone());
        }
        let journal = Journal::of_this_process(&self.binary)?;
        self.journal = Some(journal.clone());
        Ok(journal)
    }

    /// Undoes, last first, until so many are left.
    fn undo_to(&mut self, keep: usize) -> Result<(), FactorError> {
        while self.set.len() > keep {
            let (Some((.., entries)), Some(journal)) = (self.set.pop(), &self.journal) else {
                continue;
            };
            let settled = journal.undo(&entries);
            let words: Vec<String> = settled.iter().filter_map(complaint).collect();
            if !words.is_empty() {
                let all = words.join("; ");
                self.left.extend(words);
                return Err(UndoError::Left(all).into());
            }
        }
        Ok(())
    }
}

impl Drop for MachineSettings {
    fn drop(&mut self) {
        self.undo_all();
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
