//! Knows a small trial on loopback, for the tests of what travels.

use super::beside;
use super::client::{Counters, Strays};
use super::order::{Order, ThreadPlan};
use super::part::{Exchange, FromPart, Side, ThreadEnd, ToPart};
use crate::engine::net::content::mix;
use crate::engine::net::proxy::{self, Harm};
use crate::engine::net::{End as _, Secret};
use crate::engine::pace::Pace;
use desk::record::Settings;
use rig::lab::{clock, cpus};
use rig::metal::Span;
use std::net::Ipv4Addr;
use std::thread;
use std::time::Duration;

/// Longest wait for the end.
const DRAIN: Duration = Duration::from_millis(500);

/// The ends of one thread each.
pub struct Trial {
    /// Of the server.
    pub server: ThreadEnd,
    /// Of the clients.
    pub clients: ThreadEnd,
}

/// A trial as fast as it goes, of so many connections, bytes of a request and of a response, and
/// parameters of the load's own.
pub fn closed<E: Exchange>(connections: u32, sizes: (usize, usize), own: Settings) -> Trial {
    run::<E>((connections, None), (sizes, own), Duration::from_millis(150))
}

/// Bytes of a request and of a response, and parameters of the load's own.
type Own = ((usize, usize), Settings);
/// What is asked: connections and their pace, and the rest.
type Load = ((u32, Option<Pace>), Own);

/// What a trial of a window asks for, with keys and seeds of the tests.
pub fn order(((request, response), params): Own, window: Duration) -> Order {
    let secret = Secret { key: [7; 32], test: [9; 16] };
    let longest = window + Duration::from_secs(10);
    let each = Order::each(&params);
    let (cpus, under) = (Vec::new(), Settings::new());
    let (seed, data_seed) = (42, 43);
    let beside = beside::of_client(&params, 1).collect();
    Order { secret, params, seed, data_seed, under, request, response, each, longest, cpus, beside }
}

fn plan(host: usize, (connections, pace): (u32, Option<Pace>)) -> Vec<ThreadPlan> {
    let connections = (0..connections).map(|id| (id, 0)).collect();
    vec![ThreadPlan { host, cpu: None, connections, pace }]
}

/// A trial of a window.
pub fn run<E: Exchange>(load: (u32, Option<Pace>), own: Own, window: Duration) -> Trial {
    run_by::<E>(load, own, window, |port| port)
}

/// The same, with connections that lead to each port of the server by another one.
pub fn run_by<E: Exchange>(
    load: (u32, Option<Pace>),
    own: Own,
    window: Duration,
    way: impl Fn(u16) -> u16,
) -> Trial {
    let (mut servers, clients) = ends::<E>(load, own, window, way);
    Trial { server: servers.remove(0), clients }
}

/// The ends of the thread of clients, and of all threads of the server: that of its connections,
/// then those of streams beside.
pub fn ends<E: Exchange>(
    (connections, pace): (u32, Option<Pace>),
    own: Own,
    window: Duration,
    way: impl Fn(u16) -> u16,
) -> (Vec<ThreadEnd>, ThreadEnd) {
    let order = order(own, window);
    let (mut server, mut client) = (Side::<E>::default(), Side::<E>::default());
    let threads = plan(0, (connections, None));
    let listen = ToPart::Listen(Ipv4Addr::LOCALHOST.into(), threads, order.clone());
    let Ok(FromPart::Listening(ports, _)) = server.stage(listen) else { panic!("no port") };
    let accepting = thread::spawn(move || {
        server.stage(ToPart::Accept).expect("connections");
        server.go();
        server
    });
    let threads = plan(1, (connections, pace));
    let ports = ports.into_iter().map(way).collect();
    let connect = ToPart::Connect(Ipv4Addr::LOCALHOST.into(), ports, threads, order);
    client.stage(connect).expect("a connection");
    let mut server = accepting.join().expect("a server");
    let (_, clients) = load(client, window);
    (server.stop(DRAIN).expect("an end"), clients)
}

/// Of trials whose bytes a proxy harmed, each trial in another way at another byte, those that no
/// end refused. The harm is done to what goes these ways: to the server (false) or back (true).
/// On a busy machine a short trial can end before the harmed byte comes; then a longer one says it.
pub fn accepted<E: Exchange>(own: &Own, ways: &[bool], trials: u64) -> Vec<(Harm, bool, u64)> {
    let harms = ways.iter().flat_map(|way| Harm::ALL.map(|harm| (harm, *way)));
    let harms =
        harms.cycle().zip(0..trials).map(|((harm, way), n)| (harm, way, BEGUN + mix(n) % SPAN));
    let is_accepted = |(harm, way, at): &(Harm, bool, u64)| {
        let proxy = |port| proxy::before(port, *harm, (*way, *at));
        [60, 2000].map(Duration::from_millis).into_iter().all(|window| {
            let Trial { server, clients } = run_by::<E>((1, None), own.clone(), window, proxy);
            server.error.is_none() && clients.error.is_none() && clients.counted.errors.is_empty()
        })
    };
    harms.filter(is_accepted).collect()
}

/// Datagrams that were late, doubled or foreign.
pub fn strays(counters: &Counters) -> [u64; 3] {
    let Strays { late, doubled, foreign } = counters.strays.now();
    [late, doubled, foreign]
}

/// Behind the opening of a connection, and within what a short trial moves, bytes.
const BEGUN: u64 = 4096;
const SPAN: u64 = 30_000;

/// Clients against a server that is not ours, and their window.
pub fn ask<E: Exchange>(port: u16, (pace, own): Load, window: Duration) -> (Span, ThreadEnd) {
    let mut client = Side::<E>::default();
    let address = Ipv4Addr::LOCALHOST.into();
    let mut threads = plan(1, pace);
    // The server has the first for itself.
    threads[0].cpu = cpus::mine().expect("CPUs").last().copied();
    let connect = ToPart::Connect(address, vec![port], threads, order(own, window));
    client.stage(connect).expect("a connection");
    load(client, window)
}

/// From go to the end.
fn load<E: Exchange>(mut client: Side<E>, window: Duration) -> (Span, ThreadEnd) {
    client.go();
    let opens_ns = clock::now_ns();
    let closes_ns = opens_ns + u64::try_from(window.as_nanos()).expect("a short window");
    let window = Span { opens_ns, closes_ns };
    client.mark(opens_ns, window).expect("counts");
    client.mark(closes_ns, window).expect("counts");
    let mut clients = client.stop(DRAIN).expect("an end");
    (window, clients.remove(0))
}
