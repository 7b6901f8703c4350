//! Knows two ports that a process joins by sockets of AF_XDP: what one receives leaves by the other
//! unless an access list drops it.
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
use crate::engine::packet::device::{Device, Forwarding, Services, Tables};
use crate::engine::packet::frame::{HEAD, is_unbroken};
use crate::engine::packet::frames::Frames;
use crate::engine::packet::live::rings::{Mapped, PLACE, Port};
use crate::engine::packet::police::Policers;
use crate::engine::packet::rules::Rule;
use Reg::{R0, R1, R2, R3, R6, R7, R8};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

/// Places for frames that come at a port, and entries of each ring: a power of two.
const PLACES: u32 = 4096;
/// Frames that pass together.
const BATCH: usize = 64;
/// Where the number of the queue stands in the context of a program (`struct xdp_md`).
const QUEUE: i16 = 16;
/// Where the target port of UDP stands in a frame without options, and the service that discards
/// (RFC 863): datagrams of the lab, not of the load, which planted limits let pass.
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

/// What the thread and the others share.
#[derive(Debug, Default)]
struct Shared {
    stop: AtomicBool,
    /// Of the frames that each port received: all, those that left, those that a rule dropped,
    /// those that rules cannot tell of, and what planted limits took: capacity, loss.
    counts: [[AtomicU64; 6]; 2],
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
    /// Joins the adapters of these indexes, of this network namespace, with this list of rules and
    /// these limits; the thread begins with `ready`.
    ///
    /// # Errors
    /// A list that cannot be built; what the kernel says.
    pub fn attach(
        adapters: [u32; 2],
        (rules, plants): (&[Rule], Plants),
        ready: impl FnOnce() -> io::Result<()> + Send + 'static,
    ) -> Result<Self, BridgeError> {
        let mut joint = Joint::open(adapters, rules, plants)?;
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
            let [received, forwarded, dropped, refused, full, lost] =
                self.shared.counts[port as usize].each_ref().map(|count| count.load(Relaxed));
            let received = received + passed;
            Ok(PortCounts { received, forwarded, dropped, refused, passed, full, lost })
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

/// The state of the thread.
struct Joint {
    ports: [Port; 2],
    memory: Mapped,
    /// The device behind each port.
    devices: [Device; 2],
    heads: Frames,
    limits: [Limits; 2],
    /// Frames of the batch that leave.
    out: Vec<u32>,
    refused: [u64; 2],
    has_rules: bool,
    begun: Instant,
}

impl Joint {
    fn open(adapters: [u32; 2], rules: &[Rule], plants: Plants) -> Result<Self, BridgeError> {
        let memory = Mapped::places(2 * PLACES)?;
        let near = Port::open((adapters[0], PLACES), &memory, None)?;
        let far = Port::open((adapters[1], PLACES), &memory, Some(&near.socket))?;
        let mut ports = [near, far];
        for (port, first) in ports.iter_mut().zip([0, PLACES]) {
            (first..first + PLACES).for_each(|at| port.free.push_place(u64::from(at * PLACE)));
            port.free.publish(0);
        }
        let has_rules = !rules.is_empty();
        let acl = if has_rules { Some(Acl::build(rules)?) } else { None };
        let acl = acl.map(|acl| Arc::new((acl, vec![false; rules.len()])));
        let device = || {
            let forwarding = if has_rules { Forwarding::Join } else { Forwarding::Bypass };
            let tables = Tables { acl: acl.clone(), ..Tables::default() };
            let services =
                Services { forwarding, batch: BATCH, nat: None, policers: None, queues: None };
            Device::new(tables, services)
        };
        Ok(Self {
            ports,
            memory,
            devices: [device(), device()],
            heads: Frames::heads(BATCH, PLACE as usize),
            limits: [Limits::new(plants), Limits::new(Plants { seed: !plants.seed, ..plants })],
            out: Vec::with_capacity(BATCH),
            refused: [0; 2],
            has_rules,
            begun: Instant::now(),
        })
    }

    fn run(&mut self, shared: &Shared) -> io::Result<()> {
        while !shared.stop.load(Relaxed) {
            let mut is_idle = true;
            for from in [0, 1] {
                is_idle &= self.pass(from)? == 0;
                self.tell(from, &shared.counts[from]);
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
            if self.has_rules && !is_unbroken(head, length as usize) {
                self.refused[from] += 1;
                continue;
            }
            if head[TARGET_PORT] != DISCARD && !self.limits[from].passes(now_ns) {
                continue;
            }
            slots[whole] = slot;
            whole += 1;
        }
        port.came.publish(1);
        self.devices[from].forward(&mut self.heads, &slots[..whole], now_ns, &mut self.out);
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

    fn tell(&self, from: usize, counts: &[AtomicU64; 6]) {
        let (told, limits) = (self.devices[from].counters(), &self.limits[from]);
        let refused = self.refused[from] + told.malformed;
        let received = self.refused[from] + told.received + limits.full + limits.lost;
        let all = [received, told.sent, told.denied, refused, limits.full, limits.lost];
        for (count, told) in counts.iter().zip(all) {
            count.store(told, Relaxed);
        }
    }
}
