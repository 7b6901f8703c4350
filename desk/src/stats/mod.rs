//! Knows how estimates are made from samples. Plain functions over slices.
//!
//! Never: what the samples mean, or where they came from.
//! Start reading at `estimate.rs`.

mod estimate;
mod power;

pub use estimate::{Estimate, EstimateMethod};
pub use power::smallest_ratio;
