//! Knows all that was read of a trial, and how to find one thing in it.
//!
//! Must not know what is right; `check.rs` says that.

use super::run::{HostMark, StreamEnd, StreamMark};
use crate::engine::net::Life;
use crate::engine::net::streams::{Direction, StreamPlan};
use desk::record::{Fault, Settings};

/// All that was read of a trial.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// Names of the hosts that took part, the system under test first.
    pub host_names: Vec<String>,
    /// Whether each host goes by the clock of the system under test.
    pub one_clock: Vec<bool>,
    /// Parameters asked.
    pub asked: Settings,
    /// Payload bytes of a datagram.
    pub datagram: u64,
    /// Datagrams of one call as it was really made.
    pub depth: u64,
    /// Streams as planned.
    pub streams: Vec<StreamPlan>,
    /// What the hosts told.
    pub life: Option<Life<HostMark, (Vec<StreamEnd>, u64)>>,
}

/// One end of one stream over the trial.
#[derive(Clone, Copy, Debug)]
pub struct End<'e> {
    /// When the window opened.
    pub opened: &'e StreamMark,
    /// When it closed.
    pub closed: &'e StreamMark,
    /// At its end.
    pub end: &'e StreamEnd,
    /// Time between the two readings, nanoseconds.
    pub length_ns: u64,
}

impl Evidence {
    /// What the hosts told.
    ///
    /// # Errors
    /// A trial that was not driven.
    pub fn life(&self) -> Result<&Life<HostMark, (Vec<StreamEnd>, u64)>, Fault> {
        self.life.as_ref().ok_or_else(|| Fault::WrongWork { what: "nothing was driven".into() })
    }

    /// What a stream is called.
    pub fn name(&self, plan: &StreamPlan) -> String {
        plan.name(&self.host_names)
    }

    /// The host at which a stream is sent or received.
    pub fn host(plan: &StreamPlan, sends: bool) -> usize {
        if sends == (plan.direction == Direction::Transmit) { 0 } else { plan.client }
    }

    /// An end of a stream.
    ///
    /// # Errors
    /// One of which nothing was read.
    pub fn end(&self, plan: &StreamPlan, sends: bool) -> Result<End<'_>, Fault> {
        let (life, host) = (self.life()?, Self::host(plan, sends));
        let mark = |marks: &'_ [HostMark]| -> Option<(usize, u64)> {
            let mark = marks.get(host)?;
            Some((mark.streams.iter().position(|s| s.id == plan.id)?, mark.at_ns))
        };
        let found = || {
            let (a, opened_ns) = mark(&life.opened)?;
            let (b, closed_ns) = mark(&life.closed)?;
            Some(End {
                opened: &life.opened[host].streams[a],
                closed: &life.closed[host].streams[b],
                end: life.ended.get(host)?.0.iter().find(|end| end.id == plan.id)?,
                length_ns: closed_ns.saturating_sub(opened_ns).max(1),
            })
        };
        found().ok_or_else(|| Fault::DeadStream { stream: self.name(plan) })
    }
}
