//! Knows what `tcp_rr` promises on loopback: every answer is compared and counted, at either end.

use super::run::Kept;
use crate::engine::exchange::trial::{Trial, accepted, closed};
use desk::record::Settings;

#[test]
fn requests_are_answered_one_by_one_and_many_at_once() {
    for connections in [1, 5] {
        let Trial { server, clients } = closed::<Kept>(connections, (700, 3000), Settings::new());
        assert_eq!(clients.error, None);
        assert_eq!(server.error, None);
        assert!(clients.done > 100, "{}", clients.done);
        assert_eq!(clients.done, server.done, "all that were begun were finished");
        assert_eq!(clients.counted.slots.len(), connections as usize);
        assert!(clients.counted.slots.iter().all(|done| *done > 10), "none was left behind");
    }
}

#[test]
fn what_a_proxy_harms_is_refused_at_one_end_or_the_other() {
    let own = ((700, 3000), Settings::new());
    assert_eq!(accepted::<Kept>(&own, &[false, true], 24), []);
}
