//! Each resource of a physics limits as it says, and shows in what a probe could see.

use super::{FAST, case, close, given, rate, read, size, throughput, word};
use desk::record::{Value, flow};
use desk::unit::{Quantity, Unit};
use rig::workload::Modelled;

/// Nanoseconds of a byte at the sending end, 64 KiB a call; and of the packets of the other.
const SEND: f64 = 500.0 / 65536.0 + 600.0 / 65536.0 + 0.05;
const PACKETS: f64 = 600.0 / 65536.0 + 100.0 / 1448.0;
const RECEIVE: f64 = 500.0 / 65536.0 + PACKETS + 0.05;

fn streams(count: u64) -> (&'static str, Value) {
    ("streams", Value::Count(count))
}

fn with(lines: &str) -> String {
    format!("{FAST}{lines}")
}

/// Shares of the time of the one sender: with data in flight, of that limited by the receiver's
/// window, and by its own buffer.
fn waits(modelled: &Modelled) -> (f64, f64, f64) {
    let flows = &modelled.checked.outcome.flows;
    let share = |column: &str| flows.figure(&flows.rows[0], column).unwrap();
    (share(flow::BUSY), share(flow::RECEIVE_WINDOW), share(flow::SEND_BUFFER))
}

#[test]
fn a_second_thread_of_a_core_adds_its_yield_and_a_first_one_all() {
    let smt = with("[machine]\nthreads = 2\nsmt_yield = 1.25\n");
    let at = |count, smt_is: &str| case(&smt, &[streams(count)], &[("smt", word(smt_is))]).given();
    let (on, off) = (at(4, "on"), at(4, "off"));
    assert_eq!((on.cores.len(), off.cores.len()), (4, 2));
    close(throughput(&on) / throughput(&off), 1.25);
    assert!(on.cores.iter().chain(&off.cores).all(|busy| (busy - 1.0).abs() < 1e-9));
    // Three streams: one core with both threads, 1 + 1.25 cores of work.
    close(throughput(&at(3, "on")) / throughput(&off), 2.25 / 2.0);
    close(throughput(&at(2, "on")), throughput(&at(2, "off")));
    close(throughput(&off), given(FAST, &[streams(4)], &[]).0);
}

#[test]
fn a_disk_carries_its_rate_or_what_its_queue_allows_and_only_where_the_load_passes_it() {
    let disk = "[disk]\nrate = \"100 MiB/s\"\nlatency = \"1 ms\"\n";
    let passes = "[limits]\nthrough = \"disk\"\n";
    let bits = |bytes: f64| bytes * 8.0;
    close(given(&with(disk), &[], &[]).0, given(FAST, &[], &[]).0);
    let there = with(&format!("{disk}{passes}"));
    close(given(&there, &[], &[]).0, bits(100.0 * 1_048_576.0));
    close(given(&there, &[("direction", word("duplex"))], &[]).0, bits(100.0 * 1_048_576.0));
    // One request of 64 KiB at a time, 1 ms each.
    let shallow = with(&format!("{disk}queue = 1\n{passes}"));
    close(given(&shallow, &[], &[]).0, bits(65536.0 / 1e-3));
    let from_disk = waits(&case(&there, &[], &[]).given());
    assert!(from_disk.0 < 0.1 && from_disk.1 == 0.0, "{from_disk:?}");
    let to_disk = waits(&case(&there, &[("direction", word("receive"))], &[]).given());
    assert!(to_disk.0 > 0.99 && to_disk.1 > 0.9, "{to_disk:?}");
}

#[test]
fn memory_is_shared_by_all_ends_and_directions() {
    let memory = with("[memory]\nbandwidth = \"4 GiB/s\"\n");
    let gib = 8.0 * 1_073_741_824.0;
    close(given(&memory, &[], &[]).0, gib);
    close(given(&memory, &[("direction", word("duplex"))], &[]).0, gib);
    let apart = format!("{memory}[clients]\nmachine = \"own\"\nspeed = 10.0\n");
    close(given(&apart, &[], &[]).0, 2.0 * gib);
    close(given(&format!("{memory}touches = 4\n"), &[], &[]).0, gib / 2.0);
}

