//! Knows the parameters and figures of `forward` as data; knows nothing of frames.

use crate::engine::net::streams::OFFERED;
use crate::engine::packet::live::{CLASSES_MOST, JUMBO, LEAST, SOURCES_MOST, TARGETS_MOST};
use crate::engine::packet::wanted::{
    NAT, POLICER_BURST, POLICER_RATE, POLICERS, PORT_QUEUES, QUEUE_ORDER, ROUTES,
};
use desk::record::{
    Better, Derivation, DeriveSpec, MetricRole, MetricSpec, ParamKind, ParamRole, ParamSpec, Place,
    QuantileSpec, WorkloadSpec,
};
use desk::unit::{Kind, Unit};

/// What it is.
pub const SPEC: WorkloadSpec = WorkloadSpec {
    name: "forward",
    question: "how many frames a second what stands between two ends forwards, and how many it \
               loses",
    place: Place::Path,
    revision: 1,
    params: PARAMS,
    metrics: METRICS,
    quantiles: &[
        QuantileSpec { metric: "latency_p50", of: LATENCY, at: 0.5, always: false },
        QuantileSpec { metric: "latency_p99", of: LATENCY, at: 0.99, always: false },
    ],
    derives: &[
        DeriveSpec::of(Derivation::OwnCount, "self_frames"),
        DeriveSpec::of(Derivation::LineShare, "line_share"),
        DeriveSpec::of(Derivation::Headroom, HEADROOM),
        DeriveSpec::of(Derivation::Rfc2544, ""),
    ],
};

/// Name of the distribution of the time from the moment of a frame to its arrival.
pub const LATENCY: &str = "latency";

/// How many times the frames of a trial the tester reaches alone.
pub const HEADROOM: &str = "headroom";

/// Frames of the window where it has a bound, at the shortest gap that there is.
pub const BURST: ParamSpec = ParamSpec {
    name: "burst",
    about: "frames sent back to back, at offered_load, and no more; or endless",
    role: Some(ParamRole::Burst),
    kind: ParamKind::count(1, 1 << 24).or(&["endless"]),
    default: "endless",
};

/// The word for frames of mixed sizes.
pub const IMIX: &str = "imix";

/// How long frames are.
pub const FRAME_SIZE: ParamSpec = ParamSpec {
    name: "frame_size",
    about: "bytes of a frame with its check sequence (FCS), above 1518 B by engine = packet alone; \
            or imix, 7 of 64 B, 4 of 594 B and 1 of 1518 B in turn; or the path of a capture \
            (pcap, pcapng), whose lengths and flows the frames have",
    role: Some(ParamRole::Size),
    kind: ParamKind::size(LEAST as u64, JUMBO as u64).or_path(&[IMIX]),
    default: "64 B",
};

/// By what frames are sent.
pub const ENGINE: ParamSpec = ParamSpec {
    name: "engine",
    about: "what sends: live, a program in the kernel, without a copy; packet or af_xdp, sockets",
    role: None,
    kind: ParamKind::choice(&["live", "packet", "af_xdp"]),
    default: "live",
};

/// To how many addresses frames go.
pub const TARGET_ADDRESSES: ParamSpec = ParamSpec {
    name: "target_addresses",
    about: "addresses of 198.19.0.0/17 that the flows go to; 1 for that of their sink",
    role: Some(ParamRole::Targets),
    kind: ParamKind::count(1, TARGETS_MOST as u64),
    default: "1",
};

/// From how many addresses frames come.
pub const SOURCE_ADDRESSES: ParamSpec = ParamSpec {
    name: "source_addresses",
    about: "addresses of 198.19.128.0/18 that the flows of a client come from; 1 for its own",
    role: None,
    kind: ParamKind::count(1, SOURCES_MOST as u64),
    default: "1",
};

/// In how many classes of service frames are.
pub const CLASSES: ParamSpec = ParamSpec {
    name: "dscp_classes",
    about: "classes of service (DSCP) of the flows; 8 for the class selectors (RFC 2474)",
    role: None,
    kind: ParamKind::count(1, CLASSES_MOST as u64),
    default: "1",
};

/// Which way frames go.
pub const DIRECTION: ParamSpec = ParamSpec {
    name: "direction",
    about: "seen from the system under test; duplex sends the offered load each way at once",
    role: Some(ParamRole::Direction),
    kind: ParamKind::choice(&["transmit", "receive", "duplex"]),
    default: "receive",
};

/// The VLAN whose tag frames have.
pub const VLAN_TAG: ParamSpec = ParamSpec {
    name: "vlan_tag",
    about: "number of the VLAN whose tag frames have, 4 B beside frame_size; or none",
    role: Some(ParamRole::Vlan),
    kind: ParamKind::count(1, 4094).or(&["none"]),
    default: "none",
};

/// What the share of the line is of.
pub const DECLARED: ParamSpec = ParamSpec {
    name: "declared_rate",
    about: "bit/s of the line to the sink that line_share is of; or none",
    role: None,
    kind: ParamKind::within(Kind::Rate, 1e4, 1e12).or(&["none"]),
    default: "none",
};

/// What forwards in the switches between the ends.
pub const FAST_PATH: ParamSpec = ParamSpec {
    name: "fast_path",
    about: "what forwards in switches: off, the kernel's bridge; xdp, a program; af_xdp, a process",
    role: None,
    kind: ParamKind::choice(&["off", "xdp", "af_xdp"]),
    default: "off",
};

