//! Knows the parameters and figures of `udp_stream` as data; knows nothing of sockets.

use crate::engine::net::datagram::{LEAST, MOST};
use crate::engine::net::streams::{CLIENTS, OFFERED, PLACEMENT, QUEUE_DEPTH};
use desk::record::{
    Better, MetricRole, MetricSpec, ParamKind, ParamRole, ParamSpec, Place, QuantileSpec,
    WorkloadSpec,
};
use desk::unit::Unit;

/// What it is.
pub const SPEC: WorkloadSpec = WorkloadSpec {
    name: "udp_stream",
    question: "how many datagrams UDP delivers between the clients and the system under test",
    place: Place::Path,
    revision: 1,
    params: PARAMS,
    metrics: METRICS,
    quantiles: &[
        QuantileSpec { metric: "delay_p50", of: DELAY, at: 0.5, always: false },
        QuantileSpec { metric: "delay_p99", of: DELAY, at: 0.99, always: false },
    ],
    derives: &[],
};

/// Name of the distribution of the time from the call that sends a datagram to the return of the
/// call that receives it.
pub const DELAY: &str = "delay";

const PARAMS: &[ParamSpec] = &[
    CLIENTS,
    ParamSpec {
        name: "datagram",
        about: "payload bytes of a datagram",
        role: Some(ParamRole::Size),
        kind: ParamKind::size(LEAST as u64, MOST as u64),
        default: "1472 B",
    },
    ParamSpec {
        name: "direction",
        about: "seen from the system under test; duplex is one generator each way",
        role: Some(ParamRole::Direction),
        kind: ParamKind::choice(&["transmit", "receive", "duplex"]),
        default: "transmit",
    },
    ParamSpec {
        name: "engine",
        about: "call: one system call a datagram; batch: sendmmsg, recvmmsg; segment: GSO and GRO",
        role: Some(ParamRole::Engine),
        kind: ParamKind::choice(&["call", "batch", "segment"]),
        default: "call",
    },
    ParamSpec {
        about: "bit/s of payload of all streams of one direction together, sent on a schedule; or \
                full",
        ..OFFERED
    },
    ParamSpec { default: "spread", ..PLACEMENT },
    ParamSpec {
        about: "datagrams of one system call, engines batch and segment only",
        default: "32",
        ..QUEUE_DEPTH
    },
    ParamSpec {
        name: "socket_buffer",
        about: "bytes that receiving sockets ask for (SO_RCVBUF); 'kernel' leaves the kernel's own",
        role: None,
        kind: ParamKind::size(4096, 1 << 30).or(&["kernel"]),
        default: "kernel",
    },
    ParamSpec {
        name: "streams",
        about: "pairs of sockets of each client in each direction",
        role: Some(ParamRole::Concurrency),
        kind: ParamKind::count(1, 64),
        default: "1",
    },
];

const METRICS: &[MetricSpec] = &[
    MetricSpec {
        name: "throughput",
        title: "delivered throughput",
        role: MetricRole::Rate,
        unit: Unit::BitPerSecond,
        better: Better::Higher,
        limit: "the goodput that the line rate leaves, else the CPU",
    },
    MetricSpec {
        name: "datagrams",
        title: "delivered datagrams",
        role: MetricRole::Rate,
        unit: Unit::PacketPerSecond,
        better: Better::Higher,
        limit: "the CPU, one system call a datagram; with segment one a call of many",
    },
    share("loss", "lost datagrams", "the receive buffer, and queues on the way"),
    share("reordered", "reordered datagrams", "paths and queues of unequal length"),
    share("duplicates", "duplicated datagrams", "a path that repeats them"),
    MetricSpec {
        name: "jitter",
        title: "interarrival jitter",
        role: MetricRole::Latency,
        unit: Unit::Second,
        better: Better::Lower,
        limit: "wake-ups at either end, and queues on the way",
    },
    delay("delay_p50", "median one-way delay"),
    delay("delay_p99", "99th percentile of the one-way delay"),
];

const fn share(name: &'static str, title: &'static str, limit: &'static str) -> MetricSpec {
    let (role, unit, better) = (MetricRole::Count, Unit::Share, Better::Lower);
    MetricSpec { name, title, role, unit, better, limit }
}

const fn delay(name: &'static str, title: &'static str) -> MetricSpec {
    let limit = "the way, a wake-up of the receiver, and the queue in its receive buffer";
    crate::engine::times::percentile(name, title, limit)
}
