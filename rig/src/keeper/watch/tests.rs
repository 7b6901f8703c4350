//! Tests of what is read beside a load, with loads whose size is known.
//!
//! The machine may be shared and other tests run at the same time: tolerances are wide, a figure
//! that a neighbour spoilt is taken again, and what is compared is time and never a duration.

use super::*;
use crate::probe::{ConductorProbe, CpuProbe, Soaker, Stretch};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How often a figure is taken at most.
const TRIES: u32 = 10;
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
            crate::lab::cpus::pin(cpu).unwrap();
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

/// Share of a CPU that was planted, and that the soaker says was displaced there; none if others
/// held CPUs in the calibration, or that one in the window.
fn planted_and_displaced(share: f64) -> Option<(f64, f64)> {
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
    let wall = seconds(closed[0].at_ns - opened[0].at_ns);
    let planted = seconds(gained_ns) / wall;
    let soaked = seconds(closed[0].cpu_ns - opened[0].cpu_ns) / wall;
    if calibrated.cpu < 0.95 * f64::from(u32::try_from(idle.len()).unwrap())
        || planted + soaked < 0.95
    {
        return None;
    }
    let rows = Stretch::between(&opened, &closed).readings(&calibrated);
    let key = format!("displaced.cpu{cpu}");
    Some((planted, rows.iter().find(|r| r.key == key)?.quantity.value))
}

#[test]
fn what_a_planted_load_takes_is_what_the_soaker_misses() {
    let _alone = alone();
    for share in [0.3, 0.7] {
        let mut seen = Vec::new();
        let close = |(planted, displaced): (f64, f64)| {
            seen.push((planted, displaced));
            (planted - displaced).abs() < 0.12
        };
        let tries = (0..TRIES).filter_map(|_| planted_and_displaced(share));
        let found = tries.take(3).any(close);
        if seen.is_empty() {
            println!("skipped {share}: others held the CPUs in each of {TRIES} tries");
        } else {
            assert!(found, "planted, displaced: {seen:?}");
        }
    }
}

#[test]
fn a_soaker_rests_until_it_is_told_to_work() {
    let soaker = Soaker::start().unwrap();
    pause(50);
    assert!(soaker.look().iter().all(|look| look.units == 0));
    soaker.work();
    while soaker.look().iter().any(|look| look.units == 0) {
        pause(5);
    }
    soaker.rest();
    // On a loaded machine a thread of the idle class may be long in hearing of it.
    let mut before = soaker.look();
    loop {
        pause(50);
        let after = soaker.look();
        if after.iter().zip(&before).all(|(now, then)| now.units == then.units) {
            break;
        }
        before = after;
    }
}

/// What a probe reads over one window with the soaker taken out, and with it left in.
fn with_and_without(make: fn() -> Box<dyn Probe>) -> (Vec<Reading>, Vec<Reading>, Stretch) {
    let soaker = Soaker::start().unwrap();
    soaker.work();
    let ours = Ours::default();
    let (mut out, mut left_in) = (make(), make());
    let opened = soaker.look();
    out.begin(&Moment { ours: &ours, soaker: &opened });
    left_in.begin(&Moment { ours: &ours, soaker: &[] });
    let used_ns = |looks: &[Look]| looks.iter().map(|look| look.cpu_ns).sum::<u64>();
    for _ in 0..20 {
        pause(100);
        if used_ns(&soaker.look()) > used_ns(&opened) + 50_000_000 {
            break;
        }
    }
    let closed = soaker.look();
    let out = out.end(&Moment { ours: &ours, soaker: &closed });
    let left_in = left_in.end(&Moment { ours: &ours, soaker: &[] });
    (out, left_in, Stretch::between(&opened, &closed))
}

#[test]
fn what_the_soaker_took_is_in_neither_the_machines_nor_the_conductors_figure() {
    let _alone = alone();
    let machine = || Box::new(CpuProbe::new(Path::new("/"))) as Box<dyn Probe>;
    let conductor = || Box::new(ConductorProbe::default()) as Box<dyn Probe>;
    let mut seen = Vec::new();
    for _ in 0..TRIES {
        let (out, left_in, soaked) = with_and_without(machine);
        let busy = |rows| value(rows, "cpu", "busy") * value(rows, "cpu", "cpus");
        let machine_off = busy(&left_in) - busy(&out) - soaked.cpu;
        let (out, left_in, soaked) = with_and_without(conductor);
        let cpu = |rows| value(rows, "process", "cpu");
        let conductor_off = cpu(&left_in) - cpu(&out) - soaked.cpu;
        seen.push((machine_off, conductor_off));
        if machine_off.abs() < 0.05 && conductor_off.abs() < 0.05 {
            return;
        }
    }
    panic!("CPUs off, of the machine and of the conductor: {seen:?}");
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
        sampler: Sampler::new(Path::new("/")),
        soaker: None,
        counts: AdapterCounts::default(),
        calibrated: Stretch::default(),
        opened: Vec::new(),
        cost: Cost::default(),
        ours: Ours::default(),
        baseline: Quantity::new(0.0, Unit::Cpu),
        copied: None,
    }
}

