//! Knows what one trial is: a load point under a treatment, at a place in the order.

use crate::unit::Quantity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The value of a parameter or of a factor setting.
#[derive(Clone, Debug, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Value {
    /// A size, a duration, a rate.
    Quantity(Quantity),
    /// A number of things.
    Count(u64),
    /// A word: `transmit`, `on`, `cubic`.
    Word(String),
}

impl Value {
    /// The word, if it is one.
    #[must_use]
    pub fn word(&self) -> Option<&str> {
        if let Self::Word(word) = self { Some(word) } else { None }
    }

    /// The quantity, if it is one.
    #[must_use]
    pub const fn quantity(&self) -> Option<Quantity> {
        if let Self::Quantity(quantity) = self { Some(*quantity) } else { None }
    }

    /// All its digits, as a plan may have it: `1500 B`, `4`, `cubic`.
    #[must_use]
    pub fn exact(&self) -> String {
        self.quantity().map_or_else(|| self.to_string(), Quantity::exact)
    }

    /// The number of a quantity, in its base unit, or of a count; none of a word.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts of a plan are far below 2^53")]
    pub const fn number(&self) -> Option<f64> {
        match self {
            Self::Quantity(quantity) => Some(quantity.value),
            Self::Count(count) => Some(*count as f64),
            Self::Word(_) => None,
        }
    }

    /// The count, if it is one.
    #[must_use]
    pub const fn count(&self) -> Option<u64> {
        if let Self::Count(count) = self { Some(*count) } else { None }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quantity(quantity) => quantity.fmt(f),
            Self::Count(count) => count.fmt(f),
            Self::Word(word) => f.write_str(word),
        }
    }
}

/// Parameter or factor key to value.
pub type Settings = BTreeMap<String, Value>;

/// A workload with all its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadPoint {
    /// Name of the load in the plan.
    pub load: String,
    /// Name of the workload, for instance `tcp_stream`.
    pub workload: String,
    /// Every parameter of the workload, defaults written out; in a plan's expansion without the
    /// one that a search sets.
    pub params: Settings,
}

/// One level of every factor of the plan.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Treatment {
    /// Factor name to level name, as the plan calls them.
    pub levels: BTreeMap<String, String>,
}

/// Whether the trial counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TrialKind {
    /// The visit before the first block; never counted.
    Dry,
    /// A trial that enters the statistics.
    Counted,
}

/// Which step of which search a trial is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchStep {
    /// The search, by the number of its first trial: one load point under one treatment in one
    /// block.
    pub id: u32,
    /// Which step, from 1.
    pub step: u32,
    /// Length of its window, where the search sets it; else it is that of the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Quantity>,
    /// Which share of the load that was found it is at, where it follows the search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<Quantity>,
}

/// As serde asks it.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
pub(super) const fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// One visit to a load point under a treatment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trial {
    /// Number of the trial in the plan's order, from 0.
    pub id: u32,
    /// Block, from 1 over the run; 0 for dry visits.
    pub block: u32,
    /// Boot of the machine in which it runs, from 1 over the run; 0 where the plan asks for none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub boot: u32,
    /// Round of boots, each of which meets every level that needs a boot once; from 1, 0 for none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub round: u32,
    /// Index of the load point in the plan's expansion.
    pub point_index: u32,
    /// The load point.
    pub point: LoadPoint,
    /// The levels under which it runs.
    pub treatment: Treatment,
    /// What those levels set: factor key to value.
    pub settings: Settings,
    /// Seed of everything that is drawn by chance in this trial.
    pub seed: u64,
    /// Dry or counted.
    pub kind: TrialKind,
    /// The step of a search that it is; none where the load is fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchStep>,
}
