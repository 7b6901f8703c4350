//! Knows the parameters and figures of `tcp_rr` as data; knows nothing of sockets.

use crate::engine::exchange::{PARAMS, RATE_LIMIT, percentile};
use crate::engine::times::PERCENTILES;
use desk::record::{Better, MetricRole, MetricSpec, Place, WorkloadSpec};
use desk::unit::Unit;

/// What it is.
pub const SPEC: WorkloadSpec = WorkloadSpec {
    name: "tcp_rr",
    question: "how many requests a second a server answers, and how long each waits",
    place: Place::Path,
    revision: 1,
    params: PARAMS,
    metrics: METRICS,
    quantiles: PERCENTILES,
    derives: &[],
};

const METRICS: &[MetricSpec] = &[
    MetricSpec {
        name: "transactions",
        title: "transactions",
        role: MetricRole::Rate,
        unit: Unit::OperationPerSecond,
        better: Better::Higher,
        limit: RATE_LIMIT,
    },
    percentile("p50", "median response time"),
    percentile("p90", "90th percentile of the response time"),
    percentile("p99", "99th percentile of the response time"),
    percentile("p999", "99.9th percentile of the response time"),
];
