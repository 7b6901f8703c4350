//! Knows how many addresses and classes of service the frames of a stream have, which of them a
//! flow has, and the instructions that write them.
//!
//! Adapters spread frames over queues by addresses, boxes count customers by them. All are of the
//! range for benchmarks (RFC 2544, C.2.2): targets 198.19.0.0/17, sources 198.19.128.0/18.
//! Must not know ports, nor when a frame is sent.

use super::wire::{Layout, ODD};
use crate::engine::packet::bpf::{Assembler, Op, Reg, Size};
use Reg::{R0, R1, R2, R4, R5, R7};
use rig::lab::BEHIND;
use serde::{Deserialize, Serialize};
use std::net::Ipv4Addr;

/// The first target.
const FIRST_TARGET: u32 = BEHIND[0].0.to_bits();
/// Targets at most.
pub const TARGETS_MOST: u32 = 1 << (32 - BEHIND[0].1);
/// The first source.
const FIRST_SOURCE: u32 = BEHIND[1].0.to_bits();
/// Sources of all streams together at most.
pub const SOURCES_MOST: u32 = 1 << (32 - BEHIND[1].1);
/// Code points of DSCP (RFC 2474).
pub const CLASSES_MOST: u32 = 64;

/// How many addresses and classes the frames of a stream have; 1 keeps that of its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Varied {
    /// Addresses that frames go to.
    pub targets: u32,
    /// Addresses that frames of a stream come from.
    pub sources: u32,
    /// Classes of service, evenly over all code points: of eight the class selectors.
    pub classes: u32,
}

impl Default for Varied {
    fn default() -> Self {
        Self { targets: 1, sources: 1, classes: 1 }
    }
}

impl Varied {
    /// Source and target of the frames of a flow of a stream between two ends; without a
    /// flow, the first ones.
    #[must_use]
    pub fn addresses(
        &self,
        ends: [Ipv4Addr; 2],
        (stream, flow): (u8, Option<u32>),
    ) -> [Ipv4Addr; 2] {
        let firsts = [self.first_source(stream), FIRST_TARGET];
        let mut addresses = ends;
        for (nth, count) in [self.sources, self.targets].into_iter().enumerate() {
            if count > 1 {
                let drawn = flow.map_or(0, |flow| drawn(flow, ODD[nth], count));
                addresses[nth] = Ipv4Addr::from_bits(firsts[nth] + drawn);
            }
        }
        addresses
    }

    /// All sources and all targets of a stream between two ends.
    #[must_use]
    pub fn all(&self, ends: [Ipv4Addr; 2], stream: u8) -> [Vec<Ipv4Addr>; 2] {
        let range = |first: u32, count: u32, end: Ipv4Addr| match count {
            0 | 1 => vec![end],
            count => (first..first + count).map(Ipv4Addr::from_bits).collect(),
        };
        let sources = range(self.first_source(stream), self.sources, ends[0]);
        [sources, range(FIRST_TARGET, self.targets, ends[1])]
    }

    /// The code point of a flow, 0 to 63; 0 without a flow.
    #[must_use]
    pub fn dscp(&self, flow: Option<u32>) -> u8 {
        let classes = self.classes.max(1);
        let class = flow.map_or(0, |flow| drawn(flow, MIX, classes));
        u8::try_from(class * CLASSES_MOST / classes).unwrap_or(0)
    }

    /// Whether frames have more than one address or class.
    #[must_use]
    pub fn any(&self) -> bool {
        *self != Self::default()
    }

    /// Whether frames have more than one source or target.
    #[must_use]
    pub const fn has_addresses(&self) -> bool {
        self.targets > 1 || self.sources > 1
    }

    const fn first_source(&self, stream: u8) -> u32 {
        FIRST_SOURCE + stream as u32 * self.sources
    }

