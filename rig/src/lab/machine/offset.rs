//! Knows by how much the monotonic clock of a machine differs from ours, and with which error.
//!
//! Source: F. Cristian, "Probabilistic clock synchronization", Distributed Computing 3 (1989): of
//! several exchanges the one with the shortest round trip counts, and its error is at most half of
//! that. Must not know why a moment is wanted.

/// Most that two clocks drift apart, as a share of the time that passes: the limit within which
/// Linux adjusts a clock's rate, 500 ppm (`adjtimex(2)`, `MAXFREQ`).
const DRIFT_MAX: f64 = 500e-6;

/// One exchange: when we asked, what their clock said, when the answer came; nanoseconds.
pub type Exchange = (u64, u64, u64);

/// Their clock less ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offset {
    ns: i64,
    /// Half of the round trip, nanoseconds.
    error_ns: u64,
    /// Our time at which it was found; none where both read the same clock.
    at_ns: Option<u64>,
}

impl Offset {
    /// Of two ends that read the same clock.
    pub const NONE: Self = Self { ns: 0, error_ns: 0, at_ns: None };

    /// By the exchange with the shortest round trip; none without an exchange.
    #[must_use]
    pub fn of(exchanges: &[Exchange]) -> Option<Self> {
        let trip = |(asked, _, came): &Exchange| came.saturating_sub(*asked);
        let (asked, theirs, came) = exchanges.iter().min_by_key(|exchange| trip(exchange))?;
        let trip = trip(&(*asked, *theirs, *came));
        let middle = asked + trip / 2;
        let ns = i64::try_from(i128::from(*theirs) - i128::from(middle)).ok()?;
        Some(Self { ns, error_ns: trip.div_ceil(2), at_ns: Some(middle) })
    }

    /// Their clock less ours when it was found, nanoseconds.
    #[must_use]
    pub const fn ns(&self) -> i64 {
        self.ns
    }

    /// Their time at a moment of ours, nanoseconds.
    #[must_use]
    pub const fn theirs(&self, ours_ns: u64) -> u64 {
        ours_ns.saturating_add_signed(self.ns)
    }

    /// Our time at a moment of theirs, nanoseconds.
    #[must_use]
    pub const fn ours(&self, theirs_ns: u64) -> u64 {
        theirs_ns.saturating_add_signed(self.ns.saturating_neg())
    }

    /// How far a moment of ours may be from what [`Self::theirs`] says, nanoseconds: half of the
    /// round trip, and what the clocks may have drifted apart since.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a bound of some microseconds, rounded up"
    )]
    pub fn bound_ns(&self, ours_ns: u64) -> u64 {
        let drifted = |at_ns: u64| (ours_ns.abs_diff(at_ns) as f64 * DRIFT_MAX).ceil() as u64;
        self.error_ns + self.at_ns.map_or(0, drifted)
    }

    /// How far a moment of ours was from what [`Self::theirs`] said, at most, as an offset that was
    /// found later tells too, nanoseconds.
    #[must_use]
    pub fn bound_with_ns(&self, later: &Self, ours_ns: u64) -> u64 {
        let by_later = self.ns.abs_diff(later.ns) + later.bound_ns(ours_ns);
        self.bound_ns(ours_ns).min(by_later)
    }

    /// The one of two that is known better at this moment of ours.
    #[must_use]
    pub fn better(self, other: Self, ours_ns: u64) -> Self {
        if other.bound_ns(ours_ns) <= self.bound_ns(ours_ns) { other } else { self }
    }

    /// Whether two offsets can be of the same two clocks: they differ by no more than their bounds.
    #[must_use]
    pub fn agrees(&self, other: &Self, ours_ns: u64) -> bool {
        self.ns.abs_diff(other.ns) <= self.bound_ns(ours_ns) + other.bound_ns(ours_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: u64 = 1_000_000_000;

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::with_cases(256)
        })]

        #[test]
        fn the_truth_lies_within_the_bound_whatever_the_paths_take(
            offset in -3_000_000_000_i64..=3_000_000_000,
            drift in -100e-6..=100e-6_f64,
            paths in proptest::collection::vec((0..5_000_000_u64, 0..5_000_000_u64), 1..8),
            later in 0..60 * SECOND,
        ) {
            let start = 100 * SECOND;
            let theirs = |ours: u64| {
                let passed = (ours - start) as f64;
                (i128::from(ours) + i128::from(offset) + (passed * drift) as i128) as u64
            };
            let mut now = start;
            let mut exchanges = Vec::new();
            for (there, back) in paths {
                exchanges.push((now, theirs(now + there), now + there + back));
                now += there + back + 1000;
            }
            let found = Offset::of(&exchanges).unwrap();
            let at = now + later;
            let off = found.theirs(at).abs_diff(theirs(at));
            let bound = found.bound_ns(at);
            prop_assert!(off <= bound + 1, "{} ns off, bound {}", off, bound);
            prop_assert_eq!(found.ours(found.theirs(at)), at);
        }
    }

    #[test]
    fn the_shortest_round_trip_counts_until_it_is_too_old() {
        let short = (10 * SECOND, 13 * SECOND + 50, 10 * SECOND + 100);
        let long = (10 * SECOND, 13 * SECOND, 10 * SECOND + 2_000_000);
        let found = Offset::of(&[long, short]).unwrap();
        assert_eq!(
            (found.theirs(10 * SECOND), found.bound_ns(10 * SECOND + 50)),
            (13 * SECOND, 50)
        );
        let later = (20 * SECOND, 23 * SECOND, 20 * SECOND + 2_000_000);
        let later = Offset::of(&[later]).unwrap();
        assert_eq!(found.better(later, 11 * SECOND), found);
        assert_eq!(found.better(later, 20 * SECOND), later, "5 ms of drift against 1 ms of path");
        assert_eq!(Offset::of(&[]), None);
        assert_eq!(Offset::NONE.bound_ns(99 * SECOND), 0);
    }

    #[test]
    fn a_later_short_round_trip_tells_how_good_an_earlier_one_was() {
        let at = 10 * SECOND;
        let long = Offset::of(&[(at, at + 1_500_000, at + 4_000_000)]).unwrap();
        let short = Offset::of(&[(at, at - 400_000, at + 200_000)]).unwrap();
        assert_eq!((long.ns(), short.ns()), (-500_000, -500_000));
        assert_eq!(long.bound_ns(at + 2_000_000), 2_000_000);
        assert_eq!(long.bound_with_ns(&short, at + 100_000), 100_000);
        assert_eq!(short.bound_with_ns(&long, at + 100_000), 100_000, "never worse than alone");
    }

    #[test]
    fn a_clock_that_jumped_is_found_out() {
        let at = |ours: u64, ahead: u64| Offset::of(&[(ours, ours + ahead, ours + 100)]).unwrap();
        let before = at(SECOND, 3 * SECOND);
        assert!(before.agrees(&at(2 * SECOND, 3 * SECOND + 100_000), 2 * SECOND), "100 ppm");
        assert!(!before.agrees(&at(2 * SECOND, 4 * SECOND), 2 * SECOND));
    }
}
