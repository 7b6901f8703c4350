//! Knows how estimates are made from samples. Plain functions over slices.
//!
//! Gives: summaries, Student's t, signed ranks, centres of blocks, paired log ratios, Welch's t,
//! sessions, equivalence, Holm's step-down, sign flips, decisions alone and together, all pairs
//! with their ranks, the index, further blocks, two groups, the interval of a share, correlation of
//! neighbours, diagnoses of a series, the steady state of rounds, quantiles.
//! Never: what the samples mean, or where they came from.
//! Start reading at `estimate.rs`.

mod all_pairs;
mod centre;
mod change;
mod cluster;
mod compare;
mod diagnostics;
mod estimate;
mod family;
mod further;
#[cfg(test)]
mod golden;
mod holm;
mod index;
mod interval;
mod max_t;
mod percentile;
mod power;
mod sessions;
mod share;
mod signed_rank;
mod steady_state;
mod summary;
mod welch;

pub use all_pairs::{RankRange, every_two, shared_ranks, stepped_down};
pub use centre::centre_of_blocks;
pub use change::{CHANGES_FROM, Change, ChangeKind, change};
pub use cluster::{Groups, two_groups};
pub use compare::{
    JUDGED_FROM, RANKS_FROM, by_ranks, difference_p, equivalence_p, log_ratio, mean_equivalence_p,
    ratio_of_blocks, ratio_t, typical_equivalence_p,
};
pub use diagnostics::{Apart, DIAGNOSED_FROM, Neighbours, Trend, apart, neighbours, trend};
pub use estimate::{Estimate, EstimateMethod};
pub use family::{Decision, Rule, decide, decide_together};
pub use further::{Course, MoreBlocks, further_blocks};
pub use holm::{HolmStep, holm, holm_adjusted};
pub use index::{block_means, mean};
pub use interval::{
    LEVEL, half_width, log_mean_t, mean_or_single, mean_or_single_at, mean_t, t_quantile, t_tail,
};
pub use max_t::{Blocks, MaxT, max_t};
pub use percentile::{quantile, quantile_needs};
pub use power::smallest_ratio;
pub use sessions::{
    Between, PRIOR_FREEDOM, PRIOR_SD, SESSIONS, SESSIONS_MOST, Session, Spread, SpreadSource,
};
pub use share::{fisher_p, lag_one, share_interval};
pub use signed_rank::Walsh;
pub use steady_state::{Leaving, Left, STEADY_FROM, SteadyState, steady_state};
pub use summary::{Summary, median};
pub use welch::Welch;
