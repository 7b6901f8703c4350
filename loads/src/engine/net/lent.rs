//! Knows memory whose pages are lent to the kernel: it sends them some time after the call that
//! named them has returned.
//!
//! It stands in huge pages where the kernel grants them: pages that lie side by side are one piece
//! of a packet, which is 5 to 10 % of the rate at 256 KiB a call (2026-11-28).
//!
//! It is written once, when it is made. It is mapped, not allocated: when it is dropped, the pages
//! leave this process, and those that are still under way stay as they are until the kernel has
//! sent them. Of allocated memory others would write to them. Must not know how it is sent.

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use std::ffi::c_void;
use std::io;
use std::ops::Deref;
use std::ptr::{NonNull, null_mut};

/// A huge page of x86-64 and of aarch64 with 4 KiB base pages, bytes.
const HUGE: usize = 2 << 20;
/// Less than this is not worth a huge page, bytes.
const SMALL: usize = 64 << 10;

/// Pages that are written once, when they are made.
#[derive(Debug)]
pub struct Lent {
    mapped: NonNull<c_void>,
    mapped_len: usize,
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: the mapping is private to this value and stays where it is; it is never written again.
unsafe impl Send for Lent {}

impl Lent {
    /// A copy of these bytes, of which there is at least one.
    ///
    /// # Errors
    /// When the kernel has no such memory.
    pub fn copy_of(bytes: &[u8]) -> io::Result<Self> {
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        let length = bytes.len();
        let whole = if length < SMALL { length } else { length.next_multiple_of(HUGE) };
        let mapped_len = if length < SMALL { length } else { whole + HUGE };
        // SAFETY: a new anonymous mapping, at an address of the kernel's choice.
        let mapped = unsafe { mmap_anonymous(null_mut(), mapped_len, protection, flags) }?;
        let mapped = NonNull::new(mapped).ok_or(io::ErrorKind::OutOfMemory)?;
        let up = if length < SMALL { 0 } else { mapped.cast::<u8>().align_offset(HUGE) };
        // SAFETY: what is used is a huge page shorter than the mapping where `up`, which is less
        // than that, is not 0.
        let start = unsafe { mapped.cast::<u8>().add(up) };
        if length >= SMALL {
            // SAFETY: the range is this value's own mapping, and the advice changes no content.
            // Memory in base pages is right, too.
            let _ = unsafe { madvise(start.as_ptr().cast(), whole, Advice::LinuxHugepage) };
        }
        // SAFETY: the mapping is as long as the bytes, and no one else knows it yet.
        unsafe { bytes.as_ptr().copy_to_nonoverlapping(start.as_ptr(), length) };
        Ok(Self { mapped, mapped_len, start, length })
    }
}

impl Deref for Lent {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the mapping is so long, has been written, and is never written to again.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and nobody can use it after it.
        let _ = unsafe { munmap(self.mapped.as_ptr(), self.mapped_len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_holds_what_it_was_made_of_and_larger_memory_begins_on_a_huge_page() {
        for length in [1, 4104, 70_000, 3 << 20] {
            let bytes: Vec<u8> = (0..length as u32).map(|n| n.to_le_bytes()[1]).collect();
            let lent = Lent::copy_of(&bytes).unwrap();
            assert_eq!(*lent, *bytes);
            let huge = lent.as_ptr().align_offset(HUGE) == 0;
            assert!(huge || length < SMALL, "{length}");
        }
    }
}
