//! Knows what a workload promises: stage, drive, check; and what it is told.
//!
//! Gives: [`Workload`], [`Job`], [`Edge`], [`Edges`], [`Checked`], [`Modelled`], [`Entry`],
//! [`Entries`].
//! Never: which workloads there are; whoever starts the rig hands it their list.

use crate::lab::agent::MakePart;
use crate::lab::sim::Scene;
use crate::lab::{Lab, LabError};
use desk::record::{Fault, Outcome, Reading, Settings, Trial, WorkloadSpec};
use std::time::Duration;

/// What a workload is given to do.
#[derive(Clone, Debug)]
pub struct Job<'a> {
    /// The trial; its point has every parameter written out.
    pub trial: &'a Trial,
    /// The link of the system under test that carries the traffic; empty where there is none.
    pub link: &'a str,
    /// Factor key to value in force: what the plan sets for the whole run, above it the levels.
    pub settings: &'a Settings,
    /// Seed of data sets: the same in all trials of a run.
    pub data_seed: u64,
    /// Shortest time from go to the opening of the window.
    pub settle: Duration,
    /// Longest time to wait for a steady rate.
    pub settle_max: Duration,
    /// Length of the window.
    pub window: Duration,
}

/// The two moments at which probes are read, nanoseconds on the monotonic clock, some milliseconds
/// ahead: whoever hears of one sleeps until then and reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// The window opens.
    Opens(u64),
    /// The window closes.
    Closes(u64),
}

/// Hears of an edge some milliseconds ahead, waits for it and has all probes read there.
///
/// # Errors
/// When a host or the machine is gone, or the run is stopped.
pub type Edges<'e> = dyn FnMut(&mut Lab, Edge) -> Result<(), LabError> + 'e;

/// What a checked trial gives.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Figures and work done.
    pub outcome: Outcome,
    /// What the load itself cost on each host.
    pub readings: Vec<Reading>,
}

/// A load. One value serves one trial.
pub trait Workload {
    /// Prepares both ends; nothing is measured.
    ///
    /// # Errors
    /// A fault of a host or of the thing measured.
    fn stage(&mut self, lab: &mut Lab, job: &Job) -> Result<(), Fault>;
    /// Runs it and announces the edges of the window.
    ///
    /// # Errors
    /// A fault of a host or of the thing measured.
    fn drive(&mut self, lab: &mut Lab, edges: &mut Edges<'_>) -> Result<(), Fault>;
    /// Says whether the work was done as asked, and what it gave. Touches nothing.
    ///
    /// # Errors
    /// The first thing that was wrong.
    fn check(&self) -> Result<Checked, Fault>;
}

/// What a simulated trial gives.
#[derive(Clone, Debug)]
pub struct Modelled {
    /// Figures, work done and what the load itself cost, by the workload's own check.
    pub checked: Checked,
    /// Share of each CPU of the system under test that the load took, 0-1.
    pub cores: Vec<f64>,
    /// Of it, in softirqs.
    pub softirq: Vec<f64>,
    /// CPUs that each client kept busy on a machine of its own; empty where there are none.
    pub clients: Vec<f64>,
}

/// What a load does in a simulated lab.
///
/// # Errors
/// The fault that the workload's own check finds.
pub type Model = fn(&Scene<'_>, &Job<'_>) -> Result<Modelled, Fault>;

/// A workload's place in the list.
#[derive(Clone, Copy)]
pub struct Entry {
    /// What it is, as data.
    pub spec: &'static WorkloadSpec,
    /// Its README, for `explain`.
    pub readme: &'static str,
    /// Factors of scope `program` that it tells to what it runs, by its defaults.
    pub hears: &'static [&'static str],
    /// Makes the conductor's side.
    pub make: fn() -> Box<dyn Workload>,
    /// Makes a host's side.
    pub part: MakePart,
    /// What it does in a simulated lab, where it can be had there; it knows nothing of how trials
    /// are judged.
    pub model: Option<Model>,
}

/// The workloads that a rig is handed, sorted by name.
pub type Entries = &'static [Entry];

/// The workload of a name.
///
/// # Errors
/// A fault of the conductor, where it was handed none of this name.
pub fn find(entries: Entries, name: &str) -> Result<&'static Entry, Fault> {
    entries.iter().find(|entry| entry.spec.name == name).ok_or_else(|| Fault::Failed {
        host: "conductor".into(),
        what: format!("no workload '{name}'"),
    })
}
