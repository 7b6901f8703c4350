//! Knows what spoils a trial from outside, does it on a real lab, and asks whether it is found.
//!
//! What needs root is skipped aloud where there is none.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "helpers of tests stand outside test functions"
)]

mod moment;

use desk::plan::{Catalogue, order, read};
use desk::record::{Fault, LabKind, Plan, TrialKind, TrialRecord};
use moment::good_or_disturbed;
use rig::factor;
use rig::lab::{Blueprint, Wanted};
use rig::run::Bench;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::{self, File};
use std::net::UdpSocket;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Labs are heavy and two at once would disturb each other's deadlines.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
static NEVER: AtomicBool = AtomicBool::new(false);

fn lock() -> std::sync::MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn bench() -> Bench {
    let blueprint = Blueprint::of_all(Wanted::Best, 1, &["lan"]);
    let binary = Path::new(env!("CARGO_BIN_EXE_stend"));
    let machine = rig::keeper::here(binary, &NEVER).expect("an agent");
    let bench = Bench::build(&blueprint, loads::ALL, vec![machine]).expect("a lab");
    println!("lab: {:?} {}", bench.lab.kind, bench.lab.reason);
    bench
}

/// A plan of one client whose load has these lines.
fn plan(load: &str, window: &str) -> Plan {
    let text = format!(
        "title = \"evidence\"\n[lab]\nclients = 1\n[load.it]\nworkload = \"tcp_stream\"\n{load}\
         [method]\nblocks = 3\ndry = false\nsettle = \"50 ms\"\n\
         steady = \"noted\"\nsettle_max = \"100 ms\"\n\
         window = \"{window}\"\n"
    );
    let workloads: Vec<_> = loads::ALL.iter().map(|entry| entry.spec).collect();
    let catalogue = Catalogue { workloads: &workloads, factors: factor::ALL };
    read(&text, &catalogue).map_err(|e| e.to_string()).expect("a plan")
}

/// The first visit of a plan's first trial, whatever becomes of the later ones.
fn first(bench: &mut Bench, plan: &Plan) -> TrialRecord {
    let trial = order(plan).into_iter().find(|t| t.kind == TrialKind::Counted).expect("a trial");
    let visited = bench.run(plan, vec![trial], &mut |_| ()).expect("a run");
    visited.records.into_iter().next().expect("a record")
}

/// Sends datagrams to the server from the network namespace of process `pid`: 1,000 B each 100 us,
/// for at most 20 s.
fn blast(pid: u32, server: std::net::IpAddr, stop: &AtomicBool) -> std::io::Result<u64> {
    let namespace = File::open(format!("/proc/{pid}/ns/net"))?;
    move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?;
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    let (until, mut sent) = (Instant::now() + Duration::from_secs(20), 0);
    while !stop.load(Ordering::Relaxed) && Instant::now() < until {
        // The server answers that nobody listens; what counts is what its interface received.
        if socket.send_to(&[0; 1000], (server, 9)).is_ok() {
            sent += 1000;
        }
        thread::sleep(Duration::from_micros(100));
    }
    Ok(sent)
}

#[test]
fn foreign_traffic_on_the_link_makes_the_trial_invalid() {
    let _lock = lock();
    let mut bench = bench();
    if bench.lab.kind != LabKind::RootNamespaces {
        println!("skipped: only root may send from inside a host's namespace");
        return;
    }
    let load = "direction = \"receive\"\noffered_load = \"40 Mbit/s\"\nrequest_size = \"4 KiB\"\n";
    let plan = plan(load, "300 ms");
    let alone = first(&mut bench, &plan).outcome.fault;
    assert!(good_or_disturbed(alone.as_ref()), "alone it is good: {alone:?}");
    let (pid, server) = (bench.lab.pid(1), bench.lab.address_of(rig::lab::SUT, "lan"));
    let stop = AtomicBool::new(false);
    let (sent, spoilt) = thread::scope(|scope| {
        let blaster = scope.spawn(|| blast(pid, server, &stop));
        let spoilt = first(&mut bench, &plan);
        stop.store(true, Ordering::Relaxed);
        (blaster.join().expect("blaster").expect("a socket in the client's namespace"), spoilt)
    });
    assert!(sent > 100_000, "{sent} B of foreign traffic");
    let Some(Fault::WrongWork { what }) = spoilt.outcome.fault else {
        panic!("{sent} B of foreign traffic passed: {:?}", spoilt.outcome)
    };
    println!("{what}");
    let figures = ["sut the application took", "TCP received", "interface lan carried"];
    assert!(figures.iter().all(|figure| what.contains(figure)), "{what}");
}

