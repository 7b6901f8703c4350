//! Knows a device in simulated time: a core with a buffer before it, the reference device, and a
//! line behind each port; and the tester at both ends.
//!
//! Gives: [`Ring`], [`Knobs`], [`Offer`], [`Turns`], [`Outcome`]. The same seed gives the same
//! trial, whatever the machine. Never: a clock, or what a search asks next.
//! Start reading here.

mod events;
mod knobs;
mod sink;
#[cfg(test)]
mod tests;

pub use events::{Offer, Outcome, Ring, Turns};
pub use knobs::{Knobs, Stalls};
