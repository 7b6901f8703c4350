//! Knows what became of the frames of a trial, as the tester counted them and as a device did.
//!
//! Must not know how frames are sent.

/// The account of a trial, read after the traffic has stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Frames that were due.
    pub scheduled: u64,
    /// Those that the tester did not get sent.
    pub unsent: u64,
    /// Those that it sent.
    pub sent: u64,
    /// Those that came, each counted once.
    pub received: u64,
    /// Those that came again.
    pub duplicates: u64,
    /// Those that somebody counted as dropped, by where and why.
    pub drops: Vec<(String, u64)>,
}

impl Ledger {
    /// Frames that were dropped, and counted by whoever dropped them.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.drops.iter().map(|(_, frames)| frames).sum()
    }

    /// Frames that were sent, did not come, and that nobody counted.
    ///
    /// # Errors
    /// More frames that came or were dropped than were sent, or more that were sent than were due:
    /// a count is wrong, and with it the trial.
    pub fn unexplained(&self) -> Result<u64, String> {
        if self.scheduled != self.sent + self.unsent {
            return Err(format!(
                "{} frames were due, but {} were sent and {} were not",
                self.scheduled, self.sent, self.unsent
            ));
        }
        let explained = self.received + self.dropped();
        self.sent.checked_sub(explained).ok_or_else(|| {
            format!(
                "{} frames were sent, but {} came and {} were dropped",
                self.sent,
                self.received,
                self.dropped()
            )
        })
    }

    /// Share of the frames that were sent and did not come, 0-1 (RFC 1242, 3.6); 0 of none.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "frames of a trial are far below 2^53")]
    pub fn loss(&self) -> f64 {
        let lost = self.sent.saturating_sub(self.received);
        lost as f64 / self.sent.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger(sent: u64, received: u64, dropped: u64) -> Ledger {
        let drops = vec![("queue_full".to_owned(), dropped)];
        Ledger { scheduled: 100, unsent: 100 - sent, sent, received, duplicates: 0, drops }
    }

    #[test]
    fn what_nobody_counted_is_unexplained() {
        assert_eq!(ledger(90, 80, 10).unexplained(), Ok(0));
        assert_eq!(ledger(90, 80, 7).unexplained(), Ok(3));
        assert!((ledger(90, 81, 9).loss() - 0.1).abs() < 1e-12);
    }

    #[test]
    fn counts_that_cannot_be_are_refused() {
        let why = ledger(90, 85, 6).unexplained().unwrap_err();
        assert!(why.contains("90 frames were sent, but 85 came and 6 were dropped"), "{why}");
        let why = Ledger { unsent: 9, ..ledger(90, 80, 10) }.unexplained().unwrap_err();
        assert!(why.contains("100 frames were due"), "{why}");
    }
}
