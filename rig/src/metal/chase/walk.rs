//! Knows the links in memory: how one is written and read, and the loop that follows them.
//!
//! From a stride of 8 bytes a link is the address of the next member: the address of a load is the
//! register that the load before it wrote, nothing else. Below, it is the offset of the next member
//! in 32 bits; adding the base costs a clock on some machines. Must not know the order.

use crate::metal::Memory;
#[cfg(target_arch = "x86_64")]
use std::arch::asm;

/// Loads of a pass: in L1 a pass takes 2 us, in memory 0.1 ms.
pub const LOADS_OF_PASS: u64 = 1024;
/// Loads of one turn of the loop; its counting is done beside the loads.
const UNROLLED: u64 = 64;

/// Writes the link of the member at byte `from`.
pub fn link(memory: &Memory, stride: usize, from: usize, to: usize) {
    let base = memory.as_mut_ptr();
    debug_assert!(from + stride <= memory.len() && to + stride <= memory.len());
    // SAFETY: both members lie inside the memory (the path was drawn for no more than its length)
    // at multiples of the stride, which is a multiple of the size of what is written.
    unsafe {
        if stride < 8 {
            #[expect(clippy::cast_possible_truncation, reason = "at most 2^32 members of 4 bytes")]
            base.add(from).cast::<u32>().write((to / stride) as u32);
        } else {
            base.add(from).cast::<u64>().write(base.add(to) as u64);
        }
    }
}

/// Where the link of the member at byte `from` leads, bytes.
pub fn next(memory: &Memory, stride: usize, from: usize) -> usize {
    let base = memory.as_mut_ptr();
    debug_assert!(from + stride <= memory.len());
    // SAFETY: as in `link`; every member was linked before it is read.
    unsafe {
        if stride < 8 {
            base.add(from).cast::<u32>().read() as usize * stride
        } else {
            base.add(from).cast::<usize>().read().wrapping_sub(base as usize)
        }
    }
}

/// Follows so many passes of links from byte `at`; where it ends, bytes.
pub fn walk(memory: &Memory, stride: usize, at: usize, passes: u64) -> usize {
    let base = memory.as_mut_ptr();
    let turns = passes * (LOADS_OF_PASS / UNROLLED);
    if turns == 0 {
        return at;
    }
    if stride < 8 {
        // SAFETY: every link holds the number of a member inside the memory.
        return unsafe { numbers(base, at / 4, turns) } * 4;
    }
    // SAFETY: `at` is the offset of a member, and every link holds the address of one.
    let end = unsafe { addresses(base.add(at), turns) };
    (end as usize).wrapping_sub(base as usize)
}

/// `turns` is 1 or more.
#[cfg(target_arch = "x86_64")]
unsafe fn addresses(mut at: *mut u8, mut turns: u64) -> *mut u8 {
    // SAFETY: reads only, at addresses that the caller vouches for.
    unsafe {
        asm!(
            ".p2align 5",
            "2:",
            ".rept 64",
            "mov {at}, qword ptr [{at}]",
            ".endr",
            "dec {turns}",
            "jnz 2b",
            at = inout(reg) at,
            turns = inout(reg) turns,
            options(nostack, readonly),
        );
    }
    let _ = turns;
    at
}

/// `turns` is 1 or more.
#[cfg(target_arch = "x86_64")]
unsafe fn numbers(base: *mut u8, mut at: usize, mut turns: u64) -> usize {
    // SAFETY: reads only, at numbers that the caller vouches for; a write of 32 bits clears the
    // upper half of its register.
    unsafe {
        asm!(
            ".p2align 5",
            "2:",
            ".rept 64",
            "mov {at:e}, dword ptr [{base} + 4*{at}]",
            ".endr",
            "dec {turns}",
            "jnz 2b",
            base = in(reg) base,
            at = inout(reg) at,
            turns = inout(reg) turns,
            options(nostack, readonly),
        );
    }
    let _ = turns;
    at
}

/// The same without assembly; the compiler may not drop or join volatile reads.
#[cfg(not(target_arch = "x86_64"))]
unsafe fn addresses(mut at: *mut u8, turns: u64) -> *mut u8 {
    for _ in 0..turns {
        for _ in 0..UNROLLED {
            // SAFETY: the caller vouches for every link.
            at = unsafe { at.cast::<*mut u8>().read_volatile() };
        }
    }
    at
}

/// The same without assembly.
#[cfg(not(target_arch = "x86_64"))]
unsafe fn numbers(base: *mut u8, mut at: usize, turns: u64) -> usize {
    for _ in 0..turns {
        for _ in 0..UNROLLED {
            // SAFETY: the caller vouches for every link.
            at = unsafe { base.cast::<u32>().add(at).read_volatile() } as usize;
        }
    }
    at
}
