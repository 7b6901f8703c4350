//! Knows the program that counts frames where they arrive, and what it counted.
//!
//! Frames of the load are counted and end there; all others go on to the kernel. Counts are kept by
//! each CPU apart. Must not know who sent.

use super::generator::{finish_tag, scramble};
use super::sizes::Sizes;
use super::table::Table;
use super::wire::{Layout, TAGGED, TARGET_FIRST, VLAN_BITS};
use super::{PHASES, buckets};
use crate::engine::packet::bpf::{
    Assembler, Attached, BpfError, Cond, Label, Map, MapKind, Op, Program, Reg, Size, action,
    helper,
};
use crate::engine::packet::frame::FCS;
use Reg::{R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, R10};
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Numbers of a stream that are remembered, behind the latest.
const SEEN: u32 = 1 << 16;
/// Streams of a trial at most: six bits of a mark.
pub const STREAMS: u32 = 64;

/// Where frames are counted that are not as they were sent.
const DAMAGED: u32 = 0;
const MISTAGGED: u32 = 1;

/// Words of what is counted of a stream.
mod word {
    pub const CAME: i16 = 0;
    pub const REORDERED: i16 = 24;
    pub const DUPLICATES: i16 = 32;
    pub const STALE: i16 = 40;
    pub const NEXT: i16 = 48;
    /// Of frames in a list.
    pub const BYTES: i16 = 56;
    pub const WORDS: u32 = 10;
}

/// What came of one stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stream {
    /// Frames that came for the first time, by the phase in which they were sent.
    pub came: [u64; PHASES],
    /// Bytes of these with their check sequences.
    pub bytes: [u64; PHASES],
    /// Of those of the window, frames that came after one that was sent later (RFC 4737).
    pub reordered: u64,
    /// Of those of the window, frames that came again.
    pub duplicates: u64,
    /// Frames so late that it cannot be told whether they came again.
    pub stale: u64,
}

/// What a sink counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Of each stream.
    pub streams: Vec<Stream>,
    /// Frames as long as those of the load whose tag is wrong, or whose length is another's.
    pub damaged: u64,
    /// Frames of the load without the tag of their VLAN, or with another's.
    pub mistagged: u64,
}

/// What a sink knows of the frames that it counts.
#[derive(Clone, Debug)]
pub struct Frames {
    /// How long they are.
    pub sizes: Sizes,
    /// Where things stand in them.
    pub layout: Layout,
    /// Key of the tag.
    pub key: u64,
    /// Whether the adapter takes frames that lie in several pages: jumbo frames.
    pub in_parts: bool,
}

/// A program that counts, at an adapter.
#[derive(Debug)]
pub struct Sink {
    _attached: Attached,
    streams: Map,
    sizes: Sizes,
    count: u32,
    wrong: Map,
    times: Map,
}

