//! Knows how the lab can fail. What the measured thing does wrong is a `Fault`, not one of these.

use super::ethtool::EthtoolError;
use super::filter::FilterError;
use super::link::LinkError;
use super::undo::UndoError;
use desk::record::Fault;
use std::io;
use std::time::Duration;
use thiserror::Error;

/// A failure of the lab.
#[derive(Debug, Error)]
pub enum LabError {
    /// A host process could not be started.
    #[error("host '{host}' did not start: {source}; is the stend binary still at its path?")]
    Start {
        /// Which host.
        host: String,
        /// Why.
        source: io::Error,
    },
    /// The control socket of a host closed: its process died.
    #[error("host '{0}' is gone: its process ended")]
    Gone(String),
    /// The agent of a machine has gone away.
    #[error("machine '{0}' is gone: the connection to its agent has ended")]
    Lost(String),
    /// A host did not answer in time.
    #[error("host '{host}' did not answer within {seconds} s")]
    Silent {
        /// Which host.
        host: String,
        /// How long it was given.
        seconds: u64,
    },
    /// The host answered with something else than was asked.
    #[error("host '{host}' answered out of turn: {what}; both ends must be the same stend version")]
    OutOfTurn {
        /// Which host.
        host: String,
        /// What came.
        what: String,
    },
    /// The host refused or failed at what it was asked to do.
    #[error("host '{host}': {what}")]
    Refused {
        /// Which host.
        host: String,
        /// Its own words.
        what: String,
    },
    /// A program under test is not on the machine; the text has the remedy.
    #[error("{0}")]
    NoService(String),
    /// The person stopped the run.
    #[error("stopped on request")]
    Cancelled,
    /// A namespace could not be made.
    #[error("{what}: {source}")]
    Namespace {
        /// The call that failed.
        what: &'static str,
        /// Why.
        source: io::Error,
    },
    /// A file of the host could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// Which.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// A message could not be sent or read.
    #[error("control message to '{host}': {source}")]
    Wire {
        /// Which host.
        host: String,
        /// Why.
        source: io::Error,
    },
    /// The agent of a machine cannot be reached, or either end refuses the other.
    #[error("machine at {address}: {source}")]
    Connect {
        /// Where.
        address: String,
        /// Why, with the remedy.
        source: io::Error,
    },
    /// No side can be held to a quota of CPU time.
    #[error("no quota of CPU time: {0}")]
    NoQuota(String),
    /// The agent of a machine refused an order, in its words.
    #[error("{0}")]
    Machine(String),
    /// A factor of a machine could not be set, in the words of its agent.
    #[error("{0}")]
    Factor(String),
    /// The clock of a machine was set, or runs at another rate than a clock may.
    #[error("machine '{machine}': {CLOCK_JUMPED}")]
    Clock {
        /// Which.
        machine: String,
    },
    /// The agent of a machine read its probes too late at an edge of the window.
    #[error("machine '{machine}': {}", read_late(*late))]
    Late {
        /// Which machine.
        machine: String,
        /// How late.
        late: Duration,
    },
    /// A link of the plan has the name of an adapter of the machine.
    #[error(
        "link '{link}' has the name of an adapter of this machine, and would be another; write \
         kind = \"adapter\" in [lab.links.{link}] to use it, kind = \"bridge\" for a virtual link \
         of this name, or rename it"
    )]
    Name {
        /// Which.
        link: String,
    },
    /// An adapter of the machine cannot be lent to a host.
    #[error("adapter '{adapter}' cannot be lent to the lab: {what}")]
    Adapter {
        /// As the plan writes it.
        adapter: String,
        /// Why, with the remedy.
        what: String,
    },
    /// The relay does not carry.
    #[error("relay: {0}")]
    Relayed(String),
    /// An adapter that the lab has is joined to nothing.
    #[error("machine '{machine}': {}", no_carrier(adapter))]
    NoCarrier {
        /// Which machine.
        machine: String,
        /// Which adapter of it.
        adapter: String,
    },
    /// A link operation.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// An ethtool operation.
    #[error(transparent)]
    Ethtool(#[from] EthtoolError),
    /// A packet filter.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// What a lab leaves on the machine cannot be written down before.
    #[error(transparent)]
    Undo(#[from] UndoError),
}

impl LabError {
    /// What it means for the trial in which it happened.
    #[must_use]
    pub fn into_fault(self) -> Fault {
        match self {
            Self::Gone(host) | Self::Lost(host) => Fault::DeadHost { host: host.into() },
            Self::Silent { host, .. } => Fault::Frozen { host: host.into() },
            Self::Cancelled => Fault::Cancelled,
            Self::Refused { host, what } => Fault::Failed { host: host.into(), what },
            Self::Factor(what) => Fault::Factor { what },
            Self::Clock { machine } => {
                Fault::Disturbed { host: machine.into(), what: CLOCK_JUMPED.into() }
            }
            Self::NoCarrier { machine, adapter } => {
                Fault::Failed { host: machine.into(), what: no_carrier(&adapter) }
            }
            Self::Late { machine, late } => {
                Fault::Disturbed { host: machine.into(), what: read_late(late) }
            }
            other => Fault::Failed { host: "conductor".into(), what: other.to_string() },
        }
    }
}

const CLOCK_JUMPED: &str =
    "its clock has jumped by more than it can drift; was it set, or the machine stopped?";

fn no_carrier(adapter: &str) -> String {
    format!("adapter {adapter} has no carrier; is its cable in, and the other end up?")
}

fn read_late(late: Duration) -> String {
    let ms = late.as_millis();
    format!("its agent read the probes {ms} ms late; was it stopped, or the machine?")
}
