//! Knows the streams of a trial: which there are, who sends on each, on which CPUs their ends run.
//!
//! Must not know what they carry.

use super::Cpus;
use desk::record::{ParamKind, ParamRole, ParamSpec, Settings, Value};
use desk::unit::Kind;
use serde::{Deserialize, Serialize};

/// How many clients take part in a load.
pub const CLIENTS: ParamSpec = ParamSpec {
    name: "clients",
    about: "client hosts that take part, from the first on; all: those of the lab",
    role: Some(ParamRole::Clients),
    kind: ParamKind::count(1, 64).or(&["all"]),
    default: "all",
};

/// The rate of streams that are paced.
pub const OFFERED: ParamSpec = ParamSpec {
    name: "offered_load",
    about: "bit/s of all streams of one direction together, sent on a schedule; or full",
    role: Some(ParamRole::Offered),
    kind: ParamKind::within(Kind::Rate, 1e4, 1e12).or(&["full"]),
    default: "full",
};

/// Whether the two streams of a pair share a connection.
pub const DUPLEX_ON: ParamSpec = ParamSpec {
    name: "duplex_on",
    about: "connections of a pair of streams of direction duplex: two, or one that carries both",
    role: None,
    kind: ParamKind::choice(&["two", "one"]),
    default: "two",
};

/// Where both ends of a stream run.
pub const PLACEMENT: ParamSpec = ParamSpec {
    name: "placement",
    about: "CPUs of the two ends of a stream: same, spread (neighbours), none (not pinned)",
    role: Some(ParamRole::Place),
    kind: ParamKind::choice(&["same", "spread", "none"]),
    default: "same",
};

/// How much one system call carries.
pub const QUEUE_DEPTH: ParamSpec = ParamSpec {
    name: "queue_depth",
    about: "requests outstanding in one system call, engine batch only; IOmeter's queue depth",
    role: Some(ParamRole::Depth),
    kind: ParamKind::count(1, 1024),
    default: "64",
};

/// Who sends on a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Direction {
    /// The system under test sends.
    Transmit,
    /// The client sends.
    Receive,
}

/// One stream as planned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamPlan {
    /// Number in this trial.
    pub id: u32,
    /// Index of the client's host.
    pub client: usize,
    /// Who sends.
    pub direction: Direction,
    /// CPU of the server's thread.
    pub server_cpu: Option<u32>,
    /// CPU of the client's thread.
    pub client_cpu: Option<u32>,
    /// Its number among the streams of its direction, from 0; paced streams begin one after the
    /// other within one interval.
    pub turn: u32,
    /// The stream, of the other direction, on whose connection it goes; none where it has its own.
    pub on: Option<u32>,
}

impl StreamPlan {
    /// Number and kind in the opening of its connection.
    #[must_use]
    pub const fn opening(&self) -> (u32, u8) {
        (self.id, matches!(self.direction, Direction::Receive) as u8)
    }

    /// What it is called, by the names of the hosts.
    #[must_use]
    pub fn name(&self, hosts: &[String]) -> String {
        let direction = match self.direction {
            Direction::Transmit => "transmit",
            Direction::Receive => "receive",
        };
        let client = hosts.get(self.client).map_or("?", String::as_str);
        format!("{client}.{} {direction}", self.id)
    }
}

/// How many of the clients of a lab take part.
#[must_use]
pub fn taking_part(params: &Settings, clients: u32) -> u32 {
    let wanted = params.get(CLIENTS.name).and_then(Value::count);
    wanted.and_then(|count| u32::try_from(count).ok()).map_or(clients, |count| count.min(clients))
}

/// What each client of a lab has, where all together have `amount` and those who take part share it
/// alike: as many figures as clients, in the unit of `amount`, 0 for those who stand idle.
#[must_use]
pub fn shared_out(amount: f64, params: &Settings, clients: u32) -> Vec<f64> {
    let part = taking_part(params, clients);
    let share = |at: u32| if at < part { amount / f64::from(part) } else { 0.0 };
    (0..clients).map(share).collect()
}

