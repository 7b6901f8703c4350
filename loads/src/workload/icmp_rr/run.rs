//! Knows the client of `icmp_rr`, on sockets of ICMP echo; its server is a kernel.
//!
//! Must not know when an operation begins, nor what the figures mean.

use crate::engine::exchange::datagrams::{Asking, echo_end};
use crate::engine::exchange::{Carrier, Counters, Exchange, Order, Serve, Shared, Slot};
use rig::lab::agent;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;

/// ICMP echoes.
pub struct Echoes;

impl Exchange for Echoes {
    type Client = Asking;
    type Server = Kernel;
    const KEPT: bool = false;
    const ANEW: bool = false;
    const DATAGRAMS: Option<Carrier> = Some(Carrier::Icmp);

    fn client(order: &Order, slots: Vec<Slot>) -> (Asking, u64) {
        let end = |slot: Slot| echo_end(order, (slot.datagrams?, slot.id));
        let mut ends: Vec<_> = slots.into_iter().filter_map(end).collect();
        for end in ends.iter_mut().filter(|_| agent::plants_wrong_data()) {
            end.expected.spoil();
        }
        Asking::of(order, ends)
    }

    fn server(_: &Order, _: Vec<Slot>, _: &Arc<TcpListener>) -> Kernel {
        Kernel
    }
}

/// What answers: no thread of ours.
pub struct Kernel;

impl Serve for Kernel {
    fn serve(&mut self, _: &Shared, _: &Arc<Counters>) -> io::Result<()> {
        Ok(())
    }
}
