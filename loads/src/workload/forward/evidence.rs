//! Knows all that was read of a trial.
//!
//! Must not know what is right; `check.rs` says that.

use super::external::BoxCount;
use super::run::{Alone, Counts, HostMark, StreamEnd, capture_of};
use crate::engine::net::{Life, seconds};
use crate::engine::packet::live::bridge::PortCounts;
use crate::engine::packet::live::{Listed, PHASES, Sent, Sizes, Stream};
use crate::engine::packet::traffic::Spread;
use desk::record::{Fault, Settings};
use rig::metal::Span;

/// The phase of the window.
pub const WINDOW: usize = 1;

/// A count of a trial as a number that is divided.
#[expect(clippy::cast_precision_loss, reason = "counts of a trial are below 2^53")]
pub const fn float(count: u64) -> f64 {
    count as f64
}

/// A stream: its two ends, by their places among the hosts that took part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leg {
    /// Who sends.
    pub sender: usize,
    /// Who counts.
    pub receiver: usize,
    /// CPU of the thread that sends.
    pub cpu: u32,
}

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
    /// Frames of all streams that are sent from the opening on; none where they are endless.
    pub burst: Option<u32>,
    /// When the frames were due that count, if it is paced; without, it is the whole window.
    pub due_in: Option<Span>,
    /// What the frames meet in the list of rules that switches forward by; none where the kernel
    /// forwards.
    pub list: Option<Spread>,
    /// The tester with nothing between; none where nothing stands between anyway, and of bursts.
    pub alone: Option<Alone>,
    /// Who sends each stream, and who counts it.
    pub legs: Vec<Leg>,
    /// What every host of the lab counted before the first frame, by name.
    pub before: Vec<(String, Counts)>,
    /// The same after the last.
    pub after: Vec<(String, Counts)>,
    /// What the external box counted over the trial.
    pub external: Option<BoxCount>,
    /// What the hosts told.
    pub life: Option<Life<HostMark, Vec<StreamEnd>>>,
}

impl Evidence {
    /// What the hosts told.
    ///
    /// # Errors
    /// A trial that was not driven.
    pub fn life(&self) -> Result<&Life<HostMark, Vec<StreamEnd>>, Fault> {
        self.life.as_ref().ok_or_else(|| Fault::WrongWork { what: "nothing was driven".into() })
    }

    /// The frames of the capture that were asked for; none of other loads.
    #[must_use]
    pub fn captured(&self) -> Option<&[Listed]> {
        capture_of(&self.asked).and_then(|_| self.sizes.list())
    }

    /// How long frames that count were due or sent, seconds.
    ///
    /// # Errors
    /// A trial that was not driven.
    pub fn frames_for(&self) -> Result<f64, Fault> {
        let (opens_ns, closes_ns) = self.life()?.window_ns;
        let span = self.due_in.unwrap_or(Span { opens_ns, closes_ns });
        Ok(seconds(span.closes_ns.saturating_sub(span.opens_ns)).max(1e-9))
    }

    /// Number of the last stream, and one more: one a client and direction.
    #[must_use]
    pub const fn streams(&self) -> usize {
        self.legs.len()
    }

    /// What a stream is called: by its client, and by what the system under test does.
    #[must_use]
    pub fn name(&self, stream: usize) -> String {
        let leg = &self.legs[stream];
        let way = if leg.receiver == 0 { "receive" } else { "transmit" };
        format!("{}.0 {way}", self.host_names[leg.sender.max(leg.receiver)])
    }

    /// The host that sends a stream.
    #[must_use]
    pub fn sender(&self, stream: usize) -> &str {
        &self.host_names[self.legs[stream].sender]
    }

    /// What its sender told at its end.
    ///
    /// # Errors
    /// One that told nothing, or what went wrong there.
    pub fn sent(&self, stream: usize) -> Result<(Sent, u64), Fault> {
        let told = self.life()?.ended.get(self.legs[stream].sender);
        let end = told.and_then(|all| all.iter().find(|end| usize::from(end.stream) == stream));
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
        let host = &self.host_names[self.legs[stream].receiver];
        let counts = self.after.iter().find(|(name, _)| name == host).map(|(_, counts)| counts);
        let found = counts.and_then(|counts| counts.sink.as_ref()?.streams.get(stream));
        found.copied().ok_or_else(|| Fault::DeadStream { stream: self.name(stream) })
    }

    /// What the fast path counted at each port between the two readings, by host and port.
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
