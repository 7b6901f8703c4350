//! Knows how much application work a load displaces: what a soaker gets done beside it.
//!
//! One thread a CPU, of the scheduler's idle class, repeats a piece of work that stays in registers
//! and waits for nothing but itself. Just before the load begins its rate is calibrated; what it
//! lacks of that rate in the window was displaced, whoever took it: threads, interrupts that no
//! clock of a process shows, a neighbour of the machine that came with the load. Both are rates
//! over the wall clock: no accounting of the kernel enters, and speed that drifts slowly cancels.
//!
//! From the calibration to the close of the window the threads run, so that the load settles beside
//! them; else they sleep. The idle class yields to everything in its own group of the scheduler; to
//! a thread of another group (with autogroup: of another session, or of the kernel) it gives half.
//! On a CPU whose sibling thread is loaded, only what slows a chain of dependent additions and
//! shifts is displaced.
//!
//! Must not know what the load is.

use super::{per_wall, reading};
use crate::lab::{clock, cpus};
use desk::record::Reading;
use desk::unit::Unit;
use std::hint::black_box;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, Thread};
use std::time::Duration;

/// Rounds of one unit of work: about 2 us, so that nothing is lost to counting.
const ROUNDS: u32 = 1000;
/// A thread that has not begun after this never gets its CPU.
const BEGIN: Duration = Duration::from_secs(1);
/// The threads sleep.
const REST: u32 = 0;
/// The threads work.
const WORK: u32 = 1;
/// The threads end.
const END: u32 = 2;

/// What the thread of one CPU was at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// The CPU.
    pub cpu: u32,
    /// When, nanoseconds of the monotonic clock.
    pub at_ns: u64,
    /// Units of work done since the beginning.
    pub units: u64,
    /// CPU time of the thread, nanoseconds; exact even while it runs.
    pub cpu_ns: u64,
}

/// The work of one CPU's thread; alone on its cache lines, that no other CPU's counting slows it.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Lane {
    units: AtomicU64,
}

#[derive(Debug)]
struct Shared {
    state: AtomicU32,
    lanes: Vec<Lane>,
}

#[derive(Debug)]
struct Worker {
    cpu: u32,
    /// Number of the thread in the kernel.
    number: u32,
    thread: Thread,
}

/// A thread on every CPU that this process may use.
#[derive(Debug)]
pub struct Soaker {
    shared: Arc<Shared>,
    workers: Vec<Worker>,
}

/// What the soaker did between two looks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stretch {
    /// CPU, units a second of wall clock.
    pub rates: Vec<(u32, f64)>,
    /// Its own CPU time: CPUs kept busy.
    pub cpu: f64,
}

impl Soaker {
    /// Starts the threads; they sleep until [`Self::work`].
    ///
    /// # Errors
    /// When a thread cannot be started, pinned or put into the idle class: in any other class it
    /// would take from the load.
    pub fn start() -> io::Result<Self> {
        let cpus = cpus::mine()?;
        let lanes = cpus.iter().map(|_| Lane::default()).collect();
        let shared = Arc::new(Shared { state: AtomicU32::new(REST), lanes });
        // Born before the first thread: whatever fails, those that have begun are told to end.
        let mut soaker = Self { shared: Arc::clone(&shared), workers: Vec::new() };
        for (lane, cpu) in cpus.into_iter().enumerate() {
            let (tell, told) = channel();
            let theirs = Arc::clone(&shared);
            let handle = thread::Builder::new()
                .name(format!("soaker {cpu}"))
                .stack_size(64 << 10)
                .spawn(move || serve(&theirs, lane, cpu, &tell))?;
            let begun = told.recv_timeout(BEGIN).map_err(io::Error::other)?;
            let number = begun?;
            soaker.workers.push(Worker { cpu, number, thread: handle.thread().clone() });
        }
        Ok(soaker)
    }

    /// The threads begin to work.
    pub fn work(&self) {
        self.tell(WORK);
    }

    /// The threads go to sleep after the unit at hand.
    pub fn rest(&self) {
        self.tell(REST);
    }

