//! Knows how frames are carried: one thread takes what comes by either interface, and sends each
//! frame by the other at its moment.
//!
//! Must not know which moment that is: the lane of the direction does.

use super::lane::{Chance, Kept, Lane, Refused};
use super::port::{BATCH, Port};
use super::{Counts, Distance, LATE_NS, Told};
use crate::lab::Urgent;
use crate::lab::clock;
use rustix::event::{PollFd, PollFlags};
use rustix::time::Timespec;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// So long before the moment of a frame the thread waits by looking at the clock, nanoseconds: to
/// be woken takes up to 200 us on a guest that has slept for some milliseconds.
const NEAR_NS: u64 = 250_000;
/// Frames within [`CROWD_NS`] from which on the thread is woken for each moment instead: the CPU
/// does not sleep then, and a clock that is always looked at would take all of it.
const CROWD: usize = 4;
const CROWD_NS: u64 = 1_000_000;
/// The thread looks so often whether the distance has changed, nanoseconds.
const IDLE_NS: u64 = 100_000_000;
/// Frames of which the memory is kept for the next.
const SPARE: usize = 4096;

/// What the thread and its host share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub(super) distance: Distance,
    seed: u64,
    /// How often a seed was given.
    seeded: u64,
    counts: [Counts; 2],
    cpu_ns: u64,
    spun_ns: u64,
    /// Whether the thread shall be an ordinary one, and whether it is.
    pub(super) wants_ordinary: bool,
    is_ordinary: bool,
    ended: String,
}

impl Shared {
    pub(super) fn reseed(&mut self, seed: u64) {
        self.seed = seed;
        self.seeded += 1;
        self.counts.iter_mut().for_each(|counts| counts.behind_most_ns = 0);
    }

    pub(super) fn told(&self, names: &[String; 2]) -> Told {
        Told {
            distance: self.distance,
            ways: names.iter().cloned().zip(self.counts).collect(),
            cpu_ns: self.cpu_ns,
            spun_ns: self.spun_ns,
            ordinary: self.is_ordinary,
            at_ns: clock::now_ns(),
            ended: self.ended.clone(),
        }
    }
}

/// Carries until an interface is gone.
pub(super) fn carry(ports: [Port; 2], shared: &Mutex<Shared>) {
    // A frame that waits for a CPU is late; where this is refused, lateness is told all the same.
    let urgent = Some(Urgent::begin());
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    let lanes = [Lane::new(Chance::new(1)), Lane::new(Chance::new(2))];
    let (counts, spare, seeded) = (<[Counts; 2]>::default(), Vec::new(), 0);
    let distance = Distance::default();
    let mut carrier = Carrier { ports, lanes, counts, spare, seeded, distance, spun_ns: 0, urgent };
    let ended = loop {
        if let Err(e) = carrier.turn(shared) {
            break e;
        }
    };
    of(shared).ended = ended.to_string();
}

