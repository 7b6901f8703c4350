//! Knows the hot loop that sends on a schedule, and the schedule.
//!
//! Must not know rates or hosts: an interval is all it is given. The moments are absolute, so that
//! what was late once does not shift what follows.

use super::generator::{Counters, lay};
use super::message::{Pace, PaceMark};
use crate::engine::net::content::place;
use crate::engine::net::{Gate, is_pause};
use std::io::{self, IoSlice, Write as _};
use std::net::TcpStream;
use std::num::NonZeroU64;
use std::sync::atomic::Ordering::Relaxed;

/// A call is not called late below this, whatever the interval, nanoseconds: a wake-up costs it.
const LATE_NS: f64 = 100_000.0;

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
    fn moment_ns(&self, number: u64) -> u64 {
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
    const fn grace_ns(&self) -> f64 {
        self.interval_ns.max(LATE_NS)
    }

    /// How a stream stands to its schedule, `after_ns` after go. What is overdue and not sent
    /// counts as late, so that a stream that hangs is not taken for one that is in time.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "trials are below 2^53 ns")]
    pub fn mark(&self, after_ns: u64, counters: &Counters) -> PaceMark {
        let (calls, late) = (counters.calls.load(Relaxed), counters.late.load(Relaxed));
        let overdue = self.due(after_ns as f64 - self.grace_ns()).saturating_sub(calls);
        PaceMark { due: self.due(after_ns as f64), late: late + overdue }
    }
}

/// Sends call after call of `depth` requests of `request` bytes, each at its moment or, when that
/// is past, at once, until the gate stops it or `bytes_max` are sent.
///
/// # Errors
/// What the socket says, other than a time-out.
pub fn send_paced(
    socket: &TcpStream,
    content: &[u8],
    (request, depth, schedule): (usize, usize, &Schedule),
    counters: &Counters,
    (gate, bytes_max): (&Gate, u64),
) -> io::Result<()> {
    rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?;
    let go_ns = gate.went_ns();
    let mut parts = Vec::with_capacity(depth);
    let (mut sent, mut calls, mut late) = (0_u64, 0_u64, 0_u64);
    while sent < bytes_max {
        let at_ns = go_ns + schedule.moment_ns(calls);
        let now_ns = gate.wait_until(at_ns);
        if gate.stopped() {
            break;
        }
        calls += 1;
        #[expect(clippy::cast_precision_loss, reason = "trials are below 2^53 ns")]
        if now_ns.saturating_sub(at_ns) as f64 > schedule.grace_ns() {
            late += 1;
            counters.late.store(late, Relaxed);
        }
        counters.calls.store(calls, Relaxed);
        lay(&mut parts, content, place(sent), (request, depth));
        send_whole(socket, &mut parts, (counters, &mut sent), gate)?;
    }
    Ok(())
}

/// Sends one call's requests to the last byte; a stop ends it in the middle.
fn send_whole(
    mut socket: &TcpStream,
    mut parts: &mut [IoSlice<'_>],
    (counters, sent): (&Counters, &mut u64),
    gate: &Gate,
) -> io::Result<()> {
    while !parts.is_empty() {
        match socket.write_vectored(parts) {
            Ok(n) => {
                IoSlice::advance_slices(&mut parts, n);
                *sent += n as u64;
                counters.bytes.store(*sent, Relaxed);
            }
            Err(e) if is_pause(&e) && !gate.stopped() => {}
            Err(e) if is_pause(&e) => return Ok(()),
            Err(e) => return Err(e),
        }
    }
    Ok(())
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
        let counters = Counters::default();
        counters.calls.store(4, Relaxed);
        // Moments 0.5, 1.5 ... 9.5 ms have come; up to 8.5 ms they are more than 1 ms ago.
        assert_eq!(schedule().mark(10_000_000, &counters), PaceMark { due: 10, late: 5 });
        counters.calls.store(10, Relaxed);
        counters.late.store(5, Relaxed);
        assert_eq!(schedule().mark(10_000_000, &counters), PaceMark { due: 10, late: 5 });
        counters.late.store(0, Relaxed);
        assert_eq!(schedule().mark(10_000_000, &counters), PaceMark { due: 10, late: 0 });
    }
}
