//! Knows a thread of clients of `http`: connections, requests, what is expected of a response.
//!
//! A body that is long is thrown away by the kernel, which copies nothing (`MSG_TRUNC`, tcp(7)).
//! Must not know when an operation begins.

use super::super::spec::{COMPARED, REQUESTS_PER_CONNECTION, RESPONSE_SIZE};
use super::secure::{Greeting, Session};
use super::{Came, Http, RESPONSE, path};
use crate::engine::exchange::dial::{class, patient, socket};
use crate::engine::exchange::{Exchange as _, Operations, Order, Slot};
use crate::engine::http::{Body, Chunks, Head, Heads, Wrong};
use crate::engine::net::content::{Paged, content, place};
use desk::record::Value;
use rustix::event::epoll;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::sockopt;
use rustix::net::{RecvFlags, SendFlags, SocketAddrV4, SocketFlags};
use std::io;

/// Bytes read by one call.
const READ: usize = 64 << 10;
/// Bytes thrown away by one call.
const DISCARD: usize = 4 << 20;

/// What a slot does.
#[derive(Clone, Copy, Debug)]
enum State {
    /// Nothing; its connection, if it has one, is kept.
    Idle,
    /// So many bytes of the request are sent.
    Sending(usize),
    /// The request is sent, and the head of the response has not come whole.
    Head,
    /// So many bytes of the body have come, and they are compared or not.
    Body { head: Head, came: u64, chunks: Chunks, compared: bool },
}

struct Open {
    server: SocketAddrV4,
    socket: Option<OwnedFd>,
    /// The connection before, which has ended: it is closed when the next begins, so that the
    /// server ends it first and keeps the state TIME-WAIT.
    last: Option<OwnedFd>,
    /// What encrypts the connection.
    session: Option<Session>,
    /// Whether no connection was made before.
    is_first: bool,
    state: State,
    /// Requests on this connection.
    carried: u64,
    /// Responses of this operation that are whole, and the first status of them that says no.
    answered: u64,
    refusal: Option<u16>,
    /// What has come of a head that is not whole.
    kept: Vec<u8>,
    /// The requests of an operation.
    request: Vec<u8>,
}

/// What every response must be, and how it is looked at.
struct Expected {
    /// From any offset below its period, and a read beyond.
    content: Paged,
    /// In its place what the first bodies had, where nobody knows it before.
    learned: Option<Vec<u8>>,
    length: u64,
    compared: u64,
    /// Bodies that have begun.
    begun: u64,
}

/// A thread of clients.
pub struct Client {
    slots: Vec<Open>,
    /// Requests of a connection, at most, and of an operation.
    requests: u64,
    each: u64,
    heads: Heads,
    expected: Expected,
    /// TLS settings, or why there are none.
    greeting: Result<Option<Greeting>, String>,
    buffer: Paged,
    /// Memory that is named in calls and never touched.
    discarded: Vec<u8>,
    /// Where slots tell when they are ready; none where they block.
    ready: Option<OwnedFd>,
}

impl Client {
    /// One with these slots, none of them connected.
    pub fn of(order: &Order, slots: Vec<Slot>) -> Self {
        let count = |name: &str| order.params.get(name).and_then(Value::count);
        let requests = count(REQUESTS_PER_CONNECTION.name).unwrap_or(u64::MAX);
        let open = |slot: Slot| Open {
            server: slot.server,
            socket: None,
            last: None,
            session: None,
            is_first: true,
            state: State::Idle,
            carried: 0,
            answered: 0,
            refusal: None,
            kept: Vec::new(),
            request: request(order, slot.server, requests == 1),
        };
        let expected = Expected {
            content: content(order.seed, RESPONSE, READ),
            learned: Http::external(order).map(|_| Vec::new()),
            length: order.response as u64,
            compared: count(COMPARED.name).unwrap_or(1),
            begun: 0,
        };
        let greeting = Greeting::of(order, slots.len());
        Self {
            slots: slots.into_iter().map(open).collect(),
            requests,
            each: order.each,
            heads: Heads::default(),
            expected,
            greeting,
            buffer: Paged::zeros(READ),
            discarded: vec![0; DISCARD],
            ready: None,
        }
    }

