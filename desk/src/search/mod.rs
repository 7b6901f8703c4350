//! Knows how the next load, or "enough", follows from what was seen so far.
//!
//! Gives: [`steady`], [`goal`], [`bisect`], [`ramp`], [`power_peak`], and [`first`], [`next`],
//! [`step`], [`found`], [`metrics`] for the searches of a plan.
//! Never: measures or waits; history comes in as an argument.
//! Start reading at `range.rs`, then `planned.rs`.

mod bisect;
mod goal;
mod planned;
mod ramp;
mod range;
mod steady;

pub use bisect::{Bisect, bisect};
pub use goal::{Goal, goal};
pub use planned::{Found, first, found, ladder, metrics, names, next, step};
pub use ramp::{Rung, power_peak, ramp};
pub use range::{Range, Within};
pub use steady::{Reached, steady};

/// What one step of a search gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The load, in its unit.
    pub load: f64,
    /// The figure that was searched by.
    pub figure: f64,
}

/// What follows from the steps so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// This load is tried next.
    Try(f64),
    /// The search has ended, with what it found.
    Enough(Option<f64>),
}
