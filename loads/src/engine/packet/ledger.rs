//! Knows the account of the frames of a trial: each that was due was sent or not, and of each that
//! was sent and did not come a counter tells the drop.
//!
//! Must not know how frames are sent, nor how anything was counted.

/// Where the frames of a trial went, read after the traffic has stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Frames that were due.
    pub scheduled: u64,
    /// Those that were sent.
    pub sent: u64,
    /// Those that were not.
    pub unsent: u64,
    /// Those that came, each counted once.
    pub received: u64,
    /// Dropped frames by the counter that tells of them: its host and the cause.
    pub drops: Vec<(String, u64)>,
}

impl Ledger {
    /// Frames that all drops together account for.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.drops.iter().map(|(_, frames)| frames).sum()
    }

    /// Missing frames that no counter tells of. A host may drop frames of others, too, so that more
    /// may be dropped than are missing.
    #[must_use]
    pub fn unexplained(&self) -> u64 {
        self.sent.saturating_sub(self.received).saturating_sub(self.dropped())
    }

    /// Whether every frame is accounted for.
    ///
    /// # Errors
    /// The account, where it is not, in words.
    pub fn closes(&self) -> Result<(), String> {
        let Self { scheduled, sent, unsent, received, .. } = self;
        if *scheduled != sent + unsent {
            return Err(format!("{scheduled} frames due, but {sent} sent and {unsent} not sent"));
        }
        if *sent == 0 {
            return Err("no frame was sent".into());
        }
        if received > sent {
            return Err(format!("{sent} frames sent but {received} received"));
        }
        if *received == 0 {
            return Err(format!(
                "none of {sent} frames came: what stands between the ends is dead, or forwards \
                 nothing to the sink; {}",
                self.told()
            ));
        }
        match self.unexplained() {
            0 => Ok(()),
            lost => Err(format!(
                "{sent} frames sent, {received} received, and {lost} missing frames that no \
                 counter tells of; {}",
                self.told()
            )),
        }
    }

    fn told(&self) -> String {
        let told: Vec<String> =
            self.drops.iter().map(|(who, frames)| format!("{who} dropped {frames}")).collect();
        if told.is_empty() { "no counter tells of a drop".into() } else { told.join(", ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger(sent: u64, received: u64, dropped: u64) -> Ledger {
        let drops = vec![("queue_full".to_owned(), dropped)];
        Ledger { scheduled: 100, unsent: 100 - sent, sent, received, drops }
    }

    #[test]
    fn missing_frames_without_a_counter_are_unexplained() {
        assert_eq!(ledger(90, 80, 10).closes(), Ok(()));
        assert_eq!(ledger(90, 80, 20).closes(), Ok(()), "a host drops frames of others, too");
        let open = ledger(90, 80, 7);
        assert_eq!(open.unexplained(), 3);
        let why = open.closes().unwrap_err();
        assert!(why.contains("3 missing frames") && why.contains("queue_full dropped 7"), "{why}");
    }

    #[test]
    fn counts_that_cannot_be_are_refused() {
        let why = ledger(90, 91, 0).closes().unwrap_err();
        assert!(why.contains("90 frames sent but 91 received"), "{why}");
        let why = Ledger { unsent: 9, ..ledger(90, 80, 10) }.closes().unwrap_err();
        assert!(why.contains("100 frames due"), "{why}");
        assert_eq!(ledger(0, 0, 0).closes(), Err("no frame was sent".into()));
        let why = ledger(90, 0, 0).closes().unwrap_err();
        assert!(why.contains("none of 90 frames came"), "{why}");
    }
}
