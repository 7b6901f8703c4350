//! Knows what a byte of `tcp_stream` costs the CPUs at either end, by a link and a physics.
//!
//! Must not know how many CPUs there are, nor how fast.

use super::flow::{Load, WHOLE, segment};
use crate::workload::tcp_stream::run::{receiver, sender};
use rig::lab::sim::{LinkNow, Physics};

/// CPU seconds for a byte, on a CPU of the physics that has its core to itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Costs {
    /// Of the sending thread.
    pub(super) send: f64,
    /// Of the receiving thread, with the packets that it works on.
    pub(super) receive: f64,
    /// Of packets that come in; part of the above unless CPUs of their own work on them.
    pub(super) packets: f64,
}

impl Costs {
    pub(super) fn of(physics: &Physics, link: &LinkNow, load: &Load<'_>) -> Self {
        let cost = &physics.cost;
        let segment = segment(link);
        let in_use = load.request.max(load.read) * load.one_way * load.directions;
        let cold = load.word("buffers") == "cold" || in_use > cost.cache;
        let copy = cost.byte * if cold { cost.beyond_cache } else { 1.0 };
        let sum = if link.checksum { 0.0 } else { cost.checksum };
        let send_packets = match (link.tso, link.gso) {
            (true, _) => cost.packet / WHOLE,
            (false, true) => cost.packet / WHOLE + cost.cut / segment,
            (false, false) => cost.packet / segment,
        };
        let packets =
            if link.gro { cost.packet / WHOLE + cost.cut / segment } else { cost.packet / segment };
        let sent = if sender(load.params).lends() { 0.0 } else { copy };
        let taken = if receiver(load.params).copies() { copy } else { 0.0 };
        Self {
            send: cost.call / load.call() + send_packets + sent + sum,
            receive: cost.call / load.read + packets + taken,
            packets,
        }
    }

    /// The receiving thread where others work on the packets.
    pub(super) fn relieved(self) -> Self {
        Self { receive: self.receive - self.packets, ..self }
    }

    /// On CPUs of this speed.
    pub(super) fn at(self, speed: f64) -> Self {
        let Self { send, receive, packets } = self;
        Self { send: send / speed, receive: receive / speed, packets: packets / speed }
    }
}
