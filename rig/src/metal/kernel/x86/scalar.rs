//! Loops with registers of 64 bits; arithmetic is one double at a time.
//!
//! Knows `mov`, `movnti` and scalar SSE2, which every `x86_64` has. Must not know wider registers.

use super::straight;
use crate::metal::kernel::code::{Code, code};
use crate::metal::kernel::row::{Isa, Operation, Row, Store, Walk};

/// Loads eight words a turn, four registers twice.
macro_rules! read {
    () => {
        straight!(
            along ["r9" = "rsi"], step "8" * "8", before (),
            turn (
                ".irp at, 0, 32\n",
                "mov r10, [r9 + \\at]\n",
                "mov r11, [r9 + \\at + 8]\n",
                "mov r12, [r9 + \\at + 16]\n",
                "mov r13, [r9 + \\at + 24]\n",
                ".endr\n",
            ),
            after (
                "mov [rdi], r10\n",
                "mov [rdi + 8], r11\n",
                "mov [rdi + 16], r12\n",
                "mov [rdi + 24], r13\n",
            )
        )
    };
}

/// Stores the scalar eight times a turn.
macro_rules! write {
    ($store:literal, $after:literal) => {
        straight!(
            along ["r9" = "rdi"], step "8" * "8", before ("movq r10, xmm0\n",),
            turn (
                ".irp at, 0, 8, 16, 24, 32, 40, 48, 56\n",
                $store, " [r9 + \\at], r10\n",
                ".endr\n",
            ),
            after ($after,)
        )
    };
}

/// Eight words a turn through four registers; `ahead` is asked for once a turn, which is a line.
macro_rules! copy {
    ($store:literal, $ahead:literal, $after:literal) => {
        straight!(
            along ["r9" = "rdi", "r10" = "rsi"], step "8" * "8", before (),
            turn (
                $ahead,
                ".irp at, 0, 32\n",
                "mov r11, [r10 + \\at]\n",
                "mov r12, [r10 + \\at + 8]\n",
                "mov r13, [r10 + \\at + 16]\n",
                "mov r14, [r10 + \\at + 24]\n",
                $store, " [r9 + \\at], r11\n",
                $store, " [r9 + \\at + 8], r12\n",
                $store, " [r9 + \\at + 16], r13\n",
                $store, " [r9 + \\at + 24], r14\n",
                ".endr\n",
            ),
            after ($after,)
        )
    };
}

/// Eight doubles a turn, four and four, worked out by `work` into xmm`i` and stored by `store`.
macro_rules! arithmetic {
    (($($work:tt)*), ($($store:tt)*), $after:literal) => {
        straight!(
            along ["r9" = "rdi", "r10" = "rsi", "r11" = "rdx"], step "8" * "8", before (),
            turn (
                ".irp i, 1, 2, 3, 4\n",
                $($work)*
                ".endr\n",
                ".irp i, 1, 2, 3, 4\n",
                $($store)*
                ".endr\n",
                ".irp i, 5, 6, 7, 8\n",
                $($work)*
                ".endr\n",
                ".irp i, 5, 6, 7, 8\n",
                $($store)*
                ".endr\n",
            ),
            after ($after,)
        )
    };
    (temporal $($work:tt)*) => {
        arithmetic!(($($work)*), ("movsd [r9 + \\i*8 - 8], xmm\\i\n",), "")
    };
    (past $($work:tt)*) => {
        arithmetic!(
            ($($work)*),
            ("movq r12, xmm\\i\n", "movnti [r9 + \\i*8 - 8], r12\n",),
            "sfence\n"
        )
    };
}

macro_rules! scale {
    ($store:ident) => {
        arithmetic!($store "movsd xmm\\i, [r10 + \\i*8 - 8]\n", "mulsd xmm\\i, xmm0\n",)
    };
}

macro_rules! add {
    ($store:ident) => {
        arithmetic!($store
            "movsd xmm\\i, [r10 + \\i*8 - 8]\n", "addsd xmm\\i, [r11 + \\i*8 - 8]\n",)
    };
}

macro_rules! triad {
    ($store:ident) => {
        arithmetic!($store
            "movsd xmm\\i, [r11 + \\i*8 - 8]\n", "mulsd xmm\\i, xmm0\n",
            "addsd xmm\\i, [r10 + \\i*8 - 8]\n",)
    };
}

/// All of them.
pub(super) const ROWS: &[Row] = &[
    row("read_scalar", Operation::Read, T, code!(read!())),
    row("write_scalar", Operation::Write, T, code!(write!("mov", ""))),
    row("write_scalar_nt", Operation::Write, NT, code!(write!("movnti", "sfence\n"))),
    row("copy_scalar", Operation::Copy, T, code!(copy!("mov", "", ""))),
    Row {
        walk: Walk::Prefetched,
        ..row(
            "copy_scalar_prefetched",
            Operation::Copy,
            T,
            code!(copy!("mov", "prefetcht0 [r10 + 512]\n", "")),
        )
    },
    row("copy_scalar_nt", Operation::Copy, NT, code!(copy!("movnti", "", "sfence\n"))),
    row("scale_scalar", Operation::Scale, T, code!(scale!(temporal))),
    row("scale_scalar_nt", Operation::Scale, NT, code!(scale!(past))),
    row("add_scalar", Operation::Add, T, code!(add!(temporal))),
    row("add_scalar_nt", Operation::Add, NT, code!(add!(past))),
    row("triad_scalar", Operation::Triad, T, code!(triad!(temporal))),
    row("triad_scalar_nt", Operation::Triad, NT, code!(triad!(past))),
];

const T: Store = Store::Temporal;
const NT: Store = Store::NonTemporal;

const fn row(name: &'static str, operation: Operation, store: Store, code: Code) -> Row {
    let keeps = if matches!(operation, Operation::Read) { 32 } else { 0 };
    let (isa, walk) = (Isa::Scalar, Walk::Straight);
    Row { name, operation, isa, store, walk, granule: 64, keeps, needs: &[], code }
}
