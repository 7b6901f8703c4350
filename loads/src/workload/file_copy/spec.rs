//! Knows the parameters and figures of `file_copy` as data; knows nothing of sockets or files.

use crate::engine::exchange::{PLACEMENT, STREAMS};
use crate::engine::times::{RESPONSE, percentile};
use desk::record::{
    Better, MetricRole, MetricSpec, ParamKind, ParamRole, ParamSpec, Place, QuantileSpec,
    WorkloadSpec,
};
use desk::unit::Unit;

/// What it is.
pub const SPEC: WorkloadSpec = WorkloadSpec {
    name: "file_copy",
    question: "how fast files go from storage of one host to storage of another",
    place: Place::Path,
    revision: 1,
    params: PARAMS,
    metrics: METRICS,
    quantiles: QUANTILES,
    derives: &[],
};

/// Bytes of a call.
pub const BLOCK_SIZE: ParamSpec = ParamSpec {
    name: "block_size",
    about: "bytes of a call that reads, sends, receives or writes: a multiple of 4 KiB",
    role: None,
    kind: ParamKind::size(4096, 4 << 20),
    default: "256 KiB",
};

/// Which way files go.
pub const DIRECTION: ParamSpec = ParamSpec {
    name: "direction",
    about: "seen from the system under test: it sends files, or receives them; between: the first \
            client sends to the others",
    role: Some(ParamRole::Direction),
    kind: ParamKind::choice(&["transmit", "receive", "between"]),
    default: "transmit",
};

/// How a file gets to the socket.
pub const ENGINE: ParamSpec = ParamSpec {
    name: "engine",
    about: "how the source sends: copy reads and sends, sendfile and splice leave that to the \
            kernel and need a file",
    role: Some(ParamRole::Engine),
    kind: ParamKind::choice(&["copy", "sendfile", "splice"]),
    default: "copy",
};

/// Bytes of a file.
pub const FILE_SIZE: ParamSpec = ParamSpec {
    name: "file_size",
    about: "bytes of a file; every connection has one of these at its source",
    role: Some(ParamRole::Size),
    kind: ParamKind::size(1, 1 << 40),
    default: "64 MiB",
};

/// Where files end.
pub const SINK: ParamSpec = ParamSpec {
    name: "sink",
    about: "where a file goes: memory (compared, then dropped), cache (written to a file), disk \
            (past the page cache, and synced before the copy is complete)",
    role: None,
    kind: ParamKind::choice(&["memory", "cache", "disk"]),
    default: "memory",
};

/// Where their files are made.
pub const SINK_DIRECTORY: ParamSpec = ParamSpec {
    name: "sink_directory",
    about: "where files without a name are written; state is where stend keeps its own",
    role: None,
    kind: ParamKind::path_or(&["state"]),
    default: "state",
};

/// Where files come from.
pub const SOURCE: ParamSpec = ParamSpec {
    name: "source",
    about: "where a file comes from: memory (a buffer), cache (a file in the page cache), disk (a \
            file that is dropped from the page cache before each copy)",
    role: None,
    kind: ParamKind::choice(&["memory", "cache", "disk"]),
    default: "cache",
};

/// Where they are kept.
pub const SOURCE_DIRECTORY: ParamSpec = ParamSpec {
    name: "source_directory",
    about: "where the files without a name that are sent are made; state is where stend keeps its \
            own",
    role: None,
    kind: ParamKind::path_or(&["state"]),
    default: "state",
};

const PARAMS: &[ParamSpec] = &[
    BLOCK_SIZE,
    DIRECTION,
    ENGINE,
    FILE_SIZE,
    PLACEMENT,
    SINK,
    SINK_DIRECTORY,
    SOURCE,
    SOURCE_DIRECTORY,
    STREAMS,
];

/// A window in which no copy was complete has none.
const QUANTILES: &[QuantileSpec] = &[
    QuantileSpec { metric: "p50", of: RESPONSE, at: 0.5, always: false },
    QuantileSpec { metric: "p99", of: RESPONSE, at: 0.99, always: false },
];

/// What bounds a copy.
const LIMIT: &str = "the slowest of: the disk of the source, the goodput that the line rate \
                     leaves, the CPU, the disk of the sink";

const METRICS: &[MetricSpec] = &[
    MetricSpec {
        name: "throughput",
        title: "throughput",
        role: MetricRole::Rate,
        unit: Unit::BitPerSecond,
        better: Better::Higher,
        limit: LIMIT,
    },
    percentile("p50", "median time of a copy", LIMIT),
    percentile("p99", "99th percentile of the time of a copy", LIMIT),
];
