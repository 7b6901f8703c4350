//! Knows messages that are datagrams, of UDP or of ICMP echo: how one that came is told from
//! others, and when a request is lost.
//!
//! Must not know when an operation begins, nor how a server answers.

use super::client::{Counters, Operations, set};
use super::kept::watch;
use super::order::Order;
use crate::engine::net::datagram::{Datagrams, Head, LEAST, MOST};
use crate::engine::net::is_pause;
use desk::record::{ParamKind, ParamSpec, Settings, Value};
use desk::unit::Kind;
use rig::lab::clock;
use rig::metal::{DIGEST, Unready, digest};
use rustix::event::{PollFd, PollFlags, epoll, poll};
use rustix::fd::{AsFd as _, OwnedFd};
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendFlags, SocketFlags, SocketType, ipproto,
};
use rustix::time::{TimerfdClockId, TimerfdFlags, Timespec, timerfd_create};
use std::collections::BTreeSet;
use std::io::{self, IoSlice};
use std::net::{IpAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// What carries datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// UDP, on a socket beside each connection that is kept.
    Udp,
    /// ICMP echo, which the kernel of the server answers: there is no connection and no thread.
    Icmp,
}

/// Payload bytes of a datagram that asks.
pub const DATAGRAM_REQUEST: ParamSpec = ParamSpec {
    about: "payload bytes of a datagram that a client sends",
    kind: ParamKind::size(LEAST as u64, MOST as u64),
    default: "64 B",
    ..super::REQUEST_SIZE
};

/// The longest wait for an answer.
pub const TIME_LIMIT: ParamSpec = ParamSpec {
    name: "time_limit",
    about: "a request without an answer for so long is lost",
    role: None,
    kind: ParamKind::within(Kind::Duration, 0.001, 10.0),
    default: "200 ms",
};
/// Its default, seconds: the shortest time after which Linux sends a lost segment of TCP again
/// (`TCP_RTO_MIN`), so that a loss costs here what it costs `tcp_rr`.
const LIMIT: f64 = 0.2;
/// Looks of a client within its time limit whether a request is lost.
const LOOKS: u32 = 2;

/// A socket of ICMP echo to an address, whose identifier no other socket has (icmp(7)).
///
/// # Errors
/// Where this user may have none, with the remedy; what else the kernel says.
pub fn echo_socket(address: IpAddr) -> io::Result<UdpSocket> {
    let (family, protocol) = match address {
        IpAddr::V4(_) => (AddressFamily::INET, ipproto::ICMP),
        IpAddr::V6(_) => (AddressFamily::INET6, ipproto::ICMPV6),
    };
    let (kind, flags) = (SocketType::DGRAM, SocketFlags::CLOEXEC);
    let made = rustix::net::socket_with(family, kind, flags, Some(protocol));
    let socket = match made {
        Err(Errno::ACCESS | Errno::PERM) => {
            let what = "this host may not ask for ICMP echoes: its group is not in \
                        net.ipv4.ping_group_range; take a lab of namespaces, or write \
                        sysctl -w net.ipv4.ping_group_range='0 2147483647'";
            return Err(io::Error::other(Unready::NotAvailable(what.into())));
        }
        made => UdpSocket::from(made?),
    };
    socket.connect((address, 0))?;
    Ok(socket)
}

/// The end of a stream of echoes of a slot: what comes back is what was sent.
#[must_use]
pub fn echo_end(order: &Order, (socket, id): (Arc<UdpSocket>, u32)) -> Option<End> {
    // Of such a socket the kernel tells the identifier as its port.
    let own = socket.local_addr().ok()?;
    let types = if own.is_ipv6() { ICMPV6 } else { ICMP };
    let of = || Datagrams::of(&order.secret, (order.seed, id), order.request, 1);
    Some(End::new((socket, Framing::Icmp(own.port(), types)), of(), of()))
}

/// The longest wait for an answer.
fn limit(params: &Settings) -> Duration {
    let limit = params.get(TIME_LIMIT.name).and_then(Value::quantity);
    Duration::from_secs_f64(limit.map_or(LIMIT, |limit| limit.value))
}

/// Room for a datagram and a byte more, so that one that is too long shows.
#[must_use]
pub fn room(bytes: usize) -> Vec<u8> {
    vec![0; bytes + 1]
}

/// One end of a stream.
#[derive(Debug)]
pub struct End {
    /// Where datagrams go and come.
    pub socket: Arc<UdpSocket>,
    framing: Framing,
    /// What is sent.
    pub out: Datagrams,
    /// What has to come.
    pub expected: Datagrams,
    /// Which have come.
    pub numbers: Numbers,
    /// Where what comes is counted.
    pub counters: Arc<Counters>,
}

/// What stands before a datagram on its socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Nothing: the kernel makes the head of UDP.
    Udp,
    /// The head of an ICMP echo, of a socket with this identifier.
    Icmp(u16, EchoTypes),
}

/// Types of the messages that ask for an echo, and that are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EchoTypes {
    asks: u8,
    answers: u8,
}

/// RFC 792.
const ICMP: EchoTypes = EchoTypes { asks: 8, answers: 0 };
/// RFC 4443, 4.1 and 4.2. The head is the same.
const ICMPV6: EchoTypes = EchoTypes { asks: 128, answers: 129 };

/// Bytes of the head of an ICMP echo: type, code, checksum 2, identifier 2, sequence number 2.
const ECHO: usize = 8;

