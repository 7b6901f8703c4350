//! Copies that are not ours to write: the compiler's, and that of the libc.
//!
//! Knows how to keep the compiler from knowing better. Must not know assembler.

use super::code::{Args, Code};
use super::row::{Isa, Operation, Row, Store, Walk};
use std::hint::black_box;
use std::slice;

/// Copies that every machine has.
pub(super) const ROWS: &[Row] = &[
    row("copy_compiler", Isa::Compiler, Code { text: "", call: compiled }),
    row("copy_libc", Isa::Libc, Code { text: "", call: libc_copy }),
];

const fn row(name: &'static str, isa: Isa, code: Code) -> Row {
    let (operation, store, walk) = (Operation::Copy, Store::Temporal, Walk::Straight);
    Row { name, operation, isa, store, walk, granule: 64, keeps: 0, needs: &[], code }
}

/// A plain loop over words. A loop that only copies would be made a call of `memcpy`, which is
/// another row; here each word also has a zero added, of which the compiler does not know.
unsafe fn compiled(args: &Args) {
    let words = args.bytes / size_of::<u64>();
    for _ in 0..args.passes {
        let zero = black_box(0_u64);
        // SAFETY: the caller promises both arrays for `bytes`, aligned and apart.
        let (to, one) = unsafe {
            (
                slice::from_raw_parts_mut(black_box(args.to).cast::<u64>(), words),
                slice::from_raw_parts(black_box(args.one).cast::<u64>(), words),
            )
        };
        for (to, one) in to.iter_mut().zip(one) {
            *to = one.wrapping_add(zero);
        }
    }
}

unsafe fn libc_copy(args: &Args) {
    for _ in 0..args.passes {
        // SAFETY: the caller promises both arrays for `bytes`, and that they do not overlap.
        unsafe {
            libc::memcpy(
                black_box(args.to).cast(),
                black_box(args.one).cast(),
                black_box(args.bytes),
            )
        };
    }
}
