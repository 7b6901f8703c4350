//! Plants loads of known size and prints what the soaker says was displaced by them.
//!
//! `cargo run --release -p rig --example planted -- [REPEATS] [WINDOW_S]`
//!
//! Knows: loads whose truth is an exact clock. Every repeat visits every load once, in turn, each
//! with a calibration of its own, so that what drifts does so for all. A share of a CPU is planted
//! by a thread that is busy for that part of every 10 ms by its own CPU clock. The load of packets
//! is a paced stream of datagrams over the loopback: the kernel's receiving work runs in interrupt
//! context on the sender, whose clock counts it here; its truth is told a second time by 1 - idle
//! of the machine, in a window without a soaker.

use desk::plan::CALIBRATION_S;
use desk::stats::mean_or_single;
use desk::unit::Unit;
use rig::lab::{Ours, clock};
use rig::probe::{CpuProbe, Moment, Probe as _, Soaker, Stretch};
use std::error::Error;
use std::io::Write as _;
use std::net::UdpSocket;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::Duration;

/// Period of a planted share and of a burst of datagrams.
const PERIOD_NS: u64 = 10_000_000;
const BURST_NS: u64 = 500_000;
/// A datagram's payload, and how many are sent in one burst; a receive buffer holds about 90.
const DATAGRAM: [u8; 1400] = [7; 1400];
const BURST: u32 = 60;
/// The soaker's and a load's first moments, which are not counted.
const RISE: Duration = Duration::from_millis(20);
const SETTLE: Duration = Duration::from_millis(100);

/// How often a window is tried.
const TRIES: u32 = 200;
/// Least share of the CPUs that soaker and load must have; and the pause after they had less.
const OURS_MIN: f64 = 0.97;
const PAUSE: Duration = Duration::from_millis(200);

type Outcome<T> = Result<T, Box<dyn Error>>;

/// What is planted.
#[derive(Clone, Copy)]
enum Load {
    /// A share of each of so many CPUs.
    Share(f64, usize),
    /// Datagrams; truth by the clocks of both threads.
    Packets,
    /// Datagrams; truth by 1 - idle in a window without a soaker.
    PacketsByIdle,
}

impl Load {
    fn name(self) -> String {
        match self {
            Self::Share(share, cpus) => format!("{:.0} % of {cpus} CPU", share * 100.0),
            Self::Packets => "datagrams, by thread clocks".into(),
            Self::PacketsByIdle => "datagrams, by 1 - idle".into(),
        }
    }
}

const LOADS: [Load; 9] = [
    Load::Share(0.0, 1),
    Load::Share(0.1, 1),
    Load::Share(0.3, 1),
    Load::Share(0.5, 1),
    Load::Share(0.7, 1),
    Load::Share(0.9, 1),
    Load::Share(0.5, 2),
    Load::Packets,
    Load::PacketsByIdle,
];

/// Threads of a load; they stop when it is dropped.
struct Planted {
    stop: Arc<AtomicBool>,
    threads: Vec<(u32, JoinHandle<()>)>,
}

impl Planted {
    fn begin(load: Load, cpus: &[u32]) -> Outcome<Self> {
        let mut planted = Self { stop: Arc::default(), threads: Vec::new() };
        match load {
            Load::Share(share, count) => {
                for cpu in &cpus[..count.min(cpus.len())] {
                    planted.spawn(*cpu, move |stop, number| be_busy(share, stop, number))?;
                }
            }
            Load::Packets | Load::PacketsByIdle => {
                let receiver = UdpSocket::bind("127.0.0.1:0")?;
                receiver.set_nonblocking(true)?;
                let sender = UdpSocket::bind("127.0.0.1:0")?;
                sender.connect(receiver.local_addr()?)?;
                planted.spawn(cpus[0], move |stop, _| send(&sender, stop))?;
                planted.spawn(cpus[cpus.len() - 1], move |stop, _| receive(&receiver, stop))?;
            }
        }
        std::thread::sleep(SETTLE);
        Ok(planted)
    }

    fn spawn(
        &mut self,
        cpu: u32,
        work: impl FnOnce(&AtomicBool, u32) + Send + 'static,
    ) -> Outcome<()> {
        let (stop, (tell, told)) = (Arc::clone(&self.stop), channel());
        let thread = std::thread::spawn(move || {
            let mut set = rustix::thread::CpuSet::new();
            set.set(cpu as usize);
            let number = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
            let pinned = rustix::thread::sched_setaffinity(None, &set);
            if tell.send(pinned.map(|()| number)).is_ok() && pinned.is_ok() {
                work(&stop, number);
            }
        });
        self.threads.push((told.recv()??, thread));
        Ok(())
    }

    /// CPU time of all threads, nanoseconds; exact even while they run.
    fn used_ns(&self) -> u64 {
        self.threads.iter().filter_map(|(number, _)| clock::cpu_ns_of_thread(*number)).sum()
    }
}

