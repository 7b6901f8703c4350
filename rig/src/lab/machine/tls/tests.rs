//! Knows that both ends of a connection prove their roles in one lab, and that what is not theirs
//! is an error in words that name the remedy.

use super::super::{Order, Refusal, Reply, Said};
use super::*;
use crate::lab::trust::tests::Place;
use proptest::prelude::*;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;
use std::fs;
use std::io::Read as _;
use std::net::{Shutdown, TcpListener};
use std::path::Path;
use std::thread;
use std::time::Instant;

type Ends = (io::Result<Tls>, io::Result<Tls>);

/// Both ends of a connection; the agent's is made in a thread.
fn ends(agent: &Agent, connect: impl FnOnce(SocketAddr) -> io::Result<Tls>) -> Ends {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, agent) = (listener.local_addr().unwrap(), agent.clone());
    let other = thread::spawn(move || Tls::accept(listener.accept().unwrap().0, &agent));
    (connect(address), other.join().unwrap())
}

/// A lab with a machine `a`, and its agent.
fn lab(place: &Place) -> (Conductor, Agent) {
    let lab = place.lab("lab");
    let agent = place.joined(&lab, "a");
    (lab, agent)
}

fn joined(lab: &Conductor, agent: &Agent) -> (Tls, Tls) {
    let (conductor, agent) = ends(agent, |address| Tls::connect(address, "a", lab, WHOLE));
    (conductor.unwrap(), agent.unwrap())
}

/// Both ends are refused; each says so in these words.
fn refused(ends: Ends, conductor: &str, agent: &str) {
    refused_as(io::ErrorKind::PermissionDenied, ends, conductor, agent);
}

fn refused_as(kind: io::ErrorKind, ends: Ends, conductor: &str, agent: &str) {
    for (end, word) in [(ends.0, conductor), (ends.1, agent)] {
        let said = end.unwrap_err();
        assert!(said.to_string().contains(word), "{said}");
        assert_eq!(said.kind(), kind, "{said}");
    }
}

fn copy(from: &Path, to: &Path, names: &[(&str, &str)]) {
    for (one, other) in names {
        fs::copy(from.join(one), to.join(other)).unwrap();
    }
}

fn frame(channel: u16, body: &[u8]) -> Frame {
    Frame { channel, body: body.to_vec() }
}

fn readable(end: &Tls) -> bool {
    let none = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };
    poll(&mut [PollFd::new(&end.socket(), PollFlags::IN)], Some(&none)).unwrap() > 0
}

