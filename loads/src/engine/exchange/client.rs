//! Knows the hot loops of a thread of clients: operations on slots, one after the other or many at
//! once, as fast as they go or each when it is due.
//!
//! Must not know what an operation is.

use super::gather::Gather;
use super::take::Take;
use crate::engine::net::{Gate, arrival};
use crate::engine::pace::Pacer;
use crate::engine::times::Moments;
use desk::record::Settings;
use rig::lab::clock;
use rig::metal::{Span, Unready};
use rustix::event::{EventfdFlags, epoll, eventfd};
use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::io;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// What the timer and the wake-up are called among the slots.
const NO_SLOT: u64 = u64::MAX;
/// Events of one call.
pub const EVENTS: usize = 64;
/// After an operation that could not begin the next is tried so much later, nanoseconds.
const AGAIN_NS: u64 = 1_000_000;

/// Where operations are long, a thread sleeps for this part of the shortest so far before it looks
/// for what is ready: a response time is off by less than 2 %.
const NAP_PART: u64 = 64;
/// Naps are no longer than this, and shorter ones than this are not worth a timer, nanoseconds.
const LONGEST_NAP_NS: u64 = 200_000;
const SHORTEST_NAP_NS: u64 = 20_000;

/// What a thread of clients does on its slots. Each slot has at most one operation at a time.
pub trait Operations {
    /// How many slots.
    fn slots(&self) -> usize;
    /// Why it cannot begin, of what was prepared while it was made.
    fn lacks(&self) -> Option<Unready> {
        None
    }
    /// What was found while it was made.
    fn found(&self) -> Settings {
        Settings::new()
    }
    /// Takes the counts that others read while it runs, before go.
    fn count_in(&mut self, _: &Arc<Counters>) {}
    /// Looks at what was done, after the stop.
    ///
    /// # Errors
    /// What is not as it has to be.
    fn review(&mut self) -> io::Result<()> {
        Ok(())
    }
    /// Says that slots must not block, and where they tell when they are ready: their number is
    /// the data of the event.
    ///
    /// # Errors
    /// What the kernel says.
    fn watch(&mut self, ready: &OwnedFd) -> io::Result<()>;
    /// Begins an operation.
    ///
    /// # Errors
    /// What the socket says.
    fn begin(&mut self, slot: usize) -> io::Result<()>;
    /// Goes on with it; whether it is complete. A slot that is not watched blocks until then.
    ///
    /// # Errors
    /// What the socket says; an answer that is not what it has to be.
    fn go_on(&mut self, slot: usize) -> io::Result<bool>;
    /// Whether operations are long, so that the thread may leave what is ready for a moment: more
    /// of it is then ready at once, and the other end has nobody to wake.
    fn are_long(&self) -> bool {
        false
    }
    /// Bytes of the responses of all complete operations; 0 where they are not counted, because all
    /// have the size that was asked for.
    fn received(&self) -> u64 {
        0
    }
    /// When the last bytes of an operation came to this machine, nanoseconds on `CLOCK_REALTIME`;
    /// none where the kernel did not stamp them.
    fn came_ns(&self, _slot: usize) -> Option<u64> {
        None
    }
    /// Where the answer to an operation comes; none where that is unknown.
    fn socket(&self, _slot: usize) -> Option<BorrowedFd<'_>> {
        None
    }
    /// The class of an error after which the slot can be used again; none where it cannot.
    fn survived(&mut self, slot: usize, error: &io::Error) -> Option<&'static str>;
}

/// What threads share: who waits for go, when the window opens and closes, how they are woken.
#[derive(Debug)]
pub struct Shared {
    /// Go and stop.
    pub gate: Gate,
    opens_ns: AtomicU64,
    closes_ns: AtomicU64,
    woken: OwnedFd,
}

