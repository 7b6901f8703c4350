//! Knows the shapes of what the desk concludes; how it concludes stands in the neighbouring files.

use crate::record::{Better, Settings, Value};
use crate::stats::Estimate;
use crate::unit::Quantity;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The four verdicts on one comparison of a level against the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum Verdict {
    /// The interval of the ratio lies wholly on the better side of 1.
    Better,
    /// It lies wholly on the worse side of 1.
    Worse,
    /// Two one-sided tests put it within the margin: the 90 % interval lies inside, the 95 % one
    /// that is shown may stick out a little.
    Equivalent,
    /// None of these.
    Undecided {
        /// Further blocks that would probably decide it, if that can be said at all.
        more_blocks: Option<u32>,
    },
}

/// Both levels at one load point, and their ratio.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointResult {
    /// Value of the curve parameter here; none where nothing is swept.
    pub at: Option<Value>,
    /// The metric under the baseline.
    pub base: Estimate,
    /// The metric under the other level.
    pub other: Estimate,
    /// other / base; over a curve the interval is at the level of Holm's step.
    pub ratio: Estimate,
    /// Against the margin.
    pub verdict: Verdict,
    /// Metric of every paired trial under the baseline, by block.
    pub base_runs: Vec<Quantity>,
    /// Metric of every paired trial under the other level, in the same blocks.
    pub other_runs: Vec<Quantity>,
}

/// A stretch of the curve where one side is ahead with certainty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Region {
    /// First point.
    pub from: Value,
    /// Last point.
    pub to: Value,
    /// True when the other level is ahead, false when the baseline is.
    pub other_ahead: bool,
    /// Ratio of the point where other / base is smallest.
    pub least: Estimate,
    /// Ratio of the point where other / base is largest.
    pub most: Estimate,
}

/// One level against the baseline, at one load (a point or a curve), everything else equal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Stable name, for instance `path-pro1000-transmit`.
    pub id: String,
    /// The factor compared.
    pub factor: String,
    /// Baseline level.
    pub base: String,
    /// The level that is judged.
    pub other: String,
    /// Levels of the other factors.
    pub stratum: BTreeMap<String, String>,
    /// Parameters of the load that the plan sweeps besides the curve, for instance `direction`.
    pub fixed: Settings,
    /// Name of the load in the plan.
    pub load: String,
    /// Name of the metric.
    pub metric: String,
    /// Which way it is better.
    pub better: Better,
    /// The declared margin.
    pub margin: Quantity,
    /// The curve parameter, if there is one.
    pub curve: Option<String>,
    /// Points in order of the curve.
    pub points: Vec<PointResult>,
    /// The whole curve as one ratio: block means over the points.
    pub overall: Estimate,
    /// The verdict on `overall`.
    pub verdict: Verdict,
    /// Where one side is ahead.
    pub regions: Vec<Region>,
    /// Counted trials in no ratio: a fault, no metric above 0, or the partner of such a trial.
    pub left_out: u32,
}

/// What held the figures down, with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// The comparison it belongs to.
    pub comparison: String,
    /// Which level.
    pub level: String,
    /// What it is.
    pub kind: LimitKind,
    /// The utilisation or share that shows it.
    pub evidence: Estimate,
}

/// Resources that can be the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// All CPUs of the machine busy.
    AllCpus,
    /// One CPU busy while others idle.
    OneCpu,
    /// The `tbf` rate set on the link.
    SetRate,
    /// The sockets waited for the peer's receive window.
    ReceiveWindow,
    /// The sockets waited for their own send buffer.
    SendBuffer,
    /// None of the watched resources was full.
    NoneSeen,
}

/// A reason to doubt, with what it rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Caveat {
    /// Server and clients share one machine and its CPUs.
    OneMachine,
    /// The hosts are processes on the loopback interface.
    Loopback {
        /// Why there were no namespaces.
        why: String,
    },
    /// The machine is a guest of a hypervisor.
    Guest {
        /// Which.
        hypervisor: String,
    },
    /// Time stolen by the hypervisor during the windows.
    Steal {
        /// Share of all CPU time.
        share: Estimate,
    },
    /// The A against A comparison differs.
    NoiseFloor {
        /// Ratio A/A.
        ratio: Estimate,
    },
    /// Trials whose rate was not steady when the window opened.
    NotSteady {
        /// How many.
        trials: Quantity,
        /// Of how many.
        of: Quantity,
    },
    /// Trials lost to faults.
    Faults {
        /// How many.
        trials: Quantity,
        /// The first one's words.
        first: String,
    },
    /// The run ended early.
    Partial {
        /// Why.
        why: String,
    },
    /// Blocks are too few for the margin.
    FewBlocks {
        /// Blocks.
        blocks: Quantity,
        /// Smallest effect that would be seen in four of five such runs, as a ratio.
        smallest: Estimate,
    },
    /// Links are virtual: no wire, no adapter, no line rate.
    VirtualLinks,
}

/// Everything the desk concludes from one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    /// Comparisons in the order of the plan.
    pub comparisons: Vec<Comparison>,
    /// What held the figures down.
    pub limits: Vec<Limit>,
    /// Reasons to doubt, the heaviest first.
    pub caveats: Vec<Caveat>,
}
