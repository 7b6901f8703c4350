//! Knows memory whose pages are lent to the kernel: it sends them some time after the call that
//! named them has returned.
//!
//! It is written once, when it is made. It is mapped, not allocated: when it is dropped, the pages
//! leave this process, and those that are still under way stay as they are until the kernel has
//! sent them. Of allocated memory others would write to them. Must not know how it is sent.

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use std::ffi::c_void;
use std::io;
use std::ops::Deref;
use std::ptr::{NonNull, null_mut};

/// Memory of its own pages, which nobody writes to.
#[derive(Debug)]
pub struct Lent {
    start: NonNull<c_void>,
    length: usize,
}

// SAFETY: the mapping is private to this value and stays where it is; nobody writes to it.
unsafe impl Send for Lent {}

impl Lent {
    /// A copy of these bytes, of which there is at least one.
    ///
    /// # Errors
    /// When the kernel has no such memory.
    pub fn copy_of(bytes: &[u8]) -> io::Result<Self> {
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: a new anonymous mapping, at an address of the kernel's choice.
        let start = unsafe { mmap_anonymous(null_mut(), bytes.len(), protection, flags) }?;
        let start = NonNull::new(start).ok_or(io::ErrorKind::OutOfMemory)?;
        let lent = Self { start, length: bytes.len() };
        // SAFETY: the mapping is as long as the bytes, and no one else knows it yet.
        unsafe {
            bytes.as_ptr().copy_to_nonoverlapping(lent.start.as_ptr().cast(), bytes.len());
        }
        Ok(lent)
    }
}

impl Deref for Lent {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the mapping is so long, has been written, and is never written to again.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast(), self.length) }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and nobody can use it after it.
        let _ = unsafe { munmap(self.start.as_ptr(), self.length) };
    }
}