    fn tell(&self, state: u32) {
        self.shared.state.store(state, Ordering::Release);
        for worker in &self.workers {
            worker.thread.unpark();
        }
    }

    /// What every thread is at now.
    #[must_use]
    pub fn look(&self) -> Vec<Look> {
        let lanes = self.workers.iter().zip(&self.shared.lanes);
        lanes
            .map(|(worker, lane)| Look {
                cpu: worker.cpu,
                at_ns: clock::now_ns(),
                units: lane.units.load(Ordering::Relaxed),
                cpu_ns: clock::cpu_ns_of_thread(worker.number).unwrap_or(0),
            })
            .collect()
    }
}

impl Drop for Soaker {
    fn drop(&mut self) {
        // Not waited for: on a CPU that is still loaded an idle thread may be long in ending.
        self.tell(END);
    }
}

impl Stretch {
    /// What happened between two looks at the same soaker.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "units of a window are far below 2^53")]
    pub fn between(opened: &[Look], closed: &[Look]) -> Self {
        let mut stretch = Self::default();
        for (then, now) in opened.iter().zip(closed).filter(|(then, now)| then.cpu == now.cpu) {
            let wall_ns = now.at_ns.saturating_sub(then.at_ns);
            let units = now.units.saturating_sub(then.units);
            stretch.rates.push((now.cpu, units as f64 / (wall_ns.max(1) as f64 / 1e9)));
            stretch.cpu += per_wall(now.cpu_ns.saturating_sub(then.cpu_ns), wall_ns);
        }
        stretch
    }

    /// The readings of a window: what it lacks of the calibrated rates, and the soaker's own time
    /// there and in the calibration (all CPUs, unless others were busy then).
    ///
    /// The sum is made of the differences as they are, so that noise cancels in it; a single CPU's
    /// share is cut to 0-1, and the sum at 0. Nothing is said to be displaced where a CPU's
    /// calibration is missing or 0: the sum would be wrong.
    #[must_use]
    pub fn readings(&self, calibrated: &Self) -> Vec<Reading> {
        let row = |key: &str, value, unit| reading("soaker", "machine", key, value, unit);
        let mut rows =
            vec![row("cpu", self.cpu, Unit::Cpu), row("calibrated", calibrated.cpu, Unit::Cpu)];
        let lacks = |(cpu, rate): &(u32, f64)| {
            let (_, whole) = calibrated.rates.iter().find(|(c, r)| c == cpu && *r > 0.0)?;
            Some((*cpu, 1.0 - rate / whole))
        };
        let all: Option<Vec<(u32, f64)>> = self.rates.iter().map(lacks).collect();
        let Some(all) = all.filter(|all| !all.is_empty()) else { return rows };
        let sum: f64 = all.iter().map(|(_, lack)| lack).sum();
        rows.push(row("displaced", sum.max(0.0), Unit::Cpu));
        for (cpu, lack) in all {
            rows.push(row(&format!("displaced.cpu{cpu}"), lack.clamp(0.0, 1.0), Unit::Share));
        }
        rows
    }
}

/// The life of a thread: takes its place, says so, then works whenever it is told to.
fn serve(shared: &Shared, lane: usize, cpu: u32, tell: &Sender<io::Result<u32>>) {
    let placed = take_place(cpu);
    let failed = placed.is_err();
    if tell.send(placed).is_err() || failed {
        return;
    }
    let units = &shared.lanes[lane].units;
    let mut chain = u64::from(cpu) + 1;
    let mut done = 0;
    loop {
        match shared.state.load(Ordering::Acquire) {
            END => return,
            // Parking holds no lock: one that a sleeper of the idle class held could stop us all.
            REST => thread::park(),
            _ => {
                chain = unit_of_work(chain);
                done += 1;
                units.store(done, Ordering::Relaxed);
            }
        }
    }
}

