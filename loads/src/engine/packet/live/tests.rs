//! Tests of frames, buckets and both programs, where this machine grants them.

use super::generator::{finish_tag, scramble};
use super::*;
use crate::engine::packet::bpf::tests::granted;
use crate::engine::packet::bpf::{Assembler, Map, MapKind, Program, Reg, Size};
use crate::engine::packet::capture::tests::pcap;
use crate::engine::packet::frame::FCS;
use hdrhistogram::Histogram;
use rig::lab::clock;
use rig::lab::link::Routes;
use std::collections::BTreeSet;
use std::fs::File;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::AsFd as _;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

const KEY: u64 = 0x0123_4567_89ab_cdef;

fn wire(bytes: usize) -> Wire {
    Wire {
        hardware: [[2, 0, 0, 0, 0, 2], [2, 0, 0, 0, 0, 1]],
        addresses: [Ipv4Addr::new(198, 18, 0, 10), Ipv4Addr::new(198, 18, 0, 1)].map(IpAddr::V4),
        varied: Varied::default(),
        sizes: Sizes::Alike(bytes),
        vlan: None,
        stream: 0,
        key: KEY,
        seed: 5,
    }
}

/// The same in a mix of lengths.
fn mixed() -> Wire {
    Wire { sizes: Sizes::imix(), ..wire(LEAST) }
}

/// A list as that of a capture: lengths and flows in no order.
fn list(lengths: [u16; 5]) -> Sizes {
    let flows = [0, 20_000, 1, 0, 65_535];
    let frames = lengths.into_iter().zip(flows).map(|(bytes, flow)| Listed { bytes, flow });
    Sizes::List(frames.collect())
}

/// Each length once.
fn each(sizes: &Sizes) -> BTreeSet<usize> {
    (0..12).map(|number| sizes.of(number)).collect()
}

/// The VLAN of frames with a tag.
const VLAN: u16 = 1234;

/// The same frames with the tag of a VLAN.
fn tagged(wire: Wire) -> Wire {
    Wire { sizes: wire.sizes.longer(TAG), vlan: Some(VLAN), ..wire }
}

/// The same over IPv6.
fn six(bytes: usize) -> Wire {
    let address = |last| IpAddr::V6(Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, last));
    Wire { addresses: [address(10), address(1)], ..wire(bytes) }
}

fn expected(wire: &Wire) -> Frames {
    Frames { sizes: wire.sizes.clone(), layout: wire.layout(), key: KEY, in_parts: false }
}

#[test]
fn a_template_is_as_long_as_it_says_and_its_checksum_sums_up() {
    for bytes in [LEAST, 65, 128, 1518] {
        let template = wire(bytes).template();
        assert_eq!(template.len(), bytes - FCS);
        let words = template[14..34].chunks(2);
        let sum: u32 = words.map(|two| u32::from(u16::from_be_bytes([two[0], two[1]]))).sum();
        assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff, "RFC 1071");
    }
}

#[test]
fn buckets_are_narrow_and_follow_one_another() {
    for bucket in 0..buckets::COUNT {
        assert_eq!(buckets::of(buckets::middle_ns(bucket)), bucket);
    }
    for ns in [200, 999, 12_345, 1 << 20, (1 << 37) - 1, u64::MAX] {
        let middle = buckets::middle_ns(buckets::of(ns));
        let ns = ns.min(buckets::MOST_NS);
        assert!(middle.abs_diff(ns) * 64 <= ns, "{ns} is told as {middle}");
    }
}

/// What a program makes of a value in `R6`, which it leaves in `R1`.
fn computed(value: u64, make: impl Fn(&mut Assembler)) -> u64 {
    let map = Map::new(MapKind::Array, (4, 8), 1).unwrap();
    let mut code = Assembler::new();
    code.load64(Reg::R6, value);
    make(&mut code);
    code.value(Reg::R2, &map);
    code.store(Size::D, (Reg::R2, 0), Reg::R1);
    code.mov_imm(Reg::R0, 1);
    code.exit();
    let program = Program::load("test", &code.finish().unwrap()).unwrap();
    program.run_live(&[0; 60], 1, 1).unwrap();
    map.sums(0).unwrap()[0]
}

