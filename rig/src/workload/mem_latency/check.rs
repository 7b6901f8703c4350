//! Knows how samples of a chase, and of injectors beside it, become figures. Pure.

use crate::metal::kernel::CORE_CLOCK;
use crate::workload::alone::{Order, Taken};
use desk::record::{Fault, Sample};
use desk::unit::{Quantity, Unit};

/// Loads a second of a plain machine: a size in bytes up to which it is so fast.
const NOMINAL: [(f64, f64); 4] = [(32e3, 7e8), (1e6, 1.6e8), (32e6, 2.5e7), (f64::INFINITY, 1.0e7)];
/// Bytes a second of one injector of a plain machine.
const NOMINAL_INJECTED: f64 = 1e10;

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

/// Work of each thread in a second of a simulated lab.
pub fn nominal(order: &Order, cpus: usize) -> Vec<f64> {
    let bytes = match order.word("size") {
        "L1" => 16e3,
        "L2" => 5e5,
        "L3" => 16e6,
        _ => order.quantity("size").unwrap_or(f64::INFINITY),
    };
    let fits = NOMINAL.iter().find(|(most, _)| bytes <= *most);
    let mut rates = vec![fits.map_or(1e7, |(_, rate)| *rate)];
    let busy = usize::try_from(order.count("load")).unwrap_or(0).min(cpus.saturating_sub(1));
    rates.extend(std::iter::repeat_n(NOMINAL_INJECTED, busy));
    rates
}
