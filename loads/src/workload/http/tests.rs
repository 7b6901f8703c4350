//! Knows what `http` promises on loopback: each operation is a whole response that was asked for,
//! and what is none is a counted error or ends the trial.

use super::catalogue::Catalogue;
use super::run::client::Client;
use super::run::{Http, begin};
#[cfg(feature = "tls")]
use super::spec::TLS;
use super::spec::{
    COMPARED, COOKIE_SIZE, PAGE, PAGES, POPULARITY, REQUEST_SIZE, REQUESTS_PER_CONNECTION, SERVER,
    SIZES,
};
use crate::dataset::STREAM;
use crate::engine::exchange::trial::{self, Trial, accepted, ask, closed, run};
use crate::engine::exchange::{Exchange as _, Operations as _, Order, PIPELINED, Slot};
use crate::engine::net::content::content;
use crate::engine::pace::{Arrivals, OFFERED, Pace};
use desk::record::{Settings, Value};
use desk::unit::{Quantity, Unit};
use rustix::net::{AddressFamily, SocketType};
use std::collections::VecDeque;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// Every body is compared.
fn all_compared() -> Settings {
    Settings::from([(COMPARED.name.to_owned(), Value::Count(1))])
}

#[test]
fn what_a_proxy_harms_of_bodies_is_refused() {
    assert_eq!(accepted::<Http>(&((1, 1 << 20), all_compared()), &[true], 16), []);
}

#[test]
fn responses_are_counted_at_both_ends_whatever_their_size() {
    for (connections, bytes) in [(1, 1), (5, 3000), (1, 3 << 20), (3, 1 << 20)] {
        for own in [Settings::new(), all_compared()] {
            let Trial { server, clients } = closed::<Http>(connections, (1, bytes), own);
            assert_eq!((clients.error, server.error), (None, None));
            assert!(clients.done > 5, "{} of {bytes}", clients.done);
            assert!(server.done >= clients.done, "{} {}", server.done, clients.done);
            assert!(server.done <= clients.done + u64::from(connections));
            assert!(clients.counted.errors.is_empty(), "{:?}", clients.counted.errors);
            assert_eq!(clients.counted.silent, 0);
        }
    }
}

#[test]
fn connections_are_made_anew_after_so_many_requests() {
    for (connections, requests) in [(1, 1), (4, 1), (1, 7), (4, 7)] {
        let anew = (REQUESTS_PER_CONNECTION.name.to_owned(), Value::Count(requests));
        let Trial { server, clients } =
            closed::<Http>(connections, (1, 100), Settings::from([anew]));
        assert_eq!((clients.error, server.error), (None, None));
        assert!(clients.done > 20, "{}", clients.done);
        assert!(clients.counted.errors.is_empty(), "{:?}", clients.counted.errors);
    }
}

#[cfg(feature = "tls")]
#[test]
fn connections_are_encrypted() {
    for (connections, bytes) in [(1, 1), (4, 3000), (2, 300_000)] {
        for (how, requests) in [("full", 1), ("resumed", 1), ("full", 1000)] {
            let own = Settings::from([
                (TLS.name.to_owned(), Value::Word(how.into())),
                (REQUESTS_PER_CONNECTION.name.to_owned(), Value::Count(requests)),
            ]);
            let Trial { server, clients } = closed::<Http>(connections, (1, bytes), own);
            assert_eq!((clients.error, server.error), (None, None));
            assert!(clients.done > 5, "{} of {bytes}", clients.done);
            assert!(server.done >= clients.done, "{} {}", server.done, clients.done);
            assert!(clients.counted.errors.is_empty(), "{:?}", clients.counted.errors);
        }
    }
}

#[test]
fn several_pages_are_asked_for_each_with_its_own_content() {
    let word = |name: &str, word: &str| (name.to_owned(), Value::Word(word.into()));
    for (pages, sizes, each) in [(50, "same", 1), (72, "specweb96", 1), (72, "specweb96", 4)] {
        let own = Settings::from([
            (PAGES.name.to_owned(), Value::Count(pages)),
            word(SIZES.name, sizes),
            word(POPULARITY.name, "zipf"),
            (COMPARED.name.to_owned(), Value::Count(1)),
            (PIPELINED.name.to_owned(), Value::Count(each)),
        ]);
        let Trial { server, clients } = closed::<Http>(4, (1, 3000), own);
        assert_eq!((clients.error, server.error), (None, None));
        assert!(clients.done > 20, "{}", clients.done);
        assert!(clients.counted.errors.is_empty(), "{:?}", clients.counted.errors);
        #[expect(clippy::cast_precision_loss, reason = "bytes of 150 ms")]
        let mean = clients.received as f64 / (clients.done * each) as f64;
        match sizes {
            "same" => assert!((mean - 3000.0).abs() < 1e-9, "{mean}"),
            // By hand: 35 % of 500 B, 50 % of 5 KiB, 14 % of 50 KiB and 1 % of 500 KiB are about
            // 14.7 kB.
            _ => assert!((5e3..40e3).contains(&mean), "{mean}"),
        }
    }
}

