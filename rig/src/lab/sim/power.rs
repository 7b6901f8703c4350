//! Knows the meter of a simulated machine: watts of its one package by the CPUs that are busy.
//!
//! Must not know what they are busy with.

use super::field::watts_or_none;
use desk::record::{Reading, Window};
use desk::unit::{Quantity, Unit};
use serde::Deserialize;

/// What the package takes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Power {
    /// With all CPUs idle, watts; none: the machine has no meter.
    #[serde(deserialize_with = "watts_or_none")]
    pub idle: Option<f64>,
    /// More for each CPU that is busy all the time, watts.
    #[serde(deserialize_with = "super::field::watts")]
    pub cpu: f64,
}

/// What the counter of the package tells over a window in which so many CPUs were busy; nothing
/// without a meter.
#[must_use]
pub fn meters(power: &Power, busy: f64, window: Window) -> Vec<Reading> {
    let Some(idle) = power.idle else { return Vec::new() };
    let watts = power.cpu.mul_add(busy, idle);
    let row = |key: &str, value, unit| Reading {
        probe: "power".into(),
        host: "machine".into(),
        key: format!("{key}.package-0"),
        quantity: Quantity::new(value, unit),
    };
    vec![row("energy", watts * window.seconds(), Unit::Joule), row("watts", watts, Unit::Watt)]
}
