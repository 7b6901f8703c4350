//! Knows what `udp_stream` refuses and counts: damage, what comes again, late or from others.

use super::check::check;
use super::evidence::Evidence;
use super::model::model;
use super::run::{
    Counters, Engine, FromPart, HostMark, StreamEnd, Streams, Tally, ToPart, Traffic, receive,
};
use crate::engine::net::datagram::{Datagrams, Head};
use crate::engine::net::modelled::{modelled, settings};
use crate::engine::net::schedule::Pace;
use crate::engine::net::streams::{Direction, StreamPlan};
use crate::engine::net::{End as _, Life, Secret};
use desk::record::{Fault, Reading, Settings, Value};
use desk::unit::{Quantity, Unit};
use rig::lab::clock;
use rig::metal::Span;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

const SECRET: Secret = Secret { key: [7; 32], test: [9; 16] };
const BYTES: usize = 500;

fn heads(numbers: impl IntoIterator<Item = u64>) -> StreamEnd {
    let mut tally = Tally::new().unwrap();
    for (at, sequence) in (0..).zip(numbers) {
        let head = Head { sequence, counts: true, sent_ns: at * 1000 };
        tally.take(head, at * 1000 + 500);
    }
    tally.end()
}

#[test]
fn each_datagram_counts_once_in_whatever_order_it_comes() {
    let end = heads([0, 1, 2, 3]);
    assert_eq!((end.moved, end.counted, end.reordered, end.duplicates), (4, 4, 0, 0));
    assert_eq!(end.delay.unwrap().count, 4);
    assert!(end.jitter_ns < 1e-9, "all were equally long on the way");
    let end = heads([0, 2, 1, 1, 5, 4, 5]);
    assert_eq!((end.moved, end.reordered, end.duplicates, end.stale), (5, 2, 2, 0));
    // Words of the memory are used again.
    let end = heads((0..1_000_000).step_by(3).chain([999_998, 999_997, 999_998, 3]));
    assert_eq!((end.moved, end.reordered), (333_334 + 2, 2));
    assert_eq!((end.duplicates, end.stale), (1, 1));
    let end = heads([0, 5_000_000, 4_999_999, 5_000_000]);
    assert_eq!((end.moved, end.duplicates), (3, 1));
}

#[test]
fn the_jitter_is_that_of_rfc_3550() {
    let mut tally = Tally::new().unwrap();
    let (mut expected, mut sum) = (0.0, 0.0);
    for number in 0..100_u64 {
        // Every other is 160 ns longer on the way.
        let transit = 1000 + 160 * (number % 2);
        let head = Head { sequence: number, counts: true, sent_ns: number * 10_000 };
        tally.take(head, number * 10_000 + transit);
        expected += if number > 0 { (160.0 - expected) / 16.0 } else { 0.0 };
        sum += expected;
    }
    assert!((tally.end().jitter_ns - sum / 100.0).abs() < 1e-6);
}

/// What a receiver makes of datagrams that are changed on their way.
fn arriving(engine: Engine, change: impl FnOnce(&mut Vec<Vec<u8>>)) -> (io::Result<()>, StreamEnd) {
    let (from, to) = (socket(), socket());
    from.connect(to.local_addr().unwrap()).unwrap();
    to.connect(from.local_addr().unwrap()).unwrap();
    let mut all = Datagrams::of(&SECRET, (42, 3), BYTES, 8);
    let copy = |laid: &[u8]| Ok(laid.chunks(BYTES).map(<[u8]>::to_vec).collect());
    let first = Head { counts: true, sent_ns: clock::now_ns(), ..Head::default() };
    let mut sent: Vec<Vec<u8>> = all.with_heads(first, 8, copy).unwrap();
    change(&mut sent);
    let counters = Arc::new(Counters::default());
    let (own, to) = (Arc::clone(&counters), Arc::new(to));
    let socket = Arc::clone(&to);
    let receiver = thread::spawn(move || {
        let mut tally = Tally::new().unwrap();
        let done = receive(&socket, &all, (engine, 4), &own, &mut tally);
        (done, tally.end())
    });
    for datagram in &sent {
        // Who refuses a datagram may be gone.
        let _ = from.send(datagram);
    }
    thread::sleep(Duration::from_millis(50));
    counters.hung_up.store(true, Relaxed);
    let _ = rustix::net::shutdown(&to, rustix::net::Shutdown::Read);
    receiver.join().unwrap()
}

fn socket() -> UdpSocket {
    UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap()
}