#[test]
fn a_page_in_place_of_another_one_ends_the_load() {
    let mut order = order(10);
    order.params.insert(PAGES.name.into(), Value::Count(2));
    let all = content(order.data_seed, STREAM, 10);
    let from = [0, Catalogue::of(&order).unwrap().page(1).from as usize];
    let said = |page: usize| {
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n";
        [&head[..], &all[from[page]..from[page] + 10]].concat()
    };
    let went = [0, 1].map(|page| asked((&said(page), false), &order).0);
    assert!(went.contains(&Ok(true)), "{went:?}");
    assert!(went.contains(&Err(io::ErrorKind::InvalidData)), "the same page is asked: {went:?}");
}

#[test]
fn requests_post_what_the_server_compares_and_carry_a_cookie() {
    for (connections, bytes) in [(1, 1), (3, 5000), (2, 1 << 20)] {
        #[expect(clippy::cast_precision_loss, reason = "at most 1 MiB")]
        let size = |bytes: usize| Value::Quantity(Quantity::new(bytes as f64, Unit::Byte));
        let own = Settings::from([
            (REQUEST_SIZE.name.to_owned(), size(bytes)),
            (COOKIE_SIZE.name.to_owned(), size(2000)),
        ]);
        let Trial { server, clients } = closed::<Http>(connections, (bytes, 100), own.clone());
        assert_eq!((clients.error, server.error), (None, None));
        assert!(clients.done > 5, "{} of {bytes}", clients.done);
        assert!(clients.counted.errors.is_empty(), "{:?}", clients.counted.errors);
        let why = |each, server: &str| {
            let mut params = own.clone();
            params.insert(SERVER.name.into(), Value::Word(server.into()));
            Http::refuses(&Order { params, each, ..order(10) })
        };
        assert_eq!(why(1, "builtin"), None);
        assert!(why(4, "builtin").unwrap().contains("write pipelined = 1"));
        assert!(why(1, "nginx").unwrap().contains("page = \"php\""));
    }
}

#[test]
fn several_requests_are_sent_at_once() {
    for (connections, bytes, requests) in [(1, 1, 64), (4, 3000, 8), (2, 100_000, 64)] {
        let own = Settings::from([
            (PIPELINED.name.to_owned(), Value::Count(8)),
            (REQUESTS_PER_CONNECTION.name.to_owned(), Value::Count(requests)),
        ]);
        let Trial { server, clients } = closed::<Http>(connections, (1, bytes), own);
        assert_eq!((clients.error, server.error), (None, None));
        assert!(clients.done > 5, "{} of {bytes}", clients.done);
        assert!(server.done >= 8 * clients.done, "{} {}", server.done, clients.done);
        assert!(server.done <= 8 * (clients.done + u64::from(connections)));
        assert!(clients.counted.errors.is_empty(), "{:?}", clients.counted.errors);
    }
}

