//! Knows the parameters and figures of `http` as data; knows nothing of sockets.

use crate::engine::exchange::{ARRIVALS, OFFERED, PERCENTILES, PIPELINED, PLACEMENT, percentile};
use desk::record::{
    Better, MetricRole, MetricSpec, ParamKind, ParamRole, ParamSpec, Place, WorkloadSpec,
};
use desk::unit::Unit;

/// What it is.
pub const SPEC: WorkloadSpec = WorkloadSpec {
    name: "http",
    question: "how many requests a second a web server answers, and how long each waits",
    place: Place::Path,
    revision: 1,
    params: &[
        ACCESS_LOG,
        ARRIVALS,
        COMPARED,
        CONCURRENCY,
        OFFERED,
        OPCACHE,
        PAGE,
        PHP_FUNCTIONS,
        PIPELINED,
        PLACEMENT,
        REQUESTS_PER_CONNECTION,
        RESPONSE_SIZE,
        SERVER,
        TCP_NODELAY,
        TCP_NOPUSH,
        TLS,
        WORKERS,
    ],
    metrics: METRICS,
    quantiles: PERCENTILES,
    derives: &[],
};

/// The server that is in this program.
pub const BUILTIN: &str = "builtin";
/// Those that run pages of PHP.
pub const WITH_PHP: [&str; 2] = ["apache_prefork_php", "nginx_fpm"];

/// Of a setting of a server that is on or off.
const ON_OFF: ParamKind = ParamKind::choice(&["on", "off"]);

/// A line for each request.
pub const ACCESS_LOG: ParamSpec = ParamSpec {
    name: "access_log",
    about: "of a server that is not builtin: a line for each request, in a file in memory",
    role: None,
    kind: ON_OFF,
    default: "off",
};

/// The program under test.
pub const SERVER: ParamSpec = ParamSpec {
    name: "server",
    about: "what answers: builtin, which is in this program, one that must be installed, or one of \
            your own (http://ADDRESS:PORT/PAGE, with --i-own ADDRESS)",
    role: Some(ParamRole::Engine),
    kind: ParamKind::url_or(&["apache_event", WITH_PHP[0], BUILTIN, "nginx", WITH_PHP[1]]),
    default: BUILTIN,
};

/// The compiled programs of PHP.
pub const OPCACHE: ParamSpec = ParamSpec {
    name: "opcache",
    about: "of PHP: whether a compiled page is kept for the next request",
    role: None,
    kind: ON_OFF,
    default: "on",
};

/// A page of PHP that sends a file, and one that sends what a table of MariaDB holds.
pub const PHP: &str = "php";
pub const PHP_SQL: &str = "php_sql";

/// What makes the body.
pub const PAGE: ParamSpec = ParamSpec {
    name: "page",
    about: "what is asked for: a file, or a page of PHP that sends it from a file or a table",
    role: None,
    kind: ParamKind::choice(&["file", PHP, PHP_SQL]),
    default: "file",
};

/// Code of PHP.
pub const PHP_FUNCTIONS: ParamSpec = ParamSpec {
    name: "php_functions",
    about: "of a page of PHP: functions in the library that it includes; 0: no library",
    role: None,
    kind: ParamKind::count(0, 10_000),
    default: "0",
};

/// TCP_NODELAY.
pub const TCP_NODELAY: ParamSpec = ParamSpec {
    name: "tcp_nodelay",
    about: "of nginx: off lets Nagle's algorithm hold back what does not fill a segment",
    role: None,
    kind: ON_OFF,
    default: "on",
};

/// TCP_CORK.
pub const TCP_NOPUSH: ParamSpec = ParamSpec {
    name: "tcp_nopush",
    about: "of nginx: whether head and body wait for a full segment (TCP_CORK)",
    role: None,
    kind: ON_OFF,
    default: "off",
};

/// TLS 1.3.
pub const TLS: ParamSpec = ParamSpec {
    name: "tls",
    about: "TLS 1.3 with AES-128-GCM, X25519, a key on P-256: off; each handshake full; or \
            resumed by a ticket, but for the first of each slot",
    role: None,
    kind: ParamKind::choice(&["full", "off", "resumed"]),
    default: "off",
};

/// Processes that answer.
pub const WORKERS: ParamSpec = ParamSpec {
    name: "workers",
    about: "of nginx processes, cpus: one for each CPU of the server; of Apache connections that \
            it serves at once, cpus: 400, with prefork 256; of nginx_fpm processes of PHP, cpus: \
            8 for each CPU",
    role: None,
    kind: ParamKind::count(1, 1024).or(&["cpus"]),
    default: "cpus",
};

/// Bodies that are compared.
pub const COMPARED: ParamSpec = ParamSpec {
    name: "compared",
    about: "of bodies above 64 KiB one in so many is compared byte by byte, of others the length",
    role: None,
    kind: ParamKind::count(1, 1_000_000),
    default: "16",
};

/// Connections at once.
const CONCURRENCY: ParamSpec = ParamSpec {
    name: "concurrency",
    about: "connections of each client at once; each has one request under way, or `pipelined`",
    role: Some(ParamRole::Concurrency),
    kind: ParamKind::count(1, 1000),
    default: "10",
};

/// When connections are made anew.
pub const REQUESTS_PER_CONNECTION: ParamSpec = ParamSpec {
    name: "requests_per_connection",
    about: "requests after which a connection is made anew; 1: Connection: close; all: never",
    role: None,
    kind: ParamKind::count(1, 1_000_000).or(&["all"]),
    default: "all",
};

/// Bytes of a body.
pub const RESPONSE_SIZE: ParamSpec = ParamSpec {
    name: "response_size",
    about: "bytes of the body that the server sends; of a server of your own its page has so many",
    role: Some(ParamRole::Size),
    kind: ParamKind::size(1, 64 << 20),
    default: "1 B",
};

const METRICS: &[MetricSpec] = &[
    MetricSpec {
        name: "requests",
        title: "requests",
        role: MetricRole::Rate,
        unit: Unit::OperationPerSecond,
        better: Better::Higher,
        limit: "the CPU of the server: system calls of each request; with large bodies the line",
    },
    MetricSpec {
        name: "throughput",
        title: "throughput of the bodies",
        role: MetricRole::Rate,
        unit: Unit::BitPerSecond,
        better: Better::Higher,
        limit: "the line, or the copies of a body between kernel and program",
    },
    percentile("p50", "median response time"),
    percentile("p90", "90th percentile of the response time"),
    percentile("p99", "99th percentile of the response time"),
    percentile("p999", "99.9th percentile of the response time"),
];
