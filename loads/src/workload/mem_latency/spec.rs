//! Knows the parameters and figures of `mem_latency` as data; knows nothing of memory.

use crate::engine::alone::{PAGES, SIZES};
use desk::record::{
    Better, Derivation, DeriveSpec, MetricRole, MetricSpec, ParamKind, ParamRole, ParamSpec, Place,
    WorkloadSpec,
};
use desk::unit::{Kind, Unit};

/// What it is.
pub const SPEC: WorkloadSpec = WorkloadSpec {
    name: "mem_latency",
    question: "how long a load takes whose address is the result of the load before it",
    place: Place::Machine,
    revision: 1,
    params: PARAMS,
    metrics: METRICS,
    quantiles: &[],
    derives: DERIVES,
};

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "cpu",
        about: "CPU that walks; first is the first one that may be used",
        role: None,
        kind: ParamKind::count(0, 1023).or(&["first"]),
        default: "first",
    },
    ParamSpec {
        name: "inject",
        about: "what the threads of 'load' do with memory of their own",
        role: None,
        kind: ParamKind::choice(&["read", "copy"]),
        default: "read",
    },
    ParamSpec {
        name: "load",
        about: "threads on further CPUs that keep the memory busy meanwhile",
        role: None,
        kind: ParamKind::count(0, 1023),
        default: "0",
    },
    ParamSpec {
        name: "node",
        about: "NUMA node whose memory is walked through; local is the walking CPU's",
        role: None,
        kind: ParamKind::count(0, 1023).or(&["local"]),
        default: "local",
    },
    ParamSpec {
        name: "order",
        about: "in which order: by address, shuffled within 4 KiB, or all shuffled",
        role: None,
        kind: ParamKind::choice(&["sequential", "in_page", "random"]),
        default: "random",
    },
    PAGES,
    ParamSpec {
        name: "pause",
        about: "between two bursts of 4 KiB of a thread of 'load'",
        role: None,
        kind: ParamKind::within(Kind::Duration, 0.0, 1e-3).by(1e-9),
        default: "0 s",
    },
    ParamSpec {
        name: "size",
        about: "bytes that are walked through, or a level of the machine's caches",
        role: Some(ParamRole::WorkingSet),
        kind: ParamKind::size(4 << 10, 4 << 30).or(SIZES),
        // A trial of memory takes seconds to draw and link; whoever asks for it says so.
        default: "L2",
    },
    ParamSpec {
        name: "stride",
        about: "bytes between neighbours: a power of two; below 8 they are 32-bit numbers",
        role: None,
        kind: ParamKind::size(4, 4 << 10),
        default: "64 B",
    },
];

const METRICS: &[MetricSpec] = &[
    MetricSpec {
        name: "latency",
        title: "load latency",
        role: MetricRole::Latency,
        unit: Unit::Second,
        better: Better::Lower,
        limit: "the pipeline of the nearest cache, then the way to the level that holds the data",
    },
    MetricSpec {
        name: "best_latency",
        title: "load latency, best sample",
        role: MetricRole::Latency,
        unit: Unit::Second,
        better: Better::Lower,
        limit: "as of the latency",
    },
    MetricSpec {
        name: "latency_clocks",
        title: "load latency in clocks",
        role: MetricRole::Count,
        unit: Unit::Count,
        better: Better::Lower,
        limit: "3 to 5 clocks in the nearest cache",
    },
    MetricSpec {
        name: "injected_bandwidth",
        title: "bandwidth beside it",
        role: MetricRole::Rate,
        unit: Unit::BytePerSecond,
        better: Better::Higher,
        limit: "the bandwidth of the memory",
    },
];

/// Loads that nothing foresees.
const RANDOM: &[(&str, &[&str])] = &[("order", &["random"])];

const DERIVES: &[DeriveSpec] = &[
    DeriveSpec { metric: "best_latency", ..DeriveSpec::along(Derivation::Best, "latency") },
    DeriveSpec { only: RANDOM, ..DeriveSpec::of(Derivation::Clocks, "latency_clocks") },
    DeriveSpec { only: RANDOM, ..DeriveSpec::along(Derivation::CacheSize, "size") },
    DeriveSpec {
        only: &[("order", &["sequential"])],
        ..DeriveSpec::along(Derivation::PrefetchEnds, "stride")
    },
    DeriveSpec { metric: "injected_bandwidth", ..DeriveSpec::along(Derivation::Loaded, "load") },
    DeriveSpec { metric: "injected_bandwidth", ..DeriveSpec::along(Derivation::Loaded, "pause") },
];
