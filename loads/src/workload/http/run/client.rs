//! Knows a thread of clients of `http`: connections, requests, what is expected of a response.
//!
//! A body that is long is thrown away by the kernel, which copies nothing (`MSG_TRUNC`, tcp(7)).
//! Must not know when an operation begins.

use super::super::catalogue::{Catalogue, Draws};
use super::super::spec::{COMPARED, REQUESTS_PER_CONNECTION};
use super::asks::Asks;
use super::learned::Learned;
use super::secure::{Greeting, Session};
use super::{Came, Http};
use crate::dataset::STREAM;
use crate::engine::exchange::dial::{class, patient, socket};
use crate::engine::exchange::{Exchange as _, Operations, Order, Slot};
use crate::engine::http::{Body, Chunks, Head, Heads, Wrong};
use crate::engine::net::arrival;
use crate::engine::net::content::{Paged, content, place};
use crate::engine::pace::offered;
use desk::record::Value;
use rustix::event::epoll;
use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::sockopt;
use rustix::net::{RecvFlags, SendFlags, SocketFlags};
use std::io::{self, Write as _};
use std::net::SocketAddr;

/// Bytes read by one call.
const READ: usize = 64 << 10;
/// Bytes thrown away by one call.
const DISCARD: usize = 4 << 20;

/// What a slot does.
#[derive(Clone, Copy, Debug)]
enum State {
    /// Nothing; its connection, if it has one, is kept.
    Idle,
    /// The request is sent, or as much of it as there was room for, and the head of the response
    /// has not come whole.
    Head,
    /// So many bytes of the body of a page have come, and they are compared or not.
    Body { head: Head, page: u32, came: u64, chunks: Chunks, compared: bool },
}

struct Open {
    server: SocketAddr,
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
    /// When the last bytes came, nanoseconds on `CLOCK_REALTIME`, where that is known.
    came_ns: Option<u64>,
    /// Responses of this operation that are whole, bytes of their bodies, and the first status of
    /// them that says no.
    answered: usize,
    received: u64,
    refusal: Option<u16>,
    /// What has come of a head that is not whole.
    kept: Vec<u8>,
    /// The requests of an operation but for what they post, the pages that they ask for, and what
    /// stands behind the path of each.
    request: Vec<u8>,
    /// Bytes that are sent of it and of what it posts.
    sent: usize,
    asked: Vec<u32>,
    behind: Vec<u8>,
}

/// What every response must be, and how it is looked at.
struct Expected {
    /// From any offset below its period, and a read beyond.
    content: Paged,
    /// In its place what the first bodies had, where nobody knows it before.
    learned: Option<Learned>,
    pages: Catalogue,
    compared: u64,
    /// Bodies that have begun.
    begun: u64,
}

