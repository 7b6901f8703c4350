//! Knows two ports that a process joins by sockets of AF_XDP: what one receives leaves by the other
//! as the services of the reference device leave it.
//!
//! A program at each port hands frames of IPv4 to the socket of its first queue; the kernel has all
//! others. Both sockets have one memory, so that no frame is copied here. Must not know hosts, nor
//! what a figure means.

use super::program::at;
use super::{BridgeError, PortCounts};
use crate::engine::packet::acl::Acl;
use crate::engine::packet::bpf::{
    Assembler, Attached, BpfError, Cond, Map, MapKind, Op, Program, Reg, Size, action, helper,
};
use crate::engine::packet::chance::Chance;
use crate::engine::packet::device::{Device, Forwarding, Tables};
use crate::engine::packet::frame::{self, HEAD, Head, TCP, UDP, is_unbroken};
use crate::engine::packet::frames::Frames;
use crate::engine::packet::live::rings::{Mapped, PLACE, Port};
use crate::engine::packet::nat;
use crate::engine::packet::police::Policers;
use crate::engine::packet::rules::Rule;
use crate::engine::packet::wanted::Wanted;
use Reg::{R0, R1, R2, R3, R6, R7, R8};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

/// Places for frames that come at a port, and entries of each ring: a power of two.
const PLACES: u32 = 4096;
/// Frames that pass together.
const BATCH: usize = 64;
/// Where the number of the queue stands in the context of a program (`struct xdp_md`).
const QUEUE: i16 = 16;
/// Where protocol and target port stand in a frame without options, and the service that discards
/// (RFC 863), by which hosts of the lab look for each other.
const PROTOCOL: usize = 23;
const TARGET_PORT: Range<usize> = 36..38;
const DISCARD: [u8; 2] = 9_u16.to_be_bytes();
/// Longest wait for a frame, after which the thread looks whether to stop.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 5_000_000 };

/// Limits that the process has on purpose, in each direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plants {
    /// Frames a second that it lets through; none where nothing bounds them.
    pub capacity: Option<f64>,
    /// Frames that may come at once beyond these.
    pub buffer: u32,
    /// Share of the frames that it loses, 0 to 1.
    pub loss: f64,
    /// Which ones, by chance of this seed.
    pub seed: u64,
}

/// The limits of a direction, and what they took.
struct Limits {
    /// A frame counts as a byte.
    core: Option<Policers>,
    loss: f64,
    chance: Chance,
    full: u64,
    lost: u64,
}

impl Limits {
    fn new(plants: Plants) -> Self {
        let of = |rate: f64| Policers::new(1, rate * 8.0, plants.buffer.into());
        let (loss, chance) = (plants.loss, Chance::of(plants.seed));
        Self { core: plants.capacity.map(of), loss, chance, full: 0, lost: 0 }
    }

    /// Whether a frame that came at such a moment goes on.
    fn passes(&mut self, now_ns: u64) -> bool {
        let is_lost = self.loss > 0.0 && self.chance.happens(self.loss);
        let is_full =
            !is_lost && self.core.as_mut().is_some_and(|core| !core.conforms(0, 1, now_ns));
        self.lost += u64::from(is_lost);
        self.full += u64::from(is_full);
        !is_lost && !is_full
    }
}

/// What the process does with frames.
#[derive(Clone, Debug)]
pub struct Duties {
    /// Its access list: a frame that matches a rule is dropped.
    pub rules: Vec<Rule>,
    /// Its other services.
    pub wanted: Wanted,
    /// Limits that it has on purpose.
    pub plants: Plants,
}

/// What the thread and the others share.
#[derive(Debug, Default)]
struct Shared {
    stop: AtomicBool,
    counts: [Mutex<PortCounts>; 2],
    /// Why the thread has ended.
    error: Mutex<Option<String>>,
}

/// Two ports and the thread that joins them.
#[derive(Debug)]
pub struct Pair {
    shared: Arc<Shared>,
    /// Frames that each port left to the kernel.
    passed: Map,
    thread: Option<JoinHandle<()>>,
    _attached: [Attached; 2],
    _sockets: [Map; 2],
}

