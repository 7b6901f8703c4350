//! Loops with registers of 16, 32 and 64 bytes: one text for all three.
//!
//! Knows SSE2, AVX2 with FMA, and AVX-512F. Whatever touches a register wider than 16 bytes ends
//! with `vzeroupper`: without it the compiler's own scalar code behind the loop waits for the upper
//! halves, which has cost a factor of three. Must not know sizes of caches.

use super::straight;
use crate::metal::kernel::code::{Code, code};
use crate::metal::kernel::row::Operation::{Add, Copy, Read, Scale, Triad, Write};
use crate::metal::kernel::row::{Feature, Isa, Operation, Row, Store, Walk};

/// Register `i` of an `.irp` from so many widths behind a place.
macro_rules! load {
    ($load:literal, $v:literal, $w:literal, $from:literal) => {
        concat!($load, " ", $v, "\\i, [", $from, " + \\i*", $w, "]\n")
    };
}

/// Register `i` of an `.irp` to so many widths behind a place.
macro_rules! store {
    ($store:literal, $v:literal, $w:literal, $to:literal) => {
        concat!($store, " [", $to, " + \\i*", $w, "], ", $v, "\\i\n")
    };
}

/// Eight registers a turn.
macro_rules! read {
    ($v:literal, $w:literal, $load:literal, $end:literal) => {
        straight!(
            along ["r9" = "rsi"], step "8" * $w, before (),
            turn (
                ".irp i, 0, 1, 2, 3, 4, 5, 6, 7\n",
                load!($load, $v, $w, "r9"),
                ".endr\n",
            ),
            after (
                ".irp i, 0, 1, 2, 3, 4, 5, 6, 7\n",
                store!($load, $v, $w, "rdi"),
                ".endr\n",
                $end,
            )
        )
    };
}

/// What four registers hold from a place on, through two of them.
macro_rules! lines {
    ($v:literal, $w:literal, $load:literal, $a:literal, $b:literal, $at:literal) => {
        concat!(
            ".irp i, 0, 2\n",
            $load,
            " ",
            $v,
            $a,
            ", [",
            $at,
            " + \\i*",
            $w,
            "]\n",
            $load,
            " ",
            $v,
            $b,
            ", [",
            $at,
            " + (\\i + 1)*",
            $w,
            "]\n",
            ".endr\n",
        )
    };
}

/// Four registers a turn from each of four quarters, through two: whole lines of one quarter before
/// the next one's.
macro_rules! streams {
    ($v:literal, $w:literal, $load:literal, $end:literal) => {
        straight!(
            along ["r9" = "rsi"], step "4" * $w,
            before ("shr rcx, 2\n", "lea r11, [rcx + rcx*2]\n",),
            turn (
                lines!($v, $w, $load, "0", "1", "r9"),
                lines!($v, $w, $load, "2", "3", "r9 + rcx"),
                lines!($v, $w, $load, "4", "5", "r9 + rcx*2"),
                lines!($v, $w, $load, "6", "7", "r9 + r11"),
            ),
            after (
                ".irp i, 0, 1, 2, 3, 4, 5, 6, 7\n",
                store!($load, $v, $w, "rdi"),
                ".endr\n",
                $end,
            )
        )
    };
}

/// One register sixteen times a turn.
macro_rules! write {
    ($v:literal, $w:literal, $store:literal, $spread:literal, $fence:literal, $end:literal) => {
        straight!(
            along ["r9" = "rdi"], step "16" * $w, before ($spread,),
            turn (
                ".irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n",
                $store, " [r9 + \\i*", $w, "], ", $v, "15\n",
                ".endr\n",
            ),
            after ($fence, $end,)
        )
    };
}

/// Four registers loaded, then stored, four times a turn.
macro_rules! copy {
    ($v:literal, $w:literal, $load:literal, $end:literal) => {
        straight!(
            along ["r9" = "rdi", "r10" = "rsi"], step "16" * $w, before (),
            turn (
                ".irp g, 0, 4, 8, 12\n",
                $load, " ", $v, "0, [r10 + \\g*", $w, "]\n",
                $load, " ", $v, "1, [r10 + (\\g + 1)*", $w, "]\n",
                $load, " ", $v, "2, [r10 + (\\g + 2)*", $w, "]\n",
                $load, " ", $v, "3, [r10 + (\\g + 3)*", $w, "]\n",
                $load, " [r9 + \\g*", $w, "], ", $v, "0\n",
                $load, " [r9 + (\\g + 1)*", $w, "], ", $v, "1\n",
                $load, " [r9 + (\\g + 2)*", $w, "], ", $v, "2\n",
                $load, " [r9 + (\\g + 3)*", $w, "], ", $v, "3\n",
                ".endr\n",
            ),
            after ($end,)
        )
    };
}

