//! Knows how bytes a second become the figures of `mem_copy`. Pure.
//!
//! What the loops left in memory was looked at where it lies. Must not know how they are written.

use crate::engine::alone::{Order, Taken};
use desk::record::{Fault, Sample};
use desk::unit::{Quantity, Unit};

/// The figures: each byte of payload counts twice, as it is read and written (STREAM).
///
/// # Errors
/// None: work and results were looked at before.
#[expect(clippy::unnecessary_wraps, reason = "the signature is the recipe's")]
pub(super) fn figures(_: &Order, taken: &Taken) -> Result<Vec<Sample>, Fault> {
    let sample = |metric: &str, value| Sample {
        metric: metric.into(),
        quantity: Quantity::new(value, Unit::BytePerSecond),
    };
    Ok(vec![sample("bandwidth", taken.rate()), sample("best_bandwidth", taken.best())])
}
