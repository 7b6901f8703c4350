//! Knows that raw frames are sent, forwarded and counted on a real lab, and that every one of them
//! is accounted for: back to back, through a kernel that routes, through a switch. What needs root
//! is skipped aloud.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "helpers of tests stand outside test functions"
)]

mod moment;
mod visit;

use desk::plan::order;
use desk::record::{Fault, Plan, TrialRecord, Value};
use rig::factor;
use rig::lab::wire::LinkRequest;
use rig::run::Bench;
use std::path::Path;

const DEVICE: usize = 2;

const BACK_TO_BACK: &str = "[lab.links.lan]\nkind = \"direct\"\nmembers = [\"c01\", \"sut\"]\n";
const BETWEEN: &str = "[lab.hosts.box]\nrole = \"ROLE\"\n[lab.links.far]\nkind = \"direct\"\n\
                       members = [\"box\", \"sut\"]\n[lab.links.near]\nkind = \"direct\"\n\
                       members = [\"c01\", \"box\"]\n";

fn plan(lab: &str, load: &str) -> Plan {
    let text = format!(
        "title = \"frames\"\n[lab]\nclients = 1\n{lab}[load.it]\nworkload = \"forward\"\n{load}\
         [method]\nblocks = 3\ndry = false\nsteady = \"noted\"\nsettle = \"100 ms\"\n\
         settle_max = \"100 ms\"\nwindow = \"400 ms\"\n"
    );
    visit::parse(&text).expect("a plan")
}

/// A list that drops 25 of 100 flows, and all other services of a process.
const SERVED: &str = "flows = 100\nrules = 100\nrule_hits = \"25 %\"\nroutes = 1000\n\
                      nat = \"on\"\npolicers = 4\nport_queues = 8\n\
                      target_addresses = 50\nsource_addresses = 20\ndscp_classes = 8\n";

/// A bucket that holds no whole frame.
const SHALLOW: &str = "fast_path = \"af_xdp\"\nframe_size = \"1518 B\"\npolicers = 1\n\
                       policer_rate = \"1 Mbit/s\"\npolicer_burst = \"1000 B\"\n";

/// A visit that the machine of this moment did not disturb; none where a kernel lacks live frames,
/// too.
fn visited(bench: &mut Bench, plan: &Plan) -> Option<TrialRecord> {
    let record = visit::undisturbed(bench, plan, &visit::first(plan))?;
    if let Some(Fault::NotAvailable { what }) = &record.outcome.fault {
        println!("skipped: {what}");
        return None;
    }
    Some(record)
}

/// Why a visit has no figure.
fn refused(bench: &mut Bench, plan: &Plan) -> String {
    let record = visit::undisturbed(bench, plan, &visit::first(plan)).expect("a fault");
    record.outcome.fault.expect("refused").to_string()
}

fn told(record: &TrialRecord, key: &str) -> f64 {
    record.reading("frames", "sut", key).expect(key).value
}

/// Every frame was sent or not, and came, or a counter tells of its drop.
fn closes(record: &TrialRecord, name: &str) {
    assert_eq!(record.outcome.fault, None, "{name}");
    let of = |key| told(record, key);
    let drops: f64 = record
        .readings
        .iter()
        .filter(|r| r.probe == "frames" && r.key.starts_with("dropped"))
        .fold(0.0, |sum, r| sum + r.quantity.value);
    let figure = |metric: &str| record.outcome.metric(metric).expect("a figure").value;
    println!(
        "{name}: {:.0} frames/s, loss {:.2e}, unsent {:.2e}; sent {}, received {}, dropped {drops}",
        figure("frames"),
        figure("loss"),
        figure("unsent"),
        of("sent"),
        of("received"),
    );
    assert!(of("sent") > 1000.0, "{name}: {} sent", of("sent"));
    assert!((of("scheduled") - of("sent") - of("unsent")).abs() < 0.5, "{name}");
    assert!(of("unexplained") < 0.5, "{name}");
    assert!(of("sent") - of("received") <= drops, "{name}: more is missing than is dropped");
    assert!(figure("frames") > 1000.0, "{name}");
    let times = record.outcome.distributions.iter().find(|d| d.name == "latency");
    assert!(times.is_some_and(|times| times.count > 100), "{name}: {times:?}");
}

