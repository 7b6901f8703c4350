//! Knows the hot loop of a sender: call after call, as fast as it goes or each at its moment.
//!
//! Must not know hosts, plans or what becomes of the datagrams.

use super::message::Engine;
use super::part::Counters;
use crate::engine::exchange::Shared;
use crate::engine::net::datagram::{Datagrams, Head};
use crate::engine::net::is_pause;
use crate::engine::net::schedule::Schedule;
use rig::lab::clock;
use rustix::io::Errno;
use rustix::net::{MMsgHdr, SendAncillaryBuffer, SendFlags, sendmmsg};
use std::io::{self, IoSlice};
use std::net::UdpSocket;
use std::num::NonZeroU64;
use std::sync::atomic::Ordering::Relaxed;

/// Segments that every kernel with `UDP_SEGMENT` cuts one call into.
const SEGMENTS: usize = 64;

/// How a sender sends.
#[derive(Clone, Copy, Debug)]
pub struct Sending {
    /// How datagrams become system calls.
    pub engine: Engine,
    /// Datagrams of a call.
    pub depth: usize,
    /// When, if not as fast as it goes.
    pub schedule: Option<Schedule>,
    /// Most datagrams.
    pub most: u64,
}

/// Sends until the gate stops it or `most` are sent.
///
/// Counts what was sent, and of it what was sent in the window.
///
/// # Errors
/// What the socket says, other than that its queue is full.
pub fn send(
    socket: &UdpSocket,
    datagrams: &mut Datagrams,
    how: &Sending,
    (shared, counters): (&Shared, &Counters),
) -> io::Result<(u64, u64)> {
    rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?;
    let bytes = datagrams.bytes;
    let (gate, go_ns) = (&shared.gate, shared.gate.went_ns());
    let (mut sent, mut counted, mut calls, mut late) = (0, 0, 0, 0);
    while sent < how.most {
        let mut now_ns = clock::now_ns();
        if let Some(schedule) = &how.schedule {
            let at_ns = go_ns + schedule.moment_ns(calls);
            now_ns = gate.wait_until(at_ns);
            #[expect(clippy::cast_precision_loss, reason = "trials are below 2^53 ns")]
            let is_late = now_ns.saturating_sub(at_ns) as f64 > schedule.grace_ns();
            late += u64::from(is_late && !gate.stopped());
            counters.late.store(late, Relaxed);
        }
        if gate.stopped() {
            break;
        }
        calls += 1;
        counters.calls.store(calls, Relaxed);
        let window = shared.window();
        let counts = now_ns >= window.opens_ns && now_ns < window.closes_ns;
        let first = Head { sequence: sent, counts, sent_ns: now_ns };
        let went = datagrams.with_heads(first, how.depth, |laid| call(socket, laid, bytes, how));
        match went {
            Ok(went) => {
                sent += went;
                counted += if counts { went } else { 0 };
                counters.moved.store(sent, Relaxed);
            }
            Err(e) if is_pause(&e) || e.raw_os_error() == Some(Errno::NOBUFS.raw_os_error()) => {}
            Err(_) if gate.stopped() => break,
            Err(e) => return Err(e),
        }
    }
    Ok((sent, counted))
}

/// One system call for datagrams of so many bytes; gives how many the kernel took.
#[inline]
fn call(socket: &UdpSocket, laid: &[u8], bytes: usize, how: &Sending) -> io::Result<u64> {
    match how.engine {
        Engine::Call => {
            rustix::net::send(socket, laid, SendFlags::NOSIGNAL)?;
            Ok(1)
        }
        Engine::Batch => {
            let pieces: Vec<[IoSlice<'_>; 1]> =
                laid.chunks(bytes).map(|piece| [IoSlice::new(piece)]).collect();
            let mut controls: Vec<SendAncillaryBuffer<'_, '_, '_>> =
                pieces.iter().map(|_| SendAncillaryBuffer::default()).collect();
            let both = pieces.iter().zip(&mut controls);
            let mut all: Vec<MMsgHdr<'_>> =
                both.map(|(piece, control)| MMsgHdr::new(piece, control)).collect();
            Ok(sendmmsg(socket, &mut all, SendFlags::NOSIGNAL)? as u64)
        }
        Engine::Segment => match rustix::net::send(socket, laid, SendFlags::NOSIGNAL) {
            Err(Errno::INVAL) if how.depth > SEGMENTS => Err(io::Error::other(format!(
                "queue_depth: a call of {} datagrams, and this kernel cuts one into at most \
                 {SEGMENTS}; lower queue_depth to {SEGMENTS} or use Linux 6.10",
                how.depth
            ))),
            went => Ok(went.map(|_| how.depth as u64)?),
        },
    }
}
