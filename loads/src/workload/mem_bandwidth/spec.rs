//! Knows the parameters and figures of `mem_bandwidth` as data; knows nothing of loops.

use crate::engine::alone::{PAGES, PLACEMENT, SIZES, THREADS};
use desk::record::{
    Better, Derivation, DeriveSpec, MetricRole, MetricSpec, ParamKind, ParamRole, ParamSpec, Place,
    WorkloadSpec,
};
use desk::unit::Unit;

/// What it is.
pub const SPEC: WorkloadSpec = WorkloadSpec {
    name: "mem_bandwidth",
    question: "how many bytes a second loads and stores move in caches and memory",
    place: Place::Machine,
    revision: 1,
    params: PARAMS,
    metrics: METRICS,
    quantiles: &[],
    derives: DERIVES,
};

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "isa",
        about: "instructions; rep is the CPU's own string operation; best the widest there are",
        role: None,
        kind: ParamKind::choice(&["best", "scalar", "sse", "avx2", "avx512", "rep", "rep_q"]),
        default: "best",
    },
    ParamSpec {
        name: "operation",
        about: "read; write a = s; copy a = b; scale a = s b; add a = b + c; triad a = b + s c",
        role: None,
        kind: ParamKind::choice(&["read", "write", "copy", "scale", "add", "triad"]),
        default: "triad",
    },
    PAGES,
    PLACEMENT,
    ParamSpec {
        name: "size",
        about: "bytes of all arrays of one thread, or a level of the memory hierarchy",
        role: Some(ParamRole::WorkingSet),
        kind: ParamKind::size(8 << 10, 4 << 30).or(SIZES),
        default: "L2",
    },
    ParamSpec {
        name: "store",
        about: "temporal: through the caches; nontemporal: past them",
        role: None,
        kind: ParamKind::choice(&["temporal", "nontemporal"]),
        default: "temporal",
    },
    THREADS,
];

const METRICS: &[MetricSpec] = &[
    MetricSpec {
        name: "bandwidth",
        title: "bandwidth",
        role: MetricRole::Rate,
        unit: Unit::BytePerSecond,
        better: Better::Higher,
        limit: "what the level of memory delivers; in the first cache ports times their width",
    },
    MetricSpec {
        name: "bus_bandwidth",
        title: "bandwidth with write-allocate",
        role: MetricRole::Rate,
        unit: Unit::BytePerSecond,
        better: Better::Higher,
        limit: "transfers a second of the memory channels times their width",
    },
    MetricSpec {
        name: "best_bandwidth",
        title: "best bandwidth",
        role: MetricRole::Rate,
        unit: Unit::BytePerSecond,
        better: Better::Higher,
        limit: "as bandwidth; the quickest sample of each thread",
    },
    MetricSpec {
        name: "bytes_per_clock",
        title: "bytes a clock and thread",
        role: MetricRole::Count,
        unit: Unit::Byte,
        better: Better::Higher,
        limit: "load and store ports times the width of a register",
    },
];

/// Reads of memory.
const READS: &[(&str, &[&str])] = &[("operation", &["read"]), ("size", &["memory"])];

const DERIVES: &[DeriveSpec] = &[
    DeriveSpec { metric: "best_bandwidth", ..DeriveSpec::along(Derivation::Best, "bandwidth") },
    DeriveSpec {
        only: &[("operation", &["read"])],
        ..DeriveSpec::along(Derivation::CacheSize, "size")
    },
    DeriveSpec::along(Derivation::Saturation, "threads"),
    DeriveSpec::along(Derivation::Scaling, "threads"),
    DeriveSpec { only: READS, ..DeriveSpec::of(Derivation::BytesPerClock, "bytes_per_clock") },
    DeriveSpec { only: READS, ..DeriveSpec::of(Derivation::MemoryRead, "bandwidth") },
    DeriveSpec {
        only: &[("operation", &["copy"]), ("size", &["memory"])],
        ..DeriveSpec::of(Derivation::MemoryCopy, "bandwidth")
    },
];
