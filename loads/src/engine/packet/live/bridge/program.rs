//! Knows the program that hands a frame from one port to the other, unless a rule drops it.
//!
//! No branch hangs on what rules a packet meets until one matches, so that the cost of a frame
//! does not hang on it either. Must not know how maps are filled or read.

use super::{List, Maps};
use crate::engine::packet::bpf::{
    Assembler, BpfError, Cond, Label, Map, Op, Reg, Size, action, helper,
};
use crate::engine::packet::frame::{TCP, UDP};
use crate::engine::packet::live::wire::TAGGED;
use Reg::{R0, R1, R2, R3, R4, R5, R6, R7, R8, R9};

/// Where things stand in a frame.
pub(super) mod at {
    pub const KIND: i16 = 12;
    /// The type of IPv4, as it stands there.
    pub const IPV4: u16 = 0x0800_u16.to_be();
    /// Bytes of the tag of a VLAN.
    pub const TAG: i32 = 4;
    pub const VERSION: i16 = 14;
    pub const FRAGMENT: i16 = 20;
    pub const PROTOCOL: i16 = 23;
    pub const ADDRESSES: [i16; 2] = [26, 30];
    /// Behind the header of Ethernet and the shortest of IPv4.
    pub const END: i32 = 34;
    /// Of both ports, behind as many bytes as the header of IPv4 has.
    pub const PORTS: [i16; 2] = [14, 16];
    pub const PORTS_END: i32 = 18;
}

/// Words of what a port counts.
pub mod word {
    pub const RECEIVED: i16 = 0;
    pub const FORWARDED: i16 = 8;
    pub const DROPPED: i16 = 16;
    pub const REFUSED: i16 = 24;
    pub const PASSED: i16 = 32;
    pub const WORDS: u32 = 5;
}

/// A number of which any six neighbouring bits are another (H. S. Warren, "Hacker's Delight",
/// 5-4): times a power of two its top six bits tell which.
pub const DE_BRUIJN: u64 = 0x03f7_9d71_b4cb_0a89;
/// Of such a product.
const TOP: i32 = 58;

/// Where the program goes from many places.
struct Ends {
    refused: Label,
    passed: Label,
    matched: Label,
}

/// Of the port of this number, 0 or 1: what it receives leaves by the other.
///
/// # Errors
/// None that a list of rules brings about.
pub fn of(maps: &Maps, port: i32) -> Result<Vec<u64>, BpfError> {
    let mut code = Assembler::new();
    let [refused, passed, matched] = [0; 3].map(|_| code.label());
    let ends = Ends { refused, passed, matched };
    Maker { maps, ends, code }.program(port)
}

/// Writes it. `R7` has the frame, `R9` what is counted.
struct Maker<'m> {
    maps: &'m Maps,
    ends: Ends,
    code: Assembler,
}