#[test]
fn programs_compute_the_buckets_and_tags_of_this_process() {
    if !granted() {
        return;
    }
    for ns in [0, 1, 63, 64, 127, 128, 129, 255, 256, 1000, 77_777, 1 << 36, u64::MAX] {
        let bucket = computed(ns, |code| {
            code.mov(Reg::R1, Reg::R6);
            buckets::assemble(code, Reg::R1, [Reg::R4, Reg::R5]);
        });
        assert_eq!(bucket, u64::from(buckets::of(ns)), "{ns}");
    }
    for (sequence, stamp, mark) in [(0, 0, 0), (1, 2, 3), (u32::MAX, u64::MAX, 0x3f02)] {
        let tag = computed(u64::from(sequence), |code| {
            scramble(code, (Reg::R1, Reg::R6), Reg::R5, KEY);
            code.load64(Reg::R2, stamp);
            code.load64(Reg::R3, u64::from(mark));
            finish_tag(code, (Reg::R1, Reg::R2, Reg::R3), Reg::R5);
        });
        assert_eq!(tag, u64::from(super::wire::tag(KEY, (sequence, stamp, mark))));
    }
}

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// Two ends of a virtual cable in a namespace of this thread, which goes with this.
struct Cable(Vec<String>);

impl Drop for Cable {
    fn drop(&mut self) {
        for name in &self.0 {
            let _ = Command::new("ip").args(["netns", "del", name]).status();
        }
    }
}

/// Moves this thread into a network namespace.
fn enter(name: &str) {
    let there = File::open(format!("/run/netns/{name}")).unwrap();
    let kind = rustix::thread::LinkNameSpaceType::Network;
    rustix::thread::move_into_link_name_space(there.as_fd(), Some(kind)).unwrap();
}

fn index(name: &str) -> u32 {
    Routes::open().unwrap().link(name).unwrap().index
}

/// New namespaces; none where this machine has none for us.
fn namespaces(count: usize) -> Option<Cable> {
    if !granted() || !rustix::process::geteuid().is_root() {
        return None;
    }
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = |at| format!("stend-live-{}-{number}{at}", std::process::id());
    let cable = Cable((0..count).map(name).collect());
    cable.0.iter().for_each(|name| ip(&format!("netns add {name}")));
    Some(cable)
}

fn ip(words: &str) {
    let status = Command::new("ip").args(words.split(' ')).status().unwrap();
    assert!(status.success(), "ip {words}");
}

/// None where this machine has no namespaces for us.
fn cable() -> Option<(Cable, [u32; 2])> {
    let cable = namespaces(1)?;
    let name = &cable.0[0];
    enter(name);
    for words in ["link add name va type veth peer name vb", "link set va up", "link set vb up"] {
        ip(&format!("-n {name} {words}"));
    }
    let both = [index("va"), index("vb")];
    Some((cable, both))
}

/// A sender, a kernel that routes, a receiver.
const ROUTED: [(usize, &str); 13] = [
    (0, "link set va address 02:00:00:00:00:01"),
    (1, "link set vb address 02:00:00:00:00:02"),
    (2, "link set vd address 02:00:00:00:00:04"),
    (0, "address add 198.18.0.10/24 dev va"),
    (1, "address add 198.18.0.12/24 dev vb"),
    (1, "address add 198.18.1.12/24 dev vc"),
    (2, "address add 198.18.1.1/24 dev vd"),
    (0, "link set va up"),
    (1, "link set vb up"),
    (1, "link set vc up"),
    (2, "link set vd up"),
    (1, "neighbour add 198.18.1.1 lladdr 02:00:00:00:00:04 dev vc"),
    (2, "route add 198.18.0.0/24 via 198.18.1.12"),
];

/// What is sent through a router and what comes, with the router's adapter taking frames or not.
fn routed(sizes: Sizes, [rewritten, takes]: [bool; 2]) -> Option<(u64, u64)> {
    let path = namespaces(3)?;
    let [near, router, far] = [0, 1, 2].map(|at| path.0[at].as_str());
    ip(&format!("-n {near} link add name va type veth peer name vb netns {router}"));
    ip(&format!("-n {router} link add name vc type veth peer name vd netns {far}"));
    ROUTED.iter().for_each(|(at, words)| ip(&format!("-n {} {words}", path.0[*at])));
    enter(router);
    ip(&format!("netns exec {router} sysctl -qw net.ipv4.ip_forward=1"));
    let taken = takes.then(|| pass(index("vb")).unwrap());
    enter(far);
    let to = index("vd");
    let mut wire = Wire { sizes, ..wire(LEAST) };
    wire.hardware = [[2, 0, 0, 0, 0, 2], [2, 0, 0, 0, 0, 1]];
    wire.addresses[1] = Ipv4Addr::new(198, 18, 1, 1).into();
    let sink = Sink::attach(to, expected(&wire), 1).unwrap();
    enter(near);
    let sending = Sending { wire, rewritten, ..sending(index("va"), None) };
    let mut generator = Generator::new(&sending).unwrap();
    generator.go((clock::now_ns(), Duration::from_secs(5)), || rig::lab::cpus::pin(0)).unwrap();
    thread::sleep(Duration::from_millis(150));
    let sent = generator.stop().unwrap().sent.iter().sum();
    thread::sleep(Duration::from_millis(20));
    let totals = sink.totals().unwrap();
    assert_eq!(totals.damaged, 0);
    let came = totals.streams[0].came.iter().sum();
    drop(taken);
    println!("rewritten {rewritten}, taken {takes}: {sent} sent, {came} came");
    Some((sent, came))
}

