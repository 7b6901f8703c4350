//! Knows the instructions of the kernel's virtual machine (RFC 9669) and how jumps find labels.
//!
//! Must not know the kernel, nor what a program is for.

use super::BpfError;

/// A register. `R1` to `R5` are gone after a call, `R0` has its answer, `R10` is the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names of RFC 9669, section 2.2")]
pub enum Reg {
    R0,
    R1,
    R2,
    R3,
    R4,
    R5,
    R6,
    R7,
    R8,
    R9,
    R10,
}

/// Bytes of a load or store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Size {
    /// Four bytes.
    W = 0x00,
    /// Two.
    H = 0x08,
    /// One.
    B = 0x10,
    /// Eight.
    D = 0x18,
}

/// What is done with two operands, in 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names of RFC 9669, section 4.1")]
pub enum Op {
    Add = 0x00,
    Sub = 0x10,
    Mul = 0x20,
    Div = 0x30,
    Or = 0x40,
    And = 0x50,
    Lsh = 0x60,
    Rsh = 0x70,
    Mod = 0x90,
    Xor = 0xa0,
    Mov = 0xb0,
}

/// When a jump is taken; numbers are without a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names of RFC 9669, section 4.3")]
pub enum Cond {
    Eq = 0x10,
    Gt = 0x20,
    Ge = 0x30,
    Set = 0x40,
    Ne = 0x50,
    Lt = 0xa0,
    Le = 0xb0,
    SignedLt = 0xc0,
}

/// Answers of a program of XDP to the kernel (`enum xdp_action`).
pub mod action {
    /// The frame ends.
    pub const DROP: i32 = 1;
    /// It goes on to the kernel.
    pub const PASS: i32 = 2;
    /// It leaves by another adapter.
    pub const REDIRECT: i32 = 4;
}

/// Numbers of calls into the kernel (`enum bpf_func_id`).
pub mod helper {
    /// `bpf_map_lookup_elem`.
    pub const LOOKUP: i32 = 1;
    /// `bpf_ktime_get_ns`: the monotonic clock.
    pub const CLOCK: i32 = 5;
    /// `bpf_redirect_map`.
    pub const REDIRECT_MAP: i32 = 51;
    /// `bpf_xdp_adjust_tail`.
    pub const ADJUST_TAIL: i32 = 65;
    /// `bpf_xdp_get_buff_len`: bytes of a frame with all its parts.
    pub const LENGTH: i32 = 188;
}

/// A place in a program that is jumped to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label(usize);

/// Where the keys of maps stand, on the stack.
const KEY: i16 = -4;
/// Of the load of 64 bits: the value is the descriptor of a map, or of the value of its only entry.
const OF_MAP: u8 = 1;
const OF_VALUE: u8 = 2;

/// A program in the making.
#[derive(Debug, Default)]
pub struct Assembler {
    code: Vec<u64>,
    labels: Vec<Option<usize>>,
    jumps: Vec<(usize, Label)>,
}

const fn word(code: u8, (dst, src): (u8, u8), off: i16, imm: i32) -> u64 {
    let (dst, src) = (dst as u64, src as u64);
    let registers = if cfg!(target_endian = "little") { dst | src << 4 } else { dst << 4 | src };
    let off = off.cast_unsigned() as u64;
    let imm = imm.cast_unsigned() as u64;
    if cfg!(target_endian = "little") {
        code as u64 | registers << 8 | off << 16 | imm << 32
    } else {
        (code as u64) << 56 | registers << 48 | off << 32 | imm
    }
}

