//! Knows what of an answer keeps a machine from a run, and what only deserves a remark.
//!
//! Must not know how either is shown.

use super::{Answer, Looked};
use desk::unit::Quantity;
use rig::lab::capability::{Capability, State};
use rig::lab::machine::NamedAdapter;

/// Error of a clock from which an edge of a window is noticeably wrong: 1 ms, nanoseconds.
const CLOCK_MOST_NS: u64 = 1_000_000;

/// What begins the name of a kind of place.
pub const PLACE: &str = "lab ";

/// What of its capabilities concerns what an agent may do.
const RIGHTS: &str = "CAP_";

impl Looked {
    /// Whether its agent answers, or how it fails to.
    pub fn state(&self) -> super::State {
        self.answer.as_ref().map_or_else(|silence| silence.state, |_| super::State::Answers)
    }

    /// Why it cannot take part in a run; empty if it can.
    pub fn problems(&self) -> Vec<String> {
        let answer = match &self.answer {
            Ok(answer) => answer,
            Err(silence) => return vec![silence.why.clone()],
        };
        let mut problems = Vec::new();
        let places = || answer.places();
        if self.links.is_empty() {
            if places().all(|place| place.state != State::Ok) {
                problems.extend(places().map(refused));
            }
        } else {
            // Adapters are lent by root alone, and with a journal.
            let needed = ["lab root", "journal of undos", "kinds of link"];
            let needed = needed.iter().filter_map(|name| answer.capability(name));
            let needed = needed.filter(|found| found.state != State::Degraded);
            problems.extend(needed.filter(|found| found.state != State::Ok).map(refused));
        }
        for (link, adapter) in self.adapters() {
            let why = adapter.refused.as_ref();
            problems.extend(why.map(|why| format!("link {link}: {}: {why}", adapter.written)));
        }
        problems
    }

    /// What makes figures of this machine worse than they could be.
    pub fn remarks(&self) -> Vec<String> {
        let Ok(answer) = &self.answer else { return Vec::new() };
        let mut remarks = Vec::new();
        for link in self.shared() {
            remarks.push(format!(
                "control goes over the adapter of link {link}; give the machine another address \
                 for control"
            ));
        }
        for (link, adapter) in self.adapters() {
            let carrier = adapter.found.as_ref().map(|found| found.has_carrier());
            if adapter.up && carrier == Some(false) {
                let name = &adapter.written;
                remarks.push(format!("link {link}: {name} has no carrier; is its cable plugged?"));
            }
        }
        if let Some((_, bound_ns)) = answer.clock_ns.filter(|(_, bound)| *bound > CLOCK_MOST_NS) {
            remarks.push(format!(
                "its clock is known within {} µs only; is the network busy?",
                bound_ns / 1000
            ));
        }
        let kinds = answer.capability("kinds of link");
        remarks.extend(kinds.filter(|found| found.state == State::Degraded).map(refused));
        if !answer.examined.left.is_empty() {
            remarks.push("killed runs left something; run `stend doctor --clean` there".into());
        }
        remarks
    }

    /// Links of the lab file with what their adapters are.
    pub fn adapters(&self) -> impl Iterator<Item = (&str, &NamedAdapter)> {
        let all = self.answer.iter().flat_map(|answer| &answer.examined.adapters);
        self.links.iter().map(|(link, _)| link.as_str()).zip(all)
    }

    /// Links whose adapter also carries the orders of the conductor.
    pub fn shared(&self) -> Vec<&str> {
        let control = self.answer.as_ref().map(|answer| answer.examined.control.as_slice());
        let control = control.unwrap_or_default();
        let is_control = |adapter: &NamedAdapter| {
            adapter.found.as_ref().is_some_and(|found| control.contains(&found.name))
        };
        let shared = self.adapters().filter(|(_, adapter)| is_control(adapter));
        shared.map(|(link, _)| link).collect()
    }

    /// 0 for the worst: no answer, then no part in a run, then remarks.
    fn rank(&self) -> u8 {
        match (self.answer.is_err(), self.problems().is_empty(), self.remarks().is_empty()) {
            (true, ..) => 0,
            (_, false, _) => 1,
            (.., false) => 2,
            _ => 3,
        }
    }
}

impl Answer {
    /// Its clock less ours, and the bound of that; none on this machine.
    #[expect(clippy::cast_precision_loss, reason = "clocks are below 2^53 ns: 104 days")]
    pub fn clock(&self) -> Option<[Quantity; 2]> {
        let (offset_ns, bound_ns) = self.clock_ns?;
        Some([offset_ns as f64, bound_ns as f64].map(|ns| Quantity::seconds(ns / 1e9)))
    }

    /// Kinds of place.
    pub fn places(&self) -> impl Iterator<Item = &Capability> {
        self.examined.capabilities.iter().filter(|found| found.name.starts_with(PLACE))
    }

    /// Rights that the agent lacks, by name.
    pub fn lacks(&self) -> Vec<&str> {
        let all = self.examined.capabilities.iter();
        let absent = all.filter(|found| found.state != State::Ok);
        absent.map(|found| found.name.as_str()).filter(|name| name.starts_with(RIGHTS)).collect()
    }

    fn capability(&self, name: &str) -> Option<&Capability> {
        self.examined.capabilities.iter().find(|found| found.name == name)
    }
}

/// A capability that is not there, with what helps.
fn refused(found: &Capability) -> String {
    let fix = found.fix.as_ref().map(|fix| format!("; run `{fix}` there"));
    format!("{}: {}{}", found.name, found.evidence, fix.unwrap_or_default())
}

/// The worst machine first; equal ones in the order of the lab file.
pub fn worst_first(all: &mut [Looked]) {
    all.sort_by_key(Looked::rank);
}

/// Whether every machine with a role can take part in a run.
pub fn can_measure(all: &[Looked]) -> bool {
    all.iter().filter(|one| !one.roles.is_empty()).all(|one| one.problems().is_empty())
}
