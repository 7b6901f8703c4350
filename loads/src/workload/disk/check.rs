//! Knows how samples of operations become the figures of `disk`. Pure.
//!
//! What was read was compared where it was read. Must not know files.

use super::accesses::accesses;
use crate::engine::alone::{Order, Taken};
use desk::record::{Fault, Sample};
use desk::unit::{Quantity, Unit};
use rig::metal::Series;

/// The figures: all operations of all samples by all of their time, for a disk that stalls is slow
/// in a few samples, which a median would hide. Throughput is that by the bytes that an operation
/// of each thread had on average in the window.
///
/// # Errors
/// No operation in the window.
pub(super) fn figures(order: &Order, taken: &Taken) -> Result<Vec<Sample>, Fault> {
    let rate: f64 = taken.series.iter().map(mean).sum();
    // A simulated disk counts no bytes: operations are as large as asked for.
    let asked = || accesses(order).map_or(0.0, |access| access.mean_size());
    let bytes = |series: &Series| mean(series) * series.unit_bytes.unwrap_or_else(asked);
    let bytes: f64 = taken.series.iter().map(bytes).sum();
    if rate <= 0.0 || bytes <= 0.0 {
        return Err(Fault::WrongWork { what: "no block was read or written".into() });
    }
    let sample = |metric: &str, value, unit| Sample {
        metric: metric.into(),
        quantity: Quantity::new(value, unit),
    };
    Ok(vec![
        sample("operations", rate, Unit::OperationPerSecond),
        sample("throughput", bytes * 8.0, Unit::BitPerSecond),
    ])
}

/// Operations a second of one thread; 0 of none.
#[expect(clippy::cast_precision_loss, reason = "work and time of a window are below 2^53")]
fn mean(series: &Series) -> f64 {
    let work: u64 = series.samples.iter().map(|sample| sample.work).sum();
    let ns: u64 = series.samples.iter().map(|sample| sample.ns).sum();
    work as f64 * 1e9 / ns.max(1) as f64
}
