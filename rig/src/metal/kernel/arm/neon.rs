//! Loops with NEON registers of 16 bytes.
//!
//! Knows `ldp`, `stp`, `ldnp` and `stnp` of q registers. v8 to v15 belong to the caller and are
//! not touched. Must not know SVE.

use super::straight;
use crate::metal::kernel::code::{Code, code};
use crate::metal::kernel::row::Operation::{Add, Copy, Read, Scale, Triad, Write};
use crate::metal::kernel::row::{Isa, Operation, Row, Store, Walk};

/// Eight registers a turn.
macro_rules! read {
    () => {
        straight!(
            along ["x9" = "x1"], step "128", before (),
            turn (
                "ldp q0, q1, [x9]\n",
                "ldp q2, q3, [x9, #32]\n",
                "ldp q4, q5, [x9, #64]\n",
                "ldp q6, q7, [x9, #96]\n",
            ),
            after (
                "stp q0, q1, [x0]\n",
                "stp q2, q3, [x0, #32]\n",
                "stp q4, q5, [x0, #64]\n",
                "stp q6, q7, [x0, #96]\n",
            )
        )
    };
}

/// Two registers a turn from each of four quarters.
macro_rules! streams {
    () => {
        concat!(
            "lsr x3, x3, #2\n",
            "2:\n",
            "mov x9, x1\n",
            "add x12, x1, x3\n",
            "add x13, x12, x3\n",
            "add x14, x13, x3\n",
            "mov x11, x12\n",
            ".p2align 6\n",
            "3:\n",
            "ldp q0, q1, [x9], #32\n",
            "ldp q2, q3, [x11], #32\n",
            "ldp q4, q5, [x13], #32\n",
            "ldp q6, q7, [x14], #32\n",
            "cmp x9, x12\n",
            "b.lo 3b\n",
            "subs x4, x4, #1\n",
            "b.ne 2b\n",
            "stp q0, q1, [x0]\n",
            "stp q2, q3, [x0, #32]\n",
            "stp q4, q5, [x0, #64]\n",
            "stp q6, q7, [x0, #96]\n",
        )
    };
}

/// One register eight times a turn.
macro_rules! write {
    ($store:literal, $after:literal) => {
        straight!(
            along ["x9" = "x0"], step "128", before ("dup v31.2d, v0.d[0]\n",),
            turn (
                $store, " q31, q31, [x9]\n",
                $store, " q31, q31, [x9, #32]\n",
                $store, " q31, q31, [x9, #64]\n",
                $store, " q31, q31, [x9, #96]\n",
            ),
            after ($after,)
        )
    };
}

/// Eight registers loaded, then stored.
macro_rules! copy {
    ($load:literal, $store:literal, $ahead:literal, $after:literal) => {
        straight!(
            along ["x9" = "x0", "x10" = "x1"], step "128", before (),
            turn (
                $ahead,
                $load, " q0, q1, [x10]\n",
                $load, " q2, q3, [x10, #32]\n",
                $load, " q4, q5, [x10, #64]\n",
                $load, " q6, q7, [x10, #96]\n",
                $store, " q0, q1, [x9]\n",
                $store, " q2, q3, [x9, #32]\n",
                $store, " q4, q5, [x9, #64]\n",
                $store, " q6, q7, [x9, #96]\n",
            ),
            after ($after,)
        )
    };
}

/// Four registers a turn: `work` makes v0 to v3 of what x10 and x11 point at.
macro_rules! arithmetic {
    ($store:literal, ($($work:tt)*), $after:literal) => {
        straight!(
            along ["x9" = "x0", "x10" = "x1", "x11" = "x2"], step "64",
            before ("dup v31.2d, v0.d[0]\n",),
            turn (
                "ldp q0, q1, [x10]\n",
                "ldp q2, q3, [x10, #32]\n",
                $($work)*
                $store, " q0, q1, [x9]\n",
                $store, " q2, q3, [x9, #32]\n",
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
                "fmul v0.2d, v0.2d, v31.2d\n",
                "fmul v1.2d, v1.2d, v31.2d\n",
                "fmul v2.2d, v2.2d, v31.2d\n",
                "fmul v3.2d, v3.2d, v31.2d\n",
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
                "ldp q16, q17, [x11]\n",
                "ldp q18, q19, [x11, #32]\n",
                "fadd v0.2d, v0.2d, v16.2d\n",
                "fadd v1.2d, v1.2d, v17.2d\n",
                "fadd v2.2d, v2.2d, v18.2d\n",
                "fadd v3.2d, v3.2d, v19.2d\n",
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
                "ldp q16, q17, [x11]\n",
                "ldp q18, q19, [x11, #32]\n",
                "fmla v0.2d, v16.2d, v31.2d\n",
                "fmla v1.2d, v17.2d, v31.2d\n",
                "fmla v2.2d, v18.2d, v31.2d\n",
                "fmla v3.2d, v19.2d, v31.2d\n",
            ),
            $after
        )
    };
}

/// All of them.
pub(super) const ROWS: &[Row] = &[
    row("read_neon", (Read, T, Walk::Straight), code!(read!())),
    row("read_neon_streams", (Read, T, Walk::Streams), code!(streams!())),
    row("write_neon", (Write, T, Walk::Straight), code!(write!("stp", ""))),
    row("write_neon_nt", (Write, NT, Walk::Straight), code!(write!("stnp", "dmb ishst\n"))),
    row("copy_neon", (Copy, T, Walk::Straight), code!(copy!("ldp", "stp", "", ""))),
    row(
        "copy_neon_prefetched",
        (Copy, T, Walk::Prefetched),
        code!(copy!(
            "ldp",
            "stp",
            "prfm pldl1keep, [x10, #512]\nprfm pldl1keep, [x10, #576]\n",
            ""
        )),
    ),
    row(
        "copy_neon_nt",
        (Copy, NT, Walk::Straight),
        code!(copy!("ldnp", "stnp", "", "dmb ishst\n")),
    ),
    row("scale_neon", (Scale, T, Walk::Straight), code!(scale!("stp", ""))),
    row("scale_neon_nt", (Scale, NT, Walk::Straight), code!(scale!("stnp", "dmb ishst\n"))),
    row("add_neon", (Add, T, Walk::Straight), code!(add!("stp", ""))),
    row("add_neon_nt", (Add, NT, Walk::Straight), code!(add!("stnp", "dmb ishst\n"))),
    row("triad_neon", (Triad, T, Walk::Straight), code!(triad!("stp", ""))),
    row("triad_neon_nt", (Triad, NT, Walk::Straight), code!(triad!("stnp", "dmb ishst\n"))),
];

const T: Store = Store::Temporal;
const NT: Store = Store::NonTemporal;

const fn row(name: &'static str, what: (Operation, Store, Walk), code: Code) -> Row {
    let (operation, store, walk) = what;
    let keeps = match (operation, walk) {
        (Read, Walk::Streams) => 32,
        (Read, _) => 128,
        _ => 0,
    };
    Row { name, operation, isa: Isa::Neon, store, walk, granule: 128, keeps, needs: &[], code }
}
