//! Knows the shapes of a published claim beside our finding; how they are set side by side stands in
//! `claims.rs`.

use crate::record::Value;
use crate::stats::Estimate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How our finding stands to a published one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "standing")]
pub enum Standing {
    /// It was looked at here.
    Compared {
        /// Whether the curve has the same shape; none where the claim has none.
        shape: Option<bool>,
        /// Whether its knee is at the same place, within one step of the curve.
        knee: Option<bool>,
        /// Whether the difference has the same sign; undecided differences have none.
        sign: Option<bool>,
        /// Our figures: what each is, and its estimate.
        ours: Vec<(ClaimFigure, Estimate)>,
        /// Where our knee is, if the claim has one.
        knee_at: Option<Value>,
    },
    /// It was not: the plan or the machine lacks what it is about.
    NotMeasured {
        /// What is missing.
        missing: ClaimNeed,
    },
}

/// What a figure beside a claim is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClaimFigure {
    /// The highest throughput of the curve.
    Highest,
    /// A ratio of two throughputs over the curve.
    ThroughputRatio,
    /// A ratio of two CPU loads over the curve.
    CpuRatio,
    /// A ratio of two bandwidths.
    BandwidthRatio,
    /// What each of all threads keeps of what one does alone.
    PerCopy,
}

/// What a claim needs that the run does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClaimNeed {
    /// Simultaneous multithreading that can be switched.
    Smt,
    /// The adapters themselves.
    Adapters,
    /// A file server.
    FileServer,
    /// The load or direction it is about.
    Load,
    /// A server whose CPUs the clients do not share.
    Server,
    /// The run's own verdicts for kinds of reader stand in its place.
    Verdicts,
    /// The feature that it is about, as a factor of the plan.
    Feature,
    /// A suite of programs for the CPU.
    Suite,
    /// A web server.
    WebServer,
    /// A database.
    Database,
    /// Nothing: it is a rule that every verdict here keeps.
    Rule,
}

/// A published claim beside our finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimCheck {
    /// Its name, `000-1`.
    pub id: String,
    /// What was tested.
    pub subject: String,
    /// What was compared.
    pub compared: String,
    /// Where it holds.
    pub region: String,
    /// Which way.
    pub direction: String,
    /// How much.
    pub magnitude: String,
    /// The cause its authors gave.
    pub cause: String,
    /// How ours stands to it.
    pub standing: Standing,
}
