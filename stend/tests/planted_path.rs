//! Knows what holds a path of files and streams down, because it plants it from outside while stend
//! measures: a capped link, quotas of CPU time, slow disks, slow clients, a CPU full of received
//! packets; and eight loads beside which nothing is planted.
//!
//! stend hears of none of it. A cause must be named, or "none seen" be said.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "helpers of tests stand outside test functions"
)]

#[allow(dead_code, reason = "each test takes what it needs of it")]
mod planted;

use desk::verdict::LimitKind;
use planted::{Cause, LOOP, Place, Plant, RENO, ask_all, free};

/// Causes of which so many must be named; none may be taken for another.
const NAMED_LEAST: usize = 20;
/// Cases with nothing planted.
const FREE: usize = 8;
/// What is planted here, and must not be said of a free load.
const PLANTED: [LimitKind; 11] = [
    LimitKind::SetRate,
    LimitKind::Shaper,
    LimitKind::QueueDrops,
    LimitKind::ClientQuota,
    LimitKind::ServerQuota,
    LimitKind::Disk,
    LimitKind::OtherPrograms,
    LimitKind::ReceiveWindow,
    LimitKind::SoftirqCpu,
    LimitKind::SendBuffer,
    LimitKind::PathLosses,
];

const fn cause(name: &'static str, load: &'static str, plant: Plant, right: LimitKind) -> Cause {
    Cause { name, path: None, load, plant, right }
}

/// The same, of a load behind a relay with these settings.
const fn far(
    name: &'static str,
    path: &'static str,
    load: &'static str,
    plant: Plant,
    right: LimitKind,
) -> Cause {
    Cause { name, path: Some(path), load, plant, right }
}

const FILE: &str = "workload = \"file_copy\"\nfile_size = \"4 MiB\"";
const TO_CLIENT: &str = "workload = \"file_copy\"\nfile_size = \"4 MiB\"\nsource = \"memory\"";
const TO_SERVER: &str = "workload = \"file_copy\"\nfile_size = \"4 MiB\"\nsource = \"memory\"\n\
     direction = \"receive\"";
const READ: &str = "workload = \"file_copy\"\nfile_size = \"1 MiB\"\nsource = \"disk\"\n\
     source_directory = \"/var/tmp\"";
const WRITTEN: &str = "workload = \"file_copy\"\nfile_size = \"1 MiB\"\nsink = \"disk\"\n\
     sink_directory = \"/var/tmp\"";
const SENT: &str = "workload = \"file_copy\"\nfile_size = \"1 MiB\"\nsource = \"disk\"\n\
     source_directory = \"/var/tmp\"\ndirection = \"receive\"\nengine = \"sendfile\"";

const BOTH: &[&str] = &["sut", "c01"];
const ROUND_TRIP: &str = "path_delay = \"20 ms\"";
const LOSSES: &str = "path_delay = \"10 ms\"\npath_loss = \"1 %\"";
const LOST: LimitKind = LimitKind::PathLosses;

