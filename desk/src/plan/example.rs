//! Knows a small catalogue and a small plan for the tests of this room; the rig has the real ones.

use super::{Catalogue, read};
use crate::record::{
    Better, FactorSpec, MetricRole, MetricSpec, ParamKind, ParamRole, ParamSpec, Place, Plan,
    Scope, WorkloadSpec,
};
use crate::unit::Unit;

const ON_OFF: ParamKind = ParamKind::Choice(&["on", "off"]);

const fn param(name: &'static str, kind: ParamKind, default: &'static str) -> ParamSpec {
    ParamSpec { name, about: "", role: None, kind, default }
}

const fn metric(name: &'static str, unit: Unit) -> MetricSpec {
    let role = MetricRole::Rate;
    MetricSpec { name, title: name, role, unit, better: Better::Higher, limit: "" }
}

const fn factor(name: &'static str, scope: Scope, kind: ParamKind) -> FactorSpec {
    FactorSpec { name, about: "", scope, kind }
}

static TCP_STREAM: WorkloadSpec = WorkloadSpec {
    name: "tcp_stream",
    question: "How much does a TCP stream carry?",
    place: Place::Path,
    revision: 1,
    params: &[
        ParamSpec {
            role: Some(ParamRole::Direction),
            ..param("direction", ParamKind::Choice(&["transmit", "receive", "duplex"]), "transmit")
        },
        ParamSpec {
            role: Some(ParamRole::Size),
            ..param("request_size", ParamKind::Size(1, 1_048_576), "64 KiB")
        },
        ParamSpec {
            role: Some(ParamRole::Concurrency),
            ..param("streams", ParamKind::Count(1, 64), "1")
        },
        param("engine", ParamKind::Choice(&["batch", "sys"]), "sys"),
        param("queue_depth", ParamKind::Count(1, 1024), "64"),
        ParamSpec {
            role: Some(ParamRole::Offered),
            ..param("offered_load", ParamKind::RateOr("full", 1e4, 1e12), "full")
        },
        param("placement", ParamKind::Choice(&["spread", "same", "none"]), "spread"),
        param("congestion", ParamKind::Word, "kernel"),
    ],
    metrics: &[
        metric("throughput", Unit::BitPerSecond),
        metric("operations", Unit::OperationPerSecond),
        metric("packets", Unit::PacketPerSecond),
        metric("mean_segment", Unit::Byte),
        MetricSpec {
            role: MetricRole::Latency,
            better: Better::Lower,
            ..metric("delay", Unit::Second)
        },
    ],
    quantiles: &[],
};

static MEM_LATENCY: WorkloadSpec = WorkloadSpec {
    name: "mem_latency",
    question: "How long does a load take?",
    place: Place::Machine,
    revision: 1,
    params: &[
        param("size", ParamKind::SizeOr(&["L1", "memory"], 1024, 1 << 32), "memory"),
        param("stride", ParamKind::Size(4, 4096), "64 B"),
    ],
    metrics: &[
        MetricSpec { better: Better::Lower, ..metric("latency", Unit::Second) },
        metric("bandwidth", Unit::BytePerSecond),
    ],
    quantiles: &[],
};

static WORKLOADS: &[&WorkloadSpec] = &[&TCP_STREAM, &MEM_LATENCY];

static FACTORS: [FactorSpec; 11] = [
    factor("path", Scope::Path, ParamKind::Word),
    factor("mtu", Scope::Link, ParamKind::Size(576, 65_535)),
    factor("tso", Scope::Link, ON_OFF),
    factor("gso", Scope::Link, ON_OFF),
    factor("gro", Scope::Link, ON_OFF),
    factor("checksum", Scope::Link, ON_OFF),
    factor("rate", Scope::Link, ParamKind::Rate(1e5, 1e12)),
    factor("receive_buffer", Scope::Host, ParamKind::Size(4096, 1 << 26)),
    factor("congestion", Scope::Socket, ParamKind::Word),
    factor("profile", Scope::Profile, ParamKind::Word),
    factor("thp", Scope::Machine, ParamKind::Choice(&["always", "madvise", "never"])),
];

/// The catalogue.
pub(super) const fn catalogue() -> Catalogue<'static> {
    Catalogue { workloads: WORKLOADS, factors: &FACTORS }
}

/// Two links, two factors, four points, five blocks.
pub(super) fn small() -> Plan {
    let text = r#"title = "small"
        lab.links = { one = {}, two = {} }
        factors.path.levels = ["one", "two"]
        factors.tso.levels = ["on", "off"]
        [load.stream]
        workload = "tcp_stream"
        over = { direction = ["transmit", "receive"], request_size = "64..128 B *2" }"#;
    read(text, &catalogue()).unwrap()
}
