//! Programs answer as a search of the rules one by one does, frame by frame, and count it.

use super::*;
use crate::engine::packet::bpf::action;
use crate::engine::packet::bpf::tests::granted;
use crate::engine::packet::frame::{TCP, UDP};
use crate::engine::packet::live::Varied;
use crate::engine::packet::live::near_rules::NearRules;
use crate::engine::packet::rules::{Mix, Prefix, corners, first_match, generate};
use crate::engine::packet::traffic::{self, Aim};
use crate::engine::packet::tuple::Tuple;
use std::net::Ipv4Addr;

/// An adapter that every network namespace has.
const LOOPBACK: u32 = 1;

/// A frame with these fields; words of options stand behind the header of IPv4.
fn frame(tuple: &Tuple, options: u8) -> Vec<u8> {
    let mut frame = vec![2; 12];
    frame.extend([0x08, 0x00, 0x45 + options, 0, 0, 46, 0, 0, 0x40, 0, 64, tuple.protocol, 0, 0]);
    frame.extend(tuple.src.to_be_bytes());
    frame.extend(tuple.dst.to_be_bytes());
    frame.extend(vec![1; usize::from(options) * 4]);
    // Of a protocol without ports the same bytes are something else.
    let ported = matches!(tuple.protocol, TCP | UDP);
    let [from, to] = if ported { [tuple.src_port, tuple.dst_port] } else { [0x0800, 53] };
    frame.extend(from.to_be_bytes());
    frame.extend(to.to_be_bytes());
    frame.resize(60 + usize::from(options) * 4, 0);
    frame
}

/// The same frame with the tags of so many VLANs.
fn tagged(frame: &[u8], tags: usize) -> Vec<u8> {
    [&frame[..12], &[0x81, 0, 0xe4, 0xd2].repeat(tags), &frame[12..]].concat()
}

/// As it stands in a frame: without ports where its protocol has none.
fn carried(tuple: Tuple) -> Tuple {
    match tuple.protocol {
        TCP | UDP => tuple,
        _ => Tuple { src_port: 0, dst_port: 0, ..tuple },
    }
}

fn loaded(rules: &[Rule]) -> Loaded {
    Loaded::new([LOOPBACK; 2], rules).unwrap()
}

fn agree(rules: &[Rule], packets: impl Iterator<Item = Tuple>) -> usize {
    let bridge = loaded(rules);
    let mut right = vec![0; rules.len()];
    let mut count = 0;
    for packet in packets.map(carried) {
        let first = first_match(rules, &packet);
        let port = count % 2;
        let bare = frame(&packet, 0);
        // Every third one has the tag of a VLAN.
        let frame = if count % 3 == 0 { tagged(&bare, 1) } else { bare };
        let (answer, _) = bridge.programs[port].run(&frame, 1).unwrap();
        let wanted = if first.is_some() { action::DROP } else { action::REDIRECT };
        assert_eq!(answer, wanted.cast_unsigned(), "{packet:?} of {} rules", rules.len());
        first.into_iter().for_each(|rule| right[rule] += 1);
        count += 1;
    }
    let told = bridge.matched(u32::try_from(rules.len()).unwrap()).unwrap();
    assert_eq!(told, right, "packets by rule");
    let [near, far] = bridge.counts().unwrap();
    let sum = |of: fn(&PortCounts) -> u64| of(&near) + of(&far);
    let dropped: u64 = right.iter().sum();
    assert_eq!(sum(|port| port.received), count as u64);
    assert_eq!(sum(|port| port.dropped), dropped);
    assert_eq!(sum(|port| port.forwarded), count as u64 - dropped);
    assert_eq!(near.received, count.div_ceil(2) as u64);
    count
}

#[test]
fn lists_of_all_lengths_and_mixes_agree_with_a_search_one_by_one() {
    if !granted() {
        return;
    }
    for mix in [Mix::ACL, Mix::FIREWALL] {
        for count in [1, 63, 64, 65, 100, 128, 129, 300, 1000] {
            let rules = generate(count, &mix, 7);
            assert_eq!(rules.len(), count);
            let aim = Aim { hit: 0.4, near: 0.4, again: 0.0 };
            agree(&rules, traffic::generate(&rules, 2000, &aim, 8).into_iter());
        }
    }
}

#[test]
fn every_corner_of_every_rule_agrees() {
    if !granted() {
        return;
    }
    let rules = generate(200, &Mix::FIREWALL, 3);
    assert!(agree(&rules, rules.iter().flat_map(corners)) > 2000);
}

