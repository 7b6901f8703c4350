//! Knows how estimates are made from samples. Plain functions over slices.
//!
//! Gives: summaries, Student's t, paired log ratios, Welch's t, equivalence,
//! Holm's step-down, two groups.
//! Never: what the samples mean, or where they came from.
//! Start reading at `estimate.rs`.

mod cluster;
mod compare;
mod estimate;
mod holm;
mod interval;
mod power;
mod summary;
mod welch;

pub use cluster::{Groups, two_groups};
pub use compare::{equivalence_p, further_blocks, log_ratio, paired_p, ratio_t};
pub use estimate::{Estimate, EstimateMethod};
pub use holm::{HolmStep, holm};
pub use interval::{LEVEL, half_width, mean_or_single, mean_t, t_quantile, t_tail};
pub use power::smallest_ratio;
pub use summary::Summary;
pub use welch::Welch;