fn readings_over(watch: &mut Watch, ms: u64) -> Vec<Reading> {
    let mut readings = Vec::new();
    watch.probes.iter_mut().for_each(|probe| probe.prepare(&Ours::default()));
    watch.read(Edge::Opens, &mut readings);
    pause(ms);
    watch.read(Edge::Closes, &mut readings);
    readings
}

fn value(rows: &[Reading], probe: &str, key: &str) -> f64 {
    let row = rows.iter().find(|r| r.probe == probe && r.key == key);
    row.unwrap_or_else(|| panic!("no {probe} {key}")).quantity.value
}

#[test]
fn reading_the_probes_costs_some_time_of_a_core_and_little() {
    let _alone = alone();
    let mut watch = idle_watch();
    let mut seen = Vec::new();
    for _ in 0..TRIES {
        let rows = readings_over(&mut watch, 1000);
        let cost = value(&rows, "probe", "cost");
        let told = rows.iter().filter(|row| row.host == "machine").count();
        assert!(cost > 0.0, "two edges are never free");
        seen.push((cost, told));
        // Of 1 s and a build that is not optimised; 0.5 % is the bound of a window of 10 s.
        if cost < 0.05 {
            println!("share of a core, readings of the machine: {seen:?}");
            return;
        }
    }
    panic!("share of a core, readings: {seen:?}");
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
        // Processes of others that ended in the window only make the machine's figure larger.
        assert!(left > process - 0.2, "by its clock, by the machine's: {seen:?}");
        if process > 0.1 && left < process + 0.15 {
            return;
        }
    }
    panic!("by its clock, by the machine's: {seen:?}");
}

#[test]
fn between_the_edges_tracks_are_sampled_and_what_that_cost_is_in_the_cost_of_the_probes() {
    let _alone = alone();
    let mut watch = idle_watch();
    watch.prepare(Ours::default(), &mut |_| Ok(())).unwrap();
    let _ = watch.at_edge((Edge::Opens, clock::now_ns())).unwrap();
    pause(350);
    let sampler_ns = watch.sampler.cpu_ns() - watch.cost.sampler_ns;
    let (before_ns, at_ns) = (clock::thread_cpu_ns(), clock::now_ns());
    let rows = watch.at_edge((Edge::Closes, at_ns)).unwrap();
    let closing_ns = clock::thread_cpu_ns() - before_ns;
    let all = value(&rows, "probe", "cost") * seconds(at_ns - watch.cost.opened_ns);
    let sampled = all - seconds(watch.cost.opening_ns + closing_ns);
    assert!(sampler_ns > 0 && sampled > 0.5 * seconds(sampler_ns), "{sampled} {sampler_ns}");
    let sampled = watch.rest();
    let busy = sampled.tracks.iter().find(|track| track.key == "busy").unwrap();
    assert!(busy.values.len() >= 4, "{busy:?}");
    assert!(busy.values.iter().all(|share| (0.0..=1.0).contains(share)), "{busy:?}");
    assert!(watch.rest().tracks.is_empty(), "each window once");
}

#[test]
fn an_edge_that_is_read_late_or_for_long_is_refused_with_the_time() {
    let ms = |ms: u64| ms * 1_000_000;
    assert_eq!(late(ms(1000), [ms(1000), ms(1003)]), None);
    assert_eq!(late(ms(1000), [ms(1250), ms(2250)]), None);
    assert_eq!(late(ms(1000), [ms(1251), ms(1252)]), Some(Duration::from_millis(252)));
    assert_eq!(late(ms(1000), [ms(1001), ms(2002)]), Some(Duration::from_millis(1002)));
    let mut watch = Watch::begin(Ours::default(), &mut |_| Ok(())).unwrap();
    let stopped = watch.at_edge((Edge::Closes, clock::now_ns() - ms(400))).unwrap_err();
    assert!(stopped >= Duration::from_millis(400), "{stopped:?}");
}
