//! Knows what `tcp_stream` refuses: wrong openings, wrong content, wrong counts.

use super::check::{Evidence, check};
use super::run::{
    Counters, Direction, FromPart, Gate, HostMark, Opening, StreamEnd, StreamMark, StreamPlan,
    ToPart, Traffic, content, make_part, receive_requests, send_requests,
};
use desk::record::{Fault, Settings, Value};
use desk::unit::Quantity;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::thread;

fn plan(id: u32, direction: Direction) -> StreamPlan {
    StreamPlan { id, client: 1, direction, server_cpu: None, client_cpu: None }
}

fn traffic() -> Traffic {
    Traffic {
        key: [7; 32],
        test: [9; 16],
        seed: 42,
        request_bytes: 1000,
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
fn an_opening_proves_its_stream_and_no_other() {
    let (expected, traffic) =
        ([plan(0, Direction::Transmit), plan(1, Direction::Receive)], traffic());
    let opening = Opening::of(&expected[1], &traffic);
    assert_eq!(opening.stream(&expected, &traffic).map(|s| s.id), Some(1));
    for byte in 0..Opening::BYTES {
        let mut bent = opening.clone();
        bent.0[byte] ^= 1;
        assert_eq!(bent.stream(&expected, &traffic), None, "byte {byte}");
    }
    let other_key = Traffic { key: [8; 32], ..traffic.clone() };
    assert_eq!(Opening::of(&expected[1], &other_key).stream(&expected, &traffic), None);
    let other_test = Traffic { test: [8; 16], ..traffic.clone() };
    assert_eq!(Opening::of(&expected[1], &other_test).stream(&expected, &traffic), None);
    assert_eq!(
        Opening::of(&plan(2, Direction::Transmit), &traffic).stream(&expected, &traffic),
        None
    );
}

#[test]
fn content_of_another_seed_or_stream_is_refused() {
    for (seed, stream, right) in [(42, 3, true), (43, 3, false), (42, 4, false)] {
        let (from, to) = pair();
        let sender = thread::spawn(move || {
            let gate = Gate::default();
            let counters = Counters::default();
            let sent =
                send_requests(&from, &content(42, 3, 1000), 1000, &counters, (&gate, 100_000));
            sent.unwrap();
        });
        let (gate, counters) = (Gate::default(), Counters::default());
        let expected = content(seed, stream, 1000);
        let received = receive_requests(&to, &expected, 1000, &counters, (&gate, 1 << 40));
        assert_eq!(received.is_ok(), right, "seed {seed} stream {stream}: {received:?}");
        drop(to);
        let _ = sender.join();
    }
}

#[test]
fn the_same_seed_gives_the_same_content_at_every_offset() {
    let bytes = content(1, 2, 5000);
    assert_eq!(bytes, content(1, 2, 5000));
    assert_eq!(bytes[..904], bytes[4096..5000]);
    assert_ne!(bytes, content(2, 2, 5000));
}

/// One trip of a message through a part.
fn tell(part: &mut crate::lab::agent::Part, message: &ToPart) -> Result<FromPart, String> {
    let answer = part(serde_json::to_value(message).unwrap())?;
    Ok(serde_json::from_value(answer).unwrap())
}

#[test]
fn a_stranger_is_refused_and_counted_and_the_stream_moves_to_the_byte() {
    let (mut server, mut client) = (make_part(), make_part());
    let streams = vec![plan(0, Direction::Transmit), plan(1, Direction::Receive)];
    let listen = ToPart::Listen(Ipv4Addr::LOCALHOST, streams.clone(), traffic());
    let Ok(FromPart::Listening(port)) = tell(&mut server, &listen) else { panic!("no port") };
    let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, port);
    let mut stranger = TcpStream::connect(address).unwrap();
    stranger.write_all(&[b'x'; Opening::BYTES]).unwrap();
    let connecting = thread::spawn(move || {
        let mut part = make_part();
        tell(&mut part, &ToPart::Connect(address, streams, traffic())).unwrap();
        tell(&mut part, &ToPart::Go).unwrap();
        thread::sleep(std::time::Duration::from_millis(100));
        tell(&mut part, &ToPart::Stop(500)).unwrap()
    });
    tell(&mut server, &ToPart::Accept).unwrap();
    tell(&mut server, &ToPart::Go).unwrap();
    thread::sleep(std::time::Duration::from_millis(100));
    let FromPart::Stopped(here, refused) = tell(&mut server, &ToPart::Stop(500)).unwrap() else {
        panic!("not stopped")
    };
    let FromPart::Stopped(there, _) = connecting.join().unwrap() else { panic!("not stopped") };
    assert_eq!(refused, 1);
    for id in [0, 1] {
        let end = |ends: &[StreamEnd]| ends.iter().find(|e| e.id == id).cloned().unwrap();
        let (a, b) = (end(&here), end(&there));
        assert_eq!((a.error.clone(), b.error.clone()), (None, None));
        assert!(a.bytes > 0 && a.bytes == b.bytes, "{a:?} {b:?}");
        assert_ne!(a.sends, b.sends);
    }
    assert!(tell(&mut client, &ToPart::Accept).is_err(), "nobody told it to listen");
}

/// A trial of one transmit stream that moved 1 MB in 0.1 s.
fn evidence() -> Evidence {
    let mark = |at_ns, bytes, sends| HostMark {
        at_ns,
        cpu_ns: at_ns / 2,
        streams: vec![StreamMark {
            id: 0,
            sends,
            bytes,
            congestion: "cubic".into(),
            ..StreamMark::default()
        }],
    };
    let end =
        |sends, bytes| StreamEnd { id: 0, sends, bytes, checks: 2, complete: true, error: None };
    let mut asked = Settings::new();
    asked.insert("request_size".into(), Value::Quantity(Quantity::bytes(1000)));
    asked.insert("congestion".into(), Value::Word("cubic".into()));
    Evidence {
        host_names: vec!["sut".into(), "c01".into()],
        asked,
        streams: vec![plan(0, Direction::Transmit)],
        opened: vec![mark(0, 0, true), mark(0, 10, false)],
        closed: vec![mark(100_000_000, 1_100_000, true), mark(100_000_000, 1_000_010, false)],
        window_ns: (0, 100_000_000),
        settle_ns: 1,
        steady: true,
        ends: vec![vec![end(true, 2_000_000)], vec![end(false, 2_000_000)]],
        refused: 0,
    }
}

#[test]
fn figures_follow_from_the_receivers_counts() {
    let checked = check(&evidence()).unwrap();
    let metric = |name: &str| checked.outcome.metric(name).map(|q| q.value.round());
    assert_eq!(metric("throughput"), Some(80e6));
    assert_eq!(metric("operations"), Some(10_000.0));
    assert_eq!(checked.outcome.streams[0].received_bytes, 1_000_000);
    assert_eq!(checked.readings[0].quantity.value, 0.5);
}

/// Something that spoils an evidence.
type Spoil = fn(&mut Evidence);

#[test]
fn wrong_work_is_a_fault() {
    let spoilt: [(&str, Spoil); 6] = [
        ("a late host", |e| e.closed[1].at_ns += 60_000_000),
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
            "a late host" => matches!(fault, Fault::Disturbed { .. }),
            _ => matches!(fault, Fault::WrongWork { .. }),
        };
        assert!(right, "{name}: {fault:?}");
    }
}
