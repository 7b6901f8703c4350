//! Knows what `tcp_stream` refuses: wrong openings, wrong content, wrong counts.

use super::check::{check, check_work};
use super::evidence::Evidence;
use super::readings;
use super::run::{
    COMPARED_EACH, Counters, Engine, FromPart, HostMark, InterfaceMark, Receiver, Sender,
    StreamEnd, StreamMark, Streams, Take, ToPart, Traffic, Way, receive_requests, receive_ring,
    receive_unseen, send_batches, send_paced, send_requests, turn,
};
use crate::engine::net::content::{content, mix};
use crate::engine::net::lent::Lent;
use crate::engine::net::opening::Opening;
use crate::engine::net::proxy::{self, Harm};
use crate::engine::net::schedule::{Pace, PaceMark, Schedule};
use crate::engine::net::streams::{Direction, StreamPlan};
use crate::engine::net::{Buffers, End as _, Gate, Secret, TcpFacts, ThreadMark};
use desk::record::{Fault, Settings, Value};
use desk::unit::{Quantity, Unit};
use rig::lab::link::Wrapping;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

fn plan(id: u32, direction: Direction) -> StreamPlan {
    StreamPlan { id, client: 1, direction, server_cpu: None, client_cpu: None, turn: 0, on: None }
}

fn traffic() -> Traffic {
    Traffic {
        secret: Secret { key: [7; 32], test: [9; 16] },
        seed: 42,
        interface: "lo".into(),
        engine: Engine::Sys,
        sender: Sender::Write,
        receiver: Receiver::Copy,
        request_bytes: 1000,
        call_requests: 1,
        read_bytes: 1000,
        cold: false,
        pace: None,
        congestion: None,
        bytes_max: 1 << 40,
        run_ms_max: 5000,
    }
}

fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (one, listener.accept().unwrap().0)
}

#[test]
fn content_of_another_seed_or_stream_is_refused() {
    for (seed, stream, right) in [(42, 3, true), (43, 3, false), (42, 4, false)] {
        let (from, to) = pair();
        let sender = thread::spawn(move || {
            let gate = Gate::default();
            let counters = Counters::default();
            // Whoever refuses the content closes the pipe, and this ends with that.
            send_requests(&from, &content(42, 3, 1000), 1000, &counters, (&gate, 100_000))
        });
        let (gate, counters) = (Gate::default(), Counters::default());
        let expected = content(seed, stream, 1000);
        let received = receive_requests(&to, &expected, (1000, 0), &counters, (&gate, 1 << 40));
        assert_eq!(received.is_ok(), right, "seed {seed} stream {stream}: {received:?}");
        drop(to);
        let sent = sender.join().expect("the sender panicked");
        assert!(sent.is_ok() || !right, "{sent:?}");
    }
}

/// What a sender sends, and the bytes of its requests.
type Send = fn((&TcpStream, &mut Way), &[u8], &Counters, &Gate) -> std::io::Result<()>;

#[test]
fn every_way_of_sending_keeps_the_content_whole() {
    let ways: [(&str, Send); 3] = [
        ("sys", |s, c, n, g| send_requests(s.0, c, 700, n, (g, 3_000_000))),
        ("batch", |s, c, n, g| send_batches(s, c, (700, 64), n, (g, 3_000_000))),
        ("paced", |s, c, n, g| {
            let schedule = Schedule::of(&Pace { interval_ns: 1e3, streams: 1 }, 0);
            send_paced(s, c, (700, 64, &schedule), n, (g, 3_000_000))
        }),
    ];
    let senders = Sender::ALL.into_iter();
    let senders = senders.flat_map(|sender| ways[1..].iter().map(move |way| (sender, way)));
    for (sender, (name, send)) in [(Sender::Write, &ways[0])].into_iter().chain(senders) {
        let (name, send) = (format!("{name} {}", sender.word()), *send);
        let (from, to) = pair();
        let Some(mut way) = had(Way::of(sender, &from, 64)) else { continue };
        // A reader that is slow and reads odd lengths makes the kernel take calls in parts.
        rustix::net::sockopt::set_socket_send_buffer_size(&from, 20_000).unwrap();
        from.set_write_timeout(Some(Duration::from_millis(1))).unwrap();
        let sender = thread::spawn(move || {
            let (counters, gate) = (Counters::default(), Gate::default());
            gate.go();
            let content = Lent::copy_of(&content(42, 3, 700)).unwrap();
            send((&from, &mut way), &content, &counters, &gate).unwrap();
            counters.bytes.load(std::sync::atomic::Ordering::Relaxed)
        });
        thread::sleep(Duration::from_millis(20));
        let (gate, counters) = (Gate::default(), Counters::default());
        let expected = content(42, 3, 1013);
        let ended =
            receive_requests(&to, &expected, (1013, 5000), &counters, (&gate, 1 << 40)).unwrap();
        let received = counters.bytes.load(std::sync::atomic::Ordering::Relaxed);
        assert!(ended, "{name}");
        assert_eq!(received, sender.join().unwrap(), "{name}");
        assert!(received >= 3_000_000, "{name}: {received}");
    }
}

