//! Knows both ends of `tcp_rr`: requests and responses over connections that are kept.
//!
//! Must not know when an operation begins, nor what the figures mean.

use crate::engine::exchange::{
    Answers, Counters, Exchange, Operations, Order, Serve, Shared, Slot, answer_all, watch,
};
use crate::engine::net::content::{Paged, content, place, probe};
use crate::engine::net::send_all;
use rig::lab::agent;
use rig::metal::{DIGEST, digest};
use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::net::RecvFlags;
use std::io;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

/// What a response is made of beside the request of its connection.
const RESPONSE: u64 = 0x5245_5350_4F4E_5345;

/// Requests and responses over connections that are kept.
pub struct Kept;

impl Exchange for Kept {
    type Client = Client;
    type Server = Server;
    const KEPT: bool = true;

    fn client(order: &Order, slots: Vec<Slot>) -> (Client, u64) {
        let ends = Ends::of(order, slots, true);
        let contents = ends.iter().flat_map(|end| [&end.out, &end.expected]);
        let sum = contents.fold(DIGEST, |sum, content| digest(sum, content));
        let buffer = Paged::zeros(order.response);
        (Client { ends, buffer, flags: RecvFlags::empty() }, sum)
    }

    fn server(order: &Order, slots: Vec<Slot>, _: &Arc<TcpListener>) -> Server {
        let mut ends = Ends::of(order, slots, false);
        for end in ends.iter_mut().filter(|_| agent::plants_wrong_data()) {
            end.out[0] ^= 1;
        }
        let buffer = || Paged::zeros(order.request);
        let ends = ends.into_iter().map(|end| Answering { end, buffer: buffer() }).collect();
        Server { ends }
    }
}

/// One end of a connection.
struct Ends {
    socket: Arc<TcpStream>,
    /// What it sends, and how many bytes a message.
    out: Paged,
    out_bytes: usize,
    sent: u64,
    /// What it expects, and how many bytes a message.
    expected: Paged,
    expected_bytes: usize,
    received: u64,
    /// Bytes of the message under way that have not come yet.
    left: usize,
}

impl Ends {
    fn of(order: &Order, slots: Vec<Slot>, client: bool) -> Vec<Self> {
        let end = |slot: Slot| {
            let socket = slot.socket?;
            let request = (order.seed, order.request);
            let response = (order.seed ^ RESPONSE, order.response);
            let (out, expected) = if client { (request, response) } else { (response, request) };
            Some(Self {
                socket,
                out: content(out.0, slot.id, out.1),
                out_bytes: out.1,
                sent: 0,
                expected: content(expected.0, slot.id, expected.1),
                expected_bytes: expected.1,
                received: 0,
                left: expected.1,
            })
        };
        slots.into_iter().filter_map(end).collect()
    }

    /// Sends a message. It fits: the other end has nothing under way, and its kernel takes 64 KiB.
    fn send(&mut self) -> io::Result<()> {
        let at = place(self.sent);
        send_all(&self.socket, &self.out[at..at + self.out_bytes])?;
        self.sent += self.out_bytes as u64;
        Ok(())
    }

    /// Takes what has come; whether a message is whole.
    fn receive(&mut self, buffer: &mut [u8], flags: RecvFlags) -> io::Result<bool> {
        let n = match rustix::net::recv(&self.socket, &mut buffer[..self.left], flags) {
            Ok((0, _)) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok((n, _)) => n,
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => return Ok(false),
            Err(e) => return Err(e.into()),
        };
        probe(&self.expected, self.received, &buffer[..n])?;
        self.received += n as u64;
        self.left -= n;
        if self.left > 0 {
            return Ok(false);
        }
        self.left = self.expected_bytes;
        Ok(true)
    }
}

/// A thread of clients.
pub struct Client {
    ends: Vec<Ends>,
    buffer: Paged,
    flags: RecvFlags,
}

impl Operations for Client {
    fn slots(&self) -> usize {
        self.ends.len()
    }

    fn watch(&mut self, ready: &OwnedFd) -> io::Result<()> {
        self.flags = RecvFlags::DONTWAIT;
        watch(self.ends.iter().map(|end| end.socket.as_fd()), ready)
    }

    fn begin(&mut self, slot: usize) -> io::Result<()> {
        self.ends[slot].send()
    }

    fn go_on(&mut self, slot: usize) -> io::Result<bool> {
        self.ends[slot].receive(&mut self.buffer, self.flags)
    }

    fn survived(&mut self, _: usize, _: &io::Error) -> Option<&'static str> {
        None
    }
}

/// A connection of a thread of the server.
struct Answering {
    end: Ends,
    buffer: Paged,
}

impl Answers for Answering {
    fn socket(&self) -> BorrowedFd<'_> {
        self.end.socket.as_fd()
    }

    fn is_between(&self) -> bool {
        self.end.left == self.end.expected_bytes
    }

    #[inline]
    fn answer(&mut self, flags: RecvFlags) -> io::Result<bool> {
        let whole = self.end.receive(&mut self.buffer, flags)?;
        if whole {
            self.end.send()?;
        }
        Ok(whole)
    }
}

/// A thread of the server.
pub struct Server {
    ends: Vec<Answering>,
}

impl Serve for Server {
    fn serve(&mut self, shared: &Shared, counters: &Arc<Counters>) -> io::Result<()> {
        answer_all(&mut self.ends, shared, counters)
    }
}
