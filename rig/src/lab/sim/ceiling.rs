//! Knows what a simulated machine says that it can do at most, as a probe of ceilings reads it.
//!
//! Must not know what was reached, nor what settings and chance have left: a probe reads what a
//! device is made for.

use super::physics::Physics;
use super::scene::LinkNow;
use desk::record::Reading;
use desk::unit::{Quantity, Unit};

/// The token bucket on this link, one each way, as the kernel would tell it; nothing where none is.
#[must_use]
pub fn shapers(link: &LinkNow) -> Vec<Reading> {
    let Some(rate) = link.cap else { return Vec::new() };
    let row = |host: &str| Reading {
        probe: "qdisc".into(),
        host: host.into(),
        key: "rate".into(),
        quantity: Quantity::new(rate, Unit::BitPerSecond),
    };
    ["sut", "switch"].map(row).into()
}

/// The ceilings of the machine on this link, and those of clients that have machines of their own.
#[must_use]
pub fn ceilings(physics: &Physics, link: &LinkNow, clients: u32) -> Vec<Reading> {
    if !physics.probes.ceilings {
        return Vec::new();
    }
    let row = |host: &str, key: &str, value: f64, unit| {
        let (probe, host, key) = ("ceiling".into(), host.into(), key.into());
        (value.is_finite()).then(|| Reading {
            probe,
            host,
            key,
            quantity: Quantity::new(value, unit),
        })
    };
    let made = physics.link(&link.name);
    let memory = physics.memory.bandwidth.map_or(f64::INFINITY, |b| b / physics.memory.touches);
    let disk = physics.disk.rate.unwrap_or(f64::INFINITY);
    let mut rows = vec![
        row("machine", "line_rate", made.line_rate, Unit::BitPerSecond),
        row("machine", "mtu", link.mtu, Unit::Byte),
        row("machine", "pcie", made.pcie, Unit::BytePerSecond),
        row("machine", "mem_copy", memory, Unit::BytePerSecond),
        row("machine", "disk", disk, Unit::BytePerSecond),
    ];
    if let (true, Some(rate)) = (physics.clients_apart(), physics.clients.rate) {
        let names = (1..=clients).map(|n| format!("c{n:02}"));
        rows.extend(names.map(|host| row(&host, "line_rate", rate, Unit::BitPerSecond)));
    }
    rows.into_iter().flatten().collect()
}
