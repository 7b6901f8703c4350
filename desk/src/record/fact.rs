//! Knows what a person says of the things under test that no probe can read: price, noise, mass.

use super::trial::Value;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A fact that a person entered, with where he has it from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ManualFact {
    /// The level or the link that it is of; none for the whole test bed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// What it is: `price`, `power`, `noise`, `mass`, `ambient`, or words of the person.
    pub what: String,
    /// A quantity with its unit; words where the person named the thing himself.
    pub value: Value,
    /// Where it is from: a price list, a meter.
    pub source: String,
    /// When it was so, `2026-11-21`.
    pub date: String,
}
