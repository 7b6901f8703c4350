//! Knows what the counters of an external box say of the frames of a trial. Pure.
//!
//! Must not know how they were read.

use super::evidence::{Evidence, float};
use crate::engine::packet::ledger::Ledger;
use desk::record::Fault;
use rig::lab::external_box::PortCount;

/// Unicast frames of others that pass a box beside those of a trial, such as answers of ARP.
const OTHERS: u64 = 100;
/// More of them are other traffic: this share of the frames that were sent, in percent.
const OTHERS_PERCENT: u64 = 1;

/// What an external box counted over a trial.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoxCount {
    /// Its name.
    pub name: String,
    /// By its ports; none where nothing reads them.
    pub ports: Vec<PortCount>,
}

impl BoxCount {
    /// Whether it tells of so many frames that were sent to it, and of so many that came from it.
    #[must_use]
    pub fn tells(&self, (sent, came): (u64, u64)) -> bool {
        self.reached() >= sent && self.sent() >= came
    }

    fn reached(&self) -> u64 {
        self.ports.iter().map(PortCount::reached).sum()
    }

    fn received(&self) -> u64 {
        self.ports.iter().map(|port| port.received).sum()
    }

    fn sent(&self) -> u64 {
        self.ports.iter().map(|port| port.sent).sum()
    }

    /// Frames that left it. Some boxes count those that they discarded at an output as sent, as RFC
    /// 2863 has it, so that this is the least of both counts.
    fn left(&self) -> u64 {
        let drops = self.ports.iter().flat_map(|port| &port.drops);
        let dropped = drops.map(|(_, count)| u64::from(*count)).sum();
        self.sent().min(self.reached().saturating_sub(dropped))
    }

    /// Frames that it has lost at the most.
    fn lost_most(&self) -> u64 {
        match self.ports.as_slice() {
            [] => u64::MAX,
            _ => self.reached().saturating_sub(self.sent()) + OTHERS,
        }
    }
}

/// Refuses the counts of ports that frames of the trial did not pass, or not they alone.
///
/// # Errors
/// The box, and what it counted.
pub fn fit(evidence: &Evidence, ledger: &Ledger) -> Result<(), Fault> {
    let Some(of) = evidence.external.as_ref().filter(|of| !of.ports.is_empty()) else {
        return Ok(());
    };
    let (received, sent, offered) = (of.received(), of.sent(), ledger.sent);
    let why = if received == 0 || sent == 0 {
        "name the ports by which frames come in and go out, whose counters the agent reads at \
         least every 30 s"
    } else if received.max(sent) > offered + offered * OTHERS_PERCENT / 100 + OTHERS {
        "other traffic passes these ports"
    } else {
        return Ok(());
    };
    let what = format!(
        "{offered} frames were sent to box {}, which counted {received} received and {sent} sent: \
         {why}",
        of.name
    );
    Err(Fault::WrongWork { what })
}

/// Drops by the box: those that its counters tell, and of what is then still missing as much as it
/// received and did not send. What was lost before or behind it stays unexplained.
#[must_use]
pub fn drops(evidence: &Evidence, missing: u64) -> Vec<(String, u64)> {
    let Some(of) = &evidence.external else { return Vec::new() };
    let told = of.ports.iter().flat_map(|port| {
        let name = |cause: &str| format!("{} {} {cause}", of.name, port.port);
        port.drops.iter().map(move |(cause, count)| (name(cause), u64::from(*count)))
    });
    let mut all: Vec<(String, u64)> = told.collect();
    let told = all.iter().map(|(_, count)| count).sum();
    let rest = missing.min(of.lost_most()).saturating_sub(told);
    all.push((format!("{} no counter", of.name), rest));
    all
}

/// Frames a second that the box sent by its own counters, where so many a second came of so many
/// in all: these counters are not read at the edges of the window.
#[must_use]
pub fn rate(evidence: &Evidence, (rate, received): (f64, u64)) -> Option<f64> {
    let of = evidence.external.as_ref().filter(|of| !of.ports.is_empty())?;
    Some(rate * float(of.left()) / float(received.max(1)))
}

/// What each port of the box counted: its name, what, and how many.
pub fn readings(evidence: &Evidence) -> impl Iterator<Item = (&str, String, u64)> {
    let of_port = |port: &PortCount| {
        let told = [("received", port.received), ("sent", port.sent)];
        told.map(|(what, count)| (format!("{what} {}", port.port), count))
    };
    evidence.external.iter().flat_map(move |of| {
        let all = of.ports.iter().flat_map(of_port);
        all.map(|(key, count)| (of.name.as_str(), key, count))
    })
}
