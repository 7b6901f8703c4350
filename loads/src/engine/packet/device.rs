//! Knows the reference device: which services a frame passes through, in which order, and what each
//! of them dropped.
//!
//! Must not know who makes frames, nor how long the device takes.

use super::acl::Acl;
use super::bridge::Stations;
use super::frame::{self, Mac};
use super::frames::Frames;
use super::lpm::Lpm;
use super::nat::Nat;
use super::police::Policers;
use super::queues::{Queued, Queues, Scheduler};
use super::sessions::{self, Sessions};
use super::subscribers::Subscribers;
use super::tuple::Tuple;
use std::sync::Arc;

/// Most frames that pass a service together.
pub const BATCH_MOST: usize = 256;
/// Frames that a queue holds.
pub const QUEUE_LENGTH: usize = 1024;
/// Ports of a device by which frames leave, where nobody wants another number.
pub const PORTS: u16 = 4;
/// Numbers of neighbours that are told apart when their port is chosen.
const NEIGHBOURS: usize = 256;
/// No rule matched, no route was found.
const NONE: (u32, u16) = (u32::MAX, u16::MAX);
/// The number of no session.
const NO_SESSION: u16 = 0;

/// Why a device drops frames behind its access list.
pub const SERVICE_DROPS: [&str; 5] =
    ["ttl_expired", "no_route", "flow_table_full", "policed", "queue_full"];

/// What a device does with frames beside its services.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forwarding {
    /// Nothing: it passes on what comes.
    Bypass,
    /// It passes on what no service drops, with its addresses of the link: there are two ports.
    /// With routes it looks up destinations and takes a hop off, as between routers.
    Join,
    /// It sends them to where the receiver's address was learnt (IEEE 802.1Q).
    Bridge,
    /// It sends them by the longest prefix of their destination (RFC 1812).
    Route,
}

/// Tables of a device that its cores share.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    /// The access list, with whether each rule permits; a frame that matches none is permitted.
    pub acl: Option<Arc<(Acl, Vec<bool>)>>,
    /// Routes; a hop is the number of a neighbour.
    pub routes: Option<Arc<Lpm>>,
    /// Sessions of subscribers that end here; none where frames come without.
    pub sessions: Option<Arc<Sessions>>,
    /// Sessions of subscribers that frames go to; none where they go without.
    pub subscribers: Option<Arc<Subscribers>>,
}

/// What each core of a device has alone.
#[derive(Clone, Debug)]
pub struct Services {
    /// What it does beside them.
    pub forwarding: Forwarding,
    /// Frames that pass a service together, 1 to [`BATCH_MOST`].
    pub batch: usize,
    /// Source addresses are translated.
    pub nat: Option<Nat>,
    /// Subscribers are held to a rate.
    pub policers: Option<Policers>,
    /// Queues of each port, by weights; of none, frames go as they come.
    pub queues: Option<(Vec<u64>, Scheduler)>,
    /// Ports by which frames leave, 1 to 256; neighbours are spread over them.
    pub ports: u16,
}

/// Frames that a device counted, by what became of them: the device's own count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// They came.
    pub received: u64,
    /// They are no IPv4 frames, or wrong ones.
    pub malformed: u64,
    /// They are of no open session, or go to none.
    pub sessionless: u64,
    /// Their hops were used up.
    pub expired: u64,
    /// A rule denied them.
    pub denied: u64,
    /// No route leads to their destination, or no port to the station.
    pub unrouted: u64,
    /// The table of flows was full.
    pub untranslated: u64,
    /// Their subscriber exceeded the rate.
    pub policed: u64,
    /// Their queue was full.
    pub queued_out: u64,
    /// They were sent.
    pub sent: u64,
}

impl Counters {
    /// Frames that were dropped, by cause.
    pub fn drops(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let first = [
            ("malformed", self.malformed),
            ("no_session", self.sessionless),
            ("acl_denied", self.denied),
        ];
        first.into_iter().chain(SERVICE_DROPS.into_iter().zip(self.by_services()))
    }

    /// Frames that services behind the access list dropped, in the order of [`SERVICE_DROPS`].
    #[must_use]
    pub const fn by_services(&self) -> [u64; SERVICE_DROPS.len()] {
        [self.expired, self.unrouted, self.untranslated, self.policed, self.queued_out]
    }