#[test]
fn each_of_several_responses_is_looked_at() {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n";
    let right = [head.as_bytes(), &body()].concat();
    let no = b"HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\nno".to_vec();
    let last = [b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".as_slice(), &body()].concat();
    let asked = |all: &[&Vec<u8>], drips| {
        let said: Vec<u8> = all.iter().flat_map(|one| one.iter().copied()).collect();
        asked((&said, drips), &Order { each: 3, ..order(10) })
    };
    for drips in [false, true] {
        assert_eq!(asked(&[&right, &right, &right], drips), (Ok(true), None));
        assert_eq!(asked(&[&right, &right, &last], drips), (Ok(true), None));
        for (all, class) in [
            (vec![&right, &no, &right], "status_5xx"),
            (vec![&right, &right], "closed"),
            (vec![&right, &last], "truncated"),
        ] {
            let (went, told) = asked(&all, drips);
            assert!(told == Some(class) || told == Some("reset"), "{class}: {told:?} {went:?}");
        }
    }
    let (_, told) = asked(&[&right, &right, &right, &right], false);
    assert!(told == Some("unasked") || told == Some("reset"), "{told:?}");
}

#[test]
fn requests_at_once_are_refused_where_they_cannot_be() {
    let why = |key: &str, value| {
        let params = Settings::from([(key.to_owned(), value)]);
        Http::refuses(&Order { params, each: 4, ..order(10) })
    };
    let offered = Value::Quantity(Quantity::new(1500.0, Unit::OperationPerSecond));
    assert!(why(OFFERED.name, offered).unwrap().contains("1.5"));
    assert!(
        why(REQUESTS_PER_CONNECTION.name, Value::Count(6)).unwrap().contains("6 is no multiple")
    );
    assert_eq!(why(REQUESTS_PER_CONNECTION.name, Value::Count(8)), None);
    assert_eq!(why(OFFERED.name, Value::Word("full".into())), None);
}

#[test]
fn an_open_loop_asks_when_it_is_due() {
    for connections in [1, 5] {
        let pace = Pace { arrivals: Arrivals::Poisson, rate: 1000.0, offset: 0.0, seed: 1 };
        let window = Duration::from_millis(300);
        let Trial { server, clients } =
            run::<Http>((connections, Some(pace)), ((1, 200), Settings::new()), window);
        assert_eq!((clients.error, server.error), (None, None));
        assert!((150..=900).contains(&clients.done), "{}", clients.done);
    }
}

pub(super) fn order(response: usize) -> Order {
    trial::order(((1, response), all_compared()), Duration::ZERO)
}

/// A server that says this to each request on one connection after the other, a byte a packet
/// where it is told so.
fn scripted(said: Vec<u8>, drips: bool) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let _ = say(socket, &said, drips);
        }
    });
    address
}

fn say(mut socket: TcpStream, said: &[u8], drips: bool) -> io::Result<()> {
    let mut asked = [0; 4096];
    if socket.read(&mut asked)? == 0 {
        return Ok(());
    }
    for piece in said.chunks(if drips { 1 } else { said.len().max(1) }) {
        socket.write_all(piece)?;
        if drips {
            thread::sleep(Duration::from_micros(200));
        }
    }
    Ok(())
}

/// The end of the first operation against such a server, and the class of its error.
fn first(said: &[u8], drips: bool) -> (Result<bool, io::ErrorKind>, Option<&'static str>) {
    asked((said, drips), &order(10))
}

/// The same of an order.
fn asked(
    (said, drips): (&[u8], bool),
    order: &Order,
) -> (Result<bool, io::ErrorKind>, Option<&'static str>) {
    let server = scripted(said.to_vec(), drips);
    let mut client = Client::of(order, vec![Slot { id: 0, server, socket: None, datagrams: None }]);
    let went = client.begin(0).and_then(|()| {
        loop {
            if client.go_on(0)? {
                return Ok(true);
            }
        }
    });
    let class = went.as_ref().err().and_then(|e| client.survived(0, e));
    (went.map_err(|e| e.kind()), class)
}

fn body() -> Vec<u8> {
    content(order(10).data_seed, STREAM, 10)[..10].to_vec()
}

#[test]
fn every_framing_of_the_right_body_is_taken_however_it_comes() {
    let ok = |fields: &str, body: &[u8]| {
        [format!("HTTP/1.1 200 OK\r\n{fields}\r\n").as_bytes(), body].concat()
    };
    let body = body();
    let chunked = [b"3\r\n", &body[..3], b"\r\n7;x=y\r\n", &body[3..], b"\r\n0\r\nT: u\r\n\r\n"];
    for said in [
        ok("Content-Length: 10\r\n", &body),
        ok("Transfer-Encoding: chunked\r\n", &chunked.concat()),
        ok("Connection: close\r\n", &body),
    ] {
        for drips in [false, true] {
            assert_eq!(first(&said, drips), (Ok(true), None), "{}", String::from_utf8_lossy(&said));
        }
    }
}