/// What this kernel has; what it lacks is said.
fn had<T>(made: Result<T, String>) -> Option<T> {
    let said = |why: &String| println!("skipped: {why}");
    made.inspect_err(said).ok()
}

/// Receives what comes as a stream does: whether its end was seen, bytes, comparisons.
fn receive_by(
    receiver: Receiver,
    to: &TcpStream,
    content: &[u8],
    gate: &Gate,
) -> Option<std::io::Result<(bool, u64, u64)>> {
    let mut take = had(Take::of(receiver, 50_000, 0))?;
    let (counters, limits) = (Counters::default(), (gate, 1 << 40));
    let ended = match &mut take {
        Take::Copy => receive_requests(to, content, (50_000, 0), &counters, limits),
        Take::Ring(ring) => receive_ring((to, ring), content, &counters, limits),
        take => receive_unseen((to, take), content, 50_000, &counters, limits),
    };
    let read = |of: &std::sync::atomic::AtomicU64| of.load(std::sync::atomic::Ordering::Relaxed);
    Some(ended.map(|ended| (ended, read(&counters.bytes), read(&counters.checks))))
}

/// The sending end of a stream, which sends so many bytes by every means.
fn send_by(sender: Sender, from: TcpStream, bytes: u64) -> thread::JoinHandle<u64> {
    thread::spawn(move || {
        let (counters, gate) = (Counters::default(), Gate::default());
        let Some(mut way) = had(Way::of(sender, &from, 1)) else { return 0 };
        let content = Lent::copy_of(&content(42, 3, 60_000)).unwrap();
        let shape = (60_000, 1);
        // Whoever refuses the content closes the connection, and this ends with that.
        let _ = send_batches((&from, &mut way), &content, shape, &counters, (&gate, bytes));
        counters.bytes.load(std::sync::atomic::Ordering::Relaxed)
    })
}

#[test]
fn every_sender_reaches_every_receiver_to_the_byte() {
    let pairs = Sender::ALL.into_iter().flat_map(|a| Receiver::ALL.map(|b| (a, b)));
    for (sender, receiver) in pairs {
        let name = format!("{} {}", sender.word(), receiver.word());
        let (from, to) = pair();
        let sends = send_by(sender, from, COMPARED_EACH + 1_000_000);
        let content = content(42, 3, 50_000);
        let gate = Gate::default();
        let Some(received) = receive_by(receiver, &to, &content, &gate) else { continue };
        drop(to);
        let sent = sends.join().unwrap();
        let (ended, bytes, checks) = received.unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(ended && bytes == sent, "{name}: {sent} sent, {bytes} received");
        match receiver.copies() {
            true => assert!(checks >= sent / 50_000, "{name}: {checks} comparisons"),
            false => assert_eq!(checks, 4, "{name}: at the begin, and behind 64 MiB"),
        }
    }
}