#[test]
fn a_router_forwards_frames_whose_headers_are_all_written_and_only_a_batch_of_others() {
    // The pages of a mix come back cut, and are whole again.
    for sizes in [Sizes::Alike(LEAST), Sizes::imix()] {
        let Some((sent, came)) = routed(sizes.clone(), [true, true]) else { return };
        // Beside other tests a router drops what it has no time for, and counts it.
        assert!(sent > 10_000 && came > 1000 && came <= sent, "{sizes:?}: {came} of {sent}");
    }
    let alike = || Sizes::Alike(LEAST);
    let (sent, came) = routed(alike(), [false, true]).unwrap();
    // What the router wrote into a page stands in its next frame.
    assert!(sent > 10_000 && came <= 64, "{came} of {sent}");
    let (sent, came) = routed(alike(), [true, false]).unwrap();
    assert!(sent > 10_000 && came == 0, "an adapter without a program takes none: {came}");
}

fn sending(adapter: u32, pace: Option<Pace>) -> Sending {
    Sending {
        wire: wire(LEAST),
        adapter,
        flows: 1 << 16,
        pattern: Pattern::Random,
        pace,
        spoilt: false,
        rewritten: true,
        rushed: false,
        burst: None,
    }
}

/// Sends for so long, and reads both ends.
/// What was sent and what arrived. The queue of a cable is short, and beside other tests its reader
/// may be too late for it: up to five runs, until one lost nothing.
fn run(sending: &Sending, to: u32, length: Duration) -> (Sent, Totals, Histogram<u64>) {
    let mut again = (0..5).rev();
    loop {
        let (sent, totals, times) = run_once(sending, to, length);
        let came: u64 = totals.streams.iter().flat_map(|stream| stream.came).sum();
        let all = came + totals.damaged + totals.mistagged;
        if all == sent.sent.iter().sum::<u64>() || again.next() == Some(0) {
            return (sent, totals, times);
        }
    }
}

fn run_once(sending: &Sending, to: u32, length: Duration) -> (Sent, Totals, Histogram<u64>) {
    let sink = Sink::attach(to, expected(&sending.wire), 1).unwrap();
    let mut generator = Generator::new(sending).unwrap();
    let begins = clock::now_ns() + 5_000_000;
    let span = u64::try_from(length.as_nanos()).unwrap();
    let opens_ns = begins + 50_000_000;
    generator.go((begins, Duration::from_secs(5)), || rig::lab::cpus::pin(0)).unwrap();
    let edges = Edges { opens_ns, closes_ns: opens_ns + span };
    generator.announce(edges).unwrap();
    clock::sleep_until(opens_ns);
    if sending.pace.is_none() {
        generator.enter(1).unwrap();
    }
    // It is told once more before the window closes, and then goes on as it was.
    generator.announce(edges).unwrap();
    clock::sleep_until(opens_ns + span);
    if sending.pace.is_none() {
        generator.enter(2).unwrap();
    }
    thread::sleep(Duration::from_millis(5));
    let sent = generator.stop().unwrap();
    let mut times = desk::record::Distribution::empty().unwrap();
    sink.times(&mut times).unwrap();
    (sent, sink.totals().unwrap(), times)
}

#[test]
fn every_frame_of_a_cable_arrives_once_and_in_order() {
    let Some((_cable, [from, to])) = cable() else { return };
    let (sent, totals, times) = run(&sending(from, None), to, Duration::from_millis(200));
    let stream = totals.streams[0];
    let [p50, p99] = [0.5, 0.99].map(|at| times.value_at_quantile(at));
    println!("{sent:?} {totals:?} p50 {p50} ns p99 {p99} ns");
    assert!(sent.sent[1] > 100_000, "{sent:?}");
    assert_eq!(stream.came, sent.sent);
    assert_eq!((stream.reordered, stream.duplicates, stream.stale, totals.damaged), (0, 0, 0, 0));
    assert!(times.len() > 1000);
}

