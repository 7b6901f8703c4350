//! Knows what `udp_rr` promises on loopback: each answer is compared and counted once; what is
//! lost, late, doubled or foreign is counted as such; what is damaged ends the load.

use super::run::{Echo, RESPONSE};
use crate::engine::exchange::datagrams::{Asking as Client, TIME_LIMIT};
use crate::engine::exchange::trial::{self, Trial, closed, run, strays};
use crate::engine::exchange::{
    Carrier, Counters, EVENTS, Exchange, Operations, Order, Serve, Shared, Slot, Strays, wait,
};
use crate::engine::net::Secret;
use crate::engine::net::datagram::{Datagrams, Head};
use crate::engine::pace::{Arrivals, Pace};
use desk::record::{Settings, Value};
use desk::unit::Quantity;
use rustix::event::epoll;
use rustix::net::RecvFlags;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

const SECRET: Secret = Secret { key: [7; 32], test: [9; 16] };
const SEED: u64 = 42;
const ID: u32 = 3;
const BYTES: (usize, usize) = (100, 500);

#[test]
fn requests_are_answered_one_by_one_and_many_at_once() {
    for streams in [1, 5] {
        for sizes in [(40, 40), (700, 3000)] {
            let Trial { server, clients } = closed::<Echo>(streams, sizes, Settings::new());
            assert_eq!((clients.error, server.error), (None, None));
            assert!(clients.done > 100, "{}", clients.done);
            assert_eq!(clients.done, server.done, "all that were begun were finished");
            assert_eq!(clients.counted.slots.len(), streams as usize);
            assert!(clients.counted.slots.iter().all(|done| *done > 10), "none was left behind");
            assert!(clients.counted.errors.is_empty(), "{:?}", clients.counted.errors);
        }
    }
}

fn limit(seconds: f64) -> Settings {
    Settings::from([(TIME_LIMIT.name.to_owned(), Value::Quantity(Quantity::seconds(seconds)))])
}

fn order(params: Settings) -> Order {
    Order { secret: SECRET, seed: SEED, ..trial::order((BYTES, params), Duration::ZERO) }
}

