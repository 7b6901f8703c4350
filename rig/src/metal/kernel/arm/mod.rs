//! The loops of `aarch64`: registers of 64 bits, and NEON.
//!
//! Knows what every `aarch64` has. `ldnp` and `stnp` are hints: a CPU may keep what they touch in
//! its caches. Must not know which loop is best for a size.

mod neon;
mod scalar;

use super::row::Row;

/// All of them.
pub(super) const ROWS: &[&[Row]] = &[scalar::ROWS, neon::ROWS];

/// A loop that walks its arrays from begin to end: the pointers `along` begin at the registers
/// beside them and are `step` bytes further after each turn. `before` comes once, before all
/// passes, and `after` once, behind all of them.
macro_rules! straight {
    (
        along [$first:literal = $begin:literal $(, $next:literal = $start:literal)*],
        step $step:literal,
        before ($($before:tt)*),
        turn ($($turn:tt)*),
        after ($($after:tt)*)
    ) => {
        concat!(
            $($before)*
            "2:\n",
            "mov ", $first, ", ", $begin, "\n",
            $("mov ", $next, ", ", $start, "\n",)*
            "add x12, ", $begin, ", x3\n",
            ".p2align 6\n",
            "3:\n",
            $($turn)*
            "add ", $first, ", ", $first, ", #", $step, "\n",
            $("add ", $next, ", ", $next, ", #", $step, "\n",)*
            "cmp ", $first, ", x12\n",
            "b.lo 3b\n",
            "subs x4, x4, #1\n",
            "b.ne 2b\n",
            $($after)*
        )
    };
}

use straight;
