//! Knows both ends of `tcp_crr`: a connection for each request and its response.
//!
//! The server closes first, so that the state TIME-WAIT (RFC 9293, 3.6) is kept at its end and no
//! port of a client stays taken. Must not know when an operation begins.

use crate::engine::exchange::dial::{BACKLOG, PATIENCE, class, patient, socket};
use crate::engine::exchange::{Counters, Exchange, Operations, Order, Serve, Shared, Slot};
use crate::engine::net::content::content;
use crate::engine::pace::offered;
use rig::lab::agent;
use rig::metal::{DIGEST, digest};
use rustix::event::epoll;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::sockopt::{self, Timeout};
use rustix::net::{RecvFlags, SendFlags, SocketFlags};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// What a response is made of beside the request.
const RESPONSE: u32 = 1;

/// A connection for each request.
pub struct Anew;

impl Exchange for Anew {
    type Client = Client;
    type Server = Server;
    const KEPT: bool = false;

    fn client(order: &Order, slots: Vec<Slot>) -> (Client, u64) {
        let [request, response] = contents(order);
        let sum = [&request, &response].into_iter().fold(DIGEST, |sum, bytes| digest(sum, bytes));
        let open = |slot: &Slot| Open { server: slot.server, state: State::Idle, last: None };
        let (slots, buffer) = (slots.iter().map(open).collect(), vec![0; order.response + 1]);
        let closed_loop = offered(&order.params).is_none();
        let client =
            Client { slots, closed_loop, request, response, buffer, ready: None, spare: None };
        (client, sum)
    }

    fn server(order: &Order, _: Vec<Slot>, listener: &Arc<TcpListener>) -> Server {
        let [request, mut response] = contents(order);
        if agent::plants_wrong_data() {
            response[0] ^= 1;
        }
        let buffer = vec![0; order.request];
        Server { listener: Arc::clone(listener), request, response, buffer }
    }
}

/// Request and response, the same of every operation: a connection does not say which one it is.
fn contents(order: &Order) -> [Vec<u8>; 2] {
    let bytes = |stream, length| content(order.seed, stream, length)[..length].to_vec();
    [bytes(0, order.request), bytes(RESPONSE, order.response)]
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{what} is not what was sent"))
}

/// What a slot does.
enum State {
    Idle,
    /// The connection is being made, and so many bytes of the request are sent.
    Connecting(OwnedFd, usize),
    /// The request is sent, and so many bytes of the response have come.
    Waiting(OwnedFd, usize),
}

impl State {
    /// The state after so many bytes of the request; `whole` if these are all.
    fn after(socket: OwnedFd, sent: usize, whole: bool) -> Self {
        if whole { Self::Waiting(socket, 0) } else { Self::Connecting(socket, sent) }
    }
}

struct Open {
    server: SocketAddr,
    state: State,
    /// In a closed loop the connection before: it is closed while the next waits for the server.
    last: Option<OwnedFd>,
}

/// A thread of clients.
pub struct Client {
    slots: Vec<Open>,
    closed_loop: bool,
    request: Vec<u8>,
    response: Vec<u8>,
    buffer: Vec<u8>,
    /// Where slots tell when they are ready; none where they block.
    ready: Option<OwnedFd>,
    /// The next socket that blocks, made while the server is waited for.
    spare: Option<OwnedFd>,
}

impl Client {
    /// Makes a connection that blocks, and sends the request.
    fn open(&mut self, server: SocketAddr) -> io::Result<State> {
        let socket = match self.spare.take() {
            Some(socket) => socket,
            None => patient(server)?,
        };
        match rustix::net::connect(&socket, &server) {
            // What the kernel says when the time to send is over (socket(7)).
            Err(Errno::INPROGRESS | Errno::AGAIN) => return Err(io::ErrorKind::TimedOut.into()),
            other => other?,
        }
        send_all(&socket, &self.request, SendFlags::empty())?;
        self.spare = Some(patient(server)?);
        Ok(State::Waiting(socket, 0))
    }

    /// Begins a connection that does not block. On a local link the handshake is often complete
    /// when `connect` returns; then the request is sent at once.
    fn dial(&self, server: SocketAddr, (slot, ready): (usize, &OwnedFd)) -> io::Result<State> {
        let socket = socket(server, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK)?;
        match rustix::net::connect(&socket, &server) {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(e) => return Err(e.into()),
        }
        let mut sent = 0;
        let whole = self.send(&socket, &mut sent)?;
        let room = if whole { epoll::EventFlags::empty() } else { epoll::EventFlags::OUT };
        let flags = epoll::EventFlags::IN | epoll::EventFlags::ET | room;
        epoll::add(ready, &socket, epoll::EventData::new_u64(slot as u64), flags)?;
        Ok(State::after(socket, sent, whole))
    }

