//! Knows what a simulated machine says of itself: its physics and nothing of this machine.

use super::physics::Physics;
use desk::record::{Adapter, Cache, Cpu, Environment, Fact, KeyClass, LabKind};
use desk::unit::{Quantity, Unit};

/// Any name is taken; these are told.
const CONGESTION: &str = "reno cubic bbr";

/// The machine of a physics that was read from `file`, with these links.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked bounds")]
pub fn environment(physics: &Physics, file: &str, links: &[String]) -> Environment {
    let fact = |key: &str, value: String, class| Fact {
        key: key.into(),
        value,
        class,
        source: file.into(),
    };
    let adapter = |name: &String| {
        let link = physics.link(name);
        Adapter {
            name: name.clone(),
            driver: Some("simulated".into()),
            speed_now: Some(Quantity::new(link.line_rate, Unit::BitPerSecond)),
            carrier: Some(true),
            mtu: link.mtu as u32,
            tx_queues: 1,
            rx_queues: 1,
            ..Adapter::default()
        }
    };
    let apart = physics
        .clients_apart()
        .then(|| fact("simulated.clients", "own machines".into(), KeyClass::Critical));
    let mut facts = vec![
        fact("simulated.physics", physics.title.clone(), KeyClass::Critical),
        fact("simulated.seed", physics.seed.to_string(), KeyClass::Info),
        fact("tcp.congestion_allowed", CONGESTION.into(), KeyClass::Info),
        fact("tcp.congestion_available", CONGESTION.into(), KeyClass::Info),
        fact("tcp.congestion_default", physics.machine.congestion.clone(), KeyClass::Critical),
    ];
    facts.extend(apart);
    Environment {
        cpu: Cpu {
            model: "simulated".into(),
            sockets: 1,
            cores: physics.machine.cores,
            logical: physics.machine.cores * physics.machine.threads,
            smt: (physics.machine.threads > 1).then(|| "on".into()),
            numa_nodes: 1,
            ..Cpu::default()
        },
        caches: vec![Cache {
            level: 3,
            kind: "Unified".into(),
            size: Quantity::new(physics.cost.cache, Unit::Byte),
            shared_by: physics.machine.cores * physics.machine.threads,
        }],
        memory: None,
        adapters: links.iter().map(adapter).collect(),
        facts,
        lab: Some((LabKind::Simulated, format!("physics {file}, seed {}", physics.seed))),
    }
}
