//! Knows what `tcp_crr` promises on loopback: each operation is a whole connection.

use super::run::Anew;
use crate::engine::exchange::trial::{Trial, closed, run};
use crate::engine::pace::{Arrivals, OFFERED, Pace};
use desk::record::{Settings, Value};
use desk::unit::{Quantity, Unit};
use std::time::Duration;

#[test]
fn every_operation_is_a_connection_of_its_own() {
    for connections in [1, 5] {
        let Trial { server, clients } = closed::<Anew>(connections, (700, 3000), Settings::new());
        assert_eq!(clients.error, None);
        assert_eq!(server.error, None);
        assert!(clients.done > 100, "{}", clients.done);
        assert!(server.done >= clients.done, "{} {}", server.done, clients.done);
        assert!(server.done <= clients.done + u64::from(connections));
        assert!(clients.counted.errors.is_empty(), "{:?}", clients.counted.errors);
    }
}

/// In an open loop a connection is closed at its end, not when the next one is due.
#[test]
fn an_open_loop_makes_what_is_due() {
    for connections in [1, 5] {
        let pace = Pace { arrivals: Arrivals::Constant, rate: 1000.0, offset: 0.0, seed: 1 };
        let offered = Quantity::new(1000.0, Unit::OperationPerSecond);
        let own = Settings::from([(OFFERED.name.to_owned(), Value::Quantity(offered))]);
        let window = Duration::from_millis(300);
        let Trial { server, clients } =
            run::<Anew>((connections, Some(pace)), ((100, 200), own), window);
        assert_eq!((clients.error, server.error), (None, None));
        assert!((150..=900).contains(&clients.done), "{}", clients.done);
        assert!(server.done >= clients.done, "{} {}", server.done, clients.done);
    }
}
