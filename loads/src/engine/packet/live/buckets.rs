//! Knows the log-linear buckets in which a program counts times: exact below 128 ns, then 64 a
//! power of two, so that a bucket is at most 1.6 % wide, up to 137 s.
//!
//! Must not know what is timed.

use crate::engine::packet::bpf::{Assembler, Cond, Op, Reg};

/// Buckets.
pub const COUNT: u32 = 2048;
/// Powers of two that are halved into, as a binary number's digits.
const STEPS: [u32; 5] = [16, 8, 4, 2, 1];
/// Bits of a value within its power of two.
const BITS: i32 = 7;
/// The longest time that has a bucket, nanoseconds.
pub const MOST_NS: u64 = (1 << 37) - 1;

/// The middle of a bucket, nanoseconds.
#[must_use]
pub const fn middle_ns(bucket: u32) -> u64 {
    if bucket < 128 {
        return bucket as u64;
    }
    let shift = bucket / 64 - 1;
    let least = ((bucket % 64 + 64) as u64) << shift;
    least + (1 << shift) / 2
}

/// The bucket of a time, nanoseconds; longer ones are in the last.
#[must_use]
pub fn of(ns: u64) -> u32 {
    let ns = ns.min(MOST_NS);
    let shift = (u64::BITS - ns.leading_zeros()).saturating_sub(7);
    shift * 64 + u32::try_from(ns >> shift).unwrap_or(0)
}

/// Replaces a time in `value` by its bucket, as [`of`]; `shift` and `scratch` are used for it.
pub fn assemble(code: &mut Assembler, value: Reg, [shift, scratch]: [Reg; 2]) {
    let fits = code.label();
    code.load64(scratch, MOST_NS);
    code.jump(Cond::Le, value, scratch, fits);
    code.mov(value, scratch);
    code.bind(fits);
    code.mov_imm(shift, 0);
    for step in STEPS {
        // Seven digits stay, where there are as many.
        let next = code.label();
        let step = i32::try_from(step).unwrap_or(0);
        code.mov(scratch, value);
        code.op_imm(Op::Rsh, scratch, step + BITS - 1);
        code.jump_imm(Cond::Le, scratch, 0, next);
        code.op_imm(Op::Rsh, value, step);
        code.op_imm(Op::Add, shift, step);
        code.bind(next);
    }
    code.op_imm(Op::Lsh, shift, 6);
    code.op(Op::Add, value, shift);
}
