//! Knows the parameters and figures of `disk` as data; knows nothing of files.

use crate::engine::access::PRESETS;
use crate::engine::pace::{ARRIVALS, OFFERED};
use crate::engine::times::{PERCENTILES, percentile};
use desk::record::{
    Better, Derivation, DeriveSpec, MetricRole, MetricSpec, ParamKind, ParamRole, ParamSpec, Place,
    QuantileSpec, WorkloadSpec,
};
use desk::unit::{Kind, Unit};

/// What it is.
pub const SPEC: WorkloadSpec = WorkloadSpec {
    name: "disk",
    question: "how many blocks a second a disk reads or writes, and how long each takes",
    place: Place::Machine,
    revision: 1,
    params: PARAMS,
    metrics: METRICS,
    quantiles: QUANTILES,
    derives: DERIVES,
};

const PARAMS: &[ParamSpec] = &[
    ARRIVALS,
    BLOCK_SIZE,
    ParamSpec {
        name: "cache",
        about: "direct: past the page cache (O_DIRECT); buffered: through it",
        role: None,
        kind: ParamKind::choice(&["direct", "buffered"]),
        default: "direct",
    },
    COMPRESSIBLE,
    ParamSpec {
        name: "directory",
        about: "where the file without a name is made; state is where stend keeps its own",
        role: None,
        kind: ParamKind::path_or(&["state"]),
        default: "state",
    },
    DISK_PLACE,
    DUPLICATED,
    ParamSpec {
        name: "engine",
        about: "uring: io_uring; pread: pread and pwrite, a thread for each slot of the queue",
        role: Some(ParamRole::Engine),
        kind: ParamKind::choice(&["uring", "pread"]),
        default: "uring",
    },
    ParamSpec {
        name: "file_size",
        about: "bytes of the file, or of the part of the disk, which are written before the \
                window; all threads share them",
        role: None,
        kind: ParamKind::size(1 << 20, 1 << 40),
        default: "64 MiB",
    },
    FILLS,
    HOT_PLACES,
    HOT_SHARE,
    LOCALITY,
    MIX_READS,
    OFFERED,
    OPERATION,
    ParamSpec {
        name: "pattern",
        about: "random: any block of the thread's part of the file; sequential: one after another; \
                or sizes, reads and places as IOmeter's patterns mix them, or as a file of IOmeter \
                (.icf) does",
        role: None,
        kind: ParamKind::path_or(&[
            "random",
            "sequential",
            PRESETS[0],
            PRESETS[1],
            PRESETS[2],
            PRESETS[3],
        ]),
        default: "random",
    },
    RING[0],
    ParamSpec {
        name: "queue_depth",
        about: "operations under way at once, of each thread",
        role: Some(ParamRole::Depth),
        kind: ParamKind::count(1, 256),
        default: "1",
    },
    RING[1],
    SKEW,
    SPECIFICATION,
    ParamSpec {
        name: "round",
        about: "time of a round; the steady state is looked for in rounds of the window",
        role: Some(ParamRole::Round),
        kind: ParamKind::within(Kind::Duration, 0.1, 3600.0),
        default: "1 s",
    },
    RING[2],
    ParamSpec {
        name: "sync_every",
        about: "fsync after every so many writes of a thread; 0 for never",
        role: None,
        kind: ParamKind::count(0, 1_000_000),
        default: "0",
    },
    RING[3],
    ParamSpec {
        name: "threads",
        about: "threads, one a CPU, each with its part of the file; or all CPUs",
        role: Some(ParamRole::Concurrency),
        kind: ParamKind::count(1, 1024).or(&["all"]),
        default: "1",
    },
    WHOLE_DISK,
];

/// Largest operation, bytes.
pub const LARGEST: u64 = 4 << 20;

/// The word of a parameter that a list of accesses decides.
pub const LISTED: &str = "listed";

/// Bytes of each operation.
pub const BLOCK_SIZE: ParamSpec = ParamSpec {
    name: "block_size",
    about: "bytes of one operation, whole sectors of 512 B; listed: as the pattern lists them",
    role: Some(ParamRole::Size),
    kind: ParamKind::size(512, LARGEST).by(512.0).or(&[LISTED]),
    default: "4 KiB",
};

/// How often everything is written in order.
pub const FILLS: ParamSpec = ParamSpec {
    name: "fills",
    about: "how often the file or the disk is written in order before the window; 2 fills of a \
            whole disk are the preconditioning of SNIA's tests",
    role: None,
    kind: ParamKind::count(1, 10),
    default: "1",
};

/// The disk that is overwritten.
pub const WHOLE_DISK: ParamSpec = ParamSpec {
    name: "whole_disk",
    about: "none: a file in directory; or the path of a whole disk, whose content is lost; the \
            command must name it with --destroy and --serial",
    role: None,
    kind: ParamKind::path_or(&["none"]),
    default: "none",
};

/// Which part of it.
pub const DISK_PLACE: ParamSpec = ParamSpec {
    name: "disk_place",
    about: "of whole_disk: where the part of file_size begins, in percent of what it leaves of the \
            disk; 0 is the begin of the disk, with 100 the part is its end",
    role: None,
    kind: ParamKind::count(0, 100),
    default: "0",
};

/// Of a mix.
pub const MIX_READS: ParamSpec = ParamSpec {
    name: "mix_reads",
    about: "of operation = mix: reads of a hundred operations; the others are writes",
    role: None,
    kind: ParamKind::count(0, 100),
    default: "70",
};

