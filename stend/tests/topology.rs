//! Knows that traffic goes where a plan's links lead and nowhere else: between a client and the
//! system under test stands a device, every packet passes it, and who is no member of a link
//! reaches nobody there. What needs namespaces is skipped aloud.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "helpers of tests stand outside test functions"
)]

mod moment;
mod visit;

use desk::plan::{Catalogue, order, read};
use desk::record::{LabKind, Plan, TrialRecord, WorkloadSpec};
use rig::lab::wire::{LinkAnswer, LinkRequest};
use rig::lab::{Blueprint, Lab, LinkEnd, SUT, Wanted};
use rig::run::Bench;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

const CLIENT: usize = 1;
const OTHER: usize = 2;
const DEVICE: usize = 3;

/// A client, a device, the system under test; and a client that has the server's link as well.
const BETWEEN: &str = r#"
title = "Between"
[lab]
clients = 2
[lab.hosts.box]
role = "device"
[lab.links.far]
members = ["box", "sut", "c02"]
[lab.links.near]
kind = "KIND"
members = ["c01", "box"]
[load.net]
workload = "WORKLOAD"
[method]
blocks = 3
dry = false
steady = "noted"
settle = "100 ms"
settle_max = "100 ms"
window = "300 ms"
"#;

fn plan(workload: &str, kind: &str) -> Plan {
    let text = BETWEEN.replace("WORKLOAD", workload).replace("KIND", kind);
    visit::parse(&text).expect("a plan")
}

/// Packets that an interface of a host has received and sent.
fn packets(lab: &mut Lab, host: usize, link: &str) -> (u64, u64) {
    let work = vec![(host, vec![LinkRequest::Info(link.into())])];
    let answers = lab.ask_links(work).expect("an answer").concat();
    let Some(LinkAnswer::Info(info)) = answers.first() else { return (0, 0) };
    (info.counters.rx_packets, info.counters.tx_packets)
}

/// A visit that the machine of this moment did not disturb.
fn visited(bench: &mut Bench, plan: &Plan) -> TrialRecord {
    visit::undisturbed(bench, plan, &visit::first(plan)).expect("a visit that nothing disturbed")
}

#[test]
fn what_a_client_exchanges_with_the_server_passes_the_device_and_nothing_goes_around_it() {
    let _lock = visit::lock();
    for (workload, kind) in [("tcp_stream", "bridge"), ("tcp_rr", "direct"), ("tcp_crr", "bridge")]
    {
        let plan = plan(workload, kind);
        let Some(mut bench) = visit::in_namespaces(&plan) else { return };
        let count = |lab: &mut Lab| {
            [(CLIENT, "near"), (DEVICE, "near"), (DEVICE, "far"), (OTHER, "far"), (SUT, "far")]
                .map(|(host, link)| packets(lab, host, link))
        };
        let before = count(&mut bench.lab);
        let record = visited(&mut bench, &plan);
        assert_eq!(record.outcome.fault, None, "{workload} over {kind}");
        let after = count(&mut bench.lab);
        let gained = |at: usize| (after[at].0 - before[at].0, after[at].1 - before[at].1);
        let [client, near, far, other, sut] = [0, 1, 2, 3, 4].map(gained);
        assert!(client.1 > 20, "the client sent {} packets", client.1);
        // A veth hands every packet over: what one end sent the other has received.
        assert_eq!(near.0, client.1, "the device received what the client sent ({workload})");
        assert_eq!(client.0, near.1, "the client received what the device sent ({workload})");
        // Of what the server exchanged, all but the other client's packets came by the device; a
        // handful more are the requests of ARP, which a bridge shows to everybody.
        let arp = 20;
        assert!((sut.0).abs_diff(far.1 + other.1) <= arp, "{sut:?} {far:?} {other:?} {workload}");
        assert!((sut.1).abs_diff(far.0 + other.0) <= arp, "{sut:?} {far:?} {other:?} {workload}");
    }
}

#[test]
fn a_switch_joins_its_links_to_one_network() {
    let _lock = visit::lock();
    let text = BETWEEN.replace("WORKLOAD", "tcp_rr").replace("KIND", "bridge");
    let text = text.replace("role = \"device\"", "role = \"switch\"");
    let workloads: Vec<&WorkloadSpec> = loads::ALL.iter().map(|entry| entry.spec).collect();
    let catalogue = Catalogue { workloads: &workloads, factors: rig::factor::ALL };
    let plan = read(&text, &catalogue).expect("a plan");
    let Some(mut bench) = visit::in_namespaces(&plan) else { return };
    let before = packets(&mut bench.lab, DEVICE, "near");
    let record = visited(&mut bench, &plan);
    assert_eq!(record.outcome.fault, None);
    let after = packets(&mut bench.lab, DEVICE, "near");
    assert!(after.0 - before.0 > 20 && after.1 - before.1 > 20, "{before:?} {after:?}");
}

