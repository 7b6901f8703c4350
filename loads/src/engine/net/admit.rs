//! Knows how the connections of a trial are told from others: all that come show at once what they
//! are, so that silent ones keep none of a trial waiting.
//!
//! Must not know which connections a trial has.

use super::Secret;
use super::opening::{Opening, SHOW_MAX, longest};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;
use std::collections::VecDeque;
use std::io::{self, Read as _};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// Connections that may be about to show what they are. Where so many show nothing the oldest is
/// closed.
const PENDING_MOST: usize = 512;
/// Longest sleep between two looks at the time.
const LOOK: Duration = Duration::from_millis(20);

/// A connection that has not shown all of its opening.
struct Pending {
    socket: TcpStream,
    shown: [u8; Opening::BYTES],
    filled: usize,
    until: Instant,
}

/// What became of a connection that was looked at.
enum Seen {
    Proved((u32, u8)),
    Waits,
    Refused,
}

/// Where the connections of a trial come in.
pub struct Admissions<'a> {
    listener: &'a TcpListener,
    secret: &'a Secret,
    pending: VecDeque<Pending>,
    deadline: Instant,
    /// How long all have, from the beginning.
    pub within: Duration,
    /// Connections that were closed.
    pub refused: u64,
}

impl<'a> Admissions<'a> {
    /// For so many connections.
    ///
    /// # Errors
    /// What the socket says.
    pub fn of(listener: &'a TcpListener, secret: &'a Secret, count: usize) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let (within, pending) = (longest(count), VecDeque::new());
        let deadline = Instant::now() + within;
        Ok(Self { listener, secret, pending, deadline, within, refused: 0 })
    }

    /// Waits for the next connection that proves what it is; none where time is over.
    ///
    /// # Errors
    /// What the listening socket says.
    pub fn admit(&mut self) -> io::Result<Option<(TcpStream, (u32, u8))>> {
        while Instant::now() < self.deadline {
            self.take_in()?;
            if let Some(admitted) = self.look()? {
                return Ok(Some(admitted));
            }
            if self.pending.len() == PENDING_MOST {
                self.pending.pop_front();
                self.refused += 1;
            }
            self.wait();
        }
        Ok(None)
    }

    /// Accepts those that wait, as many as there is room for.
    fn take_in(&mut self) -> io::Result<()> {
        while self.pending.len() < PENDING_MOST {
            let socket = match self.listener.accept() {
                Ok((socket, _)) => socket,
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(e) if e.kind() == io::ErrorKind::ConnectionAborted => continue,
                Err(e) => return Err(e),
            };
            socket.set_nonblocking(true)?;
            let (shown, until) = ([0; Opening::BYTES], Instant::now() + SHOW_MAX);
            self.pending.push_back(Pending { socket, shown, filled: 0, until });
        }
        Ok(())
    }

    /// Looks at all once; gives the first that proves what it is.
    fn look(&mut self) -> io::Result<Option<(TcpStream, (u32, u8))>> {
        for _ in 0..self.pending.len() {
            let Some(mut one) = self.pending.pop_front() else { break };
            match one.see(self.secret) {
                Seen::Proved(what) => {
                    one.socket.set_nonblocking(false)?;
                    return Ok(Some((one.socket, what)));
                }
                Seen::Waits => self.pending.push_back(one),
                Seen::Refused => self.refused += 1,
            }
        }
        Ok(None)
    }

    /// Sleeps until something can have come.
    fn wait(&self) {
        let all = self.pending.iter().map(|one| PollFd::new(&one.socket, PollFlags::IN));
        let listener = PollFd::new(self.listener, PollFlags::IN);
        let mut polled: Vec<PollFd<'_>> = std::iter::once(listener).chain(all).collect();
        let nanoseconds = LOOK.subsec_nanos().into();
        // Whatever poll says, all are looked at again.
        let _ = poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: nanoseconds }));
    }
}

impl Pending {
    /// Reads what has come of the opening. Dripping bytes do not prolong its time.
    fn see(&mut self, secret: &Secret) -> Seen {
        while self.filled < Opening::BYTES {
            match self.socket.read(&mut self.shown[self.filled..]) {
                Ok(0) => return Seen::Refused,
                Ok(count) => self.filled += count,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    let late = Instant::now() > self.until;
                    return if late { Seen::Refused } else { Seen::Waits };
                }
                Err(_) => return Seen::Refused,
            }
        }
        Opening(self.shown).proved(secret).map_or(Seen::Refused, Seen::Proved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::net::Ipv4Addr;
    use std::thread;

    const SECRET: Secret = Secret { key: [7; 32], test: [9; 16] };

    #[test]
    fn connections_that_all_wait_at_once_are_all_admitted() {
        let count = PENDING_MOST + 88;
        let listener = super::super::opening::listen(Ipv4Addr::LOCALHOST.into(), count).unwrap();
        let address = listener.local_addr().unwrap();
        let open = |id| {
            let mut socket = TcpStream::connect(address).unwrap();
            socket.write_all(&Opening::of(id, 1, &SECRET).0).unwrap();
            socket
        };
        let own: Vec<TcpStream> = (0..).map(open).take(count).collect();
        let mut admissions = Admissions::of(&listener, &SECRET, count).unwrap();
        let admitted = (0..count).map(|_| admissions.admit().unwrap().unwrap().1.0);
        let ids: std::collections::BTreeSet<u32> = admitted.collect();
        assert_eq!((ids.len(), admissions.refused), (own.len(), 0));
    }

    #[test]
    fn a_thousand_half_open_connections_keep_none_of_a_trial_waiting() {
        let listener = super::super::opening::listen(Ipv4Addr::LOCALHOST.into(), 3).unwrap();
        let address = listener.local_addr().unwrap();
        let strangers = thread::spawn(move || {
            let open = |number: usize| {
                let mut socket = TcpStream::connect(address).unwrap();
                // Some say a part of something.
                let _ = socket.write(&b"half"[..number % 5]);
                socket
            };
            (0..1000).map(open).collect::<Vec<_>>()
        });
        let began = Instant::now();
        let own = thread::spawn(move || {
            let open = |id| {
                thread::sleep(Duration::from_millis(60));
                let mut socket = TcpStream::connect(address).unwrap();
                let opening = Opening::of(id, 1, &SECRET);
                let (first, last) = opening.0.split_at(30);
                socket.write_all(first).unwrap();
                thread::sleep(Duration::from_millis(20));
                socket.write_all(last).unwrap();
                socket
            };
            [1, 2, 3].map(open)
        });
        let mut admissions = Admissions::of(&listener, &SECRET, 3).unwrap();
        let mut ids: Vec<u32> = (0..3).map(|_| admissions.admit().unwrap().unwrap().1.0).collect();
        ids.sort_unstable();
        assert_eq!(ids, [1, 2, 3]);
        assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
        // Those that said nothing are closed in time, and counted.
        while admissions.refused < 1000 {
            assert!(began.elapsed() < Duration::from_secs(30), "{}", admissions.refused);
            admissions.deadline = Instant::now() + LOOK;
            assert!(admissions.admit().unwrap().is_none());
        }
        drop((strangers.join().unwrap(), own.join().unwrap()));
    }
}