    /// All of them.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.drops().map(|(_, frames)| frames).sum()
    }
}

/// The frames of a batch that are still in the device.
#[derive(Debug)]
struct Live {
    count: usize,
    slots: [u32; BATCH_MOST],
    tuples: [Tuple; BATCH_MOST],
    /// Neighbour in a device that routes, port in one that bridges.
    hops: [u16; BATCH_MOST],
}

impl Live {
    /// Keeps those frames only for which it says so; how many went. Mostly none does, and nothing
    /// is moved.
    #[inline]
    fn keep(&mut self, stays: impl Fn(usize, u16) -> bool) -> u64 {
        let hops = &self.hops[..self.count];
        let gone: usize =
            hops.iter().enumerate().map(|(at, hop)| usize::from(!stays(at, *hop))).sum();
        if gone > 0 {
            self.close_up(stays);
        }
        gone as u64
    }

    fn close_up(&mut self, stays: impl Fn(usize, u16) -> bool) {
        let mut kept = 0;
        for at in 0..self.count {
            let hop = self.hops[at];
            self.slots[kept] = self.slots[at];
            self.tuples[kept] = self.tuples[at];
            self.hops[kept] = hop;
            kept += usize::from(stays(at, hop));
        }
        self.count = kept;
    }
}

/// A device, as one core of it is.
#[derive(Debug)]
pub struct Device {
    tables: Tables,
    services: Services,
    stations: Stations,
    ports: Vec<Queues>,
    /// Port of each neighbour, so that no frame needs a division.
    port_of: Box<[u8; NEIGHBOURS]>,
    counters: Counters,
    live: Box<Live>,
    matched: Box<[u32; BATCH_MOST]>,
    targets: Box<[u32; BATCH_MOST]>,
    external: Box<[Option<(u32, u16)>; BATCH_MOST]>,
    entered: Box<[u16; BATCH_MOST]>,
}

impl Device {
    /// A device of which no frame has come yet.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "ports are at most 256")]
    pub fn new(tables: Tables, services: Services) -> Self {
        let count = services.ports.clamp(1, NEIGHBOURS as u16);
        let queues = services.queues.as_ref();
        let ports = queues.map_or_else(Vec::new, |(weights, scheduler)| {
            (0..count).map(|_| Queues::new(weights, *scheduler, QUEUE_LENGTH)).collect()
        });
        let mut stations = Stations::new(usize::from(STATIONS));
        (0..STATIONS).for_each(|number| stations.learn(long(&station(number)), number % count));
        let port_of = std::array::from_fn(|at| (at % usize::from(count)) as u8);
        let tuple = Tuple::default();
        Self {
            tables,
            services,
            stations,
            ports,
            port_of: Box::new(port_of),
            counters: Counters::default(),
            live: Box::new(Live {
                count: 0,
                slots: [0; BATCH_MOST],
                tuples: [tuple; BATCH_MOST],
                hops: [0; BATCH_MOST],
            }),
            matched: Box::new([0; BATCH_MOST]),
            targets: Box::new([0; BATCH_MOST]),
            external: Box::new([None; BATCH_MOST]),
            entered: Box::new([0; BATCH_MOST]),
        }
    }

    /// What it counted.
    #[must_use]
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Flows that it translates so far.
    #[must_use]
    pub fn flows(&self) -> usize {
        self.services.nat.as_ref().map_or(0, Nat::flows)
    }

    /// Frames that its queues hold together.
    #[must_use]
    pub fn holds(&self) -> usize {
        self.ports.iter().map(|port| port.count() * QUEUE_LENGTH).sum()
    }

    /// Whether a port has a frame to send.
    #[inline]
    #[must_use]
    pub fn has_queued(&self, port: usize) -> bool {
        self.ports.get(port).is_some_and(Queues::is_waiting)
    }

    /// Takes frames that came at such a moment, nanoseconds since the device began, and adds those
    /// to `out` that it sends.
    pub fn forward(&mut self, frames: &mut Frames, slots: &[u32], now_ns: u64, out: &mut Vec<u32>) {
        for slots in slots.chunks(self.services.batch.clamp(1, BATCH_MOST)) {
            self.admit(frames, slots, now_ns, out);
            let before = out.len();
            self.ports.iter_mut().for_each(|port| port.drain(out));
            self.counters.sent += (out.len() - before) as u64;
        }
    }