/// Eight registers loaded, then stored; `ahead` asks for the lines that come later.
macro_rules! eight {
    ($v:literal, $w:literal, $load:literal, $store:literal, $ahead:literal,
     $fence:literal, $end:literal) => {
        straight!(
            along ["r9" = "rdi", "r10" = "rsi"], step "8" * $w, before (),
            turn (
                $ahead,
                ".irp i, 0, 1, 2, 3, 4, 5, 6, 7\n",
                load!($load, $v, $w, "r10"),
                ".endr\n",
                ".irp i, 0, 1, 2, 3, 4, 5, 6, 7\n",
                store!($store, $v, $w, "r9"),
                ".endr\n",
            ),
            after ($fence, $end,)
        )
    };
}

/// Two lines of each of eight pages a turn, past the caches: memory answers several pages at once
/// faster than one after another. `chunks` are the first pages of what sixteen registers hold,
/// `per` is how many registers two lines take.
macro_rules! pages {
    (
        $v:literal, $w:literal, $load:literal, $store:literal,
        $chunks:literal, $per:literal, $end:literal
    ) => {
        concat!(
            "2:\n",
            "mov r9, rdi\n",
            "mov r10, rsi\n",
            "lea rax, [rdi + rcx]\n",
            "mov r11, rcx\n",
            "and r11, -8*4096\n",
            "add r11, rdi\n",
            "cmp r9, r11\n",
            "jae 5f\n",
            "4:\n",
            "mov r12d, 4096/128\n",
            ".p2align 6\n",
            "3:\n",
            ".irp p, ",
            $chunks,
            "\n",
            ".irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n",
            $load,
            " ",
            $v,
            "\\i, [r10 + (\\p + \\i/",
            $per,
            ")*4096 + (\\i - \\i/",
            $per,
            "*",
            $per,
            ")*",
            $w,
            "]\n",
            ".endr\n",
            ".irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n",
            $store,
            " [r9 + (\\p + \\i/",
            $per,
            ")*4096 + (\\i - \\i/",
            $per,
            "*",
            $per,
            ")*",
            $w,
            "], ",
            $v,
            "\\i\n",
            ".endr\n",
            ".endr\n",
            "add r10, 128\n",
            "add r9, 128\n",
            "dec r12d\n",
            "jnz 3b\n",
            "add r10, 7*4096\n",
            "add r9, 7*4096\n",
            "cmp r9, r11\n",
            "jb 4b\n",
            // What is left over.
            "5:\n",
            "cmp r9, rax\n",
            "jae 6f\n",
            $load,
            " ",
            $v,
            "0, [r10]\n",
            $store,
            " [r9], ",
            $v,
            "0\n",
            "add r10, ",
            $w,
            "\n",
            "add r9, ",
            $w,
            "\n",
            "jmp 5b\n",
            "6:\n",
            "dec r8\n",
            "jnz 2b\n",
            "sfence\n",
            $end,
        )
    };
}

/// Each block to the one that stays in the first cache (rdx), and from there past the caches.
macro_rules! blocks {
    ($v:literal, $w:literal, $load:literal, $store:literal, $block:literal, $end:literal) => {
        concat!(
            "2:\n",
            "mov r9, rdi\n",
            "mov r10, rsi\n",
            "lea rax, [rdi + rcx]\n",
            "lea r12, [rdx + ",
            $block,
            "]\n",
            "4:\n",
            "mov r11, rdx\n",
            ".p2align 6\n",
            "3:\n",
            ".irp i, 0, 1, 2, 3, 4, 5, 6, 7\n",
            load!($load, $v, $w, "r10"),
            store!($load, $v, $w, "r11"),
            ".endr\n",
            "add r10, 8*",
            $w,
            "\n",
            "add r11, 8*",
            $w,
            "\n",
            "cmp r11, r12\n",
            "jb 3b\n",
            "mov r11, rdx\n",
            ".p2align 6\n",
            "5:\n",
            ".irp i, 0, 1, 2, 3, 4, 5, 6, 7\n",
            load!($load, $v, $w, "r11"),
            store!($store, $v, $w, "r9"),
            ".endr\n",
            "add r11, 8*",
            $w,
            "\n",
            "add r9, 8*",
            $w,
            "\n",
            "cmp r11, r12\n",
            "jb 5b\n",
            "cmp r9, rax\n",
            "jb 4b\n",
            "dec r8\n",
            "jnz 2b\n",
            "sfence\n",
            $end,
        )
    };
}

