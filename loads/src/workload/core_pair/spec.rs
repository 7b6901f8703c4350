//! Knows the parameters and figures of `core_pair` as data; knows nothing of threads.

use desk::record::{
    Better, Derivation, DeriveSpec, MetricRole, MetricSpec, ParamKind, ParamRole, ParamSpec, Place,
    WorkloadSpec,
};
use desk::unit::Unit;

/// What it is.
pub const SPEC: WorkloadSpec = WorkloadSpec {
    name: "core_pair",
    question: "how long a line takes from one CPU to another, and how fast blocks follow",
    place: Place::Machine,
    revision: 1,
    params: PARAMS,
    metrics: METRICS,
    quantiles: &[],
    derives: DERIVES,
};

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "block",
        about: "bytes of a block of method handover: a multiple of 64",
        role: Some(ParamRole::Size),
        kind: ParamKind::size(64, 1 << 20),
        default: "4 KiB",
    },
    ParamSpec {
        name: "home",
        about: "who touches the memory between the two first: ping, pong, or a third node",
        role: None,
        kind: ParamKind::choice(&["ping", "pong", "third"]),
        default: "ping",
    },
    ParamSpec {
        name: "method",
        about: "both swap one word, both store to it, each has a line, or blocks are handed over",
        role: None,
        kind: ParamKind::choice(&["cas", "store", "two_lines", "handover"]),
        default: "cas",
    },
    ParamSpec {
        name: "pair",
        about: "CPUs of ping and pong, for instance 0-1; or all, one pair after the other",
        role: None,
        kind: ParamKind::WORD,
        default: "all",
    },
    ParamSpec {
        name: "pairs",
        about: "most pairs of 'all': so many are drawn where there are more; 8 CPUs have 28",
        role: None,
        kind: ParamKind::count(1, 1024),
        default: "28",
    },
];

const METRICS: &[MetricSpec] = &[
    MetricSpec {
        name: "latency",
        title: "one-way latency",
        role: MetricRole::Latency,
        unit: Unit::Second,
        better: Better::Lower,
        limit: "the way between the two caches, and who keeps account of the line",
    },
    MetricSpec {
        name: "worst_latency",
        title: "one-way latency of the slowest pair",
        role: MetricRole::Latency,
        unit: Unit::Second,
        better: Better::Lower,
        limit: "as of the latency",
    },
    MetricSpec {
        name: "bandwidth",
        title: "hand-over bandwidth",
        role: MetricRole::Rate,
        unit: Unit::BytePerSecond,
        better: Better::Higher,
        limit: "the latency for small blocks, the way between the caches for large ones",
    },
];

const DERIVES: &[DeriveSpec] = &[DeriveSpec::along(Derivation::Matrix, "method")];
