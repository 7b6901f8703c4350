//! Knows what a workload asks to have derived or drawn of its figures, as data.
//!
//! Never: how it is derived; that is a verdict.

use super::trial::{Settings, Value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A derived fact, a figure, or a part in one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Derivation {
    /// Latency of random loads in clocks: the metric.
    Clocks,
    /// Where caches end along working sets.
    CacheSize,
    /// Where prefetching ends along strides; beside it the loads that [`Self::CacheSize`] is for.
    PrefetchEnds,
    /// The fewest threads that reach the highest figure.
    Saturation,
    /// The figure of all threads over that of one.
    Scaling,
    /// Bytes of a clock: the metric.
    BytesPerClock,
    /// What memory gives to readers, the metric: the roof of those that only read.
    MemoryRead,
    /// What memory gives to copies, the metric counting each byte twice: the roof of those that
    /// read a byte and write one.
    MemoryCopy,
    /// Bytes read from memory for each byte worked on, at the largest block.
    Balance,
    /// The best of all trials, of a metric that is the best of each: what was reached at all, not
    /// what is usual. It goes along the metric that it is the best of.
    Best,
    /// A figure by block size, under the roofs of memory.
    Roofline,
    /// A figure of ways to do the same, the quickest first.
    Ways,
    /// A figure over what other threads moved meanwhile, the metric; the parameter says how much.
    /// The first of these that a workload asks for goes by their number.
    Loaded,
    /// A figure of pairs of CPUs, read by a probe of the workload's name under keys such as `0-1`;
    /// the parameter says what passes between them.
    Matrix,
    /// The same work by the count of another, the metric: a device on the path, say.
    OwnCount,
    /// In what the plan departs from RFC 2544.
    Rfc2544,
    /// How many times the deciding figure the generator reaches alone: the metric.
    Headroom,
    /// The share that a load reached of a line whose rate the plan declares: the metric.
    LineShare,
}

/// What a workload asks for.
#[derive(Clone, Copy, Debug)]
pub struct DeriveSpec {
    /// What is to be derived.
    pub what: Derivation,
    /// The parameter along which it goes; empty where it goes along none.
    pub along: &'static str,
    /// The metric that it is of; empty where that is the deciding one.
    pub metric: &'static str,
    /// Words that parameters must have for it.
    pub only: &'static [(&'static str, &'static [&'static str])],
}

impl DeriveSpec {
    /// Along a parameter, of the deciding metric.
    #[must_use]
    pub const fn along(what: Derivation, along: &'static str) -> Self {
        Self { what, along, metric: "", only: &[] }
    }

    /// Of a metric.
    #[must_use]
    pub const fn of(what: Derivation, metric: &'static str) -> Self {
        Self { what, along: "", metric, only: &[] }
    }

    /// As a record keeps it.
    #[must_use]
    pub fn stored(&self) -> Derive {
        let words = |all: &[&str]| all.iter().map(|&word| word.to_owned()).collect();
        Derive {
            what: self.what,
            along: self.along.into(),
            metric: self.metric.into(),
            only: self.only.iter().map(|&(name, all)| (name.to_owned(), words(all))).collect(),
        }
    }
}

/// [`DeriveSpec`] as a record keeps it, so that a stored run is judged without its workload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Derive {
    /// What is to be derived.
    pub what: Derivation,
    /// The parameter along which it goes; empty where it goes along none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub along: String,
    /// The metric that it is of; empty where that is the deciding one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub metric: String,
    /// Words that parameters must have for it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub only: BTreeMap<String, Vec<String>>,
}

impl Derive {
    /// Whether it is asked for at these parameters; one that is not there forbids nothing.
    #[must_use]
    pub fn fits(&self, params: &Settings) -> bool {
        let is_one_of = |value: &Value, words: &[String]| {
            value.word().is_some_and(|word| words.iter().any(|one| one == word))
        };
        let mut only = self.only.iter();
        only.all(|(name, words)| params.get(name).is_none_or(|value| is_one_of(value, words)))
    }
}