#[test]
fn the_widest_and_the_narrowest_rules_are_rules() {
    if !granted() {
        return;
    }
    let one = Rule {
        src: Prefix::around(u32::MAX, 32),
        dst: Prefix::around(0, 32),
        src_ports: (u16::MAX, u16::MAX),
        dst_ports: (0, 0),
        protocol: Some(UDP),
    };
    for rules in [vec![one], vec![one, Rule::ANY], vec![Rule { protocol: None, ..one }]] {
        agree(&rules, rules.iter().flat_map(corners));
    }
    assert!(matches!(
        Loaded::new([LOOPBACK; 2], &vec![Rule::ANY; RULES_MAX + 1]),
        Err(BridgeError::TooMany(1025))
    ));
}

#[test]
fn what_rules_cannot_tell_of_is_dropped_and_other_protocols_go_on() {
    if !granted() {
        return;
    }
    let web = Rule { dst_ports: (80, 80), protocol: Some(TCP), ..Rule::ANY };
    let bridge = loaded(&[web]);
    let answer = |frame: &[u8]| bridge.programs[0].run(frame, 1).unwrap().0.cast_signed();
    let packet = |dst_port| Tuple { dst_port, protocol: TCP, ..Tuple::default() };
    let good = frame(&packet(81), 0);
    let with = |at: usize, byte: u8| {
        let mut frame = good.clone();
        frame[at] = byte;
        frame
    };
    assert_eq!(answer(&good), action::REDIRECT);
    for options in [1, 10] {
        assert_eq!(answer(&frame(&packet(80), options)), action::DROP);
        assert_eq!(answer(&frame(&packet(81), options)), action::REDIRECT);
    }
    // Do not fragment is no fragment; more fragments and an offset are.
    assert_eq!(answer(&with(20, 0x40)), action::REDIRECT);
    let refused = [with(20, 0x20), with(21, 1), with(14, 0x44), with(14, 0x65), good[..37].into()];
    for frame in &refused {
        assert_eq!(answer(frame), action::DROP, "{frame:?}");
    }
    for frame in [with(12, 0x86), with(13, 0x06), good[..33].into()] {
        assert_eq!(answer(&frame), action::PASS, "{frame:?}");
    }
    // Behind one tag a packet is looked at as without it; the kernel gets what has two.
    let hit = frame(&packet(80), 1);
    let answers = [&good, &hit, &good[..37].into()].map(|frame| answer(&tagged(frame, 1)));
    assert_eq!(answers, [action::REDIRECT, action::DROP, action::DROP]);
    for frame in [tagged(&good, 2), tagged(&good[..33], 1), tagged(&with(12, 0x86), 1)] {
        assert_eq!(answer(&frame), action::PASS, "{frame:?}");
    }
    let none = PortCounts::default();
    let right =
        PortCounts { received: 20, forwarded: 5, dropped: 3, refused: 6, passed: 6, ..none };
    assert_eq!(bridge.counts().unwrap(), [right, none]);
}

#[test]
fn without_a_list_every_frame_of_its_protocol_is_forwarded() {
    if !granted() {
        return;
    }
    let bridge = loaded(&[]);
    let fragment = {
        let mut f = frame(&Tuple::default(), 0);
        f[21] = 1;
        f
    };
    assert_eq!(bridge.programs[1].run(&fragment, 10).unwrap().0, action::REDIRECT.cast_unsigned());
    let right = PortCounts { received: 10, forwarded: 10, ..PortCounts::default() };
    assert_eq!(bridge.counts().unwrap(), [PortCounts::default(), right]);
}

#[test]
#[ignore = "prints what a list costs, on a machine that does nothing else"]
fn the_cost_of_a_list_hangs_little_on_its_length() {
    if !granted() {
        return;
    }
    let source = Ipv4Addr::new(198, 18, 0, 11);
    let target = Ipv4Addr::new(198, 18, 0, 1);
    let near = |rules| {
        let sources = vec![source];
        let varied = Varied::default();
        NearRules { sources, target, varied, flows: 1 << 16, rules, dropped: 0.0, seed: 3 }
    };
    let (src, dst) = (source.into(), target.into());
    let packet = Tuple { src, dst, src_port: 50_000, dst_port: 5_002, protocol: UDP };
    let cost = |rules| {
        let bridge = loaded(&near(rules).list());
        let code = program::of(&bridge.maps, 0).unwrap();
        println!("{rules} rules: {} words of code", code.len());
        let times = [0; 5].map(|_| bridge.programs[0].run(&frame(&packet, 0), 2_000_000).unwrap());
        assert!(times.iter().all(|(answer, _)| *answer == action::REDIRECT.cast_unsigned()));
        times.iter().map(|(_, ns)| *ns).min().unwrap()
    };
    let [none, one, hundred, thousand] = [0, 1, 100, 1000].map(cost);
    println!("{none} ns without rules, {one} with 1, {hundred} with 100, {thousand} with 1000");
    assert!(hundred < none + 30 && thousand < none + 60);
}
