//! Many packets hit the rules that a search one by one finds.

use super::span::{Known, Span, Window};
use super::*;
use crate::engine::packet::rules::{Mix, Prefix, corners, first_match, generate};
use crate::engine::packet::traffic::{self, Aim};
use proptest::prelude::*;

/// The answers of each form of instructions, all of which must be those of the search one by one.
fn agree(rules: &[Rule], packets: &[Tuple]) {
    let right: Vec<u32> = packets
        .iter()
        .map(|packet| first_match(rules, packet).map_or(NONE, |at| u32::try_from(at).unwrap()))
        .collect();
    for form in Form::all() {
        let acl = Acl::build(rules).unwrap().with(form);
        let mut found = vec![7; packets.len()];
        acl.classify(packets, &mut found);
        for ((packet, found), right) in packets.iter().zip(found).zip(&right) {
            assert_eq!(found, *right, "{form:?}: {packet:?} of {} rules", rules.len());
        }
    }
}

#[test]
fn lists_of_all_lengths_and_mixes_agree() {
    for mix in [Mix::ACL, Mix::FIREWALL] {
        for count in [1, 8, 9, 100, 600] {
            let rules = generate(count, &mix, 7);
            assert_eq!(rules.len(), count);
            for aim in [Aim::HIT, Aim::NEAR, Aim { hit: 0.3, near: 0.3, again: 0.1 }] {
                agree(&rules, &traffic::generate(&rules, 1000, &aim, 8));
            }
        }
    }
}

#[test]
fn every_corner_of_every_rule_agrees() {
    let rules = generate(150, &Mix::FIREWALL, 3);
    let packets: Vec<Tuple> = rules.iter().flat_map(corners).collect();
    assert!(packets.len() > 1500, "{}", packets.len());
    agree(&rules, &packets);
}

#[test]
fn an_empty_list_matches_nothing() {
    agree(&[], &[Tuple::default(); 3]);
}

#[test]
fn no_packet_is_answered_beyond_the_shorter_slice() {
    let acl = Acl::build(&[Rule::ANY]).unwrap();
    let mut found = [7; 70];
    acl.classify(&[Tuple::default(); 66], &mut found);
    assert_eq!(found[65..], [0, 7, 7, 7, 7]);
    let mut few = [7; 3];
    acl.classify(&[Tuple::default(); 66], &mut few);
    assert_eq!(few, [0; 3]);
}

#[test]
fn a_leaf_may_have_many_blocks() {
    // All hold the address 10.0.0.0 in all ports that differ: nothing tells them apart but a port.
    let rule =
        |at: u16| Rule { src_ports: (at, at + 600), dst_ports: (600 - at, 1200), ..Rule::ANY };
    let rules: Vec<Rule> = (0..600).map(rule).collect();
    let packets: Vec<Tuple> = rules.iter().step_by(7).flat_map(corners).collect();
    agree(&rules, &packets);
}

#[test]
fn rules_that_nothing_tells_apart_are_refused_with_the_remedy() {
    // In the middle all of them hold the same packets, and none hides another.
    let rule = |at: u16| Rule {
        src_ports: (at, u16::MAX - at),
        dst_ports: (20_000 - at, 40_000 + at),
        ..Rule::ANY
    };
    let rules: Vec<Rule> = (0..9000).map(rule).collect();
    let refused = Acl::build(&rules).unwrap_err();
    assert!(matches!(refused, AclError::Overlap(_)), "{refused:?}");
    assert!(refused.to_string().contains("take fewer that overlap"), "{refused}");
}

#[test]
fn too_long_a_list_is_refused() {
    let refused = Acl::build(&vec![Rule::ANY; RULES_MAX + 1]).unwrap_err();
    assert_eq!(refused, AclError::TooMany(RULES_MAX + 1));
}

#[test]
fn an_index_of_any_size_comes_back_from_a_block() {
    for index in [0, 1, 0x7FFF, 0x8000, 0xF_FFFF] {
        let block = block::Block::of(&[(index, spans(&Rule::ANY))]);
        let key = key::Key::from(&Tuple { src: 1, dst: 2, ..Tuple::default() });
        assert_eq!(block.index(block.matched(&key)), index);
        assert_eq!(block.matched(&key), 1, "only the rule that is there");
    }
}

fn prefixes() -> impl Strategy<Value = Prefix> {
    // Few addresses, so that rules meet.
    let addresses = prop_oneof![any::<u32>(), (0_u32..16).prop_map(|low| 0x0A00_0000 | low)];
    (addresses, 0_u8..=32).prop_map(|(address, len)| Prefix::around(address, len))
}

fn ports() -> impl Strategy<Value = (u16, u16)> {
    prop_oneof![
        Just((0, u16::MAX)),
        any::<u16>().prop_map(|port| (port, port)),
        (any::<u16>(), any::<u16>()).prop_map(|(a, b)| (a.min(b), a.max(b))),
        (0_u16..40, 0_u16..40).prop_map(|(a, b)| (a.min(b), a.max(b))),
    ]
}

fn lists() -> impl Strategy<Value = Vec<Rule>> {
    let protocols = prop_oneof![Just(None), any::<u8>().prop_map(Some), Just(Some(6))];
    let rules = (prefixes(), prefixes(), ports(), ports(), protocols);
    let rules = rules.prop_map(|(src, dst, src_ports, dst_ports, protocol)| Rule {
        src,
        dst,
        src_ports,
        dst_ports,
        protocol,
    });
    prop::collection::vec(rules, 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 40,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_list_agrees_at_all_its_corners(rules in lists()) {
        let packets: Vec<Tuple> = rules.iter().flat_map(corners).collect();
        agree(&rules, &packets);
    }

    #[test]
    fn the_lowest_value_with_known_bits_is_that_of_a_search(
        mask in 0_u32..256, value in 0_u32..256, low in 0_u32..256,
    ) {
        let known = Known { mask, value: value & mask };
        let fits = |at: &u32| at & mask == known.value;
        // Bits above the eight are free: the answer may lie beyond 255.
        prop_assert_eq!(known.at_least(low), (low..512).find(fits));
        let known = Known { mask: mask | !0xFF, value: value & mask };
        prop_assert_eq!(known.at_most(low), (0..=low).rev().find(fits));
    }

    #[test]
    fn a_window_reaches_every_value_that_a_span_has(
        (low, high) in (0_u32..1024, 0_u32..1024), shift in 0_u32..8, bits in 1_u32..5,
    ) {
        let (low, high) = (low.min(high), low.max(high));
        let window = Window { field: 0, shift, bits };
        let reach = window.reach(Span { low, high });
        for value in low..=high {
            let part = value >> shift & (window.values() - 1);
            let step = (part + window.values() - reach.first) % window.values();
            prop_assert!(step < reach.count, "{value} of {low} to {high}: {reach:?}");
        }
    }
}