#[test]
fn a_host_that_is_no_member_gets_no_answer() {
    let _lock = visit::lock();
    let plan = plan("tcp_stream", "bridge");
    let Some(mut bench) = visit::in_namespaces(&plan) else { return };
    let lab = &mut bench.lab;
    if lab.kind != LabKind::RootNamespaces {
        println!("skipped: needs root, to enter the namespace of a host");
        return;
    }
    let reaches = |pid: u32, address: &str| {
        let enter =
            ["-t", &pid.to_string(), "-n", "ip", "route", "get", address].map(str::to_owned);
        Command::new("nsenter").args(enter).output().expect("nsenter").status.success()
    };
    let near_of_box = "198.18.1.12";
    assert!(reaches(lab.pid(CLIENT), near_of_box));
    assert!(reaches(lab.pid(CLIENT), "198.18.0.1"), "by the device");
    assert!(reaches(lab.pid(SUT), "198.18.1.10"), "the way back");
    // Without the device's forwarding there is no other way.
    let setting = LinkRequest::SetSetting("ipv4/ip_forward".into(), "0".into());
    lab.ask_links(vec![(DEVICE, vec![setting])]).expect("a setting");
    let first = order(&plan).into_iter().next().expect("a trial");
    let visited = bench.run(&plan, vec![first], &mut |_| ()).expect("a run");
    // After the fault the lab is built anew, and forwards again.
    let fault = visited.records[0].outcome.fault.as_ref().map(ToString::to_string);
    let fault = fault.expect("no answer is a fault");
    assert!(fault.contains("connect to 198.18.0.1") || fault.contains("did not open"), "{fault}");
}

#[test]
fn sixty_four_clients_stand_and_go() {
    let _lock = visit::lock();
    let begun = Instant::now();
    let mut lab =
        Lab::build(&Blueprint::of_all(Wanted::Best, 64, &["lan"]), vec![visit::machine()])
            .expect("a lab");
    let stood = begun.elapsed();
    let pids: Vec<u32> = (0..=64).map(|at| lab.pid(at)).collect();
    if lab.kind != LabKind::Loopback {
        let ask = |end: LinkEnd| (end.host, vec![LinkRequest::Info(end.name)]);
        let ends: Vec<_> = lab.ends("lan").into_iter().map(ask).collect();
        assert_eq!(ends.len(), 2 * 65 + 1);
        let runs = |a: &LinkAnswer| matches!(a, LinkAnswer::Info(info) if info.running);
        assert!(lab.ask_links(ends).expect("answers").concat().iter().all(runs));
    }
    let ends = Instant::now();
    drop(lab);
    println!("64 clients: stood after {stood:?}, gone after {:?}", ends.elapsed());
    assert!(pids.iter().all(|pid| !Path::new(&format!("/proc/{pid}")).exists()));
}

/// The shapes of 1,024 streams, and 512 in both directions at 64 clients.
const SHAPES: [(u32, u32, &str); 3] =
    [(64, 4, "duplex"), (64, 16, "transmit"), (16, 64, "transmit")];

#[test]
#[ignore = "long: a thousand streams on few CPUs; ./test full runs it"]
fn a_thousand_streams_open_and_are_read_at_the_edges_of_the_window() {
    let _lock = visit::lock();
    for (clients, streams, direction) in SHAPES {
        let text = format!(
            "title = \"many\"\n[lab]\nclients = {clients}\n[load.net]\n\
             workload = \"tcp_stream\"\nstreams = {streams}\ndirection = \"{direction}\"\n\
             [method]\nblocks = 3\ndry = false\nsteady = \"noted\"\nwindow = \"2 s\"\n"
        );
        let workloads: Vec<&WorkloadSpec> = loads::ALL.iter().map(|entry| entry.spec).collect();
        let catalogue = Catalogue { workloads: &workloads, factors: rig::factor::ALL };
        let plan = read(&text, &catalogue).expect("a plan");
        let Some(mut bench) = visit::in_namespaces(&plan) else { return };
        let record = visited(&mut bench, &plan);
        assert_eq!(record.outcome.fault, None, "{clients} x {streams} {direction}");
        assert!(record.outcome.samples[0].quantity.value > 0.0);
        let late = record.readings.iter().filter(|reading| reading.probe == "start");
        let late: Vec<f64> = late.map(|reading| reading.quantity.value).collect();
        let last = late.iter().copied().fold(0.0, f64::max);
        println!("{clients} x {streams} {direction}: all went within {:.1} ms", last * 1e3);
        assert_eq!(late.len(), clients as usize + 1);
    }
}