#[test]
fn frames_cross_in_both_directions_with_keep_alives_between() {
    let place = Place::new("tls-frames");
    let (lab, agent) = lab(&place);
    let (mut conductor, mut agent) = joined(&lab, &agent);
    let mut keep_alive = conductor.keep_alive().unwrap();
    conductor.send(3, b"one").unwrap();
    keep_alive().unwrap();
    conductor.send(4, b"two").unwrap();
    agent.send(0, b"three").unwrap();
    assert_eq!(agent.receive().unwrap(), frame(3, b"one"));
    assert_eq!(agent.receive().unwrap(), frame(KEEP_ALIVE, b""));
    assert_eq!(agent.receive().unwrap(), frame(4, b"two"));
    assert_eq!(conductor.receive().unwrap(), frame(0, b"three"));
    drop((conductor, keep_alive));
    assert_eq!(agent.receive().unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
}

#[test]
fn a_frame_waits_only_where_poll_sees_it() {
    let place = Place::new("tls-poll");
    let (lab, agent) = lab(&place);
    let (mut conductor, mut agent) = joined(&lab, &agent);
    assert!(!readable(&agent) && !readable(&conductor));
    let bodies = [vec![1; 3], vec![2; RECORD - HEAD], vec![3; RECORD - HEAD + 1], vec![4; 0]];
    for body in &bodies {
        conductor.send(1, body).unwrap();
    }
    for body in &bodies {
        assert!(readable(&agent));
        assert_eq!(agent.receive().unwrap(), frame(1, body));
    }
    assert!(!readable(&agent));
}

#[test]
fn keep_alives_go_out_while_the_same_end_waits_for_a_frame() {
    let place = Place::new("tls-waits");
    let (lab, agent) = lab(&place);
    let (mut conductor, mut agent) = joined(&lab, &agent);
    let mut keep_alive = conductor.keep_alive().unwrap();
    let waits = thread::spawn(move || conductor.receive());
    thread::sleep(Duration::from_millis(100));
    let begun = Instant::now();
    for _ in 0..3 {
        keep_alive().unwrap();
        assert_eq!(agent.receive().unwrap().channel, KEEP_ALIVE);
    }
    assert!(begun.elapsed() < Duration::from_secs(2));
    agent.send(9, b"late").unwrap();
    assert_eq!(waits.join().unwrap().unwrap(), frame(9, b"late"));
}

#[test]
fn a_frame_of_the_longest_body_comes_whole_in_both_directions_at_once() {
    let place = Place::new("tls-long");
    let (lab, agent) = lab(&place);
    let (mut conductor, mut agent) = joined(&lab, &agent);
    let body: Vec<u8> = (0..transport::BODY_MAX).map(|at| (at % 251) as u8).collect();
    let mut sends = Vec::new();
    for end in [&conductor, &agent] {
        let (link, body) = (Arc::clone(&end.link), body.clone());
        sends.push(thread::spawn(move || link.send(7, &body)));
    }
    let theirs = thread::spawn(move || agent.receive().unwrap());
    assert!(conductor.receive().unwrap() == frame(7, &body));
    assert!(theirs.join().unwrap() == frame(7, &body));
    for sent in sends {
        sent.join().unwrap().unwrap();
    }
    let said = conductor.send(7, &[&body[..], b"x"].concat()).unwrap_err().to_string();
    assert!(said.contains("the longest is 16777216 B"), "{said}");
}

#[test]
fn a_stranger_without_a_certificate_is_refused() {
    let place = Place::new("tls-stranger");
    let (_lab, agent) = lab(&place);
    let mut roots = rustls::RootCertStore::empty();
    roots.add(fs::read(place.at("lab/ca.crt")).unwrap().into()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let settings = rustls::ClientConfig::builder_with_provider(provider);
    let settings = settings.with_protocol_versions(&[&rustls::version::TLS13]).unwrap();
    let mut settings = settings.with_root_certificates(roots).with_no_client_auth();
    settings.alpn_protocols = vec![MACHINE_PROTOCOL.to_vec()];
    let stranger = |address| {
        let name = "agent.stend".try_into().unwrap();
        let tls = ClientConnection::new(Arc::new(settings), name).unwrap();
        let mut end = Tls::prove(TcpStream::connect(address)?, tls.into(), (Peer::Agent, WHOLE))?;
        end.receive().map(|_| end)
    };
    let word = "no certificate; only the conductor of the lab";
    refused(ends(&agent, stranger), word, word);
}

#[test]
fn an_end_of_another_lab_is_refused() {
    let place = Place::new("tls-other");
    let (_lab, agent) = lab(&place);
    let other = place.lab("other");
    let refusal = "another lab; `stend lab invite NAME`";
    refused(ends(&agent, |address| Tls::connect(address, "a", &other, WHOLE)), refusal, refusal);
    // One that believes the agent's lab, but has a certificate of another.
    copy(&place.at("lab"), &place.at("other"), &[("ca.crt", "ca.crt"), ("lab.json", "lab.json")]);
    let other = Conductor::open(&place.at("other")).unwrap();
    refused(ends(&agent, |address| Tls::connect(address, "a", &other, WHOLE)), refusal, refusal);
}

#[test]
fn an_agent_that_acts_as_conductor_is_refused() {
    let place = Place::new("tls-role");
    let (_lab, agent) = lab(&place);
    let forged = place.lab("forged");
    copy(&place.at("lab"), &place.at("forged"), &[("ca.crt", "ca.crt"), ("lab.json", "lab.json")]);
    let names = [("agent.crt", "conductor.crt"), ("agent.key", "conductor.key")];
    copy(&place.at("a"), &place.at("forged"), &names);
    let refusal = "not that of a conductor; a run takes the directory of `stend lab init`";
    refused(ends(&agent, |address| Tls::connect(address, "a", &forged, WHOLE)), refusal, refusal);
}

#[test]
fn a_conductor_that_acts_as_agent_is_refused() {
    let place = Place::new("tls-reverse");
    let (lab, _agent) = lab(&place);
    let names = [("conductor.crt", "agent.crt"), ("conductor.key", "agent.key")];
    copy(&place.at("lab"), &place.at("a"), &names);
    let forged = Agent::open(&place.at("a")).unwrap();
    let refusal = "not that of an agent; start `stend agent listen`";
    refused(ends(&forged, |address| Tls::connect(address, "a", &lab, WHOLE)), refusal, refusal);
}

#[test]
fn a_host_that_is_another_was_removed_or_is_in_no_list_is_refused() {
    let place = Place::new("tls-removed");
    let (lab, agent) = lab(&place);
    let before = fs::read_to_string(place.at("lab/lab.json")).unwrap();
    let unlisted = "does not list the machine";
    refused(ends(&agent, |address| Tls::connect(address, "b", &lab, WHOLE)), unlisted, unlisted);
    lab.remove("a").unwrap();
    let removed = "removed from the lab; `stend lab invite NAME`";
    refused(ends(&agent, |address| Tls::connect(address, "a", &lab, WHOLE)), removed, removed);
    let of_another = before.replace("\"fingerprint\": \"", "\"fingerprint\": \"0");
    fs::write(place.at("lab/lab.json"), of_another).unwrap();
    refused(ends(&agent, |address| Tls::connect(address, "a", &lab, WHOLE)), unlisted, unlisted);
    fs::write(place.at("lab/lab.json"), before).unwrap();
    joined(&lab, &agent);
}

#[test]
fn why_there_is_no_connection_is_told_apart_and_within_the_time() {
    let place = Place::new("tls-none");
    let (lab, _agent) = lab(&place);
    let within = Duration::from_millis(300);
    let connect = |address| {
        let begun = Instant::now();
        let said = Tls::connect(address, "a", &lab, within).unwrap_err();
        assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
        (said.kind(), said.to_string())
    };
    // It takes the connection and is silent, as an agent that serves another conductor.
    let busy = TcpListener::bind("127.0.0.1:0").unwrap();
    let (kind, said) = connect(busy.local_addr().unwrap());
    assert_eq!(kind, io::ErrorKind::TimedOut, "{said}");
    assert!(said.contains("does it serve another run"), "{said}");
    let free = busy.local_addr().unwrap();
    drop(busy);
    let (kind, said) = connect(free);
    assert_eq!(kind, io::ErrorKind::ConnectionRefused, "{said}");
    assert!(said.contains(&format!("start `stend agent listen {free}`")), "{said}");
}

#[test]
fn an_older_version_is_refused_by_both_names() {
    let place = Place::new("tls-version");
    let (lab, agent) = lab(&place);
    let (mut conductor, mut agent) = joined(&lab, &agent);
    let serves = thread::spawn(move || crate::keeper::serve(&mut agent, Path::new("/none")));
    let hello = serde_json::to_vec(&(1, Order::Hello("0.0.1".into()))).unwrap();
    conductor.send(0, &hello).unwrap();
    let said: Said = serde_json::from_slice(&conductor.receive().unwrap().body).unwrap();
    let Said::Reply(1, Reply::Refused(Refusal::Lab(why))) = said else { panic!("{said:?}") };
    assert!(why.contains("stend 0.0.1") && why.contains("must be the same"), "{why}");
    drop(conductor);
    serves.join().unwrap().1.unwrap();
}

#[test]
fn another_protocol_is_refused() {
    let place = Place::new("tls-protocol");
    let (lab, agent) = lab(&place);
    let (settings, name) = conductor_settings(&lab, "a").unwrap();
    let mut settings = Arc::unwrap_or_clone(settings);
    settings.alpn_protocols = vec![b"stend-machine/0".to_vec()];
    let older = |address| {
        let tls = ClientConnection::new(Arc::new(settings), name).unwrap();
        Tls::prove(TcpStream::connect(address)?, tls.into(), (Peer::Agent, WHOLE))
    };
    let refusal = "must be the same stend version";
    refused_as(io::ErrorKind::Unsupported, ends(&agent, older), refusal, refusal);
}

/// A frame of the conductor as it is on the wire.
fn sealed(end: &Tls, body: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    transport::write(&mut plain, 5, body).unwrap();
    let (mut wire, mut tls) = (Vec::new(), held(&end.link.tls));
    tls.writer().write_all(&plain).unwrap();
    while tls.wants_write() {
        tls.write_tls(&mut wire).unwrap();
    }
    wire
}

#[test]
fn a_frame_that_is_changed_repeated_left_out_or_cut_is_refused() {
    let place = Place::new("tls-changed");
    let (lab, agent) = lab(&place);
    for case in ["whole", "changed", "repeated", "left out", "cut"] {
        let (conductor, mut agent) = joined(&lab, &agent);
        let (first, second) = (sealed(&conductor, b"first"), sealed(&conductor, b"second"));
        let mut changed = first.clone();
        changed[7] ^= 1;
        let wire = match case {
            "changed" => [changed, second].concat(),
            "repeated" => [first.clone(), first].concat(),
            "left out" => [second.clone(), second].concat(),
            "cut" => first[..first.len() - 1].to_vec(),
            _ => [first, second].concat(),
        };
        let mut out = held(&conductor.link.out);
        out.write_all(&wire).unwrap();
        out.shutdown(Shutdown::Write).unwrap();
        let heard = agent.receive().and_then(|_| agent.receive());
        match case {
            "whole" => assert_eq!(heard.unwrap(), frame(5, b"second")),
            "cut" => assert_eq!(heard.unwrap_err().kind(), io::ErrorKind::UnexpectedEof),
            _ => {
                let said = heard.unwrap_err().to_string();
                assert!(said.contains("changed on its way"), "{case}: {said}");
            }
        }
    }
}

#[test]
fn two_frames_in_one_record_are_refused() {
    let place = Place::new("tls-two");
    let (lab, agent) = lab(&place);
    let (conductor, mut agent) = joined(&lab, &agent);
    let mut plain = Vec::new();
    transport::write(&mut plain, 5, b"one").unwrap();
    transport::write(&mut plain, 5, b"two").unwrap();
    let mut wire = Vec::new();
    let mut tls = held(&conductor.link.tls);
    tls.writer().write_all(&plain).unwrap();
    tls.write_tls(&mut wire).unwrap();
    held(&conductor.link.out).write_all(&wire).unwrap();
    let said = agent.receive().unwrap_err().to_string();
    assert!(said.contains("does not end with its record"), "{said}");
}

/// Bytes as a stranger may send them: any at all, or a record of any kind that holds them.
fn wire() -> impl Strategy<Value = Vec<u8>> {
    let body = || proptest::collection::vec(any::<u8>(), 0..300);
    let record = (20_u8..25, any::<u16>(), body()).prop_map(|(kind, length, body)| {
        let honest = u16::try_from(body.len()).unwrap();
        let length = if length % 4 == 0 { length } else { honest };
        let mut record = vec![kind, 3, 3];
        record.extend(length.to_be_bytes());
        record.extend(body);
        record
    });
    prop_oneof![body().boxed(), proptest::collection::vec(record, 1..4).prop_map(|r| r.concat())]
}

#[test]
fn chance_bytes_are_an_error_and_never_a_panic() {
    let place = Place::new("tls-chance");
    let (lab, agent) = lab(&place);
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) };
    proptest!(config, |(bytes in wire())| {
        // In place of a handshake, to either end.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut stranger = TcpStream::connect(address).unwrap();
        stranger.write_all(&bytes).unwrap();
        drop(stranger);
        prop_assert!(Tls::accept(listener.accept().unwrap().0, &agent).is_err());
        let sent = bytes.clone();
        let stranger = thread::spawn(move || {
            let mut stream = listener.accept().unwrap().0;
            // What the conductor says is heard, so that it is not reset before it has read.
            let _ = stream.read(&mut [0; 1 << 12]);
            let _ = stream.write_all(&sent);
        });
        prop_assert!(Tls::connect(address, "a", &lab, WHOLE).is_err());
        stranger.join().unwrap();
        // Behind a handshake.
        let (conductor, mut agent) = joined(&lab, &agent);
        let mut out = held(&conductor.link.out);
        out.write_all(&bytes).unwrap();
        out.shutdown(Shutdown::Write).unwrap();
        prop_assert!(agent.receive().is_err());
    });
}
