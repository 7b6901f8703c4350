//! Knows what the times of an exchange must be where they are known in advance.

use super::model::Queue;
use super::order::ThreadPlan;
use super::part::{Exchange, FromPart, Side, ThreadEnd, ToPart};
use super::take::Counted;
use super::{Counters, Operations, Order, Serve, Shared, Slot};
use crate::engine::net::End as _;
use crate::engine::pace::{Arrivals, Pace};
use crate::engine::times::RESPONSE;
use crate::engine::times::{LATENESS, SERVICE};
use desk::record::Distribution;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use rig::metal::Span;
use rustix::fd::OwnedFd;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

const WINDOW: Span = Span { opens_ns: 1_000_000_000, closes_ns: 11_000_000_000 };

fn plan(connections: u32, pace: Option<Pace>) -> ThreadPlan {
    ThreadPlan { host: 1, cpu: None, connections: (0..connections).map(|n| (n, 0)).collect(), pace }
}

fn pace(arrivals: Arrivals, rate: f64) -> Pace {
    Pace { arrivals, rate, offset: 0.0, seed: 5 }
}

/// The value below which a share of a distribution lies, nanoseconds.
fn quantile(counted: &Counted, name: &str, at: f64) -> f64 {
    let found = counted.distributions.iter().filter(|one| one.name == name);
    let merged = Distribution::merged(found).unwrap().unwrap();
    #[expect(clippy::cast_precision_loss, reason = "below an hour")]
    let value = merged.value_at_quantile(at) as f64;
    value
}

/// Exponential times of this mean, nanoseconds.
fn exponential(mean: f64, seed: u64) -> impl FnMut(u64) -> u64 {
    let mut chance = ChaCha8Rng::seed_from_u64(seed);
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "times of a simulation"
    )]
    move |_| {
        let unit = ((chance.next_u64() >> 11) as f64 + 1.0) / (1_u64 << 53) as f64;
        (-unit.ln() * mean) as u64
    }
}

/// M/M/1: the response time is exponential, with the rate by which the server is faster than its
/// arrivals (Kleinrock 1975, 3.2). At 5,000 arrivals a second before a server of 10,000, p99.9 is
/// ln 1000 / 5,000 = 1.38 ms.
#[test]
fn an_open_loop_before_one_queue_has_the_percentiles_of_the_theory() {
    let threads = [plan(64, Some(pace(Arrivals::Poisson, 5000.0)))];
    let queue = Queue::new(&threads, (1, 0), WINDOW, 0);
    let counted = queue.run(exponential(1e5, 3)).taken[0].counted();
    for (at, within) in [(0.5, 0.04), (0.99, 0.06), (0.999, 0.12)] {
        let theory = (1.0_f64 / (1.0 - at)).ln() / 5000.0 * 1e9;
        let found = quantile(&counted, RESPONSE, at);
        assert!((found / theory - 1.0).abs() < within, "{at}: {found} and {theory}");
    }
}

/// A server that stands still for 0.5 s every 5 s, asked 1,000 times a second: of each stall the
/// waits are 0 to 500 ms, evenly, so p99 of all is 450 ms and p99.9 495 ms. A closed loop sees two
/// slow operations.
#[test]
fn a_stall_is_in_the_percentiles_of_an_open_loop_and_not_in_those_of_a_closed_one() {
    let stalls = |rate: Option<f64>| {
        let threads = [plan(1, rate.map(|rate| pace(Arrivals::Constant, rate)))];
        let stands = |start: u64| 500_000_000_u64.saturating_sub(start % 5_000_000_000);
        let ran = Queue::new(&threads, (1, 0), WINDOW, 0).run(|start| stands(start) + 20_000);
        ran.taken[0].counted()
    };
    let open = stalls(Some(1000.0));
    let (p99, p999) = (quantile(&open, RESPONSE, 0.99), quantile(&open, RESPONSE, 0.999));
    assert!((p99 / 450e6 - 1.0).abs() < 0.01, "{p99}");
    assert!((p999 / 495e6 - 1.0).abs() < 0.01, "{p999}");
    assert!(quantile(&open, SERVICE, 0.999) < 1e5, "the server itself was quick");
    assert!((quantile(&open, LATENESS, 0.99) / 450e6 - 1.0).abs() < 0.01);
    let closed = stalls(None);
    assert!(quantile(&closed, RESPONSE, 0.999) < 1e5, "two of 450,000");
}

