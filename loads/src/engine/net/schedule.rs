//! Knows the moments at which a stream sends whose rate is set in bits, and those that it missed.
//!
//! The moments are absolute, so that what was late once does not shift what follows. Must not know
//! hosts, nor what is sent.

use desk::record::{Fault, TrialKind, Value};
use rig::workload::Job;
use serde::{Deserialize, Serialize};

/// A call is not called late below this, whatever the interval, nanoseconds: a wake-up costs it.
const LATE_NS: f64 = 100_000.0;

/// When the streams of one direction send, if not as fast as they can.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pace {
    /// Time between two system calls of one stream, nanoseconds.
    pub interval_ns: f64,
    /// Streams of one direction.
    pub streams: u32,
}

impl Pace {
    /// That of a trial whose load is offered, with so many bytes a call and streams of one
    /// direction.
    ///
    /// # Errors
    /// A stream that would not send once in the window.
    pub fn of(job: &Job, bytes: usize, streams: u32) -> Result<Option<Self>, Fault> {
        let load = job.trial.point.params.get("offered_load").and_then(Value::quantity);
        let Some(load) = load else { return Ok(None) };
        #[expect(clippy::cast_precision_loss, reason = "at most 1 MiB")]
        let bits = (bytes * 8) as f64;
        let pace = Self { interval_ns: bits / (load.value / f64::from(streams)) * 1e9, streams };
        pace.check(job)?;
        Ok(Some(pace))
    }

    /// A window in which a stream has nothing to send measures nothing. A dry visit is shorter than
    /// the trials that it stands for, and may be empty.
    fn check(&self, job: &Job) -> Result<(), Fault> {
        let (every, window) = (self.interval_ns / 1e9, job.window.as_secs_f64());
        if every <= window || job.trial.kind == TrialKind::Dry {
            return Ok(());
        }
        let what = format!(
            "at this offered_load each stream sends only every {every:.3} s, and the window is \
             {window:.3} s; raise offered_load or the window, or lower the bytes of a call or the \
             number of streams"
        );
        Err(Fault::Failed { host: "conductor".into(), what })
    }
}

/// A paced sender against its schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaceMark {
    /// Calls whose moment has come.
    pub due: u64,
    /// Those of them that were made too late, or are not made yet and too late already.
    pub late: u64,
}

/// The moments at which one stream sends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    interval_ns: f64,
    /// From go to the first call.
    offset_ns: f64,
}

impl Schedule {
    /// The schedule of the stream that is number `turn` of its direction: the streams share out the
    /// interval, so that they do not send in bursts.
    #[must_use]
    pub fn of(pace: &Pace, turn: u32) -> Self {
        let share = f64::from(turn) / f64::from(pace.streams.max(1));
        Self { interval_ns: pace.interval_ns, offset_ns: pace.interval_ns * share }
    }

    /// The moment of call `number`, nanoseconds after go.
    #[expect(clippy::cast_precision_loss, reason = "calls of a trial are below 2^53")]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a moment ahead")]
    #[must_use]
    pub fn moment_ns(&self, number: u64) -> u64 {
        (self.offset_ns + number as f64 * self.interval_ns) as u64
    }

    /// Calls whose moment has come `after_ns` after go.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative")]
    fn due(&self, after_ns: f64) -> u64 {
        if after_ns < self.offset_ns {
            return 0;
        }
        ((after_ns - self.offset_ns) / self.interval_ns) as u64 + 1
    }

    /// How late a call is called late: more than one interval.
    #[must_use]
    pub const fn grace_ns(&self) -> f64 {
        self.interval_ns.max(LATE_NS)
    }

    /// How a stream stands to its schedule, `after_ns` after go, by calls begun and those of them
    /// begun late. What is overdue and not sent
    /// counts as late, so that a stream that hangs is not taken for one that is in time.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "trials are below 2^53 ns")]
    pub fn mark(&self, after_ns: u64, (calls, late): (u64, u64)) -> PaceMark {
        let overdue = self.due(after_ns as f64 - self.grace_ns()).saturating_sub(calls);
        PaceMark { due: self.due(after_ns as f64), late: late + overdue }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule() -> Schedule {
        Schedule::of(&Pace { interval_ns: 1e6, streams: 4 }, 2)
    }

    #[test]
    fn the_streams_share_out_the_interval() {
        assert_eq!(schedule().moment_ns(0), 500_000);
        assert_eq!(schedule().moment_ns(3), 3_500_000);
        let due: Vec<u64> = [0.0, 499e3, 500e3, 1499e3, 1500e3].map(|t| schedule().due(t)).into();
        assert_eq!(due, [0, 0, 1, 1, 2]);
    }

    #[test]
    fn what_is_overdue_counts_as_late_and_not_twice_once_it_is_sent() {
        // Moments 0.5, 1.5 ... 9.5 ms have come; up to 8.5 ms they are more than 1 ms ago.
        assert_eq!(schedule().mark(10_000_000, (4, 0)), PaceMark { due: 10, late: 5 });
        assert_eq!(schedule().mark(10_000_000, (10, 5)), PaceMark { due: 10, late: 5 });
        assert_eq!(schedule().mark(10_000_000, (10, 0)), PaceMark { due: 10, late: 0 });
    }
}
