//! Knows the account of a trial: every frame that was scheduled was sent or not, and every frame
//! that was sent came or was dropped by somebody who says so. Pure.
//!
//! Must not know how anything was counted.

use super::evidence::Evidence;
use crate::engine::packet::live::Sent;
use desk::record::Fault;

/// Where frames of a trial went, from the first to the last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Frames whose moment came.
    pub scheduled: u64,
    /// Frames sent.
    pub sent: u64,
    /// Frames not sent.
    pub unsent: u64,
    /// Frames that came, each once.
    pub received: u64,
    /// Frames that somebody says to have dropped, and who, in the order of the hosts.
    pub drops: Vec<(String, u64)>,
}

impl Ledger {
    /// That of a trial, of counters read after the traffic.
    ///
    /// # Errors
    /// A client or sink that told nothing.
    pub fn of(evidence: &Evidence) -> Result<Self, Fault> {
        let (Sent { sent, unsent }, came) = evidence.sums()?;
        let (sent, unsent, received) = (sent.iter().sum(), unsent.iter().sum(), came.iter().sum());
        Ok(Self { scheduled: sent + unsent, sent, unsent, received, drops: drops(evidence)? })
    }

    /// Frames that all drops together account for.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.drops.iter().map(|(_, count)| count).sum()
    }

    /// Frames that are missing and that nobody says to have dropped.
    #[must_use]
    pub fn unexplained(&self) -> u64 {
        self.sent.saturating_sub(self.received).saturating_sub(self.dropped())
    }

    /// Whether every frame is accounted for.
    ///
    /// # Errors
    /// The account, where it is not, in words.
    pub fn closes(&self) -> Result<(), Fault> {
        let Self { sent, received, .. } = self;
        let wrong = |what: String| Err(Fault::WrongWork { what });
        if *sent == 0 {
            return wrong("no frame was sent".into());
        }
        if received > sent {
            return wrong(format!("{sent} frames sent but {received} received"));
        }
        if *received == 0 {
            return wrong(format!(
                "none of {sent} frames came: what stands between the ends is dead, or forwards \
                 nothing to the sink; {}",
                self.told()
            ));
        }
        match self.unexplained() {
            0 => Ok(()),
            lost => wrong(format!(
                "{sent} frames sent, {received} received, and {lost} missing frames that no \
                 counter tells of; {}",
                self.told()
            )),
        }
    }

    fn told(&self) -> String {
        let told: Vec<String> =
            self.drops.iter().map(|(who, count)| format!("{who} dropped {count}")).collect();
        if told.is_empty() { "nobody tells of a drop".into() } else { told.join(", ") }
    }
}

/// Drops that were counted between the two readings.
fn drops(evidence: &Evidence) -> Result<Vec<(String, u64)>, Fault> {
    let mut all = Vec::new();
    for ((host, before), (_, after)) in evidence.before.iter().zip(&evidence.after) {
        for (name, count) in &after.drops {
            let earlier = before.drops.iter().find(|(known, _)| known == name);
            let gained = count.saturating_sub(earlier.map_or(0, |(_, count)| *count));
            all.push((format!("{host} {name}"), gained));
        }
        if let Some(sink) = &after.sink {
            all.push((format!("{host} sink, damaged"), sink.damaged));
        }
    }
    for stream in 0..evidence.streams() {
        all.push((format!("{} too late", evidence.name(stream)), evidence.came(stream)?.stale));
    }
    all.retain(|(_, count)| *count > 0);
    Ok(all)
}
