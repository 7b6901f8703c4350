//! Knows the hot loop of a receiver: each datagram that comes is told apart, compared, counted.
//!
//! Must not know hosts, plans or windows.

use super::mail::Mail;
use super::message::Engine;
use super::part::Counters;
use super::tally::Tally;
use crate::engine::net::datagram::Datagrams;
use crate::engine::net::is_pause;
use rig::lab::clock;
use rustix::net::RecvFlags;
use std::io;
use std::net::UdpSocket;
use std::sync::atomic::Ordering::Relaxed;

/// Bytes of the largest message that the kernel merges.
const WHOLE: usize = 1 << 16;

/// Receives until its host hangs up.
///
/// # Errors
/// What the socket says; a datagram of ours that is damaged.
pub fn receive(
    socket: &UdpSocket,
    datagrams: &Datagrams,
    (engine, depth): (Engine, usize),
    counters: &Counters,
    tally: &mut Tally,
) -> io::Result<()> {
    // A byte more, so that a datagram that is too long shows.
    let room = datagrams.bytes + 1;
    let mut mail = match engine {
        Engine::Call => Mail::new(0, room),
        Engine::Batch => Mail::new(depth, room),
        Engine::Segment => Mail::new(1, WHOLE),
    };
    let mut one = vec![0; room];
    loop {
        let came = match engine {
            Engine::Call => rustix::net::recv(socket, &mut one, RecvFlags::empty())
                .map(|(bytes, _)| Some(bytes))
                .map_err(io::Error::from),
            _ => mail.receive(socket).map(|()| None),
        };
        let now_ns = clock::now_ns();
        let went_on = match came {
            Ok(Some(bytes)) => take(datagrams, &one[..bytes], now_ns, tally).map(|()| bytes > 0),
            Ok(None) => mail.datagrams().try_fold(true, |_, arrived| {
                take(datagrams, arrived, now_ns, tally).map(|()| !arrived.is_empty())
            }),
            Err(e) if is_pause(&e) => Ok(true),
            Err(e) => Err(e),
        }?;
        counters.moved.store(tally.told.moved, Relaxed);
        // A socket that was hung up gives nothing, at once.
        if !went_on && counters.hung_up.load(Relaxed) {
            return Ok(());
        }
    }
}

#[inline]
fn take(datagrams: &Datagrams, arrived: &[u8], now_ns: u64, tally: &mut Tally) -> io::Result<()> {
    match datagrams.read(arrived)? {
        Some(head) => tally.take(head, now_ns),
        None => tally.told.foreign += u64::from(!arrived.is_empty()),
    }
    Ok(())
}