    /// Makes a connection; where slots do not block it may still be under way.
    fn connect(&self, slot: usize) -> io::Result<OwnedFd> {
        let Some(ready) = &self.ready else {
            let socket = patient()?;
            sockopt::set_tcp_nodelay(&socket, true)?;
            return match rustix::net::connect(&socket, &self.slots[slot].server) {
                // What the kernel says when the time to send is over (socket(7)).
                Err(Errno::INPROGRESS | Errno::AGAIN) => Err(io::ErrorKind::TimedOut.into()),
                other => Ok(other.map(|()| socket)?),
            };
        };
        let socket = socket(SocketFlags::CLOEXEC | SocketFlags::NONBLOCK)?;
        sockopt::set_tcp_nodelay(&socket, true)?;
        match rustix::net::connect(&socket, &self.slots[slot].server) {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(e) => return Err(e.into()),
        }
        // A read that gives less than was asked for is the last until the next event (epoll(7)),
        // but for the end of the connection.
        let flags = epoll::EventFlags::IN | epoll::EventFlags::OUT | epoll::EventFlags::RDHUP;
        let flags = flags | epoll::EventFlags::ET;
        epoll::add(ready, &socket, epoll::EventData::new_u64(slot as u64), flags)?;
        Ok(socket)
    }

    /// The session of a new connection, where it is encrypted.
    fn greet(&mut self, slot: usize) -> io::Result<Option<Session>> {
        let open = &mut self.slots[slot];
        let is_first = std::mem::replace(&mut open.is_first, false);
        match &self.greeting {
            Ok(Some(greeting)) => greeting.session(slot, is_first).map(Some),
            Ok(None) => Ok(None),
            Err(why) => Err(io::Error::other(why.clone())),
        }
    }

    /// Sends what is left of a request. Where slots do not block, an event tells that there is
    /// room.
    fn send(&mut self, slot: usize, mut sent: usize) -> io::Result<()> {
        let Open { socket: Some(socket), session, request, state, .. } = &mut self.slots[slot]
        else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        if let Some(session) = session {
            *state = State::Head;
            return session.send(socket, request);
        }
        while sent < request.len() {
            match rustix::net::send(&*socket, &request[sent..], SendFlags::NOSIGNAL) {
                Ok(n) => sent += n,
                Err(Errno::AGAIN | Errno::NOTCONN) if self.ready.is_some() => {
                    *state = State::Sending(sent);
                    return Ok(());
                }
                Err(Errno::AGAIN) => return Err(io::ErrorKind::TimedOut.into()),
                Err(e) => return Err(e.into()),
            }
        }
        *state = State::Head;
        Ok(())
    }