impl Pair {
    /// Joins the adapters of these indexes, of this network namespace; the thread begins with
    /// `ready`.
    ///
    /// # Errors
    /// A list or table that cannot be built; what the kernel says.
    pub fn attach(
        adapters: [u32; 2],
        duties: &Duties,
        ready: impl FnOnce() -> io::Result<()> + Send + 'static,
    ) -> Result<Self, BridgeError> {
        let mut joint = Joint::open(adapters, duties)?;
        let passed = Map::new(MapKind::PerCpu, (4, 8), 2)?;
        let map = || Map::new(MapKind::Sockets, (4, 4), 1);
        let sockets = [map()?, map()?];
        let attach = |port: usize| {
            sockets[port].put_socket(0, &joint.ports[port].socket)?;
            let code = program(&sockets[port], &passed, port)?;
            Program::load("stend_hand_over", &code)?.attach(adapters[port])
        };
        let attached = [attach(0)?, attach(1)?];
        let shared = Arc::new(Shared::default());
        let told = Arc::clone(&shared);
        let work = move || {
            if let Err(e) = ready().and_then(|()| joint.run(&told)) {
                *told.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(e.to_string());
            }
        };
        let thread = Some(thread::Builder::new().name("stend-pair".into()).spawn(work)?);
        Ok(Self { shared, passed, thread, _attached: attached, _sockets: sockets })
    }

    /// What the ports counted so far, in the order of their adapters.
    ///
    /// # Errors
    /// What the kernel says; why the thread has ended.
    pub fn counts(&self) -> Result<[PortCounts; 2], String> {
        let error = self.shared.error.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = self.thread.as_ref().is_none_or(JoinHandle::is_finished);
        if error.is_some() || ended {
            let what = error.as_deref().unwrap_or("it panicked");
            return Err(format!("the thread between two ports has ended: {what}"));
        }
        let of = |port: u32| -> Result<PortCounts, String> {
            let passed = self.passed.sums(port).map_err(|e| e.to_string())?;
            let passed = passed.first().copied().unwrap_or(0);
            let told = &self.shared.counts[port as usize];
            let told = *told.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(PortCounts { received: told.received + passed, passed, ..told })
        };
        Ok([of(0)?, of(1)?])
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        self.shared.stop.store(true, Relaxed);
        // Its error was told by the counts.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// The program of a port: frames of IPv4 go to its socket. All others, and those of queues without
/// a socket, are counted and go to the kernel.
fn program(sockets: &Map, passed: &Map, port: usize) -> Result<Vec<u64>, BpfError> {
    let mut code = Assembler::new();
    let [other, out] = [0; 2].map(|_| code.label());
    code.load(Size::W, R7, (R1, 0));
    code.load(Size::W, R8, (R1, 4));
    code.load(Size::W, R2, (R1, QUEUE));
    code.mov(R3, R7);
    code.op_imm(Op::Add, R3, at::END);
    code.jump(Cond::Gt, R3, R8, other);
    code.load(Size::H, R3, (R7, at::KIND));
    code.jump_imm(Cond::Ne, R3, i32::from(at::IPV4), other);
    code.map(R1, sockets);
    code.mov_imm(R3, action::PASS);
    code.call(helper::REDIRECT_MAP);
    code.jump_imm(Cond::Eq, R0, action::PASS, other);
    code.exit();
    code.bind(other);
    code.mov_imm(R6, i32::from(port != 0));
    code.lookup(passed, R6);
    code.jump_imm(Cond::Eq, R0, 0, out);
    code.add_to((R0, 0), 1, R1);
    code.bind(out);
    code.mov_imm(R0, action::PASS);
    code.exit();
    code.finish()
}

/// What becomes of a frame before services see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    /// They get it.
    Served,
    /// It is not of the load, and leaves as it came.
    Beside,
    /// It goes no further.
    Dropped,
}

/// One direction.
struct Way {
    /// The device that its frames pass.
    device: Device,
    limits: Limits,
    wanted: Wanted,
    /// Whether any service looks at ports.
    looks: bool,
    /// Frames that services cannot read, and those that passed beside them.
    refused: u64,
    beside: u64,
}

impl Way {
    fn new(duties: &Duties, tables: Tables, plants: Plants) -> Self {
        let wanted = duties.wanted;
        let looks = wanted.any() || tables.acl.is_some();
        let forwarding = if looks { Forwarding::Join } else { Forwarding::Bypass };
        Self {
            device: Device::new(tables, wanted.services(forwarding, BATCH)),
            limits: Limits::new(plants),
            looks,
            wanted,
            refused: 0,
            beside: 0,
        }
    }

    /// What becomes of a frame of such a head and length that came at such a moment. Frames to the
    /// service that discards, and those of neither UDP nor TCP, are not of the load.
    fn enter(&mut self, head: &Head, length: usize, now_ns: u64) -> Entry {
        if self.looks && !is_unbroken(head, length) {
            self.refused += 1;
            return Entry::Dropped;
        }
        if ![UDP, TCP].contains(&head[PROTOCOL]) || head[TARGET_PORT] == DISCARD {
            self.beside += 1;
            return Entry::Beside;
        }
        if self.limits.passes(now_ns) { Entry::Served } else { Entry::Dropped }
    }

