//! Knows what `icmp_rr` promises: each echo is compared, head and payload; what is lost, late or
//! doubled is counted as such. A socket of the test answers in place of a kernel.

use super::run::Echoes;
use crate::engine::exchange::datagrams::TIME_LIMIT;
use crate::engine::exchange::trial::{self, strays};
use crate::engine::exchange::{Counters, Exchange as _, Operations as _, Order, Slot};
use desk::record::{Settings, Value};
use desk::unit::Quantity;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

const BYTES: usize = 56;
/// Bytes of the head of an echo.
const HEAD: usize = 8;

fn order() -> Order {
    let limit = Value::Quantity(Quantity::seconds(0.02));
    let params = Settings::from([(TIME_LIMIT.name.to_owned(), limit)]);
    trial::order(((BYTES, BYTES), params), Duration::ZERO)
}

/// A client, and the socket that answers it.
struct Asked {
    client: <Echoes as crate::engine::exchange::Exchange>::Client,
    counters: Arc<Counters>,
    kernel: UdpSocket,
    id: u16,
}

impl Asked {
    fn new() -> Self {
        let [ours, kernel] = [(); 2].map(|()| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
        ours.connect(kernel.local_addr().unwrap()).unwrap();
        kernel.connect(ours.local_addr().unwrap()).unwrap();
        kernel.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
        let id = ours.local_addr().unwrap().port();
        let server = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let slot = Slot { id: 3, server, socket: None, datagrams: Some(Arc::new(ours)) };
        let (mut client, _) = Echoes::client(&order(), vec![slot]);
        let counters = Arc::new(Counters::default());
        client.count_in(&counters);
        Self { client, counters, kernel, id }
    }

    /// The echo of the request under way, as a kernel makes it.
    fn echo(&self) -> Vec<u8> {
        let mut echo = vec![0; HEAD + BYTES + 1];
        let bytes = self.kernel.recv(&mut echo).unwrap();
        assert_eq!((bytes, echo[0], echo[1]), (HEAD + BYTES, 8, 0));
        echo.truncate(bytes);
        echo[0] = 0;
        echo[4..6].copy_from_slice(&self.id.to_be_bytes());
        echo
    }

    /// What an echo comes to of which these are made.
    fn one(&mut self, answers: impl FnOnce(Vec<u8>) -> Vec<Vec<u8>>) -> io::Result<()> {
        self.client.begin(0)?;
        for answer in answers(self.echo()) {
            self.kernel.send(&answer).unwrap();
        }
        while !self.client.go_on(0)? {}
        Ok(())
    }
}

#[test]
fn what_is_lost_late_or_doubled_is_counted() {
    let mut asked = Asked::new();
    asked.one(|echo| vec![echo]).unwrap();
    let mut kept = Vec::new();
    let lost = asked.one(|echo| {
        kept = echo;
        Vec::new()
    });
    assert_eq!(asked.client.survived(0, &lost.unwrap_err()), Some("lost"));
    asked.one(|echo| vec![kept.clone(), echo.clone(), echo]).unwrap();
    assert_eq!(strays(&asked.counters), [1, 0, 0], "the second of two is not read yet");
    asked.one(|echo| vec![kept, echo]).unwrap();
    assert_eq!(strays(&asked.counters), [1, 2, 0]);
}

#[test]
fn a_damaged_echo_ends_the_load_and_says_what_is_wrong() {
    let refused = |at: usize| {
        let mut asked = Asked::new();
        let wrong = asked.one(|mut echo| {
            echo[at] ^= 1;
            vec![echo]
        });
        let wrong = wrong.unwrap_err();
        assert_eq!(wrong.kind(), io::ErrorKind::InvalidData, "{at}");
        assert_eq!(asked.client.survived(0, &wrong), None);
        wrong.to_string()
    };
    assert!(refused(0).contains("type 1, code 0"), "{}", refused(0));
    assert!(refused(1).contains("type 0, code 1"), "{}", refused(1));
    assert!(refused(5).contains("and not an echo of identifier"), "{}", refused(5));
    assert_eq!(refused(7), "datagram 0 has the number 1 in the head of its echo");
    for at in HEAD..HEAD + BYTES {
        let said = refused(at);
        assert!(said.contains("byte"), "{at}: {said}");
    }
}

#[test]
fn an_echo_that_is_cut_or_too_long_is_refused() {
    for change in [-1_isize, 1] {
        let mut asked = Asked::new();
        let wrong = asked.one(|mut echo| {
            echo.resize(echo.len().saturating_add_signed(change), 0);
            vec![echo]
        });
        assert_eq!(wrong.unwrap_err().kind(), io::ErrorKind::InvalidData, "{change}");
    }
}
