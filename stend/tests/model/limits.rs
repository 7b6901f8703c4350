//! Knows what limits a simulated lab, and asks whether stend names it: every kind of limit, two at
//! once, and none. Each goes the whole way from the text of a plan to the limits.

#![expect(clippy::panic, reason = "helpers of tests stand outside test functions")]

use super::simulated;

use desk::record::Plan;
use desk::verdict::{Limit, LimitKind, analyse};
use simulated::run;

/// Seeds with which each limit is planted.
const SEEDS: u64 = 8;
/// Nothing is the limit but what is planted.
const FAST: &str = "link = { line_rate = \"400 Gbit/s\" }\nprobes = { ceilings = true }\n";
/// One client with one stream, whose two ends share a CPU.
const ONE: &str = "clients = 1\n[load.it]\nworkload = \"tcp_stream\"\n";

/// The text of a plan but for its method: what stands in `[lab]`, then other tables.
fn plan(rest: &str, seed: u64) -> Plan {
    let text = format!(
        "title = \"planted\"\n[factors.congestion]\nlevels = [\"cubic\", \"reno\"]\n\
         [method]\nblocks = 3\nseed = {seed}\nsettle = \"0.3 s\"\nsettle_max = \"1 s\"\n\
         window = \"0.8 s\"\n[lab]\n{rest}"
    );
    simulated::plan(&text)
}

/// The limits of both levels under every seed.
fn limits(lab: &str, physics: &str) -> Vec<Limit> {
    let physics = simulated::physics(physics);
    let of = |seed| {
        let limits = analyse(&run(&plan(lab, seed), &physics)).limits;
        assert_eq!(limits.len(), 2, "both levels have a limit: {limits:?}");
        limits
    };
    (1..=SEEDS).flat_map(of).collect()
}

/// That every one of them is these kinds together, and nothing else.
fn is(lab: &str, physics: &str, kinds: &[LimitKind]) -> Vec<Limit> {
    let limits = limits(lab, physics);
    for limit in &limits {
        let named: Vec<LimitKind> = limit.named().collect();
        assert_eq!(named, kinds, "{physics}{lab}{limit:#?}");
    }
    limits
}

/// The use of a rival that was ruled out.
fn ruled_out(limit: &Limit, kind: LimitKind) -> f64 {
    let rival = limit.rivals.iter().find(|rival| rival.kind == kind);
    rival.unwrap_or_else(|| panic!("no {kind:?} in {limit:#?}")).utilisation.centre.value
}

#[test]
fn a_line_a_bus_memory_and_a_disk_are_named_with_what_was_not_full() {
    let line = "link = { line_rate = \"1 Gbit/s\", pcie = \"250000000 B/s\" }\n\
                probes = { ceilings = true }\n";
    for limit in is(ONE, line, &[LimitKind::Goodput]) {
        // By hand: 1e9 / 8 x 1514 / 1538 of 250e6 bytes.
        assert!((ruled_out(&limit, LimitKind::Pcie) - 0.492).abs() < 0.02, "{limit:#?}");
        assert!((limit.evidence.centre.value - 1.0).abs() < 0.03, "{limit:#?}");
        assert!(ruled_out(&limit, LimitKind::AllCpus) < 0.2);
    }
    let bus = "link = { line_rate = \"400 Gbit/s\", pcie = \"100000000 B/s\" }\n\
               probes = { ceilings = true }\n";
    is(ONE, bus, &[LimitKind::Pcie]);
    is(ONE, &format!("{FAST}memory = {{ bandwidth = \"1 GiB/s\" }}\n"), &[LimitKind::Memory]);
    let disk = "disk = { rate = \"100 MiB/s\" }\nlimits = { through = \"disk\" }\n";
    is(ONE, &format!("{FAST}{disk}"), &[LimitKind::Disk]);
}

#[test]
fn a_set_rate_is_named_in_each_direction() {
    for direction in ["transmit", "receive", "duplex"] {
        let set = "links = { lan = { rate = \"2 Gbit/s\" } }\n";
        let lab = format!("{set}{ONE}direction = \"{direction}\"\n");
        is(&lab, FAST, &[LimitKind::SetRate]);
    }
}

#[test]
fn all_cpus_one_of_them_and_one_full_of_interrupts_are_told_apart() {
    let two = "clients = 2\n[load.it]\nworkload = \"tcp_stream\"\n";
    is(two, FAST, &[LimitKind::AllCpus]);
    is(ONE, FAST, &[LimitKind::OneCpu]);
    let moved = "link = { line_rate = \"400 Gbit/s\" }\nmachine = { cores = 8 }\n\
                 softirq = { cpus = 1 }\nprobes = { softirq = true }\n";
    let many = format!("{ONE}placement = \"none\"\nstreams = 8\n");
    is(&many, moved, &[LimitKind::SoftirqCpu]);
}

#[test]
fn clients_that_cannot_load_the_server_are_named_by_what_holds_them() {
    let own = format!("{FAST}clients = {{ machine = \"own\" }}\n");
    is(ONE, &own, &[LimitKind::Generator]);
    let held = format!("{FAST}clients = {{ machine = \"own\", cpu = \"50 %\" }}\n");
    is(ONE, &held, &[LimitKind::Generator]);
    let slow = format!("{FAST}clients = {{ machine = \"own\", rate = \"100 Mbit/s\" }}\n");
    is(ONE, &slow, &[LimitKind::ClientLine]);
}

#[test]
fn sockets_that_wait_are_named_where_nothing_is_full() {
    let far = "link = { line_rate = \"400 Gbit/s\", rtt = \"1 ms\" }\n\
               probes = { ceilings = true }\n";
    let window = format!("{far}sockets = {{ receive_buffer = \"64 KiB\" }}\n");
    is(ONE, &window, &[LimitKind::ReceiveWindow]);
    let buffer = format!("{far}sockets = {{ send_buffer = \"64 KiB\" }}\n");
    is(ONE, &buffer, &[LimitKind::SendBuffer]);
}

#[test]
fn two_limits_that_fill_together_tie() {
    // By hand: 1e9 / 8 x 1514 / 1538 = 123.05e6 bytes a second of frames.
    let line_and_bus = "link = { line_rate = \"1 Gbit/s\", pcie = \"123049000 B/s\" }\n\
                        probes = { ceilings = true }\n";
    is(ONE, line_and_bus, &[LimitKind::Goodput, LimitKind::Pcie]);
    // Two ends that touch each byte twice: a quarter of the bandwidth.
    let memory_and_disk = "memory = { bandwidth = \"400 MiB/s\" }\n\
                           disk = { rate = \"100 MiB/s\" }\nlimits = { through = \"disk\" }\n";
    is(ONE, &format!("{FAST}{memory_and_disk}"), &[LimitKind::Memory, LimitKind::Disk]);
}

#[test]
fn where_nothing_is_full_none_is_named() {
    let shares = "link = { line_rate = \"10 Gbit/s\" }\nprobes = { ceilings = true }\n\
                  limits = { blend = \"shares\", shares = { cpu = \"60 %\", line = \"40 %\" } }\n";
    for limit in is(ONE, shares, &[LimitKind::NoneSeen]) {
        assert!((ruled_out(&limit, LimitKind::Goodput) - 0.4).abs() < 0.02, "{limit:#?}");
    }
    // What is the limit and is not read is not named either, and nothing else is in its place.
    is(ONE, "link = { line_rate = \"1 Gbit/s\" }\n", &[LimitKind::NoneSeen]);
}
