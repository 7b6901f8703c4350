//! Knows what is said of the order of several levels; never how it was found.

use crate::record::{Better, Settings};
use crate::stats::Estimate;
use crate::unit::Quantity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The levels of a factor in their order, all pairs of them judged together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ranking {
    /// Stable name, for instance `rank-profile-transmit`.
    pub id: String,
    /// The factor.
    pub factor: String,
    /// Its baseline, to which every ratio is.
    pub base: String,
    /// Levels of the other factors; empty over all loads and strata.
    pub stratum: BTreeMap<String, String>,
    /// Parameters of the load that the plan sweeps besides the curve; empty over all.
    pub fixed: Settings,
    /// Name of the load; none over all loads and strata, as an index is.
    pub load: Option<String>,
    /// The comparisons whose trials it rests on, by name.
    pub over: Vec<String>,
    /// Name of the metric.
    pub metric: String,
    /// Which way it is better.
    pub better: Better,
    /// The declared margin.
    pub margin: Quantity,
    /// The ranked levels, the baseline among them, the best first.
    pub levels: Vec<RankedLevel>,
    /// Every two of them.
    pub pairs: Vec<RankedPair>,
    /// The levels that hold the first place: one that is shown better than all others, or several
    /// that share it. All of them where no pair is told apart.
    pub first: Vec<String>,
    /// Levels without a rank: two states, too few blocks, or alike by their settings.
    pub unranked: Vec<String>,
}

/// A level with the ranks that it can have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankedLevel {
    /// The level.
    pub level: String,
    /// Level / baseline, judged by itself; exactly 1 for the baseline.
    pub ratio: Estimate,
    /// The best rank that it can have: 1 and the number of levels shown better.
    pub from: u32,
    /// The worst: the number of levels less those shown worse.
    pub to: u32,
    /// The levels that it was not told apart from, the best first.
    pub alike: Vec<String>,
}

/// Two levels of a ranking.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankedPair {
    /// The one with the better mean.
    pub better: String,
    /// The other.
    pub worse: String,
    /// The metric of `better` over that of `worse`, its interval by itself.
    pub ratio: Estimate,
    /// p value of the difference in its family, a share, as that of a comparison.
    pub together: Option<Quantity>,
    /// Whether they are told apart: `together` is within the error of the plan.
    pub differs: bool,
    /// Whether they are shown to lie within the margin, by Holm over all pairs.
    pub equivalent: bool,
    /// Block and log of `ratio`.
    #[serde(skip)]
    pub blocks: Vec<(u32, f64)>,
}
