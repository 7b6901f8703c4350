//! Knows what happens in a device in simulated time, event by event.
//!
//! Must not know what a trial is for.

use super::knobs::{Core, Knobs};
use super::sink::Sink;
use crate::engine::packet::chance::Chance;
use crate::engine::packet::device::{Counters, Device, OWN, PORTS, station};
use crate::engine::packet::frame::{self, FCS, Fields, IFG};
use crate::engine::packet::frames::Frames;
use crate::engine::packet::ledger::Ledger;
use crate::engine::packet::live::{LEAST, Sizes};
use crate::engine::packet::tuple::Tuple;
use hdrhistogram::Histogram;
use std::collections::VecDeque;

/// What a tester offers in a trial.
#[derive(Clone, Debug)]
pub struct Offer<'a> {
    /// Flows that the frames belong to, in turn.
    pub flows: &'a [Tuple],
    /// Frames, below 2^32.
    pub frames: u32,
    /// Seconds between two of them; 0 for all at once.
    pub interval: f64,
    /// How long they are.
    pub turns: Turns,
    /// Their classes of service, each below 64, in turn.
    pub classes: &'a [u8],
    /// The window, seconds from the first frame.
    pub window: [f64; 2],
}

/// How long the frames of streams are that send in turn.
#[derive(Clone, Debug)]
pub struct Turns {
    /// Lengths of the frames of each stream, by their numbers in it.
    pub sizes: Sizes,
    /// Streams, at least 1.
    pub streams: u32,
}

impl Turns {
    /// Bytes of the frame of a number of all streams, with the check sequence.
    #[must_use]
    pub fn bytes(&self, number: u32) -> usize {
        self.sizes.of(number / self.streams)
    }
}

impl Offer<'_> {
    /// The class of each flow in turn, of 64 of them.
    pub const EACH: [u8; 64] = {
        let (mut all, mut at) = ([0; 64], 0_u8);
        while at < 64 {
            all[at as usize] = at;
            at += 1;
        }
        all
    };

    /// A window without an end.
    pub const ALL: [f64; 2] = [0.0, f64::INFINITY];
}

/// One stream of the shortest frames.
const ALONE: Turns = Turns { sizes: Sizes::Alike(LEAST), streams: 1 };

/// What became of a trial.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Both counts of its frames.
    pub ledger: Ledger,
    /// Of the frames sent in the window, those that came again.
    pub duplicates: u64,
    /// Frames that came of each class of service.
    pub classes: [u64; 64],
    /// Frames that had come when the window opened, and when it closed.
    pub by: [u64; 2],
    /// Bytes of these, with their check sequences.
    pub bytes_by: [u64; 2],
    /// Frames that had left by the device's own count when the window opened, and when it closed.
    pub left_by: [u64; 2],
    came: Vec<u64>,
    /// Of these, those that came after one with a larger number (RFC 4737, 3.3).
    pub reordered: u64,
    /// Seconds from the first frame that was sent to the last that came.
    pub lasted: f64,
    /// Nanoseconds from when a frame of the window was sent until it came.
    pub latency: Option<Histogram<u64>>,
}

impl Outcome {
    /// Whether the frame of a number came; one that was not offered did not.
    #[must_use]
    pub fn came(&self, number: u32) -> bool {
        let word = self.came.get(number as usize / 64).copied().unwrap_or(0);
        word & 1 << (number % 64) != 0
    }
}

/// A device in simulated time. It keeps its tables and buckets from trial to trial; a trial begins
/// when the one before has left nothing in the device.
#[derive(Debug)]
pub struct Ring {
    device: Device,
    knobs: Knobs,
    core: Core,
    chance: Chance,
    frames: Frames,
    free: Vec<u32>,
    /// Of each slot, when its frame was sent.
    sent_at: Vec<f64>,
    waiting: VecDeque<u32>,
    /// The frame that the core works on, and when it is done.
    working: Option<(u32, f64)>,
    /// When the line of each port is free.
    lines: [f64; PORTS as usize],
    /// A frame that the next one overtakes, with its number, class and when it was sent.
    held: Option<(u32, u8, f64)>,
    sink: Sink,
    /// The window, seconds, and frames that left before either edge.
    left: ([f64; 2], [u64; 2]),
    now: f64,
}

impl Ring {
    /// A device of which no frame has come yet.
    #[must_use]
    pub fn new(device: Device, knobs: Knobs, seed: u64) -> Self {
        let core = Core::new(&knobs, seed);
        Self {
            device,
            knobs,
            core,
            chance: Chance::of(!seed),
            frames: Frames::new(0, 60),
            free: Vec::new(),
            sent_at: Vec::new(),
            waiting: VecDeque::new(),
            working: None,
            lines: [0.0; PORTS as usize],
            held: None,
            sink: Sink::new(0, Offer::ALL, ALONE),
            left: (Offer::ALL, [0; 2]),
            now: 0.0,
        }
    }

    /// One trial: all frames are sent at their moments, and then the device is left until it is
    /// empty.
    pub fn run(&mut self, offer: &Offer<'_>) -> Outcome {
        let (before, began) = (*self.device.counters(), self.now);
        self.make_room(offer, began);
        let mut full = 0;
        for number in 0..offer.frames {
            let now = began + f64::from(number) * offer.interval;
            self.advance(now);
            let inside = self.waiting.len() + usize::from(self.working.is_some());
            let fits = inside < self.knobs.buffer;
            match fits.then(|| self.free.pop()).flatten() {
                Some(slot) => self.arrive(offer, (slot, number), now),
                None => full += 1,
            }
        }
        self.advance(f64::INFINITY);
        if let Some((number, class, sent)) = self.held.take() {
            self.sink.take(number, class, (sent, self.now));
        }
        self.told(offer, (before, full), began)
    }

