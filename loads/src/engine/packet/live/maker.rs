//! Knows how a process writes the frames of a stream, one after the other.
//!
//! Must not know by which socket they are sent, nor when.

use super::generator::{Pattern, Sending};
use super::wire::Wire;

/// Frames of one call.
pub const BATCH: usize = 64;

/// What a frame says of when it was sent.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    /// Its moment, nanoseconds; 0 for none.
    pub stamp: u64,
    /// Its phase.
    pub phase: u16,
}

/// What writes the frames of a stream, one after the other.
#[derive(Debug)]
pub struct Maker {
    wire: Wire,
    flows: u32,
    pattern: Pattern,
    /// Number of the next frame.
    pub next: u32,
    /// Whether every tag is wrong, as a test asks.
    spoilt: bool,
}

impl Maker {
    /// Of a stream.
    #[must_use]
    pub fn new(sending: &Sending) -> Self {
        let Sending { pattern, spoilt, .. } = *sending;
        let (wire, flows) = (sending.wire.clone(), sending.flows.max(1));
        Self { wire, flows, pattern, next: 0, spoilt }
    }

    /// A frame over which the next ones may be written.
    #[must_use]
    pub fn template(&self) -> Vec<u8> {
        self.wire.template()
    }

    /// Writes the next frame over one of the template, in a place that may be longer, and gives
    /// its bytes without check sequence.
    pub fn write(&mut self, frame: &mut [u8], mark: Mark) -> u32 {
        let flow = self.wire.flow_of((self.pattern, self.flows), self.next);
        let length = self.wire.length_of(self.next);
        let frame = &mut frame[..length];
        self.wire.write(frame, (self.next, mark.stamp, mark.phase), flow);
        if self.spoilt {
            frame[usize::from(self.wire.layout().tag().unsigned_abs())] ^= 1;
        }
        self.next = self.next.wrapping_add(1);
        u32::try_from(length).unwrap_or(0)
    }
}