/// What stands between the ends counted what the tester did: the two are read within a millisecond
/// of each other at the edges of 400 ms.
fn counts_agree(record: &TrialRecord, name: &str) {
    let [tester, own] = ["frames", "self_frames"]
        .map(|metric| record.outcome.metric(metric).expect("a count").value);
    assert!((own / tester - 1.0).abs() < 0.05, "{name}: {tester} and {own}");
}

#[test]
fn every_frame_is_accounted_for_back_to_back_through_a_router_and_through_a_switch() {
    const FULL: &str = "";
    const PACED: &str = "offered_load = \"67.2 Mbit/s\"\nlate_frames = \"lost\"\n";
    const LONG: &str = "frame_size = \"1518 B\"\npattern = \"counter\"\n\
                        target_addresses = 32768\nsource_addresses = 300\ndscp_classes = 64\n";
    const PACED_PACKET: &str = "engine = \"packet\"\noffered_load = \"67.2 Mbit/s\"\n";
    const PACED_XDP: &str = "engine = \"af_xdp\"\noffered_load = \"67.2 Mbit/s\"\n";
    const BACK: &str = "direction = \"transmit\"\n";
    const BOTH: &str = "direction = \"duplex\"\noffered_load = \"67.2 Mbit/s\"\n";
    let _lock = visit::lock();
    let through = |role: &str| BETWEEN.replace("ROLE", role);
    let labs: [(&str, String, &[&str]); 4] = [
        ("back to back", BACK_TO_BACK.to_owned(), &[FULL, PACED_XDP]),
        ("a router", through("device"), &[FULL, PACED, LONG, PACED_PACKET, BACK, BOTH]),
        ("a switch", through("switch"), &[FULL, BOTH]),
        ("a bridge", "[lab.links.lan]\n".to_owned(), &[FULL]),
    ];
    for (name, lab, loads) in labs {
        let Some(mut bench) = visit::as_root(&plan(&lab, "")) else { return };
        for load in loads {
            let plan = plan(&lab, load);
            let Some(record) = visited(&mut bench, &plan) else { continue };
            let place = name;
            let name = format!("{place} {}", load.trim().replace('\n', " "));
            closes(&record, &name);
            let alone = ["headroom", "latency_bias"].map(|one| record.outcome.metric(one));
            println!("{name}: {alone:?}");
            let told = alone.map(|figure| figure.is_some_and(|figure| figure.value > 0.0));
            assert_eq!(told, [place != "back to back"; 2], "{name}: {alone:?}");
            if ["a router", "a switch"].contains(&place) {
                counts_agree(&record, &name);
            }
            if load.contains("offered_load") {
                let rate = record.outcome.metric("frames").expect("a rate").value;
                // 67.2 Mbit/s of frames of 64 B with preamble and gap: 100,000 a second, each way.
                let ways = if load.contains("duplex") { 2_u32 } else { 1 };
                assert!((rate / f64::from(ways) - 1e5).abs() < 1e3, "{name}: {rate}");
                assert_eq!(record.outcome.flows.rows.len(), ways as usize, "{name}");
            }
        }
    }
}

/// A frame has so many bytes in the mean of those that came, and 20 more on a line.
fn bits_of_a_frame(record: &TrialRecord, name: &str, bytes: f64) {
    let [frames, bits] =
        ["frames", "throughput"].map(|metric| record.outcome.metric(metric).expect("a rate").value);
    let mean = (bytes + 20.0) * 8.0;
    assert!((bits / frames / mean - 1.0).abs() < 1e-3, "{name}: {bits} bit/s, {frames} a second");
}

#[test]
fn frames_of_a_mix_are_accounted_for_by_their_sizes() {
    let _lock = visit::lock();
    for (role, load) in [
        ("device", ""),
        ("device", "engine = \"af_xdp\"\n"),
        ("switch", "offered_load = \"45.82 Mbit/s\"\nfast_path = \"xdp\"\n"),
    ] {
        let plan = plan(&BETWEEN.replace("ROLE", role), &format!("frame_size = \"imix\"\n{load}"));
        let Some(mut bench) = visit::as_root(&plan) else { return };
        let Some(record) = visited(&mut bench, &plan) else { continue };
        let name = format!("{role}, {}", load.trim().replace('\n', " "));
        closes(&record, &name);
        counts_agree(&record, &name);
        bits_of_a_frame(&record, &name, 4342.0 / 12.0);
        if load.contains("offered_load") {
            let rate = record.outcome.metric("frames").expect("a rate").value;
            assert!((rate - 15_000.0).abs() < 150.0, "{name}: {rate}");
        }
        let work = &record.outcome.work;
        assert!(
            told(&record, "sent") > told(&record, "received") + 0.5
                || work.sent_bytes == work.received_bytes,
            "{name}: {work:?}"
        );
    }
}