#[test]
fn damage_is_found_by_every_receiver_where_it_looks() {
    for receiver in Receiver::ALL {
        let (mut from, to) = pair();
        // Those that skip look at the first call of a stream, and at that behind 64 MiB.
        let damaged = if receiver.copies() { 500_000 } else { 0 };
        let sends = thread::spawn(move || {
            let mut bytes = content(42, 3, 1_000_000)[..1_000_000].to_vec();
            bytes[damaged] ^= 1;
            let pieces = [&bytes[..damaged], &bytes[damaged..]];
            for piece in pieces {
                // The damage begins a piece, of which the begin is compared.
                let _ = from.write_all(piece);
                thread::sleep(Duration::from_millis(100));
            }
        });
        let (expected, gate) = (content(42, 3, 50_000), Gate::default());
        if let Some(received) = receive_by(receiver, &to, &expected, &gate) {
            let said = received.unwrap_err().to_string();
            let says = format!("content at byte {damaged} ");
            assert!(said.contains(&says), "{}: {said}", receiver.word());
        }
        drop(to);
        sends.join().unwrap();
    }
}

/// Bytes that a proxy doubles or leaves out shift all that follows, and are found at any size of a
/// request; a flipped bit is found where all bytes are compared, which is up to 4 KiB.
#[test]
fn what_a_proxy_harms_is_refused() {
    const TRIALS: u64 = 24;
    for (bytes, found) in [(1000, &Harm::ALL[..]), (64 << 10, &[Harm::LeaveOut, Harm::Double])] {
        let traffic = Traffic { request_bytes: bytes, read_bytes: bytes, ..traffic() };
        let ways = [(Direction::Receive, false), (Direction::Transmit, true)];
        let harms = ways.into_iter().flat_map(|way| found.iter().map(move |harm| (*harm, way)));
        for ((harm, (direction, comes_back)), trial) in harms.cycle().zip(0..TRIALS) {
            let at = 10_000 + mix(trial) % 100_000;
            let proxy = |port| proxy::before(port, harm, (comes_back, at));
            let stream = [plan(0, direction)];
            // On a busy machine a short trial can end before the harmed byte comes.
            let accepted = [40, 2000].map(Duration::from_millis).into_iter().all(|window| {
                let ended = both_ends(&stream, &traffic, window, proxy);
                let ends = ended.map(|(ends, ..)| ends).to_vec();
                let streams = stream.to_vec();
                check_work(&Evidence { streams, ends, refused: 0, ..evidence() }).is_ok()
            });
            assert!(!accepted, "{harm:?} at byte {at} of {bytes} B requests, {direction:?}");
        }
    }
}

/// An end that does not learn that the other is gone waits without end. Beside other tests loopback
/// may lose a packet, and TCP sends it again after up to seconds.
const LEARNS: Duration = Duration::from_secs(10);

#[test]
fn every_end_learns_at_once_that_the_other_is_gone() {
    for receiver in Receiver::ALL {
        let (from, to) = pair();
        let gone = thread::spawn(move || {
            thread::sleep(Duration::from_millis(50));
            drop(from);
        });
        let begun = std::time::Instant::now();
        let received = receive_by(receiver, &to, &content(42, 3, 50_000), &Gate::default());
        let ended = received.is_none_or(|ended| matches!(ended, Ok((true, 0, 0))));
        assert!(ended, "{}", receiver.word());
        assert!(begun.elapsed() < LEARNS, "{}", receiver.word());
        gone.join().unwrap();
    }
    for sender in Sender::ALL {
        let (from, to) = pair();
        let sends = send_by(sender, from, u64::MAX);
        thread::sleep(Duration::from_millis(50));
        let begun = std::time::Instant::now();
        drop(to);
        sends.join().unwrap();
        assert!(begun.elapsed() < LEARNS, "{}", sender.word());
    }
}

