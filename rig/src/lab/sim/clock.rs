//! Knows what the clock of a host shows, and when a host that goes by it does what it is told.
//!
//! A clock is agreed with that of the conductor when it is go, as a handshake would do; from there
//! it runs at its own rate, and a step moves it where one falls into the trial. Must not know what
//! is read at the moments.

use super::field::At;
use super::physics::Physics;
use std::collections::BTreeMap;

/// The clock of one host within one trial. All moments are nanoseconds; true ones are of the
/// simulated clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostClock {
    /// Its seconds for each true second.
    pub rate: f64,
    /// When it is go, and by both clocks.
    go_ns: f64,
    /// The true moment of its step, and by how much; none within this trial.
    step: Option<(f64, f64)>,
}

/// The clocks that are wrong, for a trial that goes at this moment of a run that began at one and
/// takes so long, seconds.
#[must_use]
pub fn clocks(physics: &Physics, go_s: f64, (began_s, run_s): (f64, f64)) -> Clocks {
    let wrong = physics.clocks.iter().map(|(host, clock)| {
        let at_s = began_s
            + match clock.at {
                At::Share(share) => share * run_s,
                At::Seconds(seconds) => seconds,
            };
        let step = (clock.step != 0.0 && at_s >= go_s).then_some((at_s * 1e9, clock.step * 1e9));
        (host.clone(), HostClock { rate: clock.rate, go_ns: go_s * 1e9, step })
    });
    Clocks(wrong.collect())
}

/// Hosts whose clocks are wrong.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clocks(BTreeMap<String, HostClock>);

impl Clocks {
    /// The clock of a host, if it is wrong.
    #[must_use]
    pub fn of(&self, host: &str) -> Option<HostClock> {
        self.0.get(host).copied()
    }
}

impl HostClock {
    /// What it shows at a true moment.
    #[must_use]
    pub fn shows(&self, true_ns: u64) -> u64 {
        whole(self.shown(float(true_ns)))
    }

    fn shown(&self, true_ns: f64) -> f64 {
        let steps = self.step.filter(|(at, _)| true_ns >= *at).map_or(0.0, |(_, by)| by);
        self.go_ns + (true_ns - self.go_ns) * self.rate + steps
    }

    /// The true moment at which it first shows this one or a later one.
    #[must_use]
    pub fn reaches(&self, shown_ns: u64) -> u64 {
        let without = |step: f64| self.go_ns + (float(shown_ns) - step - self.go_ns) / self.rate;
        let plain = without(0.0);
        let reached = match self.step {
            // A step forward may jump over it.
            Some((at, by)) if plain >= at => without(by).max(at),
            _ => plain,
        };
        whole(reached)
    }
}

#[expect(clippy::cast_precision_loss, reason = "runs are below 2^53 ns")]
const fn float(ns: u64) -> f64 {
    ns as f64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 2^53")]
const fn whole(ns: f64) -> u64 {
    ns as u64
}
