//! Knows how one core is kept busy: frames are written, pass a device, and are looked at.
//!
//! Must not know the parameters of a load.

use super::device::{Device, Forwarding, OWN, PORTS, STATIONS, station};
use super::frame::{self, FCS, Fields, Head};
use super::frames::Frames;
use super::reference::Plain;
use super::routes::Route;
use super::rules::Rule;
use super::sessions::{self, subscriber, wrap};
use super::tuple::Tuple;
use rig::lab::clock;
use rig::metal::{DIGEST, Hot, digest};
use std::sync::Arc;

/// Frames between two readings of the clock: a ring of descriptors.
const RING: u32 = 512;
/// Hops that a frame may take when it comes.
const TTL: u8 = 64;

/// What all lines share.
#[derive(Debug)]
pub struct Trace {
    /// Flows, in the order in which frames visit them.
    pub flows: Vec<Tuple>,
    /// The access list.
    pub rules: Vec<Rule>,
    /// The routes.
    pub routes: Vec<Route>,
    /// What the device does beside services.
    pub forwarding: Forwarding,
    /// Flows that are translated; 0 for none.
    pub translated: usize,
    /// The session of each flow; empty without subscribers.
    pub sessions: Vec<u16>,
    /// Whether flows go to subscribers, and do not come from them.
    pub downstream: bool,
    /// Bytes of a frame with its check sequence, without the header of a session.
    pub frame_size: usize,
}

impl Trace {
    /// The session that a flow comes in.
    fn coming(&self, flow: usize) -> Option<u16> {
        self.sessions.get(flow).copied().filter(|_| !self.downstream)
    }

    /// The session that a flow goes to.
    fn going(&self, flow: usize) -> Option<u16> {
        self.sessions.get(flow).copied().filter(|_| self.downstream)
    }
}

/// A device with its tester, on one core.
#[derive(Debug)]
pub struct Line {
    device: Device,
    trace: Arc<Trace>,
    frames: Frames,
    slots: Vec<u32>,
    out: Vec<u32>,
    /// Frames that were written so far: the number of the next.
    written: u64,
    seen: Seen,
    began_ns: u64,
    own_ns: u64,
    spoilt: bool,
}

/// What the tester counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    frames: u64,
    /// Those whose checksums are wrong.
    damaged: u64,
    /// Sum of the numbers of frames that came.
    numbers: u64,
    /// Sum of the numbers of frames that were sent.
    sent_numbers: u64,
}

impl Line {
    /// A line of which no frame has passed.
    pub fn new(device: Device, trace: Arc<Trace>) -> Self {
        let (slots, bytes) = (RING as usize, trace.frame_size - FCS);
        let frames = match trace.sessions.is_empty() {
            true => Frames::new(slots, bytes),
            false => Frames::with_line_before(slots, bytes),
        };
        Self {
            device,
            frames,
            trace,
            slots: (0..RING).collect(),
            out: Vec::with_capacity(RING as usize),
            written: 0,
            seen: Seen::default(),
            began_ns: clock::now_ns(),
            own_ns: 0,
            spoilt: false,
        }
    }

    /// What the frame of such a number says, and the number of its flow.
    fn fields(&self, number: u64) -> (Fields, usize) {
        let flows = &self.trace.flows;
        #[expect(clippy::cast_possible_truncation, reason = "less than the number of flows")]
        let flow = (number % flows.len() as u64) as usize;
        #[expect(clippy::cast_possible_truncation, reason = "less than STATIONS, or of 64")]
        let (peer, dscp) = ((flow % usize::from(STATIONS)) as u16, (flow % 64) as u8);
        let bridged = self.trace.forwarding == Forwarding::Bridge;
        let fields = Fields {
            to: if bridged { station(peer) } else { OWN },
            from: match self.trace.coming(flow) {
                Some(session) => subscriber(session),
                // A bridge learns who sends: none of them is one that frames go to.
                None => station(STATIONS + peer / PORTS),
            },
            tuple: flows[flow],
            dscp,
            ttl: TTL,
            #[expect(clippy::cast_possible_truncation, reason = "its low half tells frames apart")]
            number: number as u32,
        };
        (fields, flow)
    }

    /// Writes a ring of frames, each with its whole head.
    fn fill(&mut self) {
        let bytes = self.frames.bytes();
        for slot in 0..RING {
            let (fields, flow) = self.fields(self.written);
            frame::write(self.frames.head_mut(slot), bytes, &fields);
            let session = self.trace.coming(flow);
            if let Some((session, (before, head))) = session.zip(self.frames.with_before_mut(slot))
            {
                wrap(before, head, session);
            }
            self.seen.sent_numbers += u64::from(fields.number);
            self.written += 1;
        }
    }

    /// The device's part of a ring; nanoseconds that it took.
    fn forward(&mut self) -> u64 {
        let from_ns = clock::now_ns();
        self.out.clear();
        let since_ns = from_ns - self.began_ns;
        self.device.forward(&mut self.frames, &self.slots, since_ns, &mut self.out);
        let took_ns = clock::now_ns() - from_ns;
        if self.trace.downstream {
            self.end_sessions();
        }
        took_ns
    }