#[test]
fn every_end_stops_within_its_time_while_the_other_hangs() {
    for (sender, receiver) in Sender::ALL.into_iter().zip(Receiver::ALL) {
        let traffic = Traffic { sender, receiver, request_bytes: 60_000, ..traffic() };
        let mut server = Streams::default();
        let streams = vec![plan(0, Direction::Transmit), plan(1, Direction::Receive)];
        let listen = ToPart::Listen(Ipv4Addr::LOCALHOST.into(), streams.clone(), traffic.clone());
        let Ok(FromPart::Listening(port)) = server.stage(listen) else { panic!("no port") };
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let connects = thread::spawn(move || {
            let mut client = Streams::default();
            // A kernel that lacks something says so at both ends.
            client.stage(ToPart::Connect(address, streams, traffic)).map(|_| client)
        });
        let accepted = server.stage(ToPart::Accept);
        let client = connects.join().unwrap();
        if had(accepted).is_none() || had(client.as_ref().map_err(Clone::clone)).is_none() {
            continue;
        }
        // The client never goes: it neither sends nor ends, and reads as it waits.
        server.go();
        thread::sleep(Duration::from_millis(50));
        let begun = std::time::Instant::now();
        server.stop(Duration::from_millis(50)).unwrap();
        let took = begun.elapsed();
        assert!(took < Duration::from_millis(300), "{sender:?} {receiver:?}: {took:?}");
    }
    for sender in Sender::ALL {
        // Nobody reads: it sleeps in a call when this host hangs up.
        let (from, _to) = pair();
        let here = from.try_clone().unwrap();
        let sends = send_by(sender, from, u64::MAX);
        thread::sleep(Duration::from_millis(100));
        let begun = std::time::Instant::now();
        here.shutdown(std::net::Shutdown::Write).unwrap();
        sends.join().unwrap();
        assert!(begun.elapsed() < Duration::from_millis(200), "{sender:?}");
    }
}

#[test]
fn sends_that_were_copied_after_all_are_no_figure() {
    let mut evidence = evidence();
    evidence.ends[0][0].zero_copy = [1000, 10];
    assert_eq!(check(&evidence).map(|_| ()), Ok(()));
    evidence.ends[0][0].zero_copy = [1000, 1000];
    let Err(Fault::NotAvailable { what }) = check(&evidence) else { panic!("it passed") };
    assert!(what.contains("copied 1000 of 1000 sends"), "{what}");
    assert!(what.contains("take sender = \"write\" or \"splice\""), "{what}");
}

#[test]
fn the_same_seed_gives_the_same_content_at_every_offset() {
    let bytes = content(1, 2, 5000);
    assert_eq!(*bytes, *content(1, 2, 5000));
    assert_eq!(bytes[..904], bytes[4096..5000]);
    assert_eq!(content(1, 2, 1).len(), 4096 + 8, "a long read of short requests is compared too");
    assert_ne!(*bytes, *content(2, 2, 5000));
    assert_eq!((turn(&content(1, 2, 1), 1), turn(&bytes, 5000)), (4096, 4096));
    assert_eq!(
        turn(&content(1, 2, 100_000), 5000),
        96 << 10,
        "whole periods, and a request behind"
    );
    assert_eq!(bytes.as_ptr().align_offset(4096), 0, "it begins on a page");
}

#[test]
fn a_stranger_is_refused_and_counted_and_the_stream_moves_to_the_byte() {
    moves_to_the_byte(None, &traffic());
}

#[test]
fn two_streams_on_one_connection_move_to_the_byte() {
    moves_to_the_byte(Some(0), &traffic());
}

#[test]
fn a_loopback_copies_all_that_is_sent_without_a_copy_and_both_ends_tell() {
    // Each send is pages to a receive buffer; small ones fill it, and TCP drops what follows.
    let bytes = 1 << 16;
    let traffic =
        Traffic { sender: Sender::ZeroCopy, request_bytes: bytes, read_bytes: bytes, ..traffic() };
    for end in moves_to_the_byte(None, &traffic) {
        let [told, copied] = end.zero_copy;
        assert!(told == copied && (told > 0) == end.sends, "{end:?}");
    }
}

