//! Knows what the control groups of a simulated lab tell of a quota: limit, use, throttling.
//!
//! Must not know how a quota holds a load down: its model does.

use super::hold::Hold;
use desk::record::Reading;
use desk::unit::{Quantity, Unit};

/// Use from which every period is one in which the limit was reached.
const FULL: f64 = 0.98;

/// What the group of each host under a quota tells, by what its process used; the clients have an
/// equal part each.
#[must_use]
pub fn quotas(hold: &Hold, clients: u32, processes: &[Reading]) -> Vec<Reading> {
    let used = processes.iter().filter(|r| r.probe == "process" && r.key == "cpu");
    let mut rows = Vec::new();
    for process in used {
        let limit = match process.host.name() {
            "sut" => hold.server_quota,
            _ => hold.client_quota.map(|cpus| cpus / f64::from(clients.max(1))),
        };
        let Some(limit) = limit else { continue };
        let mut row = |key: &str, value: f64, unit| {
            let (probe, host) = ("quota".into(), process.host.clone());
            rows.push(Reading {
                probe,
                host,
                key: key.into(),
                quantity: Quantity::new(value, unit),
            });
        };
        let share = (process.quantity.value / limit).min(1.0);
        row("limit", limit, Unit::Cpu);
        row("use", share, Unit::Share);
        row("throttled", if share >= FULL { 1.0 } else { 0.0 }, Unit::Share);
    }
    rows
}
