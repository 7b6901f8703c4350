//! Knows what `tcp_rr` promises on loopback: every answer is compared and counted, at either end.

use super::run::Kept;
use crate::engine::exchange::BESIDE;
use crate::engine::exchange::trial::{Trial, accepted, closed, ends};
use desk::record::{Settings, Value};
use std::time::Duration;

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
fn a_stream_beside_goes_its_way_while_requests_are_answered() {
    let moved = |way: &str| {
        let own = Settings::from([(BESIDE.name.to_owned(), Value::Word(way.into()))]);
        let (servers, clients) =
            ends::<Kept>((1, None), ((1, 1), own), Duration::from_millis(150), |port| port);
        let errors = servers.iter().chain([&clients]).filter_map(|end| end.error.as_ref());
        assert_eq!(errors.count(), 0, "{way}: {servers:?}");
        assert!(clients.done > 10 && servers[0].done == clients.done, "{way}: {}", clients.done);
        servers[1..].iter().map(|end| (end.sent > 1 << 20, end.received > 1 << 20)).collect()
    };
    let none: Vec<(bool, bool)> = moved("none");
    assert_eq!(none, []);
    assert_eq!(moved("transmit"), [(true, false)]);
    assert_eq!(moved("receive"), [(false, true)]);
    assert_eq!(moved("duplex"), [(true, false), (false, true)]);
}

#[test]
fn what_a_proxy_harms_is_refused_at_one_end_or_the_other() {
    let own = ((700, 3000), Settings::new());
    assert_eq!(accepted::<Kept>(&own, &[false, true], 24), []);
}
