//! Knows all that was read of a trial.
//!
//! Must not know what is right; `check.rs` says that.

use super::run::{Counts, HostMark, StreamEnd};
use crate::engine::net::Life;
use crate::engine::packet::live::bridge::PortCounts;
use crate::engine::packet::live::{PHASES, Sent, Sizes, Stream};
use crate::engine::packet::traffic::Spread;
use desk::record::{Fault, Settings};

/// All that was read of a trial.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// Names of the hosts that took part, the system under test first.
    pub host_names: Vec<String>,
    /// Names of the hosts between them, whose marks follow.
    pub between: Vec<String>,
    /// Whether each host goes by the clock of the system under test.
    pub one_clock: Vec<bool>,
    /// Parameters asked.
    pub asked: Settings,
    /// How long frames are.
    pub sizes: Sizes,
    /// Time between two frames of a client, if it is paced, nanoseconds.
    pub interval_ns: Option<f64>,
    /// What the frames meet in the list of rules that switches forward by; none where the kernel
    /// forwards.
    pub list: Option<Spread>,
    /// CPU of each client's thread.
    pub cpus: Vec<u32>,
    /// What every host of the lab counted before the first frame, by name.
    pub before: Vec<(String, Counts)>,
    /// The same after the last.
    pub after: Vec<(String, Counts)>,
    /// What the hosts told.
    pub life: Option<Life<HostMark, Option<StreamEnd>>>,
}

impl Evidence {
    /// What the hosts told.
    ///
    /// # Errors
    /// A trial that was not driven.
    pub fn life(&self) -> Result<&Life<HostMark, Option<StreamEnd>>, Fault> {
        self.life.as_ref().ok_or_else(|| Fault::WrongWork { what: "nothing was driven".into() })
    }

    /// Number of the last stream, and one more: one a client.
    #[must_use]
    pub const fn streams(&self) -> usize {
        self.cpus.len()
    }

    /// What a stream is called.
    #[must_use]
    pub fn name(&self, stream: usize) -> String {
        format!("{}.0 receive", self.host_names.get(stream + 1).map_or("?", String::as_str))
    }

    /// What its client told at its end.
    ///
    /// # Errors
    /// One that told nothing, or what went wrong there.
    pub fn sent(&self, stream: usize) -> Result<(Sent, u64), Fault> {
        let end = self.life()?.ended.get(stream + 1).and_then(Option::as_ref);
        let end = end.ok_or_else(|| Fault::DeadStream { stream: self.name(stream) })?;
        match &end.error {
            Some(what) => Err(Fault::WrongWork { what: format!("{}: {what}", self.name(stream)) }),
            None => Ok((end.sent, end.digest)),
        }
    }

    /// What came of it.
    ///
    /// # Errors
    /// A sink that told nothing.
    pub fn came(&self, stream: usize) -> Result<Stream, Fault> {
        let sink = self.after.first().and_then(|(_, counts)| counts.sink.as_ref());
        let found = sink.and_then(|sink| sink.streams.get(stream));
        found.copied().ok_or_else(|| Fault::DeadStream { stream: self.name(stream) })
    }

    /// What the program at each port counted between the two readings, by host and port.
    pub fn ports(&self) -> impl Iterator<Item = (&str, &str, PortCounts)> {
        let both = self.before.iter().zip(&self.after);
        both.flat_map(|((host, before), (_, after))| {
            after.ports.iter().map(move |(port, counts)| {
                let earlier = before.ports.iter().find(|(known, _)| known == port);
                let earlier = earlier.map(|(_, counts)| *counts).unwrap_or_default();
                (host.as_str(), port.as_str(), counts.since(&earlier))
            })
        })
    }

    /// Frames of all streams: sent, and come, by phase.
    ///
    /// # Errors
    /// As [`Self::sent`] and [`Self::came`].
    pub fn sums(&self) -> Result<(Sent, [u64; PHASES]), Fault> {
        let (mut all, mut came) = (Sent::default(), [0; PHASES]);
        for stream in 0..self.streams() {
            let (sent, _) = self.sent(stream)?;
            let arrived = self.came(stream)?.came;
            for phase in 0..PHASES {
                all.sent[phase] += sent.sent[phase];
                all.unsent[phase] += sent.unsent[phase];
                came[phase] += arrived[phase];
            }
        }
        Ok((all, came))
    }
}