#[test]
fn what_a_server_cannot_take_is_counted_as_not_sent() {
    let threads = [plan(2, Some(pace(Arrivals::Constant, 1000.0)))];
    let ran = Queue::new(&threads, (1, 0), WINDOW, 0).run(|_| 20_000_000);
    let counted = ran.taken[0].counted();
    assert!(counted.slots.iter().sum::<u64>().abs_diff(500) <= 3, "{:?}", counted.slots);
    // What was due before the window opened is not of the window.
    assert!(ran.unsent().abs_diff(10_000) <= 3, "{}", ran.unsent());
    assert_eq!(counted.late, Some(0), "the connections were busy; the client was not late");
}

/// Operations that take no socket: begin and end by counting.
struct Counting {
    slots: usize,
    begun: Arc<AtomicU64>,
}

impl Operations for Counting {
    fn slots(&self) -> usize {
        self.slots
    }

    fn watch(&mut self, _: &OwnedFd) -> io::Result<()> {
        Err(io::Error::other("nothing to watch"))
    }

    fn begin(&mut self, _: usize) -> io::Result<()> {
        self.begun.fetch_add(1, Relaxed);
        thread::sleep(Duration::from_micros(100));
        Ok(())
    }

    fn go_on(&mut self, _: usize) -> io::Result<bool> {
        match self.begun.load(Relaxed) % 10 {
            0 => Err(io::ErrorKind::ConnectionReset.into()),
            _ => Ok(true),
        }
    }

    fn survived(&mut self, _: usize, error: &io::Error) -> Option<&'static str> {
        (error.kind() == io::ErrorKind::ConnectionReset).then_some("reset")
    }
}

/// A server that serves nobody.
struct Nobody;

impl Serve for Nobody {
    fn serve(&mut self, _: &Shared, _: &Arc<Counters>) -> io::Result<()> {
        Ok(())
    }
}

struct Sham;

impl Exchange for Sham {
    type Client = Counting;
    type Server = Nobody;
    const KEPT: bool = false;

    fn client(_: &Order, slots: Vec<Slot>) -> (Counting, u64) {
        (Counting { slots: slots.len(), begun: Arc::default() }, 7)
    }

    fn server(_: &Order, _: Vec<Slot>, _: &Arc<TcpListener>) -> Nobody {
        Nobody
    }
}

/// Operations that never end.
struct Mute(usize);

impl Operations for Mute {
    fn slots(&self) -> usize {
        self.0
    }

    fn watch(&mut self, _: &OwnedFd) -> io::Result<()> {
        Ok(())
    }

    fn begin(&mut self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn go_on(&mut self, _: usize) -> io::Result<bool> {
        Ok(false)
    }

    fn survived(&mut self, _: usize, _: &io::Error) -> Option<&'static str> {
        None
    }
}

struct Silent;

impl Exchange for Silent {
    type Client = Mute;
    type Server = Nobody;
    const KEPT: bool = false;

    fn client(_: &Order, slots: Vec<Slot>) -> (Mute, u64) {
        (Mute(slots.len()), 0)
    }

    fn server(_: &Order, _: Vec<Slot>, _: &Arc<TcpListener>) -> Nobody {
        Nobody
    }
}

/// The end of the one thread of a load of so many connections.
fn ended<E: Exchange>(connections: u32) -> ThreadEnd {
    let order = super::trial::order(((1, 1), desk::record::Settings::new()), Duration::ZERO);
    let mut side = Side::<E>::default();
    let plans = vec![plan(connections, None)];
    let connect = ToPart::Connect(Ipv4Addr::LOCALHOST.into(), vec![1], plans, order);
    assert!(matches!(side.stage(connect), Ok(FromPart::Standing(_))));
    side.go();
    let opens_ns = rig::lab::clock::now_ns() + 20_000_000;
    let window = Span { opens_ns, closes_ns: opens_ns + 100_000_000 };
    side.mark(window.opens_ns, window).unwrap();
    side.mark(window.closes_ns, window).unwrap();
    side.stop(Duration::from_millis(200)).unwrap().remove(0)
}

#[test]
fn operations_without_an_end_are_counted() {
    let end = ended::<Silent>(3);
    assert_eq!((end.done, end.error), (0, None));
    assert_eq!(end.counted.errors.get("unanswered"), Some(&3));
    assert_eq!(end.counted.silent, 3);
}

#[test]
fn failed_operations_are_counted_by_class_and_are_in_no_distribution() {
    let end = ended::<Sham>(1);
    let counted = &end.counted;
    let (good, reset) = (counted.slots[0], counted.errors["reset"]);
    // Errors are those of the whole trial, and nine of ten operations are good.
    assert!(good > 20 && reset > 2 && good <= (reset + 1) * 9, "{good} {reset}");
    let response = counted.distributions.iter().find(|one| one.name == RESPONSE).unwrap();
    assert_eq!((response.count, counted.digest), (good, 7));
    assert_eq!(end.error, None);
}
