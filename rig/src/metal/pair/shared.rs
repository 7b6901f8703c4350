//! Knows the memory between two threads: pages that nobody has touched, words and blocks in it.
//!
//! Must not know who says what in it.

use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

/// Bytes from one word to the next: no two in one pair of lines, which prefetchers fetch together.
const APART: usize = 128;
/// Where the blocks begin.
const BLOCKS: usize = 4096;

/// Pages of our own, unmapped in the end.
pub struct Shared {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a mapping belongs to the process, not to a thread; what is done with it says how.
unsafe impl Send for Shared {}
// SAFETY: words are atomics; blocks are lent out as `block` demands.
unsafe impl Sync for Shared {}

impl Shared {
    /// Maps pages for the words and so many bytes of blocks; no page is there before it is touched.
    ///
    /// # Errors
    /// The kernel's.
    pub fn map(blocks: usize) -> Result<Self, String> {
        let bytes = BLOCKS + blocks.next_multiple_of(4096);
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping at an address of the kernel's choice.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) };
        let refused = || format!("{bytes} bytes: {}", std::io::Error::last_os_error());
        if start == libc::MAP_FAILED {
            return Err(refused());
        }
        let start = NonNull::new(start.cast::<u8>()).ok_or_else(refused)?;
        Ok(Self { start, bytes })
    }

    /// First byte.
    pub fn start(&self) -> *const u8 {
        self.start.as_ptr()
    }

    /// Writes a zero into every page, so that it comes from the node of the calling thread; only
    /// before the two threads begin.
    pub fn touch(&self) {
        for page in (0..self.bytes).step_by(4096) {
            // SAFETY: inside the mapping; before the threads begin nobody else writes there, and an
            // atomic could not be told from the zero that is there.
            unsafe { self.start.add(page).write_volatile(0) };
        }
    }

    /// A word on a line of its own; at most 32 of them.
    pub fn word(&self, number: usize) -> &AtomicU64 {
        debug_assert!(number < BLOCKS / APART);
        // SAFETY: inside the mapping, aligned, zero at first, and only ever used as an atomic.
        unsafe { self.start.add(number % (BLOCKS / APART) * APART).cast::<AtomicU64>().as_ref() }
    }

    /// A block's words.
    ///
    /// # Safety
    /// Nobody else may hold the block meanwhile: the two threads pass it on by a release of one
    /// word and an acquire of it.
    #[expect(clippy::mut_from_ref, reason = "the block is lent by the protocol, not by a borrow")]
    pub unsafe fn block(&self, number: usize, block: usize) -> &mut [u64] {
        let from = BLOCKS + number * block;
        debug_assert!(from + block <= self.bytes);
        // SAFETY: inside the mapping, a multiple of 8, zero at first; alone, as the caller vouches.
        unsafe {
            std::slice::from_raw_parts_mut(self.start.add(from).cast::<u64>().as_ptr(), block / 8)
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: our own mapping, whole, and nobody has a reference into it any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}