/// What became of streams at the server and at the client, which reaches the server's port by
/// another one.
fn both_ends(
    streams: &[StreamPlan],
    traffic: &Traffic,
    window: Duration,
    way: impl FnOnce(u16) -> u16,
) -> [(Vec<StreamEnd>, u64, HostMark); 2] {
    const DRAIN: Duration = Duration::from_millis(500);
    let mut server = Streams::default();
    let listen = ToPart::Listen(Ipv4Addr::LOCALHOST.into(), streams.to_vec(), traffic.clone());
    let Ok(FromPart::Listening(port)) = server.stage(listen) else { panic!("no port") };
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, way(port)));
    let (theirs, traffic) = (streams.to_vec(), traffic.clone());
    let connecting = thread::spawn(move || {
        let mut client = Streams::default();
        client.stage(ToPart::Connect(address, theirs, traffic)).unwrap();
        client.go();
        thread::sleep(window);
        client.stop(DRAIN).unwrap()
    });
    server.stage(ToPart::Accept).unwrap();
    server.go();
    thread::sleep(window);
    let here = server.stop(DRAIN).unwrap();
    [here, connecting.join().unwrap()]
}

/// Two streams, one each way, the second of them on a connection of its own or on that of another.
fn moves_to_the_byte(on: Option<u32>, traffic: &Traffic) -> Vec<StreamEnd> {
    let streams = [plan(0, Direction::Transmit), StreamPlan { on, ..plan(1, Direction::Receive) }];
    let mut stranger = None;
    let [(here, refused, after), (there, ..)] =
        both_ends(&streams, traffic, Duration::from_millis(100), |port| {
            let mut socket = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
            socket.write_all(&[b'x'; Opening::BYTES]).unwrap();
            stranger = Some(socket);
            port
        });
    assert_eq!(refused, 1);
    let receiver = after.streams.iter().find(|s| !s.sends).unwrap();
    assert_eq!(after.interface.name, "lo");
    // The opening came before the payload, and the end of stream counts as one byte.
    let opening = Opening::BYTES as u64;
    assert_eq!(receiver.tcp.bytes_received, receiver.bytes + opening + 1);
    for id in [0, 1] {
        let end = |ends: &[StreamEnd]| ends.iter().find(|e| e.id == id).cloned().unwrap();
        let (a, b) = (end(&here), end(&there));
        assert_eq!((a.error.clone(), b.error.clone()), (None, None));
        assert!(a.bytes > 0 && a.bytes == b.bytes, "{a:?} {b:?}");
        assert_ne!(a.sends, b.sends);
    }
    let nobody = Streams::default().stage(ToPart::Accept);
    assert!(nobody.is_err(), "nobody told it to listen");
    [here, there].concat()
}

/// What a host read: at a moment, of an end that sends or receives, bytes of payload and segments.
fn mark(at_ns: u64, sends: bool, bytes: u64) -> HostMark {
    let packets = bytes / 1000;
    let (rx_bytes, rx_packets) =
        if sends { (packets / 2 * 66, packets / 2) } else { (bytes + packets * 66, packets) };
    HostMark {
        at_ns,
        took_ns: 0,
        interface: InterfaceMark {
            name: "lan".into(),
            rx_bytes,
            rx_packets,
            ..InterfaceMark::default()
        },
        cpu_ns: at_ns / 2,
        buffers: Buffers { smallest: [0; 2], most: [6 << 20, 4 << 20] },
        streams: vec![StreamMark {
            id: 0,
            sends,
            bytes,
            congestion: "cubic".into(),
            tcp: TcpFacts {
                bytes_received: if sends { 0 } else { bytes },
                timestamps: true,
                send_mss: 1448,
                ..TcpFacts::default()
            },
            ..StreamMark::default()
        }],
    }
}

