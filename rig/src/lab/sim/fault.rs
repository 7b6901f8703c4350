//! Knows what is planted to break, and in which visits.
//!
//! Must not know what becomes of a broken trial: the grading is not told.

use super::field::{share, share_or};
use serde::Deserialize;

/// What breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spoil {
    /// A client's process ends.
    DeadClient,
    /// A client no longer answers.
    FrozenClient,
    /// A factor is set and reads back as before.
    FactorNotTaken,
    /// The carrier of a host's link goes and comes.
    LinkFlap,
    /// The hypervisor takes CPU time.
    StealBurst,
    /// A CPU is slowed down.
    Throttle,
    /// The clients are not let to run.
    GeneratorLimit,
    /// The rate still climbs when the window opens.
    NeverLevel,
    /// A receiver finds content that was not sent.
    WrongBytes,
    /// A stream moves nothing.
    DeadStream,
}

impl Spoil {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::DeadClient,
        Self::FrozenClient,
        Self::FactorNotTaken,
        Self::LinkFlap,
        Self::StealBurst,
        Self::Throttle,
        Self::GeneratorLimit,
        Self::NeverLevel,
        Self::WrongBytes,
        Self::DeadStream,
    ];
}

/// A planted fault.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Planted {
    /// What breaks.
    pub kind: Spoil,
    /// In this trial, by its number in the plan's order.
    pub trial: Option<u32>,
    /// In this share of all visits, drawn by chance.
    #[serde(default, deserialize_with = "share_or")]
    pub share: Option<f64>,
    /// In how many visits of that trial, from the first.
    #[serde(default = "once")]
    pub visits: u32,
    /// Where it has a place.
    #[serde(default = "first_client")]
    pub host: String,
    /// Which factor does not take; the first that the trial sets, if none is named.
    #[serde(default)]
    pub factor: Option<String>,
    /// Share of the CPU time that a burst takes, that a throttled CPU loses, or that held
    /// clients are left with.
    #[serde(default = "size", deserialize_with = "share")]
    pub size: f64,
}

const fn once() -> u32 {
    1
}

fn first_client() -> String {
    "c01".into()
}

/// The largest theft seen on a real machine was half of it.
const fn size() -> f64 {
    0.12
}

impl Planted {
    /// Whether it hits this visit (from 1) to this trial; `luck` is drawn from 0 to 1.
    #[must_use]
    pub fn hits(&self, trial: u32, visit: u32, luck: f64) -> bool {
        match self.share {
            Some(share) => luck < share,
            None => self.trial == Some(trial) && visit <= self.visits,
        }
    }
}
