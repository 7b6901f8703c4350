//! Knows what a receiver counts of one stream: what came, in which order, how often, how late.
//!
//! Nothing is allocated after [`Tally::new`]. Must not know sockets.

use super::message::StreamEnd;
use crate::engine::net::datagram::Head;
use crate::engine::times::stored;
use crate::workload::udp_stream::spec::DELAY;
use desk::record::Distribution;
use hdrhistogram::Histogram;

/// Datagrams that are remembered, behind the latest; 64 of them may be forgotten.
const SEEN: u64 = 1 << 18;

/// What a receiver counts of one stream.
#[derive(Debug)]
pub struct Tally {
    /// The number after the highest that came.
    next: u64,
    /// A bit for each of the last [`SEEN`] numbers.
    seen: Vec<u64>,
    /// What it tells at the end; its jitter is a sum until then.
    pub told: StreamEnd,
    /// Time on the way of the last datagram by both clocks, nanoseconds.
    transit: Option<i64>,
    /// The estimate of the jitter, nanoseconds.
    jitter: f64,
    delay: Histogram<u64>,
    /// A delay that several datagrams in a row had.
    run: (u64, u64),
}

impl Tally {
    /// Without any. None where the memory for the histogram cannot be had.
    #[must_use]
    pub fn new() -> Option<Self> {
        Some(Self {
            next: 0,
            seen: vec![0; usize::try_from(SEEN / 64).unwrap_or(1)],
            told: StreamEnd::default(),
            transit: None,
            jitter: 0.0,
            delay: Distribution::empty()?,
            run: (0, 0),
        })
    }

    /// Counts a datagram that was received at this moment.
    #[inline]
    pub fn take(&mut self, head: Head, now_ns: u64) {
        let number = head.sequence;
        let is_behind = number < self.next;
        if is_behind && self.next - number > SEEN - 64 {
            self.told.stale += 1;
            return;
        }
        self.reach(number);
        let (word, bit) = (Self::word(number), 1 << (number % 64));
        if self.seen[word] & bit != 0 {
            self.told.duplicates += u64::from(head.counts);
            return;
        }
        self.seen[word] |= bit;
        self.told.moved += 1;
        self.time(head, now_ns);
        if head.counts {
            self.told.counted += 1;
            self.told.reordered += u64::from(is_behind);
        }
    }

    const fn word(number: u64) -> usize {
        (number / 64 % (SEEN / 64)) as usize
    }

    /// Makes room for a number that is the highest so far.
    #[inline]
    fn reach(&mut self, number: u64) {
        if number < self.next {
            return;
        }
        let first = self.next.div_ceil(64);
        let last = number / 64;
        for word in first.max(last.saturating_sub(SEEN / 64 - 1))..=last {
            self.seen[Self::word(word * 64)] = 0;
        }
        self.next = number + 1;
    }

    /// The jitter of RFC 3550, section 6.4.1, over all datagrams; its mean, and the delay, of those
    /// of the window.
    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "differences of a trial are below 2^53 ns")]
    fn time(&mut self, head: Head, now_ns: u64) {
        let transit = now_ns.wrapping_sub(head.sent_ns).cast_signed();
        if let Some(before) = self.transit.replace(transit) {
            let differs = transit.wrapping_sub(before).unsigned_abs() as f64;
            self.jitter += (differs - self.jitter) / 16.0;
        }
        if head.counts {
            self.told.jitter_ns += self.jitter;
            let delay = u64::try_from(transit).unwrap_or(0);
            if self.run.0 == delay {
                self.run.1 += 1;
            } else {
                self.delay.saturating_record_n(self.run.0, self.run.1);
                self.run = (delay, 1);
            }
        }
    }

    /// What it tells at the end.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "datagrams of a trial are below 2^53")]
    pub fn end(mut self) -> StreamEnd {
        self.delay.saturating_record_n(self.run.0, self.run.1);
        self.told.delay = stored(DELAY, &self.delay);
        self.told.jitter_ns /= (self.told.counted as f64).max(1.0);
        self.told
    }
}
