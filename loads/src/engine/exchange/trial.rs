//! Knows a small trial on loopback, for the tests of what travels.

use super::order::{Order, ThreadPlan};
use super::part::{Exchange, FromPart, Side, ThreadEnd, ToPart};
use crate::engine::net::{End as _, Secret};
use crate::engine::pace::Pace;
use desk::record::Settings;
use rig::lab::clock;
use rig::metal::Span;
use std::net::Ipv4Addr;
use std::thread;
use std::time::Duration;

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

/// A trial of a window.
pub fn run<E: Exchange>(
    (connections, pace): (u32, Option<Pace>),
    ((request, response), params): ((usize, usize), Settings),
    window: Duration,
) -> Trial {
    let secret = Secret { key: [7; 32], test: [9; 16] };
    let longest = window + Duration::from_secs(10);
    let cpus = Vec::new();
    let order = Order { secret, params, seed: 42, request, response, longest, cpus };
    let plan = |host, pace| {
        let connections = (0..connections).map(|id| (id, 0)).collect();
        vec![ThreadPlan { host, cpu: None, connections, pace }]
    };
    let (mut server, mut client) = (Side::<E>::default(), Side::<E>::default());
    let listen = ToPart::Listen(Ipv4Addr::LOCALHOST, plan(0, None), order.clone());
    let Ok(FromPart::Listening(ports, _)) = server.stage(listen) else { panic!("no port") };
    let accepting = thread::spawn(move || {
        server.stage(ToPart::Accept).expect("connections");
        server.go();
        server
    });
    let connect = ToPart::Connect(Ipv4Addr::LOCALHOST, ports, plan(1, pace), order);
    client.stage(connect).expect("a connection");
    let mut server = accepting.join().expect("a server");
    client.go();
    let opens_ns = clock::now_ns();
    let closes_ns = opens_ns + u64::try_from(window.as_nanos()).expect("a short window");
    let window = Span { opens_ns, closes_ns };
    client.mark(opens_ns, window).expect("counts");
    client.mark(closes_ns, window).expect("counts");
    let drain = Duration::from_millis(500);
    let mut clients = client.stop(drain).expect("an end");
    let mut servers = server.stop(drain).expect("an end");
    Trial { server: servers.remove(0), clients: clients.remove(0) }
}
