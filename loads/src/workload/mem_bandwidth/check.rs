//! Knows how bytes a second become the figures of `mem_bandwidth`. Pure.
//!
//! What the loops left in memory was looked at where it lies. Must not know how they are written.

use super::run::{operation, store};
use crate::engine::alone::{Order, Taken};
use desk::record::{Fault, Sample, Value};
use desk::unit::{Quantity, Unit};
use rig::metal::kernel::{CORE_CLOCK, Operation, Store};

/// Most bytes that a core can load and store in a clock: four ports of 64 B, where cores of today
/// have three.
const MOST_A_CLOCK: f64 = 256.0;

/// The figures. Work and results were looked at before.
///
/// # Errors
/// More bytes a clock than any core moves: then passes were counted that were not done.
pub(super) fn figures(order: &Order, taken: &Taken) -> Result<Vec<Sample>, Fault> {
    let sample = |metric: &str, value, unit| Sample {
        metric: metric.into(),
        quantity: Quantity::new(value, unit),
    };
    let rate = taken.rate();
    let bus = rate * bus_share(operation(order), store(order));
    let mut samples = vec![
        sample("bandwidth", rate, Unit::BytePerSecond),
        sample("bus_bandwidth", bus, Unit::BytePerSecond),
        sample("best_bandwidth", taken.best(), Unit::BytePerSecond),
    ];
    let clock = taken.made_with.get(CORE_CLOCK).and_then(Value::quantity);
    if let Some(clock) = clock.filter(|clock| clock.value > 0.0) {
        possible(taken, clock.value)?;
        #[expect(clippy::cast_precision_loss, reason = "threads are few")]
        let each = rate / taken.series.len() as f64;
        samples.push(sample("bytes_per_clock", each / clock.value, Unit::Byte));
    }
    Ok(samples)
}

/// Whether no thread moved more than a core of so many clocks a second can.
fn possible(taken: &Taken, hertz: f64) -> Result<(), Fault> {
    let most = taken.per_thread().into_iter().fold(0.0, f64::max) / hertz;
    if most <= MOST_A_CLOCK {
        return Ok(());
    }
    let what = format!(
        "{most:.0} bytes a clock and thread, and no core moves so many ({MOST_A_CLOCK:.0} at the \
         most): the passes did not do their work"
    );
    Err(Fault::WrongWork { what })
}

/// Bytes on the way to memory for each byte counted: what temporal stores overwrite is loaded
/// first. By the book (`McCalpin`, STREAM): a CPU may spare that where it sees that whole lines are
/// written.
#[expect(clippy::cast_precision_loss, reason = "arrays are at most three")]
pub(super) fn bus_share(operation: Operation, store: Store) -> f64 {
    let counted = operation.arrays() as f64;
    match store {
        Store::Temporal => (counted + operation.stores() as f64) / counted,
        Store::NonTemporal => 1.0,
    }
}
