//! Knows how samples of a chase, and of injectors beside it, become figures. Pure.

use crate::engine::alone::{Order, Taken};
use desk::record::{Fault, Sample};
use desk::unit::{Quantity, Unit};
use rig::metal::kernel::CORE_CLOCK;

/// The figures: the first thread is the walker, all others inject.
///
/// Latency: the time of a sample over its loads, each of which waited for the one before.
///
/// # Errors
/// No samples of the walker.
pub fn figures(_: &Order, taken: &Taken) -> Result<Vec<Sample>, Fault> {
    let nothing = || Fault::WrongWork { what: "the walker did no load".into() };
    let rates = taken.per_thread();
    let walker = taken.series.first().ok_or_else(nothing)?;
    let typical = rates.first().copied().filter(|rate| *rate > 0.0).ok_or_else(nothing)?;
    let best = walker.samples.iter().map(|sample| sample.rate()).fold(typical, f64::max);
    let sample = |metric: &str, value, unit| Sample {
        metric: metric.into(),
        quantity: Quantity::new(value, unit),
    };
    let mut samples = vec![
        sample("latency", 1.0 / typical, Unit::Second),
        sample("best_latency", 1.0 / best, Unit::Second),
    ];
    let clock = taken.made_with.get(CORE_CLOCK).and_then(desk::record::Value::quantity);
    if let Some(clock) = clock {
        samples.push(sample("latency_clocks", clock.value / typical, Unit::Count));
    }
    if rates.len() > 1 {
        let injected = rates[1..].iter().sum();
        samples.push(sample("injected_bandwidth", injected, Unit::BytePerSecond));
    }
    Ok(samples)
}
