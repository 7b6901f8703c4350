//! Knows the parameters and figures of `udp_rr` as data; knows nothing of sockets.

use crate::engine::exchange::{PLACEMENT, TRANSACTIONS, metrics};
use crate::engine::net::datagram::{LEAST, MOST};
use crate::engine::pace::{ARRIVALS, OFFERED};
use crate::engine::times::PERCENTILES;
use desk::record::{ParamKind, ParamRole, ParamSpec, Place, WorkloadSpec};
use desk::unit::Kind;

/// What it is.
pub const SPEC: WorkloadSpec = WorkloadSpec {
    name: "udp_rr",
    question: "how many requests a second a server answers over UDP, and how long each waits",
    place: Place::Path,
    revision: 1,
    params: PARAMS,
    metrics: &metrics(TRANSACTIONS),
    quantiles: PERCENTILES,
    derives: &[],
};

/// Name of the parameter of the longest wait for an answer.
pub const TIME_LIMIT: &str = "time_limit";
/// Its default, seconds: the shortest time after which Linux sends a lost segment of TCP again
/// (`TCP_RTO_MIN`), so that a loss costs here what it costs `tcp_rr`.
pub const LIMIT: f64 = 0.2;

const PARAMS: &[ParamSpec] = &[
    ARRIVALS,
    OFFERED,
    PLACEMENT,
    ParamSpec {
        name: "request_size",
        about: "payload bytes of a datagram that a client sends",
        role: Some(ParamRole::Size),
        kind: ParamKind::size(LEAST as u64, MOST as u64),
        default: "64 B",
    },
    ParamSpec {
        name: "response_size",
        about: "payload bytes of a datagram that the server sends back",
        role: None,
        kind: ParamKind::size(LEAST as u64, MOST as u64),
        default: "64 B",
    },
    ParamSpec {
        name: "streams",
        about: "pairs of sockets of each client; each has one request under way",
        role: Some(ParamRole::Concurrency),
        kind: ParamKind::count(1, 64),
        default: "1",
    },
    ParamSpec {
        name: TIME_LIMIT,
        about: "a request without an answer for so long is lost",
        role: None,
        kind: ParamKind::within(Kind::Duration, 0.001, 10.0),
        default: "200 ms",
    },
];