fn of(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Carrier {
    ports: [Port; 2],
    /// The lane of what comes by the port of the same place.
    lanes: [Lane<Vec<u8>>; 2],
    counts: [Counts; 2],
    spare: Vec<Vec<u8>>,
    seeded: u64,
    distance: Distance,
    spun_ns: u64,
    /// None while the thread is an ordinary one.
    urgent: Option<Urgent>,
}

impl Carrier {
    /// Waits for a frame or a moment, takes what has come, sends what is due.
    fn turn(&mut self, shared: &Mutex<Shared>) -> io::Result<()> {
        self.wait()?;
        self.share(shared);
        for at in 0..2 {
            self.take_in(at)?;
        }
        for at in 0..2 {
            self.send_on(at)?;
        }
        Ok(())
    }

    /// Exchanges counts for what is wanted.
    fn share(&mut self, shared: &Mutex<Shared>) {
        for at in 0..2 {
            self.counts[at].missed += self.ports[at].missed();
            self.counts[at].waiting = u64::try_from(self.lanes[at].len()).unwrap_or(0);
        }
        let mut shared = of(shared);
        self.distance = shared.distance;
        if shared.wants_ordinary != self.urgent.is_none() {
            self.urgent = (!shared.wants_ordinary).then(Urgent::begin);
        }
        shared.is_ordinary = self.urgent.is_none();
        if shared.seeded != self.seeded {
            self.seeded = shared.seeded;
            let seed = shared.seed;
            let mut each = [seed, seed ^ u64::MAX].into_iter();
            for (lane, counts) in self.lanes.iter_mut().zip(&mut self.counts) {
                lane.reseed(Chance::new(each.next().unwrap_or(seed)));
                counts.behind_most_ns = 0;
            }
        }
        shared.counts = self.counts;
        (shared.cpu_ns, shared.spun_ns) = (clock::thread_cpu_ns(), self.spun_ns);
    }

    fn wait(&mut self) -> io::Result<()> {
        let next = self.lanes.iter().filter_map(Lane::due_ns).min();
        let now_ns = clock::now_ns();
        let left_ns = next.map_or(IDLE_NS, |due_ns| due_ns.saturating_sub(now_ns));
        let dense = || self.lanes.iter().any(|lane| lane.is_dense(CROWD, CROWD_NS));
        let sleeps = self.urgent.is_none() || dense();
        if left_ns > NEAR_NS || sleeps {
            let near_ns = if sleeps || next.is_none() { 0 } else { NEAR_NS };
            return self.sleep((left_ns - near_ns.min(left_ns)).min(IDLE_NS));
        }
        // What comes meanwhile is taken in after this moment, with its own stamp.
        let mut at_ns = now_ns;
        while next.is_some_and(|due_ns| at_ns < due_ns) {
            std::hint::spin_loop();
            at_ns = clock::now_ns();
        }
        self.spun_ns += at_ns - now_ns;
        Ok(())
    }

    /// Until a frame comes, at most so long.
    fn sleep(&self, ns: u64) -> io::Result<()> {
        let time = Timespec {
            tv_sec: i64::try_from(ns / 1_000_000_000).unwrap_or(i64::MAX),
            tv_nsec: i64::try_from(ns % 1_000_000_000).unwrap_or(0),
        };
        let mut polled = [0, 1]
            .map(|at: usize| PollFd::from_borrowed_fd(self.ports[at].socket(), PollFlags::IN));
        match rustix::event::poll(&mut polled, Some(&time)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(e) => Err(e.into()),
        }
    }

    /// Takes what has come by a port, one call.
    fn take_in(&mut self, at: usize) -> io::Result<()> {
        if self.ports[at].receive()? == 0 {
            return Ok(());
        }
        // The kernel stamps by a clock that may be set; the two are compared anew each time.
        let (real_ns, now_ns) = (clock::real_ns(), clock::now_ns());
        let (counts, lane) = (&mut self.counts[at], &mut self.lanes[at]);
        for came in self.ports[at].frames() {
            counts.received += 1;
            if came.is_cut {
                counts.long += 1;
                continue;
            }
            let age_ns = came.real_ns.map_or(0, |stamp_ns| real_ns.saturating_sub(stamp_ns));
            let came_ns = now_ns.saturating_sub(age_ns.min(CREDIBLE_NS));
            let mut frame = self.spare.pop().unwrap_or_default();
            frame.clear();
            frame.extend_from_slice(came.bytes);
            let bytes = u64::try_from(frame.len()).unwrap_or(0);
            let refused = match lane.put(&self.distance, (came_ns, bytes), frame) {
                Ok(Kept::InOrder) => continue,
                Ok(Kept::Overtakes) => {
                    counts.reordered += 1;
                    continue;
                }
                Err(refused) => refused,
            };
            match refused.0 {
                Refused::Lost => counts.lost += 1,
                Refused::Full => counts.full += 1,
                Refused::Crowded => counts.crowded += 1,
            }
            self.spare.push(refused.1);
        }
        Ok(())
    }

    /// Sends what is due of the frames that came by a port.
    fn send_on(&mut self, at: usize) -> io::Result<()> {
        loop {
            let now_ns = clock::now_ns();
            let mut frames: Vec<Vec<u8>> = Vec::with_capacity(BATCH);
            let counts = &mut self.counts[at];
            while frames.len() < BATCH
                && let Some((due_ns, frame)) = self.lanes[at].take(now_ns)
            {
                let behind_ns = now_ns.saturating_sub(due_ns);
                counts.behind_ns += behind_ns;
                counts.behind_most_ns = counts.behind_most_ns.max(behind_ns);
                counts.late += u64::from(behind_ns > LATE_NS);
                frames.push(frame);
            }
            if frames.is_empty() {
                return Ok(());
            }
            let whole = frames.len() == BATCH;
            self.hand_over(at, &frames)?;
            frames.truncate(SPARE.saturating_sub(self.spare.len()));
            self.spare.append(&mut frames);
            if !whole {
                return Ok(());
            }
        }
    }

    /// Gives frames to the kernel, by the other port; one that it refuses is counted and dropped.
    fn hand_over(&mut self, at: usize, frames: &[Vec<u8>]) -> io::Result<()> {
        let mut rest = frames;
        while !rest.is_empty() {
            let (sent, refused) = self.ports[1 - at].send(rest)?;
            let counts = &mut self.counts[at];
            counts.forwarded += u64::try_from(sent).unwrap_or(0);
            let bytes: usize = rest[..sent].iter().map(Vec::len).sum();
            counts.bytes += u64::try_from(bytes).unwrap_or(0);
            rest = &rest[sent..];
            if refused && !rest.is_empty() {
                counts.refused += 1;
                rest = &rest[1..];
            }
        }
        Ok(())
    }
}

/// A stamp that is older than this is of a clock that was set meanwhile, nanoseconds.
const CREDIBLE_NS: u64 = 1_000_000_000;
