//! Knows the thread that sends the frames of a stream by a socket, on a schedule or as fast as it
//! goes.
//!
//! On a schedule a frame is sent when its moment has come; one that is more than its slack late is
//! skipped and counted. What the kernel does not take is not sent. Must not know what becomes of
//! the frames.

use super::generator::{Edges, Pace, SPARSE_MASK, Sending, Sent};
use super::maker::{BATCH, Maker, Mark};
use super::plain::Plain;
use super::wire::scrambled;
use super::xsk::Xsk;
use rig::lab::clock;
use serde::{Deserialize, Serialize};
use std::hint::spin_loop;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A sleep ends so long before the moment of a frame, nanoseconds: a thread that a timer wakes
/// begins some 20 us late.
const EARLY_NS: u64 = 50_000;
/// The longest sleep, after which it is looked whether to stop, nanoseconds.
const LOOK_NS: u64 = 5_000_000;

/// What the thread hears while it sends.
#[derive(Debug)]
struct Heard {
    stop: AtomicBool,
    phase: AtomicU64,
    opens_ns: AtomicU64,
    closes_ns: AtomicU64,
}

impl Heard {
    fn edges(&self) -> Edges {
        Edges { opens_ns: self.opens_ns.load(SeqCst), closes_ns: self.closes_ns.load(SeqCst) }
    }

    fn phase_now(&self) -> u16 {
        u16::try_from(self.phase.load(SeqCst).min(2)).unwrap_or(2)
    }
}

/// Which socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// One of packets (packet(7)).
    Packet,
    /// One of AF_XDP.
    Xdp,
}

#[derive(Debug)]
enum Port {
    Packet(Plain),
    Xdp(Box<Xsk>),
}

/// A socket, and the thread that sends by it, once it goes.
#[derive(Debug)]
pub struct Sockets {
    port: Option<(Port, Maker)>,
    pace: Option<Pace>,
    rushed: bool,
    key: u64,
    heard: Arc<Heard>,
    thread: Option<JoinHandle<io::Result<Sent>>>,
}

impl Sockets {
    /// Opens the socket; nothing is sent.
    ///
    /// # Errors
    /// What the kernel says: `EPERM` without `CAP_NET_RAW`, `EAFNOSUPPORT` without AF_XDP.
    pub fn new(sending: &Sending, kind: Kind) -> io::Result<Self> {
        let maker = Maker::new(sending);
        let port = match kind {
            Kind::Packet => Port::Packet(Plain::open(sending.adapter, maker.template())?),
            Kind::Xdp => Port::Xdp(Box::new(Xsk::open(sending.adapter, &maker.template())?)),
        };
        let heard = Heard {
            stop: AtomicBool::new(false),
            phase: AtomicU64::new(0),
            opens_ns: AtomicU64::new(u64::MAX),
            closes_ns: AtomicU64::new(u64::MAX),
        };
        let Sending { pace, rushed, .. } = *sending;
        let key = sending.wire.key;
        let port = Some((port, maker));
        Ok(Self { port, pace, rushed, key, heard: Arc::new(heard), thread: None })
    }

    /// Begins to send from this moment on, for so long at the most, on the CPU that `ready` moves
    /// the thread to.
    ///
    /// # Errors
    /// What the kernel says of a thread.
    pub fn go(
        &mut self,
        (at_ns, longest): (u64, Duration),
        ready: impl FnOnce() -> io::Result<()> + Send + 'static,
    ) -> io::Result<()> {
        let Some((port, maker)) = self.port.take() else { return Ok(()) };
        let ends_ns = at_ns + u64::try_from(longest.as_nanos()).unwrap_or(u64::MAX / 2);
        let sent = Sent::default();
        let mut sender =
            Sender { port, maker, key: self.key, heard: Arc::clone(&self.heard), ends_ns, sent };
        let (pace, rushed) = (self.pace, self.rushed);
        let work = move || {
            ready()?;
            clock::sleep_until(at_ns);
            match pace {
                Some(pace) => sender.paced((pace, rushed), at_ns)?,
                None => sender.unpaced()?,
            }
            if let Port::Xdp(socket) = &mut sender.port {
                socket.finish()?;
            }
            Ok(sender.sent)
        };
        self.thread = Some(thread::Builder::new().name("frames".into()).spawn(work)?);
        Ok(())
    }

