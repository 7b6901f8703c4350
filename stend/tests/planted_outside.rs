//! Knows what holds a real load down, because it plants it from outside while stend measures: ten
//! causes by sysctl, tc and other programs, and eight loads beside which nothing is planted.
//!
//! stend hears of none of it. A cause must be named, or "none seen" be said; another name is a
//! failure, and so is a case that was not measured. What the kernel lacks is skipped aloud.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "helpers of tests stand outside test functions"
)]

#[allow(dead_code, reason = "each test takes what it needs of it")]
mod planted;

use desk::verdict::LimitKind;
use planted::{Cause, LOOP, Place, Plant, WRITER, ask_all, free};

/// Causes of which so many must be named; none may be taken for another.
const NAMED_LEAST: usize = 7;
/// Cases with nothing planted.
const FREE: usize = 8;
/// What is planted here, and must not be said of a free load.
const PLANTED: [LimitKind; 6] = [
    LimitKind::SetRate,
    LimitKind::Shaper,
    LimitKind::QueueDrops,
    LimitKind::OtherPrograms,
    LimitKind::ReceiveWindow,
    LimitKind::SendBuffer,
];

const CAUSES: [Cause; 10] = [
    Cause {
        name: "tcp_rmem of 2304 B at the clients",
        path: None,
        load: "",
        plant: Plant::Sysctl(&["c01"], &["net.ipv4.tcp_rmem=2304 2304 2304"]),
        right: LimitKind::ReceiveWindow,
    },
    Cause {
        name: "tcp_wmem of 4096 B at the server",
        path: None,
        load: "",
        plant: Plant::Sysctl(&["sut"], &["net.ipv4.tcp_wmem=4096 4096 4096"]),
        right: LimitKind::SendBuffer,
    },
    Cause {
        name: "tcp_wmem of 16384 B at the server, ends on two CPUs",
        path: None,
        load: "placement = \"spread\"",
        plant: Plant::Sysctl(&["sut"], &["net.ipv4.tcp_wmem=4096 16384 16384"]),
        right: LimitKind::SendBuffer,
    },
    Cause {
        name: "HTB at a client",
        path: None,
        load: "direction = \"receive\"",
        plant: Plant::Tc(
            "c01",
            "",
            &[
                "qdisc replace dev DEV root handle 1: htb default 1",
                "class replace dev DEV parent 1: classid 1:1 htb rate 500mbit burst 64k",
            ],
        ),
        right: LimitKind::Shaper,
    },
    Cause {
        name: "TBF at a client",
        path: None,
        load: "direction = \"receive\"",
        plant: Plant::Tc(
            "c01",
            "",
            &["qdisc replace dev DEV root tbf rate 500mbit burst 64k latency 10ms"],
        ),
        right: LimitKind::SetRate,
    },
    Cause {
        name: "TBF at the switch's port to the client",
        path: None,
        load: "",
        plant: Plant::Tc(
            "switch",
            "c01",
            &["qdisc replace dev DEV root tbf rate 700mbit burst 64k latency 10ms"],
        ),
        right: LimitKind::SetRate,
    },
    Cause {
        name: "a queue of 4500 B at a client",
        path: None,
        load: "direction = \"receive\"",
        plant: Plant::Tc(
            "c01",
            "",
            &["qdisc replace dev DEV root tbf rate 10gbit burst 3200 limit 4500"],
        ),
        right: LimitKind::QueueDrops,
    },
    Cause {
        name: "an endless loop beside the server's CPU",
        path: None,
        load: "",
        plant: Plant::Program(&[0], LOOP),
        right: LimitKind::OtherPrograms,
    },
    Cause {
        name: "endless loops on all CPUs",
        path: None,
        load: "placement = \"spread\"",
        plant: Plant::Program(&[], LOOP),
        right: LimitKind::OtherPrograms,
    },
    Cause {
        name: "programs that write memory on all CPUs",
        path: None,
        load: "request_size = \"16 KiB\"",
        plant: Plant::Program(&[], WRITER),
        right: LimitKind::OtherPrograms,
    },
];

const FREE_LOADS: [(&str, &str); FREE] = [
    ("send", ""),
    ("take", "direction = \"receive\""),
    ("both", "direction = \"duplex\"\nrequest_size = \"16 KiB\""),
    ("small", "request_size = \"1 KiB\""),
    ("many", "request_size = \"8 KiB\"\nstreams = 4\ndirection = \"receive\""),
    ("batch", "request_size = \"64 B\"\nengine = \"batch\""),
    ("large", "request_size = \"256 KiB\"\nstreams = 2"),
    ("taken", "request_size = \"4 KiB\"\ndirection = \"receive\""),
];

#[test]
#[ignore = "a minute and a half: ./test full"]
fn what_was_planted_from_outside_is_named_or_none_is_seen() {
    let Some(place) = Place::new() else { return };
    ask_all(&place, &CAUSES, NAMED_LEAST);
    let free = free(&place, &FREE_LOADS, &PLANTED);
    println!("{free} of {FREE} free loads without a planted cause");
    assert_eq!(free, FREE, "a free load was not measured or has a planted cause");
}
