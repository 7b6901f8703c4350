//! Knows the parameters and figures of `packet_pipeline` as data; knows no service.

use crate::engine::alone::{PLACEMENT, THREADS};
use crate::engine::packet::sessions;
use crate::engine::packet::wanted::{
    NAT, OUTPUT_PORTS, POLICERS, PORT_QUEUES, QUEUE_ORDER, ROUTES,
};
use desk::record::{
    Better, Derivation, DeriveSpec, MetricRole, MetricSpec, ParamKind, ParamRole, ParamSpec, Place,
    WorkloadSpec,
};
use desk::unit::Unit;

/// What it is.
pub const SPEC: WorkloadSpec = WorkloadSpec {
    name: "packet_pipeline",
    question: "how long a core works on a packet, and what each service adds",
    place: Place::Machine,
    revision: 1,
    params: PARAMS,
    metrics: METRICS,
    quantiles: &[],
    derives: DERIVES,
};

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "access_list",
        about: "frames pass the access list",
        role: None,
        kind: ParamKind::choice(&["off", "on"]),
        default: "on",
    },
    ParamSpec {
        name: "batch",
        about: "frames that pass a service together",
        role: None,
        kind: ParamKind::count(1, 256),
        default: "64",
    },
    ParamSpec {
        name: "flows",
        about: "flows that the frames belong to, in turn; places of the table that translates",
        role: None,
        kind: ParamKind::count(1, 4 << 20),
        // Larger tables take seconds to draw.
        default: "4096",
    },
    ParamSpec {
        name: "forwarding",
        about: "nothing but passing on, by station (802.1Q), or by route (RFC 1812)",
        role: Some(ParamRole::Algorithm),
        kind: ParamKind::choice(&["bypass", "bridge", "route"]),
        default: "route",
    },
    ParamSpec {
        name: "frame_size",
        about: "bytes of a frame with its check sequence (RFC 2544)",
        role: Some(ParamRole::Size),
        kind: ParamKind::size(64, 9018),
        default: "64 B",
    },
    ParamSpec { default: "on", ..NAT },
    OUTPUT_PORTS,
    PLACEMENT,
    ParamSpec { default: "256", ..POLICERS },
    ParamSpec { default: "8", ..PORT_QUEUES },
    QUEUE_ORDER,
    ParamSpec { default: "16384", ..ROUTES },
    ParamSpec {
        name: "rules",
        about: "rules of the access list over five fields, which flows are drawn from too: how \
                many, or the path of a list as ClassBench writes it",
        role: Some(ParamRole::Work),
        kind: ParamKind::count(1, 10_000).or_path(&[]),
        default: "100",
    },
    ParamSpec {
        name: "subscriber_direction",
        about: "upstream: frames come in the sessions of subscribers, and the device terminates \
                them; downstream: frames go to subscribers, and the device finds their sessions",
        role: None,
        kind: ParamKind::choice(&["upstream", "downstream"]),
        default: "upstream",
    },
    ParamSpec {
        name: "subscribers",
        about: "PPPoE sessions (RFC 2516) of the device, a header of 8 B beside frame_size; 0 for \
                none",
        role: None,
        kind: ParamKind::count(0, sessions::MOST as u64),
        default: "0",
    },
    THREADS,
    ParamSpec {
        name: "traffic",
        about: "flows match a rule, miss one by a single field and all others, or miss all",
        role: None,
        kind: ParamKind::choice(&["hit", "near_miss", "miss"]),
        default: "near_miss",
    },
];

const METRICS: &[MetricSpec] = &[
    MetricSpec {
        name: "rate",
        title: "frames forwarded",
        role: MetricRole::Rate,
        unit: Unit::PacketPerSecond,
        better: Better::Higher,
        limit: "the core: instructions of the services, and the caches that hold their tables",
    },
    MetricSpec {
        name: "frame_time",
        title: "time of a core for a frame",
        role: MetricRole::Latency,
        unit: Unit::Second,
        better: Better::Lower,
        limit: "as of the frames forwarded",
    },
    MetricSpec {
        name: "throughput",
        title: "line that this fills, with preamble and gap",
        role: MetricRole::Rate,
        unit: Unit::BitPerSecond,
        better: Better::Higher,
        limit: "as of the frames forwarded",
    },
];

const DERIVES: &[DeriveSpec] = &[DeriveSpec::along(Derivation::Scaling, "threads")];
