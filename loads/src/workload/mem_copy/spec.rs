//! Knows the parameters and figures of `mem_copy` as data; knows nothing of loops.

use crate::engine::alone::{PAGES, PLACEMENT, SIZES, THREADS};
use desk::record::{
    Better, Derivation, DeriveSpec, MetricRole, MetricSpec, ParamKind, ParamRole, ParamSpec, Place,
    WorkloadSpec,
};
use desk::unit::Unit;

/// What it is.
pub const SPEC: WorkloadSpec = WorkloadSpec {
    name: "mem_copy",
    question: "which way of copying memory is fastest, at which size",
    place: Place::Machine,
    revision: 1,
    params: PARAMS,
    metrics: METRICS,
    quantiles: &[],
    derives: DERIVES,
};

/// The ways of copying, as they stand in plans.
pub(super) const ALGORITHMS: &[&str] = &[
    "best",
    "libc",
    "compiler",
    "registers",
    "registers_prefetched",
    "registers_nt",
    "rep_movsb",
    "rep_movsq",
    "sse",
    "sse_prefetched",
    "sse_nt",
    "sse_nt_prefetched",
    "avx2",
    "avx2_prefetched",
    "avx2_nt",
    "avx2_nt_prefetched",
    "avx512",
    "avx512_prefetched",
    "avx512_nt",
    "avx512_nt_prefetched",
    "block_4k",
    "block_16k",
    "pages",
];

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "algorithm",
        about: "instructions and kind of store; nt is past the caches; best the quickest",
        role: Some(ParamRole::Algorithm),
        kind: ParamKind::choice(ALGORITHMS),
        default: "best",
    },
    PAGES,
    PLACEMENT,
    ParamSpec {
        name: "size",
        about: "bytes of both arrays of one thread, or a level of the memory hierarchy",
        role: Some(ParamRole::WorkingSet),
        kind: ParamKind::size(8 << 10, 4 << 30).or(SIZES),
        default: "L2",
    },
    THREADS,
];

const METRICS: &[MetricSpec] = &[
    MetricSpec {
        name: "bandwidth",
        title: "copy bandwidth, read and written",
        role: MetricRole::Rate,
        unit: Unit::BytePerSecond,
        better: Better::Higher,
        limit: "what the level of memory delivers, read and written together",
    },
    MetricSpec {
        name: "best_bandwidth",
        title: "best copy bandwidth",
        role: MetricRole::Rate,
        unit: Unit::BytePerSecond,
        better: Better::Higher,
        limit: "as bandwidth; the quickest sample of each thread",
    },
];

const DERIVES: &[DeriveSpec] = &[
    DeriveSpec { metric: "best_bandwidth", ..DeriveSpec::along(Derivation::Best, "bandwidth") },
    DeriveSpec::along(Derivation::Ways, "algorithm"),
    DeriveSpec::along(Derivation::Scaling, "threads"),
    DeriveSpec {
        only: &[("size", &["memory"])],
        ..DeriveSpec::of(Derivation::MemoryCopy, "bandwidth")
    },
];