/// Two registers worked out by `work` from r10 and r11, then stored.
macro_rules! pair {
    ($v:literal, $w:literal, $store:literal, ($($work:literal),*), $both:literal) => {
        concat!(
            ".irp i, ",
            $both,
            "\n",
            $($work, "\n",)*
            ".endr\n",
            ".irp i, ",
            $both,
            "\n",
            store!($store, $v, $w, "r9"),
            ".endr\n",
        )
    };
}

/// Eight registers a turn, worked out by `work` and stored in pairs: behind all eight, stores of
/// the first cache would wait.
macro_rules! in_pairs {
    ($v:literal, $w:literal, $store:literal, $spread:literal, ($($work:literal),*),
     $end:literal) => {
        straight!(
            along ["r9" = "rdi", "r10" = "rsi", "r11" = "rdx"], step "8" * $w,
            before ($spread,),
            turn (
                pair!($v, $w, $store, ($($work),*), "0, 1"),
                pair!($v, $w, $store, ($($work),*), "2, 3"),
                pair!($v, $w, $store, ($($work),*), "4, 5"),
                pair!($v, $w, $store, ($($work),*), "6, 7"),
            ),
            after ($end,)
        )
    };
}

/// As `in_pairs`, but each is stored as soon as it is there, past the caches.
macro_rules! in_turn {
    ($v:literal, $w:literal, $store:literal, $spread:literal, ($($work:literal),*),
     $end:literal) => {
        straight!(
            along ["r9" = "rdi", "r10" = "rsi", "r11" = "rdx"], step "8" * $w,
            before ($spread,),
            turn (
                ".irp i, 0, 1, 2, 3, 4, 5, 6, 7\n",
                $($work, "\n",)*
                store!($store, $v, $w, "r9"),
                ".endr\n",
            ),
            after ("sfence\n", $end,)
        )
    };
}

/// The rows of one width.
macro_rules! rows {
    (
        $kind:ident $name:literal: $v:literal by $w:literal, $load:literal, $past:literal,
        spread $spread:literal, end $end:literal, ahead $ahead:literal,
        pages $chunks:literal by $per:literal,
        scale $scale:tt, add $add:tt, triad $triad:tt
    ) => {
        &[
            $kind.row(
                concat!("read_", $name),
                (Read, T, Walk::Straight),
                $kind.width * 8,
                code!(read!($v, $w, $load, $end)),
            ),
            $kind.row(
                concat!("read_", $name, "_streams"),
                (Read, T, Walk::Streams),
                $kind.width * 16,
                code!(streams!($v, $w, $load, $end)),
            ),
            $kind.row(
                concat!("write_", $name),
                (Write, T, Walk::Straight),
                $kind.width * 16,
                code!(write!($v, $w, $load, $spread, "", $end)),
            ),
            $kind.row(
                concat!("write_", $name, "_nt"),
                (Write, NT, Walk::Straight),
                $kind.width * 16,
                code!(write!($v, $w, $past, $spread, "sfence\n", $end)),
            ),
            $kind.row(
                concat!("copy_", $name),
                (Copy, T, Walk::Straight),
                $kind.width * 16,
                code!(copy!($v, $w, $load, $end)),
            ),
            $kind.row(
                concat!("copy_", $name, "_prefetched"),
                (Copy, T, Walk::Prefetched),
                $kind.width * 8,
                code!(eight!($v, $w, $load, $load, $ahead, "", $end)),
            ),
            $kind.row(
                concat!("copy_", $name, "_nt"),
                (Copy, NT, Walk::Straight),
                $kind.width * 8,
                code!(eight!($v, $w, $load, $past, "", "sfence\n", $end)),
            ),
            $kind.row(
                concat!("copy_", $name, "_nt_prefetched"),
                (Copy, NT, Walk::Prefetched),
                $kind.width * 8,
                code!(eight!($v, $w, $load, $past, $ahead, "sfence\n", $end)),
            ),
            $kind.row(
                concat!("copy_", $name, "_pages"),
                (Copy, NT, Walk::Pages),
                64,
                code!(pages!($v, $w, $load, $past, $chunks, $per, $end)),
            ),
            $kind.row(
                concat!("copy_", $name, "_block_4k"),
                (Copy, NT, Walk::Blocks(4096)),
                4096,
                code!(blocks!($v, $w, $load, $past, "4096", $end)),
            ),
            $kind.row(
                concat!("copy_", $name, "_block_16k"),
                (Copy, NT, Walk::Blocks(16384)),
                16384,
                code!(blocks!($v, $w, $load, $past, "16384", $end)),
            ),
            $kind.row(
                concat!("scale_", $name),
                (Scale, T, Walk::Straight),
                $kind.width * 8,
                code!(in_pairs!($v, $w, $load, $spread, $scale, $end)),
            ),
            $kind.row(
                concat!("scale_", $name, "_nt"),
                (Scale, NT, Walk::Straight),
                $kind.width * 8,
                code!(in_turn!($v, $w, $past, $spread, $scale, $end)),
            ),
            $kind.row(
                concat!("add_", $name),
                (Add, T, Walk::Straight),
                $kind.width * 8,
                code!(in_pairs!($v, $w, $load, $spread, $add, $end)),
            ),
            $kind.row(
                concat!("add_", $name, "_nt"),
                (Add, NT, Walk::Straight),
                $kind.width * 8,
                code!(in_turn!($v, $w, $past, $spread, $add, $end)),
            ),
            $kind.row(
                concat!("triad_", $name),
                (Triad, T, Walk::Straight),
                $kind.width * 8,
                code!(in_pairs!($v, $w, $load, $spread, $triad, $end)),
            ),
            $kind.row(
                concat!("triad_", $name, "_nt"),
                (Triad, NT, Walk::Straight),
                $kind.width * 8,
                code!(in_turn!($v, $w, $past, $spread, $triad, $end)),
            ),
        ]
    };
}

