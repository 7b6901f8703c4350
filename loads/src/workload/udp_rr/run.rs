//! Knows both ends of `udp_rr`: a datagram asks, a datagram with the same number answers.
//!
//! Must not know when an operation begins, nor what the figures mean.

use crate::engine::exchange::datagrams::{Asking, End, Framing, room};
use crate::engine::exchange::{
    Answers, Carrier, Counters, Exchange, Order, Serve, Shared, Slot, answer_all,
};
use crate::engine::net::datagram::Datagrams;
use rig::lab::agent;
use rustix::fd::{AsFd as _, BorrowedFd};
use rustix::net::RecvFlags;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;

/// What a response is made of beside the request of its stream.
pub const RESPONSE: u64 = 0x5245_5350_4F4E_5345;

/// Datagrams that ask and datagrams that answer.
pub struct Echo;

impl Exchange for Echo {
    type Client = Asking;
    type Server = Server;
    const KEPT: bool = true;
    const DATAGRAMS: Option<Carrier> = Some(Carrier::Udp);

    fn client(order: &Order, slots: Vec<Slot>) -> (Asking, u64) {
        Asking::of(order, ends(order, slots, true))
    }

    fn server(order: &Order, slots: Vec<Slot>, _: &Arc<TcpListener>) -> Server {
        let mut ends = ends(order, slots, false);
        for end in ends.iter_mut().filter(|_| agent::plants_wrong_data()) {
            end.out.spoil();
        }
        let answering = |end| Answering { end, buffer: room(order.request) };
        Server { ends: ends.into_iter().map(answering).collect() }
    }
}

/// The ends of streams on this side.
fn ends(order: &Order, slots: Vec<Slot>, client: bool) -> Vec<End> {
    let end = |slot: Slot| {
        let of = |seed, bytes| Datagrams::of(&order.secret, (seed, slot.id), bytes, 1);
        let request = of(order.seed, order.request);
        let response = of(order.seed ^ RESPONSE, order.response);
        let (out, expected) = if client { (request, response) } else { (response, request) };
        Some(End::new((slot.datagrams?, Framing::Udp), out, expected))
    };
    slots.into_iter().filter_map(end).collect()
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