impl Assembler {
    /// Without instructions.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn push(&mut self, code: u8, registers: (u8, u8), off: i16, imm: i32) {
        self.code.push(word(code, registers, off, imm));
    }

    /// A label that stands nowhere yet.
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// The label stands before what follows.
    pub fn bind(&mut self, label: Label) {
        self.labels[label.0] = Some(self.code.len());
    }

    /// `dst = dst op src`, 64 bits.
    pub fn op(&mut self, op: Op, dst: Reg, src: Reg) {
        self.push(0x07 | 0x08 | op as u8, (dst as u8, src as u8), 0, 0);
    }

    /// `dst = dst op imm`; the number is extended with its sign.
    pub fn op_imm(&mut self, op: Op, dst: Reg, imm: i32) {
        self.push(0x07 | op as u8, (dst as u8, 0), 0, imm);
    }

    /// `dst = src`.
    pub fn mov(&mut self, dst: Reg, src: Reg) {
        self.op(Op::Mov, dst, src);
    }

    /// `dst = imm`, extended with its sign.
    pub fn mov_imm(&mut self, dst: Reg, imm: i32) {
        self.op_imm(Op::Mov, dst, imm);
    }

    /// `dst =` the lower 32 bits of it.
    pub fn low(&mut self, dst: Reg) {
        self.push(0x04 | 0x08 | Op::Mov as u8, (dst as u8, dst as u8), 0, 0);
    }

    /// Folds a sum of words to 16 bits, in so many steps: carries are added (RFC 1071).
    pub fn fold(&mut self, sum: Reg, scratch: Reg, steps: u32) {
        for _ in 0..steps {
            self.mov(scratch, sum);
            self.op_imm(Op::Rsh, scratch, 16);
            self.op_imm(Op::And, sum, 0xffff);
            self.op(Op::Add, sum, scratch);
        }
    }

    /// `dst =` its lower 16 bits in the order of a network.
    pub fn network16(&mut self, dst: Reg) {
        self.push(0xdc, (dst as u8, 0), 0, 16);
    }

    /// `dst = imm`, 64 bits.
    pub fn load64(&mut self, dst: Reg, imm: u64) {
        self.wide((dst, 0), imm);
    }

    /// `dst =` a map, as helpers take it.
    pub fn map(&mut self, dst: Reg, map: &super::Map) {
        self.wide((dst, OF_MAP), u64::from(map.number().cast_unsigned()));
    }

    /// `dst =` the address of the value of a map of one entry.
    pub fn value(&mut self, dst: Reg, map: &super::Map) {
        self.wide((dst, OF_VALUE), u64::from(map.number().cast_unsigned()));
    }

    #[expect(clippy::cast_possible_truncation, reason = "the halves of it")]
    fn wide(&mut self, (dst, kind): (Reg, u8), imm: u64) {
        self.push(0x18, (dst as u8, kind), 0, (imm as u32).cast_signed());
        self.push(0, (0, 0), 0, ((imm >> 32) as u32).cast_signed());
    }

    /// `dst = *(base + off)`.
    pub fn load(&mut self, size: Size, dst: Reg, (base, off): (Reg, i16)) {
        self.push(0x61 | size as u8, (dst as u8, base as u8), off, 0);
    }

    /// `*(base + off) = src`.
    pub fn store(&mut self, size: Size, (base, off): (Reg, i16), src: Reg) {
        self.push(0x63 | size as u8, (base as u8, src as u8), off, 0);
    }

    /// Adds a register to eight bytes in memory: load, add, store; `scratch` is used for it.
    pub fn add_to(&mut self, (base, off): (Reg, i16), add: i32, scratch: Reg) {
        self.load(Size::D, scratch, (base, off));
        self.op_imm(Op::Add, scratch, add);
        self.store(Size::D, (base, off), scratch);
    }

    /// Jumps if `dst cond src`.
    pub fn jump(&mut self, cond: Cond, dst: Reg, src: Reg, to: Label) {
        self.jumps.push((self.code.len(), to));
        self.push(0x05 | 0x08 | cond as u8, (dst as u8, src as u8), 0, 0);
    }

    /// Jumps if `dst cond imm`.
    pub fn jump_imm(&mut self, cond: Cond, dst: Reg, imm: i32, to: Label) {
        self.jumps.push((self.code.len(), to));
        self.push(0x05 | cond as u8, (dst as u8, 0), 0, imm);
    }

    /// Jumps.
    pub fn go(&mut self, to: Label) {
        self.jumps.push((self.code.len(), to));
        self.push(0x05, (0, 0), 0, 0);
    }

    /// Calls into the kernel.
    pub fn call(&mut self, number: i32) {
        self.push(0x85, (0, 0), 0, number);
    }

    /// `R0 =` the address of the value of the number in a register, 0 where there is none. The four
    /// bytes at the top of the stack have the number.
    pub fn lookup(&mut self, map: &super::Map, number: Reg) {
        self.store(Size::W, (Reg::R10, KEY), number);
        self.map(Reg::R1, map);
        self.mov(Reg::R2, Reg::R10);
        self.op_imm(Op::Add, Reg::R2, i32::from(KEY));
        self.call(helper::LOOKUP);
    }

    /// Ends the program with what is in `R0`.
    pub fn exit(&mut self) {
        self.push(0x95, (0, 0), 0, 0);
    }

    /// The instructions with their jumps.
    ///
    /// # Errors
    /// A label that stands nowhere; a jump that is too long.
    pub fn finish(mut self) -> Result<Vec<u64>, BpfError> {
        for (at, label) in self.jumps {
            let target = self.labels[label.0].ok_or(BpfError::Unbound(label.0))?;
            let far = i64::try_from(target).unwrap_or(i64::MAX)
                - i64::try_from(at).unwrap_or(i64::MAX)
                - 1;
            let off = i16::try_from(far).map_err(|_| BpfError::TooFar(far))?;
            self.code[at] |= word(0, (0, 0), off, 0);
        }
        Ok(self.code)
    }
}
