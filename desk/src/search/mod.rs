//! Knows how the next load, or "enough", follows from what was seen so far.
//!
//! Gives: [`steady`]. Never: measures or waits; history comes in as an argument.
//! Start reading at `steady.rs`.

mod steady;

pub use steady::{Reached, steady};