    /// Reads once, or has the kernel throw away what it may.
    fn read(&mut self, slot: usize, discard: Option<u64>) -> io::Result<Came> {
        let Self { slots, greeting, buffer, discarded, ready, .. } = self;
        let Open { socket: Some(socket), session, .. } = &mut slots[slot] else {
            return Ok(Came::Nothing);
        };
        if let (Ok(Some(greeting)), Some(session)) = (greeting, session) {
            return match greeting.read(session, socket, &mut buffer[..]) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => nothing(ready.as_ref()),
                Err(e) if e.kind() == io::ErrorKind::NotConnected && ready.is_some() => {
                    Ok(Came::Nothing)
                }
                read => read,
            };
        }
        let (read, most) = match discard {
            None => (rustix::net::recv(socket, &mut buffer[..], RecvFlags::empty()), READ),
            Some(left) => {
                let most = usize::try_from(left).map_or(DISCARD, |left| left.min(DISCARD));
                let read = rustix::net::recv(socket, &mut discarded[..most], RecvFlags::TRUNC);
                (read, DISCARD)
            }
        };
        match read.map(|(n, length)| n.max(length)) {
            Ok(0) => Ok(Came::Ended),
            Ok(n) => Ok(Came::Bytes(n, n == most)),
            Err(Errno::AGAIN) => nothing(ready.as_ref()),
            Err(e) => Err(e.into()),
        }
    }

    /// Reads heads, and bodies that are compared; whether the operation is complete, none where
    /// nothing more has come.
    fn read_bytes(&mut self, slot: usize) -> io::Result<Option<bool>> {
        let came = self.read(slot, None)?;
        let (each, open) = (self.each, &mut self.slots[slot]);
        let (n, more) = match came {
            Came::Nothing => return Ok(None),
            Came::Ended => return open.end(&self.expected, each),
            Came::Bytes(n, more) => (n, more),
        };
        let mut kept = std::mem::take(&mut open.kept);
        if !kept.is_empty() {
            kept.extend_from_slice(&self.buffer[..n]);
        }
        let all = if kept.is_empty() { &self.buffer[..n] } else { &kept };
        let mut at = 0;
        while at < all.len() {
            if matches!(open.state, State::Head) {
                let Some(head) = self.heads.find(&all[at..]).map_err(io::Error::other)? else {
                    open.kept = rest(kept, &self.buffer[..n], at);
                    break;
                };
                if (100..200).contains(&head.status) {
                    // An interim response is none (RFC 9110, 15.2).
                    return Err(io::Error::other(Wrong("interim")));
                }
                let compared = self.expected.begin();
                open.state = State::Body { head, came: 0, chunks: Chunks::default(), compared };
                at += head.bytes;
            }
            let (used, whole) = open.take_body(&all[at..], &mut self.expected)?;
            at += used;
            if whole && open.is_last(each) {
                return if at == all.len() { Ok(Some(true)) } else { Err(unasked()) };
            }
        }
        Ok(more.then_some(false))
    }

    /// Has the kernel throw away more of a body; the same.
    fn discard(&mut self, slot: usize, left: u64) -> io::Result<Option<bool>> {
        let came = self.read(slot, Some(left))?;
        let (each, open) = (self.each, &mut self.slots[slot]);
        let (n, more) = match came {
            Came::Nothing => return Ok(None),
            Came::Ended => return open.end(&self.expected, each),
            Came::Bytes(n, more) => (n, more),
        };
        if let State::Body { came, .. } = &mut open.state {
            *came += n as u64;
        }
        if left == n as u64 {
            return Ok(Some(open.is_last(each)));
        }
        Ok(more.then_some(false))
    }

    /// A connection that nothing is asked of: all that may come is its end.
    fn read_idle(&mut self, slot: usize) -> io::Result<()> {
        match self.read(slot, None)? {
            // A ticket has no bytes of content.
            Came::Nothing | Came::Bytes(0, _) => Ok(()),
            Came::Ended => {
                self.slots[slot].socket = None;
                Ok(())
            }
            Came::Bytes(..) => Err(unasked()),
        }
    }

    /// Ends an operation, and its connection where that has carried all it may.
    fn finish(&mut self, slot: usize) -> io::Result<bool> {
        let (requests, open) = (self.requests, &mut self.slots[slot]);
        let State::Body { head, .. } = std::mem::replace(&mut open.state, State::Idle) else {
            return Ok(false);
        };
        open.carried += open.answered;
        if head.closes || open.carried >= requests {
            open.last = open.socket.take();
        }
        match open.refusal {
            None => Ok(true),
            Some(300..=399) => Err(io::Error::other(Wrong("status_3xx"))),
            Some(400..=499) => Err(io::Error::other(Wrong("status_4xx"))),
            Some(_) => Err(io::Error::other(Wrong("status_5xx"))),
        }
    }
}