/// Every stream of the trial with the CPUs of its ends: the server's dealt in turn from those that
/// it may use, the client's the same or the next.
#[must_use]
pub fn plan_streams(params: &Settings, clients: u32, cpus: Cpus<'_>) -> Vec<StreamPlan> {
    let word = |key: &str| params.get(key).and_then(Value::word).unwrap_or_default().to_owned();
    let directions: &[Direction] = match word("direction").as_str() {
        "transmit" => &[Direction::Transmit],
        "receive" => &[Direction::Receive],
        _ => &[Direction::Transmit, Direction::Receive],
    };
    let (placement, shares) = (word("placement"), word(DUPLEX_ON.name) == "one");
    let per_client = params.get("streams").and_then(Value::count).unwrap_or(1);
    let mut streams: Vec<StreamPlan> = Vec::new();
    for host in 1..=taking_part(params, clients) as usize {
        for _ in 0..per_client {
            let first = u32::try_from(streams.len()).unwrap_or(u32::MAX);
            for direction in directions {
                let at = streams.len();
                let id = u32::try_from(at).unwrap_or(u32::MAX);
                let turn = at / directions.len();
                let pinned = placement != "none";
                let client = if placement == "same" { cpus.server(at) } else { cpus.neighbour(at) };
                streams.push(StreamPlan {
                    id,
                    client: host,
                    direction: *direction,
                    server_cpu: pinned.then(|| cpus.server(at)),
                    client_cpu: pinned.then_some(client),
                    turn: u32::try_from(turn).unwrap_or(u32::MAX),
                    on: (shares && id != first).then_some(first),
                });
            }
        }
    }
    streams
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_ends_keep_to_its_cpus_and_the_clients_are_beside_them() {
        let of = |placement: &str, server: &[u32]| -> Vec<(Option<u32>, Option<u32>)> {
            let word = |text: &str| Value::Word(text.into());
            let params = Settings::from([
                ("placement".to_owned(), word(placement)),
                ("direction".to_owned(), word("transmit")),
                ("streams".to_owned(), Value::Count(3)),
            ]);
            let cpus = Cpus { server, all: &[0, 1, 4, 5] };
            let streams = plan_streams(&params, 1, cpus);
            streams.iter().map(|s| (s.server_cpu, s.client_cpu)).collect()
        };
        let pair = |server, client| (Some(server), Some(client));
        assert_eq!(of("same", &[0, 1, 4, 5]), [pair(0, 0), pair(1, 1), pair(4, 4)]);
        assert_eq!(of("spread", &[0, 1, 4, 5]), [pair(0, 1), pair(1, 4), pair(4, 5)]);
        assert_eq!(of("same", &[4]), [pair(4, 4); 3]);
        assert_eq!(of("spread", &[1, 5]), [pair(1, 4), pair(5, 0), pair(1, 4)]);
        assert_eq!(of("none", &[4]), [(None, None); 3]);
    }

    #[test]
    fn the_first_so_many_clients_have_streams_and_all_where_no_number_is_told() {
        let of = |wanted: Option<Value>| -> Vec<usize> {
            let streams = Some(("streams".to_owned(), Value::Count(2)));
            let direction = Some(("direction".to_owned(), Value::Word("transmit".into())));
            let wanted = wanted.map(|value| (CLIENTS.name.to_owned(), value));
            let params: Settings = [streams, direction, wanted].into_iter().flatten().collect();
            let all = plan_streams(&params, 3, Cpus { server: &[0], all: &[0] });
            all.iter().map(|stream| stream.client).collect()
        };
        assert_eq!(of(Some(Value::Count(1))), [1, 1]);
        assert_eq!(of(Some(Value::Count(2))), [1, 1, 2, 2]);
        for all in [None, Some(Value::Word("all".into())), Some(Value::Count(9))] {
            assert_eq!(of(all), [1, 1, 2, 2, 3, 3]);
        }
    }

    #[test]
    fn one_connection_carries_both_streams_of_a_pair() {
        let on = |shares: &str| -> Vec<Option<u32>> {
            let word = |text: &str| Value::Word(text.into());
            let params = Settings::from([
                ("placement".to_owned(), word("same")),
                ("direction".to_owned(), word("duplex")),
                ("duplex_on".to_owned(), word(shares)),
                ("streams".to_owned(), Value::Count(2)),
            ]);
            let streams = plan_streams(&params, 1, Cpus { server: &[0, 1], all: &[0, 1] });
            streams.iter().map(|stream| stream.on).collect()
        };
        assert_eq!(on("two"), [None; 4]);
        assert_eq!(on("one"), [None, Some(0), None, Some(2)]);
    }
}