/// A trial of one transmit stream that moved 1 MB in a window of 0.1 s.
fn evidence() -> Evidence {
    let marks = |at_ns, bytes| vec![mark(at_ns, true, bytes), mark(at_ns, false, bytes)];
    let end = |sends, bytes| StreamEnd {
        bytes,
        checks: 2,
        complete: true,
        sends,
        ..StreamEnd::default()
    };
    let mut asked = Settings::new();
    asked.insert("request_size".into(), Value::Quantity(Quantity::bytes(1000)));
    asked.insert("congestion".into(), Value::Word("cubic".into()));
    asked.insert("engine".into(), Value::Word("batch".into()));
    Evidence {
        host_names: vec!["sut".into(), "c01".into()],
        asked,
        call_requests: 64,
        read_bytes: 1000,
        ip_header: 20.0,
        streams: vec![plan(0, Direction::Transmit)],
        before: marks(0, 0),
        opened: marks(50_000_000, 500_000),
        closed: marks(150_000_000, 1_500_000),
        after: marks(200_000_000, 2_000_000),
        course: Vec::new(),
        window_ns: (50_000_000, 150_000_000),
        settle_ns: 1,
        late_ns: Vec::new(),
        steady: true,
        ends: vec![vec![end(true, 2_000_000)], vec![end(false, 2_000_000)]],
        refused: 0,
    }
}

#[test]
fn over_ipv6_an_interface_counts_twenty_bytes_a_packet_more() {
    let mut sixth = evidence();
    for mark in [&mut sixth.before, &mut sixth.opened, &mut sixth.closed, &mut sixth.after] {
        for host in mark {
            host.interface.rx_bytes += 20 * host.interface.rx_packets;
        }
    }
    let Err(Fault::WrongWork { what }) = check(&sixth) else { panic!("no packets of IPv4") };
    assert!(what.contains("interface lan carried"), "{what}");
    sixth.ip_header = 40.0;
    check(&sixth).unwrap();
}

#[test]
fn figures_follow_from_the_receivers_counts() {
    let checked = check(&evidence()).unwrap();
    let metric = |name: &str| checked.outcome.metric(name).map(|q| q.value.round());
    assert_eq!(metric("throughput"), Some(80e6));
    assert_eq!(metric("operations"), Some(10_000.0));
    assert_eq!(checked.outcome.flows.rows[0].figures[0], Some(1e6));
    assert_eq!(checked.readings[0].quantity.value, 0.5);
    assert_eq!(checked.readings.len(), 2, "no thread and no pace where there is none");
    let made = |key: &str| checked.outcome.made_with[key].to_string();
    assert_eq!((made("engine"), made("queue_depth")), ("batch".into(), "64".into()));
}

/// A window of 0.25 s: two steps, and half a one.
#[test]
fn the_course_of_a_window_is_told_by_steps() {
    let mut evidence = evidence();
    assert_eq!(check(&evidence).unwrap().outcome.series, []);
    let marks = |at_ns, bytes| vec![mark(at_ns, true, bytes), mark(at_ns, false, bytes)];
    evidence.closed = marks(300_000_000, 1_500_000);
    evidence.after = marks(400_000_000, 2_000_000);
    evidence.window_ns.1 = 300_000_000;
    evidence.course = vec![vec![0; 4], vec![500_000, 700_000, 1_000_000, 1_500_000]];
    let series = check(&evidence).unwrap().outcome.series;
    assert_eq!((series.len(), series[0].step), (1, Quantity::seconds(0.1)));
    let rounded: Vec<f64> = series[0].values.iter().map(|value| value.round()).collect();
    assert_eq!(rounded, [16e6, 24e6, 80e6]);
}

/// Something that spoils an evidence.
type Spoil = fn(&mut Evidence);

#[test]
fn wrong_work_is_a_fault() {
    let spoilt: [(&str, Spoil); 7] = [
        ("a late host", |e| e.closed[1].at_ns += 60_000_000),
        ("a slow host", |e| e.closed[1].took_ns += 60_000_000),
        ("lost bytes", |e| e.ends[1][0].bytes -= 1),
        ("invented bytes", |e| e.ends[1][0].bytes += 1),
        ("content", |e| e.ends[1][0].error = Some("content at byte 5".into())),
        ("nothing moved", |e| e.closed[1].streams[0].bytes = 0),
        ("another congestion control", |e| e.closed[0].streams[0].congestion = "bbr".into()),
    ];
    for (name, spoil) in spoilt {
        let mut evidence = evidence();
        spoil(&mut evidence);
        let fault = check(&evidence).unwrap_err();
        let right = match name {
            "nothing moved" => matches!(fault, Fault::DeadStream { .. }),
            "another congestion control" => matches!(fault, Fault::Factor { .. }),
            "a late host" | "a slow host" => matches!(fault, Fault::Disturbed { .. }),
            _ => matches!(fault, Fault::WrongWork { .. }),
        };
        assert!(right, "{name}: {fault:?}");
    }
}

