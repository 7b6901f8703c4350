//! Knows how a thread of the server waits on connections that are kept, and when one has ended.
//!
//! Must not know what a request is.

use super::client::{Counters, EVENTS, Shared, wait};
use rustix::event::epoll;
use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::net::RecvFlags;
use std::io;
use std::sync::atomic::Ordering::Relaxed;

/// A connection that is kept, at the server's end.
pub trait Answers {
    /// Where its requests come.
    fn socket(&self) -> BorrowedFd<'_>;
    /// Whether no request is under way, so that the client may end.
    fn is_between(&self) -> bool;
    /// Takes what has come and answers a whole request; whether there was one. With
    /// `RecvFlags::DONTWAIT` it does not block.
    ///
    /// # Errors
    /// What the socket says; a request that is not what it has to be (`InvalidData`).
    fn answer(&mut self, flags: RecvFlags) -> io::Result<bool>;
}

/// Has these connections tell when something has come; their place is the data of the event.
///
/// # Errors
/// What the kernel says.
pub fn watch<'s>(sockets: impl Iterator<Item = BorrowedFd<'s>>, ready: &OwnedFd) -> io::Result<()> {
    for (at, socket) in (0..).zip(sockets) {
        epoll::add(ready, socket, epoll::EventData::new_u64(at), epoll::EventFlags::IN)?;
    }
    Ok(())
}

/// Answers on all of these connections until their clients have ended.
///
/// # Errors
/// A request that is not what it has to be; a client that ends within one before the stop.
pub fn answer_all<A: Answers>(
    ends: &mut [A],
    shared: &Shared,
    counters: &Counters,
) -> io::Result<()> {
    let one = [0];
    let flags = if ends.len() > 1 { RecvFlags::DONTWAIT } else { RecvFlags::empty() };
    let ready = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    shared.watch(&ready)?;
    watch(ends.iter().map(Answers::socket), &ready)?;
    let mut events = Vec::with_capacity(EVENTS);
    let (mut open, mut done) = (ends.len(), 0);
    while open > 0 && !shared.gate.drained() {
        // A single connection is waited for in the call that reads it.
        let slots: &mut dyn Iterator<Item = usize> = match open {
            _ if flags.is_empty() => &mut one.into_iter(),
            _ => &mut wait(&ready, &mut events)?,
        };
        for slot in slots {
            let end = &mut ends[slot];
            let between = end.is_between();
            match end.answer(flags) {
                Ok(true) => {
                    done += 1;
                    counters.done.store(done, Relaxed);
                }
                Ok(false) => {}
                Err(e) if e.kind() == io::ErrorKind::InvalidData => return Err(e),
                // The client has ended, between two requests or after the stop.
                Err(_) if between || shared.gate.stopped() => {
                    open -= 1;
                    epoll::delete(&ready, end.socket())?;
                }
                Err(e) => return Err(e),
            }
        }
    }
    Ok(())
}
