//! Knows the parameters and figures of `tcp_crr` as data; knows nothing of sockets.

use crate::engine::exchange::{PARAMS, metrics};
use crate::engine::times::PERCENTILES;
use desk::record::{Better, MetricRole, MetricSpec, Place, WorkloadSpec};
use desk::unit::Unit;

/// What it is.
pub const SPEC: WorkloadSpec = WorkloadSpec {
    name: "tcp_crr",
    question: "how many connections a second a server takes, each for one request",
    place: Place::Path,
    revision: 2,
    params: PARAMS,
    metrics: METRICS,
    quantiles: PERCENTILES,
    derives: &[],
};

const METRICS: &[MetricSpec] = &metrics(MetricSpec {
    name: "connections",
    title: "connections",
    role: MetricRole::Rate,
    unit: Unit::OperationPerSecond,
    better: Better::Higher,
    limit: "the CPU: making and closing a connection at either end",
});