/// What is done.
pub const OPERATION: ParamSpec = ParamSpec {
    name: "operation",
    about: "read, write, or mix, see mix_reads; trim, and write again what was trimmed; append to \
            a file that begins empty; listed: as the pattern lists them",
    role: None,
    kind: ParamKind::choice(&["read", "write", "mix", "trim", "append", LISTED]),
    default: "read",
};

/// Which of a file.
pub const SPECIFICATION: ParamSpec = ParamSpec {
    name: "specification",
    about: "of a pattern that is a file of IOmeter: which of its access specifications, from 1 on",
    role: None,
    kind: ParamKind::count(1, 1000),
    default: "1",
};

/// Where operations at random go.
pub const LOCALITY: ParamSpec = ParamSpec {
    name: "locality",
    about: "places of operations at random: uniform, each alike; zipf, by Zipf's law, see skew; \
            hot, most of them at the first places, see hot_share and hot_places",
    role: None,
    kind: ParamKind::choice(&["uniform", ZIPF, HOT]),
    default: "uniform",
};

/// The word for places by Zipf's law.
pub const ZIPF: &str = "zipf";

/// The word for places of which the first are hot.
pub const HOT: &str = "hot";

/// Of Zipf's law.
pub const SKEW: ParamSpec = ParamSpec {
    name: "skew",
    about: "of locality = zipf: the exponent of the law in hundredths; 120 is 1.2",
    role: None,
    kind: ParamKind::count(1, 400),
    default: "120",
};

/// Of hot places.
pub const HOT_SHARE: ParamSpec = ParamSpec {
    name: "hot_share",
    about: "of locality = hot: of a hundred operations at random, those at hot places",
    role: None,
    kind: ParamKind::count(1, 99),
    default: "90",
};

/// Which they are.
pub const HOT_PLACES: ParamSpec = ParamSpec {
    name: "hot_places",
    about: "of locality = hot: percent of the thread's part of the file, from its begin on, that \
            are hot",
    role: None,
    kind: ParamKind::count(1, 99),
    default: "10",
};

/// Of the content of each sector.
pub const COMPRESSIBLE: ParamSpec = ParamSpec {
    name: "compressible",
    about: "percent of the bytes of each sector of 512 B that are zeros, at its end",
    role: None,
    kind: ParamKind::count(0, 90),
    default: "0",
};

/// Of the content of blocks.
pub const DUPLICATED: ParamSpec = ParamSpec {
    name: "duplicated",
    about: "percent of the blocks with content that other blocks have, too, as deduplication finds \
            them",
    role: None,
    kind: ParamKind::count(0, 100),
    default: "0",
};

/// Of the engine `uring`: how its rings are made and used.
pub const RING: [ParamSpec; 4] = [
    ParamSpec {
        name: "polled_submission",
        about: "of engine = uring: whether a thread of the kernel takes the operations (SQPOLL)",
        role: None,
        kind: ParamKind::choice(&["off", "on"]),
        default: "off",
    },
    ParamSpec {
        name: "registered_buffers",
        about: "of engine = uring: whether the file and all buffers are registered (fixed \
                buffers); auto: where the limit on locked memory allows",
        role: None,
        kind: ParamKind::choice(&["auto", "on", "off"]),
        default: "auto",
    },
    ParamSpec {
        name: "submission",
        about: "of engine = uring: a system call for each operation, or for all that there is room \
                for",
        role: None,
        kind: ParamKind::choice(&["each", "batch"]),
        default: "each",
    },
    ParamSpec {
        name: "task_run",
        about: "of engine = uring: completions are handled at any system call (COOP_TASKRUN), or \
                where the thread waits (DEFER_TASKRUN)",
        role: None,
        kind: ParamKind::choice(&["cooperative", "deferred"]),
        default: "cooperative",
    },
];

/// What bounds the rate.
const RATE_LIMIT: &str = "the disk and its way: seeks, flash channels, queue; then the CPU";

/// What bounds the response times.
const ACCESS: &str = "the access time of the disk, and the queue before it";

const METRICS: &[MetricSpec] = &[
    MetricSpec {
        name: "operations",
        title: "disk operations",
        role: MetricRole::Rate,
        unit: Unit::OperationPerSecond,
        better: Better::Higher,
        limit: RATE_LIMIT,
    },
    MetricSpec {
        name: "throughput",
        title: "disk throughput",
        role: MetricRole::Rate,
        unit: Unit::BitPerSecond,
        better: Better::Higher,
        limit: "the interface of the disk, else as of the operations",
    },
    percentile("p50", "median response time", ACCESS),
    percentile("p90", "90th percentile of the response time", ACCESS),
    percentile("p99", "99th percentile of the response time", ACCESS),
    percentile("p999", "99.9th percentile of the response time", ACCESS),
    percentile("read_p99", "99th percentile of the response time of reads", ACCESS),
    percentile("trim_p99", "99th percentile of the response time of trims", ACCESS),
    percentile("write_p99", "99th percentile of the response time of writes", ACCESS),
];

/// Those of one kind of operation are of loads that mix them.
const QUANTILES: &[QuantileSpec] = &[
    PERCENTILES[0],
    PERCENTILES[1],
    PERCENTILES[2],
    PERCENTILES[3],
    QuantileSpec { metric: "read_p99", of: "read", at: 0.99, always: false },
    QuantileSpec { metric: "trim_p99", of: "trim", at: 0.99, always: false },
    QuantileSpec { metric: "write_p99", of: "write", at: 0.99, always: false },
];

const DERIVES: &[DeriveSpec] = &[
    DeriveSpec::along(Derivation::Saturation, "threads"),
    DeriveSpec::along(Derivation::Scaling, "threads"),
];
