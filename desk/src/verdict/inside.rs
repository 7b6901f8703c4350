//! Knows when a difference is sure and yet too small to matter; the one rule for every sentence,
//! table, sign and gate that says so.

use super::finding::{Comparison, Verdict};
use crate::stats::Estimate;
use crate::unit::Quantity;

/// Whether a difference is sure and lies, with its whole interval, inside the margin.
#[must_use]
pub fn lies_inside(verdict: Verdict, ratio: &Estimate, margin: Quantity) -> bool {
    matches!(verdict, Verdict::Better | Verdict::Worse)
        && ratio.low.value > 1.0 / (1.0 + margin.value)
        && ratio.high.value < 1.0 + margin.value
}

/// [`lies_inside`] of a whole comparison.
#[must_use]
pub fn is_inside(comparison: &Comparison) -> bool {
    lies_inside(comparison.verdict, &comparison.overall, comparison.margin)
}
