//! The loops of `x86_64`, by instruction set.
//!
//! Knows the skeleton of a loop. How many registers a turn takes, in which groups, and how many
//! pages go in step was found by trying. Must not know which loop is best for a size.

mod rep;
mod scalar;
mod vector;

use super::row::Row;

/// All of them.
pub(super) const ROWS: &[&[Row]] =
    &[scalar::ROWS, vector::SSE, vector::AVX2, vector::AVX512, rep::ROWS];

/// A loop that walks its arrays from begin to end: the pointers `along` begin at the registers
/// beside them and are `step` bytes further after each turn. `before` comes once, before all
/// passes, and `after` once, behind all of them.
macro_rules! straight {
    (
        along [$first:literal = $begin:literal $(, $next:literal = $start:literal)*],
        step $count:literal * $width:literal,
        before ($($before:tt)*),
        turn ($($turn:tt)*),
        after ($($after:tt)*)
    ) => {
        concat!(
            $($before)*
            "2:\n",
            "mov ", $first, ", ", $begin, "\n",
            $("mov ", $next, ", ", $start, "\n",)*
            "lea rax, [", $begin, " + rcx]\n",
            ".p2align 6\n",
            "3:\n",
            $($turn)*
            "add ", $first, ", ", $count, "*", $width, "\n",
            $("add ", $next, ", ", $count, "*", $width, "\n",)*
            "cmp ", $first, ", rax\n",
            "jb 3b\n",
            "dec r8\n",
            "jnz 2b\n",
            $($after)*
        )
    };
}

use straight;