impl Maker<'_> {
    fn program(mut self, port: i32) -> Result<Vec<u64>, BpfError> {
        let code = &mut self.code;
        code.load(Size::W, R7, (R1, 0));
        code.load(Size::W, R8, (R1, 4));
        code.mov_imm(R6, port);
        code.lookup(&self.maps.counts, R6);
        code.mov(R9, R0);
        let counted = code.label();
        code.jump_imm(Cond::Ne, R9, 0, counted);
        // Never: the number is one of the map's.
        code.mov_imm(R0, action::PASS);
        code.exit();
        code.bind(counted);
        code.add_to((R9, word::RECEIVED), 1, R1);
        code.mov(R1, R7);
        code.op_imm(Op::Add, R1, at::END);
        code.jump(Cond::Gt, R1, R8, self.ends.passed);
        code.load(Size::H, R1, (R7, at::KIND));
        // Behind the tag of a VLAN all is as without one.
        let plain = code.label();
        code.jump_imm(Cond::Ne, R1, i32::from(TAGGED.to_be()), plain);
        code.op_imm(Op::Add, R7, at::TAG);
        code.mov(R1, R7);
        code.op_imm(Op::Add, R1, at::END);
        code.jump(Cond::Gt, R1, R8, self.ends.passed);
        code.load(Size::H, R1, (R7, at::KIND));
        code.bind(plain);
        code.jump_imm(Cond::Ne, R1, i32::from(at::IPV4), self.ends.passed);
        if let Some(list) = &self.maps.list {
            self.fields();
            self.classify(list);
            self.forward(port);
            self.ended(self.ends.refused, word::REFUSED, action::DROP);
            self.matched(list);
        } else {
            self.forward(port);
        }
        self.ended(self.ends.passed, word::PASSED, action::PASS);
        self.code.finish()
    }

    /// Protocol into `R5`, ports into `R3` and `R4`, 0 where there are none. A list of rules cannot
    /// tell of fragments, of which only the first has ports, nor of headers that are not whole.
    fn fields(&mut self) {
        let refused = self.ends.refused;
        let code = &mut self.code;
        let [ported, found] = [0; 2].map(|_| code.label());
        code.load(Size::B, R1, (R7, at::VERSION));
        code.mov(R2, R1);
        code.op_imm(Op::Rsh, R2, 4);
        code.jump_imm(Cond::Ne, R2, 4, refused);
        code.op_imm(Op::And, R1, 15);
        code.jump_imm(Cond::Lt, R1, 5, refused);
        code.load(Size::H, R2, (R7, at::FRAGMENT));
        code.op_imm(Op::And, R2, i32::from(0x3fff_u16.to_be()));
        code.jump_imm(Cond::Ne, R2, 0, refused);
        code.op_imm(Op::Lsh, R1, 2);
        code.mov(R6, R7);
        code.op(Op::Add, R6, R1);
        code.load(Size::B, R5, (R7, at::PROTOCOL));
        code.jump_imm(Cond::Eq, R5, i32::from(UDP), ported);
        code.jump_imm(Cond::Eq, R5, i32::from(TCP), ported);
        code.mov_imm(R3, 0);
        code.mov_imm(R4, 0);
        code.go(found);
        code.bind(ported);
        code.mov(R1, R6);
        code.op_imm(Op::Add, R1, at::PORTS_END);
        code.jump(Cond::Gt, R1, R8, refused);
        code.load(Size::H, R3, (R6, at::PORTS[0]));
        code.load(Size::H, R4, (R6, at::PORTS[1]));
        code.bind(found);
    }

    /// Goes on where no rule matches. The sets of the five fields come into `R1` to `R5`.
    fn classify(&mut self, list: &List) {
        let shift = list.shift;
        for (port, classes) in [R3, R4].into_iter().zip(&list.ports) {
            self.step(port, &classes.of);
            self.set(port, (shift, classes.count), &classes.sets);
        }
        self.code.op_imm(Op::Lsh, R5, shift);
        self.place(R5, &list.protocols);
        let steps = [R1, R2].into_iter().zip(at::ADDRESSES).zip(&list.addresses);
        for ((address, at), steps) in steps {
            self.code.load(Size::H, address, (R7, at));
            self.step(address, &steps.first);
            for byte in [2, 3] {
                let code = &mut self.code;
                code.jump_imm(Cond::Ge, address, steps.count, self.ends.refused);
                code.load(Size::B, R8, (R7, at + byte));
                code.op_imm(Op::Lsh, address, 8);
                code.op(Op::Add, address, R8);
                self.step(address, &steps.nodes);
            }
            self.set(address, (shift, steps.classes), &steps.sets);
        }
        let code = &mut self.code;
        for (word, base) in (0..list.words).zip((0..).step_by(64)) {
            let at = i16::try_from(word * 8).unwrap_or(0);
            code.load(Size::D, R0, (R1, at));
            for set in [R2, R3, R4, R5] {
                code.load(Size::D, R8, (set, at));
                code.op(Op::And, R0, R8);
            }
            code.mov_imm(R6, base);
            code.jump_imm(Cond::Ne, R0, 0, self.ends.matched);
        }
    }

    /// `reg` = the entry of two bytes of a table at its number.
    fn step(&mut self, reg: Reg, table: &Map) {
        self.code.op_imm(Op::Lsh, reg, 1);
        self.code.value(R0, table);
        self.code.op(Op::Add, R0, reg);
        self.code.load(Size::H, reg, (R0, 0));
    }

    /// `reg` = where the set of its class stands; the verifier wants to see that it is one.
    fn set(&mut self, reg: Reg, (shift, classes): (i32, i32), sets: &Map) {
        self.code.jump_imm(Cond::Ge, reg, classes, self.ends.refused);
        self.code.op_imm(Op::Lsh, reg, shift);
        self.place(reg, sets);
    }

    /// `reg` = so many bytes behind the beginning of a table.
    fn place(&mut self, reg: Reg, table: &Map) {
        self.code.value(R0, table);
        self.code.op(Op::Add, R0, reg);
        self.code.mov(reg, R0);
    }

    /// The frame leaves by the other port.
    fn forward(&mut self, port: i32) {
        let code = &mut self.code;
        let end = code.label();
        code.map(R1, &self.maps.ports);
        code.mov_imm(R2, 1 - port);
        code.mov_imm(R3, 0);
        code.call(helper::REDIRECT_MAP);
        code.jump_imm(Cond::Ne, R0, action::REDIRECT, end);
        code.add_to((R9, word::FORWARDED), 1, R1);
        code.bind(end);
        code.exit();
    }

    /// Counts and answers.
    fn ended(&mut self, label: Label, word: i16, answer: i32) {
        self.code.bind(label);
        self.code.add_to((R9, word), 1, R1);
        self.code.mov_imm(R0, answer);
        self.code.exit();
    }

    /// Counts the rule of the lowest bit of `R0`, whose word begins with the rule in `R6`.
    fn matched(&mut self, list: &List) {
        let code = &mut self.code;
        code.bind(self.ends.matched);
        code.mov(R1, R0);
        code.op_imm(Op::Sub, R1, 1);
        code.op(Op::And, R1, R0);
        code.op(Op::Xor, R0, R1);
        code.load64(R1, DE_BRUIJN);
        code.op(Op::Mul, R0, R1);
        code.op_imm(Op::Rsh, R0, TOP);
        code.value(R1, &list.bits);
        code.op(Op::Add, R1, R0);
        code.load(Size::B, R1, (R1, 0));
        code.op(Op::Add, R6, R1);
        code.lookup(&list.matched, R6);
        let counted = code.label();
        code.jump_imm(Cond::Eq, R0, 0, counted);
        code.add_to((R0, 0), 1, R1);
        code.bind(counted);
        code.add_to((R9, word::DROPPED), 1, R1);
        code.mov_imm(R0, action::DROP);
        code.exit();
    }
}
