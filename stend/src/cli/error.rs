//! Knows every way a verb can fail and the exit status of each.

use desk::plan::{AaError, ExtentError, PlanError, StoredError, TellError};
use desk::verdict::{CompareError, GateError};
use press::report::{BundleError, ReportError};
use rig::lab::LabError;
use rig::lab::ethtool::EthtoolError;
use rig::lab::sim::SimError;
use rig::lab::undo::UndoError;
use rig::run::RunError;
use rig::store::StoreError;
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
    /// A job file of another program that cannot be made a plan of, or a run that gives none.
    #[error("{name}: {what}")]
    Job {
        /// The file.
        name: String,
        /// What is wrong, with the remedy.
        what: String,
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
    /// The plan of a stored run was refused.
    #[error("run {id} has a plan that is not carried out: {source}; run a plan of your own")]
    StoredPlan {
        /// Which run.
        id: String,
        /// Value, remedy.
        source: Box<StoredError>,
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
    /// The plan has a host between links.
    #[error("host '{host}' stands between links, and {place}; take --lab root or --lab user")]
    NoHostBetween {
        /// Which host.
        host: String,
        /// What is wrong with the place.
        place: &'static str,
    },
    /// Records cannot be kept or found.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Nowhere to keep records.
    #[error("neither XDG_STATE_HOME nor HOME is set; name {0}")]
    NoStatePlace(&'static str),
    /// Every run is complete.
    #[error(
        "every kept run has ended; there is nothing to resume, and --blocks +N adds blocks to the \
         run that is named"
    )]
    NothingToResume,
    /// The run has nothing left.
    #[error(
        "run {id} has ended; `stend report {id}` shows it, `stend resume {id} --blocks +5` adds \
         five blocks"
    )]
    HasEnded {
        /// Which.
        id: String,
    },
    /// Blocks are added to a run that has ended only.
    #[error("run {id} has not ended; go on with `stend resume {id}` first, then add blocks")]
    NotEnded {
        /// Which.
        id: String,
    },
    /// Another build visits the trials in another order.
    #[error(
        "run {id} was begun by a build that visits its trials in another order; run the plan anew"
    )]
    OtherOrder {
        /// Which.
        id: String,
    },
    /// Somebody writes the run.
    #[error("run {id} is being measured at this moment; wait for it, or stop that process first")]
    IsRunning {
        /// Which.
        id: String,
    },
    /// The machine has changed since the run began.
    #[error("run {id} cannot go on: {what}; bring that back, or run the plan anew")]
    AnotherMachine {
        /// Which run.
        id: String,
        /// Keys with both values.
        what: String,
    },
    /// An export could not be written.
    #[error("{}: {source}; choose another file with -o", path.display())]
    Export {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Rows could not be written as CSV.
    #[error("the table as csv: {0}")]
    Csv(#[from] csv::Error),
    /// This binary cannot write Parquet, or could not.
    #[error("the table as parquet: {0}")]
    Parquet(String),
    /// No such physics.
    #[error("there is no physics '{name}': {source}; leave out --physics for the built-in one")]
    NoPhysics {
        /// As given.
        name: String,
        /// Why the file was not read.
        source: io::Error,
    },
    /// The physics was refused.
    #[error("physics {name}: {source}")]
    Physics {
        /// As given.
        name: String,
        /// Key, value, remedy.
        source: Box<SimError>,
    },
    /// Something that a server which stend did not start cannot have.
    #[error("a server of your own is measured from this machine's own network: {0}")]
    Outside(String),
    /// A disk that is not overwritten.
    #[error("{0}")]
    Destroy(String),
    /// A physics for a lab that has one of its own.
    #[error("--physics is for --lab sim, not for --lab {0}; leave out one of them")]
    PhysicsOfReal(String),
    /// A settings file or a variable makes a gate one that measures nothing.
    #[error(
        "a gate in a simulated lab measures nothing, so no variable and no file may choose it; \
         write --lab sim, or another --lab"
    )]
    GateOfSim,
    /// Nothing can be taken down.
    #[error("nothing can be taken down here: {0}; as root there are quotas, in --lab sim all")]
    NothingToThrottle(String),
    /// The report could not be made.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// No such figure.
    #[error("run {run} has no figure {number}; it has\n{}", list.trim_end())]
    NoFigure {
        /// The run.
        run: String,
        /// As given.
        number: u32,
        /// Those that there are, a line each.
        list: String,
    },
    /// How a figure is drawn, but not which.
    #[error(
        "the number of the figure is missing: `stend figure {run} N`; `stend figure {run}` lists \
         them"
    )]
    NoNumber {
        /// The run.
        run: String,
    },
    /// The form of a figure is not known.
    #[error("{}: no form for such a file; end it in .svg, .png, .csv or .txt, or give --format",
        path.display())]
    NoForm {
        /// As given.
        path: PathBuf,
    },
    /// A figure could not be made a picture.
    #[error("the figure as png: {0}")]
    Png(String),
    /// The plan cannot be held at such a level.
    #[error(transparent)]
    Aa(#[from] AaError),
    /// The file of settings could not be read.
    #[error("{}: {source}; move it away to go on without settings", path.display())]
    NoSettings {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file of settings cannot be.
    #[error("{}, line {line}: {what}", path.display())]
    BadSettings {
        /// Which.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What, and the remedy.
        what: String,
    },
    /// A setting has a value that it cannot have.
    #[error("{origin}: {what}")]
    BadSetting {
        /// A variable, or a file with its line.
        origin: String,
        /// What, and the remedy.
        what: String,
    },
    /// Pages cannot be put into a directory.
    #[error("{}: {source}; name another directory", path.display())]
    Directory {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The plan or the run cannot have so many blocks.
    #[error(transparent)]
    Extent(#[from] ExtentError),
    /// Too few blocks for a verb that has to decide.
    #[error(
        "{verb} needs at least {least} {what}, and {whose} has {found}: fewer have no verdict; \
         {remedy}"
    )]
    TooFew {
        /// The verb.
        verb: &'static str,
        /// The fewest.
        least: u32,
        /// Blocks, or boots a level.
        what: &'static str,
        /// The plan or run.
        whose: String,
        /// As many as it has.
        found: u32,
        /// What to do.
        remedy: String,
    },
    /// A level that is told is not one to tell.
    #[error(transparent)]
    Tell(#[from] TellError),
    /// A narrowing that names no key.
    #[error("--only '{word}' has no '='; write KEY=VALUE, as in request_size=64KiB or load=full")]
    NoKey {
        /// As given.
        word: String,
    },
    /// A plan that cannot be narrowed so.
    #[error(transparent)]
    Narrow(#[from] desk::plan::NarrowError),
    /// Clients that cannot load the server.
    #[error(transparent)]
    SlowLines(#[from] desk::plan::SlowLines),
    /// A level that nobody told.
    #[error(
        "factor '{factor}' is set by a person, so a run is made at one of its levels: set the \
         machine to it, then give its command\n{}\nand set two such runs side by side with\n  \
         {compare}",
        commands.trim_start_matches('\n')
    )]
    Untold {
        /// Which factor.
        factor: String,
        /// A line for each of its levels.
        commands: String,
        /// The command that compares.
        compare: String,
    },
    /// A level was chosen twice.
    #[error("--level gives two levels to '{factor}', {first} and {second}; leave out one of them")]
    TwoLevels {
        /// Of which factor.
        factor: String,
        /// One.
        first: String,
        /// The other.
        second: String,
    },
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
    /// An adapter could not be asked.
    #[error(transparent)]
    Adapter(#[from] EthtoolError),
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
    /// Part in a lab of several machines.
    #[cfg(feature = "machines")]
    #[error(transparent)]
    Trust(#[from] rig::lab::trust::TrustError),
    /// Guests in software emulation.
    #[cfg(feature = "machines")]
    #[error(transparent)]
    Guest(#[from] rig::lab::guest::GuestError),
    /// This binary knows one machine only.
    #[cfg(not(feature = "machines"))]
    #[error(
        "this stend measures its own machine only; build one for several with `cargo build \
         --release --features machines`"
    )]
    NoMachines,
    /// A lab file that cannot be read.
    #[error(
        "{name}: {source}; a lab file names machines, roles and links, as the README shows under \
         Several machines"
    )]
    NoLabFile { name: String, source: io::Error },
    /// A lab file that is refused.
    #[error("{name}: {source}")]
    LabFile { name: String, source: Box<desk::plan::PlanError> },
    /// A plan that does not fit the lab file.
    #[error("{0}")]
    Bind(#[from] desk::plan::BindError),
    /// A survey with a lab file.
    #[error("a survey is of the machine it runs on; leave out --machines and run it there")]
    SurveyOfSeveral,
    /// A machine of the run that no lab file names.
    #[error(
        "the run has hosts on the machine '{machine}'; name the lab file that has it: \
         --machines FILE"
    )]
    NoAddress { machine: String },
    /// A host's control connection broke.
    #[error("agent: {0}")]
    Agent(io::Error),
    /// The person stopped it before there was anything to show.
    #[error("stopped before the first trial was finished")]
    Stopped,
    /// No such run.
    #[error("there is no run '{name}': {source}; give the path of its records.json")]
    NoRun {
        /// As given.
        name: String,
        /// Why it was not read.
        source: io::Error,
    },
    /// A file that is not the record of a run.
    #[error("{}: no record of one run: {source}; `stend run` writes one", path.display())]
    BadRun {
        /// Which.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
    /// A file that gives no runs.
    #[error("{}: {source}", path.display())]
    Import {
        /// Which.
        path: PathBuf,
        /// Value and remedy.
        source: BundleError,
    },
    /// A file that cannot be read.
    #[error("{}: {source}; name a report.html, a bundle or records", path.display())]
    ImportFile {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Two runs cannot be compared as asked.
    #[error(transparent)]
    Compare(#[from] CompareError),
    /// A run cannot be put before a gate as asked.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// A file that was named could not be written.
    #[error("{}: {source}; name another file", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// One run named more than once in a comparison.
    #[error("run {run} is named twice; a comparison takes every run once, on one side")]
    SameRun {
        /// Which.
        run: String,
    },
    /// Two runs have no trial in common.
    #[error(
        "runs {a} and {b} have no load point with a good trial under the same levels; run one plan \
         in both sessions"
    )]
    NothingShared {
        /// The first.
        a: String,
        /// The second.
        b: String,
    },
    /// Settings of the machine would be switched, and the person does not want that.
    #[error("no setting is tried: {why}")]
    NotAgreed {
        /// Why not.
        why: String,
    },
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
            Self::NoPlan { .. }
            | Self::Job { .. }
            | Self::NoWorkload { .. }
            | Self::Plan { .. }
            | Self::StoredPlan { .. }
            | Self::NoPhysics { .. }
            | Self::Physics { .. }
            | Self::Outside(_)
            | Self::Destroy(_)
            | Self::PhysicsOfReal(_)
            | Self::NothingToResume
            | Self::HasEnded { .. }
            | Self::NotEnded { .. }
            | Self::OtherOrder { .. }
            | Self::IsRunning { .. }
            | Self::NoRun { .. }
            | Self::BadRun { .. }
            | Self::Compare(_)
            | Self::SameRun { .. }
            | Self::Import { .. }
            | Self::ImportFile { .. }
            | Self::Gate(_)
            | Self::GateOfSim
            | Self::NoFigure { .. }
            | Self::NoNumber { .. }
            | Self::NoForm { .. }
            | Self::Aa(_)
            | Self::Tell(_)
            | Self::Extent(_)
            | Self::TooFew { .. }
            | Self::Untold { .. }
            | Self::TwoLevels { .. }
            | Self::NoSettings { .. }
            | Self::BadSettings { .. }
            | Self::BadSetting { .. }
            | Self::Store(
                StoreError::None { .. } | StoreError::NoRun { .. } | StoreError::Ambiguous { .. },
            ) => 2,
            Self::Stopped | Self::Run(RunError::Lab(LabError::Cancelled)) => super::INTERRUPTED,
            Self::NoLinks { .. } | Self::NoHostBetween { .. } => 5,
            Self::Run(_) | Self::Place(_) | Self::AnotherMachine { .. } => 5,
            Self::NothingToThrottle(_) => 5,
            Self::NotAgreed { .. }
            | Self::NoLabFile { .. }
            | Self::LabFile { .. }
            | Self::Bind(_)
            | Self::SurveyOfSeveral
            | Self::NoAddress { .. } => 2,
            #[cfg(not(feature = "machines"))]
            Self::NoMachines => 2,
            Self::NothingMeasured { .. } | Self::NothingShared { .. } => 6,
            _ => 1,
        }
    }
}