#[test]
fn damage_ends_a_stream_by_name_and_all_else_is_counted() {
    for engine in [Engine::Call, Engine::Batch, Engine::Segment] {
        let refused = |change: fn(&mut Vec<Vec<u8>>)| {
            arriving(engine, change).0.expect_err("damage").to_string()
        };
        let words = refused(|all| all[2][100] ^= 4);
        assert!(words.starts_with("datagram 2: byte 100 is 0x"), "{engine:?}: {words}");
        let words = refused(|all| all[1].truncate(99));
        assert!(words.contains("datagram 1: it has 99 B and not 500 B"), "{engine:?}: {words}");
        let words = refused(|all| all[1].push(0));
        assert!(words.contains("it has 501 B"), "{engine:?}: {words}");
        let words = refused(|all| all[5][17] ^= 1);
        assert!(words.contains("bytes 12 to 31 of its head"), "{engine:?}: {words}");
        let counted = |change: fn(&mut Vec<Vec<u8>>)| {
            let (done, end) = arriving(engine, change);
            done.unwrap();
            [end.moved, end.counted, end.reordered, end.duplicates, end.foreign]
        };
        assert_eq!(counted(|_| ()), [8, 8, 0, 0, 0], "{engine:?}");
        assert_eq!(counted(|all| all.swap(3, 4)), [8, 8, 1, 0, 0], "{engine:?}");
        assert_eq!(counted(|all| all.push(all[4].clone())), [8, 8, 0, 1, 0], "{engine:?}");
        assert_eq!(counted(|all| drop(all.remove(4))), [7, 7, 0, 0, 0], "{engine:?}");
        assert_eq!(counted(|all| all[4].fill(b'x')), [7, 7, 0, 0, 1], "{engine:?}");
    }
}

fn traffic(engine: Engine, pace: Option<Pace>) -> Traffic {
    Traffic {
        secret: SECRET,
        seed: 42,
        engine,
        datagram: BYTES,
        depth: if engine == Engine::Call { 1 } else { 16 },
        pace,
        socket_buffer: None,
        most: 1 << 40,
        run_ms_max: 5000,
    }
}

/// A trial on loopback of a stream each way, and what was read of it.
fn trial(traffic: &Traffic) -> Evidence {
    let plan = |id, direction| StreamPlan {
        on: None,
        id,
        client: 1,
        direction,
        server_cpu: None,
        client_cpu: None,
        turn: id,
    };
    let streams = vec![plan(0, Direction::Transmit), plan(1, Direction::Receive)];
    let (mut server, mut client) = (Streams::default(), Streams::default());
    let listen = ToPart::Listen(Ipv4Addr::LOCALHOST.into(), streams.clone(), traffic.clone());
    let Ok(FromPart::Listening(port)) = server.stage(listen) else { panic!("no port") };
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let accepting = thread::spawn(move || {
        server.stage(ToPart::Accept).unwrap();
        server
    });
    client.stage(ToPart::Connect(address, streams.clone(), traffic.clone())).unwrap();
    let mut hosts = [accepting.join().unwrap(), client];
    hosts.iter_mut().for_each(Streams::go);
    let opens_ns = clock::now_ns() + 20_000_000;
    let closes_ns = opens_ns + 100_000_000;
    let window = Span { opens_ns, closes_ns };
    let mut read = |at_ns| -> Vec<HostMark> {
        hosts.iter_mut().map(|host| host.mark(at_ns, window).unwrap()).collect()
    };
    let (opened, closed) = (read(opens_ns), read(closes_ns));
    let stop = |mut host: Streams| thread::spawn(move || host.stop(Duration::from_millis(200)));
    let ended = hosts.map(stop).map(|stopped| stopped.join().unwrap().unwrap()).into();
    let life = Life {
        steady: true,
        settle_ns: 1,
        late_ns: Vec::new(),
        window_ns: (opens_ns, closes_ns),
        opened,
        closed,
        course: Vec::new(),
        ended,
    };
    Evidence {
        host_names: vec!["sut".into(), "c01".into()],
        one_clock: vec![true; 2],
        asked: Settings::from([("engine".to_owned(), Value::Word("call".into()))]),
        datagram: BYTES as u64,
        depth: traffic.depth as u64,
        streams,
        life: Some(life),
    }
}

#[test]
fn every_engine_accounts_for_all_it_sent() {
    for engine in [Engine::Call, Engine::Batch, Engine::Segment] {
        for pace in [None, Some(Pace { interval_ns: 1e6, streams: 2 })] {
            let evidence = trial(&traffic(engine, pace));
            let checked = check(&evidence).unwrap();
            let metric = |name: &str| checked.outcome.metric(name).unwrap().value;
            let told = format!("{engine:?} {pace:?}");
            assert!(metric("throughput") > 0.0, "{told}");
            assert!((0.0..1.0).contains(&metric("loss")), "{told}: {}", metric("loss"));
            assert_eq!((metric("duplicates"), metric("reordered")), (0.0, 0.0), "{told}");
            let row = &checked.outcome.flows.rows[0];
            assert!(row.figures[1] >= row.figures[2], "{told}");
            assert_eq!(checked.outcome.distributions.len(), 1, "{told}");
            let errors = &checked.outcome.work.errors;
            assert!(errors.is_empty(), "{told}: {errors:?}");
            if pace.is_some() {
                let depth = evidence.depth as f64;
                let rate = metric("datagrams") / depth;
                assert!((rate / 2000.0 - 1.0).abs() < 0.2, "{told}: {rate} calls a second");
            }
        }
    }
}