/// A capture of two flows of UDP, of which one sends frames of 1004 B and the other of 64 and 76 B:
/// the tester sends the sink a datagram of 76 B, too.
fn capture() -> Vec<u8> {
    let header = [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 1];
    let mut file: Vec<u8> = header.into_iter().flat_map(u32::to_le_bytes).collect();
    for (length, port) in [(1000_u32, 7), (60, 8), (72, 8)] {
        let mut frame = [0; 42];
        frame[12] = 8;
        (frame[14], frame[17], frame[23], frame[35]) = (0x45, 28, 17, port);
        file.extend([0, 0, 42, length].into_iter().flat_map(u32::to_le_bytes));
        file.extend(frame);
    }
    file
}

#[test]
fn frames_of_a_capture_have_its_lengths_and_flows_and_a_file_of_another_kind_is_refused() {
    let _lock = visit::lock();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("two-flows.pcap");
    std::fs::write(&path, capture()).expect("a file");
    // Of IPv6 the shortest frames are as long as headers and marks.
    for (version, role, load, sum) in [
        ("", "device", "", 1144.0),
        ("", "switch", "fast_path = \"xdp\"\nrules = 100\n", 1144.0),
        ("ip_version = 6\n", "device", "", 1172.0),
    ] {
        let load = format!("frame_size = \"{}\"\n{load}", path.display());
        let plan = plan(&format!("{version}{}", BETWEEN.replace("ROLE", role)), &load);
        let Some(mut bench) = visit::as_root(&plan) else { return };
        let Some(record) = visited(&mut bench, &plan) else { continue };
        closes(&record, &load);
        bits_of_a_frame(&record, &load, sum / 3.0);
        let of_list =
            ["frames of the capture", "flows of the capture"].map(|key| told(&record, key));
        assert!((of_list[0] - 3.0).abs() + (of_list[1] - 2.0).abs() < 0.5, "{of_list:?}");
    }
    std::fs::write(&path, "no capture, but words of more than 24 letters").expect("a file");
    let load = format!("frame_size = \"{}\"\n", path.display());
    let plan = plan(BACK_TO_BACK, &load);
    let Some(mut bench) = visit::as_root(&plan) else { return };
    let fault = refused(&mut bench, &plan);
    assert!(fault.contains("two-flows.pcap: neither pcap nor pcapng"), "{fault}");
}

#[test]
fn jumbo_frames_go_by_packet_sockets_and_are_refused_elsewhere() {
    let _lock = visit::lock();
    let lab =
        BETWEEN.replace("ROLE", "device").replace("\"direct\"\n", "\"direct\"\nmtu = \"9000 B\"\n");
    let load = |more: &str| format!("frame_size = \"9018 B\"\n{more}");
    let by_sockets = plan(&lab, &load("engine = \"packet\"\n"));
    let Some(mut bench) = visit::as_root(&by_sockets) else { return };
    let Some(record) = visited(&mut bench, &by_sockets) else { return };
    closes(&record, "jumbo");
    counts_agree(&record, "jumbo");
    bits_of_a_frame(&record, "jumbo", 9018.0);
    for short in ["", "engine = \"packet\"\n"] {
        let Some(record) = visited(&mut bench, &plan(&lab, short)) else { continue };
        closes(&record, "64 B over large frames");
    }
    let plan = plan(&lab, &load(""));
    let fault = refused(&mut bench, &plan);
    assert!(fault.contains("frames have 9018 B; take engine = \"packet\""), "{fault}");
}