fn pair() -> [UdpSocket; 2] {
    let ends = [(); 2].map(|()| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
    ends[0].connect(ends[1].local_addr().unwrap()).unwrap();
    ends[1].connect(ends[0].local_addr().unwrap()).unwrap();
    ends[1].set_read_timeout(Some(Duration::from_secs(2))).unwrap();
    ends
}

fn slot(socket: UdpSocket) -> Slot {
    let server = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    Slot { id: ID, server, socket: None, datagrams: Some(Arc::new(socket)) }
}

/// A datagram of this number, of one of both directions.
fn datagram(seed: u64, bytes: usize, sequence: u64) -> Vec<u8> {
    let mut all = Datagrams::of(&SECRET, (seed, ID), bytes, 1);
    let head = Head { sequence, ..Head::default() };
    all.with_heads(head, 1, |laid| Ok(laid.to_vec())).unwrap()
}

fn answer(sequence: u64) -> Vec<u8> {
    datagram(SEED ^ RESPONSE, BYTES.1, sequence)
}

/// A client whose server is a socket of the test.
struct Asked {
    client: Client,
    counters: Arc<Counters>,
    server: UdpSocket,
}

impl Asked {
    fn new() -> Self {
        let [ours, server] = pair();
        let (mut client, _) = Echo::client(&order(limit(0.02)), vec![slot(ours)]);
        let counters = Arc::new(Counters::default());
        client.count_in(&counters);
        Self { client, counters, server }
    }

    /// What an operation comes to that is answered so.
    fn one(&mut self, answers: &[Vec<u8>]) -> io::Result<()> {
        self.client.begin(0)?;
        let mut request = [0; BYTES.0];
        assert_eq!(self.server.recv(&mut request).unwrap(), BYTES.0);
        for answer in answers {
            self.server.send(answer).unwrap();
        }
        while !self.client.go_on(0)? {}
        Ok(())
    }
}

#[test]
fn a_damaged_answer_ends_the_load_and_says_what_is_wrong() {
    let refused = |change: fn(&mut Vec<u8>)| {
        let (mut asked, mut damaged) = (Asked::new(), answer(0));
        change(&mut damaged);
        let refused = asked.one(&[damaged]).unwrap_err();
        assert_eq!(asked.client.survived(0, &refused), None);
        assert_eq!(refused.kind(), io::ErrorKind::InvalidData);
        refused.to_string()
    };
    let words = refused(|answer| answer[99] ^= 4);
    assert!(words.starts_with("datagram 0: byte 99 is 0x"), "{words}");
    let words = refused(|answer| answer.truncate(99));
    assert!(words.contains("it has 99 B and not 500 B"), "{words}");
    let words = refused(|answer| answer.push(0));
    assert!(words.contains("it has 501 B"), "{words}");
    let words = refused(|answer| answer[16] ^= 1);
    assert!(words.contains("its head is wrong"), "{words}");
    // The number of a request that was not sent, and a request that comes back.
    let words = refused(|found| *found = answer(5));
    assert!(words.contains("datagram 5 answers what was not asked"), "{words}");
    let words = refused(|found| *found = datagram(SEED, BYTES.1, 0));
    assert!(words.starts_with("datagram 0: byte 32 is"), "{words}");
}

#[test]
fn what_is_lost_late_doubled_or_foreign_is_counted_and_hangs_nothing() {
    let mut asked = Asked::new();
    asked.one(&[answer(0)]).unwrap();
    let begun = Instant::now();
    let lost = asked.one(&[]).unwrap_err();
    assert!((0.02..0.5).contains(&begun.elapsed().as_secs_f64()), "{:?}", begun.elapsed());
    assert_eq!(asked.client.survived(0, &lost), Some("lost"));
    assert_eq!(strays(&asked.counters), [0, 0, 0]);
    // The answer to the lost one comes before that to the next, and again after it.
    asked.one(&[answer(1), answer(2), answer(1)]).unwrap();
    assert_eq!(strays(&asked.counters), [1, 0, 0]);
    asked.one(&[answer(3), answer(3)]).unwrap();
    assert_eq!(strays(&asked.counters), [1, 1, 0], "one that was late came again");
    asked.one(&[b"hello".to_vec(), Vec::new(), answer(4)]).unwrap();
    assert_eq!(strays(&asked.counters), [1, 2, 2]);
    // What comes while nothing is under way is no answer to what follows.
    let lost = asked.one(&[]).unwrap_err();
    assert_eq!(lost.kind(), io::ErrorKind::TimedOut);
    asked.server.send(&answer(5)).unwrap();
    assert!(!asked.client.go_on(0).unwrap());
    assert_eq!(strays(&asked.counters), [2, 2, 2]);
    asked.one(&[answer(6)]).unwrap();
}

#[test]
fn foreign_datagrams_do_not_put_off_the_time_limit() {
    let mut asked = Asked::new();
    let noise = asked.server.try_clone().unwrap();
    let noisy = thread::spawn(move || {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(300) {
            let _ = noise.send(b"hello");
            thread::sleep(Duration::from_millis(1));
        }
    });
    let begun = Instant::now();
    assert_eq!(asked.one(&[]).unwrap_err().kind(), io::ErrorKind::TimedOut);
    assert!(begun.elapsed() < Duration::from_millis(200), "{:?}", begun.elapsed());
    noisy.join().unwrap();
}

#[test]
fn an_idle_thread_of_many_wakes_twice_within_a_limit_and_no_more() {
    let mut asked = Asked::new();
    let ready = epoll::create(epoll::CreateFlags::CLOEXEC).unwrap();
    asked.client.watch(&ready).unwrap();
    let (begun, mut looks, mut events) = (Instant::now(), 0, Vec::with_capacity(EVENTS));
    while begun.elapsed() < Duration::from_millis(205) {
        for slot in wait(&ready, &mut events).unwrap() {
            looks += 1;
            assert!(!asked.client.go_on(slot).unwrap());
        }
    }
    assert!((3..=22).contains(&looks), "{looks}");
}

/// What a server says to these requests, how many it counts, and its strays.
fn served(requests: &[Vec<u8>]) -> (io::Result<()>, Vec<Vec<u8>>, u64, Strays) {
    let [client, server] = pair().map(Arc::new);
    client.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let listener = Arc::new(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
    let slots = vec![slot(server.try_clone().unwrap())];
    let mut serving = Echo::server(&order(Settings::new()), slots, &listener);
    let (shared, counters) = (Arc::new(Shared::new().unwrap()), Arc::new(Counters::default()));
    let own = (Arc::clone(&shared), Arc::clone(&counters));
    let serving = thread::spawn(move || serving.serve(&own.0, &own.1));
    requests.iter().for_each(|request| drop(client.send(request)));
    let mut answers = Vec::new();
    let mut buffer = [0; 1000];
    while let Ok(bytes) = client.recv(&mut buffer) {
        answers.push(buffer[..bytes].to_vec());
    }
    shared.gate.stop(0);
    let _ = rustix::net::shutdown(&server, rustix::net::Shutdown::Both);
    let served = serving.join().unwrap();
    (served, answers, counters.done.load(Relaxed), counters.strays.now())
}

#[test]
fn a_server_answers_each_request_once_and_refuses_a_damaged_one() {
    let ask = |sequence| datagram(SEED, BYTES.0, sequence);
    let requests = [ask(0), ask(0), ask(2), ask(1), b"hello".to_vec(), ask(3)];
    let (served, answers, done, strays) = self::served(&requests);
    served.unwrap();
    assert_eq!(answers, [answer(0), answer(2), answer(3)]);
    assert_eq!((done, strays), (3, Strays { late: 1, doubled: 1, foreign: 1 }));
    let mut damaged = ask(1);
    damaged[50] ^= 1;
    let (served, answers, ..) = self::served(&[ask(0), damaged]);
    let words = served.unwrap_err().to_string();
    assert!(words.starts_with("datagram 1: byte 50 is 0x"), "{words}");
    assert_eq!(answers, [answer(0)]);
}

/// A server that loses one request of eight.
struct Losing {
    ends: Vec<(Arc<UdpSocket>, Datagrams)>,
}

impl Serve for Losing {
    fn serve(&mut self, shared: &Shared, counters: &Arc<Counters>) -> io::Result<()> {
        let (mut buffer, mut done) = ([0; 1000], 0);
        while !shared.gate.stopped() {
            for (socket, out) in &mut self.ends {
                let Ok(_) = rustix::net::recv(&*socket, &mut buffer, RecvFlags::DONTWAIT) else {
                    continue;
                };
                let sequence = u64::from_le_bytes(buffer[16..24].try_into().unwrap());
                if sequence % 8 == 5 {
                    continue;
                }
                let head = Head { sequence, ..Head::default() };
                out.with_heads(head, 1, |laid| socket.send(laid))?;
                done += 1;
                counters.done.store(done, Relaxed);
            }
            thread::yield_now();
        }
        Ok(())
    }
}

/// Requests of which some are lost.
struct Lossy;

impl Exchange for Lossy {
    type Client = Client;
    type Server = Losing;
    const KEPT: bool = true;
    const DATAGRAMS: Option<Carrier> = Some(Carrier::Udp);

    fn client(order: &Order, slots: Vec<Slot>) -> (Client, u64) {
        Echo::client(order, slots)
    }

    fn server(order: &Order, slots: Vec<Slot>, _: &Arc<TcpListener>) -> Losing {
        let end = |slot: Slot| {
            let source = (order.seed ^ RESPONSE, slot.id);
            Some((slot.datagrams?, Datagrams::of(&order.secret, source, order.response, 1)))
        };
        Losing { ends: slots.into_iter().filter_map(end).collect() }
    }
}

#[test]
fn lost_requests_are_counted_in_a_closed_and_in_an_open_loop_of_one_and_of_many() {
    let pace = Pace { arrivals: Arrivals::Constant, rate: 500.0, offset: 0.0, seed: 5 };
    for pace in [None, Some(pace)] {
        for streams in [1, 5] {
            let told = format!("{streams} {pace:?}");
            let own = (BYTES, limit(0.005));
            let trial = run::<Lossy>((streams, pace), own, Duration::from_millis(400));
            let clients = trial.clients;
            assert_eq!(clients.error, None, "{told}");
            let lost = clients.counted.errors.get("lost").copied().unwrap_or(0);
            // The sixth of each eight is lost, on each stream up to where it stands.
            let (all, streams) = (lost * 7, u64::from(streams));
            let (least, most) = (all.saturating_sub(2 * streams), all + 5 * streams);
            assert!((least..=most).contains(&clients.done), "{told}: {lost} {}", clients.done);
            assert!(lost >= 10, "{told}: {lost}");
            assert_eq!(clients.counted.silent, 0, "{told}");
        }
    }
}