impl Sink {
    /// Counts the frames of so many streams that the adapter of this index receives.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn attach(adapter: u32, frames: Frames, count: u32) -> Result<Self, BpfError> {
        let count = count.clamp(1, STREAMS);
        let streams = Map::new(MapKind::PerCpu, (4, word::WORDS * 8), count)?;
        let wrong = Map::new(MapKind::PerCpu, (4, 8), 2)?;
        let times = Map::new(MapKind::PerCpu, (4, 8), buckets::COUNT)?;
        let seen = Map::new(MapKind::Array, (4, 8), count * SEEN)?;
        let table = Table::of_sink(&frames.sizes)?;
        let maps = Maps { streams: &streams, wrong: &wrong, times: &times, seen: &seen, table };
        let code = maps.program(&frames)?;
        let sizes = frames.sizes;
        let load = if frames.in_parts { Program::load_for_parts } else { Program::load };
        let attached = load("stend_count", &code)?.attach(adapter)?;
        Ok(Self { _attached: attached, streams, sizes, count, wrong, times })
    }

    /// What was counted so far.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn totals(&self) -> Result<Totals, BpfError> {
        let streams =
            (0..self.count).map(|number| self.stream(number)).collect::<Result<_, _>>()?;
        let wrong = |at| self.wrong.sums(at).map(|sums| sums.first().copied().unwrap_or(0));
        Ok(Totals { streams, damaged: wrong(DAMAGED)?, mistagged: wrong(MISTAGGED)? })
    }

    fn stream(&self, number: u32) -> Result<Stream, BpfError> {
        let words = self.streams.sums(number)?;
        let of = |at: i16| words.get(at as usize / 8).copied().unwrap_or(0);
        let three = |at: i16| [of(at), of(at + 8), of(at + 16)];
        let came = three(word::CAME);
        Ok(Stream {
            came,
            bytes: match &self.sizes {
                Sizes::Alike(bytes) => came.map(|frames| frames * *bytes as u64),
                Sizes::List(_) => three(word::BYTES),
            },
            reordered: of(word::REORDERED),
            duplicates: of(word::DUPLICATES),
            stale: of(word::STALE),
        })
    }

    /// Adds the times of stamped frames of the window to a histogram, nanoseconds.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn times(&self, into: &mut Histogram<u64>) -> Result<(), BpfError> {
        for bucket in 0..buckets::COUNT {
            let count = self.times.sums(bucket)?.first().copied().unwrap_or(0);
            if count > 0 {
                into.saturating_record_n(buckets::middle_ns(bucket).max(1), count);
            }
        }
        Ok(())
    }
}

/// Attaches a program that lets every frame go on: a virtual adapter takes frames of XDP only while
/// it has one.
///
/// # Errors
/// What the kernel says.
pub fn pass(adapter: u32) -> Result<Attached, BpfError> {
    let mut code = Assembler::new();
    code.mov_imm(R0, action::PASS);
    code.exit();
    Program::load_for_parts("stend_pass", &code.finish()?)?.attach(adapter)
}

struct Maps<'m> {
    streams: &'m Map,
    wrong: &'m Map,
    times: &'m Map,
    seen: &'m Map,
    table: Option<Table>,
}

/// Where a frame of Ethernet tells its type.
const KIND: i16 = 12;
/// Of frames in a list: the length of this one.
const LENGTH: (Reg, i16) = (R10, -16);
/// Where frames have a tag: whether this one has another, or none.
const ASTRAY: (Reg, i16) = (R10, -24);

