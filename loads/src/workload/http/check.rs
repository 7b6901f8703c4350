//! Knows the figures of `http` that are not percentiles; that the work was done is checked where
//! exchanges are.

use desk::record::Sample;
use desk::unit::{Quantity, Unit};

/// The requests a second, and the bits of their bodies.
pub fn figures(rate: f64, (_, body): (f64, f64)) -> Vec<Sample> {
    let sample = |metric: &str, value, unit| Sample {
        metric: metric.into(),
        quantity: Quantity::new(value, unit),
    };
    vec![
        sample("requests", rate, Unit::OperationPerSecond),
        sample("throughput", rate * body * 8.0, Unit::BitPerSecond),
    ]
}
