//! Knows the parameters and figures of `tcp_stream` as data; knows nothing of sockets.

use crate::engine::net::streams::{CLIENTS, DUPLEX_ON, OFFERED, PLACEMENT, QUEUE_DEPTH};
use desk::record::{
    Better, MetricRole, MetricSpec, ParamKind, ParamRole, ParamSpec, Place, WorkloadSpec,
};
use desk::unit::Unit;

/// What it is.
pub const SPEC: WorkloadSpec = WorkloadSpec {
    name: "tcp_stream",
    question: "how much TCP carries between the clients and the system under test",
    place: Place::Path,
    revision: 1,
    params: PARAMS,
    metrics: METRICS,
    quantiles: &[],
    derives: &[],
};

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "buffers",
        about: "memory of both ends: warm, as little as a call needs; cold, in turn more than the \
                last caches hold",
        role: None,
        kind: ParamKind::choice(&["warm", "cold"]),
        default: "warm",
    },
    CLIENTS,
    ParamSpec {
        name: "congestion",
        about: "congestion control of the sending sockets; 'kernel' leaves the kernel's own",
        role: None,
        kind: ParamKind::WORD,
        default: "kernel",
    },
    ParamSpec {
        name: "direction",
        about: "seen from the system under test; duplex is one generator each way",
        role: Some(ParamRole::Direction),
        kind: ParamKind::choice(&["transmit", "receive", "duplex"]),
        default: "transmit",
    },
    DUPLEX_ON,
    ParamSpec {
        name: "engine",
        about: "how requests become system calls; sys is one call a request, batch many a call",
        role: Some(ParamRole::Engine),
        kind: ParamKind::choice(&["sys", "batch"]),
        default: "sys",
    },
    OFFERED,
    PLACEMENT,
    QUEUE_DEPTH,
    ParamSpec {
        name: "receiver",
        about: "how bytes leave the socket: copied, skipped (trunc), moved to /dev/null (splice), \
                copied by io_uring",
        role: None,
        kind: ParamKind::choice(&["copy", "trunc", "splice", "uring"]),
        default: "copy",
    },
    ParamSpec {
        name: "request_size",
        about: "bytes of a request; engine sys hands over and asks for as many at once",
        role: Some(ParamRole::Size),
        kind: ParamKind::size(1, 1 << 20),
        default: "64 KiB",
    },
    ParamSpec {
        name: "sender",
        about: "how bytes get to the socket: copied (write), as pages through a pipe (splice), \
                with MSG_ZEROCOPY (zerocopy), by io_uring",
        role: None,
        kind: ParamKind::choice(&["write", "splice", "zerocopy", "uring"]),
        default: "write",
    },
    ParamSpec {
        name: "streams",
        about: "connections of each client in each direction",
        role: Some(ParamRole::Concurrency),
        kind: ParamKind::count(1, 64),
        default: "1",
    },
];

const METRICS: &[MetricSpec] = &[
    MetricSpec {
        name: "throughput",
        title: "throughput",
        role: MetricRole::Rate,
        unit: Unit::BitPerSecond,
        better: Better::Higher,
        limit: "the goodput that the line rate leaves, else the CPU",
    },
    MetricSpec {
        name: "operations",
        title: "requests",
        role: MetricRole::Rate,
        unit: Unit::OperationPerSecond,
        better: Better::Higher,
        limit: "the CPU, one system call and one wake-up at a time; with engine batch the copy",
    },
    MetricSpec {
        name: "packets",
        title: "data segments",
        role: MetricRole::Rate,
        unit: Unit::PacketPerSecond,
        better: Better::Higher,
        limit: "the line rate at the smallest frame",
    },
    MetricSpec {
        name: "mean_segment",
        title: "mean segment",
        role: MetricRole::Segment,
        unit: Unit::Byte,
        better: Better::Higher,
        limit: "the maximum segment size that both ends announced",
    },
];
