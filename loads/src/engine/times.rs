//! Knows how loads tell the times of their operations: name, unit, percentiles, and how those of
//! several threads become one distribution.
//!
//! Must not know what an operation is, nor how it was timed.

use desk::record::{Better, Distribution, Fault, MetricRole, MetricSpec, QuantileSpec};
use desk::unit::Unit;

/// Name of the distribution of the time from the start of an operation, in an open loop from the
/// intended start, to its end.
pub const RESPONSE: &str = "response";
/// Unit and step of such distributions: nanoseconds were counted.
pub const TIME: (Unit, f64) = (Unit::Second, 1e-9);

/// Metrics of response times, and which quantile each is.
pub const PERCENTILES: &[QuantileSpec] = &[
    QuantileSpec { metric: "p50", of: RESPONSE, at: 0.5 },
    QuantileSpec { metric: "p90", of: RESPONSE, at: 0.9 },
    QuantileSpec { metric: "p99", of: RESPONSE, at: 0.99 },
    QuantileSpec { metric: "p999", of: RESPONSE, at: 0.999 },
];

/// One of them, with what bounds it.
#[must_use]
pub const fn percentile(
    name: &'static str,
    title: &'static str,
    limit: &'static str,
) -> MetricSpec {
    let (role, unit, better) = (MetricRole::Latency, Unit::Second, Better::Lower);
    MetricSpec { name, title, role, unit, better, limit }
}

/// The distributions of all threads, those of one name as one, in the order in which names appear.
///
/// # Errors
/// Distributions that cannot be added.
pub fn merged<'d>(
    parts: impl Iterator<Item = &'d Distribution> + Clone,
) -> Result<Vec<Distribution>, Fault> {
    let mut all: Vec<Distribution> = Vec::new();
    for first in parts.clone() {
        if all.iter().any(|known| known.name == first.name) {
            continue;
        }
        let same = parts.clone().filter(|part| part.name == first.name);
        let sum = Distribution::merged(same);
        let sum = sum.map_err(|e| Fault::WrongWork { what: e.to_string() })?;
        let time = (first.unit, first.step);
        all.extend(sum.and_then(|sum| Distribution::new(&first.name, time, &sum)));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_of_one_name_are_added() {
        let of = |name: &str, values: &[u64]| {
            let mut histogram = Distribution::empty().unwrap();
            values.iter().for_each(|value| histogram.saturating_record(*value));
            Distribution::new(name, TIME, &histogram).unwrap()
        };
        let parts = [of("response", &[5]), of("service", &[1]), of("response", &[7, 9])];
        let sums = merged(parts.iter()).unwrap();
        let told: Vec<(&str, u64)> = sums.iter().map(|sum| (&*sum.name, sum.count)).collect();
        assert_eq!(told, [("response", 3), ("service", 1)]);
        assert!(merged([].iter()).unwrap().is_empty());
    }
}
