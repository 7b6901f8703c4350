//! Loops that are one instruction: the CPU's own string operations.
//!
//! Knows `rep movs` and `rep stos`, by bytes and by words of eight. How they store is the CPU's
//! affair; they are counted as temporal. Must not know registers wider than 64 bits.

use crate::metal::kernel::code::{Code, code};
use crate::metal::kernel::row::{Isa, Operation, Row, Store, Walk};

/// Repeats an instruction for all passes; rcx counts units of two to the `shift` bytes.
macro_rules! repeat {
    ($instruction:literal, $shift:literal) => {
        concat!(
            "mov r9, rdi\n",
            "mov r10, rsi\n",
            "mov r11, rcx\n",
            "shr r11, ",
            $shift,
            "\n",
            "movq rax, xmm0\n",
            "2:\n",
            "mov rdi, r9\n",
            "mov rsi, r10\n",
            "mov rcx, r11\n",
            "rep ",
            $instruction,
            "\n",
            "dec r8\n",
            "jnz 2b\n",
        )
    };
}

/// All of them.
pub(super) const ROWS: &[Row] = &[
    row("write_rep", Operation::Write, Isa::Rep, code!(repeat!("stosb", "0"))),
    row("write_rep_q", Operation::Write, Isa::RepQ, code!(repeat!("stosq", "3"))),
    row("copy_rep", Operation::Copy, Isa::Rep, code!(repeat!("movsb", "0"))),
    row("copy_rep_q", Operation::Copy, Isa::RepQ, code!(repeat!("movsq", "3"))),
];

const fn row(name: &'static str, operation: Operation, isa: Isa, code: Code) -> Row {
    let (store, walk) = (Store::Temporal, Walk::Straight);
    Row { name, operation, isa, store, walk, granule: 64, keeps: 0, needs: &[], code }
}
