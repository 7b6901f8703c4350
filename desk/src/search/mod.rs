//! Knows how the next load, or "enough", follows from what was seen so far.
//!
//! Gives: [`steady`], [`goal`], [`ramp`], [`power_peak`].
//! Never: measures or waits; history comes in as an argument.
//! Start reading at `goal.rs`.

mod goal;
mod ramp;
mod steady;

pub use goal::{Goal, goal};
pub use ramp::{Rung, power_peak, ramp};
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
