//! Loops with registers of 64 bits; arithmetic is one double at a time.
//!
//! Knows `ldp`, `stp`, `stnp` of 64-bit registers and scalar floating point. Must not know NEON.

use super::straight;
use crate::metal::kernel::code::{Code, code};
use crate::metal::kernel::row::Operation::{Add, Copy, Read, Scale, Triad, Write};
use crate::metal::kernel::row::{Isa, Operation, Row, Store, Walk};

/// Loads eight words a turn, four registers twice.
macro_rules! read {
    () => {
        straight!(
            along ["x9" = "x1"], step "64", before (),
            turn (
                "ldp x5, x6, [x9]\n",
                "ldp x7, x8, [x9, #16]\n",
                "ldp x5, x6, [x9, #32]\n",
                "ldp x7, x8, [x9, #48]\n",
            ),
            after ("stp x5, x6, [x0]\n", "stp x7, x8, [x0, #16]\n",)
        )
    };
}

/// Stores the scalar eight times a turn.
macro_rules! write {
    ($store:literal, $after:literal) => {
        straight!(
            along ["x9" = "x0"], step "64", before ("fmov x5, d0\n",),
            turn (
                $store, " x5, x5, [x9]\n",
                $store, " x5, x5, [x9, #16]\n",
                $store, " x5, x5, [x9, #32]\n",
                $store, " x5, x5, [x9, #48]\n",
            ),
            after ($after,)
        )
    };
}

/// Eight words a turn through eight registers.
macro_rules! copy {
    ($load:literal, $store:literal, $ahead:literal, $after:literal) => {
        straight!(
            along ["x9" = "x0", "x10" = "x1"], step "64", before (),
            turn (
                $ahead,
                $load, " x5, x6, [x10]\n",
                $load, " x7, x8, [x10, #16]\n",
                $load, " x13, x14, [x10, #32]\n",
                $load, " x15, x17, [x10, #48]\n",
                $store, " x5, x6, [x9]\n",
                $store, " x7, x8, [x9, #16]\n",
                $store, " x13, x14, [x9, #32]\n",
                $store, " x15, x17, [x9, #48]\n",
            ),
            after ($after,)
        )
    };
}

/// Four doubles a turn: `work` makes d1 to d4 of what x10 and x11 point at.
macro_rules! arithmetic {
    ($store:literal, ($($work:tt)*), $after:literal) => {
        straight!(
            along ["x9" = "x0", "x10" = "x1", "x11" = "x2"], step "32", before (),
            turn (
                $($work)*
                $store, " d1, d2, [x9]\n",
                $store, " d3, d4, [x9, #16]\n",
            ),
            after ($after,)
        )
    };
}

macro_rules! scale {
    ($store:literal, $after:literal) => {
        arithmetic!(
            $store,
            (
                "ldp d1, d2, [x10]\n",
                "ldp d3, d4, [x10, #16]\n",
                "fmul d1, d1, d0\n",
                "fmul d2, d2, d0\n",
                "fmul d3, d3, d0\n",
                "fmul d4, d4, d0\n",
            ),
            $after
        )
    };
}

macro_rules! add {
    ($store:literal, $after:literal) => {
        arithmetic!(
            $store,
            (
                "ldp d1, d2, [x10]\n",
                "ldp d3, d4, [x10, #16]\n",
                "ldp d16, d17, [x11]\n",
                "ldp d18, d19, [x11, #16]\n",
                "fadd d1, d1, d16\n",
                "fadd d2, d2, d17\n",
                "fadd d3, d3, d18\n",
                "fadd d4, d4, d19\n",
            ),
            $after
        )
    };
}

macro_rules! triad {
    ($store:literal, $after:literal) => {
        arithmetic!(
            $store,
            (
                "ldp d1, d2, [x10]\n",
                "ldp d3, d4, [x10, #16]\n",
                "ldp d16, d17, [x11]\n",
                "ldp d18, d19, [x11, #16]\n",
                "fmadd d1, d16, d0, d1\n",
                "fmadd d2, d17, d0, d2\n",
                "fmadd d3, d18, d0, d3\n",
                "fmadd d4, d19, d0, d4\n",
            ),
            $after
        )
    };
}

/// All of them.
pub(super) const ROWS: &[Row] = &[
    row("read_scalar", Read, T, code!(read!())),
    row("write_scalar", Write, T, code!(write!("stp", ""))),
    row("write_scalar_nt", Write, NT, code!(write!("stnp", "dmb ishst\n"))),
    row("copy_scalar", Copy, T, code!(copy!("ldp", "stp", "", ""))),
    Row {
        walk: Walk::Prefetched,
        ..row(
            "copy_scalar_prefetched",
            Copy,
            T,
            code!(copy!("ldp", "stp", "prfm pldl1keep, [x10, #512]\n", "")),
        )
    },
    row("copy_scalar_nt", Copy, NT, code!(copy!("ldnp", "stnp", "", "dmb ishst\n"))),
    row("scale_scalar", Scale, T, code!(scale!("stp", ""))),
    row("scale_scalar_nt", Scale, NT, code!(scale!("stnp", "dmb ishst\n"))),
    row("add_scalar", Add, T, code!(add!("stp", ""))),
    row("add_scalar_nt", Add, NT, code!(add!("stnp", "dmb ishst\n"))),
    row("triad_scalar", Triad, T, code!(triad!("stp", ""))),
    row("triad_scalar_nt", Triad, NT, code!(triad!("stnp", "dmb ishst\n"))),
];

const T: Store = Store::Temporal;
const NT: Store = Store::NonTemporal;

const fn row(name: &'static str, operation: Operation, store: Store, code: Code) -> Row {
    let keeps = if matches!(operation, Operation::Read) { 32 } else { 0 };
    let (isa, walk) = (Isa::Scalar, Walk::Straight);
    Row { name, operation, isa, store, walk, granule: 64, keeps, needs: &[], code }
}
