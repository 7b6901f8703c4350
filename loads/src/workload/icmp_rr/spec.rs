//! Knows the parameters and figures of `icmp_rr` as data; knows nothing of sockets.

use crate::engine::exchange::datagrams::{DATAGRAM_REQUEST, TIME_LIMIT};
use crate::engine::exchange::{STREAMS, metrics};
use crate::engine::net::streams::CLIENTS;
use crate::engine::pace::{ARRIVALS, OFFERED};
use crate::engine::times::PERCENTILES;
use desk::record::{Better, MetricRole, MetricSpec, ParamSpec, Place, WorkloadSpec};
use desk::unit::Unit;

/// What it is.
pub const SPEC: WorkloadSpec = WorkloadSpec {
    name: "icmp_rr",
    question: "how long an ICMP echo takes, and how many a second a kernel answers",
    place: Place::Path,
    revision: 1,
    params: &[
        ARRIVALS,
        CLIENTS,
        OFFERED,
        ParamSpec { about: "payload bytes of an echo", default: "56 B", ..DATAGRAM_REQUEST },
        ParamSpec {
            about: "sockets of each client, with an identifier each; each has one echo under way",
            ..STREAMS
        },
        TIME_LIMIT,
    ],
    metrics: &metrics(MetricSpec {
        name: "echoes",
        title: "echoes",
        role: MetricRole::Rate,
        unit: Unit::OperationPerSecond,
        better: Better::Higher,
        limit: "the CPU: two system calls of the client, and the kernel of the server",
    }),
    quantiles: PERCENTILES,
    derives: &[],
};