impl Shared {
    /// For the threads of one trial.
    ///
    /// # Errors
    /// What the kernel says where there is no descriptor left.
    pub fn new() -> io::Result<Self> {
        let [opens_ns, closes_ns] = [AtomicU64::new(u64::MAX), AtomicU64::new(u64::MAX)];
        let woken = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { gate: Gate::default(), opens_ns, closes_ns, woken })
    }

    /// Wakes whoever waits for events.
    pub fn wake(&self) {
        // A counter that is full wakes as well.
        let _ = rustix::io::write(&self.woken, &1_u64.to_ne_bytes());
    }

    /// Where a wake-up is told.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn watch(&self, ready: &OwnedFd) -> io::Result<()> {
        let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
        Ok(epoll::add(ready, &self.woken, epoll::EventData::new_u64(NO_SLOT), flags)?)
    }

    /// Tells the threads the window, before it opens.
    pub fn announce(&self, window: Span) {
        self.closes_ns.store(window.closes_ns, Relaxed);
        self.opens_ns.store(window.opens_ns, Relaxed);
    }

    /// The window; both edges [`u64::MAX`] before it is announced.
    #[must_use]
    #[inline]
    pub fn window(&self) -> Span {
        let (opens_ns, closes_ns) = (self.opens_ns.load(Relaxed), self.closes_ns.load(Relaxed));
        Span { opens_ns, closes_ns }
    }
}

/// Counts of one thread: one writer, and no other counts on its cache line.
#[repr(align(128))]
#[derive(Debug, Default)]
pub struct Counters {
    /// Operations that were complete, or answered.
    pub done: AtomicU64,
    /// Operations that were due and begun, in an open loop.
    pub due: AtomicU64,
    /// Bytes of responses, where they are counted; of bulk operations all that arrived here.
    pub received: AtomicU64,
    /// Of bulk operations, bytes that were sent from here.
    pub sent: AtomicU64,
    /// Time in calls on files, nanoseconds.
    pub filed_ns: AtomicU64,
    /// Datagrams that came and were no message that was waited for.
    pub strays: Strays<AtomicU64>,
}

/// Datagrams that came and were no message that was waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Strays<N = u64> {
    /// Those that came after their operation was given up.
    pub late: N,
    /// Those that came before already.
    pub doubled: N,
    /// Those that are not of the trial.
    pub foreign: N,
}

impl Strays<AtomicU64> {
    /// As they stand now.
    pub fn now(&self) -> Strays {
        let [late, doubled, foreign] =
            [&self.late, &self.doubled, &self.foreign].map(|count| count.load(Relaxed));
        Strays { late, doubled, foreign }
    }
}

/// A thread of clients at work.
pub struct Client<'c, O> {
    /// What it does.
    pub operations: O,
    /// What it shares.
    pub shared: &'c Shared,
    /// What others read of it while it runs.
    pub counters: &'c Counters,
    /// What it counts for itself.
    pub take: Take,
    /// Operations that were complete.
    pub done: u64,
    /// The shortest of them, nanoseconds.
    pub shortest_ns: u64,
}

impl<'c, O: Operations> Client<'c, O> {
    /// One that has done nothing.
    pub const fn new(
        operations: O,
        (shared, counters): (&'c Shared, &'c Counters),
        take: Take,
    ) -> Self {
        Self { operations, shared, counters, take, done: 0, shortest_ns: u64::MAX }
    }

    /// Runs until the stop, in a closed loop or, with moments, in an open one; gives the operations
    /// that were due in the window and were never begun.
    ///
    /// # Errors
    /// What ended the thread.
    pub fn run(&mut self, pacer: Option<Pacer>) -> io::Result<u64> {
        // Sleeps until the moment itself, not up to 50 us beyond it.
        rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?;
        match (pacer, self.operations.slots()) {
            (None, 1) => self.closed_one().map(|()| 0),
            (Some(pacer), 1) => self.open_one(pacer),
            (pacer, _) => self.many(pacer),
        }
    }

    /// One operation that begins now, to its end; gives when it was complete, none where it failed.
    fn one(&mut self, begun: u64) -> io::Result<Option<u64>> {
        let done = self.operations.begin(0).and_then(|()| {
            while !self.operations.go_on(0)? {}
            Ok(self.came_ns(0, clock::now_ns()).max(begun))
        });
        match done {
            Ok(done) => Ok(Some(done)),
            Err(e) => self.failed(0, e).map(|()| None),
        }
    }