#[test]
fn what_is_scheduled_is_sent_or_told_as_unsent() {
    let Some((_cable, [from, to])) = cable() else { return };
    for (interval_ns, offset_ns) in [(333.25, 0.0), (10_000.0, 5_000.0), (80.0, 0.0)] {
        let pace = Some(Pace { interval_ns, offset_ns });
        let (sent, totals, times) = run(&sending(from, pace), to, Duration::from_millis(200));
        let [p50, p99] = [0.5, 0.99].map(|at| times.value_at_quantile(at));
        println!("{interval_ns}: {sent:?} {totals:?} p50 {p50} ns p99 {p99} ns");
        let scheduled = 200_000_000.0 / interval_ns;
        let told = (sent.sent[1] + sent.unsent[1]) as f64;
        assert!((told - scheduled).abs() <= 1.0, "{told} of {scheduled}");
        assert_eq!(totals.streams[0].came, sent.sent);
        assert!(!times.is_empty());
    }
}

#[test]
fn frames_of_a_mix_arrive_once_and_as_long_as_they_were_sent() {
    let Some((_cable, [from, to])) = cable() else { return };
    for interval_ns in [2000.0, 800.0] {
        let pace = Some(Pace { interval_ns, offset_ns: 0.0 });
        let sending = Sending { wire: mixed(), ..sending(from, pace) };
        let (sent, totals, times) = run(&sending, to, Duration::from_millis(100));
        let stream = totals.streams[0];
        println!("{pace:?}: {sent:?} {totals:?}");
        assert_eq!((stream.came, stream.reordered, totals.damaged), (sent.sent, 0, 0));
        let all: u64 = sent.sent.iter().sum();
        assert!(all > 10_000 && !times.is_empty(), "{sent:?}");
        assert_eq!(stream.bytes.iter().sum::<u64>(), Sizes::imix().sum(all));
        // By phases as well, up to the rounds at their edges.
        let mean = stream.bytes[1] as f64 / stream.came[1] as f64;
        assert!((mean / Sizes::imix().mean() - 1.0).abs() < 0.01, "{mean}");
    }
}

#[test]
fn a_frame_of_a_mix_is_as_long_as_its_number_says() {
    let Some((_cable, [from, to])) = cable() else { return };
    let pace = Some(Pace { interval_ns: 2e4, offset_ns: 0.0 });
    let sending = Sending { wire: mixed(), ..sending(from, pace) };
    let number = |frame: &[u8]| u32::from_ne_bytes(std::array::from_fn(|byte| frame[44 + byte]));
    let frames = captured(&sending, to, 240);
    for frame in &frames {
        let bytes = Sizes::imix().of(number(frame));
        assert_eq!(frame.len() + FCS, bytes, "{}", number(frame));
        let alike = wire(bytes).template();
        assert_eq!((&frame[..34], &frame[60..]), (&alike[..34], &alike[60..]));
        assert_eq!(frame[38..40], alike[38..40], "bytes of UDP");
    }
    // A socket whose reader is late loses frames, whatever their length.
    for bytes in each(&Sizes::imix()) {
        assert!(frames.iter().filter(|frame| frame.len() + FCS == bytes).count() > 5, "{bytes} B");
    }
    // A frame of another length than its own is damaged.
    let sink = Sink::attach(to, expected(&mixed()), 1).unwrap();
    let sent = sent_by_packets(&Sending { wire: wire(594), ..sending }, 1);
    thread::sleep(Duration::from_millis(20));
    let totals = sink.totals().unwrap();
    let right = (0..).take(sent).filter(|at| Sizes::imix().of(*at) == 594).count();
    assert_eq!(totals.streams[0].came[1], right as u64);
    assert_eq!(totals.damaged, (sent - right) as u64);
}

#[test]
fn a_list_as_long_as_that_of_a_capture_is_sent_and_counted() {
    let Some((_cable, [from, to])) = cable() else { return };
    let pace = Some(Pace { interval_ns: 5e3, offset_ns: 0.0 });
    let frames = (0..u16::MAX).map(|at| Listed { bytes: 84 + at % 1400, flow: u32::from(at) });
    let sizes = Sizes::List(frames.collect());
    for wire in [wire(LEAST), six(84), tagged(six(84))] {
        let tag = wire.layout().tag_bytes();
        let wire = Wire { sizes: sizes.clone().longer(tag), ..wire };
        // The form for large frames passes the verifier, too.
        let large = Frames { in_parts: true, ..expected(&wire) };
        drop(Sink::attach(to, large, 1).unwrap());
        let sending = Sending { wire, pattern: Pattern::Listed, ..sending(from, pace) };
        let (sent, totals, _) = run(&sending, to, Duration::from_millis(50));
        let (stream, all) = (totals.streams[0], sent.sent.iter().sum());
        assert_eq!((stream.came, totals.damaged, totals.mistagged), (sent.sent, 0, 0));
        assert_eq!(stream.bytes.iter().sum::<u64>(), sending.wire.sizes.sum(all));
    }
}

