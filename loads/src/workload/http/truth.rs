//! Knows that the percentiles of an open loop are those that the server stamped, whatever times are
//! planted in it.

use super::run::Http;
use super::tests::order;
use crate::dataset::STREAM as BODY;
use crate::engine::exchange::trial::ask;
use crate::engine::net::arrival;
use crate::engine::net::content::content;
use crate::engine::pace::{Arrivals, Pace};
use crate::engine::times::RESPONSE;
use desk::record::{Distribution, Settings};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use rig::lab::{clock, cpus};
use rig::probe::Soaker;
use rustix::event::epoll;
use rustix::net::RecvFlags;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Requests a second.
const RATE: f64 = 1000.0;
/// Two periods of the planted stall.
const WINDOW: Duration = Duration::from_secs(10);
/// Connections: a request of every moment of a stall has one.
const CONNECTIONS: u32 = 600;
/// A percentile may be this share off, or this many nanoseconds.
const SHARE: f64 = 0.02;
const NEAR_NS: f64 = 1e5;
/// A trial that the machine disturbs is made again.
const TRIES: usize = 5;

/// What the server stamped of a request: when it came to the kernel, which a host that takes the
/// CPU away does not delay, and when its response was sent, nanoseconds.
type Stamp = (u64, u64);

/// A server of one thread that answers each request after a time that is planted by its arrival.
/// It never sleeps: it would be late itself.
struct Planted {
    after_ns: Box<dyn FnMut(u64) -> u64 + Send>,
    response: Vec<u8>,
    stamps: Vec<Stamp>,
}

impl Planted {
    fn serve(mut self, listener: &TcpListener, stop: &AtomicBool) -> io::Result<Vec<Stamp>> {
        cpus::pin_to(&cpus::mine().expect("CPUs")[..1]).expect("the first CPU");
        listener.set_nonblocking(true)?;
        let ready = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let mut sockets: Vec<TcpStream> = Vec::new();
        let mut due: BinaryHeap<Reverse<(u64, usize, u64)>> = BinaryHeap::new();
        let mut events = Vec::with_capacity(64);
        while !stop.load(Relaxed) {
            if let Ok((socket, _)) = listener.accept() {
                socket.set_nonblocking(true)?;
                socket.set_nodelay(true)?;
                arrival::stamp(&socket)?;
                let data = epoll::EventData::new_u64(sockets.len() as u64);
                epoll::add(&ready, &socket, data, epoll::EventFlags::IN)?;
                sockets.push(socket);
            }
            let nothing = rustix::time::Timespec { tv_sec: 0, tv_nsec: 0 };
            events.clear();
            epoll::wait(&ready, rustix::buffer::spare_capacity(&mut events), Some(&nothing))?;
            for slot in events.iter().filter_map(|event| usize::try_from(event.data.u64()).ok()) {
                let read = arrival::read(&sockets[slot], &mut [0; 4096], RecvFlags::empty());
                let Ok((1.., Some(stamp))) = read else {
                    epoll::delete(&ready, &sockets[slot])?;
                    continue;
                };
                let came = arrival::on_monotonic(stamp);
                due.push(Reverse((came + (self.after_ns)(came), slot, came)));
            }
            while due.peek().is_some_and(|Reverse((at, ..))| *at <= clock::now_ns()) {
                let Some(Reverse((_, slot, came))) = due.pop() else { break };
                // A client that is gone counts that itself.
                let _ = sockets[slot].write_all(&self.response);
                self.stamps.push((came, clock::now_ns()));
            }
        }
        Ok(self.stamps)
    }
}

/// Starts a server with these times; gives its port, and what ends it.
fn planted(
    after_ns: Box<dyn FnMut(u64) -> u64 + Send>,
) -> (u16, Arc<AtomicBool>, JoinHandle<Vec<Stamp>>) {
    let order = order(10);
    let body = &content(order.data_seed, BODY, 10)[..10];
    let response = [&b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"[..], body].concat();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    rustix::net::listen(&listener, 1024).unwrap();
    let port = listener.local_addr().unwrap().port();
    let stop = Arc::new(AtomicBool::new(false));
    let (flag, planted) = (Arc::clone(&stop), Planted { after_ns, response, stamps: Vec::new() });
    let server = thread::spawn(move || planted.serve(&listener, &flag).unwrap());
    (port, stop, server)
}

/// The value below which a share of numbers lies, of sorted ones the nearest rank.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "ranks of a window"
)]
fn rank(sorted: &[u64], at: f64) -> f64 {
    let place = (at * sorted.len() as f64).ceil() as usize;
    sorted[place.clamp(1, sorted.len()) - 1] as f64
}

