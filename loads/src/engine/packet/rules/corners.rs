//! Knows packets at the edges of a rule: its corners, and those just outside one of its sides.
//!
//! Must not know of other rules.

use super::Rule;
use crate::engine::packet::tuple::Tuple;

/// Lowest and highest value of the five fields.
type Bounds = [(u32, u32); 5];
/// The highest value that each field can have.
const ENDS: [u32; 5] = [u32::MAX, u32::MAX, 0xFFFF, 0xFFFF, 0xFF];

/// Where a packet stands to a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// All fields match.
    Inside,
    /// All but this field (0 to 4) match, by a step of 1.
    Beyond(usize),
}

fn bounds(rule: &Rule) -> Bounds {
    let ports = |(low, high): (u16, u16)| (u32::from(low), u32::from(high));
    let protocol = rule.protocol.map_or((0, 0xFF), |one| (u32::from(one), u32::from(one)));
    [rule.src.range(), rule.dst.range(), ports(rule.src_ports), ports(rule.dst_ports), protocol]
}

#[expect(clippy::cast_possible_truncation, reason = "values stay within the bounds of a field")]
const fn packed([src, dst, src_port, dst_port, protocol]: [u32; 5]) -> Tuple {
    Tuple {
        src,
        dst,
        src_port: src_port as u16,
        dst_port: dst_port as u16,
        protocol: protocol as u8,
    }
}

/// The value of each field at a corner: bit `field` of `corner` chooses the high end.
fn at(bounds: &Bounds, corner: u8) -> [u32; 5] {
    std::array::from_fn(|field| {
        let (low, high) = bounds[field];
        if corner >> field & 1 == 0 { low } else { high }
    })
}

/// Packets at the corners of a rule and just outside its sides, each with where it stands.
///
/// Inside are its corners, at most 2^5. Beyond are, for each side that has something behind it, two
/// packets a step behind it, at the lowest and at the highest corner of that side.
pub fn sides(rule: &Rule) -> impl Iterator<Item = (Tuple, Side)> + use<> {
    let bounds = bounds(rule);
    let distinct = move |corner: &u8| {
        (0..5).all(|field| corner >> field & 1 == 0 || bounds[field].0 != bounds[field].1)
    };
    let inside =
        (0..32).filter(distinct).map(move |corner| (packed(at(&bounds, corner)), Side::Inside));
    let beyond = (0..5).flat_map(move |field| {
        let (low, high) = bounds[field];
        let below = low.checked_sub(1);
        let above = (high < ENDS[field]).then(|| high + 1);
        let outer = below.into_iter().chain(above);
        outer.flat_map(move |value| {
            [0, 31].map(|corner| {
                let mut fields = at(&bounds, corner);
                fields[field] = value;
                (packed(fields), Side::Beyond(field))
            })
        })
    });
    inside.chain(beyond)
}

/// The packets of [`sides`] alone.
pub fn corners(rule: &Rule) -> impl Iterator<Item = Tuple> + use<> {
    sides(rule).map(|(tuple, _)| tuple)
}