    /// Tells the window, ahead of it.
    pub fn announce(&self, edges: Edges) {
        self.heard.opens_ns.store(edges.opens_ns, SeqCst);
        self.heard.closes_ns.store(edges.closes_ns, SeqCst);
    }

    /// Tells a thread that is not paced in which phase the trial is.
    pub fn enter(&self, phase: u64) {
        self.heard.phase.store(phase, SeqCst);
    }

    /// Stops and tells what was sent.
    ///
    /// # Errors
    /// What the kernel said to the thread.
    pub fn stop(&mut self) -> io::Result<Sent> {
        self.heard.stop.store(true, SeqCst);
        let Some(thread) = self.thread.take() else { return Ok(Sent::default()) };
        thread.join().map_err(|_| io::Error::other("the thread that sends frames panicked"))?
    }
}

impl Drop for Sockets {
    fn drop(&mut self) {
        let _ = self.stop();
    }
}

struct Sender {
    port: Port,
    maker: Maker,
    key: u64,
    heard: Arc<Heard>,
    ends_ns: u64,
    sent: Sent,
}

impl Sender {
    fn goes_on(&self, now_ns: u64) -> bool {
        now_ns < self.ends_ns && !self.heard.stop.load(SeqCst)
    }

    /// A stamp for some of the frames, as the other engine has it.
    fn stamp(&self, behind: usize, moment_ns: u64, dense: bool) -> u64 {
        let number = self.maker.next.wrapping_add(u32::try_from(behind).unwrap_or(0));
        let stamped = dense || scrambled(self.key, number) & SPARSE_MASK == 0;
        if stamped { moment_ns } else { 0 }
    }

    fn send(&mut self, marks: &[Mark]) -> io::Result<usize> {
        let sent = match &mut self.port {
            Port::Packet(socket) => socket.send(&mut self.maker, marks)?,
            Port::Xdp(socket) => socket.send(&mut self.maker, marks)?,
        };
        for mark in &marks[..sent] {
            self.sent.sent[usize::from(mark.phase)] += 1;
        }
        Ok(sent)
    }

    fn unpaced(&mut self) -> io::Result<()> {
        loop {
            let now_ns = clock::now_ns();
            if !self.goes_on(now_ns) {
                return Ok(());
            }
            let phase = self.heard.phase_now();
            let mark = |at| Mark { stamp: self.stamp(at, now_ns, false), phase };
            let marks: Vec<Mark> = (0..BATCH).map(mark).collect();
            self.send(&marks)?;
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "frames of a trial are below 2^53")]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative")]
    fn paced(&mut self, (pace, rushed): (Pace, bool), at_ns: u64) -> io::Result<()> {
        let due_ns =
            |number: u64| at_ns + (number as f64 * pace.interval_ns + pace.offset_ns) as u64;
        let (slack_ns, dense) = (pace.slack_ns(), pace.is_dense());
        let (mut next, mut marks) = (0, Vec::with_capacity(BATCH));
        loop {
            let now_ns = clock::now_ns();
            if !self.goes_on(now_ns) {
                break;
            }
            let edges = self.heard.edges();
            while due_ns(next) + slack_ns < now_ns {
                self.sent.unsent[usize::from(edges.phase(due_ns(next)))] += 1;
                next += 1;
            }
            marks.clear();
            let has_come = |due: &u64| rushed || *due <= now_ns;
            let due = (next..).map(due_ns).take_while(has_come).take(BATCH);
            marks.extend(due.enumerate().map(|(behind, due)| Mark {
                stamp: self.stamp(behind, due, dense),
                phase: edges.phase(due),
            }));
            if marks.is_empty() {
                wait_for(due_ns(next), now_ns);
                continue;
            }
            next += self.send(&marks)? as u64;
        }
        // Frames of the window that were due and had no turn yet.
        self.sent.unsent[1] += pace.left(due_ns(next), self.heard.edges());
        Ok(())
    }
}

fn wait_for(due_ns: u64, now_ns: u64) {
    match due_ns.saturating_sub(now_ns).checked_sub(EARLY_NS) {
        Some(wait_ns) => clock::sleep_until(now_ns + wait_ns.min(LOOK_NS)),
        None => spin_loop(),
    }
}
