//! Knows how frames lie in memory. Must not know what stands in them.

use super::frame::{HEAD, Head};

/// Room for frames up to one length, each in lines of a cache of which it has the first ones, and
/// where its headers may grow also one line before.
#[derive(Clone, Debug)]
pub struct Frames {
    lines: Vec<Head>,
    /// Lines of a frame with those before its head.
    each: usize,
    /// Lines before its head.
    before: usize,
    bytes: usize,
}

impl Frames {
    /// Room for so many frames of so many bytes each.
    #[must_use]
    pub fn new(slots: usize, bytes: usize) -> Self {
        Self::room(slots, bytes, 0)
    }

    /// Room for the heads alone of frames of up to so many bytes.
    #[must_use]
    pub fn heads(slots: usize, bytes: usize) -> Self {
        Self { bytes, ..Self::room(slots, HEAD, 0) }
    }

    /// The same, with a line before the head of each.
    #[must_use]
    pub fn with_line_before(slots: usize, bytes: usize) -> Self {
        Self::room(slots, bytes, 1)
    }

    fn room(slots: usize, bytes: usize, before: usize) -> Self {
        let each = before + bytes.div_ceil(HEAD).max(1);
        Self { lines: vec![[0; HEAD]; slots * each], each, before, bytes }
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
        &self.lines[slot as usize * self.each + self.before]
    }

    /// The same, to be written.
    #[inline]
    pub fn head_mut(&mut self, slot: u32) -> &mut Head {
        &mut self.lines[slot as usize * self.each + self.before]
    }

    /// The line before the head of the frame in a slot, and the head; none where frames have none.
    #[inline]
    pub fn with_before_mut(&mut self, slot: u32) -> Option<(&mut Head, &mut Head)> {
        match &mut self.lines[slot as usize * self.each..][..=self.before] {
            [before, head] => Some((before, head)),
            _ => None,
        }
    }
}