#[test]
fn a_burst_passes_a_router_whole_and_one_that_is_too_long_is_refused() {
    let _lock = visit::lock();
    let lab = BETWEEN.replace("ROLE", "device");
    let paced = |burst| format!("burst = {burst}\noffered_load = \"67.2 Mbit/s\"\n");
    let Some(mut bench) = visit::as_root(&plan(&lab, "")) else { return };
    for load in [paced(2000), "burst = 2000\n".to_owned()] {
        let Some(record) = visited(&mut bench, &plan(&lab, &load)) else { continue };
        closes(&record, &load);
        assert!((told(&record, "sent") - 2000.0).abs() < 0.5, "{load}");
    }
    let Some(record) = visited(&mut bench, &plan(&lab, &paced(200_000))) else { return };
    let fault = record.outcome.fault.expect("a burst of two seconds").to_string();
    assert!(
        fault.contains("a burst of 200000 frames takes 2.000 s, and 0.378 s of the window"),
        "{fault}"
    );
}

#[test]
fn frames_with_the_tag_of_a_vlan_pass_a_switch_of_the_kernel_and_one_of_xdp() {
    let _lock = visit::lock();
    for (load, size) in [
        ("", 64.0),
        ("engine = \"packet\"\nframe_size = \"1518 B\"\n", 1518.0),
        ("fast_path = \"xdp\"\nrules = 100\nframe_size = \"imix\"\n", 4342.0 / 12.0),
    ] {
        let text = format!("vlan_tag = 1234\n{load}");
        let plan = plan(&BETWEEN.replace("ROLE", "switch"), &text);
        let Some(mut bench) = visit::as_root(&plan) else { return };
        let Some(record) = visited(&mut bench, &plan) else { continue };
        closes(&record, &text);
        counts_agree(&record, &text);
        bits_of_a_frame(&record, &text, size + 4.0);
    }
}

#[test]
fn tags_are_refused_where_a_host_does_not_take_them_when_the_plan_is_read() {
    let read = |role: &str, tag: &str| {
        let lab = BETWEEN.replace("ROLE", role);
        visit::parse(&format!(
            "title = \"t\"\n[lab]\nclients = 1\n{lab}[load.it]\nworkload = \"forward\"\n{tag}"
        ))
    };
    for role in ["device", "relay"] {
        for tag in ["vlan_tag = 7\n", "over = { vlan_tag = [\"none\", 7] }\n"] {
            let said = read(role, tag).expect_err("refused");
            let wanted = format!(
                "line 14: vlan_tag = 7 gives frames the tag of a VLAN, and {role} 'box' takes \
                 none; write role = \"switch\" for it, or vlan_tag = \"none\""
            );
            assert!(said.contains(&wanted), "{said}");
        }
        read(role, "vlan_tag = \"none\"\n").expect("a plan");
    }
    read("switch", "vlan_tag = 7\n").expect("a plan");
}

#[test]
fn a_fast_path_joins_the_ports_of_a_switch_and_counts_what_its_rules_drop() {
    let _lock = visit::lock();
    let plan = |load: &str| plan(&BETWEEN.replace("ROLE", "switch"), load);
    let Some(mut bench) = visit::as_root(&plan("")) else { return };
    // A process is slower than a tester, and what is lost before it no rule dropped.
    let process = "fast_path = \"af_xdp\"\noffered_load = \"26.88 Mbit/s\"\n";
    for (path, rules, (lost, cause)) in [
        ("fast_path = \"xdp\"\n", "", (0.0, "rules")),
        ("fast_path = \"xdp\"\n", "rules = 1000\ntarget_addresses = 32768\n", (0.0, "rules")),
        ("fast_path = \"xdp\"\n", "rules = 100\nrule_hits = \"25 %\"\n", (0.25, "rules")),
        (process, "", (0.0, "rules")),
        (process, "rules = 100\nrule_hits = \"25 %\"\n", (0.25, "rules")),
        (process, SERVED, (0.25, "rules")),
        (
            process,
            "policers = 1\npolicer_rate = \"9.6 Mbit/s\"\npolicer_burst = \"16 KiB\"\n",
            (0.5, "policed"),
        ),
        (process, "planted_loss = \"10 %\"\n", (0.1, "planted loss")),
        (process, "planted_capacity = 20000\nrules = 100\n", (0.5, "planted capacity")),
    ] {
        let load = format!("{path}{rules}");
        let Some(record) = visited(&mut bench, &plan(&load)) else { continue };
        closes(&record, &load.trim().replace('\n', " "));
        counts_agree(&record, &load);
        let loss = record.outcome.metric("loss").expect("a loss").value;
        assert!((loss - lost).abs() < 0.01, "{load}: {loss}");
        let of = |key: &str| record.reading("frames", "box", key).map_or(0.0, |told| told.value);
        let (came, dropped) = (of("received near"), of(&format!("dropped near {cause}")));
        // One more is the packet by which the client's kernel tells the version of IP.
        let is_near = |all: f64, frames: f64| (frames - 0.5..frames + 1.5).contains(&all);
        assert!(is_near(came, told(&record, "sent")), "{load}: {came} came");
        assert!(is_near(of("forwarded near"), told(&record, "received")), "{load}");
        assert!((came - of("forwarded near") - dropped).abs() < 0.5, "{load}");
        assert!((dropped > 0.5) == (lost > 0.0), "{load}: {dropped}");
        let translated = if rules == SERVED { 75.0 } else { 0.0 };
        assert!((of("flows translated near") - translated).abs() < 0.5, "{load}");
    }
}

