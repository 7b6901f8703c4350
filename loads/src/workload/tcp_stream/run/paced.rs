//! Knows the hot loop that sends on a schedule.
//!
//! Must not know rates or hosts.

use super::generator::{Counters, lay, place, turn};
use super::sender::Way;
use crate::engine::net::schedule::Schedule;
use crate::engine::net::{Gate, is_pause};
use std::io::{self, IoSlice};
use std::net::TcpStream;
use std::num::NonZeroU64;
use std::sync::atomic::Ordering::Relaxed;

/// Sends call after call of `depth` requests of `request` bytes, each at its moment or, when that
/// is past, at once, until the gate stops it or `bytes_max` are sent.
///
/// # Errors
/// What the socket says, other than a time-out.
pub fn send_paced(
    (socket, way): (&TcpStream, &mut Way),
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
        lay(&mut parts, content, place(sent, turn(content, request)), (request, depth));
        send_whole((socket, way), &mut parts, (counters, &mut sent), gate)?;
    }
    Ok(())
}

/// Sends one call's requests to the last byte; a stop ends it in the middle.
fn send_whole(
    (socket, way): (&TcpStream, &mut Way),
    mut parts: &mut [IoSlice<'_>],
    (counters, sent): (&Counters, &mut u64),
    gate: &Gate,
) -> io::Result<()> {
    while !parts.is_empty() {
        match way.send(socket, parts) {
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
