//! Damage of a file is refused and named, wherever it came from; a file on the wire that is cut or
//! doubled, too.

use super::content::{Content, PAGE};
use super::ends::End;
use super::note::Note;
use super::{Copies, is_source, sizes, staging, storing};
use crate::engine::exchange::trial::{Trial, accepted, closed, order};
use crate::engine::exchange::{Operations as _, Order, Slot, Storing};
use crate::engine::net::{receive, send_all};
use desk::record::{Settings, Value};
use desk::unit::Quantity;
use proptest::prelude::*;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

const SEED: u64 = 42;
/// No multiple of a page, nor of a block.
const BYTES: u64 = 1_000_001;

fn params(words: &[(&str, &str)]) -> Settings {
    let usual = [
        ("direction", "transmit"),
        ("engine", "copy"),
        ("sink", "memory"),
        ("sink_directory", "/var/tmp"),
        ("source", "cache"),
        ("source_directory", "/var/tmp"),
    ];
    let all = usual.iter().chain(words);
    let word = |(name, word): &(&str, &str)| ((*name).to_owned(), Value::Word((*word).into()));
    let mut params: Settings = all.map(word).collect();
    let size = |bytes| Value::Quantity(Quantity::bytes(bytes));
    params.insert("block_size".into(), size(65536));
    params.insert("file_size".into(), size(BYTES));
    params
}

#[test]
fn what_a_proxy_harms_of_files_is_refused() {
    for (direction, comes_back) in [("transmit", true), ("receive", false)] {
        let own = ((1, 1), params(&[("direction", direction), ("source", "memory")]));
        assert_eq!(accepted::<Copies>(&own, &[comes_back], 16), [], "{direction}");
    }
}

#[test]
fn files_go_from_any_place_to_any_other_in_both_directions() {
    for direction in ["transmit", "receive", "between"] {
        for source in ["memory", "cache", "disk"] {
            for sink in ["memory", "cache", "disk"] {
                let own = [("direction", direction), ("source", source), ("sink", sink)];
                let Trial { server, clients } = closed::<Copies>(1, (1, 1), params(&own));
                assert_eq!((&clients.error, &server.error), (&None, &None), "{own:?}");
                assert!(clients.done > 0 && server.done >= clients.done, "{own:?}");
                let (sent, received) = match direction {
                    "receive" => (clients.sent, server.received),
                    _ => (server.sent, clients.received),
                };
                assert!(sent >= received && received >= clients.done * BYTES, "{own:?}");
            }
        }
    }
}

#[test]
fn the_kernel_sends_from_a_file_and_not_from_memory() {
    for engine in ["sendfile", "splice"] {
        for source in ["cache", "disk"] {
            let own = params(&[("engine", engine), ("source", source)]);
            let Trial { server, clients } = closed::<Copies>(1, (1, 1), own);
            assert_eq!((clients.error, server.error), (None, None), "{engine} {source}");
            assert!(clients.done > 0, "{engine} {source}");
        }
        let lacks = end(&params(&[("engine", engine), ("source", "memory")]), None, true).lacks();
        let why = lacks.expect("no file").to_string();
        assert!(why.contains("take engine = \"copy\""), "{why}");
    }
}

#[test]
fn what_cannot_be_had_is_told_with_its_remedy() {
    let lacks = |params: &Settings, sends| end(params, None, sends).lacks().unwrap().to_string();
    let odd = Value::Quantity(Quantity::bytes(5000));
    let mut params = params(&[("sink", "cache"), ("sink_directory", "/nowhere/at/all")]);
    assert!(lacks(&params, false).starts_with("sink_directory = \"/nowhere/at/all\""));
    params.insert("block_size".into(), odd);
    assert!(lacks(&params, true).ends_with("take 4096 B"));
    params.insert("block_size".into(), Value::Quantity(Quantity::bytes(4096)));
    params.insert("sink_directory".into(), Value::Word("/var/tmp".into()));
    params.insert("file_size".into(), Value::Quantity(Quantity::bytes(1 << 56)));
    let full = lacks(&params, false);
    assert!(full.contains("B stay so; take at most"), "{full}");
}

#[test]
fn a_host_knows_its_place_and_what_its_storage_serves() {
    let of = |direction, source, sink| {
        let all = params(&[("direction", direction), ("source", source), ("sink", sink)]);
        [storing(&all, 0), storing(&all, 1)]
    };
    let [read, written, cached] = [(true, false), (true, true), (false, false)]
        .map(|(direct, writes)| Some(Storing { direct, writes }));
    assert_eq!(of("transmit", "disk", "disk"), [read, written]);
    assert_eq!(of("receive", "disk", "disk"), [written, read]);
    assert_eq!(of("transmit", "cache", "memory"), [cached, None]);
    let between = params(&[("direction", "between"), ("source", "disk"), ("sink", "disk")]);
    assert_eq!([0, 1, 2, 3].map(|host| storing(&between, host)), [None, read, written, written]);
    let all = params(&[("direction", "receive")]);
    assert_eq!([0, 1, 2].map(|host| is_source(&all, host)), [Some(false), Some(true), Some(true)]);
    assert_eq!(sizes(&all), (BYTES, 65536));
    assert!(staging(&all, 2) > Duration::from_millis(90));
}