#[test]
fn a_process_forwards_both_ways_and_what_it_does_not_take_has_a_name() {
    let _lock = visit::lock();
    let plan = |load: &str| plan(&BETWEEN.replace("ROLE", "switch"), load);
    let Some(mut bench) = visit::as_root(&plan("")) else { return };
    // As fast as they go, testers are several times as fast.
    for (direction, ports) in [("receive", 1), ("transmit", 1), ("duplex", 2)] {
        let load = format!("fast_path = \"af_xdp\"\ndirection = \"{direction}\"\n");
        let Some(record) = visited(&mut bench, &plan(&load)) else { continue };
        closes(&record, direction);
        let of = |key: String| record.reading("frames", "box", &key).map_or(0.0, |told| told.value);
        let both = ["near", "far"];
        let forwards = |port: &&&str| of(format!("forwarded {port}")) > 1000.0;
        assert_eq!(both.iter().filter(forwards).count(), ports, "{direction}");
        let lost = told(&record, "sent") - told(&record, "received");
        let named: f64 = both.iter().map(|port| of(format!("dropped {port} rx_dropped"))).sum();
        assert!(lost > 1000.0 && (named - lost).abs() < 2.0, "{lost} lost, {named} named");
    }
}

#[test]
fn a_program_is_refused_where_no_bridge_has_the_ports_and_rules_where_the_kernel_forwards() {
    let _lock = visit::lock();
    for (lab, role, load, remedy) in [
        ("", "device", "fast_path = \"xdp\"\n", "role = \"switch\""),
        ("", "relay", "fast_path = \"xdp\"\n", "role = \"switch\""),
        ("", "device", "fast_path = \"af_xdp\"\n", "role = \"switch\""),
        ("", "switch", "target_addresses = 2\ndirection = \"duplex\"\n", "direction = \"receive\""),
        ("", "switch", "policer_rate = \"1 Mbit/s\"\n", "policers = 1"),
        ("", "switch", "flows = 9\ntarget_addresses = 10\n", "raise flows"),
        ("", "switch", "late_frames = \"lost\"\n", "offered_load"),
        ("", "switch", SHALLOW, "raise policer_burst"),
        ("", "switch", "rules = 3\n", "fast_path = \"xdp\""),
        ("", "switch", "fast_path = \"xdp\"\nnat = \"on\"\n", "fast_path = \"af_xdp\""),
        ("", "switch", "fast_path = \"af_xdp\"\nvlan_tag = 7\n", "vlan_tag = \"none\""),
        (
            "ip_version = 6\n",
            "switch",
            "frame_size = \"84 B\"\nfast_path = \"xdp\"\n",
            "ip_version = 4",
        ),
    ] {
        let plan = plan(&format!("{lab}{}", BETWEEN.replace("ROLE", role)), load);
        let Some(mut bench) = visit::as_root(&plan) else { return };
        let first = order(&plan).into_iter().next().expect("a trial");
        let visited = bench.run(&plan, vec![first], &mut |_| ()).expect("a run");
        let fault = visited.records[0].outcome.fault.as_ref().map(ToString::to_string);
        let fault = fault.unwrap_or_default();
        println!("{role}: {fault}");
        assert!(fault.contains(remedy), "{role}: {fault}");
    }
}