/// A thread of clients.
pub struct Client {
    slots: Vec<Open>,
    /// Requests of a connection, at most.
    requests: u64,
    heads: Heads,
    expected: Expected,
    /// Which pages are asked for next, where there are several.
    draws: Option<Draws>,
    asks: Asks,
    are_long: bool,
    /// Whether the kernel says when a response came. A closed loop is saturated by its clients, and
    /// its times are theirs; a stamp would cost it a twentieth of its CPU time.
    stamped: bool,
    /// Bytes of bodies of operations that are complete.
    received: u64,
    /// TLS settings, or why no connection can be made.
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
        let listed = Catalogue::of(order);
        let unlisted = listed.as_ref().err().cloned();
        let pages = listed.unwrap_or_default();
        let asks = Asks::of(order, pages.is_listed());
        // Files that could be read a moment ago.
        let unread = unlisted.or_else(|| asks.as_ref().err().cloned());
        let asks = asks.unwrap_or_default();
        let thread = slots.first().map_or(0, |slot| u64::from(slot.id));
        let draws = (pages.pages().len() > 1).then(|| Draws::of(&pages, order.seed, thread));
        let are_long = pages.pages().iter().all(|page| page.length > READ as u64);
        let asked = vec![0; usize::try_from(order.each).unwrap_or(1)];
        let open = |slot: Slot| {
            let mut open = Open {
                server: slot.server,
                socket: None,
                last: None,
                session: None,
                is_first: true,
                state: State::Idle,
                carried: 0,
                came_ns: None,
                answered: 0,
                received: 0,
                refusal: None,
                kept: Vec::new(),
                request: Vec::new(),
                sent: 0,
                asked: asked.clone(),
                behind: asks.behind(slot.server),
            };
            open.write(&asks, &pages);
            open
        };
        let slots: Vec<Open> = slots.into_iter().map(open).collect();
        let learned = Http::external(order).map(|_| Learned::of(order, pages.pages().len()));
        let expected = Expected {
            content: content(order.data_seed, STREAM, READ),
            learned,
            pages,
            compared: count(COMPARED.name).unwrap_or(1),
            begun: 0,
        };
        let greeting = match unread {
            Some(why) => Err(why),
            None => Greeting::of(order, slots.len()),
        };
        Self {
            slots,
            requests,
            heads: Heads::default(),
            expected,
            draws,
            asks,
            are_long,
            stamped: offered(&order.params).is_some(),
            received: 0,
            greeting,
            buffer: Paged::zeros(READ),
            discarded: vec![0; DISCARD],
            ready: None,
        }
    }

    /// What it asks for.
    pub const fn pages(&self) -> &Catalogue {
        &self.expected.pages
    }

    /// What its requests have in common.
    pub const fn asks(&self) -> &Asks {
        &self.asks
    }

    /// Makes a connection; where slots do not block it may still be under way.
    fn connect(&self, slot: usize) -> io::Result<OwnedFd> {
        let Some(ready) = &self.ready else {
            let socket = patient(self.slots[slot].server)?;
            self.set(&socket)?;
            return match rustix::net::connect(&socket, &self.slots[slot].server) {
                // What the kernel says when the time to send is over (socket(7)).
                Err(Errno::INPROGRESS | Errno::AGAIN) => Err(io::ErrorKind::TimedOut.into()),
                other => Ok(other.map(|()| socket)?),
            };
        };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket(self.slots[slot].server, flags)?;
        self.set(&socket)?;
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

    /// Sets what every socket has.
    fn set(&self, socket: &OwnedFd) -> io::Result<()> {
        sockopt::set_tcp_nodelay(socket, true)?;
        if self.stamped { arrival::stamp(socket) } else { Ok(()) }
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

    /// Chooses the pages of an operation, where there are several.
    fn choose(&mut self, slot: usize) {
        let Some(draws) = &mut self.draws else { return };
        let open = &mut self.slots[slot];
        open.asked.iter_mut().for_each(|page| *page = draws.next(&self.expected.pages));
        open.write(&self.asks, &self.expected.pages);
    }

    /// Whether a part of a request waits for room.
    fn is_sending(&self, slot: usize) -> bool {
        self.slots[slot].sent < self.slots[slot].request.len() + self.asks.posts.len()
    }

    /// Sends what is left of a request. Where slots do not block, an event tells that there is
    /// room; a response may come before that.
    fn send(&mut self, slot: usize) -> io::Result<()> {
        let Open { socket: Some(socket), session, request, sent, .. } = &mut self.slots[slot]
        else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        let posts = &self.asks.posts;
        let all = request.len() + posts.len();
        if let Some(session) = session {
            *sent = all;
            return session.send(socket, [request, posts]);
        }
        while *sent < all {
            let (part, flags) = match sent.checked_sub(request.len()) {
                Some(posted) => (&posts[posted..], SendFlags::NOSIGNAL),
                None if posts.is_empty() => (&request[*sent..], SendFlags::NOSIGNAL),
                None => (&request[*sent..], SendFlags::NOSIGNAL | SendFlags::MORE),
            };
            match rustix::net::send(&*socket, part, flags) {
                Ok(n) => *sent += n,
                Err(Errno::AGAIN | Errno::NOTCONN) if self.ready.is_some() => return Ok(()),
                Err(Errno::AGAIN) => return Err(io::ErrorKind::TimedOut.into()),
                Err(e) => return Err(e.into()),
            }
        }
        Ok(())
    }

    /// Reads once, or has the kernel throw away what it may.
    fn read(&mut self, slot: usize, discard: Option<u64>) -> io::Result<Came> {
        let Self { slots, greeting, buffer, discarded, ready, stamped, .. } = self;
        let Open { socket: Some(socket), session, came_ns, .. } = &mut slots[slot] else {
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
        let (into, flags, most) = match discard {
            None => (&mut buffer[..], RecvFlags::empty(), READ),
            Some(left) => {
                let left = usize::try_from(left).map_or(DISCARD, |left| left.min(DISCARD));
                (&mut discarded[..left], RecvFlags::TRUNC, DISCARD)
            }
        };
        let read = if *stamped {
            arrival::read(socket, into, flags)
        } else {
            rustix::net::recv(socket, into, flags).map(|(n, length)| (n.max(length), None))
        };
        match read {
            Ok((0, _)) => Ok(Came::Ended),
            Ok((n, came)) => {
                *came_ns = came;
                Ok(Came::Bytes(n, n == most))
            }
            Err(Errno::AGAIN) => nothing(ready.as_ref()),
            Err(e) => Err(e.into()),
        }
    }

    /// Reads heads, and bodies that are compared; whether the operation is complete, none where
    /// nothing more has come.
    fn read_bytes(&mut self, slot: usize) -> io::Result<Option<bool>> {
        let came = self.read(slot, None)?;
        let open = &mut self.slots[slot];
        let (n, more) = match came {
            Came::Nothing => return Ok(None),
            Came::Ended => return open.end(&mut self.expected),
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
                let page = open.asked[open.answered];
                let (compared, chunks) = (self.expected.begin(&head), Chunks::default());
                open.state = State::Body { head, page, came: 0, chunks, compared };
                at += head.bytes;
            }
            let (used, whole) = open.take_body(&all[at..], &mut self.expected)?;
            at += used;
            if whole && open.is_last() {
                return if at == all.len() { Ok(Some(true)) } else { Err(unasked()) };
            }
        }
        Ok(more.then_some(false))
    }

    /// Has the kernel throw away more of a body; the same.
    fn discard(&mut self, slot: usize, left: u64) -> io::Result<Option<bool>> {
        let came = self.read(slot, Some(left))?;
        let open = &mut self.slots[slot];
        let (n, more) = match came {
            Came::Nothing => return Ok(None),
            Came::Ended => return open.end(&mut self.expected),
            Came::Bytes(n, more) => (n, more),
        };
        if let State::Body { came, .. } = &mut open.state {
            *came += n as u64;
        }
        if left == n as u64 {
            return Ok(Some(open.is_last()));
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
        let is_cut = self.is_sending(slot);
        let (requests, open) = (self.requests, &mut self.slots[slot]);
        let State::Body { head, .. } = std::mem::replace(&mut open.state, State::Idle) else {
            return Ok(false);
        };
        open.carried += open.answered as u64;
        // Behind a response that came before its request was whole nothing else can be asked.
        if head.closes || is_cut || open.carried >= requests {
            open.last = open.socket.take();
        }
        match open.refusal {
            None => {
                self.received += open.received;
                Ok(true)
            }
            Some(300..=399) => Err(io::Error::other(Wrong("status_3xx"))),
            Some(400..=499) => Err(io::Error::other(Wrong("status_4xx"))),
            Some(_) => Err(io::Error::other(Wrong("status_5xx"))),
        }
    }
}

impl Open {
    /// Writes the requests of an operation for the pages that it asks for.
    fn write(&mut self, asks: &Asks, pages: &Catalogue) {
        self.request.clear();
        for page in &self.asked {
            self.request.extend_from_slice(&asks.begins);
            match pages.path(*page) {
                Some(path) => self.request.extend_from_slice(path.as_bytes()),
                // A vector takes all.
                None if asks.numbered => drop(write!(self.request, "{page}")),
                None => {}
            }
            self.request.extend_from_slice(&self.behind);
        }
    }

    /// Takes bytes of the body; how many of them, and whether it is whole.
    fn take_body(&mut self, bytes: &[u8], expected: &mut Expected) -> io::Result<(usize, bool)> {
        let State::Body { head, page, came, chunks, .. } = &mut self.state else {
            return Ok((0, false));
        };
        let page = *page;
        let ours = (200..300).contains(&head.status);
        let left = match head.body {
            Body::Length(length) => {
                if ours {
                    expected.fits(page, length)?;
                }
                length - *came
            }
            Body::Chunked | Body::ToEnd => u64::MAX,
        };
        let mut take = |piece: &[u8]| {
            let from = *came;
            *came += piece.len() as u64;
            if ours { expected.compare(page, from, piece) } else { Ok(()) }
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
        if whole && ours {
            expected.fits(page, *came)?;
        }
        Ok((used, whole))
    }

    /// Counts a response that is whole; whether it is the last of the operation.
    fn is_last(&mut self) -> bool {
        let State::Body { head, came, .. } = &self.state else { return false };
        let refusal = (!(200..300).contains(&head.status)).then_some(head.status);
        self.refusal = self.refusal.or(refusal);
        self.answered += 1;
        self.received += came;
        if self.answered < self.asked.len() {
            self.state = State::Head;
        }
        self.answered == self.asked.len()
    }

    /// The connection has ended: between responses, or with a body whose end that is.
    fn end(&mut self, expected: &mut Expected) -> io::Result<Option<bool>> {
        match &self.state {
            State::Body { head, page, came, .. } if head.body == Body::ToEnd => {
                let ours = (200..300).contains(&head.status);
                if ours {
                    expected.fits(*page, *came)?;
                }
                if self.is_last() { Ok(Some(true)) } else { Err(ended(false)) }
            }
            State::Head => {
                let before = self.carried + self.answered as u64;
                Err(ended(before > 0 && self.kept.is_empty()))
            }
            _ => Err(ended(false)),
        }
    }
}

impl Expected {
    /// Whether the next body, of this head, is compared byte by byte.
    fn begin(&mut self, head: &Head) -> bool {
        self.begun += 1;
        let compares = self.learned.as_ref().is_none_or(Learned::has_content);
        let is_long = matches!(head.body, Body::Length(length) if length > READ as u64);
        compares && (!is_long || self.begun.is_multiple_of(self.compared))
    }

    /// Compares bytes of the body of a page that begin at an offset; of a server that stend did not
    /// start with those of the first body.
    fn compare(&mut self, page: u32, from: u64, bytes: &[u8]) -> io::Result<()> {
        if let Some(learned) = &mut self.learned {
            return learned.compare(page, from, bytes);
        }
        let begins = self.pages.page(page).from + from;
        let right = bytes.chunks(READ).zip(0_u64..).all(|(piece, turn)| {
            let at = place(begins + turn * READ as u64);
            *piece == self.content[at..at + piece.len()]
        });
        if right { Ok(()) } else { Err(wrong()) }
    }

    /// Refuses the body of a page that has not its length.
    fn fits(&mut self, page: u32, length: u64) -> io::Result<()> {
        let asked = self.pages.page(page).length;
        match &mut self.learned {
            None if length == asked => Ok(()),
            None => Err(wrong()),
            Some(learned) => learned.fits((page, asked), length),
        }
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
        let open = &mut self.slots[slot];
        (open.answered, open.received, open.refusal) = (0, 0, None);
        (open.state, open.sent) = (State::Head, 0);
        self.choose(slot);
        self.send(slot)
    }

    #[inline]
    fn go_on(&mut self, slot: usize) -> io::Result<bool> {
        loop {
            let went = match self.slots[slot].state {
                State::Idle => return self.read_idle(slot).map(|()| false),
                State::Head if self.is_sending(slot) => {
                    self.send(slot)?;
                    self.read_bytes(slot)?
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
        self.are_long
    }

    fn received(&self) -> u64 {
        self.received
    }

    fn came_ns(&self, slot: usize) -> Option<u64> {
        self.slots[slot].came_ns
    }

    fn socket(&self, slot: usize) -> Option<BorrowedFd<'_>> {
        self.slots[slot].socket.as_ref().map(|socket| socket.as_fd())
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
