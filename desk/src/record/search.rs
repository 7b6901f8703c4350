//! Knows how a plan says which load it seeks, and which figure decides.
//!
//! Never: which load comes next.

use super::spec::{Better, Quantile};
use super::trial::Value;
use crate::unit::Quantity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What is sought.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchKind {
    /// The largest load whose figure stays within a limit that it nears gradually, as a latency
    /// does.
    Goal,
    /// The largest load whose figure stays within a limit that it either keeps or breaks, as loss
    /// does.
    Bisect,
    /// The peak of a rate over rising concurrency.
    Ramp,
    /// The concurrency with the largest power, throughput over response time.
    Knee,
    /// Nothing but the figures of every state of the load: idle, quarters of the largest load that
    /// is carried, and that one.
    States,
    /// For each of several goals the largest load that meets it, by trials of unlike length that
    /// all goals share: RFC 9971.
    Mlr,
}

impl SearchKind {
    /// Every kind, by its word in a plan.
    pub const ALL: [(&'static str, Self); 6] = [
        ("goal", Self::Goal),
        ("bisect", Self::Bisect),
        ("ramp", Self::Ramp),
        ("knee", Self::Knee),
        ("mlr", Self::Mlr),
        ("states", Self::States),
    ];

    /// Whether it is the largest load within a limit.
    #[must_use]
    pub const fn has_limit(self) -> bool {
        matches!(self, Self::Goal | Self::Bisect)
    }

    /// The word for it in a plan.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(word, _)| word)
    }
}

/// Which figures are good enough.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchLimit {
    /// The last good one.
    pub at: Quantity,
    /// Which way the figures of the metric are better, so that those beyond the limit are good.
    pub better: Better,
    /// Whether it is a share of the offered load.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_load: bool,
    /// How far apart, as a share, the largest load that keeps it and the smallest that breaks it
    /// may be at the end.
    pub resolution: Quantity,
}

impl fmt::Display for SearchLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.better == Better::Lower { "<=" } else { ">=" };
        write!(f, "{sign} {}{}", self.at, if self.of_load { " of it" } else { "" })
    }
}

/// One goal of a multiple loss ratio search, in the terms of RFC 9971.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchGoal {
    /// A trial with a larger share of loss is bad.
    pub loss: Quantity,
    /// Share of the duration sum that may be bad trials at a lower bound.
    pub exceed: Quantity,
    /// Shortest window.
    pub initial: Quantity,
    /// From which window on a trial is of full length.
    #[serde(rename = "final")]
    pub full: Quantity,
    /// Sum of windows that a bound is known by.
    pub sum: Quantity,
    /// How far the lower bound may be below the upper one, as a share of the upper one.
    pub width: Quantity,
    /// Windows between the shortest and the full length.
    pub preceding: u32,
}

/// The search that each treatment of a load point runs once in each block, every key written out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchPlan {
    /// What is sought.
    pub kind: SearchKind,
    /// The parameter that is searched over.
    pub over: String,
    /// The metric that is searched by.
    pub metric: String,
    /// The quantile that it is, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantile: Option<Quantile>,
    /// Least load that is tried; of states none, which is 0.
    pub from: Value,
    /// Largest load that is tried; of states the word for as much as can be.
    pub to: Value,
    /// Which figures are good enough; none where a peak or a knee is sought.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<SearchLimit>,
    /// What is sought by the loss; none but of a multiple loss ratio search.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub goals: Vec<SearchGoal>,
    /// Shares of the load that was found, each visited once when the search has ended; rising. Of
    /// states those of the largest load, where they are not the usual ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<Quantity>,
    /// Most steps, each a trial, those at shares among them.
    pub steps: u32,
}

impl SearchPlan {
    /// A load of this search as the plan would write it; of states, infinity is the largest.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within bounds")]
    pub fn load(&self, number: f64) -> Value {
        match &self.from {
            _ if number.is_infinite() => self.to.clone(),
            Value::Quantity(from) => Value::Quantity(Quantity::new(number, from.unit)),
            _ => Value::Count(number as u64),
        }
    }
}