const CAUSES: [Cause; 23] = [
    cause(
        "a link of 300 Mbit/s at a client, files to the server",
        TO_SERVER,
        Plant::Tc(
            "c01",
            "",
            &["qdisc replace dev DEV root tbf rate 300mbit burst 64k latency 10ms"],
        ),
        LimitKind::SetRate,
    ),
    cause(
        "a link of 300 Mbit/s at the switch, files to the client",
        FILE,
        Plant::Tc(
            "switch",
            "c01",
            &["qdisc replace dev DEV root tbf rate 300mbit burst 64k latency 10ms"],
        ),
        LimitKind::SetRate,
    ),
    cause(
        "a link of 1 Gbit/s at the server, a stream to the client",
        "streams = 2",
        Plant::Tc("sut", "", &["qdisc replace dev DEV root tbf rate 1gbit burst 64k latency 10ms"]),
        LimitKind::SetRate,
    ),
    cause(
        "a fifth of a CPU for the server, files to the client",
        TO_CLIENT,
        Plant::Quota("sut", 0.2),
        LimitKind::ServerQuota,
    ),
    cause(
        "an eighth of a CPU for the client, files to the client",
        FILE,
        Plant::Quota("c01", 0.125),
        LimitKind::ClientQuota,
    ),
    cause(
        "a fifth of a CPU for the server, a stream from the client",
        "direction = \"receive\"",
        Plant::Quota("sut", 0.2),
        LimitKind::ServerQuota,
    ),
    cause(
        "a disk of 20 MB/s at the source",
        READ,
        Plant::Disk("read", 20_000_000),
        LimitKind::Disk,
    ),
    cause(
        "a disk of 20 MB/s at the sink",
        WRITTEN,
        Plant::Disk("write", 20_000_000),
        LimitKind::Disk,
    ),
    cause(
        "a disk of 30 MB/s at a client that sends",
        SENT,
        Plant::Disk("read", 30_000_000),
        LimitKind::Disk,
    ),
    cause(
        "a client with a receive buffer of 2304 B, files",
        FILE,
        Plant::Sysctl(&["c01"], &["net.ipv4.tcp_rmem=2304 2304 2304"]),
        LimitKind::ReceiveWindow,
    ),
    far(
        "20 ms and a receive buffer of 32 KiB, a stream to the client",
        ROUND_TRIP,
        "",
        Plant::Sysctl(&["c01"], &["net.ipv4.tcp_rmem=4096 32768 32768", RENO]),
        LimitKind::ReceiveWindow,
    ),
    far(
        "20 ms and a receive buffer of 32 KiB, files to the server",
        ROUND_TRIP,
        TO_SERVER,
        Plant::Sysctl(&["sut"], &["net.ipv4.tcp_rmem=4096 32768 32768", RENO]),
        LimitKind::ReceiveWindow,
    ),
    far(
        "20 ms and a send buffer of 32 KiB, a stream from the client",
        ROUND_TRIP,
        "direction = \"receive\"",
        Plant::Sysctl(&["c01"], &["net.ipv4.tcp_wmem=4096 32768 32768", RENO]),
        LimitKind::SendBuffer,
    ),
    far(
        "20 ms and a receive buffer of 64 KiB, a stream to the client",
        ROUND_TRIP,
        "",
        Plant::Sysctl(&["c01"], &["net.ipv4.tcp_rmem=4096 65536 65536", RENO]),
        LimitKind::ReceiveWindow,
    ),
    far(
        "20 ms and a send buffer of 256 KiB, a stream from the client",
        ROUND_TRIP,
        "direction = \"receive\"",
        Plant::Sysctl(&["c01"], &["net.ipv4.tcp_wmem=4096 262144 262144", RENO]),
        LimitKind::SendBuffer,
    ),
    far(
        "1 % of packets lost, a stream to the client",
        LOSSES,
        "",
        Plant::Sysctl(BOTH, &[RENO]),
        LOST,
    ),
    far(
        "1 % of packets lost, a stream from the client",
        LOSSES,
        "direction = \"receive\"",
        Plant::Sysctl(BOTH, &[RENO]),
        LOST,
    ),
    far(
        "1 % of packets lost, files to the client",
        LOSSES,
        FILE,
        Plant::Sysctl(BOTH, &[RENO]),
        LOST,
    ),
    cause(
        "an endless loop beside the CPU of both ends, files",
        TO_CLIENT,
        Plant::Program(&[0], LOOP),
        LimitKind::OtherPrograms,
    ),
    cause(
        "endless loops on all CPUs, a stream to the client",
        "placement = \"spread\"\nrequest_size = \"16 KiB\"",
        Plant::Program(&[], LOOP),
        LimitKind::OtherPrograms,
    ),
    cause(
        "filters for what the server receives, files",
        TO_SERVER,
        Plant::Filters("sut", "", 12_000, 1),
        LimitKind::SoftirqCpu,
    ),
    cause(
        "filters for what the client receives, a stream",
        "request_size = \"16 KiB\"",
        Plant::Filters("c01", "", 12_000, 1),
        LimitKind::SoftirqCpu,
    ),
    cause(
        "filters for what the switch receives from the server, files",
        TO_CLIENT,
        Plant::Filters("switch", "sut", 12_000, 1),
        LimitKind::SoftirqCpu,
    ),
];

const FREE_LOADS: [(&str, &str); FREE] = [
    ("file", FILE),
    ("to", TO_CLIENT),
    ("from", TO_SERVER),
    ("sent", "workload = \"file_copy\"\nfile_size = \"1 MiB\"\nengine = \"sendfile\""),
    ("stream", ""),
    ("taken", "direction = \"receive\"\nrequest_size = \"16 KiB\""),
    ("two", "placement = \"spread\"\nstreams = 2"),
    ("asked", "workload = \"tcp_rr\""),
];

#[test]
#[ignore = "two minutes: ./test full"]
fn what_was_planted_on_a_path_is_named_or_none_is_seen() {
    let Some(place) = Place::new() else { return };
    let free = free(&place, &FREE_LOADS, &PLANTED);
    println!("{free} of {FREE} free loads without a planted cause");
    ask_all(&place, &CAUSES, NAMED_LEAST);
    assert_eq!(free, FREE, "a free load was not measured or has a planted cause");
}
