//! Knows what the relay did with frames between staging and the end, and what it cost.
//!
//! It tells before go and after the stop, as carriers do: an answer takes a message, and its counts
//! are of all that passed. Keys end in the link by which frames came. Must not know what was wanted
//! of the path, nor what late frames mean.

use super::{per_wall, reading};
use crate::lab::relay::{Counts, RelayRequest, Told};
use crate::lab::{Lab, LabError};
use desk::record::Reading;
use desk::unit::Unit;

/// What the relay had counted at a moment; nothing in a lab without one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Relayed {
    told: Option<(String, Told)>,
}

impl Relayed {
    /// Has the relay begin its chance with a seed, and tell.
    ///
    /// # Errors
    /// When it is gone, or carries no more.
    pub fn begin(lab: &mut Lab, seed: u64) -> Result<Self, LabError> {
        Self::ask(lab, RelayRequest::Seed(seed))
    }

    /// What it has counted by now.
    ///
    /// # Errors
    /// As [`Self::begin`].
    pub fn read(lab: &mut Lab) -> Result<Self, LabError> {
        Self::ask(lab, RelayRequest::Tell)
    }

    fn ask(lab: &mut Lab, request: RelayRequest) -> Result<Self, LabError> {
        let Some(name) = lab.relay_name().map(str::to_owned) else { return Ok(Self::default()) };
        Ok(Self { told: Some((name, lab.ask_relay(request)?)) })
    }

    /// What happened since `before`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Vec<Reading> {
        let (Some((host, now)), Some((_, then))) = (&self.told, &before.told) else {
            return Vec::new();
        };
        let wall = now.at_ns.saturating_sub(then.at_ns);
        let spun = now.spun_ns.saturating_sub(then.spun_ns);
        let used = now.cpu_ns.saturating_sub(then.cpu_ns).saturating_sub(spun);
        let mut rows = vec![
            reading("relay", host, "cpu", per_wall(used, wall), Unit::Cpu),
            reading("relay", host, "waiting", per_wall(spun, wall), Unit::Cpu),
        ];
        if let Some(rate) = now.distance.rate {
            rows.push(reading("relay", host, "rate", float(rate), Unit::BitPerSecond));
        }
        for ((link, now), (_, then)) in now.ways.iter().zip(&then.ways) {
            rows.extend(way((host, link), now, then));
        }
        rows
    }
}

/// One direction.
fn way((host, link): (&str, &str), now: &Counts, then: &Counts) -> Vec<Reading> {
    let gained = |of: fn(&Counts) -> u64| float(of(now).saturating_sub(of(then)));
    let count =
        |key: &str, value| reading("relay", host, &format!("{key}.{link}"), value, Unit::Count);
    let time = |key: &str, ns: f64| {
        reading("relay", host, &format!("{key}.{link}"), ns / 1e9, Unit::Second)
    };
    let forwarded = gained(|c| c.forwarded);
    vec![
        count("received", gained(|c| c.received)),
        count("forwarded", forwarded),
        count("lost", gained(|c| c.lost)),
        count("reordered", gained(|c| c.reordered)),
        count("full", gained(|c| c.full)),
        count("dropped", gained(|c| c.missed + c.crowded + c.refused)),
        count("missed", gained(|c| c.missed)),
        count("long", gained(|c| c.long)),
        count("late", gained(|c| c.late)),
        time("behind", gained(|c| c.behind_ns) / forwarded.max(1.0)),
        time("behind_most", float(now.behind_most_ns)),
    ]
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
const fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::relay::Distance;

    fn told(at_ns: u64, counts: Counts) -> Relayed {
        let distance = Distance { rate: Some(1_000_000), ..Distance::default() };
        let (cpu_ns, spun_ns) = (at_ns / 2, at_ns / 10);
        let ways = vec![("near".into(), counts), ("far".into(), Counts::default())];
        let told = Told { distance, ways, cpu_ns, spun_ns, at_ns, ..Told::default() };
        Relayed { told: Some(("wan".into(), told)) }
    }

    #[test]
    fn each_direction_tells_what_it_gained_and_the_thread_what_it_cost() {
        let before = Counts { received: 10, forwarded: 9, lost: 1, ..Counts::default() };
        let counts = Counts {
            received: 120,
            forwarded: 109,
            lost: 3,
            missed: 4,
            crowded: 2,
            refused: 1,
            behind_ns: 5_000,
            ..before
        };
        let rows = told(3_000, counts).since(&told(1_000, before));
        let of = |key: &str| {
            let row = rows.iter().find(|row| row.key == key);
            row.map(|row| (row.host.name(), row.quantity.value))
        };
        assert_eq!(of("cpu"), Some(("wan", 0.4)), "half of the time less a tenth of waiting");
        assert_eq!(of("received.near"), Some(("wan", 110.0)));
        assert_eq!(of("lost.near"), Some(("wan", 2.0)));
        assert_eq!(of("dropped.near"), Some(("wan", 7.0)));
        assert_eq!(of("missed.near"), Some(("wan", 4.0)));
        assert_eq!(of("behind.near"), Some(("wan", 5e-8)));
        assert_eq!(of("forwarded.far"), Some(("wan", 0.0)));
        assert_eq!(Relayed::default().since(&before_none()), Vec::new());
    }

    fn before_none() -> Relayed {
        Relayed::default()
    }
}
