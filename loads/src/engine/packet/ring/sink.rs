//! Knows what a tester sees of the frames that come. Must not know what became of the others.

use super::events::Turns;
use desk::record::Distribution;
use hdrhistogram::Histogram;

/// The account of the frames that came.
#[derive(Clone, Debug)]
pub(super) struct Sink {
    /// Frames, each once.
    pub(super) received: u64,
    /// Of the frames sent in the window, those that came again.
    pub(super) duplicates: u64,
    /// Of these, those that came after one with a larger number (RFC 4737, 3.3).
    pub(super) reordered: u64,
    /// Frames of each class of service.
    pub(super) classes: [u64; 64],
    /// Frames that had come when the window opened, and when it closed.
    pub(super) by: [u64; 2],
    /// Bytes of these, with their check sequences.
    pub(super) bytes_by: [u64; 2],
    /// When the last one came, seconds.
    pub(super) last: f64,
    /// Nanoseconds from when a frame was sent, in the window, until it came.
    pub(super) latency: Option<Histogram<u64>>,
    /// A bit for each number.
    pub(super) came: Vec<u64>,
    /// The window, seconds.
    window: [f64; 2],
    turns: Turns,
    largest: Option<u32>,
}

impl Sink {
    /// For frames of such numbers, from 0, a window in seconds, and such lengths.
    pub(super) fn new(frames: u64, window: [f64; 2], turns: Turns) -> Self {
        let words = usize::try_from(frames.div_ceil(64)).unwrap_or(0);
        Self {
            received: 0,
            duplicates: 0,
            reordered: 0,
            classes: [0; 64],
            by: [0; 2],
            bytes_by: [0; 2],
            last: 0.0,
            latency: Distribution::empty(),
            came: vec![0; words],
            window,
            turns,
            largest: None,
        }
    }

    /// A frame comes at such a moment, which was sent at another; seconds.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1e11")]
    pub(super) fn take(&mut self, number: u32, class: u8, (sent, now): (f64, f64)) {
        let (word, bit) = (number as usize / 64, 1 << (number % 64));
        let [opens, closes] = self.window;
        let counts = (opens..closes).contains(&sent);
        if self.came[word] & bit != 0 {
            self.duplicates += u64::from(counts);
            return;
        }
        self.came[word] |= bit;
        self.received += 1;
        let late = self.largest.is_some_and(|largest| number < largest);
        self.reordered += u64::from(late && counts);
        self.largest = self.largest.max(Some(number));
        self.classes[usize::from(class)] += 1;
        self.last = now;
        let bytes = self.turns.bytes(number) as u64;
        for (at, before) in [now < opens, now < closes].into_iter().enumerate() {
            self.by[at] += u64::from(before);
            self.bytes_by[at] += if before { bytes } else { 0 };
        }
        if !counts {
            return;
        }
        let ns = ((now - sent) * 1e9).round() as u64;
        self.latency.iter_mut().for_each(|latency| latency.saturating_record(ns));
    }
}