    /// Whether a frame that services changed has a right header, and an address that is given out.
    fn is_right(&self, head: &Head) -> bool {
        let tuple = frame::parse(head, PLACE as usize);
        tuple.is_some_and(|tuple| self.wanted.flows == 0 || nat::is_external(tuple.src))
    }

    fn told(&self) -> PortCounts {
        let (told, limits) = (self.device.counters(), &self.limits);
        let others = self.refused + self.beside + limits.full + limits.lost;
        PortCounts {
            received: told.received + others,
            forwarded: told.sent + self.beside,
            dropped: told.denied,
            refused: self.refused + told.malformed,
            passed: 0,
            full: limits.full,
            lost: limits.lost,
            by_services: told.by_services(),
            flows: self.device.flows() as u64,
        }
    }
}

/// The state of the thread.
struct Joint {
    ports: [Port; 2],
    memory: Mapped,
    /// Behind each port.
    ways: [Way; 2],
    heads: Frames,
    /// Frames of the batch that leave.
    out: Vec<u32>,
    begun: Instant,
}

impl Joint {
    fn open(adapters: [u32; 2], duties: &Duties) -> Result<Self, BridgeError> {
        let memory = Mapped::places(2 * PLACES)?;
        let near = Port::open((adapters[0], PLACES), &memory, None)?;
        let far = Port::open((adapters[1], PLACES), &memory, Some(&near.socket))?;
        let mut ports = [near, far];
        for (port, first) in ports.iter_mut().zip([0, PLACES]) {
            (first..first + PLACES).for_each(|at| port.free.push_place(u64::from(at * PLACE)));
            port.free.publish(0);
        }
        let Duties { rules, wanted, plants } = duties;
        let acl = if rules.is_empty() { None } else { Some(Acl::build(rules)?) };
        let tables = Tables {
            acl: acl.map(|acl| Arc::new((acl, vec![false; rules.len()]))),
            routes: wanted.table(plants.seed)?.map(Arc::new),
            sessions: None,
            subscribers: None,
        };
        let way = |plants| Way::new(duties, tables.clone(), plants);
        Ok(Self {
            ports,
            memory,
            ways: [way(*plants), way(Plants { seed: !plants.seed, ..*plants })],
            heads: Frames::heads(BATCH, PLACE as usize),
            out: Vec::with_capacity(BATCH),
            begun: Instant::now(),
        })
    }

    fn run(&mut self, shared: &Shared) -> io::Result<()> {
        while !shared.stop.load(Relaxed) {
            let mut is_idle = true;
            for from in [0, 1] {
                is_idle &= self.pass(from)? == 0;
                // Where a reader has the lock, the next batch publishes these counts, too.
                if let Ok(mut told) = shared.counts[from].try_lock() {
                    *told = self.ways[from].told();
                }
            }
            if is_idle {
                let sockets = self.ports.iter().map(|port| &port.socket);
                let mut looked: Vec<_> =
                    sockets.map(|socket| PollFd::new(socket, PollFlags::IN)).collect();
                match poll(&mut looked, Some(&LOOK)) {
                    Ok(_) | Err(Errno::INTR) => {}
                    Err(e) => return Err(e.into()),
                }
            }
        }
        Ok(())
    }