impl Open {
    /// Takes bytes of the body; how many of them, and whether it is whole.
    fn take_body(&mut self, bytes: &[u8], expected: &mut Expected) -> io::Result<(usize, bool)> {
        let State::Body { head, came, chunks, .. } = &mut self.state else {
            return Ok((0, false));
        };
        let ours = (200..300).contains(&head.status);
        let left = match head.body {
            Body::Length(length) if ours && length != expected.length => {
                return Err(expected.other_length(length));
            }
            Body::Length(length) => length - *came,
            Body::Chunked | Body::ToEnd => u64::MAX,
        };
        let mut take = |piece: &[u8]| {
            let from = *came;
            *came += piece.len() as u64;
            if ours { expected.compare(from, piece) } else { Ok(()) }
        };
        let (used, whole) = match head.body {
            Body::Length(_) => {
                let left = usize::try_from(left).unwrap_or(usize::MAX);
                let now = left.min(bytes.len());
                take(&bytes[..now])?;
                (now, now == left)
            }
            Body::Chunked => {
                let used = chunks.take::<io::Error>(bytes, &mut take)?;
                (used, chunks.is_whole())
            }
            Body::ToEnd => {
                take(bytes)?;
                (bytes.len(), false)
            }
        };
        if whole && ours && *came != expected.length {
            return Err(expected.other_length(*came));
        }
        Ok((used, whole))
    }

    /// Counts a response that is whole; whether it is the last of the operation.
    fn is_last(&mut self, each: u64) -> bool {
        let State::Body { head, .. } = &self.state else { return false };
        let refusal = (!(200..300).contains(&head.status)).then_some(head.status);
        self.refusal = self.refusal.or(refusal);
        self.answered += 1;
        if self.answered < each {
            self.state = State::Head;
        }
        self.answered == each
    }

    /// The connection has ended: between responses, or with a body whose end that is.
    fn end(&mut self, expected: &Expected, each: u64) -> io::Result<Option<bool>> {
        match &self.state {
            State::Body { head, came, .. } if head.body == Body::ToEnd => {
                let ours = (200..300).contains(&head.status);
                if ours && *came != expected.length {
                    return Err(expected.other_length(*came));
                }
                if self.is_last(each) { Ok(Some(true)) } else { Err(ended(false)) }
            }
            State::Head => Err(ended(self.carried + self.answered > 0 && self.kept.is_empty())),
            _ => Err(ended(false)),
        }
    }
}

impl Expected {
    /// Whether the next body is compared byte by byte.
    fn begin(&mut self) -> bool {
        self.begun += 1;
        self.length <= READ as u64 || self.begun.is_multiple_of(self.compared)
    }

    /// Compares bytes of a body that begin at an offset; of a server that stend did not start
    /// with those of the first body.
    fn compare(&mut self, from: u64, bytes: &[u8]) -> io::Result<()> {
        if let Some(learned) = &mut self.learned {
            let from = usize::try_from(from).unwrap_or(usize::MAX).min(learned.len());
            let known = (learned.len() - from).min(bytes.len());
            if learned[from..from + known] != bytes[..known] {
                return Err(changes());
            }
            learned.extend_from_slice(&bytes[known..]);
            return Ok(());
        }
        let right = bytes.chunks(READ).zip(0_u64..).all(|(piece, turn)| {
            let at = place(from + turn * READ as u64);
            *piece == self.content[at..at + piece.len()]
        });
        if right { Ok(()) } else { Err(wrong()) }
    }
}

impl Expected {
    /// A body of another length.
    fn other_length(&self, length: u64) -> io::Error {
        if self.learned.is_none() {
            return wrong();
        }
        let (name, asked) = (RESPONSE_SIZE.name, self.length);
        let what =
            format!("a page of {length} B, and {name} = {asked} B; write {name} = \"{length} B\"");
        io::Error::new(io::ErrorKind::InvalidData, what)
    }
}