#[test]
fn a_body_that_ends_with_its_connection_is_taken_from_many_connections_too() {
    let own = content(order(3000).data_seed, STREAM, 3000)[..3000].to_vec();
    let said = [b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", &own[..]].concat();
    let server = scripted(said, false);
    let load = ((3, None), ((1, 3000), all_compared()));
    let (_, clients) = ask::<Http>(server.port(), load, Duration::from_millis(300));
    assert_eq!(clients.error, None);
    assert!(clients.done > 100, "{}", clients.done);
    assert!(clients.counted.errors.is_empty(), "{:?}", clients.counted.errors);
}

#[test]
fn what_is_not_asked_for_is_a_counted_error_or_ends_the_load() {
    let with = |text: &str, body: &[u8]| [text.as_bytes(), body].concat();
    let right = body();
    let mut changed = body();
    changed[9] ^= 1;
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n";
    let ends: [Vec<u8>; 4] = [
        with(head, &changed),
        with("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n", &[&right[..], b"x"].concat()),
        with("HTTP/1.1 200 OK\r\n\r\n", &right[..9]),
        with("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nz\r\n"),
    ];
    for said in ends {
        let told = String::from_utf8_lossy(&said).into_owned();
        assert_eq!(first(&said, false), (Err(io::ErrorKind::InvalidData), None), "{told}");
    }
    let long = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "y".repeat(1 << 20));
    let counted = [
        (with(head, &right[..9]), "truncated"),
        (with(head, &[&right[..], b"x"].concat()), "unasked"),
        (b"HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\nno".to_vec(), "status_5xx"),
        (b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n".to_vec(), "status_4xx"),
        (b"HTTP/1.1 302 No\r\nContent-Length: 0\r\n\r\n".to_vec(), "status_3xx"),
        (b"SSH-2.0-OpenSSH\r\n".to_vec(), "malformed"),
        (b"".to_vec(), "truncated"),
        (long.into_bytes(), "head_too_large"),
    ];
    for (said, class) in counted {
        let (went, told) = first(&said, false);
        // A server that leaves with unread bytes may reset the connection.
        assert!(told == Some(class) || told == Some("reset"), "{class}: {told:?} {went:?}");
    }
}

#[test]
fn an_answer_that_comes_before_its_request_is_whole_ends_it() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    // Reads the beginning, says no, and reads no more.
    thread::spawn(move || {
        let mut open = VecDeque::new();
        for mut socket in listener.incoming().flatten() {
            let _ = socket.read(&mut [0; 100]);
            let _ = socket.write_all(b"HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n");
            open.push_back(socket);
            // With all of them the process would run out of descriptors, and answer nobody.
            if open.len() > 64 {
                open.pop_front();
            }
        }
    });
    // More than the socket takes (`tcp_wmem` is 4 MiB at most): one that it took is whole.
    let bytes: u32 = 16 << 20;
    let size = Value::Quantity(Quantity::new(f64::from(bytes), Unit::Byte));
    let own = Settings::from([(REQUEST_SIZE.name.to_owned(), size)]);
    let load = ((3, None), ((bytes as usize, 10), own));
    let (_, clients) = ask::<Http>(port, load, Duration::from_millis(300));
    assert_eq!(clients.error, None);
    let classes: Vec<&String> = clients.counted.errors.keys().collect();
    assert_eq!(classes, ["status_4xx"]);
}

#[test]
fn silence_is_a_time_out_and_nobody_there_is_refused() {
    let end = |server| {
        let mut client =
            Client::of(&order(10), vec![Slot { id: 0, server, socket: None, datagrams: None }]);
        let went = client.begin(0).and_then(|()| client.go_on(0));
        client.survived(0, &went.unwrap_err())
    };
    let silent = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    rustix::net::bind(&silent, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
    let server = rustix::net::getsockname(&silent).unwrap().try_into().unwrap();
    assert_eq!(end(server), Some("refused"));
    rustix::net::listen(&silent, 1).unwrap();
    assert_eq!(end(server), Some("timeout"));
}

#[test]
fn a_page_of_php_is_refused_by_a_server_without_it() {
    let asked = |server: &str, page: &str| {
        let word = |key: &str, word: &str| (key.to_owned(), Value::Word(word.into()));
        let params = Settings::from([word(SERVER.name, server), word(PAGE.name, page)]);
        Http::refuses(&Order { params, ..order(10) })
    };
    for server in ["builtin", "nginx", "apache_event"] {
        assert_eq!(asked(server, "file"), None);
        for page in ["php", "php_sql"] {
            let why = asked(server, page).unwrap();
            assert!(why.contains(page) && why.contains("apache_prefork_php"), "{why}");
        }
    }
    for server in ["apache_prefork_php", "nginx_fpm"] {
        assert_eq!(asked(server, "php_sql"), None);
    }
}

#[test]
fn a_request_names_the_data_set() {
    let key = |order: &Order| Http::data_set(order).unwrap();
    assert_eq!(begin(&order(10)), format!("/{}/", key(&order(10))));
    let other = Order { seed: 1, ..order(10) };
    assert_eq!(key(&other), key(&order(10)), "a data set is the same in all trials of a run");
    let other = Order { data_seed: 1, ..order(10) };
    assert_ne!(key(&other), key(&order(10)));
}