#[test]
fn a_burst_is_sent_whole_within_the_window_and_nothing_besides() {
    let Some((_cable, [from, to])) = cable() else { return };
    for pace in [None, Some(Pace { interval_ns: 5000.5, offset_ns: 700.0 })] {
        for frames in [1, 1000] {
            let burst = Sending { burst: Some(frames), ..sending(from, pace) };
            let (sent, totals, _) = run(&burst, to, Duration::from_millis(50));
            let told = [sent.sent[1] + sent.unsent[1], sent.sent[0], sent.sent[2]];
            assert_eq!(told, [u64::from(frames), 0, 0], "{pace:?}: {sent:?}");
            assert_eq!(totals.streams[0].came, sent.sent, "{pace:?}");
        }
    }
}

#[test]
fn frames_of_ipv6_arrive_once_and_in_order() {
    let Some((_cable, [from, to])) = cable() else { return };
    for bytes in [six(LEAST).layout().least(), MOST] {
        let sending = Sending { wire: six(bytes), ..sending(from, None) };
        // Beside other tests a CPU may be too late for a whole window.
        let mut most = 0;
        for _ in 0..5 {
            let (sent, totals, _) = run(&sending, to, Duration::from_millis(50));
            assert_eq!((totals.streams[0].came, totals.damaged), (sent.sent, 0), "{bytes} B");
            most = most.max(sent.sent[1]);
            if most > 10_000 {
                break;
            }
        }
        assert!(most > 10_000, "{most}");
    }
}

#[test]
fn programs_write_the_addresses_and_classes_that_this_process_expects() {
    let Some((_cable, [from, to])) = cable() else { return };
    let all = Varied { targets: 32_768, sources: 255, classes: 64 };
    let one = Varied::default();
    let few = [Varied { targets: 3, ..one }, Varied { sources: 99, ..one }];
    for varied in few.into_iter().chain([Varied { classes: 8, ..one }, all]) {
        for wire in [wire(LEAST), mixed()] {
            let pace = Some(Pace { interval_ns: 1e5, offset_ns: 0.0 });
            let wire = Wire { varied, stream: 63, ..wire };
            let sending = Sending { wire: wire.clone(), ..sending(from, pace) };
            let mut seen = BTreeSet::new();
            for frame in captured(&sending, to, 200) {
                let number = u32::from_ne_bytes(std::array::from_fn(|byte| frame[44 + byte]));
                let stamp = u64::from_ne_bytes(std::array::from_fn(|byte| frame[48 + byte]));
                let mut ours = wire.template_of(frame.len());
                let flow = wire.flow_of((sending.pattern, sending.flows), number);
                wire.write(&mut ours, (number, stamp, frame[42].into()), flow);
                assert_eq!(frame, ours, "{varied:?} {number}");
                seen.insert([&frame[15..16], &frame[26..34]].concat());
            }
            let least = if varied.targets == 3 { 3 } else { 8 };
            assert!(seen.len() >= least, "{varied:?}: {seen:?}");
        }
    }
}

/// The sum of a datagram and its pseudo-header (RFC 8200, 8.1) is all ones.
fn sums_up(frame: &[u8]) -> bool {
    let length = u32::try_from(frame.len() - 54).unwrap().to_be_bytes();
    let mut all = [&frame[22..54], &length[..], &[0, 0, 0, 17], &frame[54..]].concat();
    all.resize(all.len().next_multiple_of(2), 0);
    let words = all.chunks(2).map(|two| u32::from(u16::from_be_bytes([two[0], two[1]])));
    words.sum::<u32>() % 0xffff == 0
}

#[test]
fn every_frame_of_ipv6_has_the_checksum_of_its_datagram() {
    let Some((_cable, [from, to])) = cable() else { return };
    for bytes in [84, 85, 1001] {
        let pace = Some(Pace { interval_ns: 1e4, offset_ns: 0.0 });
        let sending = Sending { wire: six(bytes), ..sending(from, pace) };
        let frames = captured(&sending, to, 300);
        assert!(frames.iter().all(|frame| sums_up(frame) && frame[60..62] != [0, 0]), "{bytes} B");
        let mut ours = sending.wire.template();
        sending.wire.write(&mut ours, (7, 8, 1), 70_000);
        assert!(sums_up(&ours));
    }
}

