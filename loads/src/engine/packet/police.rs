//! Knows token buckets, one a subscriber. Must not know frames.

/// Fixed point of times: parts of a nanosecond, as a power of two.
const POINT: u32 = 16;

/// Token buckets of one rate and depth.
///
/// Each is one word, the theoretical arrival time of the generic cell rate algorithm in its virtual
/// scheduling form, which conforms exactly as the leaky bucket does (ITU-T I.371, annex A).
#[derive(Clone, Debug)]
pub struct Policers {
    arrivals: Vec<u64>,
    /// Time of a byte at the rate, in parts of a nanosecond.
    byte: u64,
    /// Time of the depth at the rate, in parts of a nanosecond.
    depth: u64,
}

impl Policers {
    /// So many full buckets; bits a second, and bytes that may come at once.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "times of a byte at 1 bit/s or more fit 64 bits"
    )]
    pub fn new(count: usize, rate: f64, burst: u64) -> Self {
        let byte = (8e9 / rate * f64::from(1_u32 << POINT)).round();
        let depth = (byte * burst as f64) as u64;
        Self { arrivals: vec![0; count.max(1)], byte: byte as u64, depth }
    }

    /// Whether a frame of so many bytes conforms at such a moment, nanoseconds; if so it takes its
    /// tokens.
    #[inline]
    pub fn conforms(&mut self, subscriber: u32, bytes: u64, now_ns: u64) -> bool {
        let now = now_ns << POINT;
        let count = self.arrivals.len() as u64;
        // By multiplication, a subscriber's bucket among any number of them (Lemire 2019).
        let at = ((u64::from(subscriber) * count) >> 32) as usize;
        let arrival = &mut self.arrivals[at];
        let after = (*arrival).max(now) + bytes * self.byte;
        let conforms = after - now <= self.depth;
        *arrival = if conforms { after } else { *arrival };
        conforms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames of those offered at equal intervals that conform.
    fn passed(rate: f64, burst: u64, (frames, interval_ns): (u64, u64), bytes: u64) -> u64 {
        let mut policers = Policers::new(1, rate, burst);
        let start_ns = 1_000_000;
        let moment = |frame: u64| start_ns + frame * interval_ns;
        (0..frames).filter(|frame| policers.conforms(7, bytes, moment(*frame))).count() as u64
    }

    #[test]
    fn a_full_bucket_lets_its_depth_pass_at_once() {
        for depth in [1, 2, 10, 1000] {
            assert_eq!(passed(1e9, 64 * depth, (2000, 0), 64), depth);
            assert_eq!(passed(1e9, 64 * depth + 63, (2000, 0), 64), depth);
        }
    }

    #[test]
    fn what_is_above_the_rate_is_dropped() {
        // 64 B at 1 Gbit/s: 512 ns each. Ten seconds at twice that rate.
        let passed = passed(1e9, 6400, (39_062_500 / 4, 256), 64);
        let expected = (39_062_500 / 4) / 2 + 100;
        assert!(passed.abs_diff(expected) <= 1, "{passed} of {expected}");
    }

    #[test]
    fn what_is_below_the_rate_passes() {
        assert_eq!(passed(1e9, 64, (100_000, 513), 64), 100_000);
    }

    #[test]
    fn the_least_rate_with_the_largest_burst_and_the_largest_rate_with_the_least_hold() {
        // Far more frames than the largest burst has, at a rate that hardly gives any back.
        let burst = 1 << 24;
        let mut slow = Policers::new(1, 1e4, burst);
        let passed = (0..1_000_000_u64).filter(|at| slow.conforms(7, 60, at * 10)).count() as u64;
        assert!(passed.abs_diff(burst / 60) <= 1, "{passed}");
        let mut fast = Policers::new(1, 1e12, 64);
        assert!((0..1000).all(|at| fast.conforms(7, 60, at)));
    }

    #[test]
    fn subscribers_have_buckets_apart() {
        let mut policers = Policers::new(4, 1e6, 64);
        assert!(policers.conforms(0, 64, 0) && !policers.conforms(1, 64, 0), "the same bucket");
        assert!(policers.conforms(1 << 30, 64, 0) && policers.conforms(u32::MAX, 64, 0));
    }
}
