//! Knows that loads go over the version of IP that a plan asks for, on every shape of a lab: the
//! kernels of the hosts count the packets, and what cannot go over IPv6 is refused. What needs
//! namespaces is skipped aloud.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "helpers of tests stand outside test functions"
)]

mod moment;
mod visit;

use desk::plan::order;
use desk::record::{Fault, LabKind, Plan, Trial, TrialKind, TrialRecord, Value};
use rig::lab::wire::{LinkAnswer, LinkRequest};
use rig::lab::{IpVersion, Lab, SUT, Wanted};
use rig::run::Bench;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// Between the client and the system under test stands this.
const BETWEEN: usize = 2;

const PLAN: &str = r#"
title = "Version"
[lab]
clients = 1
SETTINGS
[load.net]
LOAD
[method]
blocks = 3
dry = false
steady = "noted"
settle = "50 ms"
settle_max = "50 ms"
window = "200 ms"
"#;

/// A device, or a relay, between two links.
const BOX: &str = "[lab.hosts.box]\nrole = \"ROLE\"\n\
    [lab.links.far]\nkind = \"direct\"\nmembers = [\"sut\", \"box\"]\n\
    [lab.links.near]\nkind = \"direct\"\nmembers = [\"c01\", \"box\"]\n";

/// Every way of a load that has sockets of its own.
const LOADS: [&str; 11] = [
    "workload = \"tcp_stream\"",
    "workload = \"tcp_stream\"\ndirection = \"duplex\"\nrequest_size = \"1 KiB\"",
    "workload = \"tcp_rr\"",
    "workload = \"tcp_crr\"\nstreams = 2",
    "workload = \"udp_stream\"\noffered_load = \"20 Mbit/s\"",
    "workload = \"udp_stream\"\nengine = \"segment\"\ndatagram = \"1452 B\"\n\
     offered_load = \"20 Mbit/s\"",
    "workload = \"udp_rr\"\nstreams = 2",
    "workload = \"icmp_rr\"",
    "workload = \"http\"",
    "workload = \"http\"\ntls = \"full\"",
    "workload = \"file_copy\"\nfile_size = \"1 MiB\"",
];

fn plan(settings: &str, load: &str) -> Plan {
    visit::parse(&PLAN.replace("SETTINGS", settings).replace("LOAD", load)).expect("a plan")
}

/// The first counted trial at a level of the only factor; of a plan without factors the first.
fn trial(plan: &Plan, level: &str) -> Trial {
    let at = |trial: &Trial| trial.treatment.levels.values().all(|its| its == level);
    let mut all = order(plan).into_iter();
    all.find(|trial| trial.kind == TrialKind::Counted && at(trial)).expect("a trial")
}

/// A visit at a level that the machine of this moment did not disturb; none after some tries.
fn visited(bench: &mut Bench, plan: &Plan, level: &str) -> Option<TrialRecord> {
    visit::undisturbed(bench, plan, &trial(plan, level))
}

/// Packets that a host received of IPv4 and of IPv6, by the record.
fn received(record: &TrialRecord, host: &str) -> [f64; 2] {
    ["received.4", "received.6"]
        .map(|key| record.reading("ip", host, key).map_or(0.0, |packets| packets.value))
}

/// Packets that a host has received so far.
fn so_far(lab: &mut Lab, host: usize) -> [u64; 2] {
    let answers = lab.ask_links(vec![(host, vec![LinkRequest::Received])]).expect("an answer");
    match answers.concat().first() {
        Some(LinkAnswer::Received(packets)) => *packets,
        other => panic!("{other:?}"),
    }
}

