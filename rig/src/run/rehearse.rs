//! Knows whether a trial could be visited here, by doing all of it but the load: the lab is built,
//! levels are set and read back, streams open.
//!
//! Must not know what a plan compares. It measures nothing and changes nothing that others can see.

use super::hands::with_load_settings;
use super::levels::{in_force, into_fault};
use super::stand::RunError;
use crate::factor::{self, Mechanism};
use crate::keeper;
use crate::lab::{Blueprint, Lab, Wanted};
use crate::workload::{self, Entries, Job};
use desk::record::{Fault, LabKind, Plan, Trial, Value};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The one link of a rehearsal.
const LINK: &str = "lan";

/// A lab of one client and one link, on which things are tried and undone.
pub struct Rehearsal {
    lab: Lab,
}

impl Rehearsal {
    /// Builds it; `binary` is the stend binary that hosts are executed from.
    ///
    /// # Errors
    /// When this kind of place is refused, in the words in which a run would be.
    pub fn build(
        kind: LabKind,
        binary: &Path,
        cancel: &'static AtomicBool,
    ) -> Result<Self, RunError> {
        let blueprint = Blueprint::of_all(Wanted::Only(kind), 1, &[LINK]);
        let machine = keeper::here(binary, cancel)?;
        Ok(Self { lab: Lab::try_out(&blueprint, kind, machine)? })
    }

    /// Sets a level of a factor of links or hosts, or of the CPUs of a host, reads it back and
    /// undoes it. Nothing is done for factors of another scope.
    ///
    /// # Errors
    /// The fault that a trial under this level would have.
    pub fn set(&mut self, factor: &str, level: &Value) -> Result<(), Fault> {
        let Some(mechanism @ (Mechanism::Link(_) | Mechanism::Cpus(_))) = factor::mechanism(factor)
        else {
            return Ok(());
        };
        let undo = mechanism.apply(&mut self.lab, LINK, level).map_err(into_fault)?;
        undo.carry_out(&mut self.lab).map_err(into_fault)
    }

    /// Stages the load of a trial of a plan: streams open with all that is set on their sockets,
    /// and nothing is sent. What is staged ends with the next one, or with the lab.
    ///
    /// # Errors
    /// The fault that the trial would have.
    pub fn stage(&mut self, entries: Entries, plan: &Plan, trial: &Trial) -> Result<(), Fault> {
        let trial = with_load_settings(trial);
        let entry = workload::find(entries, &trial.point.workload)?;
        let none = Duration::ZERO;
        let settings = &in_force(plan, &trial);
        let (settle, settle_max, window, data_seed) = (none, none, none, plan.method.seed);
        let job =
            Job { trial: &trial, link: LINK, settings, data_seed, settle, settle_max, window };
        (entry.make)().stage(&mut self.lab, &job)
    }
}