#[test]
fn a_bus_carries_frames_each_way_and_one_link_may_have_another() {
    let bus = "[link]\nline_rate = \"400 Gbit/s\"\npcie = \"1 GiB/s\"\n";
    let gib = 8.0 * 1_073_741_824.0;
    close(given(bus, &[], &[]).0, gib * 1448.0 / 1514.0);
    let other = format!("{bus}[links.lan]\npcie = \"none\"\n");
    close(given(&other, &[], &[]).0, given(FAST, &[], &[]).0);
}

#[test]
fn a_buffer_carries_itself_once_a_round_trip() {
    let far = "[link]\nline_rate = \"400 Gbit/s\"\nrtt = \"1 ms\"\n[sockets]\n";
    let window = format!("{far}receive_buffer = \"64 KiB\"\n");
    let modelled = case(&window, &[], &[]).given();
    close(throughput(&modelled), 8.0 * 65536.0 / 1e-3);
    assert!(waits(&modelled).1 > 0.9);
    let wider = [("receive_buffer", size(131_072.0))];
    close(given(&window, &[], &wider).0, 16.0 * 65536.0 / 1e-3);
    close(given(FAST, &[], &wider).0, given(FAST, &[], &[]).0);
    let sender = case(&format!("{far}send_buffer = \"64 KiB\"\n"), &[], &[]).given();
    close(throughput(&sender), 8.0 * 65536.0 / 1e-3);
    let (busy, window, buffer) = waits(&sender);
    assert!(busy > 0.99 && window == 0.0 && buffer > 0.9, "{busy} {window} {buffer}");
}

#[test]
fn cpus_of_their_own_for_received_packets_fill_before_the_others() {
    let moved = with("[machine]\ncores = 8\n[softirq]\ncpus = 1\n");
    let many = [("placement", word("none")), streams(8)];
    let modelled = case(&moved, &many, &[]).given();
    close(throughput(&modelled), 8e9 / PACKETS);
    close(modelled.cores[0], 1.0);
    close(modelled.softirq[0], 1.0);
    assert!(modelled.cores[1] < 0.9 && modelled.softirq[1] == 0.0);
    let inside = case(FAST, &[], &[]).given();
    close(inside.softirq[0], PACKETS / (SEND + RECEIVE));
}

const OWN: &str = "[clients]\nmachine = \"own\"\n";

#[test]
fn clients_on_machines_of_their_own_leave_the_server_its_cpus() {
    let quick = with(&format!("{OWN}speed = 10.0\n"));
    let modelled = case(&quick, &[], &[]).given();
    close(throughput(&modelled), 8e9 / SEND);
    close(modelled.cores.iter().sum(), 1.0);
    close(modelled.clients[0], RECEIVE / SEND / 10.0);
    close(read(&modelled, "thread", "sut", "runnable"), 1.0);
    let back = case(&quick, &[("direction", word("receive"))], &[]).given();
    close(throughput(&back), 8e9 / RECEIVE);
    // Two streams each way: a CPU for each end, the receiving one is the dearer.
    let both = [("direction", word("duplex"))];
    close(given(&quick, &both, &[]).0, 16e9 / RECEIVE);
}

#[test]
fn a_client_that_cannot_load_the_server_shows_in_its_thread() {
    let alike = with(OWN);
    let busy = case(&alike, &[], &[]).given();
    close(throughput(&busy), 8e9 / RECEIVE);
    close(read(&busy, "thread", "c01", "cpu"), 1.0);
    assert!(read(&busy, "thread", "sut", "runnable") < 0.6);
    let (_, window, _) = waits(&busy);
    close(window, 1.0 - SEND / RECEIVE);
    let held = case(&format!("{alike}cpu = \"50 %\"\n"), &[], &[]).given();
    close(throughput(&held), 4e9 / RECEIVE);
    close(read(&held, "thread", "c01", "cpu"), 0.5);
    close(read(&held, "thread", "c01", "runnable"), 1.0);
    let one = with(&format!("{OWN}cores = 1\n"));
    close(given(&one, &[streams(4)], &[]).0, 8e9 / RECEIVE);
}

#[test]
fn an_adapter_of_a_client_limits_it_wherever_it_lives() {
    let slow = with("[clients]\nrate = \"100 Mbit/s\"\n");
    let goodput = 1e8 * 1448.0 / 1538.0;
    let mut three = case(&slow, &[], &[]);
    close(three.throughput(), goodput);
    three.clients = 3;
    close(three.throughput(), 3.0 * goodput);
    let set = [("client_rate", rate(5e7))];
    close(given(&slow, &[], &set).0, goodput / 2.0);
    close(given(FAST, &[], &set).0, goodput / 2.0);
}