#[test]
fn frames_of_ipv6_pass_a_router_and_none_is_lost() {
    let _lock = visit::lock();
    let lab = format!("ip_version = 6\n{}", BETWEEN.replace("ROLE", "device"));
    let Some(mut bench) = visit::as_root(&plan(&lab, "")) else { return };
    let Some(record) = visited(&mut bench, &plan(&lab, "frame_size = \"84 B\"\n")) else { return };
    closes(&record, "a router of IPv6");
    // Headers alone take more than the shortest frame of Ethernet.
    let record = visit::undisturbed(&mut bench, &plan(&lab, ""), &visit::first(&plan(&lab, "")));
    let fault = record.and_then(|record| record.outcome.fault.map(|fault| fault.to_string()));
    assert!(fault.is_none_or(|fault| fault.contains("take frame_size = \"84 B\"")));
}

#[test]
fn several_clients_send_to_one_sink() {
    let _lock = visit::lock();
    let load = "offered_load = \"67.2 Mbit/s\"\n";
    let mut plan = plan("[lab.links.lan]\n", load);
    plan.lab.clients = 2;
    let Some(mut bench) = visit::as_root(&plan) else { return };
    let Some(record) = visited(&mut bench, &plan) else { return };
    closes(&record, "two clients");
    assert_eq!(record.outcome.flows.rows.len(), 2);
}

/// A packet filter and the switch of bridges, in both places where frames are forwarded.
#[test]
fn a_filter_slows_what_forwards_and_the_own_count_of_the_box_is_the_testers() {
    let _lock = visit::lock();
    for (role, form) in [("device", "filter_set"), ("switch", "filter_list")] {
        let plan = plan(&BETWEEN.replace("ROLE", role), "");
        let Some(mut bench) = visit::as_root(&plan) else { return };
        let filter = factor::mechanism(form).expect("a factor");
        if let Err(e) = filter.refuse(Path::new("/"), &Value::Count(100), 1) {
            println!("skipped: {e}");
            return;
        }
        let Some(open) = visited(&mut bench, &plan) else { return };
        let lab = &mut bench.lab;
        let none = Value::Count(0);
        assert_eq!(filter.observe(lab, "near", &none).expect(form), none);
        let undo = filter.apply(lab, "near", &Value::Count(100)).expect(form);
        let Some(held) = visited(&mut bench, &plan) else { return };
        let lab = &mut bench.lab;
        let found = filter.observe(lab, "near", &none).expect(form);
        assert_eq!(found, Value::Count(100), "{role}: the rules are read back");
        undo.carry_out(lab).expect("undo");
        assert_eq!(filter.observe(lab, "near", &none).expect(form), none, "{role}: undone");
        for (name, record) in [("open", &open), ("held", &held)] {
            let name = format!("{role}, {name}");
            closes(record, &name);
            counts_agree(record, &name);
        }
        let [open, held] = [&open, &held].map(|r| r.outcome.metric("frames").expect("r").value);
        assert!(held < open * 0.9, "{role}: {held} with a filter, {open} without");
    }
}

#[test]
fn a_bridge_that_shows_frames_to_the_filter_of_ip_is_read_back_and_undone() {
    let _lock = visit::lock();
    let plan = plan("[lab.links.lan]\n", "");
    let Some(mut bench) = visit::as_root(&plan) else { return };
    let shown = factor::mechanism("bridge_netfilter").expect("a factor");
    let [off, on] = ["off", "on"].map(|word| Value::Word(word.into()));
    if let Err(e) = shown.refuse(Path::new("/"), &on, 1) {
        assert!(e.to_string().contains("br_netfilter"), "{e}");
        println!("skipped: {e}");
        return;
    }
    let lab = &mut bench.lab;
    assert_eq!(shown.observe(lab, "lan", &on).expect("a switch"), off, "as labs are born");
    let undo = shown.apply(lab, "lan", &on).expect("on");
    assert_eq!(shown.observe(lab, "lan", &on).expect("a switch"), on);
    let told = |record: &TrialRecord| record.readings.iter().any(|r| r.key == "bridge_nf_call");
    if let Some(record) = visited(&mut bench, &plan) {
        assert!(told(&record), "the report doubts such a bridge");
    }
    let lab = &mut bench.lab;
    undo.carry_out(lab).expect("undo");
    assert_eq!(shown.observe(lab, "lan", &on).expect("a switch"), off);
}

