//! Tests of what is read beside a load, with loads whose size is known.
//!
//! The machine may be shared and other tests run at the same time: tolerances are wide, a figure
//! that a neighbour spoilt is taken again, and what is compared is time and never a duration.

use super::*;
use crate::probe::{Soaker, Stretch};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How often a figure is taken at most.
const TRIES: u32 = 3;
/// Figures of one machine at one time would be figures of each other.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

fn pause(ms: u64) {
    thread::sleep(Duration::from_millis(ms));
}

/// A thread that is busy for a share of every 10 ms on one CPU, by its own CPU clock.
struct Planted {
    stop: Arc<AtomicBool>,
    used_ns: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Planted {
    fn on(cpu: u32, share: f64) -> Self {
        let (stop, used_ns) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (theirs, count) = (Arc::clone(&stop), Arc::clone(&used_ns));
        let busy_ns = nanoseconds(share * 0.01);
        let thread = thread::spawn(move || {
            let mut set = rustix::thread::CpuSet::new();
            set.set(cpu as usize);
            rustix::thread::sched_setaffinity(None, &set).unwrap();
            let number = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
            let clock_ns = || clock::cpu_ns_of_thread(number).unwrap();
            let mut next_ns = clock::now_ns();
            while !theirs.load(Ordering::Relaxed) {
                let until_ns = clock_ns() + busy_ns;
                while clock_ns() < until_ns {}
                count.store(clock_ns(), Ordering::Relaxed);
                next_ns = (next_ns + 10_000_000).max(clock::now_ns());
                clock::sleep_until(next_ns);
            }
        });
        Self { stop, used_ns, thread: Some(thread) }
    }

    fn used_ns(&self) -> u64 {
        self.used_ns.load(Ordering::Relaxed)
    }
}

impl Drop for Planted {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Share of the CPU that was planted, and that the soaker says was displaced there.
fn planted_and_displaced(share: f64) -> (f64, f64) {
    let soaker = Soaker::start().unwrap();
    soaker.work();
    pause(20);
    let idle = soaker.look();
    pause(200);
    let calibrated = Stretch::between(&idle, &soaker.look());
    let cpu = idle[0].cpu;
    let load = Planted::on(cpu, share);
    pause(50);
    let (opened, used_ns) = (soaker.look(), load.used_ns());
    pause(500);
    let (closed, gained_ns) = (soaker.look(), load.used_ns() - used_ns);
    soaker.rest();
    let rows = Stretch::between(&opened, &closed).readings(&calibrated);
    let key = format!("displaced.cpu{cpu}");
    let displaced = rows.iter().find(|r| r.key == key).unwrap().quantity.value;
    (seconds(gained_ns) / seconds(closed[0].at_ns - opened[0].at_ns), displaced)
}

#[test]
fn what_a_planted_load_takes_is_what_the_soaker_misses() {
    let _alone = alone();
    for share in [0.3, 0.7] {
        let mut seen = Vec::new();
        for _ in 0..TRIES {
            let (planted, displaced) = planted_and_displaced(share);
            seen.push((planted, displaced));
            if (planted - displaced).abs() < 0.12 {
                break;
            }
        }
        let (planted, displaced) = seen[seen.len() - 1];
        assert!((planted - displaced).abs() < 0.12, "planted, displaced: {seen:?}");
    }
}

#[test]
fn a_resting_soaker_takes_nothing_and_a_working_one_is_in_no_figure() {
    let _alone = alone();
    let soaker = Soaker::start().unwrap();
    let before = soaker.look();
    pause(100);
    let after = soaker.look();
    assert!(before.iter().zip(&after).all(|(a, b)| a.units == b.units && a.cpu_ns == b.cpu_ns));
    let mut watch = idle_watch();
    soaker.work();
    watch.soaker = Some(soaker);
    let mut seen = Vec::new();
    for _ in 0..TRIES {
        let rows = readings_over(&mut watch, 400);
        let (busy, cpus) = (value(&rows, "cpu", "busy"), value(&rows, "cpu", "cpus"));
        let (own, conductor) = (value(&rows, "soaker", "cpu"), value(&rows, "process", "cpu"));
        let foreign = value(&rows, "foreign", "cpu") + value(&rows, "kernel", "threads");
        let rest = busy * cpus - conductor - foreign;
        seen.push((busy * cpus, own, conductor, foreign));
        // Idle ticks and what ended in the window are all that may be left.
        if own > 0.05 && conductor < 0.2 && rest.abs() < 0.25 {
            return;
        }
    }
    panic!("busy CPUs, soaker, conductor, others: {seen:?}");
}

/// A host of known work: it keeps one CPU busy.
struct Busy(Child);

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn idle_watch() -> Watch {
    Watch {
        probes: probe::all(),
        soaker: None,
        calibrated: Stretch::default(),
        opened: Vec::new(),
        ours: Ours::default(),
        baseline: Quantity::new(0.0, Unit::Cpu),
    }
}

fn readings_over(watch: &mut Watch, ms: u64) -> Vec<Reading> {
    let mut readings = Vec::new();
    watch.read(Edge::Opens(0), &mut readings);
    pause(ms);
    watch.read(Edge::Closes(0), &mut readings);
    readings
}

fn value(rows: &[Reading], probe: &str, key: &str) -> f64 {
    let row = rows.iter().find(|r| r.probe == probe && r.key == key);
    row.unwrap_or_else(|| panic!("no {probe} {key}")).quantity.value
}

#[test]
fn a_busy_host_costs_the_same_by_its_clock_and_by_the_machines() {
    let _alone = alone();
    let shell = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
    let host = Busy(shell);
    let mut watch = idle_watch();
    watch.ours.hosts = vec![("sut".into(), host.0.id())];
    let mut seen = Vec::new();
    for _ in 0..TRIES {
        let (began_ns, before_ns) = (clock::now_ns(), watch.hosts_cpu_ns());
        let rows = readings_over(&mut watch, 500);
        let wall = seconds(clock::now_ns() - began_ns);
        let process = seconds(watch.hosts_cpu_ns() - before_ns) / wall;
        let left = unattributed(&rows, 0.0);
        seen.push((process, left));
        if process > 0.2 && (process - left).abs() < 0.15 {
            return;
        }
    }
    panic!("by its clock, by the machine's: {seen:?}");
}
