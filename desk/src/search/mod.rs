//! Knows how the next load, or "enough", follows from what was seen so far.
//!
//! Gives: [`steady`]; the search of RFC 9971 ([`mlr`]); for the searches of a plan the next load,
//! what a step gave, what was found, and [`metrics`]; [`STATES`].
//! Never: measures or waits; history comes in as an argument.
//! Start reading at `range.rs`, then `planned.rs`.

mod bisect;
mod goal;
pub mod mlr;
mod planned;
mod ramp;
mod range;
mod shares;
mod states;
mod steady;

pub use planned::metrics;
pub(crate) use planned::{found, ladder, names, next, step};
pub(crate) use shares::{at_share, share_of, shared};
pub use states::STATES;
pub(crate) use states::states_of;
pub use steady::{Reached, steady};

use bisect::{Bisect, bisect};
use goal::{Goal, goal};
use ramp::{Rung, power_peak, ramp};
use states::{FULL, states};

/// What one step of a search gave.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Step {
    /// The load, in its unit.
    pub load: f64,
    /// The figure that was searched by.
    pub figure: f64,
    /// Seconds of its window, where the search sets them; else 0.
    pub window_s: f64,
    /// Which share of the load that was found it is at, where it follows the search.
    pub share: Option<f64>,
}

/// What follows from the steps so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// This load is tried next.
    Try(f64),
    /// This load is tried next, in a window of so many seconds.
    TryFor(f64, f64),
    /// This load is tried next, at this share of what was found.
    TryAt(f64, f64),
    /// The search has ended, with what it found.
    Enough(Option<f64>),
}