#[test]
fn frames_with_the_tag_of_a_vlan_arrive_and_others_are_told_of() {
    let Some((_cable, [from, to])) = cable() else { return };
    for wire in [wire(LEAST), wire(MOST), mixed(), six(84)] {
        let pace = Some(Pace { interval_ns: 2000.0, offset_ns: 0.0 });
        let sending = Sending { wire: tagged(wire.clone()), ..sending(from, pace) };
        let (sent, totals, _) = run(&sending, to, Duration::from_millis(50));
        assert_eq!((totals.streams[0].came, totals.damaged, totals.mistagged), (sent.sent, 0, 0));
        let all = sent.sent.iter().sum();
        assert!(all > 1000, "{sent:?}");
        assert_eq!(totals.streams[0].bytes.iter().sum::<u64>(), wire.sizes.sum(all) + 4 * all);
        let other = Wire { vlan: Some(VLAN + 1), ..tagged(wire.clone()) };
        for (sends, right) in [(tagged(wire.clone()), true), (other, false), (wire, false)] {
            let sink = Sink::attach(to, expected(&sending.wire), 1).unwrap();
            let sending = Sending { wire: sends, ..sending.clone() };
            let sent = sent_by_packets(&sending, 1) as u64;
            thread::sleep(Duration::from_millis(20));
            let Totals { streams, damaged, mistagged } = sink.totals().unwrap();
            let told = [streams[0].came[1], mistagged, damaged];
            assert_eq!(told, if right { [sent, 0, 0] } else { [0, sent, 0] });
        }
    }
}

#[test]
fn a_wrong_tag_is_told_and_not_counted() {
    let Some((_cable, [from, to])) = cable() else { return };
    let spoilt = Sending { spoilt: true, ..sending(from, None) };
    let (sent, totals, _) = run(&spoilt, to, Duration::from_millis(20));
    assert_eq!(totals.damaged, sent.sent.iter().sum::<u64>());
    assert_eq!(totals.streams[0], Stream::default());
}

#[test]
fn a_frame_of_the_window_that_comes_again_is_a_duplicate() {
    let Some((_cable, [from, to])) = cable() else { return };
    let sending = sending(from, None);
    let sink = Sink::attach(to, expected(&sending.wire), 1).unwrap();
    let mut maker = maker::Maker::new(&sending);
    let mut plain = plain::Plain::open(from, maker.template()).unwrap();
    for (phase, times) in [(0, 2), (1, 3), (2, 4)] {
        let marks = [maker::Mark { stamp: 0, phase }; 5];
        for _ in 0..times {
            maker.next = u32::from(phase) * 5;
            assert_eq!(plain.send(&mut maker, &marks).unwrap(), 5);
        }
    }
    thread::sleep(Duration::from_millis(20));
    let stream = sink.totals().unwrap().streams[0];
    assert_eq!((stream.came, stream.duplicates, stream.stale), ([5; 3], 10, 0));
}

#[test]
fn programs_send_the_flows_that_this_process_expects() {
    let Some((_cable, [from, to])) = cable() else { return };
    for pattern in [Pattern::Counter, Pattern::Random, Pattern::Listed] {
        let mut sending = sending(from, Some(Pace { interval_ns: 1e5, offset_ns: 0.0 }));
        sending.pattern = pattern;
        sending.wire.sizes = list([200; 5]);
        let frames = captured(&sending, to, 200);
        for frame in &frames {
            let word = |at: usize| u16::from_be_bytes([frame[at], frame[at + 1]]);
            let number = u32::from_ne_bytes(std::array::from_fn(|byte| frame[44 + byte]));
            let flow = u32::from(word(34) - 49_152) | u32::from(word(36) - 5_001) << 14;
            assert_eq!(
                flow,
                sending.wire.flow_of((pattern, 1 << 16), number),
                "{pattern:?} {number}"
            );
            let template = sending.wire.template();
            assert_eq!(frame[..34], template[..34]);
            assert_eq!(frame[60..], template[60..]);
        }
    }
}

/// Frames as a packet socket of this namespace receives them.
fn captured(sending: &Sending, to: u32, count: usize) -> Vec<Vec<u8>> {
    let _pass = pass(to).unwrap();
    let every = rustix::net::eth::ALL;
    let kind = rustix::net::SocketType::RAW;
    let family = rustix::net::AddressFamily::PACKET;
    let socket = rustix::net::socket(family, kind, Some(every)).unwrap();
    let mut generator = Generator::new(sending).unwrap();
    generator.go((clock::now_ns(), Duration::from_secs(5)), || Ok(())).unwrap();
    let mut frames = Vec::new();
    let mut bytes = vec![0; 2048];
    while frames.len() < count {
        let (length, _) =
            rustix::net::recv(&socket, &mut bytes[..], rustix::net::RecvFlags::empty()).unwrap();
        if each(&sending.wire.sizes).contains(&(length + FCS)) {
            frames.push(bytes[..length].to_vec());
        }
    }
    generator.stop().unwrap();
    frames
}

