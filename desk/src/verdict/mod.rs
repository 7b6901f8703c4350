//! Knows what may be concluded from estimates: winner, region, limit, doubt.
//!
//! Never: how a number was measured, how it is shown.
//! Start reading at `finding.rs`.

mod finding;

pub use finding::{Analysis, Caveat, Comparison, Limit, LimitKind, PointResult, Region, Verdict};
