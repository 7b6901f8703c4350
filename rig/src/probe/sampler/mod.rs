//! Knows how light sources are sampled while the window is open, for the shape of its course.
//!
//! One thread of ordinary scheduling, with its files open and its memory taken before the load
//! goes; under a full load it samples late, and the moment of each sample counts. It is no part of
//! any figure: those are read at the edges. What it took of a CPU is in the cost of the probes.
//!
//! Start reading at [`Sampler`]. Must not know what a course means.

mod course;
mod feed;
#[cfg(test)]
mod tests;

use super::reading;
use crate::lab::{Ours, clock};
use course::quantity;
use desk::record::{Reading, Track};
use desk::unit::Unit;
use feed::Feed;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Time between two samples of a light source, nanoseconds.
const TICK_NS: u64 = 100_000_000;
/// Bytes of the buffer that files are read into: `/proc/stat` of 512 CPUs and some more.
const BUFFER: usize = 128 << 10;
/// What the thread is told instead of a moment, when there will be no window.
const NEVER: u64 = u64::MAX;

/// Samples in one window after the other.
#[derive(Debug)]
pub struct Sampler {
    root: PathBuf,
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    told: Arc<Told>,
    thread: JoinHandle<Vec<Feed>>,
}

/// What the thread is told: when the window opened and closed, nanoseconds; 0 is not yet. And its
/// number, 0 until it runs.
#[derive(Debug, Default)]
struct Told {
    opened_ns: AtomicU64,
    closed_ns: AtomicU64,
    number: AtomicU32,
}

/// What came out of a window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sampled {
    /// Means over steps.
    pub tracks: Vec<Track>,
    /// What no counter tells: energy by the management controller.
    pub readings: Vec<Reading>,
}

impl Sampler {
    /// One that reads below `root`.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), running: None }
    }

    /// Makes ready for a window: finds and opens the files, and has a thread wait for the opening.
    /// Beside a soaker nothing is sampled that it would falsify.
    ///
    /// # Errors
    /// When there is no thread to be had.
    pub fn prepare(&mut self, soaked: bool, ours: &Ours) -> io::Result<()> {
        self.start(feed::all(&self.root, soaked, ours))
    }

    fn start(&mut self, mut feeds: Vec<Feed>) -> io::Result<()> {
        // That of a load which failed.
        self.take();
        feeds.iter_mut().for_each(Feed::open);
        let told = Arc::new(Told::default());
        let theirs = Arc::clone(&told);
        let buffer = vec![0; BUFFER];
        let thread = thread::Builder::new()
            .name("sampler".into())
            .stack_size(128 << 10)
            .spawn(move || sample(&theirs, feeds, buffer))?;
        self.running = Some(Running { told, thread });
        Ok(())
    }

    /// The window opened at this moment.
    pub fn open(&self, at_ns: u64) {
        self.tell(|told| &told.opened_ns, at_ns);
    }

    /// The window closed at this moment; the thread takes a last sample and ends.
    pub fn close(&self, at_ns: u64) {
        self.tell(|told| &told.closed_ns, at_ns);
    }

    fn tell(&self, which: fn(&Told) -> &AtomicU64, at_ns: u64) {
        if let Some(Running { told, thread }) = &self.running {
            which(told).store(at_ns, Ordering::Release);
            thread.thread().unpark();
        }
    }

    /// CPU time that the thread has taken, nanoseconds; 0 before it runs and after it ended.
    #[must_use]
    pub fn cpu_ns(&self) -> u64 {
        let number = self.running.as_ref().map(|r| r.told.number.load(Ordering::Acquire));
        number.and_then(clock::cpu_ns_of_thread).unwrap_or(0)
    }

    /// Waits for the thread, and gives what it sampled; nothing of a window that never opened or
    /// closed.
    pub fn take(&mut self) -> Sampled {
        let Some(Running { told, thread }) = self.running.take() else {
            return Sampled::default();
        };
        let (opened_ns, closed_ns) =
            (told.opened_ns.load(Ordering::Acquire), told.closed_ns.load(Ordering::Acquire));
        if closed_ns == 0 {
            told.closed_ns.store(NEVER, Ordering::Release);
            thread.thread().unpark();
        }
        let feeds = thread.join().unwrap_or_default();
        let whole = opened_ns > 0 && (opened_ns + 1..NEVER).contains(&closed_ns);
        if whole { sampled(&feeds, (opened_ns, closed_ns)) } else { Sampled::default() }
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.take();
    }
}

/// Samples from the opening to the close.
fn sample(told: &Told, mut feeds: Vec<Feed>, mut buffer: Vec<u8>) -> Vec<Feed> {
    let number = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
    told.number.store(number, Ordering::Release);
    let closed = || told.closed_ns.load(Ordering::Acquire) > 0;
    while told.opened_ns.load(Ordering::Acquire) == 0 {
        if closed() {
            return feeds;
        }
        thread::park();
    }
    let opened_ns = told.opened_ns.load(Ordering::Acquire);
    let mut tick = 0;
    while !closed() {
        feeds.iter_mut().for_each(|feed| feed.sample(tick, false, &mut buffer));
        let next_ns = opened_ns + (tick + 1) * TICK_NS;
        while !closed() {
            let now_ns = clock::now_ns();
            if now_ns >= next_ns {
                break;
            }
            thread::park_timeout(Duration::from_nanos(next_ns - now_ns));
        }
        // A tick that is past is left out.
        tick = clock::now_ns().saturating_sub(opened_ns).div_euclid(TICK_NS).max(tick + 1);
    }
    feeds.iter_mut().for_each(|feed| feed.sample(tick, true, &mut buffer));
    feeds
}

fn sampled(feeds: &[Feed], window: (u64, u64)) -> Sampled {
    let mut all = Sampled::default();
    for feed in feeds.iter().filter(|feed| !feed.lost) {
        let step_ns = feed.every * TICK_NS;
        for course in &feed.courses.all {
            let values = feed.courses.steps(course, window, step_ns);
            if values.is_empty() {
                continue;
            }
            let (probe, host) = (course.probe.into(), "machine".into());
            let (key, unit, step) = (course.key.clone(), course.unit, quantity(step_ns));
            all.tracks.push(Track { probe, host, key, unit, step, values });
        }
        all.readings.extend(feed.energy(window));
    }
    all
}

impl Feed {
    /// Of the controller energy and mean power of the window, by trapezoids of its samples.
    fn energy(&self, window: (u64, u64)) -> Vec<Reading> {
        let meter = self.courses.all.first().filter(|_| self.is_meter());
        let Some(joules) = meter.and_then(|course| self.courses.over(course, window)) else {
            return Vec::new();
        };
        let watts = joules / quantity(window.1 - window.0).value;
        let row = |key, value, unit| reading("power", "machine", key, value, unit);
        vec![row("energy.board", joules, Unit::Joule), row("watts.board", watts, Unit::Watt)]
    }
}
