//! Knows which version of each block of the file was written last.
//!
//! Must not know files. A block belongs to one thread; while an operation is under way on it only
//! that operation changes its version.

use std::sync::atomic::{AtomicU32, Ordering};

/// The version of a block that was trimmed: all its bytes are zeros.
pub const TRIMMED: u32 = u32::MAX;

/// The version of every block of the file; 0 is what fills it.
#[derive(Debug)]
pub struct Versions(Vec<AtomicU32>);

impl Versions {
    /// So many blocks of version 0. None where the memory for them cannot be had.
    #[must_use]
    pub fn new(blocks: usize) -> Option<Self> {
        let mut all = Vec::new();
        all.try_reserve_exact(blocks).ok()?;
        all.resize_with(blocks, AtomicU32::default);
        Some(Self(all))
    }

    /// Of a block; 0 of one that is none.
    #[must_use]
    pub fn of(&self, block: u64) -> u32 {
        self.at(block).map_or(0, |version| version.load(Ordering::Relaxed))
    }

    /// Notes that a block is of this version.
    pub fn set(&self, block: u64, to: u32) {
        if let Some(version) = self.at(block) {
            version.store(to, Ordering::Relaxed);
        }
    }

    fn at(&self, block: u64) -> Option<&AtomicU32> {
        self.0.get(usize::try_from(block).ok()?)
    }
}
