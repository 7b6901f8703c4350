//! Knows what `tcp_crr` promises on loopback: each operation is a whole connection.

use super::run::Anew;
use crate::engine::exchange::trial::{Trial, closed};
use desk::record::Settings;

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
