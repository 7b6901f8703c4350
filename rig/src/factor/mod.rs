//! Knows the settings that can be switched on a lab, how each is read back, and how it is undone.
//!
//! Gives: [`ALL`] as data, [`Factor`], [`Undo`], [`find`]; [`MachineRow`], [`find_machine`];
//! [`QuotaRow`], [`find_quota`]; [`CpusRow`], [`find_cpus`]; [`refuse`].
//! Never: why a level is wanted, or what was measured under it.
//! Start reading at `link_row.rs`, for the machine itself at `machine_row.rs`.

mod cpus_row;
mod link_row;
mod machine_row;
mod machine_rows;
mod quota_row;
mod rows;

#[cfg(test)]
mod tests;

pub use cpus_row::{CpusRow, find_cpus};
pub use machine_row::MachineRow;
pub use machine_rows::{facts, find_machine};
pub use quota_row::{QuotaRow, find_quota, held_sides};
pub use rows::{ALL, find, spec};

use crate::lab::undo::UndoError;
use crate::lab::wire::LinkRequest;
use crate::lab::{Lab, LabError};
use desk::record::{FactorSpec, Plan, Value};
use std::io;
use std::path::Path;
use thiserror::Error;

/// Why a factor could not be set.
#[derive(Debug, Error)]
pub enum FactorError {
    /// The place has no links to set it on.
    #[error("factor '{0}' needs links of our own; on the loopback interface there are none")]
    NoLinks(&'static str),
    /// The level is not of the factor's kind.
    #[error("'{level}' is not a level of factor '{factor}'; {remedy}")]
    BadLevel {
        /// Which factor.
        factor: &'static str,
        /// What was asked.
        level: String,
        /// What would fit.
        remedy: &'static str,
    },
    /// The machine did not take it.
    #[error("factor '{factor}' did not take on {place}: asked {asked}, read back {found}")]
    NotTaken {
        /// Which factor.
        factor: &'static str,
        /// Host and interface.
        place: String,
        /// What was asked.
        asked: String,
        /// What it is.
        found: String,
    },
    /// The machine has no such setting.
    #[error("factor '{factor}' cannot be set here: {what}; leave it out of the plan")]
    NotHere {
        /// Which factor.
        factor: &'static str,
        /// What is missing.
        what: String,
    },
    /// This user may not, or nobody may.
    #[error("factor '{factor}' cannot be set: {path} is not ours to write ({source}); {remedy}")]
    NotAllowed {
        /// Which factor.
        factor: &'static str,
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
        /// What to do.
        remedy: &'static str,
    },
    /// The machine does not know the level.
    #[error("factor '{factor}' has no level '{level}' on this machine; it takes {menu}")]
    NotOnMenu {
        /// Which factor.
        factor: &'static str,
        /// What was asked.
        level: String,
        /// What the machine lists.
        menu: String,
    },
    /// A setting cannot be read.
    #[error("{path}: {source}")]
    Unreadable {
        /// Which file.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// The journal of undos, or a write that it made.
    #[error(transparent)]
    Undo(#[from] UndoError),
    /// The lab failed underneath.
    #[error(transparent)]
    Lab(#[from] LabError),
}

/// Says before anything is measured why a plan's settings of the machine, its CPUs and its quotas
/// cannot be made on the one below `root`.
///
/// # Errors
/// The first that cannot, with the reason and the remedy.
pub fn refuse(plan: &Plan, root: &Path) -> Result<(), FactorError> {
    machine_rows::refuse(plan, root)?;
    cpus_row::refuse(plan, root)?;
    quota_row::refuse(plan, root)
}

/// A setting of the lab that can be switched, read back and undone. All act on one link with all
/// its ends; settings of the machine itself are [`MachineRow`]s.
pub trait Factor: Sync {
    /// What it is, as data.
    fn spec(&self) -> &'static FactorSpec;
    /// Reads the level that is in force on every adapter of a link.
    ///
    /// # Errors
    /// When the ends of the link disagree or cannot be read.
    fn observe(&self, lab: &mut Lab, link: &str) -> Result<Value, FactorError>;
    /// Sets a level, reads it back, and returns how to undo it.
    ///
    /// # Errors
    /// When the machine refuses or does not take it; what was changed until then is undone.
    fn apply(&self, lab: &mut Lab, link: &str, level: &Value) -> Result<Undo, FactorError>;
}

/// How to bring a link back to what it was: link operations a host, in order.
#[derive(Clone, Debug, Default)]
pub struct Undo {
    steps: Vec<(usize, Vec<LinkRequest>)>,
}

impl Undo {
    /// Carries it out.
    ///
    /// # Errors
    /// When a host is gone; then its links are gone with it.
    pub fn carry_out(self, lab: &mut Lab) -> Result<(), LabError> {
        lab.ask_links(self.steps).map(|_| ())
    }
}