/// Sends in so many calls, and gives how many frames the kernel took.
fn sent_by_packets(sending: &Sending, calls: u32) -> usize {
    let mut maker = maker::Maker::new(sending);
    let mut plain = plain::Plain::open(sending.adapter, maker.template()).unwrap();
    let marks = [maker::Mark { stamp: 0, phase: 1 }; maker::BATCH];
    (0..calls).map(|_| plain.send(&mut maker, &marks).unwrap()).sum()
}

#[test]
fn packet_sockets_send_the_same_frames() {
    let Some((_cable, [from, to])) = cable() else { return };
    for wire in [wire(LEAST), mixed()] {
        let sink = Sink::attach(to, expected(&wire), 1).unwrap();
        let sizes = wire.sizes.clone();
        let sent = sent_by_packets(&Sending { wire, ..sending(from, None) }, 200);
        thread::sleep(Duration::from_millis(20));
        let totals = sink.totals().unwrap();
        assert!(sent > 5_000, "{sent}");
        assert_eq!((totals.streams[0].came[1], totals.damaged), (sent as u64, 0));
        assert_eq!(totals.streams[0].bytes[1], sizes.sum(sent as u64));
    }
}

#[test]
fn sockets_keep_a_schedule_or_tell_what_is_unsent() {
    let Some((_cable, [from, to])) = cable() else { return };
    let kinds = [sockets::Kind::Packet, sockets::Kind::Xdp];
    let paces = [None, Some(20_000.0), Some(300.0)];
    for (kind, interval_ns) in kinds.into_iter().flat_map(|kind| paces.map(|pace| (kind, pace))) {
        let pace = interval_ns.map(|interval_ns| Pace { interval_ns, offset_ns: 0.0 });
        let sending = sending(from, pace);
        let sink = Sink::attach(to, expected(&sending.wire), 1).unwrap();
        let mut sockets = sockets::Sockets::new(&sending, kind).unwrap();
        let begins = clock::now_ns() + 2_000_000;
        let [opens_ns, closes_ns] = [20, 120].map(|ms| begins + ms * 1_000_000);
        sockets.announce(Edges { opens_ns, closes_ns });
        sockets.go((begins, Duration::from_secs(5)), || rig::lab::cpus::pin(0)).unwrap();
        for (phase, at_ns) in [(1, opens_ns), (2, closes_ns)] {
            clock::sleep_until(at_ns);
            sockets.enter(phase);
        }
        thread::sleep(Duration::from_millis(5));
        let sent = sockets.stop().unwrap();
        thread::sleep(Duration::from_millis(20));
        let totals = sink.totals().unwrap();
        let mut times = desk::record::Distribution::empty().unwrap();
        sink.times(&mut times).unwrap();
        println!("{kind:?} {interval_ns:?}: {sent:?} {totals:?} {} times", times.len());
        assert_eq!((totals.streams[0].came, totals.damaged), (sent.sent, 0));
        assert!(sent.sent[1] > 1000 && times.len() > 50);
        let told = (sent.sent[1] + sent.unsent[1]) as f64;
        match interval_ns {
            Some(interval_ns) => {
                assert!((told - 1e8 / interval_ns).abs() <= 1.0, "{told} of {interval_ns}");
                // A socket does not send 3.3 million frames a second here.
                assert!(interval_ns > 1e3 || sent.unsent[1] > 1000, "{sent:?}");
            }
            None => assert_eq!(sent.unsent, [0; 3]),
        }
    }
}

/// Packets of a file that pass a filter of another program. It takes what UDP carries as bytes: by
/// some of the ports it would look for other protocols in them.
fn decoded(path: &std::path::Path, filter: &str) -> usize {
    let mut tshark = Command::new("tshark");
    tshark.args(["-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE", "-n", "-r"]);
    tshark.arg(path).args(["-d", "udp.port==1-65535,data"]);
    let told = tshark.args(["-Y", filter, "-T", "fields", "-e", "frame.number"]);
    let told = told.output().unwrap();
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    String::from_utf8_lossy(&told.stdout).lines().count()
}

