//! Knows a small catalogue and a small plan for the tests of this room; the rig has the real ones.

use super::{Catalogue, read};
use crate::record::{
    Better, FactorSpec, MetricRole, MetricSpec, ParamKind, ParamRole, ParamSpec, Place, Plan,
    Scope, WorkloadSpec,
};
use crate::unit::{Kind, Unit};

const WAYS: &[&str] = &["transmit", "receive", "duplex", "between"];
const ON_OFF: ParamKind = ParamKind::choice(&["on", "off"]);

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
            ..param("direction", ParamKind::choice(WAYS), "transmit")
        },
        ParamSpec {
            role: Some(ParamRole::Size),
            ..param("request_size", ParamKind::size(1, 1_048_576), "64 KiB")
        },
        ParamSpec {
            role: Some(ParamRole::Concurrency),
            ..param("streams", ParamKind::count(1, 64), "1")
        },
        ParamSpec {
            role: Some(ParamRole::Clients),
            ..param("clients", ParamKind::count(1, 64).or(&["all"]), "all")
        },
        param("engine", ParamKind::choice(&["batch", "sys"]), "sys"),
        param("queue_depth", ParamKind::count(1, 1024), "64"),
        ParamSpec {
            role: Some(ParamRole::Offered),
            ..param("offered_load", ParamKind::within(Kind::Rate, 1e4, 1e12).or(&["full"]), "full")
        },
        param("placement", ParamKind::choice(&["spread", "same", "none"]), "spread"),
        param("congestion", ParamKind::WORD, "kernel"),
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
    derives: &[],
};

static MEM_LATENCY: WorkloadSpec = WorkloadSpec {
    name: "mem_latency",
    question: "How long does a load take?",
    place: Place::Machine,
    revision: 1,
    params: &[
        param("size", ParamKind::size(1024, 1 << 32).or(&["L1", "memory"]), "memory"),
        param("stride", ParamKind::size(4, 4096), "64 B"),
    ],
    metrics: &[
        MetricSpec { better: Better::Lower, ..metric("latency", Unit::Second) },
        metric("bandwidth", Unit::BytePerSecond),
    ],
    quantiles: &[],
    derives: &[],
};

static WORKLOADS: &[&WorkloadSpec] = &[&TCP_STREAM, &MEM_LATENCY];

static FACTORS: [FactorSpec; 14] = [
    factor("path", Scope::Path, ParamKind::WORD),
    factor("sut", Scope::Sut, ParamKind::WORD),
    factor("mtu", Scope::Link, ParamKind::size(576, 65_535)),
    factor("tso", Scope::Link, ON_OFF),
    factor("gso", Scope::Link, ON_OFF),
    factor("gro", Scope::Link, ON_OFF),
    factor("checksum", Scope::Link, ON_OFF),
    factor("rate", Scope::Link, ParamKind::within(Kind::Rate, 1e5, 1e12)),
    factor("ip_version", Scope::Network, ParamKind::count(4, 6).by(2.0)),
    factor("path_delay", Scope::Relay, ParamKind::within(Kind::Duration, 0.0, 0.2)),
    factor("receive_buffer", Scope::Host, ParamKind::size(4096, 1 << 26)),
    factor("congestion", Scope::Socket, ParamKind::WORD),
    factor("profile", Scope::Profile, ParamKind::WORD),
    factor("thp", Scope::Machine, ParamKind::choice(&["always", "madvise", "never"])),
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
