//! Knows the parameters and figures that exchanges have in common, as data.

use super::beside::BESIDE;
use super::order::Lifetime;
use crate::engine::net::streams::CLIENTS;
use crate::engine::pace::{ARRIVALS, OFFERED};
use crate::engine::times;
use desk::record::{Better, MetricRole, MetricSpec, ParamKind, ParamRole, ParamSpec};
use desk::unit::Unit;

/// How long a service serves.
pub const LIFETIME: ParamSpec = ParamSpec {
    name: "lifetime",
    about: "of a server that stend starts: one for each trial; one while the treatment stays; or \
            one for the run; a change of its settings or of its host restarts it",
    role: None,
    kind: ParamKind::choice(&Lifetime::WORDS),
    default: "trial",
};

/// Requests of one operation.
pub const PIPELINED: ParamSpec = ParamSpec {
    name: "pipelined",
    about: "requests sent at once on a connection; the response time is that of the last",
    role: None,
    kind: ParamKind::count(1, 64),
    default: "1",
};

/// CPUs of the two ends.
pub const PLACEMENT: ParamSpec = ParamSpec {
    name: "placement",
    about: "CPUs of the two ends of a connection: same, spread (neighbours), none (not pinned)",
    role: Some(ParamRole::Place),
    kind: ParamKind::choice(&["same", "spread", "none"]),
    default: "same",
};

/// Bytes of a request.
pub const REQUEST_SIZE: ParamSpec = ParamSpec {
    name: "request_size",
    about: "bytes that a client sends",
    role: Some(ParamRole::Size),
    kind: ParamKind::size(1, 64 << 10),
    default: "1 B",
};

/// Bytes of a response.
pub const RESPONSE_SIZE: ParamSpec = ParamSpec {
    name: "response_size",
    about: "bytes that the server sends back",
    role: None,
    kind: ParamKind::size(1, 64 << 10),
    default: "1 B",
};

/// Connections at once.
pub const STREAMS: ParamSpec = ParamSpec {
    name: "streams",
    about: "connections of each client at once; each has one request under way",
    role: Some(ParamRole::Concurrency),
    kind: ParamKind::count(1, 64),
    default: "1",
};

/// All of them, sorted.
pub const PARAMS: &[ParamSpec] =
    &[ARRIVALS, CLIENTS, OFFERED, PLACEMENT, REQUEST_SIZE, RESPONSE_SIZE, STREAMS];

/// Those of exchanges on connections that are kept, sorted.
pub const PARAMS_KEPT: &[ParamSpec] =
    &[ARRIVALS, BESIDE, CLIENTS, OFFERED, PLACEMENT, REQUEST_SIZE, RESPONSE_SIZE, STREAMS];

/// The rate of exchanges of small messages.
pub const TRANSACTIONS: MetricSpec = MetricSpec {
    name: "transactions",
    title: "transactions",
    role: MetricRole::Rate,
    unit: Unit::OperationPerSecond,
    better: Better::Higher,
    limit: "the CPU: a wake-up and two system calls at either end of each",
};

/// A rate, and the percentiles of the response times.
#[must_use]
pub const fn metrics(rate: MetricSpec) -> [MetricSpec; 5] {
    [
        rate,
        percentile("p50", "median response time"),
        percentile("p90", "90th percentile of the response time"),
        percentile("p99", "99th percentile of the response time"),
        percentile("p999", "99.9th percentile of the response time"),
    ]
}

/// A percentile of the response times.
#[must_use]
pub const fn percentile(name: &'static str, title: &'static str) -> MetricSpec {
    let limit = "the round trip, a wake-up at either end, and the queue before the server";
    times::percentile(name, title, limit)
}