#[test]
fn a_filter_that_somebody_else_changes_is_not_the_level_that_was_asked() {
    let _lock = visit::lock();
    let text = BETWEEN.replace("ROLE", "device");
    let plan = plan(&format!("filter_list = 20\n{text}"), "");
    let Some(mut bench) = visit::as_root(&plan) else { return };
    let filter = factor::mechanism("filter_list").expect("a factor");
    if filter.refuse(Path::new("/"), &Value::Count(20), 1).is_err() {
        println!("skipped: no program nft");
        return;
    }
    let Some(record) = visited(&mut bench, &plan) else { return };
    assert_eq!(record.observed.get("filter_list"), Some(&Value::Count(20)));
    // Another number of rules than was asked.
    let lab = &mut bench.lab;
    let _ = filter.apply(lab, "near", &Value::Count(7)).expect("seven rules");
    let asked = Value::Count(20);
    let found = filter.observe(lab, "near", &asked).expect("a number");
    let said = filter.must_be("filter_list", &asked, &found).err().map(|e| e.to_string());
    assert!(said.is_some_and(|said| said.contains("asked 20, read back 7")), "{found}");
}

#[test]
fn a_device_that_forwards_nothing_is_an_alarm_and_no_figure() {
    let _lock = visit::lock();
    let plan = plan(&BETWEEN.replace("ROLE", "device"), "offered_load = \"67.2 Mbit/s\"\n");
    let Some(mut bench) = visit::as_root(&plan) else { return };
    let setting = LinkRequest::SetSetting("ipv4/ip_forward".into(), "0".into());
    bench.lab.ask_links(vec![(DEVICE, vec![setting])]).expect("a setting");
    let first = order(&plan).into_iter().next().expect("a trial");
    let visited = bench.run(&plan, vec![first], &mut |_| ()).expect("a run");
    // After the fault the lab is built anew, and forwards again.
    let outcome = &visited.records[0].outcome;
    let fault = outcome.fault.as_ref().map(ToString::to_string).unwrap_or_default();
    assert!(fault.contains("none of"), "{fault}");
    assert!(fault.contains("InAddrErrors") || fault.contains("dropped"), "{fault}");
    assert!(outcome.samples.is_empty());
}

/// Nice values that threads of a name have now, by field 19 of their `stat`, proc(5).
fn nices(name: &str) -> Vec<i32> {
    let threads = std::fs::read_dir("/proc").into_iter().flatten().flatten().flat_map(|process| {
        std::fs::read_dir(process.path().join("task")).into_iter().flatten().flatten()
    });
    let nice = |thread: std::fs::DirEntry| {
        let stat = std::fs::read_to_string(thread.path().join("stat")).ok()?;
        let (head, fields) = stat.rsplit_once(") ")?;
        let value = fields.split(' ').nth(16)?.parse().ok();
        head.ends_with(&format!("({name}")).then_some(value)?
    };
    threads.filter_map(nice).collect()
}

#[test]
fn who_sends_on_a_schedule_has_the_nice_value_of_hosts() {
    let _lock = visit::lock();
    for (load, wanted) in [("offered_load = \"6.72 Mbit/s\"\n", -20), ("", 0)] {
        let plan = plan(BACK_TO_BACK, load);
        let Some(mut bench) = visit::as_root(&plan) else { return };
        let over = std::sync::atomic::AtomicBool::new(false);
        let seen = std::thread::scope(|scope| {
            let watch = scope.spawn(|| {
                let mut seen = Vec::new();
                while !over.load(std::sync::atomic::Ordering::SeqCst) {
                    seen.extend(nices("frames"));
                    std::thread::sleep(std::time::Duration::from_millis(20));
                }
                seen
            });
            visit::undisturbed(&mut bench, &plan, &visit::first(&plan));
            over.store(true, std::sync::atomic::Ordering::SeqCst);
            watch.join().expect("it watches")
        });
        // A thread has another until it has run.
        let others = seen.iter().filter(|nice| **nice != wanted).count();
        assert!(others * 2 < seen.len(), "{load}: {seen:?}");
    }
}
