//! Knows how programs look up the frame of a number in a list: words of a map, and instructions.
//!
//! Must not know how long a list is, nor who made it.

use super::sizes::Sizes;
use super::wire::Wire;
use crate::engine::packet::bpf::{Assembler, BpfError, Cond, Label, Map, MapKind, Op, Reg, Size};
use crate::engine::packet::frame::FCS;
use std::collections::BTreeMap;

/// Where the words of a frame say what a sender needs: by how much it is shorter than the longest,
/// the lengths of IP and of UDP and the checksum of IPv4 as they stand in a frame, the flow, and
/// the sum of what is the same in all frames of its length.
pub mod of_sender {
    pub const CUT: i16 = 0;
    pub const IP_LENGTH: i16 = 2;
    pub const IP_CHECK: i16 = 4;
    pub const UDP_LENGTH: i16 = 6;
    pub const FLOW: i16 = 8;
    pub const SUM: i16 = 16;
    pub const WORDS: usize = 3;
}

/// Lengths that a sink knows whether the list has, bytes: a byte each.
const LENGTHS: usize = 9216;
const WORD: usize = 8;

/// A list in a map of one entry: words of the whole list, then those of each frame.
#[derive(Debug)]
pub struct Table {
    map: Map,
    head: usize,
    /// Words of a frame.
    each: usize,
    count: usize,
}

impl Table {
    /// As a sender needs it, of frames that are not alike.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn of_sender(wire: &Wire) -> Result<Option<Self>, BpfError> {
        let Some(list) = wire.sizes.list() else { return Ok(None) };
        let longest = wire.template();
        let word = |bytes: Vec<u8>| bytes.try_into().map_or(0, u64::from_ne_bytes);
        // A list has far more frames than lengths.
        let mut known = BTreeMap::new();
        let words = list.iter().flat_map(|frame| {
            let [first, sum] = *known.entry(frame.bytes).or_insert_with(|| {
                let length = usize::from(frame.bytes) - FCS;
                let cut = u16::try_from(longest.len() - length).unwrap_or(0).to_ne_bytes();
                let [ip, check, udp] = wire.lengths(length);
                [word([cut, ip, check, udp].concat()), wire.constant(&longest[..length])]
            });
            [first, word([frame.flow.to_ne_bytes(), [0; 4]].concat()), sum]
        });
        Self::new((Vec::new(), of_sender::WORDS), words.collect()).map(Some)
    }

    /// As a sink needs it, of frames that are not alike.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn of_sink(sizes: &Sizes) -> Result<Option<Self>, BpfError> {
        let Some(list) = sizes.list() else { return Ok(None) };
        let lengths = || list.iter().map(|frame| usize::from(frame.bytes) - FCS);
        let mut known = [0_u8; LENGTHS];
        for length in lengths() {
            if let Some(place) = known.get_mut(length) {
                *place = 1;
            }
        }
        let known = known.chunks_exact(WORD);
        let head = known.map(|bytes| bytes.try_into().map_or(0, u64::from_ne_bytes)).collect();
        Self::new((head, 1), lengths().map(|length| length as u64).collect()).map(Some)
    }

    fn new((head, each): (Vec<u64>, usize), frames: Vec<u64>) -> Result<Self, BpfError> {
        let (head_words, count) = (head.len(), frames.len() / each);
        let words = [head, frames].concat();
        let bytes = u32::try_from(words.len() * WORD).unwrap_or(u32::MAX);
        let map = Map::new(MapKind::Array, (4, bytes), 1)?;
        map.write(&0_u32.to_ne_bytes(), &words)?;
        Ok(Self { map, head: head_words, each, count })
    }

    /// `into` = the address of the words of the frame whose number is in `from`. Never goes to
    /// `none`: the verifier does not know that a remainder is small.
    pub fn entry(&self, code: &mut Assembler, (into, from): (Reg, Reg), scratch: Reg, none: Label) {
        let number = |words: usize| i32::try_from(words).unwrap_or(i32::MAX);
        code.mov(scratch, from);
        code.op_imm(Op::Mod, scratch, number(self.count));
        code.jump_imm(Cond::Ge, scratch, number(self.count), none);
        code.op_imm(Op::Mul, scratch, number(self.each * WORD));
        code.value(into, &self.map);
        code.op_imm(Op::Add, into, number(self.head * WORD));
        code.op(Op::Add, into, scratch);
    }

    /// Goes to `other` where no frame of the list is as long as `length` says, without check
    /// sequence. Of the table of a sink alone.
    pub fn known(&self, code: &mut Assembler, length: Reg, scratch: Reg, other: Label) {
        code.jump_imm(Cond::Ge, length, i32::try_from(LENGTHS).unwrap_or(0), other);
        code.value(scratch, &self.map);
        code.op(Op::Add, scratch, length);
        code.load(Size::B, scratch, (scratch, 0));
        code.jump_imm(Cond::Eq, scratch, 0, other);
    }
}