#[test]
fn a_quota_holds_its_side_to_so_many_cpus_and_a_slow_cpu_both() {
    let whole = given(FAST, &[], &[]).0;
    let quantity = |value, unit| Value::Quantity(Quantity::new(value, unit));
    let slow = [("cpu_speed", quantity(0.9, Unit::Share))];
    close(case(FAST, &[], &slow).throughput(), 0.9 * whole);
    let quota = [("server_quota", quantity(0.1, Unit::Cpu))];
    let server = case(FAST, &[], &quota).given();
    close(throughput(&server), 0.1 * 8e9 / SEND);
    close(read(&server, "thread", "sut", "cpu"), 0.1);
    close(read(&server, "thread", "sut", "runnable"), 1.0);
    let quota = [("client_quota", quantity(0.1, Unit::Cpu)), ("server_quota", word("off"))];
    let mut client = case(FAST, &[], &quota);
    close(client.throughput(), 0.1 * 8e9 / RECEIVE);
    let held = client.given();
    close(read(&held, "thread", "c01", "cpu"), 0.1);
    close(read(&held, "thread", "c01", "runnable"), 1.0);
    // Together they have no more, however many they are.
    client.clients = 2;
    close(client.throughput(), 0.1 * 8e9 / RECEIVE);
    // On machines of their own they use none of the server's CPUs.
    let own = with("[clients]\nmachine = \"own\"\nspeed = 0.5\n");
    close(case(&own, &[], &quota).throughput(), 0.05 * 8e9 / RECEIVE);
}

#[test]
fn a_planted_capacity_is_that_of_its_level_alone() {
    let slow = with("[capacities.governor]\npowersave = { cpu = 0.8 }\n");
    let at = |level: &str| given(&slow, &[], &[("governor", word(level))]);
    let (whole, busy) = at("performance");
    close(at("powersave").0, 0.8 * whole);
    close(at("powersave").1, busy);
    let line = "[link]\nline_rate = \"1 Gbit/s\"\n[capacities.turbo]\noff = { line = 0.5 }\n";
    close(given(line, &[], &[("turbo", word("off"))]).0, 0.5e9 * 1448.0 / 1538.0);
}

/// Shares of CPU and line, and what is to be planted besides.
fn shared(cpu: u32, more: &str) -> String {
    let line = 100 - cpu;
    format!(
        "[link]\nline_rate = \"10 Gbit/s\"\n[limits]\nblend = \"shares\"\n\
         [limits.shares]\ncpu = \"{cpu} %\"\nline = \"{line} %\"\n{more}"
    )
}

// 1 / (1 + share (1 / 0.9 - 1)): ln of it over ln 0.9 is the share to within 0.021.
#[test]
fn shares_are_elasticities() {
    let quota = [("cpu_speed", Value::Quantity(Quantity::new(0.9, Unit::Share)))];
    let slower = [("rate", rate(9e9))];
    for percent in [0, 25, 60, 90] {
        let physics = shared(percent, "");
        let whole = given(&physics, &[], &[]).0;
        let share = f64::from(percent) / 100.0;
        let by = |share: f64| 1.0 / (1.0 + share / 9.0);
        for (set, share) in [(&quota, share), (&slower, 1.0 - share)] {
            let ratio = given(&physics, &[], set).0 / whole;
            close(ratio, by(share));
            let elasticity = ratio.ln() / 0.9_f64.ln();
            assert!((elasticity - share).abs() < 0.021, "{elasticity} is not {share}");
        }
    }
}

#[test]
fn with_shares_nothing_is_full_but_what_has_none_is_a_hard_limit() {
    let (throughput, busy) = given(&shared(60, ""), &[], &[]);
    let line = 1e10 * 1448.0 / 1538.0;
    // 40 % of the line is less than 60 % of what a CPU moves.
    close(throughput, 0.4 * line);
    assert!(busy < 0.6, "{busy}");
    let narrow = shared(60, "[memory]\nbandwidth = \"400 MiB/s\"\n");
    close(given(&narrow, &[], &[]).0, 8.0 * 100.0 * 1_048_576.0);
}