    /// Takes a batch as [`Self::forward`] does and leaves what it would send in the queues; without
    /// queues it is sent at once.
    pub fn admit(&mut self, frames: &mut Frames, slots: &[u32], now_ns: u64, out: &mut Vec<u32>) {
        self.counters.received += slots.len() as u64;
        match self.services.forwarding {
            Forwarding::Bypass => {
                out.extend_from_slice(slots);
                self.counters.sent += slots.len() as u64;
            }
            forwarding => {
                self.parse(frames, slots, forwarding);
                self.filter();
                self.find_way(frames, forwarding);
                self.translate(frames);
                self.police(frames, now_ns);
                self.find_sessions();
                self.leave(frames, forwarding, out);
                self.enter_sessions(frames);
            }
        }
    }

    /// The frame that a port sends next; none where its queues are empty.
    #[inline]
    pub fn take(&mut self, port: usize) -> Option<Queued> {
        let taken = self.ports[port].take();
        self.counters.sent += u64::from(taken.is_some());
        taken
    }

    /// Whether it takes a hop off. A bridge does not look at hops.
    const fn takes_hop(&self, forwarding: Forwarding) -> bool {
        match forwarding {
            Forwarding::Route => true,
            Forwarding::Join => self.tables.routes.is_some(),
            Forwarding::Bypass | Forwarding::Bridge => false,
        }
    }

    fn parse(&mut self, frames: &mut Frames, slots: &[u32], forwarding: Forwarding) {
        let takes_hop = self.takes_hop(forwarding);
        let (live, bytes) = (&mut *self.live, frames.bytes());
        live.count = 0;
        for slot in slots {
            if let Some(sessions) = &self.tables.sessions {
                let ends = frames
                    .with_before_mut(*slot)
                    .is_some_and(|(before, head)| sessions.end(before, head, bytes));
                if !ends {
                    self.counters.sessionless += 1;
                    continue;
                }
            }
            let head = frames.head(*slot);
            let Some(tuple) = frame::parse(head, bytes) else {
                self.counters.malformed += 1;
                continue;
            };
            if takes_hop && frame::ttl(head) <= 1 {
                self.counters.expired += 1;
                continue;
            }
            live.slots[live.count] = *slot;
            live.tuples[live.count] = tuple;
            live.count += 1;
        }
    }

    fn filter(&mut self) {
        let Some(acl) = &self.tables.acl else { return };
        let (acl, permits) = &**acl;
        let (live, matched) = (&mut *self.live, &mut self.matched);
        acl.classify(&live.tuples[..live.count], &mut matched[..live.count]);
        let stays = |at: usize, _| matched[at] == NONE.0 || permits[matched[at] as usize];
        self.counters.denied += live.keep(stays);
    }

    fn find_way(&mut self, frames: &Frames, forwarding: Forwarding) {
        let live = &mut *self.live;
        match (forwarding, &self.tables.routes) {
            (Forwarding::Route | Forwarding::Join, Some(routes)) => {
                let targets = &mut self.targets[..live.count];
                for (target, tuple) in targets.iter_mut().zip(&live.tuples) {
                    *target = tuple.dst;
                }
                if let Some(subscribers) = &self.tables.subscribers {
                    targets.iter().for_each(|target| subscribers.ask(*target));
                }
                routes.look_up(targets, &mut live.hops[..live.count]);
            }
            (Forwarding::Bridge, _) => {
                for at in 0..live.count {
                    let (to, from) = frame::ends(frames.head(live.slots[at]));
                    self.stations.learn(from, 0);
                    live.hops[at] = self.stations.port(to).unwrap_or(NONE.1);
                }
            }
            _ => live.hops[..live.count].fill(0),
        }
        self.counters.unrouted += live.keep(|_, hop| hop != NONE.1);
    }

