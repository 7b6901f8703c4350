//! Knows how frames lie in memory. Must not know what stands in them.

use super::frame::{HEAD, Head};

/// Room for frames up to one length, each in lines of a cache of which it has the first ones.
#[derive(Clone, Debug)]
pub struct Frames {
    lines: Vec<Head>,
    /// Lines of a frame.
    each: usize,
    bytes: usize,
}

impl Frames {
    /// Room for so many frames of so many bytes each.
    #[must_use]
    pub fn new(slots: usize, bytes: usize) -> Self {
        let each = bytes.div_ceil(HEAD).max(1);
        Self { lines: vec![[0; HEAD]; slots * each], each, bytes }
    }

    /// Bytes of the longest frame.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// The head of the frame in a slot.
    #[inline]
    #[must_use]
    pub fn head(&self, slot: u32) -> &Head {
        &self.lines[slot as usize * self.each]
    }

    /// The same, to be written.
    #[inline]
    pub fn head_mut(&mut self, slot: u32) -> &mut Head {
        &mut self.lines[slot as usize * self.each]
    }
}
