//! Knows how the counters of a trial become its ledger. Pure.
//!
//! Must not know how anything was counted.

use super::evidence::Evidence;
use super::external;
use crate::engine::packet::device::SERVICE_DROPS;
use crate::engine::packet::ledger::Ledger;
use crate::engine::packet::live::Sent;
use desk::record::Fault;

/// The ledger of a trial, of counters read after the traffic.
///
/// # Errors
/// A client or sink that told nothing.
pub fn ledger(evidence: &Evidence) -> Result<Ledger, Fault> {
    let (Sent { sent, unsent }, came) = evidence.sums()?;
    let (sent, unsent, received) = (sent.iter().sum(), unsent.iter().sum(), came.iter().sum());
    let scheduled = sent + unsent;
    let mut ledger = Ledger { scheduled, sent, unsent, received, drops: drops(evidence)? };
    let by_box = external::drops(evidence, ledger.unexplained());
    ledger.drops.extend(by_box.into_iter().filter(|(_, count)| *count > 0));
    Ok(ledger)
}

/// Drops that were counted between the two readings.
fn drops(evidence: &Evidence) -> Result<Vec<(String, u64)>, Fault> {
    let mut all = Vec::new();
    for ((host, before), (_, after)) in evidence.before.iter().zip(&evidence.after) {
        for (name, count) in &after.drops {
            let earlier = before.drops.iter().find(|(known, _)| known == name);
            let gained = count.saturating_sub(earlier.map_or(0, |(_, count)| *count));
            all.push((format!("{host} {name}"), gained));
        }
        if let Some(sink) = &after.sink {
            all.push((format!("{host} sink, damaged"), sink.damaged));
            all.push((format!("{host} sink, tag of another VLAN or none"), sink.mistagged));
        }
    }
    for (host, port, counts) in evidence.ports() {
        all.push((format!("{host} {port} rules"), counts.dropped));
        all.push((format!("{host} {port} fragments and broken headers"), counts.refused));
        all.push((format!("{host} {port} planted capacity"), counts.full));
        all.push((format!("{host} {port} planted loss"), counts.lost));
        for (cause, count) in SERVICE_DROPS.iter().zip(counts.by_services) {
            all.push((format!("{host} {port} {cause}"), count));
        }
    }
    for stream in 0..evidence.streams() {
        all.push((format!("{} too late", evidence.name(stream)), evidence.came(stream)?.stale));
    }
    all.retain(|(_, count)| *count > 0);
    Ok(all)
}