/// What of these bytes, or of a read where nothing was kept, has not been taken.
fn rest(mut kept: Vec<u8>, read: &[u8], at: usize) -> Vec<u8> {
    if kept.is_empty() {
        return read[at..].to_vec();
    }
    kept.drain(..at);
    kept
}

/// What a client sends for an operation.
fn request(order: &Order, server: SocketAddrV4, closes: bool) -> Vec<u8> {
    let (path, ends) = (path(order), if closes { "Connection: close\r\n" } else { "" });
    let one = format!("GET {path} HTTP/1.1\r\nHost: {server}\r\nUser-Agent: stend\r\n{ends}\r\n");
    one.into_bytes().repeat(usize::try_from(order.each).unwrap_or(1))
}

/// A read that found nothing: where slots block, the other end was silent for too long.
fn nothing(ready: Option<&OwnedFd>) -> io::Result<Came> {
    match ready {
        Some(_) => Ok(Came::Nothing),
        None => Err(io::ErrorKind::TimedOut.into()),
    }
}

fn unasked() -> io::Error {
    io::Error::other(Wrong("unasked"))
}

fn wrong() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a response is not what was asked for")
}

fn changes() -> io::Error {
    let what =
        "a page whose content is not that of the page before; choose one that stays the same";
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// The end of a connection: between two requests, or within a response.
fn ended(between: bool) -> io::Error {
    io::Error::other(Wrong(if between { "closed" } else { "truncated" }))
}

impl From<Wrong> for io::Error {
    fn from(wrong: Wrong) -> Self {
        Self::other(wrong)
    }
}

impl Operations for Client {
    fn slots(&self) -> usize {
        self.slots.len()
    }

    fn watch(&mut self, ready: &OwnedFd) -> io::Result<()> {
        self.ready = Some(ready.try_clone()?);
        Ok(())
    }

    fn begin(&mut self, slot: usize) -> io::Result<()> {
        if self.slots[slot].socket.is_none() {
            let (socket, session) = (self.connect(slot)?, self.greet(slot)?);
            let open = &mut self.slots[slot];
            if let (Some(last), Some(_)) = (&open.last, &open.session) {
                // A close_notify that nobody reads would make the kernel reset the connection.
                let _ = rustix::net::recv(last, &mut [0; 64], RecvFlags::DONTWAIT);
            }
            (open.socket, open.last, open.carried) = (Some(socket), None, 0);
            open.session = session;
        }
        (self.slots[slot].answered, self.slots[slot].refusal) = (0, None);
        self.send(slot, 0)
    }

    #[inline]
    fn go_on(&mut self, slot: usize) -> io::Result<bool> {
        loop {
            let went = match self.slots[slot].state {
                State::Idle => return self.read_idle(slot).map(|()| false),
                State::Sending(sent) => {
                    self.send(slot, sent)?;
                    // The response raises another event.
                    return Ok(false);
                }
                State::Body {
                    head: Head { body: Body::Length(all), .. }, came, compared, ..
                } if !compared && self.slots[slot].session.is_none() => {
                    self.discard(slot, all - came)?
                }
                State::Head | State::Body { .. } => self.read_bytes(slot)?,
            };
            match went {
                Some(true) => return self.finish(slot),
                Some(false) => {}
                None => return Ok(false),
            }
        }
    }

    fn are_long(&self) -> bool {
        self.expected.length > READ as u64
    }

    fn survived(&mut self, slot: usize, error: &io::Error) -> Option<&'static str> {
        let wrong = error.get_ref().and_then(|inner| inner.downcast_ref::<Wrong>());
        let class = wrong.map(|wrong| wrong.0).or_else(|| class(error))?;
        let open = &mut self.slots[slot];
        open.kept = Vec::new();
        // A response that says no is a whole response all the same.
        if !matches!(open.state, State::Idle) || !class.starts_with("status") {
            // It may have lost its tickets.
            (open.socket, open.state, open.is_first) = (None, State::Idle, true);
        }
        Some(class)
    }
}
