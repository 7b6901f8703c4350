//! Knows both ends of `udp_rr`: a datagram asks, a datagram with the same number answers.
//!
//! Must not know when an operation begins, nor what the figures mean.

use super::spec::{LIMIT, TIME_LIMIT};
use crate::engine::exchange::{
    Answers, Counters, Exchange, Operations, Order, Serve, Shared, Slot, answer_all, set, watch,
};
use crate::engine::net::datagram::{Datagrams, Head};
use crate::engine::net::is_pause;
use desk::record::{Settings, Value};
use rig::lab::{agent, clock};
use rig::metal::{DIGEST, digest};
use rustix::event::{PollFd, PollFlags, epoll, poll};
use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{RecvFlags, SendFlags};
use rustix::time::{TimerfdClockId, TimerfdFlags, Timespec, timerfd_create};
use std::collections::BTreeSet;
use std::io;
use std::net::{TcpListener, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// What a response is made of beside the request of its stream.
pub const RESPONSE: u64 = 0x5245_5350_4F4E_5345;
/// Looks of a client within its time limit whether a request is lost.
const LOOKS: u32 = 2;

/// Datagrams that ask and datagrams that answer.
pub struct Echo;

impl Exchange for Echo {
    type Client = Client;
    type Server = Server;
    const KEPT: bool = true;
    const DATAGRAMS: bool = true;

    fn client(order: &Order, slots: Vec<Slot>) -> (Client, u64) {
        let ends = End::of(order, slots, true);
        let contents = ends.iter().flat_map(|end| [&end.out, &end.expected]);
        let sum = contents.fold(DIGEST, |sum, all| digest(sum, all.content()));
        let ends = ends.into_iter().map(|end| Asking { end, begun_ns: None, timer: None });
        let client = Client {
            ends: ends.collect(),
            buffer: room(order.response),
            flags: RecvFlags::empty(),
            limit: limit(&order.params),
        };
        (client, sum)
    }

    fn server(order: &Order, slots: Vec<Slot>, _: &Arc<TcpListener>) -> Server {
        let mut ends = End::of(order, slots, false);
        for end in ends.iter_mut().filter(|_| agent::plants_wrong_data()) {
            end.out.spoil();
        }
        let answering = |end| Answering { end, buffer: room(order.request) };
        Server { ends: ends.into_iter().map(answering).collect() }
    }
}

/// The longest wait for an answer.
fn limit(params: &Settings) -> Duration {
    let limit = params.get(TIME_LIMIT).and_then(Value::quantity);
    Duration::from_secs_f64(limit.map_or(LIMIT, |limit| limit.value))
}

/// Room for a datagram and a byte more, so that one that is too long shows.
fn room(bytes: usize) -> Vec<u8> {
    vec![0; bytes + 1]
}

/// One end of a stream.
struct End {
    socket: Arc<UdpSocket>,
    out: Datagrams,
    expected: Datagrams,
    numbers: Numbers,
    counters: Arc<Counters>,
}

/// Which numbers have come. They rise, so that only those that were passed over are kept.
#[derive(Default)]
struct Numbers {
    next: u64,
    missing: BTreeSet<u64>,
}

impl Numbers {
    /// Takes a number that is the next or one behind it; those between are missing.
    fn reach(&mut self, number: u64) {
        self.missing.extend(self.next..number);
        self.next = number + 1;
    }

    /// Waits no longer for the next one.
    fn give_up(&mut self) {
        self.missing.insert(self.next);
        self.next += 1;
    }
}

impl End {
    fn of(order: &Order, slots: Vec<Slot>, client: bool) -> Vec<Self> {
        let end = |slot: Slot| {
            let of = |seed, bytes| Datagrams::of(&order.secret, (seed, slot.id), bytes, 1);
            let request = of(order.seed, order.request);
            let response = of(order.seed ^ RESPONSE, order.response);
            let (out, expected) = if client { (request, response) } else { (response, request) };
            let (numbers, counters) = (Numbers::default(), Arc::default());
            Some(Self { socket: slot.datagrams?, out, expected, numbers, counters })
        };
        slots.into_iter().filter_map(end).collect()
    }

    /// Sends a datagram. What a queue on the way has no room for is lost, here as anywhere.
    fn send(&mut self, head: Head) -> io::Result<()> {
        let socket = &*self.socket;
        let sent = self.out.with_heads(head, 1, |laid| {
            Ok(rustix::net::send(socket, laid, SendFlags::NOSIGNAL)?)
        });
        match sent {
            Err(e) if e.raw_os_error() != Some(Errno::NOBUFS.raw_os_error()) => Err(e),
            _ => Ok(()),
        }
    }

    /// Takes a datagram that has come; its head, where its number is the next or one behind it.
    /// All others are counted.
    fn receive(&mut self, buffer: &mut [u8], flags: RecvFlags) -> io::Result<Option<Head>> {
        let bytes = match rustix::net::recv(&self.socket, &mut *buffer, flags) {
            Ok((bytes, _)) => bytes,
            Err(e) if is_pause(&io::Error::from(e)) => return self.goes_on().map(|()| None),
            Err(e) => return Err(e.into()),
        };
        if bytes == 0 {
            self.goes_on()?;
        }
        let strays = &self.counters.strays;
        let stray = match self.expected.read(&buffer[..bytes])? {
            Some(head) if head.sequence >= self.numbers.next => return Ok(Some(head)),
            Some(head) if self.numbers.missing.remove(&head.sequence) => &strays.late,
            Some(_) => &strays.doubled,
            None => &strays.foreign,
        };
        add(stray);
        Ok(None)
    }

    /// An error once its host has hung up: a socket of datagrams says only so that it is the end.
    #[cold]
    fn goes_on(&self) -> io::Result<()> {
        let mut asked = [PollFd::new(&self.socket, PollFlags::RDHUP)];
        poll(&mut asked, Some(&Timespec::default()))?;
        match asked[0].revents().contains(PollFlags::RDHUP) {
            true => Err(io::ErrorKind::UnexpectedEof.into()),
            false => Ok(()),
        }
    }
}

/// Adds one to a count that no other thread writes.
fn add(count: &AtomicU64) {
    count.store(count.load(Relaxed) + 1, Relaxed);
}

/// A stream of a thread of clients.
struct Asking {
    end: End,
    /// When its request was sent, where one is under way.
    begun_ns: Option<u64>,
    /// Wakes the thread to look whether it is lost, where it waits for several.
    timer: Option<OwnedFd>,
}

/// A thread of clients.
pub struct Client {
    ends: Vec<Asking>,
    buffer: Vec<u8>,
    flags: RecvFlags,
    limit: Duration,
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Operations for Client {
    fn slots(&self) -> usize {
        self.ends.len()
    }

    fn count_in(&mut self, counters: &Arc<Counters>) {
        for asking in &mut self.ends {
            asking.end.counters = Arc::clone(counters);
        }
    }

    fn watch(&mut self, ready: &OwnedFd) -> io::Result<()> {
        self.flags = RecvFlags::DONTWAIT;
        watch(self.ends.iter().map(|asking| asking.end.socket.as_fd()), ready)?;
        let look_ns = nanoseconds(self.limit / LOOKS);
        for (at, asking) in (0..).zip(&mut self.ends) {
            let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK)?;
            set(&timer, clock::now_ns() + look_ns, look_ns)?;
            epoll::add(ready, &timer, epoll::EventData::new_u64(at), epoll::EventFlags::IN)?;
            asking.timer = Some(timer);
        }
        Ok(())
    }

    fn begin(&mut self, slot: usize) -> io::Result<()> {
        let asking = &mut self.ends[slot];
        let now_ns = clock::now_ns();
        let sequence = asking.end.numbers.next;
        // A thread that waits for one stream alone sleeps in the call that receives.
        if sequence == 0 && self.flags.is_empty() {
            let look = Some(self.limit / LOOKS);
            set_socket_timeout(&asking.end.socket, Timeout::Recv, look)?;
        }
        asking.begun_ns = Some(now_ns);
        asking.end.send(Head { sequence, counts: false, sent_ns: now_ns })
    }

    #[inline]
    fn go_on(&mut self, slot: usize) -> io::Result<bool> {
        let limit = self.limit;
        let asking = &mut self.ends[slot];
        if let Some(head) = asking.end.receive(&mut self.buffer, self.flags)? {
            if head.sequence != asking.end.numbers.next || asking.begun_ns.take().is_none() {
                let what = format!("datagram {} answers what was not asked", head.sequence);
                return Err(io::Error::new(io::ErrorKind::InvalidData, what));
            }
            asking.end.numbers.reach(head.sequence);
            return Ok(true);
        }
        if let Some(timer) = &asking.timer {
            // It counts on once it was read.
            let _ = rustix::io::read(timer, &mut [0; 8]);
        }
        let is_lost = |begun: &mut u64| clock::now_ns() >= *begun + nanoseconds(limit);
        if asking.begun_ns.take_if(is_lost).is_none() {
            return Ok(false);
        }
        asking.end.numbers.give_up();
        Err(io::ErrorKind::TimedOut.into())
    }

    fn survived(&mut self, _: usize, error: &io::Error) -> Option<&'static str> {
        (error.kind() == io::ErrorKind::TimedOut).then_some("lost")
    }
}

/// A stream of a thread of the server.
struct Answering {
    end: End,
    buffer: Vec<u8>,
}

impl Answers for Answering {
    fn socket(&self) -> BorrowedFd<'_> {
        self.end.socket.as_fd()
    }

    fn is_between(&self) -> bool {
        true
    }

    #[inline]
    fn answer(&mut self, flags: RecvFlags) -> io::Result<bool> {
        let Some(head) = self.end.receive(&mut self.buffer, flags)? else { return Ok(false) };
        self.end.numbers.reach(head.sequence);
        self.end.send(head)?;
        Ok(true)
    }
}

/// A thread of the server.
pub struct Server {
    ends: Vec<Answering>,
}

impl Serve for Server {
    fn serve(&mut self, shared: &Shared, counters: &Arc<Counters>) -> io::Result<()> {
        for answering in &mut self.ends {
            answering.end.counters = Arc::clone(counters);
        }
        answer_all(&mut self.ends, shared, counters)
    }
}