impl Drop for Planted {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for (_, thread) in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 10 ms")]
fn be_busy(share: f64, stop: &AtomicBool, number: u32) {
    let busy_ns = (share * PERIOD_NS as f64) as u64;
    let used_ns = || clock::cpu_ns_of_thread(number).unwrap_or(u64::MAX);
    let mut next_ns = clock::now_ns();
    while !stop.load(Ordering::Relaxed) {
        let until_ns = used_ns() + busy_ns;
        while used_ns() < until_ns {}
        next_ns = (next_ns + PERIOD_NS).max(clock::now_ns());
        clock::sleep_until(next_ns);
    }
}

fn send(socket: &UdpSocket, stop: &AtomicBool) {
    let mut next_ns = clock::now_ns();
    while !stop.load(Ordering::Relaxed) {
        for _ in 0..BURST {
            // What the receiver's buffer refuses was sent all the same.
            let _ = socket.send(&DATAGRAM);
        }
        next_ns = (next_ns + BURST_NS).max(clock::now_ns());
        clock::sleep_until(next_ns);
    }
}

/// Empties the buffer once a burst, at its own time: a reader that every datagram wakes costs more
/// where the CPU never sleeps, and the load would be another one beside a soaker.
fn receive(socket: &UdpSocket, stop: &AtomicBool) {
    let mut buffer = [0; 2048];
    let mut next_ns = clock::now_ns();
    while !stop.load(Ordering::Relaxed) {
        while socket.recv(&mut buffer).is_ok() {}
        next_ns = (next_ns + BURST_NS).max(clock::now_ns());
        clock::sleep_until(next_ns);
    }
}

/// Busy CPUs of the whole machine over a window, by 1 - idle.
fn busy_cpus(window: Duration) -> f64 {
    let (ours, mut probe) = (Ours::default(), CpuProbe::new(Path::new("/")));
    let moment = Moment { ours: &ours, soaker: &[] };
    probe.begin(&moment);
    std::thread::sleep(window);
    let rows = probe.end(&moment);
    let value = |key| rows.iter().find(|r| r.key == key).map_or(f64::NAN, |r| r.quantity.value);
    value("busy") * value("cpus")
}

/// [`measure`], again as long as others disturb it; and how often they did.
fn measured(load: Load, window: Duration) -> Outcome<(f64, f64, f64)> {
    for disturbed in 0..TRIES {
        if let Some((planted, displaced)) = measure(load, window)? {
            return Ok((planted, displaced, f64::from(disturbed)));
        }
        std::thread::sleep(PAUSE);
    }
    Err(format!("others took more than they may in each of {TRIES} visits").into())
}

/// CPUs planted and CPUs displaced, in one window of one load; none if others disturbed.
#[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53 ns")]
fn measure(load: Load, window: Duration) -> Outcome<Option<(f64, f64)>> {
    let soaker = Soaker::start()?;
    soaker.work();
    std::thread::sleep(RISE);
    let idle = soaker.look();
    std::thread::sleep(Duration::from_secs_f64(CALIBRATION_S).saturating_sub(RISE));
    let calibrated = Stretch::between(&idle, &soaker.look());
    let cpus: Vec<u32> = idle.iter().map(|look| look.cpu).collect();
    let planted = Planted::begin(load, &cpus)?;
    let (opened, used_ns, at_ns) = (soaker.look(), planted.used_ns(), clock::now_ns());
    std::thread::sleep(window);
    let (closed, gained_ns) = (soaker.look(), planted.used_ns() - used_ns);
    let mut truth = gained_ns as f64 / (clock::now_ns() - at_ns) as f64;
    soaker.rest();
    let soaked = Stretch::between(&opened, &closed);
    let least = OURS_MIN * f64::from(u32::try_from(cpus.len())?);
    if calibrated.cpu < least || soaked.cpu + truth < least {
        return Ok(None);
    }
    if matches!(load, Load::PacketsByIdle) {
        let with = busy_cpus(window);
        drop(planted);
        truth = with - busy_cpus(window);
    }
    let rows = soaked.readings(&calibrated);
    let displaced = rows.iter().find(|row| row.key == "displaced");
    Ok(displaced.map(|row| (truth, row.quantity.value)))
}

/// Mean and the 95 % interval, in CPUs.
fn cell(values: &[f64]) -> String {
    let show = |e: desk::stats::Estimate| {
        format!("{:.4} ({:+.4} to {:+.4})", e.centre.value, e.low.value, e.high.value)
    };
    mean_or_single(values, Unit::Cpu).map(show).unwrap_or_default()
}

fn main() -> Outcome<()> {
    let mut words = std::env::args().skip(1);
    let repeats: u32 = words.next().map_or(Ok(7), |word| word.parse())?;
    let window = Duration::from_secs_f64(words.next().map_or(Ok(1.0), |word| word.parse())?);
    let mut seen: Vec<Vec<(f64, f64, f64)>> = vec![Vec::new(); LOADS.len()];
    let mut err = std::io::stderr().lock();
    for _ in 0..repeats {
        for (load, rows) in LOADS.iter().zip(&mut seen) {
            let row = measured(*load, window)?;
            let (planted, displaced, disturbed) = row;
            let name = load.name();
            writeln!(err, "{name}: {planted:.4} {displaced:.4}, disturbed {disturbed}")?;
            rows.push(row);
        }
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "n = {repeats}, window {} s; CPUs: mean (95 % interval)", window.as_secs_f64())?;
    writeln!(
        out,
        "{:<28} {:<28} {:<28} {:<30} disturbed",
        "load", "planted", "displaced", "displaced - planted"
    )?;
    for (load, rows) in LOADS.iter().zip(&seen) {
        let column =
            |of: fn(&(f64, f64, f64)) -> f64| cell(&rows.iter().map(of).collect::<Vec<_>>());
        writeln!(
            out,
            "{:<28} {:<28} {:<28} {:<30} {}",
            load.name(),
            column(|row| row.0),
            column(|row| row.1),
            column(|row| row.1 - row.0),
            rows.iter().map(|row| row.2).sum::<f64>()
        )?;
    }
    Ok(())
}