    /// Takes the frames that wait at a port, a batch at the most, and sends those that may leave by
    /// the other; how many it took, or still has to send.
    fn pass(&mut self, from: usize) -> io::Result<usize> {
        let [near, far] = &mut self.ports;
        let (port, other) = if from == 0 { (near, far) } else { (far, near) };
        while let Some(address) = other.sent.pop_place() {
            port.free.push_place(address);
        }
        other.sent.publish(1);
        let way = &mut self.ways[from];
        let now_ns = u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let (mut frames, mut slots) = ([(0, 0); BATCH], [0; BATCH]);
        let (mut taken, mut whole) = (0, 0);
        while taken < BATCH {
            let Some((address, length)) = port.came.pop_frame() else { break };
            frames[taken] = (address, length);
            #[expect(clippy::cast_possible_truncation, reason = "below 64")]
            let slot = taken as u32;
            taken += 1;
            let head = self.heads.head_mut(slot);
            head.copy_from_slice(&self.memory.from(address)[..HEAD]);
            match way.enter(head, length as usize, now_ns) {
                Entry::Served => {
                    slots[whole] = slot;
                    whole += 1;
                }
                Entry::Beside => self.out.push(slot),
                Entry::Dropped => {}
            }
        }
        port.came.publish(1);
        let beside = self.out.len();
        way.device.forward(&mut self.heads, &slots[..whole], now_ns, &mut self.out);
        if way.wanted.changes() {
            let served = &self.out[beside..];
            // One frame of each batch is checked.
            if served.first().is_some_and(|slot| !way.is_right(self.heads.head(*slot))) {
                return Err(io::Error::other("a frame left its services with a wrong header"));
            }
            for slot in served {
                let place = &mut self.memory.from(frames[*slot as usize].0)[..HEAD];
                place.copy_from_slice(self.heads.head(*slot));
            }
        }
        for slot in self.out.drain(..) {
            let (address, length) = std::mem::take(&mut frames[slot as usize]);
            other.to_send.push_frame(address, length);
        }
        // A frame that was not sent still has its length.
        for (address, _) in frames[..taken].iter().filter(|(_, length)| *length > 0) {
            port.free.push_place(*address);
        }
        port.free.publish(0);
        other.to_send.publish(0);
        other.kick()?;
        Ok(taken + other.to_send.waiting() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::packet::frame::Fields;
    use crate::engine::packet::queues::Scheduler;
    use crate::engine::packet::tuple::Tuple;

    const ALL: Wanted = Wanted {
        routes: 100,
        flows: 2,
        policers: 4,
        policed: None,
        queues: 8,
        ports: 4,
        order: Scheduler::Mixed,
    };
    const PLAIN: Wanted = Wanted { routes: 0, flows: 0, policers: 0, queues: 0, ..ALL };

    fn way(wanted: Wanted) -> Way {
        let duties = Duties { rules: Vec::new(), wanted, plants: Plants::default() };
        let routes = wanted.table(7).unwrap().map(Arc::new);
        Way::new(&duties, Tables { routes, ..Tables::default() }, duties.plants)
    }

    fn fields(src_port: u16, ttl: u8) -> Fields {
        let tuple = Tuple { src: 1, dst: 2, src_port, dst_port: 5001, protocol: UDP };
        Fields { to: [2; 6], from: [4; 6], tuple, dscp: 0, ttl, number: 9 }
    }

    fn head(fields: &Fields) -> Head {
        let mut head = [0; HEAD];
        frame::write(&mut head, 60, fields);
        head
    }

    #[test]
    fn services_change_what_they_say_and_count_what_they_drop() {
        let mut way = way(ALL);
        let mut heads = Frames::heads(BATCH, PLACE as usize);
        // The third flow finds no place, and the last frame has no hop left.
        let sent = [fields(10, 64), fields(11, 9), fields(12, 64), fields(10, 1)];
        for (slot, fields) in (0_u32..).zip(&sent) {
            *heads.head_mut(slot) = head(fields);
            assert_eq!(way.enter(heads.head(slot), 60, 0), Entry::Served);
        }
        let mut out = Vec::new();
        way.device.forward(&mut heads, &[0, 1, 2, 3], 0, &mut out);
        assert_eq!(out, [0, 1]);
        for slot in out {
            let was = sent[slot as usize];
            let (src, src_port) = nat::external(slot as usize);
            let tuple = Tuple { src, src_port, ..was.tuple };
            let expected = head(&Fields { tuple, ttl: was.ttl - 1, ..was });
            assert_eq!(*heads.head(slot), expected);
            assert!(way.is_right(&expected) && !way.is_right(&head(&was)));
            let mut wrong = expected;
            wrong[24] ^= 1;
            assert!(!way.is_right(&wrong));
        }
        let told = way.told();
        assert_eq!((told.received, told.forwarded, told.flows), (4, 2, 2));
        assert_eq!(told.by_services, [1, 0, 1, 0, 0]);
    }

    #[test]
    fn frames_of_the_lab_pass_beside_and_fragments_only_where_nothing_looks() {
        let load = fields(10, 64);
        let discard = Fields { tuple: Tuple { dst_port: 9, ..load.tuple }, ..load };
        let icmp = Fields { tuple: Tuple { protocol: 1, ..load.tuple }, ..load };
        let mut fragment = head(&load);
        fragment[20] |= 0x20;
        for (wanted, of_fragment) in [(ALL, Entry::Dropped), (PLAIN, Entry::Served)] {
            let mut way = way(wanted);
            let mut enter = |head: &Head| way.enter(head, 60, 0);
            assert_eq!(enter(&head(&discard)), Entry::Beside);
            assert_eq!(enter(&head(&icmp)), Entry::Beside);
            assert_eq!(enter(&fragment), of_fragment);
            let told = way.told();
            let refused = u64::from(of_fragment == Entry::Dropped);
            assert_eq!((told.forwarded, told.refused), (2, refused));
        }
    }
}
