//! Knows the parameters and figures of `http` as data; knows nothing of sockets.

use super::catalogue::PAGES_MAX;
use crate::engine::exchange::{LIFETIME, PIPELINED, PLACEMENT, percentile};
use crate::engine::pace::{ARRIVALS, OFFERED};
use crate::engine::times::PERCENTILES;
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
        BODY,
        CHECK,
        COMPARED,
        CONCURRENCY,
        COOKIE_SIZE,
        DATABASE,
        DATABASE_CONNECTIONS,
        DATABASE_MEMORY,
        HEADERS,
        LIFETIME,
        METHOD,
        OFFERED,
        OPCACHE,
        PAGE,
        PAGES,
        PHP_FUNCTIONS,
        PIPELINED,
        PLACEMENT,
        POPULARITY,
        REQUEST_SIZE,
        REQUESTS_PER_CONNECTION,
        RESPONSE_SIZE,
        SERVER,
        SIZES,
        TCP_NODELAY,
        TCP_NOPUSH,
        TLS,
        URLS,
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

/// What requests post to a server that stend did not start.
pub const BODY: ParamSpec = ParamSpec {
    name: "body",
    about: "of a server of your own: a file of at most 1 MiB that each request posts; none: \
            request_size",
    role: None,
    kind: ParamKind::path_or(&["none"]),
    default: "none",
};

/// How responses of a server that stend did not start are checked.
pub const CHECK: ParamSpec = ParamSpec {
    name: "check",
    about: "of a server of your own: what a response must have in common with the first for its \
            path: the content, the length, or the status alone (2xx)",
    role: None,
    kind: ParamKind::choice(&["content", LENGTH, STATUS]),
    default: "content",
};
pub const LENGTH: &str = "length";
pub const STATUS: &str = "status";

/// A field of each request.
pub const COOKIE_SIZE: ParamSpec = ParamSpec {
    name: "cookie_size",
    about: "bytes of a field `Cookie` in each request; 0: none",
    role: None,
    kind: ParamKind::size(0, 4096),
    default: "0 B",
};

/// What holds the table of a page of PHP.
pub const DATABASE: ParamSpec = ParamSpec {
    name: "database",
    about: "of page = php_sql: what the page reads its body from, beside the server",
    role: None,
    kind: ParamKind::choice(&["mariadb", POSTGRES, REDIS]),
    default: "mariadb",
};
pub const POSTGRES: &str = "postgres";
pub const REDIS: &str = "redis";

/// Connections to it.
pub const DATABASE_CONNECTIONS: ParamSpec = ParamSpec {
    name: "database_connections",
    about: "of page = php_sql: a new connection to the database for each page, or a persistent \
            one of each process of PHP",
    role: None,
    kind: ParamKind::choice(&["new", PERSISTENT]),
    default: "new",
};
pub const PERSISTENT: &str = "persistent";

/// Its memory.
pub const DATABASE_MEMORY: ParamSpec = ParamSpec {
    name: "database_memory",
    about: "of page = php_sql: bytes for rows in memory: innodb_buffer_pool_size, shared_buffers, \
            maxmemory",
    role: None,
    kind: ParamKind::size(16 << 20, 256 << 20),
    default: "128 MiB",
};

/// Fields of requests to a server that stend did not start.
pub const HEADERS: ParamSpec = ParamSpec {
    name: "headers",
    about: "of a server of your own: a file of header fields, one a line, which each request has; \
            they replace those that it would have",
    role: None,
    kind: ParamKind::path_or(&["none"]),
    default: "none",
};

/// The method of requests to a server that stend did not start.
pub const METHOD: ParamSpec = ParamSpec {
    name: "method",
    about: "of a server of your own: auto is GET, and POST where something is posted",
    role: None,
    kind: ParamKind::choice(&["auto", "delete", "get", "options", "patch", "post", "put"]),
    default: "auto",
};

/// The program under test.
pub const SERVER: ParamSpec = ParamSpec {
    name: "server",
    about: "what answers: builtin, which is in this program, one that must be installed, or one of \
            your own (http://ADDRESS:PORT/PAGE or https, with --i-own ADDRESS)",
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

/// How many pages.
pub const PAGES: ParamSpec = ParamSpec {
    name: "pages",
    about: "different files or rows that requests choose among, each with other content",
    role: None,
    kind: ParamKind::count(1, PAGES_MAX),
    default: "1",
};

/// Which pages are asked for.
pub const POPULARITY: ParamSpec = ParamSpec {
    name: "popularity",
    about: "of several pages: each as often, or by Zipf's law (exponent 1); with specweb96 of its \
            directories",
    role: None,
    kind: ParamKind::choice(&["uniform", "zipf"]),
    default: "uniform",
};

/// Bytes that a request posts.
pub const REQUEST_SIZE: ParamSpec = ParamSpec {
    name: "request_size",
    about: "bytes that each request posts, which the server compares; 0: GET",
    role: None,
    kind: ParamKind::size(0, 1 << 20),
    default: "0 B",
};

/// Sizes of pages.
pub const SIZES: ParamSpec = ParamSpec {
    name: "sizes",
    about: "of several pages: response_size each, or directories of 36 sizes from 102 B to 900 KiB \
            by their shares in SPECweb96",
    role: None,
    kind: ParamKind::choice(&["same", "specweb96"]),
    default: "same",
};

/// A page of PHP that sends a file, and one that sends what a table holds.
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

/// Which paths of a server that stend did not start are requested.
pub const URLS: ParamSpec = ParamSpec {
    name: "urls",
    about: "of a server of your own: a file with a path a line, or an access log, whose GETs are \
            sent in its order; none: the page of its address",
    role: None,
    kind: ParamKind::path_or(&["none"]),
    default: "none",
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