/// A control group that holds a process to a share of a CPU, and is gone with this value.
struct Held {
    group: PathBuf,
    back: PathBuf,
    pid: u32,
}

impl Held {
    /// A fifth of a CPU in periods of 10 ms, by version 1 or 2 of control groups.
    fn to_a_fifth(pid: u32) -> std::io::Result<Self> {
        let name = format!("stend-test-{}", std::process::id());
        let first = Path::new("/sys/fs/cgroup/cpu");
        if first.join("cgroup.procs").exists() {
            let held = Self { group: first.join(name), back: first.join("cgroup.procs"), pid };
            fs::create_dir(&held.group)?;
            fs::write(held.group.join("cpu.cfs_period_us"), "10000")?;
            fs::write(held.group.join("cpu.cfs_quota_us"), "2000")?;
            return held.begin();
        }
        let second = Path::new("/sys/fs/cgroup");
        let held = Self { group: second.join(name), back: second.join("cgroup.procs"), pid };
        fs::create_dir(&held.group)?;
        fs::write(held.group.join("cpu.max"), "2000 10000")?;
        held.begin()
    }

    fn begin(self) -> std::io::Result<Self> {
        fs::write(self.group.join("cgroup.procs"), self.pid.to_string())?;
        Ok(self)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let _ = fs::write(&self.back, self.pid.to_string());
        // A group can be removed as soon as its last process has left or is reaped.
        for _ in 0..50 {
            if fs::remove_dir(&self.group).is_ok() || !self.group.exists() {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn a_generator_without_cpu_shows_in_its_thread() {
    let _lock = lock();
    if !Path::new("/proc/self/schedstat").exists() {
        println!("skipped: this kernel keeps no account of threads");
        return;
    }
    let mut bench = bench();
    // Small requests that the server takes in large reads: the client is the one that computes.
    // Where other programs keep the server from reading, the client waits for it; then it is tried
    // again.
    let load = "direction = \"receive\"\nengine = \"batch\"\nqueue_depth = 1\n\
                request_size = \"64 B\"\nplacement = \"none\"\n";
    let (mut seen, mut graded, mut others) = (Vec::new(), false, 0.0_f64);
    while seen.len() < 5 && !graded {
        // Anew each time: after a fault the hosts are other processes.
        let held = match Held::to_a_fifth(bench.lab.pid(1)) {
            Ok(held) => held,
            Err(e) => {
                println!("skipped: no control group that limits a CPU can be made here: {e}");
                return;
            }
        };
        let record = first(&mut bench, &plan(load, "2 s"));
        drop(held);
        let limit = matches!(&record.outcome.fault, Some(Fault::GeneratorLimit { .. }));
        if let (Some(fault), false) = (&record.outcome.fault, limit) {
            println!("{fault}");
            seen.push((0.0, 0.0));
            continue;
        }
        graded = limit;
        let thread = |key: &str| {
            let mut rows =
                record.readings.iter().filter(|r| r.probe == "thread" && r.host == "c01");
            rows.find(|r| r.key == key).map(|r| r.quantity.value).expect(key)
        };
        seen.push((thread("runnable"), thread("cpu")));
        let foreign = record.reading("foreign", "machine", "cpu").map_or(0.0, |q| q.value);
        others = others.max(foreign);
    }
    println!("runnable, on a CPU: {seen:.3?}");
    if !graded && others > 0.5 {
        println!("skipped: other programs had {others:.2} CPUs, and both ends lacked them");
        return;
    }
    let (runnable, cpu) = seen.last().copied().expect("a trial");
    assert!(runnable >= 0.95, "{seen:?}");
    assert!((0.05..0.35).contains(&cpu), "{seen:?}");
    assert!(graded, "the trial counts although its client had no CPU");
}

#[test]
fn a_congestion_control_that_the_kernel_lacks_is_refused_with_those_it_has() {
    let _lock = lock();
    let mut bench = bench();
    let record = first(&mut bench, &plan("congestion = \"nosuchcontrol\"\n", "100 ms"));
    let fault = record.outcome.fault.expect("a fault").to_string();
    let file = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let available = fs::read_to_string(file).expect(file);
    println!("{fault}");
    assert!(fault.contains("no congestion control 'nosuchcontrol'"), "{fault}");
    assert!(fault.contains(&format!("available: {}", available.trim())), "{fault}");
}

/// Takes an interface of a process's network namespace down and up again, by ip(8).
fn flap(pid: u32, interface: &str, stop: &AtomicBool) -> std::io::Result<u32> {
    let namespace = File::open(format!("/proc/{pid}/ns/net"))?;
    move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?;
    let mut flaps = 0;
    while !stop.load(Ordering::Relaxed) && flaps < 50 {
        thread::sleep(Duration::from_millis(100));
        for way in ["down", "up"] {
            let done =
                std::process::Command::new("ip").args(["link", "set", interface, way]).status()?;
            if !done.success() {
                return Err(std::io::Error::other(format!("ip link set {interface} {way}")));
            }
        }
        flaps += 1;
    }
    Ok(flaps)
}

#[test]
fn a_link_that_goes_and_comes_makes_the_trial_invalid() {
    let _lock = lock();
    let mut bench = bench();
    if bench.lab.kind != LabKind::RootNamespaces {
        println!("skipped: only root may take down a link inside a host's namespace");
        return;
    }
    if std::process::Command::new("ip").arg("-V").status().is_err() {
        println!("skipped: there is no ip(8) to take a link down with");
        return;
    }
    let plan = plan("direction = \"receive\"\nrequest_size = \"16 KiB\"\n", "800 ms");
    let quiet = first(&mut bench, &plan);
    let flaps = |record: &TrialRecord| {
        let rows = record.readings.iter().filter(|r| r.probe == "flap");
        rows.map(|r| (r.host.clone(), r.key.clone(), r.quantity.value)).collect::<Vec<_>>()
    };
    println!("{:?}", flaps(&quiet));
    assert!(flaps(&quiet).len() >= 4, "both ends of both cables are read");
    assert!(flaps(&quiet).iter().all(|(_, _, changes)| *changes == 0.0));
    let (pid, stop) = (bench.lab.pid(1), AtomicBool::new(false));
    let (made, spoilt) = thread::scope(|scope| {
        let flapper = scope.spawn(|| flap(pid, "lan", &stop));
        let spoilt = first(&mut bench, &plan);
        stop.store(true, Ordering::Relaxed);
        (flapper.join().expect("flapper").expect("a link to take down"), spoilt)
    });
    println!("{made} flaps: {:?}", flaps(&spoilt));
    assert!(made > 0);
    match &spoilt.outcome.fault {
        Some(Fault::LinkFlap { host, what }) => {
            println!("{host}: {what}");
            assert!(["c01", "switch"].contains(&host.name()), "{host}");
            assert!(!spoilt.outcome.samples.is_empty(), "what was seen is kept");
        }
        other => panic!("{made} flaps passed as {other:?}"),
    }
}