    fn translate(&mut self, frames: &mut Frames) {
        let Some(nat) = &mut self.services.nat else { return };
        let (live, external) = (&mut *self.live, &mut self.external);
        nat.translate(&live.tuples[..live.count], &mut external[..live.count]);
        for (slot, external) in live.slots[..live.count].iter().zip(external.iter()) {
            if let Some(external) = external {
                frame::translate(frames.head_mut(*slot), *external);
            }
        }
        self.counters.untranslated += live.keep(|at, _| external[at].is_some());
    }

    fn police(&mut self, frames: &Frames, now_ns: u64) {
        let Some(policers) = &mut self.services.policers else { return };
        let live = &mut *self.live;
        let mut conforms = [false; BATCH_MOST];
        let all = live.tuples[..live.count].iter().zip(&live.slots);
        for (conforms, (tuple, slot)) in conforms.iter_mut().zip(all) {
            let bytes = frame::length(frames.head(*slot)) as u64;
            *conforms = policers.conforms(subscriber(tuple), bytes, now_ns);
        }
        self.counters.policed += live.keep(|at, _| conforms[at]);
    }

    /// Drops frames whose destination has no session, where frames go to subscribers.
    fn find_sessions(&mut self) {
        let Some(subscribers) = &self.tables.subscribers else { return };
        let (live, entered) = (&mut *self.live, &mut self.entered);
        let find = |live: &Live, entered: &mut [u16]| {
            for (session, tuple) in entered.iter_mut().zip(&live.tuples[..live.count]) {
                *session = subscribers.session(tuple.dst).unwrap_or(NO_SESSION);
            }
        };
        find(live, &mut **entered);
        let gone = live.keep(|at, _| entered[at] != NO_SESSION);
        if gone > 0 {
            self.counters.sessionless += gone;
            find(live, &mut **entered);
        }
    }

    /// Puts the headers of their sessions on frames that leave; queues count bytes without them.
    fn enter_sessions(&self, frames: &mut Frames) {
        if self.tables.subscribers.is_none() {
            return;
        }
        let live = &*self.live;
        for (slot, session) in live.slots[..live.count].iter().zip(self.entered.iter()) {
            if let Some((before, head)) = frames.with_before_mut(*slot) {
                frame::relink(head, &sessions::subscriber(*session), &OWN);
                sessions::wrap(before, head, *session);
            }
        }
    }

    fn leave(&mut self, frames: &mut Frames, forwarding: Forwarding, out: &mut Vec<u32>) {
        let takes_hop = self.takes_hop(forwarding);
        let live = &*self.live;
        for (slot, hop) in live.slots[..live.count].iter().zip(&live.hops) {
            let head = frames.head_mut(*slot);
            if takes_hop {
                frame::hop(head);
            }
            if forwarding == Forwarding::Route {
                frame::relink(head, &neighbour(*hop), &OWN);
            }
            if self.ports.is_empty() {
                out.push(*slot);
                self.counters.sent += 1;
                continue;
            }
            let port = self.port_of[usize::from(*hop) % NEIGHBOURS];
            let port = &mut self.ports[usize::from(port)];
            let queue = usize::from(frame::dscp(head)) * port.count() / 64;
            #[expect(clippy::cast_possible_truncation, reason = "at most 65,549 bytes")]
            let queued = Queued { slot: *slot, bytes: frame::length(head) as u32 };
            self.counters.queued_out += u64::from(!port.put(queue, queued));
        }
    }
}

/// Stations that a device which bridges knows from the beginning.
pub const STATIONS: u16 = 1024;
/// The device's address on every link.
pub const OWN: Mac = [0x02, 0, 0, 0, 0, 0xfe];

/// Address of a station behind the device.
#[must_use]
pub const fn station(number: u16) -> Mac {
    let [high, low] = number.to_be_bytes();
    [0x02, 0, 0, 1, high, low]
}

/// Address of the neighbour of such a number.
#[must_use]
pub const fn neighbour(number: u16) -> Mac {
    let [high, low] = number.to_be_bytes();
    [0x02, 0, 0, 2, high, low]
}

/// The subscriber of a frame: all of a source address.
#[inline]
#[must_use]
pub const fn subscriber(tuple: &Tuple) -> u32 {
    tuple.src.wrapping_mul(0x9E37_79B1)
}

/// An address of the link layer in the low 48 bits.
fn long(mac: &Mac) -> u64 {
    mac.iter().fold(0, |long, byte| long << 8 | u64::from(*byte))
}