/// The first three of these loads; in the full tests all of them.
fn some(loads: &[&'static str]) -> Vec<&'static str> {
    loads.iter().take(if moment::full() { loads.len() } else { 3 }).copied().collect()
}

/// Visits a load over IPv6, and sees that nothing went over IPv4.
fn goes(bench: &mut Bench, settings: &str, load: &str) {
    let plan = plan(settings, load);
    let Some(record) = visited(bench, &plan, "") else { return };
    if let Some(Fault::NotAvailable { what }) = &record.outcome.fault {
        return println!("skipped: {load}: {what}");
    }
    assert_eq!(record.outcome.fault, None, "{load} with {settings}");
    assert_eq!(record.observed.get("ip_version"), Some(&Value::Count(6)), "{load}");
    let namespaces = bench.lab.kind != LabKind::Loopback;
    // Who sends datagrams one way receives next to nothing, and segments count as one packet.
    let [sut, client] = ["sut", "c01"].map(|host| received(&record, host));
    let [fourth, sixth] = [0, 1].map(|at| sut[at] + client[at]);
    assert!(sixth >= 10.0 && sut[1] > 0.0, "{sut:?} and {client:?} packets: {load}");
    assert!(!namespaces || fourth == 0.0, "{fourth} packets of IPv4: {load}");
}

#[test]
fn every_load_goes_over_ipv6_on_a_link_behind_a_bridge() {
    let _lock = visit::lock();
    let settings = "ip_version = 6";
    let Some(mut bench) = visit::in_namespaces(&plan(settings, LOADS[0])) else { return };
    for load in LOADS {
        goes(&mut bench, settings, load);
    }
}

#[test]
fn loads_go_over_ipv6_on_a_cable_by_a_device_and_by_a_relay() {
    let _lock = visit::lock();
    let cable = "ip_version = 6\n[lab.links.lan]\nkind = \"direct\"".to_owned();
    let by = |role: &str| format!("ip_version = 6\n{}", BOX.replace("ROLE", role));
    for (settings, passes) in [(cable, false), (by("device"), true), (by("relay"), false)] {
        let Some(mut bench) = visit::in_namespaces(&plan(&settings, LOADS[0])) else { return };
        let through = |lab: &mut Lab| if passes { so_far(lab, BETWEEN)[1] } else { 0 };
        for load in some(&[LOADS[0], LOADS[3], LOADS[7], LOADS[2], LOADS[4], LOADS[6]]) {
            let before = through(&mut bench.lab);
            goes(&mut bench, &settings, load);
            let passed = through(&mut bench.lab) - before;
            assert!(!passes || passed >= 40, "the device received {passed} packets: {load}");
        }
    }
}

#[test]
fn loads_go_over_ipv6_on_loopback() {
    let _lock = visit::lock();
    let settings = "ip_version = 6";
    let mut bench = visit::build(&plan(settings, LOADS[0]), Wanted::Only(LabKind::Loopback));
    for load in some(&[LOADS[0], LOADS[4], LOADS[7], LOADS[2], LOADS[3], LOADS[6], LOADS[8]]) {
        goes(&mut bench, settings, load);
    }
}

#[test]
fn services_listen_on_ipv6() {
    let _lock = visit::lock();
    let settings = "ip_version = 6";
    let Some(mut bench) = visit::in_namespaces(&plan(settings, LOADS[0])) else { return };
    for server in ["nginx", "apache_event"] {
        for tls in ["off", "full"] {
            let load = format!("workload = \"http\"\nserver = \"{server}\"\ntls = \"{tls}\"");
            goes(&mut bench, settings, &load);
        }
    }
}

/// Over a link whose MTU was too small between two trials the addresses have to be laid anew.
#[test]
fn each_level_is_counted_and_addresses_come_back_after_a_small_mtu() {
    let _lock = visit::lock();
    let profile = "[factors.stack]\nkey = \"profile\"\n[factors.stack.levels]\n\
        old = { ip_version = 4, mtu = \"1000 B\" }\nnew = { ip_version = 6, mtu = \"1500 B\" }";
    let plan = plan(profile, LOADS[2]);
    let Some(mut bench) = visit::in_namespaces(&plan) else { return };
    for (level, at, count) in [("new", 1, 6), ("old", 0, 4), ("new", 1, 6)] {
        let Some(record) = visited(&mut bench, &plan, level) else { continue };
        assert_eq!(record.outcome.fault, None, "{level}");
        assert_eq!(record.observed.get("ip_version"), Some(&Value::Count(count)));
        let packets = received(&record, "sut");
        assert!(packets[at] > 100.0 && packets[1 - at] < 10.0, "{level}: {packets:?}");
    }
}

#[test]
fn a_host_without_ipv6_is_named_and_no_load_goes_over_the_other_version() {
    let _lock = visit::lock();
    let plan = plan("[factors.ip_version]\nlevels = [4, 6]", LOADS[2]);
    let Some(mut bench) = visit::in_namespaces(&plan) else { return };
    let off = LinkRequest::SetSetting("ipv6/conf/lan/disable_ipv6".into(), "1".into());
    bench.lab.ask_links(vec![(1, vec![off])]).expect("a setting");
    let first = bench.run(&plan, vec![trial(&plan, "6")], &mut |_| ()).expect("a run");
    let first = first.records.first().expect("a record");
    let Some(Fault::Factor { what }) = &first.outcome.fault else {
        panic!("{:?}", first.outcome.fault)
    };
    assert!(what.contains("'ip_version' cannot be set here") && what.contains("'c01'"), "{what}");
    assert!(first.outcome.samples.is_empty(), "a figure of another version");
    // The lab was built anew after the fault, with all that it has at first.
    let record = visited(&mut bench, &plan, "6");
    assert!(record.is_none_or(|record| record.outcome.fault.is_none()));
}

#[test]
fn without_forwarding_of_ipv6_a_device_lets_nothing_pass() {
    let _lock = visit::lock();
    let plan = plan(&BOX.replace("ROLE", "device"), LOADS[2]);
    let Some(mut bench) = visit::in_namespaces(&plan) else { return };
    bench.lab.take_ip_version(IpVersion::Six).expect("addresses");
    let off = LinkRequest::SetSetting("ipv6/conf/all/forwarding".into(), "0".into());
    bench.lab.ask_links(vec![(BETWEEN, vec![off])]).expect("a setting");
    let visited = bench.run(&plan, vec![trial(&plan, "")], &mut |_| ()).expect("a run");
    let fault = visited.records[0].outcome.fault.as_ref().map(ToString::to_string);
    let fault = fault.expect("no answer is a fault");
    assert!(fault.contains("2001:2:0:") || fault.contains("did not open"), "{fault}");
}

#[test]
fn an_idle_lab_sends_nothing_for_its_addresses() {
    let _lock = visit::lock();
    let Some(mut bench) = visit::in_namespaces(&plan("", LOADS[0])) else { return };
    let all = |lab: &mut Lab| [SUT, 1].map(|host| so_far(lab, host)[1]);
    thread::sleep(Duration::from_millis(200));
    let before = all(&mut bench.lab);
    thread::sleep(Duration::from_secs(2));
    let after = all(&mut bench.lab);
    assert_eq!(before, after, "packets of IPv6 before the first trial");
}

#[test]
fn what_cannot_go_over_ipv6_is_refused_when_the_plan_is_read() {
    let refused = |settings: &str, load: &str| {
        visit::parse(&PLAN.replace("SETTINGS", settings).replace("LOAD", load))
            .expect_err("refused")
    };
    let levels = "[factors.ip_version]\nlevels = [4, 6]";
    for (settings, load, wanted) in [
        ("ip_version = 5", LOADS[2], "write 4 or 6"),
        (
            "ip_version = 6\n[lab.links.lan]\nmtu = \"1279 B\"",
            LOADS[2],
            "line 5: ip_version = 6 needs an MTU of 1280 B on every link",
        ),
        (
            &format!("{levels}\n[factors.mtu]\nlevels = [\"1500 B\", \"576 B\"]"),
            LOADS[2],
            "link 'lan' has mtu = 576 B",
        ),
        (
            levels,
            "workload = \"http\"\nserver = \"http://192.0.2.7/\"",
            "http://192.0.2.7/ is asked over IPv4; name a server that stend starts",
        ),
    ] {
        let said = refused(settings, load);
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
    let alone = |text: &str| visit::parse(text).expect_err("refused");
    for text in ["[lab]\nip_version = 6", levels] {
        let said = alone(&format!("title = \"t\"\n{text}\n[load.it]\nworkload = \"mem_copy\"\n"));
        assert!(said.contains("ip_version has no use here"), "{said}");
    }
    assert!(plan("ip_version = 4\n[lab.links.lan]\nmtu = \"576 B\"", LOADS[2]).lab.clients == 1);
}

#[test]
fn what_wraps_ipv4_is_refused_beside_ipv6_and_a_tag_beside_a_relay() {
    let refused = |settings: &str| {
        let refusal = rig::factor::refuse(&plan(settings, LOADS[2]), Path::new("/"));
        refusal.expect_err("refused").to_string()
    };
    for factor in
        ["vlan\"]\nlevels = [\"off\", 7]", "ipsec\"]\nlevels = [\"off\", \"aes-gcm-128\"]"]
    {
        let said = refused(&format!("ip_version = 6\n[factors.\"{factor}"));
        assert!(said.contains("it carries IPv4 only; take ip_version = 4"), "{said}");
    }
    let said =
        refused(&format!("{}[factors.vlan]\nlevels = [\"off\", 7]", BOX.replace("ROLE", "relay")));
    assert!(said.contains("carries frames without the tags of VLANs"), "{said}");
}
