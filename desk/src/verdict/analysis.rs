//! Knows the whole of what the desk concludes from one run.

use super::dependence::Dependence;
use super::elasticity::Elasticity;
use super::finding::{
    Advice, Caveat, ClaimCheck, Comparison, Cost, CurveVerdict, GeneratorBound, Index, Interaction,
    Limit, PointLimit, Roofs, TrialQuantiles, TwoStates, Worth,
};
use super::identity::UnlikeIdentity;
use super::ladder::Ladder;
use super::machine::{DerivedFact, MachineCell};
use super::measured::MeasuredPoint;
use super::paced::PacedPower;
use super::ranks::Ranking;
use super::traits::LevelTraits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Everything the desk concludes from one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Analysis {
    /// Comparisons in the order of the plan.
    pub comparisons: Vec<Comparison>,
    /// What the factors do that the plan crosses but does not compare, each judged by itself.
    #[serde(default)]
    pub others: Vec<Comparison>,
    /// Curves decided by their mean and by their regions, in the order of `comparisons`.
    #[serde(default)]
    pub curves: Vec<CurveVerdict>,
    /// What held the figures down.
    pub limits: Vec<Limit>,
    /// The same at every point of the curves.
    #[serde(default)]
    pub point_limits: Vec<PointLimit>,
    /// Reasons to doubt, the heaviest first.
    pub caveats: Vec<Caveat>,
    /// What the load cost, one a comparison whose trials have the readings.
    #[serde(default)]
    pub costs: Vec<Cost>,
    /// Levels that have two states at a point.
    #[serde(default)]
    pub two_states: Vec<TwoStates>,
    /// Points whose two sides were not made by the same.
    #[serde(default)]
    pub unlike: Vec<UnlikeIdentity>,
    /// Points at which the generator was the limit.
    #[serde(default)]
    pub generator_bound: Vec<GeneratorBound>,
    /// Effects that depend on another factor.
    #[serde(default)]
    pub interactions: Vec<Interaction>,
    /// Gains that some levels of other factors have and others lack.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependences: Vec<Dependence>,
    /// Several comparisons of two levels as one ratio.
    #[serde(default)]
    pub indexes: Vec<Index>,
    /// Levels of every factor of three or more in order, under every condition and over all.
    #[serde(default)]
    pub rankings: Vec<Ranking>,
    /// Name of the primary comparison: the one that the plan names, or the only one there is. It is
    /// judged by itself, the others together.
    #[serde(default)]
    pub primary: Option<String>,
    /// What each kind of reader should take.
    #[serde(default)]
    pub advice: Vec<Advice>,
    /// Published claims beside ours, if the plan names their source.
    #[serde(default)]
    pub claims: Vec<ClaimCheck>,
    /// The roofs over the curves that lie along both.
    #[serde(default)]
    pub roofs: Vec<Roofs>,
    /// How single trials come out, a row a level and point.
    #[serde(default)]
    pub quantiles: Vec<TrialQuantiles>,
    /// What levels give for their prices, where a person entered them.
    #[serde(default)]
    pub prices: Vec<Worth>,
    /// What levels give for the power that they take, where it was entered or measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub powers: Vec<Worth>,
    /// Power of loads by their state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paced: Vec<PacedPower>,
    /// What is known of the compared levels beside their work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traits: Vec<LevelTraits>,
    /// What each resource has of the cause, where the plan took them down.
    #[serde(default)]
    pub elasticity: Vec<Elasticity>,
    /// What each part of a path does, where a plan takes them out one at a time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ladders: Vec<Ladder>,
    /// What loads of the system under test alone gave, under every treatment, in the order of the
    /// plan.
    #[serde(default)]
    pub cells: Vec<MachineCell>,
    /// What follows from the cells.
    #[serde(default)]
    pub derived: Vec<DerivedFact>,
    /// Absolute figures of loads of the machine alone, and of a plan that compares nothing.
    #[serde(default)]
    pub measured: Vec<MeasuredPoint>,
}