/// Pins the calling thread, puts it into the idle class and gives its number.
fn take_place(cpu: u32) -> io::Result<u32> {
    cpus::pin(cpu)?;
    let priority: libc::c_int = 0;
    // SAFETY: the kernel reads one int, the only field of its `sched_param`; 0 is this thread.
    let refused = unsafe {
        libc::syscall(libc::SYS_sched_setscheduler, 0, libc::SCHED_IDLE, &raw const priority)
    } != 0;
    if refused {
        return Err(io::Error::last_os_error());
    }
    u32::try_from(rustix::thread::gettid().as_raw_nonzero().get()).map_err(io::Error::other)
}

/// A chain of additions, shifts and exclusive ors (xorshift64, Marsaglia 2003, with a Weyl step):
/// each needs the one before, so that its speed is that of the clock and hardly of the sibling's.
fn unit_of_work(mut chain: u64) -> u64 {
    for _ in 0..ROUNDS {
        chain ^= chain << 13;
        chain ^= chain >> 7;
        chain ^= chain << 17;
        chain = chain.wrapping_add(0x9e37_79b9_7f4a_7c15);
    }
    black_box(chain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_is_of_rates_over_the_wall_clock() {
        let look = |cpu, at_ns, units, cpu_ns| Look { cpu, at_ns, units, cpu_ns };
        let opened = [look(0, 1_000_000_000, 10, 5), look(3, 1_000_000_100, 50, 6)];
        let closed =
            [look(0, 1_500_000_000, 60, 400_000_005), look(3, 1_500_000_100, 50, 100_000_006)];
        let stretch = Stretch::between(&opened, &closed);
        assert_eq!(stretch.rates, [(0, 100.0), (3, 0.0)]);
        assert!((stretch.cpu - 1.0).abs() < 1e-9, "0.4 s and 0.1 s of 0.5 s: {}", stretch.cpu);
    }

    #[test]
    fn its_threads_are_of_the_idle_class_each_on_a_cpu_of_its_own() {
        let soaker = Soaker::start().unwrap();
        for worker in &soaker.workers {
            let path = format!("/proc/self/task/{}/stat", worker.number);
            let stat = std::fs::read_to_string(path).unwrap();
            let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split(' ').collect();
            // proc(5): field 39 is the CPU, field 41 the policy; SCHED_IDLE is 5.
            assert_eq!(fields[39], "5", "{stat}");
            let status = format!("/proc/self/task/{}/status", worker.number);
            let status = std::fs::read_to_string(status).unwrap();
            let allowed = status.lines().find(|l| l.starts_with("Cpus_allowed_list")).unwrap();
            assert!(allowed.ends_with(&format!("\t{}", worker.cpu)), "{allowed}");
        }
    }

    #[test]
    fn its_threads_end_with_it() {
        let soaker = Soaker::start().unwrap();
        let shared = Arc::downgrade(&soaker.shared);
        drop(soaker);
        while shared.strong_count() > 0 {
            thread::yield_now();
        }
    }

    #[test]
    fn the_sum_of_the_displaced_is_not_cut_where_a_cpu_is() {
        let calibrated = Stretch { rates: vec![(0, 100.0), (1, 100.0)], cpu: 2.0 };
        let window = Stretch { rates: vec![(0, 102.0), (1, 60.0)], cpu: 1.5 };
        let rows = window.readings(&calibrated);
        let value = |key: &str| rows.iter().find(|r| r.key == key).map(|r| r.quantity.value);
        assert!((value("displaced").unwrap() - 0.38).abs() < 1e-9);
        assert_eq!((value("displaced.cpu0"), value("displaced.cpu1")), (Some(0.0), Some(0.4)));
        assert_eq!(value("cpu"), Some(1.5));
    }

    #[test]
    fn without_a_calibration_nothing_is_said_to_be_displaced() {
        let window = Stretch { rates: vec![(0, 102.0), (1, 60.0)], cpu: 1.5 };
        let half = Stretch { rates: vec![(0, 100.0)], cpu: 1.0 };
        for calibrated in [Stretch::default(), half] {
            let rows = window.readings(&calibrated);
            assert!(rows.iter().all(|r| !r.key.starts_with("displaced")), "{rows:?}");
        }
    }
}