/// An end of a connection, or of none.
fn end(params: &Settings, socket: Option<TcpStream>, sends: bool) -> End {
    let order = order(((1, 1), params.clone()), Duration::ZERO);
    let order = Order { seed: SEED, ..order };
    let server = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let slot = Slot { id: 0, server, socket: socket.map(Arc::new), datagrams: None };
    End::of(&order, vec![slot], sends)
}

/// Both ends of a connection.
fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let from = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (from, listener.accept().unwrap().0)
}

/// What a client says of a copy of which this is sent in place of the file, with its note behind.
fn copied(sink: &str, file: Vec<u8>, note: Note) -> io::Result<bool> {
    let (ours, theirs) = pair();
    let sending = thread::spawn(move || {
        assert_eq!(Note::receive(&theirs).unwrap(), Some(Note { copy: 0, bytes: BYTES }));
        // The client may give up before the end.
        let _ = send_all(&theirs, &file).and_then(|()| note.send(&theirs));
    });
    let mut client = end(&params(&[("sink", sink)]), Some(ours), false);
    client.begin(0).unwrap();
    let told = client.go_on(0).and_then(|whole| client.review().map(|()| whole));
    drop(client);
    sending.join().unwrap();
    told
}

fn file() -> Vec<u8> {
    let mut file = vec![0; usize::try_from(BYTES).unwrap()];
    Content::new(SEED, 0).fill(&mut file, 0);
    file
}

#[test]
fn a_byte_that_is_wrong_missing_or_doubled_is_named() {
    let note = Note { copy: 0, bytes: BYTES };
    let refused = |what: &str, file: Vec<u8>, note: Note, says: &str| {
        let why = copied("memory", file, note).unwrap_err();
        assert!(why.to_string().contains(says), "{what}: {why}");
    };
    for sink in ["memory", "cache", "disk"] {
        assert!(copied(sink, file(), note).unwrap(), "{sink}");
    }
    for at in [0, 7, 8, 4095, 4096, 70_000, 1_000_000] {
        let mut wrong = file();
        wrong[at] ^= 1;
        refused("wrong", wrong, note, &format!("copy 0: byte {at} is not that of the source"));
    }
    let mut missing = file();
    missing.drain(2 * PAGE..3 * PAGE);
    refused("a page is missing", missing, note, &format!("copy 0: byte {} is", 2 * PAGE));
    let mut doubled = file();
    doubled.splice(3 * PAGE..3 * PAGE, file()[2 * PAGE..3 * PAGE].to_vec());
    refused("a page is doubled", doubled, note, &format!("copy 0: byte {} is", 3 * PAGE));
    let mut long = file();
    long.push(0);
    refused("too long", long, note, "copy 0: behind byte 1000001 the other end says copy");
    let mut short = file();
    short.truncate(999_990);
    refused("too short", short, note, "copy 0: byte 999990 is not that of the source");
    refused("another copy", file(), Note { copy: 1, ..note }, "says copy 1 of 1000001 B");
}

#[test]
fn an_end_before_the_file_is_whole_says_where() {
    let (ours, theirs) = pair();
    let sending = thread::spawn(move || {
        let mut note = [0; 16];
        let mut read = 0;
        while read < note.len() {
            read += receive(&theirs, &mut note[read..]).unwrap();
        }
        send_all(&theirs, &file()[..500_000]).unwrap();
    });
    let mut client = end(&params(&[]), Some(ours), false);
    client.begin(0).unwrap();
    let why = client.go_on(0).unwrap_err().to_string();
    assert_eq!(why, "copy 0: the file ended behind byte 500000 of 1000001");
    sending.join().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(128)
    })]

    #[test]
    fn any_changed_bit_is_found_at_its_byte(
        (seed, id) in (any::<u64>(), any::<u32>()),
        (page, length) in (any::<u32>(), 1..3 * PAGE),
        (at, bit) in (any::<prop::sample::Index>(), 0..8_u8),
    ) {
        let (content, from) = (Content::new(seed, id), u64::from(page) * PAGE as u64);
        let mut bytes = vec![0; length];
        content.fill(&mut bytes, from);
        prop_assert!(content.verify(&bytes, from).is_ok());
        prop_assert!(content.verify(&bytes, from + PAGE as u64).is_err() || length < 8);
        let at = at.index(length);
        bytes[at] ^= 1_u8 << bit;
        let why = content.verify(&bytes, from).unwrap_err().to_string();
        prop_assert_eq!(why, format!("byte {} is not that of the source", from + at as u64));
    }
}
