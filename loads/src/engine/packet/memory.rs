//! Knows how large tables lie in memory, and how an entry is asked for before it is needed.
//!
//! Must not know what stands in a table.

use rustix::mm::{Advice, madvise};

/// A huge page of x86-64, and of aarch64 with base pages of 4 KiB, bytes.
const HUGE: usize = 2 << 20;
/// Tables below this size get no huge pages, bytes.
const SMALL: usize = 64 << 10;

/// So many entries of one value, in huge pages where the kernel grants them: a page of 4 KiB holds
/// few of them, and its address would have to be found for each.
pub fn filled<T: Copy>(count: usize, value: T) -> Vec<T> {
    if count * size_of::<T>() < SMALL {
        return vec![value; count];
    }
    // One page more, so that whole pages can begin at their own boundary.
    let page = HUGE.div_ceil(size_of::<T>());
    let mut entries: Vec<T> = Vec::with_capacity(count.next_multiple_of(page) + page);
    let room = entries.spare_capacity_mut();
    let skipped = room.as_ptr().cast::<u8>().align_offset(HUGE);
    let bytes = size_of_val(room).saturating_sub(skipped) / HUGE * HUGE;
    let start = room.as_mut_ptr().cast::<u8>().wrapping_add(skipped);
    // SAFETY: the range lies within memory that is this vector's own, and the advice changes no
    // content. Where it is refused, pages are as they would be without it.
    let _ = unsafe { madvise(start.cast(), bytes, Advice::LinuxHugepage) };
    entries.resize(count, value);
    entries
}

/// Asks for the cache line of this place, and does not wait for it (a prefetch).
#[inline]
pub fn ask_for<T>(place: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and is sound for any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}
