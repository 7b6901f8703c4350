//! Knows how frames a second become the figures of `packet_pipeline`. Pure.
//!
//! What became of the frames was looked at where they lie. Must not know a service.

use crate::engine::alone::{Order, Taken};
use crate::engine::packet::frame::IFG;
use desk::record::{Fault, Sample};
use desk::unit::{Quantity, Unit};

/// The figures.
///
/// # Errors
/// A load that forwarded nothing.
pub(super) fn figures(order: &Order, taken: &Taken) -> Result<Vec<Sample>, Fault> {
    let rate = taken.rate();
    #[expect(clippy::cast_precision_loss, reason = "threads are few")]
    let threads = taken.series.len() as f64;
    if rate <= 0.0 {
        return Err(Fault::WrongWork { what: "no frame was forwarded".into() });
    }
    #[expect(clippy::cast_precision_loss, reason = "20")]
    let bits = 8.0 * (order.quantity("frame_size").unwrap_or(64.0) + IFG as f64);
    let sample = |metric: &str, value, unit| Sample {
        metric: metric.into(),
        quantity: Quantity::new(value, unit),
    };
    Ok(vec![
        sample("rate", rate, Unit::PacketPerSecond),
        sample("frame_time", threads / rate, Unit::Second),
        sample("throughput", rate * bits, Unit::BitPerSecond),
    ])
}