/// The rate of the reference device.
pub const PLANTED_CAPACITY: ParamSpec = ParamSpec {
    name: "planted_capacity",
    about: "frames a second that the process of fast_path = af_xdp forwards at most, each way; or \
            none",
    role: None,
    kind: ParamKind::count(1, 1 << 32).or(&["none"]),
    default: "none",
};

/// Its buffer.
pub const PLANTED_BUFFER: ParamSpec = ParamSpec {
    name: "planted_buffer",
    about: "frames that may come at once beyond planted_capacity",
    role: None,
    kind: ParamKind::count(1, 1 << 20),
    default: "256",
};

/// Its loss.
pub const PLANTED_LOSS: ParamSpec = ParamSpec {
    name: "planted_loss",
    about: "share of the frames that the process of fast_path = af_xdp loses by chance",
    role: None,
    kind: ParamKind::within(Kind::Share, 0.0, 0.9),
    default: "0 %",
};

/// Rules that a fast path looks for.
pub const RULES: ParamSpec = ParamSpec {
    name: "rules",
    about: "rules of the access list of a fast path",
    role: Some(ParamRole::Work),
    kind: ParamKind::count(0, 1000),
    default: "0",
};

/// What a rule drops.
pub const RULE_HITS: ParamSpec = ParamSpec {
    name: "rule_hits",
    about: "share of the flows' source ports that a rule drops; all others miss",
    role: None,
    kind: ParamKind::within(Kind::Share, 0.0, 0.9),
    default: "0 %",
};

/// What becomes of frames that are too late to be sent.
pub const LATE_FRAMES: ParamSpec = ParamSpec {
    name: "late_frames",
    about: "frames that the sender skips because they are late: void rejects the trial; lost \
            counts them as loss (MLRsearch), where the tester alone is twice as fast as the load",
    role: None,
    kind: ParamKind::choice(&["void", "lost"]),
    default: "void",
};

const PARAMS: &[ParamSpec] = &[
    BURST,
    DECLARED,
    DIRECTION,
    CLASSES,
    ENGINE,
    FAST_PATH,
    ParamSpec {
        name: "flows",
        about: "pairs of UDP ports that the frames of a client have",
        role: None,
        kind: ParamKind::count(1, 1 << 20),
        default: "65536",
    },
    FRAME_SIZE,
    LATE_FRAMES,
    ParamSpec {
        about: "bit/s on the line of all clients, each way, with preamble and gap; or full",
        ..OFFERED
    },
    NAT,
    ParamSpec {
        name: "pattern",
        about: "order of the flows: random (RFC 4814), or counter, one after the other",
        role: None,
        kind: ParamKind::choice(&["random", "counter"]),
        default: "random",
    },
    PLANTED_BUFFER,
    PLANTED_CAPACITY,
    PLANTED_LOSS,
    POLICER_BURST,
    POLICER_RATE,
    POLICERS,
    PORT_QUEUES,
    QUEUE_ORDER,
    ROUTES,
    RULE_HITS,
    RULES,
    SOURCE_ADDRESSES,
    TARGET_ADDRESSES,
    VLAN_TAG,
];

const METRICS: &[MetricSpec] = &[
    MetricSpec {
        name: "frames",
        title: "forwarded frames",
        role: MetricRole::Rate,
        unit: Unit::PacketPerSecond,
        better: Better::Higher,
        limit: "the CPU of what forwards, one frame after the other",
    },
    MetricSpec {
        name: "throughput",
        title: "forwarded throughput on the line",
        role: MetricRole::Rate,
        unit: Unit::BitPerSecond,
        better: Better::Higher,
        limit: "the line rate, which is stated with preamble and gap",
    },
    MetricSpec {
        name: "line_share",
        title: "forwarded throughput as a share of the declared line",
        role: MetricRole::Count,
        unit: Unit::Share,
        better: Better::Higher,
        limit: "the line rate; a virtual link has none, and exceeds what is declared",
    },
    MetricSpec {
        name: "self_frames",
        title: "frames forwarded by the device's own count",
        role: MetricRole::Count,
        unit: Unit::PacketPerSecond,
        better: Better::Higher,
        limit: "the frames that come to the device",
    },
    share("loss", "lost frames", "queues on the way, and the CPU of what forwards"),
    share("reordered", "reordered frames", "paths and queues of unequal length"),
    share("duplicates", "duplicated frames", "a path that repeats them"),
    share("unsent", "frames that were not sent", "the CPU of the client"),
    MetricSpec {
        name: HEADROOM,
        title: "headroom of the tester",
        role: MetricRole::Count,
        unit: Unit::Ratio,
        better: Better::Higher,
        limit: "the CPU of who sends and counts, with nothing between",
    },
    latency("latency_bias", "median latency of the tester alone"),
    latency("latency_p50", "median latency"),
    latency("latency_p99", "99th percentile of the latency"),
];

const fn share(name: &'static str, title: &'static str, limit: &'static str) -> MetricSpec {
    let (role, unit, better) = (MetricRole::Count, Unit::Share, Better::Lower);
    MetricSpec { name, title, role, unit, better, limit }
}

const fn latency(name: &'static str, title: &'static str) -> MetricSpec {
    let limit = "queues on the way, and the batches in which frames are sent";
    crate::engine::times::percentile(name, title, limit)
}