impl Maps<'_> {
    /// `R6` has the mark, later the phase; `R7` the sequence number, `R8` the stamp, `R9` the tag
    /// and then what is counted of the stream.
    fn program(&self, frames: &Frames) -> Result<Vec<u64>, BpfError> {
        let Frames { layout, key, .. } = frames;
        let code = &mut Assembler::new();
        let [other, damaged, mistagged, end] = [0; 4].map(|_| code.label());
        self.alike(code, frames, other);
        code.load(Size::H, R6, (R7, layout.mark()));
        code.load(Size::D, R8, (R7, layout.stamp()));
        code.load(Size::W, R9, (R7, layout.tag()));
        code.load(Size::W, R7, (R7, layout.sequence()));
        scramble(code, (R2, R7), R1, *key);
        finish_tag(code, (R2, R8, R6), R1);
        code.jump(Cond::Ne, R2, R9, damaged);
        if layout.vlan.is_some() {
            code.load(Size::D, R1, ASTRAY);
            code.jump_imm(Cond::Ne, R1, 0, mistagged);
        }
        if let Some(table) = &self.table {
            table.entry(code, (R2, R7), R1, damaged);
            code.load(Size::D, R2, (R2, 0));
            code.load(Size::D, R1, LENGTH);
            code.jump(Cond::Ne, R1, R2, damaged);
        }
        code.mov(R1, R6);
        code.op_imm(Op::Rsh, R1, 8);
        code.lookup(self.streams, R1);
        code.jump_imm(Cond::Eq, R0, 0, damaged);
        code.mov(R9, R0);
        self.first(code, end);
        code.op_imm(Op::And, R6, 3);
        code.jump_imm(Cond::Ge, R6, 3, end);
        code.mov(R1, R6);
        code.op_imm(Op::Lsh, R1, 3);
        code.mov(R2, R9);
        code.op(Op::Add, R2, R1);
        code.add_to((R2, word::CAME), 1, R3);
        if self.table.is_some() {
            count_bytes(code);
        }
        order(code);
        self.time(code, end);
        code.go(end);
        // The verifier refuses what nothing leads to.
        let tagged = layout.vlan.map(|_| (mistagged, MISTAGGED));
        for (label, at) in tagged.into_iter().chain([(damaged, DAMAGED)]) {
            self.wrong(code, (label, at), end);
        }
        code.bind(end);
        code.mov_imm(R0, action::DROP);
        code.exit();
        code.bind(other);
        code.mov_imm(R0, action::PASS);
        code.exit();
        std::mem::take(code).finish()
    }

    /// Goes on, the frame in `R7`, where its length and its headers are those of the load.
    fn alike(&self, code: &mut Assembler, frames: &Frames, other: Label) {
        let Frames { sizes, layout, in_parts, .. } = frames;
        let in_parts = *in_parts;
        if in_parts {
            code.mov(R6, R1);
            code.call(helper::LENGTH);
            code.mov(R1, R6);
        }
        code.load(Size::W, R7, (R1, 0));
        code.load(Size::W, R2, (R1, 4));
        if in_parts {
            // Bytes of the parts behind the first.
            code.mov(R3, R2);
            code.op(Op::Sub, R3, R7);
            code.op(Op::Sub, R0, R3);
        }
        if let Some(vlan) = layout.vlan {
            untag(code, vlan, (layout, other));
        }
        code.mov(R3, R7);
        code.op_imm(Op::Add, R3, i32::from(layout.end()));
        code.jump(Cond::Gt, R3, R2, other);
        code.op(Op::Sub, R2, R7);
        if in_parts {
            code.op(Op::Add, R2, R0);
        }
        self.length(code, sizes, other);
        code.load(Size::H, R1, (R7, layout.kind()));
        code.jump_imm(Cond::Ne, R1, i32::from(layout.ethertype().to_be()), other);
        code.load(Size::B, R1, (R7, layout.protocol()));
        code.jump_imm(Cond::Ne, R1, 17, other);
        if self.table.is_some() {
            // A list has many lengths, which other datagrams may have as well.
            code.load(Size::H, R1, (R7, layout.udp() + 2));
            code.network16(R1);
            code.jump_imm(Cond::Lt, R1, i32::from(TARGET_FIRST), other);
        }
    }

    /// Goes on where a frame of as many bytes as `R2` has is as long as one of the load.
    fn length(&self, code: &mut Assembler, sizes: &Sizes, other: Label) {
        match &self.table {
            Some(table) => {
                code.store(Size::D, LENGTH, R2);
                table.known(code, R2, R3, other);
            }
            None => {
                let bytes = i32::try_from(sizes.most() - FCS).unwrap_or(0);
                code.jump_imm(Cond::Ne, R2, bytes, other);
            }
        }
    }

    /// Counts a frame that is not as it was sent.
    fn wrong(&self, code: &mut Assembler, (label, at): (Label, u32), end: Label) {
        code.bind(label);
        code.mov_imm(R1, i32::try_from(at).unwrap_or(0));
        code.lookup(self.wrong, R1);
        code.jump_imm(Cond::Eq, R0, 0, end);
        code.add_to((R0, 0), 1, R1);
        code.go(end);
    }

    /// Goes on with a frame that came for the first time, and counts one of the window that came
    /// again. A place remembers the last number that was counted there, and one more.
    fn first(&self, code: &mut Assembler, end: Label) {
        let [again, stale, new] = [0; 3].map(|_| code.label());
        code.mov(R1, R6);
        code.op_imm(Op::Rsh, R1, 8);
        code.op_imm(Op::Lsh, R1, 16);
        code.mov(R2, R7);
        code.op_imm(Op::And, R2, 0xffff);
        code.op(Op::Or, R1, R2);
        code.lookup(self.seen, R1);
        code.jump_imm(Cond::Eq, R0, 0, end);
        code.load(Size::D, R1, (R0, 0));
        code.mov(R2, R7);
        code.op_imm(Op::Add, R2, 1);
        code.jump(Cond::Eq, R1, R2, again);
        code.jump(Cond::Gt, R1, R2, stale);
        code.store(Size::D, (R0, 0), R2);
        code.go(new);
        code.bind(again);
        code.op_imm(Op::And, R6, 3);
        code.jump_imm(Cond::Ne, R6, 1, end);
        code.add_to((R9, word::DUPLICATES), 1, R1);
        code.go(end);
        code.bind(stale);
        code.add_to((R9, word::STALE), 1, R1);
        code.go(end);
        code.bind(new);
    }

    /// Counts how long a stamped frame of the window took; a clock that is behind took no time.
    fn time(&self, code: &mut Assembler, end: Label) {
        code.jump_imm(Cond::Ne, R6, 1, end);
        code.jump_imm(Cond::Eq, R8, 0, end);
        code.call(helper::CLOCK);
        code.op(Op::Sub, R0, R8);
        code.jump_imm(Cond::SignedLt, R0, 0, end);
        code.mov(R1, R0);
        buckets::assemble(code, R1, [R4, R5]);
        code.lookup(self.times, R1);
        code.jump_imm(Cond::Eq, R0, 0, end);
        code.add_to((R0, 0), 1, R1);
    }
}

