//! Knows how loads tell the times of their operations: name, unit, percentiles, what an open loop
//! tells besides, and how those of several threads become one distribution.
//!
//! Must not know what an operation is, nor how it was timed.

use desk::record::{Better, Distribution, Fault, MetricRole, MetricSpec, QuantileSpec};
use desk::unit::Unit;
use hdrhistogram::Histogram;

/// Name of the distribution of the time from the start of an operation, in an open loop from the
/// intended start, to its end.
pub const RESPONSE: &str = "response";
/// Name of that of the time from the start to the end, in an open loop.
pub const SERVICE: &str = "service";
/// Name of that of the time from the intended start to the start, in an open loop.
pub const LATENESS: &str = "lateness";
/// Unit and step of such distributions: nanoseconds were counted.
pub const TIME: (Unit, f64) = (Unit::Second, 1e-9);

/// Metrics of response times, and which quantile each is.
pub const PERCENTILES: &[QuantileSpec] = &[
    QuantileSpec { metric: "p50", of: RESPONSE, at: 0.5, always: true },
    QuantileSpec { metric: "p90", of: RESPONSE, at: 0.9, always: true },
    QuantileSpec { metric: "p99", of: RESPONSE, at: 0.99, always: true },
    QuantileSpec { metric: "p999", of: RESPONSE, at: 0.999, always: true },
];

/// An operation is not late below this, whatever the rate, nanoseconds: a wake-up costs it.
const LATE_NS: f64 = 100_000.0;

/// The moments of one operation, nanoseconds on the monotonic clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moments {
    /// When it was due; in a closed loop when it was begun.
    pub intended: u64,
    /// When it was begun.
    pub begun: u64,
    /// When its slot was free for it.
    pub free: u64,
    /// When it was complete.
    pub done: u64,
}

/// The times of the operations of one thread. Nothing is allocated after [`Self::new`].
#[derive(Debug)]
pub struct Timing {
    response: Histogram<u64>,
    /// In an open loop only.
    paced: Option<Paced>,
}

#[derive(Debug)]
struct Paced {
    service: Histogram<u64>,
    lateness: Histogram<u64>,
    /// From this on an operation whose slot was free is late by the thread's own fault,
    /// nanoseconds.
    grace_ns: u64,
    late: u64,
}

impl Timing {
    /// Without any; with the mean interval of an open loop, seconds. None where the memory for the
    /// histograms cannot be had.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an interval")]
    pub fn new(interval: Option<f64>) -> Option<Self> {
        let paced = match interval {
            Some(interval) => Some(Paced {
                service: Distribution::empty()?,
                lateness: Distribution::empty()?,
                grace_ns: (interval * 1e9).max(LATE_NS) as u64,
                late: 0,
            }),
            None => None,
        };
        Some(Self { response: Distribution::empty()?, paced })
    }

    /// Counts an operation.
    #[inline]
    pub fn add(&mut self, at: Moments) {
        self.response.saturating_record(at.done.saturating_sub(at.intended));
        if let Some(paced) = &mut self.paced {
            paced.service.saturating_record(at.done.saturating_sub(at.begun));
            paced.lateness.saturating_record(at.begun - at.intended);
            // Where the slot was still at work, the server was late and not the client.
            let own = at.begun.saturating_sub(at.intended.max(at.free));
            paced.late += u64::from(own > paced.grace_ns);
        }
    }

    /// Forgets all of them.
    pub fn reset(&mut self) {
        self.response.reset();
        if let Some(paced) = &mut self.paced {
            paced.service.reset();
            paced.lateness.reset();
            paced.late = 0;
        }
    }

    /// Operations of an open loop that the thread itself began too late: by more than the mean
    /// interval, and by 0.1 ms or more. None in a closed one.
    #[must_use]
    pub fn late(&self) -> Option<u64> {
        self.paced.as_ref().map(|paced| paced.late)
    }

    /// As they are stored, those of which there are any.
    #[must_use]
    pub fn distributions(&self) -> Vec<Distribution> {
        let paced = self.paced.as_ref();
        let timed = [
            (RESPONSE, Some(&self.response)),
            (SERVICE, paced.map(|paced| &paced.service)),
            (LATENESS, paced.map(|paced| &paced.lateness)),
        ];
        let stored = timed.into_iter().filter_map(|(name, times)| stored(name, times?));
        stored.collect()
    }
}

/// Times as they are stored; none of none.
#[must_use]
pub fn stored(name: &str, times: &Histogram<u64>) -> Option<Distribution> {
    Distribution::new(name, TIME, Some(times).filter(|times| !times.is_empty())?)
}

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
