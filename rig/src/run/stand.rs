//! Knows what the conductor asks of a place in which trials are visited, and what it is told.
//!
//! Must not know which trial comes next, nor whether the place is real or simulated.

use crate::factor::FactorError;
use crate::lab::LabError;
use desk::plan::Next;
use desk::record::{Completeness, Fault, Plan, Trial, TrialRecord};
use thiserror::Error;

/// Why a run could not even begin.
#[derive(Debug, Error)]
pub enum RunError {
    /// The lab does not stand.
    #[error("the lab cannot be built: {0}")]
    Lab(LabError),
    /// The machine refuses what the plan sets or asks for, in the words of its agent.
    #[error("{0}")]
    Setting(String),
    /// The plan sets what cannot be set here.
    #[error(transparent)]
    Factor(#[from] FactorError),
    /// The plan wants boots, which only a simulated lab has.
    #[error(
        "factor '{factor}' needs a reboot, and no lab of this machine goes on after one; run the \
         plan without the factor once at each of its levels, the machine booted in between, and \
         set the runs side by side with `stend compare`, or take --lab sim"
    )]
    Reboot {
        /// Which factor.
        factor: String,
    },
    /// The plan has a factor that a person sets, and nobody told at which level it is.
    #[error(
        "factor '{factor}' is set by a person, and nobody told which of its levels the machine is \
         at; tell it with --level {factor}=LEVEL"
    )]
    Untold {
        /// Which factor.
        factor: String,
    },
    /// The soaker would disturb the load.
    #[error("no soaker can be had: {0}; leave out displaced_work")]
    Soaker(String),
}

impl From<LabError> for RunError {
    fn from(e: LabError) -> Self {
        match e {
            LabError::Factor(what) | LabError::NoService(what) => Self::Setting(what),
            other => Self::Lab(other),
        }
    }
}

impl RunError {
    /// Why a machine has no soaker.
    #[must_use]
    pub fn soaker(e: LabError) -> Self {
        match e {
            LabError::Machine(what) => Self::Soaker(what),
            other => Self::Lab(other),
        }
    }
}

/// Refuses a plan with boots: the conductor would not live through one.
///
/// # Errors
/// The first factor that needs a reboot, and the remedy.
pub fn refuse_boots(plan: &Plan) -> Result<(), RunError> {
    match plan.factors.iter().find(|factor| factor.reboot) {
        Some(factor) => Err(RunError::Reboot { factor: factor.name.clone() }),
        None => Ok(()),
    }
}

/// Refuses a plan of several levels of a factor that a person sets.
///
/// # Errors
/// The first such factor, and the remedy.
pub fn refuse_untold(plan: &Plan) -> Result<(), RunError> {
    match plan.untold() {
        Some(factor) => Err(RunError::Untold { factor: factor.name.clone() }),
        None => Ok(()),
    }
}

/// A place in which trials are visited: a lab of hosts, or a simulated one.
pub trait Stand {
    /// Makes ready for the trials of a plan.
    ///
    /// # Errors
    /// When the plan cannot be run here.
    fn begin(&mut self, plan: &Plan) -> Result<(), RunError>;
    /// Visits one trial; what goes wrong in it is a fault of its record.
    fn visit(&mut self, plan: &Plan, trial: &Trial) -> TrialRecord;
    /// Makes hosts and links anew after a fault.
    ///
    /// # Errors
    /// When they cannot be had again.
    fn rebuild(&mut self) -> Result<(), RunError>;
    /// Waits until others leave the machine to the load, but not for ever; false if they did not.
    ///
    /// # Errors
    /// When the run is stopped, or a host is gone.
    fn wait_for_calm(&mut self) -> Result<bool, Fault>;
    /// Brings everything back to what it was before [`Self::begin`]; `whole` says whether the last
    /// visit ended well. Gives what of the machine could not be brought back so far, in words for
    /// the person.
    fn end(&mut self, whole: bool) -> Vec<String>;
}

/// What is to be done, and who hears of it.
pub struct Orders<'o> {
    /// The plan.
    pub plan: &'o Plan,
    /// The trials to visit, in order: all of the plan, or what an earlier sitting left.
    pub trials: Vec<Next>,
    /// Records of earlier sittings.
    pub kept: &'o [TrialRecord],
    /// Seconds from the start of the run to that of this sitting; 0 in the first.
    pub before_s: f64,
    /// Keeps a record; nothing else happens before it has returned. Its error, in words for the
    /// person, ends the run as partial.
    pub keep: &'o mut dyn FnMut(&TrialRecord) -> Result<(), String>,
    /// Says whether enough is known after so many blocks; asked at the looks of the plan only.
    pub enough: &'o mut dyn FnMut(u32) -> bool,
    /// Hears of every visit after its record was kept.
    pub tell: &'o mut dyn FnMut(&Progress),
}

/// How many trials were visited, of how many; one that is visited again is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Visited so far.
    pub done: usize,
    /// Planned.
    pub planned: usize,
}

/// What a person is told after every visit.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Dry visits, before the first block or first in a boot.
    pub dry: Tally,
    /// Trials that count.
    pub counted: Tally,
    /// The last one.
    pub last: &'a TrialRecord,
    /// The one that comes next; none at a look, before a wait and at the end.
    pub next: Option<&'a Trial>,
    /// Whether calm is waited for.
    pub waits: bool,
}

/// Records of a run and whether it went to its end.
#[derive(Clone, Debug)]
pub struct Visited {
    /// In the order in which they ran.
    pub records: Vec<TrialRecord>,
    /// Complete or not.
    pub completeness: Completeness,
    /// What of the machine could not be brought back so far, in words for the person.
    pub left: Vec<String>,
}