/// Writes the frames to a file as another program finds them, which puts the tags of VLANs where
/// they were: the kernel hands them over beside the frame.
fn dumped(sending: &Sending, path: &std::path::Path, count: usize) {
    let mut tshark = Command::new("tshark");
    tshark.args(["-q", "-i", "vb", "-F", "pcap", "-f", "vlan", "-c", &count.to_string(), "-w"]);
    let _pass = pass(index("vb")).unwrap();
    let mut dumping = tshark.arg(path).spawn().unwrap();
    // It begins to listen at a moment that it does not tell.
    thread::sleep(Duration::from_secs(3));
    let mut generator = Generator::new(sending).unwrap();
    generator.go((clock::now_ns(), Duration::from_secs(5)), || Ok(())).unwrap();
    assert!(dumping.wait().unwrap().success());
    generator.stop().unwrap();
}

#[test]
#[ignore = "needs tshark: ./test full"]
fn another_program_finds_every_frame_well_formed() {
    if Command::new("tshark").arg("--version").output().is_err() {
        println!("skipped: needs tshark");
        return;
    }
    const COUNT: usize = 10_000;
    let Some((_cable, [from, to])) = cable() else { return };
    let varied = Varied { targets: 32_768, sources: 16_384, classes: 64 };
    let cases = [
        (Pattern::Counter, wire(64)),
        (Pattern::Random, wire(64)),
        (Pattern::Counter, wire(1518)),
        (Pattern::Random, wire(1000)),
        (Pattern::Random, Wire { varied, ..mixed() }),
        (Pattern::Counter, six(84)),
        (Pattern::Random, six(1518)),
        (Pattern::Random, six(501)),
        (Pattern::Random, mixed()),
        (Pattern::Random, tagged(wire(64))),
        (Pattern::Random, tagged(six(1518))),
        (Pattern::Random, tagged(mixed())),
        (Pattern::Listed, Wire { sizes: list([64, 1518, 65, 999, 64]), ..wire(LEAST) }),
        (Pattern::Listed, Wire { sizes: list([84, 1518, 85, 999, 84]), ..six(84) }),
    ];
    for (pattern, wire) in cases {
        let (layout, sizes) = (wire.layout(), wire.sizes.clone());
        let name = format!("{pattern:?} {layout:?} {sizes:?}");
        let pace = Some(Pace { interval_ns: 2e4, offset_ns: 0.0 });
        let sending = Sending { wire, pattern, ..sending(from, pace) };
        let path = std::env::temp_dir().join(format!("stend-frames-{}.pcap", std::process::id()));
        match layout.vlan {
            None => {
                std::fs::write(&path, pcap(&captured(&sending, to, COUNT), usize::MAX)).unwrap()
            }
            Some(_) => dumped(&sending, &path, COUNT),
        }
        let wrong = "_ws.malformed || ip.checksum.status == 0 || udp.checksum.status == 0 || \
                     _ws.expert.severity >= 0x600000";
        let mut right = match layout.six {
            false => "udp && ip.checksum.status == 1 && ip.ttl == 64".to_owned(),
            true => "udp && udp.checksum.status == 1 && ipv6.hlim == 64".to_owned(),
        };
        right += " && udp.srcport >= 49152 && udp.dstport >= 5001";
        right += &layout.vlan.map_or(" && !vlan".into(), |vlan| format!(" && vlan.id == {vlan}"));
        assert_eq!(decoded(&path, wrong), 0, "{name}");
        assert_eq!(decoded(&path, &right), COUNT, "{name}");
        let counts = each(&sizes).into_iter();
        let counts =
            counts.map(|b| decoded(&path, &format!("{right} && frame.len == {}", b - FCS)));
        let counts: Vec<usize> = counts.collect();
        println!("{name}: {COUNT} frames, none malformed, by length {counts:?}");
        // A capture beside other tests misses frames here and there.
        let round = sizes.list().map_or(1, <[Listed]>::len);
        let shares = each(&sizes).into_iter().map(|bytes| {
            let of = (0..).take(round).filter(|at| sizes.of(*at) == bytes).count();
            of * COUNT / round
        });
        let near = |(count, share): (&usize, usize)| count.abs_diff(share) <= COUNT / 100;
        assert!(counts.iter().zip(shares).all(near), "{name}: {counts:?}");
        // One bit of a header is found, or nothing was looked at.
        let mut file = std::fs::read(&path).unwrap();
        file[24 + 16 + 22 + layout.tag_bytes()] ^= 1;
        std::fs::write(&path, &file).unwrap();
        assert_eq!(decoded(&path, wrong), 1);
        std::fs::remove_file(&path).unwrap();
    }
}
