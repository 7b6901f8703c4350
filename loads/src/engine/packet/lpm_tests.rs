//! The table answers as a search by every length does.

use super::chance::Chance;
use super::lpm::{HOP_MAX, Lpm, LpmError, NONE};
use super::routes::{Route, Shape, generate};
use super::rules::Prefix;
use proptest::prelude::*;
use std::collections::HashMap;

/// Next hops by prefix; of the same prefix the last.
fn known(routes: &[Route]) -> HashMap<Prefix, u16> {
    routes.iter().map(|route| (route.prefix, route.hop)).collect()
}

/// The next hop of the longest prefix that holds a destination, from 32 bits down.
fn longest(known: &HashMap<Prefix, u16>, dst: u32) -> u16 {
    let lengths = (0..=32).rev();
    let mut hops = lengths.filter_map(|len| known.get(&Prefix::around(dst, len)));
    hops.next().copied().unwrap_or(NONE)
}

fn agree(routes: &[Route], dst: &[u32]) {
    let (lpm, known) = (Lpm::build(routes).unwrap(), known(routes));
    let mut hops = vec![7; dst.len()];
    lpm.look_up(dst, &mut hops);
    for (dst, hop) in dst.iter().zip(hops) {
        assert_eq!(hop, longest(&known, *dst), "{dst:08x} of {} routes", routes.len());
    }
}

#[test]
fn a_million_routes_agree() {
    let routes = generate(1_000_000, &Shape::INTERNET, 4);
    assert_eq!(routes.len(), 1_000_000);
    let mut chance = Chance::of(5);
    let mut dst: Vec<u32> = (0..50_000).map(|_| chance.word()).collect();
    // Edges of prefixes, and a step beyond them.
    for route in routes.iter().step_by(37) {
        let (from, to) = route.prefix.range();
        dst.extend([from, to, from.wrapping_sub(1), to.wrapping_add(1)]);
    }
    agree(&routes, &dst);
}

#[test]
fn a_table_is_as_its_shape_says_and_the_same_for_a_seed() {
    let routes = generate(100_000, &Shape::INTERNET, 1);
    assert_eq!(routes, generate(100_000, &Shape::INTERNET, 1));
    let known = known(&routes);
    let part_of_another = |route: &&Route| {
        let Prefix { address, len } = route.prefix;
        (0..len).any(|len| known.contains_key(&Prefix::around(address, len)))
    };
    let nested = routes.iter().filter(part_of_another).count();
    assert!((40_000..60_000).contains(&nested), "{nested}");
    let longest = routes.iter().filter(|route| route.prefix.len == 24).count();
    assert!((58_000..66_000).contains(&longest), "{longest}");
    assert!(routes.iter().any(|route| route.prefix.len > 24));
}

#[test]
fn a_hop_that_is_too_large_is_refused_with_the_remedy() {
    let route = |hop| Route { prefix: Prefix::ANY, hop };
    agree(&[route(HOP_MAX)], &[0, u32::MAX]);
    let refused = Lpm::build(&[route(HOP_MAX + 1)]).unwrap_err().to_string();
    assert!(refused.contains("0.0.0.0/0") && refused.contains("number next hops"), "{refused}");
}

#[test]
fn too_many_groups_are_refused() {
    let route = |at: u32| Route { prefix: Prefix::around(at << 8, 32), hop: 1 };
    let routes: Vec<Route> = (0..0x8000).map(route).collect();
    assert_eq!(Lpm::build(&routes).unwrap_err(), LpmError::Groups);
    agree(&routes[..0x7000], &[0, 1, 0x6FFF << 8, 0x7000 << 8]);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 16,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn prefixes_that_lie_in_one_another_agree(
        routes in prop::collection::vec((0_u32..1 << 12, 0_u8..=32, 0_u16..9), 0..60),
    ) {
        // Within 10.0.0.0/20 all of them meet.
        let route = |(address, len, hop)| {
            Route { prefix: Prefix::around(0x0A00_0000 | address, len), hop }
        };
        let routes: Vec<Route> = routes.into_iter().map(route).collect();
        let dst: Vec<u32> = (0x09FF_FFF0..0x0A00_1010).collect();
        agree(&routes, &dst);
    }
}