/// Percentiles by the client and by the server, nanoseconds.
#[expect(clippy::cast_precision_loss, reason = "below an hour")]
fn measure(after_ns: Box<dyn FnMut(u64) -> u64 + Send>) -> Vec<(f64, f64, f64)> {
    // A CPU that sleeps wakes late, in a guest by 0.1 ms and more: threads of the idle class keep
    // them awake.
    let soaker = Soaker::start().unwrap();
    soaker.work();
    let (port, stop, server) = planted(after_ns);
    let pace = Pace { arrivals: Arrivals::Constant, rate: RATE, offset: 0.0, seed: 1 };
    let load = ((CONNECTIONS, Some(pace)), ((1, 10), Settings::new()));
    let (window, end) = ask::<Http>(port, load, WINDOW);
    stop.store(true, Relaxed);
    let stamps = server.join().unwrap();
    assert_eq!((end.error, end.counted.errors.len()), (None, 0), "{:?}", end.counted.errors);
    let within = stamps.iter().filter(|(_, at)| (window.opens_ns..window.closes_ns).contains(at));
    let mut times: Vec<u64> = within.map(|(came, sent)| sent - came).collect();
    times.sort_unstable();
    assert!(times.len() > 9000, "{}", times.len());
    let found = end.counted.distributions.iter().filter(|one| one.name == RESPONSE);
    let counted = Distribution::merged(found).unwrap().unwrap();
    let both = |at: f64| (at, counted.value_at_quantile(at) as f64, rank(&times, at));
    [0.5, 0.75, 0.95, 0.99].map(both).to_vec()
}

fn must_agree(name: &str, plant: impl Fn() -> Box<dyn FnMut(u64) -> u64 + Send>) {
    let off = |(_, ours, stamped): &(f64, f64, f64)| {
        (ours - stamped).abs() > (SHARE * stamped).max(NEAR_NS)
    };
    let mut last = Vec::new();
    for _ in 0..TRIES {
        last = measure(plant());
        println!("{name}: {last:.0?}");
        if !last.iter().any(off) {
            OTHERS.into_iter().for_each(|other| print_other(other, plant()));
            return;
        }
    }
    panic!("{name}: percentile, ours, stamped, ns: {last:.0?}");
}

/// Other clients that may be on PATH, with what has each ask as often over as many connections.
/// The first 10 s of wrk2 calibrate it.
const OTHERS: [(&str, &str); 3] = [
    ("wrk2", "-t1 -c600 -d20s -R1000 --latency"),
    ("oha", "-c 600 -z 10s -q 1000 --latency-correction --no-tui"),
    ("hey", "-c 600 -z 10s -q 1.667"),
];

/// Prints what one of them says of such a server, and what that stamped.
fn print_other((name, words): (&str, &str), after_ns: Box<dyn FnMut(u64) -> u64 + Send>) {
    let soaker = Soaker::start().unwrap();
    soaker.work();
    let (port, stop, server) = planted(after_ns);
    let all = cpus::mine().unwrap();
    let mut asked = Command::new("taskset");
    asked.args(["-c", &all[all.len() - 1].to_string(), name]).args(words.split(' '));
    let said = asked.arg(format!("http://127.0.0.1:{port}/")).output();
    stop.store(true, Relaxed);
    let mut times: Vec<u64> =
        server.join().unwrap().iter().map(|(came, sent)| sent - came).collect();
    let Some(said) = said.ok().filter(|_| !times.is_empty()) else {
        println!("  {name} is not on PATH and was not asked");
        return;
    };
    times.sort_unstable();
    let stamped = [0.5, 0.75, 0.9, 0.95, 0.99].map(|at| rank(&times, at));
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let lines = said.lines().filter(|line| line.contains("% in ") || line.contains("000%"));
    let lines: Vec<&str> = lines.map(str::trim).collect();
    println!("  {name}: {lines:?}; stamped of {}: {stamped:.0?}", times.len());
}

#[test]
#[ignore = "a minute: ./test full"]
fn a_stall_is_in_the_percentiles_as_the_server_stamped_it() {
    let begun = clock::now_ns();
    must_agree("stall", || {
        Box::new(move |came| {
            let into = (came - begun) % 5_000_000_000;
            500_000_000_u64.saturating_sub(into) + 20_000
        })
    });
}

#[test]
#[ignore = "a minute: ./test full"]
fn log_normal_times_are_in_the_percentiles_as_the_server_stamped_them() {
    must_agree("log-normal", || {
        let mut chance = ChaCha8Rng::seed_from_u64(7);
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "times of a test"
        )]
        Box::new(move |_| {
            let mut unit = || ((chance.next_u64() >> 11) as f64 + 1.0) / (1_u64 << 53) as f64;
            // Box and Muller 1958.
            let normal = (-2.0 * unit().ln()).sqrt() * (std::f64::consts::TAU * unit()).cos();
            (5e6 * (0.5 * normal).exp()) as u64
        })
    });
}
