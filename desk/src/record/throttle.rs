//! Knows what a plan takes down to see what that costs: resources, and those that cannot be.

use super::trial::Value;
use crate::unit::Quantity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A resource that can be taken down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Throttle {
    /// What it is called, `server CPU`; also the level at which it is taken down.
    pub resource: String,
    /// The setting that does it.
    pub key: String,
    /// The setting as it is.
    pub full: Value,
    /// The setting taken down.
    pub down: Value,
}

impl Throttle {
    /// What is left of the resource, a share above 0 and below 1; none where the setting has no
    /// number, or is not taken down.
    #[must_use]
    pub fn left(&self) -> Option<f64> {
        let left = number(&self.down)? / number(&self.full)?;
        (left > 0.0 && left < 1.0).then_some(left)
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
fn number(value: &Value) -> Option<f64> {
    value.quantity().map(|q| q.value).or_else(|| value.count().map(|n| n as f64))
}

/// A resource that cannot be taken down here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fixed {
    /// What it is called.
    pub resource: String,
    /// Why not, in words for the person.
    pub why: String,
}

/// What a plan takes down, one resource at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Throttling {
    /// By which share.
    pub step: Quantity,
    /// What can be.
    pub throttles: Vec<Throttle>,
    /// What cannot.
    #[serde(default)]
    pub fixed: Vec<Fixed>,
}
