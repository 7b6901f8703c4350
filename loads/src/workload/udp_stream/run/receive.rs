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
use std::num::NonZeroU64;
use std::sync::atomic::Ordering::Relaxed;

/// Bytes of the largest message that the kernel merges.
const WHOLE: usize = 1 << 16;

/// Longest that a receiver of many datagrams a call lets them gather, nanoseconds.
const GATHER_NS: u64 = 50_000;

/// Lets datagrams gather in the socket before the next call for many: who is asleep in a call is
/// woken for each first one, and the sender's CPU pays for that.
#[derive(Debug, Default)]
struct Gather {
    called_ns: u64,
}

impl Gather {
    /// Sleeps until half a call of `depth` datagrams will have come, if the last call came to fewer
    /// and that takes no longer than [`GATHER_NS`].
    fn sleep(&mut self, came: usize, depth: usize, now_ns: u64) {
        let since_ns = now_ns - std::mem::replace(&mut self.called_ns, now_ns);
        if came == 0 || came >= depth {
            return;
        }
        let wait_ns = since_ns / came as u64 * (depth as u64 / 2);
        if wait_ns <= GATHER_NS {
            clock::sleep_until(now_ns + wait_ns);
        }
    }
}

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
    let (mut one, mut gather) = (vec![0; room], Gather::default());
    rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?;
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
        if engine == Engine::Batch {
            gather.sleep(mail.count(), depth, now_ns);
        }
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