    /// Takes the headers of sessions off as subscribers do. A frame without one, or with that of
    /// another flow, is damaged.
    fn end_sessions(&mut self) {
        let first = self.written - u64::from(RING);
        for slot in &self.out {
            let lines = self.frames.with_before_mut(*slot);
            let session = lines.and_then(|(before, head)| sessions::take_off(before, head));
            #[expect(clippy::cast_possible_truncation, reason = "less than the number of flows")]
            let flow = ((first + u64::from(*slot)) % self.trace.flows.len() as u64) as usize;
            let right = session.is_some() && session == self.trace.going(flow);
            self.seen.damaged += u64::from(!right);
        }
    }

    /// Looks at each frame that came.
    fn look(&mut self) {
        let bytes = self.frames.bytes();
        for slot in &self.out {
            let head = self.frames.head(*slot);
            self.seen.damaged += u64::from(!frame::is_whole(head, bytes));
            self.seen.numbers += u64::from(frame::number(head));
        }
        self.seen.frames += self.out.len() as u64;
    }

    /// Whether tester and device agree on all frames so far (the ledger of a trial): each that was
    /// written was received by the device, and each of these was sent or dropped by a cause.
    fn balances(&self) -> Result<(), String> {
        let (counted, seen) = (self.device.counters(), &self.seen);
        let dropped = counted.dropped();
        if counted.received != self.written || counted.sent != seen.frames {
            return Err(format!(
                "the tester sent {} frames and got {}; the device received {} and sent {}",
                self.written, seen.frames, counted.received, counted.sent
            ));
        }
        if self.written != seen.frames + dropped {
            return Err(format!(
                "of {} frames {} came and {dropped} were dropped by a cause",
                self.written, seen.frames
            ));
        }
        if dropped > 0 {
            let causes = counted.drops().filter(|(_, frames)| *frames > 0);
            let causes: Vec<String> =
                causes.map(|(cause, frames)| format!("{cause} {frames}")).collect();
            return Err(format!("frames were dropped, and none should: {}", causes.join(", ")));
        }
        if seen.damaged > 0 || seen.numbers != seen.sent_numbers {
            return Err(format!("{} frames came with wrong checksums or numbers", seen.damaged));
        }
        Ok(())
    }

    /// One ring more, each frame of it held against the plain reference.
    fn compare(&mut self) -> Result<u64, String> {
        let first = self.written;
        self.fill();
        self.forward();
        if self.spoilt {
            let slot = self.out[0];
            self.frames.head_mut(slot)[23] ^= 1;
        }
        let permits = vec![true; self.trace.rules.len()];
        let right = self.out.iter().filter(|slot| self.is_right(&permits, first, **slot)).count();
        self.look();
        if right != RING as usize {
            return Err(format!("{right} of {RING} frames are as the plain reference has them"));
        }
        Ok(right as u64)
    }

    fn is_right(&self, permits: &[bool], first: u64, slot: u32) -> bool {
        let trace = &self.trace;
        let plain = Plain {
            forwarding: trace.forwarding,
            rules: (&trace.rules, permits),
            routes: &trace.routes,
            flows: trace.translated,
        };
        let (fields, flow) = self.fields(first + u64::from(slot));
        let mut expected: Option<Head> = plain.expected(&fields, flow, self.frames.bytes());
        if let Some((head, session)) = expected.as_mut().zip(trace.going(flow)) {
            head[..6].copy_from_slice(&subscriber(session));
        }
        expected.as_ref() == Some(self.frames.head(slot))
    }
}

impl Hot for Line {
    fn pass(&mut self, passes: u64) -> u64 {
        self.own_ns = 0;
        let before = self.seen.frames;
        for _ in 0..passes {
            self.fill();
            self.own_ns += self.forward();
            self.look();
        }
        self.seen.frames - before
    }

    fn verify(&mut self) -> Result<u64, String> {
        let right = self.compare()?;
        self.balances()?;
        Ok(right)
    }

    fn digest(&self) -> u64 {
        let bytes = |tuple: &Tuple| {
            let mut bytes = [0; 13];
            bytes[..4].copy_from_slice(&tuple.src.to_be_bytes());
            bytes[4..8].copy_from_slice(&tuple.dst.to_be_bytes());
            bytes[8..10].copy_from_slice(&tuple.src_port.to_be_bytes());
            bytes[10..12].copy_from_slice(&tuple.dst_port.to_be_bytes());
            bytes[12] = tuple.protocol;
            bytes
        };
        self.trace.flows.iter().fold(DIGEST, |so_far, tuple| digest(so_far, &bytes(tuple)))
    }

    fn spoil(&mut self) {
        self.spoilt = true;
    }

    fn own_ns(&self) -> Option<u64> {
        Some(self.own_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::packet::device::{Services, Tables};
    use std::collections::BTreeSet;

    #[test]
    fn no_sender_of_a_bridge_is_a_receiver() {
        let forwarding = Forwarding::Bridge;
        let (nat, policers, queues) = (None, None, None);
        let services = Services { forwarding, batch: 64, nat, policers, queues, ports: PORTS };
        let trace = Trace {
            flows: vec![Tuple::default(); 4096],
            rules: Vec::new(),
            routes: Vec::new(),
            forwarding,
            translated: 0,
            sessions: Vec::new(),
            downstream: false,
            frame_size: 64,
        };
        let line = Line::new(Device::new(Tables::default(), services), Arc::new(trace));
        let all: Vec<Fields> = (0..4096).map(|number| line.fields(number).0).collect();
        let receivers: BTreeSet<_> = all.iter().map(|fields| fields.to).collect();
        assert_eq!(receivers.len(), usize::from(STATIONS));
        assert!(all.iter().all(|fields| !receivers.contains(&fields.from)));
    }
}