type Told = Life<HostMark, (Vec<StreamEnd>, u64)>;
/// Something that spoils an evidence.
type Spoil = fn(&mut Told);

fn receiver(life: &mut Told) -> &mut StreamEnd {
    life.ended[1].0.iter_mut().find(|end| !end.sends).expect("a receiver")
}

#[test]
fn wrong_work_is_a_fault() {
    let good = trial(&traffic(Engine::Call, Some(Pace { interval_ns: 1e6, streams: 2 })));
    let spoilt: [(&str, Spoil); 6] = [
        ("invented", |life| receiver(life).moved += 1 << 20),
        ("invented", |life| receiver(life).counted += 1 << 20),
        ("dropped", |life| receiver(life).dropped += 1 << 20),
        ("damage", |life| receiver(life).error = Some("datagram 2: byte 40".into())),
        ("dead", |life| receiver(life).moved = 0),
        ("late", |life| life.closed[1].at_ns += 60_000_000),
    ];
    assert!(check(&good).is_ok());
    for (name, spoil) in spoilt {
        let mut evidence = good.clone();
        spoil(evidence.life.as_mut().unwrap());
        let fault = check(&evidence).unwrap_err();
        let right = match name {
            "dead" => matches!(fault, Fault::DeadStream { .. }),
            "late" => matches!(fault, Fault::Disturbed { .. }),
            _ => matches!(fault, Fault::WrongWork { .. }),
        };
        assert!(right, "{name}: {fault}");
    }
}

#[test]
fn each_direction_is_counted_apart() {
    let mut evidence = trial(&traffic(Engine::Call, Some(Pace { interval_ns: 1e6, streams: 1 })));
    let ends = |evidence: &Evidence| {
        let checked = check(evidence).unwrap();
        let columns = &checked.outcome.flows;
        let of = |row: usize, name: &str| columns.figure(&columns.rows[row], name).unwrap();
        let lost = |host: &str| {
            let is_its = |r: &&Reading| r.probe == "udp" && r.key == "lost" && r.host == host;
            checked.readings.iter().find(is_its).unwrap().quantity.value
        };
        let rows = [0, 1].map(|row| {
            [of(row, "sent") - of(row, "came"), of(row, "reordered"), of(row, "duplicates")]
        });
        (rows, [lost("c01"), lost("sut")])
    };
    assert_eq!(ends(&evidence), ([[0.0; 3]; 2], [0.0; 2]));
    // Of what the client receives five are lost, two overtaken, three doubled.
    let end = receiver(evidence.life.as_mut().unwrap());
    end.counted -= 5;
    end.moved -= 5;
    (end.reordered, end.duplicates) = (2, 3);
    assert_eq!(ends(&evidence), ([[5.0, 2.0, 3.0], [0.0; 3]], [5.0, 0.0]));
}

/// What the model gives on an idle line of 100 Mbit/s: datagrams a second and their loss.
fn of_a_line(direction: &str, offered: Option<f64>) -> [f64; 2] {
    let word = |text: &str| Value::Word(text.into());
    let mut params = settings(&[("direction", word(direction)), ("placement", word("spread"))]);
    let load = offered.map(|load| Value::Quantity(Quantity::new(load, Unit::BitPerSecond)));
    params.extend(load.map(|load| ("offered_load".to_owned(), load)));
    let physics = "[link]\nline_rate = \"100 Mbit/s\"\n";
    let given = modelled(("udp_stream", model), physics, params, (&Settings::new(), 1));
    let outcome = given.unwrap().checked.outcome;
    ["datagrams", "loss"].map(|name| outcome.metric(name).unwrap().value)
}

#[test]
fn a_modelled_line_carries_its_rate_in_each_direction() {
    // 1472 B of payload in 1538 B of wire.
    let line = 1e8 / 8.0 / 1538.0;
    let close = |ours: f64, by_hand: f64| {
        assert!((ours / by_hand - 1.0).abs() < 1e-3, "{ours} is not {by_hand}");
    };
    close(of_a_line("transmit", None)[0], line);
    close(of_a_line("duplex", None)[0], 2.0 * line);
    // What is offered is offered to each direction.
    for (direction, ways) in [("receive", 1.0), ("duplex", 2.0)] {
        let [rate, loss] = of_a_line(direction, Some(0.5e8));
        close(rate, ways * 0.5e8 / 8.0 / 1472.0);
        assert!(loss.abs() < 1e-3, "{direction}: {loss}");
    }
}

#[test]
fn a_delay_of_two_clocks_is_not_told() {
    let mut evidence = trial(&traffic(Engine::Call, Some(Pace { interval_ns: 1e6, streams: 2 })));
    evidence.one_clock[1] = false;
    assert!(check(&evidence).unwrap().outcome.distributions.is_empty());
}