    /// Sends what is left of the request; whether that is all of it.
    fn send(&self, socket: &OwnedFd, sent: &mut usize) -> io::Result<bool> {
        while *sent < self.request.len() {
            match rustix::net::send(socket, &self.request[*sent..], SendFlags::NOSIGNAL) {
                Ok(n) => *sent += n,
                Err(Errno::AGAIN | Errno::NOTCONN) => return Ok(false),
                Err(e) => return Err(e.into()),
            }
        }
        Ok(true)
    }

    /// Reads the response and the end behind it; whether both have come.
    fn read(&mut self, socket: &OwnedFd, come: &mut usize) -> io::Result<bool> {
        let flags = match self.ready {
            Some(_) => RecvFlags::empty(),
            // One call for the response and the end: of a whole response it returns early at the
            // end only.
            None => RecvFlags::WAITALL,
        };
        loop {
            let room = &mut self.buffer[*come..];
            let (n, _) = match rustix::net::recv(socket, room, flags) {
                Err(Errno::AGAIN) if self.ready.is_some() => return Ok(false),
                Err(Errno::AGAIN) => return Err(io::ErrorKind::TimedOut.into()),
                n => n?,
            };
            *come += n;
            // What is short may be due to a time-out or a reset.
            let ended = n == 0 || (self.ready.is_none() && *come == self.response.len());
            let right = self.buffer[..*come] == self.response;
            if ended || *come == self.buffer.len() {
                return if right { Ok(true) } else { Err(wrong("a response")) };
            }
        }
    }
}

/// Sends a message on a socket that blocks.
fn send_all(socket: &OwnedFd, bytes: &[u8], flags: SendFlags) -> io::Result<()> {
    let sent = rustix::net::send(socket, bytes, flags | SendFlags::NOSIGNAL)?;
    // A call that blocks ends early when its time is over.
    if sent == bytes.len() { Ok(()) } else { Err(io::ErrorKind::TimedOut.into()) }
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
        let Open { server, ref mut last, .. } = self.slots[slot];
        let last = last.take();
        self.slots[slot].state = match &self.ready {
            Some(ready) => self.dial(server, (slot, ready))?,
            None => self.open(server)?,
        };
        drop(last);
        Ok(())
    }

    fn go_on(&mut self, slot: usize) -> io::Result<bool> {
        let state = std::mem::replace(&mut self.slots[slot].state, State::Idle);
        let (socket, mut come) = match state {
            State::Idle => return Ok(false),
            State::Connecting(socket, mut sent) => {
                let whole = self.send(&socket, &mut sent)?;
                self.slots[slot].state = State::after(socket, sent, whole);
                // The response raises another event.
                return Ok(false);
            }
            State::Waiting(socket, come) => (socket, come),
        };
        if !self.read(&socket, &mut come)? {
            self.slots[slot].state = State::Waiting(socket, come);
            return Ok(false);
        }
        self.slots[slot].last = self.closed_loop.then_some(socket);
        Ok(true)
    }

    fn survived(&mut self, slot: usize, error: &io::Error) -> Option<&'static str> {
        self.slots[slot].state = State::Idle;
        class(error)
    }
}

/// A thread of the server, with its listener.
pub struct Server {
    listener: Arc<TcpListener>,
    request: Vec<u8>,
    response: Vec<u8>,
    buffer: Vec<u8>,
}

impl Server {
    /// Answers one connection and closes it: the end travels with the response.
    fn answer(&mut self, socket: &OwnedFd) -> io::Result<()> {
        let mut come = 0;
        while come < self.buffer.len() {
            match rustix::net::recv(socket, &mut self.buffer[come..], RecvFlags::WAITALL)?.0 {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                n => come += n,
            }
        }
        if self.buffer != self.request {
            return Err(wrong("a request"));
        }
        send_all(socket, &self.response, SendFlags::MORE)
    }
}

impl Serve for Server {
    fn serve(&mut self, shared: &Shared, counters: &Arc<Counters>) -> io::Result<()> {
        rustix::net::listen(&*self.listener, BACKLOG)?;
        // Accepted connections have it too.
        sockopt::set_socket_timeout(&*self.listener, Timeout::Recv, Some(PATIENCE))?;
        sockopt::set_socket_timeout(&*self.listener, Timeout::Send, Some(PATIENCE))?;
        let mut done = 0;
        while !shared.gate.drained() {
            let socket = match rustix::net::accept_with(&*self.listener, SocketFlags::CLOEXEC) {
                Ok(socket) => socket,
                Err(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED) => continue,
                // Somebody hung up.
                Err(_) if shared.gate.stopped() => return Ok(()),
                Err(e) => return Err(e.into()),
            };
            match self.answer(&socket) {
                Ok(()) => {
                    done += 1;
                    counters.done.store(done, Relaxed);
                }
                Err(e) if e.kind() == io::ErrorKind::InvalidData => return Err(e),
                // That client is gone, and counts it.
                Err(_) => {}
            }
        }
        Ok(())
    }
}