impl Framing {
    /// Sends a datagram with what stands before it. The kernel fills in identifier and checksum of
    /// an echo.
    fn send(self, socket: &UdpSocket, laid: &[u8], sequence: u64) -> io::Result<usize> {
        let Self::Icmp(_, EchoTypes { asks, .. }) = self else {
            return Ok(rustix::net::send(socket, laid, SendFlags::NOSIGNAL)?);
        };
        let [high, low] = number(sequence).to_be_bytes();
        let head = [asks, 0, 0, 0, 0, 0, high, low];
        let parts = [IoSlice::new(&head), IoSlice::new(laid)];
        let mut none = SendAncillaryBuffer::default();
        Ok(rustix::net::sendmsg(socket, &parts, &mut none, SendFlags::NOSIGNAL)?)
    }

    /// What stands behind the head of what has come, and the number in the head if there is one.
    fn opened(self, arrived: &[u8]) -> io::Result<(&[u8], Option<u16>)> {
        let Self::Icmp(own, types) = self else { return Ok((arrived, None)) };
        // What was hung up has nothing, and is looked at elsewhere.
        let Some((head, rest)) = arrived.split_first_chunk::<ECHO>() else {
            return Ok((arrived, None));
        };
        let [kind, code, _, _, id @ .., high, low] = *head;
        let id = u16::from_be_bytes(id);
        if (kind, code, id) != (types.answers, 0, own) {
            return Err(wrong(format!(
                "an ICMP message of type {kind}, code {code}, identifier {id} and not an echo of \
                 identifier {own}"
            )));
        }
        Ok((rest, Some(u16::from_be_bytes([high, low]))))
    }
}

/// The number of a datagram as the head of an echo has it.
const fn number(sequence: u64) -> u16 {
    (sequence & 0xFFFF) as u16
}

/// An error where the head of an echo and its datagram have different numbers.
fn is_numbered(found: u16, head: Head) -> io::Result<()> {
    if found == number(head.sequence) {
        return Ok(());
    }
    let Head { sequence, .. } = head;
    Err(wrong(format!("datagram {sequence} has the number {found} in the head of its echo")))
}

fn wrong(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Which numbers have come. They rise, so that only those that were passed over are kept.
#[derive(Debug, Default)]
pub struct Numbers {
    next: u64,
    missing: BTreeSet<u64>,
}

impl Numbers {
    /// Takes a number that is the next or one behind it; those between are missing.
    pub fn reach(&mut self, number: u64) {
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
    /// One that nothing has come to yet.
    #[must_use]
    pub fn new(
        (socket, framing): (Arc<UdpSocket>, Framing),
        out: Datagrams,
        expected: Datagrams,
    ) -> Self {
        let (numbers, counters) = (Numbers::default(), Arc::default());
        Self { socket, framing, out, expected, numbers, counters }
    }

    /// Sends a datagram. What a queue on the way has no room for is lost, here as anywhere.
    ///
    /// # Errors
    /// What the socket says.
    pub fn send(&mut self, head: Head) -> io::Result<()> {
        let (socket, framing) = (&*self.socket, self.framing);
        let sent = self.out.with_heads(head, 1, |laid| framing.send(socket, laid, head.sequence));
        match sent {
            Err(e) if e.raw_os_error() != Some(Errno::NOBUFS.raw_os_error()) => Err(e),
            _ => Ok(()),
        }
    }

    /// Takes a datagram that has come; its head, where its number is the next or one behind it.
    /// All others are counted.
    ///
    /// # Errors
    /// What the socket says; a datagram that is damaged (`InvalidData`).
    pub fn receive(&mut self, buffer: &mut [u8], flags: RecvFlags) -> io::Result<Option<Head>> {
        let bytes = match rustix::net::recv(&self.socket, &mut *buffer, flags) {
            Ok((bytes, _)) => bytes,
            Err(e) if is_pause(&io::Error::from(e)) => return self.goes_on().map(|()| None),
            Err(e) => return Err(e.into()),
        };
        if bytes == 0 {
            self.goes_on()?;
        }
        let strays = &self.counters.strays;
        let (datagram, number) = self.framing.opened(&buffer[..bytes])?;
        let read = self.expected.read(datagram)?;
        if let Some((number, head)) = number.zip(read) {
            is_numbered(number, head)?;
        }
        let stray = match read {
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
#[derive(Debug)]
struct Stream {
    end: End,
    /// When its request was sent, where one is under way.
    begun_ns: Option<u64>,
    /// Wakes the thread to look whether it is lost, where it waits for several.
    timer: Option<OwnedFd>,
}

/// A thread of clients that ask by datagrams.
#[derive(Debug)]
pub struct Asking {
    ends: Vec<Stream>,
    buffer: Vec<u8>,
    flags: RecvFlags,
    limit: Duration,
}

impl Asking {
    /// That of these ends, and the digest of what it sends and expects.
    #[must_use]
    pub fn of(order: &Order, ends: Vec<End>) -> (Self, u64) {
        let contents = ends.iter().flat_map(|end| [&end.out, &end.expected]);
        let sum = contents.fold(DIGEST, |sum, all| digest(sum, all.content()));
        let ends = ends.into_iter().map(|end| Stream { end, begun_ns: None, timer: None });
        let asking = Self {
            ends: ends.collect(),
            buffer: room(order.response + ECHO),
            flags: RecvFlags::empty(),
            limit: limit(&order.params),
        };
        (asking, sum)
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Operations for Asking {
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