    fn closed_one(&mut self) -> io::Result<()> {
        let mut begun = clock::now_ns();
        while !self.shared.gate.stopped() {
            begun = match self.one(begun)? {
                Some(done) => {
                    self.finished(0, Moments { intended: begun, begun, free: begun, done });
                    done
                }
                None => self.shared.gate.wait_until(clock::now_ns() + AGAIN_NS),
            };
        }
        Ok(())
    }

    fn open_one(&mut self, mut pacer: Pacer) -> io::Result<u64> {
        let mut free = clock::now_ns();
        loop {
            let intended = pacer.due_ns();
            self.shared.gate.wait_until(pacer.wake_ns());
            if self.shared.gate.stopped() {
                return Ok(pacer.left(self.shared.window()));
            }
            let begun = pacer.spin();
            self.due(&mut pacer);
            if let Some(done) = self.one(begun)? {
                self.finished(0, Moments { intended, begun, free, done });
            }
            free = clock::now_ns();
        }
    }

    fn many(&mut self, mut pacer: Option<Pacer>) -> io::Result<u64> {
        let ready = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        self.operations.watch(&ready)?;
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK)?;
        let data = epoll::EventData::new_u64(NO_SLOT);
        epoll::add(&ready, &timer, data, epoll::EventFlags::IN | epoll::EventFlags::ET)?;
        self.shared.watch(&ready)?;
        let now = clock::now_ns();
        let slots = self.operations.slots();
        let mut running = vec![Moments { intended: now, begun: now, free: now, done: now }; slots];
        let mut idle: VecDeque<usize> = (0..slots).collect();
        let mut events = Vec::with_capacity(EVENTS);
        let mut gather = if pacer.is_none() { Gather::of(slots)? } else { None };
        loop {
            if !self.shared.gate.stopped() {
                self.begin_all(&mut idle, &mut running, pacer.as_mut())?;
            } else if idle.len() == slots || self.shared.gate.drained() {
                break;
            }
            if !idle.is_empty() && !self.shared.gate.stopped() {
                let again = clock::now_ns() + AGAIN_NS;
                set(&timer, pacer.as_ref().map_or(again, Pacer::wake_ns), 0)?;
            }
            if pacer.is_none() && self.operations.are_long() {
                self.nap();
            } else if let (Some(gather), true) = (&mut gather, idle.is_empty()) {
                self.gather(gather, &running)?;
            }
            for slot in wait(&ready, &mut events)? {
                self.proceed(slot, &mut running, &mut idle, pacer.is_some())?;
                if let Some(gather) = &mut gather {
                    gather.began(slot, &running[slot]);
                }
            }
        }
        self.fail_unanswered(&idle, &running);
        Ok(pacer.map_or(0, |mut pacer| pacer.left(self.shared.window())))
    }

    /// Sleeps until several operations have an answer, where that costs none of them.
    fn gather(&self, gather: &mut Gather, running: &[Moments]) -> io::Result<()> {
        if gather.gathers(clock::now_ns(), self.done, self.shared.window()) {
            gather.sleep(&self.operations, running)?;
        }
        Ok(())
    }

    /// Sleeps for a small part of an operation.
    fn nap(&self) {
        let nap = (self.shortest_ns / NAP_PART).min(LONGEST_NAP_NS);
        if self.done > 0 && nap >= SHORTEST_NAP_NS {
            std::thread::sleep(Duration::from_nanos(nap));
        }
    }

    /// Counts operations that were under way for the whole window and never ended.
    fn fail_unanswered(&mut self, idle: &VecDeque<usize>, running: &[Moments]) {
        let window = self.shared.window();
        let hangs = |(slot, at): &(usize, &Moments)| {
            !idle.contains(slot) && window.opens_ns != u64::MAX && at.begun < window.opens_ns
        };
        for _ in running.iter().enumerate().filter(hangs) {
            self.take.fail("unanswered");
        }
    }

    /// Begins on idle slots what is due; without moments all of them.
    fn begin_all(
        &mut self,
        idle: &mut VecDeque<usize>,
        running: &mut [Moments],
        mut pacer: Option<&mut Pacer>,
    ) -> io::Result<()> {
        let mut now = clock::now_ns();
        while let Some(slot) = idle.front().copied() {
            let mut intended = now;
            if let Some(pacer) = pacer.as_deref_mut() {
                intended = pacer.due_ns();
                // What was begun took time.
                now = pacer.spin();
                if intended > now {
                    break;
                }
                self.due(pacer);
            }
            idle.pop_front();
            let free = running[slot].done;
            running[slot] = Moments { intended, begun: now, free, done: now };
            if let Err(e) = self.operations.begin(slot) {
                self.failed(slot, e)?;
                idle.push_back(slot);
                if pacer.is_none() {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Goes on with a slot that is ready. In a closed loop its next operation begins at once.
    fn proceed(
        &mut self,
        slot: usize,
        running: &mut [Moments],
        idle: &mut VecDeque<usize>,
        paced: bool,
    ) -> io::Result<()> {
        let went = self.operations.go_on(slot);
        if matches!(went, Ok(false)) {
            return Ok(());
        }
        let now = clock::now_ns();
        running[slot].done = now;
        match went {
            Ok(_) => {
                let done = self.came_ns(slot, now).max(running[slot].begun);
                self.finished(slot, Moments { done, ..running[slot] });
            }
            Err(e) => self.failed(slot, e)?,
        }
        if paced || self.shared.gate.stopped() {
            idle.push_back(slot);
            return Ok(());
        }
        running[slot] = Moments { intended: now, begun: now, free: now, done: now };
        if let Err(e) = self.operations.begin(slot) {
            self.failed(slot, e)?;
            idle.push_back(slot);
        }
        Ok(())
    }

    /// When what has been read by now had come, where that is known.
    fn came_ns(&self, slot: usize, now_ns: u64) -> u64 {
        let came = self.operations.came_ns(slot);
        came.map_or(now_ns, |came| arrival::on_monotonic(came).min(now_ns))
    }

    fn finished(&mut self, slot: usize, at: Moments) {
        self.done += 1;
        self.shortest_ns = self.shortest_ns.min(at.done - at.begun);
        self.counters.done.store(self.done, Relaxed);
        self.counters.received.store(self.operations.received(), Relaxed);
        self.take.add(slot, at, self.shared.window());
    }

    fn due(&self, pacer: &mut Pacer) {
        pacer.advance(self.shared.window());
        self.counters.due.store(self.counters.due.load(Relaxed) + 1, Relaxed);
    }

    fn failed(&mut self, slot: usize, error: io::Error) -> io::Result<()> {
        // After the stop the other end may be gone.
        if self.shared.gate.stopped() && error.kind() != io::ErrorKind::InvalidData {
            return Ok(());
        }
        let class = self.operations.survived(slot, &error).ok_or(error)?;
        self.take.fail(class);
        Ok(())
    }
}

/// Sleeps until slots are ready, the timer ends or somebody wakes; gives the slots. One whose other
/// end has hung up comes twice, where that is watched: after what it had sent, its end is left to
/// be read.
///
/// # Errors
/// What the kernel says.
pub fn wait<'e>(
    ready: &OwnedFd,
    events: &'e mut Vec<epoll::Event>,
) -> io::Result<impl Iterator<Item = usize> + use<'e>> {
    events.clear();
    match epoll::wait(ready, rustix::buffer::spare_capacity(events), None) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(e) => return Err(e.into()),
    }
    let slots = events.iter().filter(|event| event.data.u64() != NO_SLOT).flat_map(|event| {
        let flags = event.flags;
        let times = 1 + usize::from(flags.contains(epoll::EventFlags::RDHUP));
        std::iter::repeat_n(usize::try_from(event.data.u64()).ok(), times)
    });
    Ok(slots.flatten())
}

/// The timer ends at this moment of the monotonic clock, or at once where it is past, and again
/// after each interval that is not 0.
///
/// # Errors
/// What the kernel says.
pub fn set(timer: &OwnedFd, at_ns: u64, interval_ns: u64) -> io::Result<()> {
    let time = |ns: u64| Timespec {
        tv_sec: i64::try_from(ns / 1_000_000_000).unwrap_or(i64::MAX),
        tv_nsec: i64::try_from(ns % 1_000_000_000).unwrap_or(0),
    };
    let end = Itimerspec { it_interval: time(interval_ns), it_value: time(at_ns) };
    timerfd_settime(timer, TimerfdTimerFlags::ABSTIME, &end)?;
    Ok(())
}