    /// Slots for all frames that can be in the device at once.
    fn make_room(&mut self, offer: &Offer<'_>, began: f64) {
        let slots = self.knobs.buffer + self.device.holds();
        self.frames = Frames::new(slots, offer.turns.sizes.most() - FCS);
        self.sent_at = vec![0.0; slots];
        self.free = (0..).take(slots).collect();
        let window = offer.window.map(|edge| began + edge);
        self.sink = Sink::new(offer.frames.into(), window, offer.turns.clone());
        self.left = (window, [0; 2]);
    }

    fn arrive(&mut self, offer: &Offer<'_>, (slot, number): (u32, u32), now: f64) {
        let tuple = offer.flows[number as usize % offer.flows.len()];
        let dscp = offer.classes[number as usize % offer.classes.len()];
        let fields = Fields { to: OWN, from: station(0), tuple, dscp, ttl: 64, number };
        frame::write(self.frames.head_mut(slot), offer.turns.bytes(number) - FCS, &fields);
        self.sent_at[slot as usize] = now;
        self.waiting.push_back(slot);
        self.work(now);
    }

    /// An idle core begins with the frame that waits longest.
    fn work(&mut self, now: f64) {
        if self.working.is_none()
            && let Some(slot) = self.waiting.pop_front()
        {
            self.working = Some((slot, self.core.done(now)));
        }
    }

    /// All that happens up to such a moment.
    fn advance(&mut self, until: f64) {
        loop {
            let done = self.working.map_or(f64::INFINITY, |(_, done)| done);
            let line = self.next_line();
            let line_at = line.map_or(f64::INFINITY, |port| self.lines[port].max(self.now));
            let next = done.min(line_at);
            if next > until || next.is_infinite() {
                break;
            }
            self.now = next;
            match line.filter(|_| line_at <= done) {
                Some(port) => self.send(port),
                None => self.finish(),
            }
        }
        if until.is_finite() {
            self.now = self.now.max(until);
        }
    }

    /// The port with a frame to send whose line is free first.
    fn next_line(&self) -> Option<usize> {
        let ports = (0..self.lines.len()).filter(|port| self.device.has_queued(*port));
        ports.min_by(|one, other| self.lines[*one].total_cmp(&self.lines[*other]))
    }

    /// The core is done with a frame.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2^48")]
    fn finish(&mut self) {
        let Some((slot, _)) = self.working.take() else { return };
        let (now_ns, mut out) = ((self.now * 1e9) as u64, Vec::new());
        let before = self.device.counters().dropped();
        self.device.admit(&mut self.frames, &[slot], now_ns, &mut out);
        if self.device.counters().dropped() > before {
            self.free.push(slot);
        }
        for slot in out {
            self.depart(slot, self.now);
        }
        self.work(self.now);
    }

    /// The line of a port begins with a frame, which comes when its last bit has come.
    fn send(&mut self, port: usize) {
        let Some(frame) = self.device.take(port) else { return };
        let bits = 8.0 * (f64::from(frame.bytes) + (FCS + IFG) as f64);
        let left = self.now + self.knobs.line.map_or(0.0, |rate| bits / rate);
        self.lines[port] = left;
        self.depart(frame.slot, left);
    }

    /// A frame leaves the device, which is done with it.
    fn depart(&mut self, slot: u32, now: f64) {
        let head = self.frames.head(slot);
        let (number, class) = (frame::number(head), frame::dscp(head));
        let sent = self.sent_at[slot as usize];
        self.free.push(slot);
        let (window, left) = &mut self.left;
        for (edge, left) in window.iter().zip(left) {
            *left += u64::from(now < *edge);
        }
        if self.chance.happens(self.knobs.loss) {
            return;
        }
        if self.held.is_none() && self.chance.happens(self.knobs.reorder) {
            self.held = Some((number, class, sent));
            return;
        }
        self.sink.take(number, class, (sent, now));
        if self.chance.happens(self.knobs.duplicate) {
            self.sink.take(number, class, (sent, now));
        }
        if let Some((number, class, sent)) = self.held.take() {
            self.sink.take(number, class, (sent, now));
        }
    }

    fn told(&self, offer: &Offer<'_>, (before, full): (Counters, u64), began: f64) -> Outcome {
        let after = self.device.counters().drops();
        let drops = after
            .zip(before.drops())
            .map(|((cause, after), (_, before))| (format!("device: {cause}"), after - before));
        let full = ("device: buffer_full".to_owned(), full);
        let (sink, sent) = (&self.sink, u64::from(offer.frames));
        Outcome {
            ledger: Ledger {
                scheduled: sent,
                unsent: 0,
                sent,
                received: sink.received,
                drops: drops.chain([full]).collect(),
            },
            duplicates: sink.duplicates,
            classes: sink.classes,
            by: sink.by,
            bytes_by: sink.bytes_by,
            left_by: self.left.1,
            came: sink.came.clone(),
            reordered: sink.reordered,
            lasted: sink.last - began,
            latency: sink.latency.clone(),
        }
    }
}