#[test]
fn three_counts_that_disagree_are_a_fault_that_names_all_three() {
    let spoilt: [(&str, Spoil); 6] = [
        ("the window", |e| e.closed[1].streams[0].bytes += 30_000),
        ("the window", |e| e.closed[1].streams[0].tcp.bytes_received -= 30_000),
        ("the window", |e| e.closed[1].interface.rx_bytes += 30_000),
        ("the window", |e| e.opened[1].interface.rx_bytes += 30_000),
        ("the whole trial", |e| e.after[1].interface.rx_bytes += 60_000),
        ("the whole trial", |e| e.after[1].streams[0].tcp.bytes_received += 60_000),
    ];
    for (number, (span, spoil)) in spoilt.into_iter().enumerate() {
        let mut evidence = evidence();
        spoil(&mut evidence);
        let Err(Fault::WrongWork { what }) = check(&evidence) else { panic!("{number} passed") };
        assert!(what.starts_with(&format!("over {span} on c01")), "{number}: {what}");
        let figures = ["application took", "TCP received", "interface lan carried"];
        assert!(figures.iter().all(|figure| what.contains(figure)), "{number}: {what}");
    }
}

#[test]
fn an_application_count_altered_by_two_per_cent_is_refused() {
    let mut evidence = evidence();
    let taken = evidence.closed[1].streams[0].bytes - evidence.opened[1].streams[0].bytes;
    evidence.closed[1].streams[0].bytes += taken / 50;
    let fault = check(&evidence).unwrap_err().to_string();
    assert!(fault.contains("took 1020000 B, TCP received 1000000 B "), "{fault}");
    assert!(fault.contains("carried 1000000 B"), "{fault}");
}

#[test]
fn what_the_kernel_says_is_under_way_explains_a_difference() {
    let explained: [(&str, Spoil); 7] = [
        ("acknowledgements", |e| e.closed[1].interface.rx_packets += 1000),
        ("sent again", |e| {
            e.closed[1].interface.rx_bytes += 60_000;
            e.closed[0].streams[0].tcp.retransmitted = 50;
        }),
        ("in the queue", |e| {
            e.closed[1].streams[0].bytes -= 60_000;
            e.closed[1].streams[0].queued = 60_000;
        }),
        ("in flight", |e| {
            e.closed[1].interface.rx_bytes += 60_000;
            e.closed[0].streams[0].tcp.unacknowledged = 50;
        }),
        ("between two reads", |e| {
            e.closed[1].interface.rx_bytes += 60_000;
            e.closed[1].took_ns = 6_000_000;
        }),
        ("a request on a schedule", |e| {
            e.closed[1].interface.rx_bytes += 60_000;
            let rate = Value::Quantity(Quantity::new(1e8, Unit::BitPerSecond));
            e.asked.insert("offered_load".into(), rate);
            e.asked.insert("request_size".into(), Value::Quantity(Quantity::bytes(60_000)));
        }),
        ("cut", |e| {
            e.after[1].streams[0].bytes -= 60_000;
            e.after[1].streams[0].queued = 60_000;
            e.ends[1][0].complete = false;
        }),
    ];
    for (name, spoil) in explained {
        let mut evidence = evidence();
        spoil(&mut evidence);
        if name == "acknowledgements" {
            for mark in [&mut evidence.closed[1], &mut evidence.after[1]] {
                mark.interface.rx_bytes += 66_000;
            }
            evidence.after[1].interface.rx_packets += 1000;
        }
        let checked = check(&evidence).map(|_| ());
        assert_eq!(checked, Ok(()), "{name}");
    }
}

#[test]
fn a_driver_that_counts_without_the_link_header_is_understood() {
    let mut evidence = evidence();
    for marks in [&mut evidence.opened, &mut evidence.closed, &mut evidence.after] {
        let interface = &mut marks[1].interface;
        interface.rx_bytes -= interface.rx_packets * 14;
    }
    assert_eq!(check(&evidence).map(|_| ()), Ok(()));
}