    /// Writes addresses and class of the flow in `R5` over the first ones, which the frame in `R7`
    /// has, and follows them in the checksum of IPv4 (RFC 1624, equation 3).
    pub fn assemble(&self, code: &mut Assembler, layout: Layout, stream: u8) {
        if !self.any() || layout.six {
            return;
        }
        let (ip, check) = (layout.ip(), layout.ip() + 10);
        code.load(Size::H, R0, (R7, check));
        code.op_imm(Op::Xor, R0, 0xffff);
        let low = |address: u32| i32::from(address as u16);
        let sources = (ODD[0], self.sources, low(self.first_source(stream)), ip + 14);
        let targets = (ODD[1], self.targets, low(FIRST_TARGET), ip + 18);
        for (odd, count, first, at) in [sources, targets] {
            if count > 1 {
                draw(code, odd, count);
                code.op_imm(Op::Add, R1, first);
                code.network16(R1);
                code.store(Size::H, (R7, at), R1);
                code.op(Op::Add, R0, R1);
                let before = u16::try_from(first).unwrap_or(0).to_be();
                code.op_imm(Op::Add, R0, i32::from(!before));
            }
        }
        if self.classes > 1 {
            draw(code, MIX, self.classes);
            code.op_imm(Op::Lsh, R1, 6);
            code.op_imm(Op::Div, R1, i32::try_from(self.classes).unwrap_or(1));
            code.op_imm(Op::Lsh, R1, 2);
            code.store(Size::B, (R7, ip + 1), R1);
            code.network16(R1);
            code.op(Op::Add, R0, R1);
        }
        // The sum is below 2^19, then below 2^16 + 8.
        code.fold(R0, R4, 2);
        code.op_imm(Op::Xor, R0, 0xffff);
        code.store(Size::H, (R7, check), R0);
    }
}

/// The odd multiplier of classes, so that neither address decides the class.
const MIX: u64 = ODD[0] ^ ODD[1] ^ 1;

/// The index of a flow among `count` values: the upper bits of a product, times `count`.
fn drawn(flow: u32, odd: u64, count: u32) -> u32 {
    let word = u64::from(flow).wrapping_mul(odd) >> 32;
    u32::try_from((word * u64::from(count)) >> 32).unwrap_or(0)
}

/// `R1` = [`drawn`] of the flow in `R5`.
fn draw(code: &mut Assembler, odd: u64, count: u32) {
    code.load64(R2, odd);
    code.mov(R1, R5);
    code.op(Op::Mul, R1, R2);
    code.op_imm(Op::Rsh, R1, 32);
    code.op_imm(Op::Mul, R1, i32::try_from(count).unwrap_or(1));
    code.op_imm(Op::Rsh, R1, 32);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    const ENDS: [Ipv4Addr; 2] = [Ipv4Addr::new(198, 18, 0, 10), Ipv4Addr::new(198, 18, 0, 1)];

    #[test]
    fn frames_of_one_of_each_have_the_addresses_of_their_ends() {
        let one = Varied::default();
        assert_eq!(one.addresses(ENDS, (3, Some(70_000))), ENDS);
        assert_eq!((one.dscp(Some(70_000)), one.any()), (0, false));
        assert_eq!(one.all(ENDS, 3), ENDS.map(|end| vec![end]));
    }

    #[test]
    fn flows_have_all_addresses_and_classes_about_equally_often() {
        let varied = Varied { targets: 1000, sources: 256, classes: 8 };
        let mut counts = [const { BTreeMap::new() }; 3];
        for flow in 0..65_536 {
            let [from, to] = varied.addresses(ENDS, (2, Some(flow)));
            let class = u32::from(varied.dscp(Some(flow)));
            for (count, value) in counts.iter_mut().zip([from.to_bits(), to.to_bits(), class]) {
                *count.entry(value).or_insert(0_u32) += 1;
            }
        }
        let [sources, targets] = varied.all(ENDS, 2);
        let found = |nth: usize| counts[nth].keys().copied().collect::<BTreeSet<u32>>();
        let all = |list: &[Ipv4Addr]| list.iter().map(|a| a.to_bits()).collect::<BTreeSet<u32>>();
        assert_eq!((found(0), found(1)), (all(&sources), all(&targets)));
        assert_eq!(found(2), (0..64).step_by(8).collect());
        assert_eq!(sources[0], Ipv4Addr::new(198, 19, 130, 0));
        for (count, each) in counts.iter().zip([256, 65, 8192]) {
            let even = count.values().all(|n| n.abs_diff(each) <= each / 4 + 2);
            assert!(even, "{each}: {:?}", count.values().max());
        }
    }

    #[test]
    fn sources_of_streams_are_apart() {
        let varied = Varied { sources: 256, ..Varied::default() };
        let all = (0..64).flat_map(|stream| varied.all(ENDS, stream)[0].clone());
        let all: BTreeSet<Ipv4Addr> = all.collect();
        assert_eq!(all.len(), SOURCES_MOST as usize);
        assert_eq!(all.last(), Some(&Ipv4Addr::new(198, 19, 191, 255)));
    }
}