/// Registers of 16 bytes, which every `x86_64` has.
pub(super) const SSE: &[Row] = rows! {
    WITH_SSE "sse": "xmm" by "16", "movups", "movntps",
    spread "movq xmm15, xmm0\npunpcklqdq xmm15, xmm15\n", end "",
    ahead ".irp line, 0, 64\nprefetcht0 [r10 + 512 + \\line]\n.endr\n",
    pages "0, 2, 4, 6" by "8",
    scale ("movups xmm\\i, [r10 + \\i*16]", "mulpd xmm\\i, xmm15"),
    add ("movups xmm\\i, [r10 + \\i*16]", "addpd xmm\\i, [r11 + \\i*16]"),
    triad ("movups xmm\\i, [r11 + \\i*16]", "mulpd xmm\\i, xmm15", "addpd xmm\\i, [r10 + \\i*16]")
};

/// Registers of 32 bytes.
pub(super) const AVX2: &[Row] = rows! {
    WITH_AVX2 "avx2": "ymm" by "32", "vmovups", "vmovntps",
    spread "vbroadcastsd ymm15, xmm0\n", end "vzeroupper\n",
    ahead ".irp line, 0, 64, 128, 192\nprefetcht0 [r10 + 512 + \\line]\n.endr\n",
    pages "0, 4" by "4",
    scale ("vmulpd ymm\\i, ymm15, [r10 + \\i*32]"),
    add ("vmovupd ymm\\i, [r10 + \\i*32]", "vaddpd ymm\\i, ymm\\i, [r11 + \\i*32]"),
    triad ("vmovupd ymm\\i, [r11 + \\i*32]", "vfmadd213pd ymm\\i, ymm15, [r10 + \\i*32]")
};

/// Registers of 64 bytes.
pub(super) const AVX512: &[Row] = rows! {
    WITH_AVX512 "avx512": "zmm" by "64", "vmovups", "vmovntps",
    spread "vbroadcastsd zmm15, xmm0\n", end "vzeroupper\n",
    ahead ".irp line, 0, 64, 128, 192, 256, 320, 384, 448\n\
           prefetcht0 [r10 + 512 + \\line]\n.endr\n",
    pages "0" by "2",
    scale ("vmulpd zmm\\i, zmm15, [r10 + \\i*64]"),
    add ("vmovupd zmm\\i, [r10 + \\i*64]", "vaddpd zmm\\i, zmm\\i, [r11 + \\i*64]"),
    triad ("vmovupd zmm\\i, [r11 + \\i*64]", "vfmadd213pd zmm\\i, zmm15, [r10 + \\i*64]")
};

/// What the rows of one width have in common.
struct Kind {
    isa: Isa,
    width: usize,
    needs: &'static [Feature],
}

const WITH_SSE: Kind = Kind { isa: Isa::Sse, width: 16, needs: &[] };
const WITH_AVX2: Kind = Kind { isa: Isa::Avx2, width: 32, needs: &[Feature::Avx2, Feature::Fma] };
const WITH_AVX512: Kind = Kind { isa: Isa::Avx512, width: 64, needs: &[Feature::Avx512f] };

const T: Store = Store::Temporal;
const NT: Store = Store::NonTemporal;

impl Kind {
    const fn row(
        &self,
        name: &'static str,
        what: (Operation, Store, Walk),
        granule: usize,
        code: Code,
    ) -> Row {
        let (operation, store, walk) = what;
        let keeps = match (operation, walk) {
            (Read, Walk::Streams) => 2 * self.width,
            (Read, _) => 8 * self.width,
            _ => 0,
        };
        let Self { isa, needs, .. } = *self;
        Row { name, operation, isa, store, walk, granule, keeps, needs, code }
    }
}