#[test]
fn what_is_around_a_packet_is_no_payload_and_less_or_more_is_a_fault() {
    // Of 1,448 B a tag is 0.3 %, ESP 2.5 %.
    let of = |wrapping: Wrapping, added: u64| {
        let mut evidence = evidence();
        for marks in
            [&mut evidence.before, &mut evidence.opened, &mut evidence.closed, &mut evidence.after]
        {
            let interface = &mut marks[1].interface;
            interface.wrapping = wrapping;
            interface.rx_bytes += interface.rx_packets * added;
        }
        check(&evidence).is_ok()
    };
    let [none, tag, esp] =
        [(false, false), (true, false), (false, true)].map(|(vlan, esp)| Wrapping { vlan, esp });
    assert!(of(none, 0) && of(tag, 0) && of(tag, 4));
    assert!((34..=37).all(|added| of(esp, added) && of(Wrapping { vlan: true, ..esp }, added + 4)));
    for added in [36, 100] {
        assert!(!of(none, added) && !of(tag, added), "{added} B are nobody's");
    }
    assert!(!of(esp, 80));
}

#[test]
fn other_traffic_on_loopback_is_no_fault_but_too_little_is() {
    let mut evidence = evidence();
    for marks in [&mut evidence.before, &mut evidence.opened, &mut evidence.closed] {
        marks[1].interface.name = "lo".into();
    }
    evidence.after[1].interface.name = "lo".into();
    evidence.closed[1].interface.rx_bytes += 10_000_000;
    evidence.after[1].interface.rx_bytes += 10_000_000;
    assert_eq!(check(&evidence).map(|_| ()), Ok(()));
    evidence.closed[1].interface.rx_bytes -= 10_100_000;
    assert!(check(&evidence).is_err());
}

#[test]
fn what_is_under_way_is_the_rate_times_the_least_round_trip() {
    let mut told = evidence();
    let flight = |told: &Evidence| {
        let rows = readings::of(told).into_iter().filter(|r| r.key.ends_with("_flight"));
        rows.map(|r| (r.host.to_string(), r.key, r.quantity.value)).collect::<Vec<_>>()
    };
    assert_eq!(flight(&told), [], "the kernel does not tell");
    for mark in &mut told.closed {
        for stream in mark.streams.iter_mut().filter(|stream| stream.sends) {
            (stream.tcp.rtt_us, stream.tcp.min_rtt_us) = (50_000, 20_000);
        }
    }
    // 1 MB in 0.1 s, of which 20 ms hold a fifth; the rest of the round trip is a queue.
    let [sends, receives] = [("sut", "send_flight"), ("c01", "receive_flight")]
        .map(|(host, key)| (host.to_owned(), key.to_owned(), 200_000.0));
    assert_eq!(flight(&told), [sends, receives]);
}

#[test]
fn the_thread_that_wanted_a_cpu_most_and_late_sends_are_readings() {
    let mut evidence = evidence();
    let thread = |cpu_ns, waited_ns| Some(ThreadMark { cpu_ns, waited_ns });
    evidence.opened[0].streams[0].thread = thread(5, 7);
    evidence.closed[0].streams[0].thread = thread(20_000_005, 78_000_007);
    evidence.opened[0].streams[0].pace = Some(PaceMark { due: 10, late: 1 });
    evidence.closed[0].streams[0].pace = Some(PaceMark { due: 110, late: 26 });
    let checked = check(&evidence).unwrap();
    let value = |probe: &str, key: &str| {
        let mut rows = checked.readings.iter().filter(|r| r.probe == probe && r.key == key);
        rows.find(|r| r.host == "sut").map(|r| (r.quantity.value * 1000.0).round())
    };
    assert_eq!(value("thread", "runnable"), Some(980.0));
    assert_eq!(value("thread", "cpu"), Some(200.0));
    assert_eq!(value("pace", "late"), Some(250.0));
}