/// Looks whether the frame in `R7` has the tag of this VLAN. One without a tag is read as if it
/// began 4 bytes earlier, so that all behind its addresses is where a tagged frame has it.
fn untag(code: &mut Assembler, vlan: u16, (layout, other): (&Layout, Label)) {
    let [bare, told] = [0; 2].map(|_| code.label());
    let tag = i32::try_from(layout.tag_bytes()).unwrap_or(0);
    code.mov(R3, R7);
    code.op_imm(Op::Add, R3, i32::from(layout.end()) - tag);
    code.jump(Cond::Gt, R3, R2, other);
    code.mov_imm(R4, 1);
    code.load(Size::H, R1, (R7, KIND));
    code.jump_imm(Cond::Ne, R1, i32::from(TAGGED.to_be()), bare);
    code.load(Size::H, R1, (R7, KIND + 2));
    code.op_imm(Op::And, R1, i32::from(VLAN_BITS.to_be()));
    code.jump_imm(Cond::Ne, R1, i32::from(vlan.to_be()), told);
    code.mov_imm(R4, 0);
    code.go(told);
    code.bind(bare);
    code.op_imm(Op::Sub, R7, tag);
    code.bind(told);
    code.store(Size::D, ASTRAY, R4);
}

/// Adds the length of the frame to the bytes of its phase, whose counts `R2` leads to.
fn count_bytes(code: &mut Assembler) {
    code.load(Size::D, R1, LENGTH);
    code.load(Size::D, R3, (R2, word::BYTES));
    code.op(Op::Add, R3, R1);
    code.op_imm(Op::Add, R3, i32::try_from(FCS).unwrap_or(0));
    code.store(Size::D, (R2, word::BYTES), R3);
}

/// Whether a frame of the window comes after one that was sent later.
fn order(code: &mut Assembler) {
    let [behind, done] = [0; 2].map(|_| code.label());
    code.load(Size::D, R1, (R9, word::NEXT));
    code.jump(Cond::Lt, R7, R1, behind);
    code.mov(R1, R7);
    code.op_imm(Op::Add, R1, 1);
    code.store(Size::D, (R9, word::NEXT), R1);
    code.go(done);
    code.bind(behind);
    code.jump_imm(Cond::Ne, R6, 1, done);
    code.add_to((R9, word::REORDERED), 1, R1);
    code.bind(done);
}
