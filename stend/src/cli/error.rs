//! Knows every way a verb can fail and the exit status of each.

use desk::plan::PlanError;
use desk::report::ReportError;
use rig::lab::LabError;
use rig::lab::undo::UndoError;
use rig::run::RunError;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a verb ended without its result.
#[derive(Debug, Error)]
pub enum CliError {
    /// No such plan.
    #[error("there is no plan '{name}': {source}; built in are {}", super::plans::NAMES)]
    NoPlan {
        /// As given.
        name: String,
        /// Why the file was not read.
        source: io::Error,
    },
    /// No such workload.
    #[error("there is no workload '{name}'; known are {known}")]
    NoWorkload {
        /// As given.
        name: String,
        /// All names.
        known: String,
    },
    /// The plan was refused.
    #[error("{name}: {source}")]
    Plan {
        /// As given.
        name: String,
        /// Line, value, remedy.
        source: Box<PlanError>,
    },
    /// The run could not begin.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The place that was asked for is refused.
    #[error("{0}; leave out --lab to take the best place that the kernel grants")]
    Place(RunError),
    /// The plan needs what this place has not.
    #[error("the plan sets '{factor}', which needs links of our own, but {why}; {remedy}")]
    NoLinks {
        /// The factor.
        factor: String,
        /// Why there are none.
        why: String,
        /// What to do.
        remedy: &'static str,
    },
    /// The report could not be made.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// A file could not be written.
    #[error("{}: {source}; choose another directory with --out", path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Records could not be written as JSON.
    #[error("records as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// Standard output or the signal handler.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The journal of undos.
    #[error(transparent)]
    Undo(#[from] UndoError),
    /// The unit of systemd.
    #[error("{}: {source}; run as root, or choose another --root", path.display())]
    Unit {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The guardian was not started by stend.
    #[error("guardian: {0}")]
    Guardian(io::Error),
    /// A host's control connection broke.
    #[error("agent: {0}")]
    Agent(io::Error),
    /// The person stopped it before there was anything to show.
    #[error("stopped before the first trial was finished")]
    Stopped,
    /// Not one trial gave a figure.
    #[error("no trial gave a figure: {first}")]
    NothingMeasured {
        /// The first fault.
        first: String,
    },
}

impl CliError {
    /// 1 failure, 2 usage, 5 cannot measure here, 6 nothing valid was measured.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::NoPlan { .. } | Self::NoWorkload { .. } | Self::Plan { .. } => 2,
            Self::Stopped | Self::Run(RunError::Lab(LabError::Cancelled)) => super::INTERRUPTED,
            Self::NoLinks { .. } | Self::Run(_) | Self::Place(_) => 5,
            Self::NothingMeasured { .. } => 6,
            _ => 1,
        }
    }
}
