//! Knows the parameters and figures of `udp_rr` as data; knows nothing of sockets.

use crate::engine::exchange::datagrams::{DATAGRAM_REQUEST, TIME_LIMIT};
use crate::engine::exchange::{BESIDE, PLACEMENT, TRANSACTIONS, metrics};
use crate::engine::net::datagram::{LEAST, MOST};
use crate::engine::net::streams::CLIENTS;
use crate::engine::pace::{ARRIVALS, OFFERED};
use crate::engine::times::PERCENTILES;
use desk::record::{ParamKind, ParamRole, ParamSpec, Place, WorkloadSpec};

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

const PARAMS: &[ParamSpec] = &[
    ARRIVALS,
    BESIDE,
    CLIENTS,
    OFFERED,
    PLACEMENT,
    DATAGRAM_REQUEST,
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
    TIME_LIMIT,
];
