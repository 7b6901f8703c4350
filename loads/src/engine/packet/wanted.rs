//! Knows which services a device is asked for: as parameters of a load, and as what it is made of.
//!
//! Must not know frames, nor what a load does with the device.

use super::device::{Forwarding, PORTS, Services};
use super::lpm::{Lpm, LpmError};
use super::nat::Nat;
use super::police::Policers;
use super::queues::{QUEUES_MOST, Scheduler};
use super::routes::{self, Route, Shape};
use super::rules::Prefix;
use desk::record::{ParamKind, ParamSpec, Settings, Value};
use desk::unit::Kind;
use serde::{Deserialize, Serialize};

/// Bit/s and bytes of a subscriber's bucket above what a core forwards, so that nothing is dropped.
const POLICED: (f64, u64) = (1e12, 1 << 30);

/// Whether source addresses are translated.
pub const NAT: ParamSpec = ParamSpec {
    name: "nat",
    about: "source addresses and ports are translated (RFC 3022)",
    role: None,
    kind: ParamKind::choice(&["off", "on"]),
    default: "off",
};

/// Subscribers that are held to a rate.
pub const POLICERS: ParamSpec = ParamSpec {
    name: "policers",
    about: "token buckets, one a subscriber; 0 for none",
    role: None,
    kind: ParamKind::count(0, 65_536),
    default: "0",
};

/// The rate of each subscriber.
pub const POLICER_RATE: ParamSpec = ParamSpec {
    name: "policer_rate",
    about: "bit/s of each token bucket, of frames without check sequence; or none, above what a \
            core forwards",
    role: None,
    kind: ParamKind::within(Kind::Rate, 1e4, 1e12).or(&["none"]),
    default: "none",
};

/// How much of it may come at once.
pub const POLICER_BURST: ParamSpec = ParamSpec {
    name: "policer_burst",
    about: "bytes that may come at once beyond policer_rate; frames of a batch of 64 do",
    role: None,
    kind: ParamKind::size(64, 1 << 24),
    default: "128 KiB",
};

/// Queues of a port.
pub const PORT_QUEUES: ParamSpec = ParamSpec {
    name: "port_queues",
    about: "output queues of each port; 0 for none",
    role: None,
    kind: ParamKind::count(0, QUEUES_MOST as u64),
    default: "0",
};

/// Ports by which frames leave.
pub const OUTPUT_PORTS: ParamSpec = ParamSpec {
    name: "output_ports",
    about: "ports by which frames leave, each with port_queues queues; neighbours are spread over \
            them, and without queues there is none",
    role: None,
    kind: ParamKind::count(1, 64),
    default: "4",
};

/// In which order they are served.
pub const QUEUE_ORDER: ParamSpec = ParamSpec {
    name: "queue_order",
    about: "of the queues: by priority, by weight, or one by priority and others by weight",
    role: None,
    kind: ParamKind::choice(&["priority", "weighted", "mixed"]),
    default: "mixed",
};

/// Routes of the table.
pub const ROUTES: ParamSpec = ParamSpec {
    name: "routes",
    about: "prefixes of the routing table, beside a default route",
    role: None,
    kind: ParamKind::count(0, 1 << 20),
    default: "0",
};

/// Services beside an access list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// Prefixes of the table of routes, beside a default route; 0 for no table.
    pub routes: usize,
    /// Flows of the table that translates; 0 for none.
    pub flows: usize,
    /// Token buckets; 0 for none.
    pub policers: usize,
    /// The rate of each, bit/s, and its depth, bytes; none above what a core forwards.
    pub policed: Option<(u64, u64)>,
    /// Queues of a port, of weight 1, 2 and so on; 0 for none.
    pub queues: usize,
    /// Ports by which frames leave.
    pub ports: u16,
    /// In which order they are served.
    pub order: Scheduler,
}

impl Wanted {
    /// Those that parameters ask for; a table that translates has places for so many flows.
    #[must_use]
    pub fn of(params: &Settings, flows: usize) -> Self {
        let word = |name: &str| params.get(name).and_then(Value::word);
        let count = |name: &str| {
            let count = params.get(name).and_then(Value::count).unwrap_or(0);
            usize::try_from(count).unwrap_or(usize::MAX)
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded")]
        let quantity = |name: &str| {
            params.get(name).and_then(Value::quantity).map(|quantity| quantity.value as u64)
        };
        Self {
            routes: count(ROUTES.name),
            flows: if word(NAT.name) == Some("on") { flows } else { 0 },
            policers: count(POLICERS.name),
            policed: quantity(POLICER_RATE.name).zip(quantity(POLICER_BURST.name)),
            queues: count(PORT_QUEUES.name),
            ports: u16::try_from(count(OUTPUT_PORTS.name)).ok().filter(|n| *n > 0).unwrap_or(PORTS),
            order: match word(QUEUE_ORDER.name) {
                Some("priority") => Scheduler::Priority,
                Some("weighted") => Scheduler::Weighted,
                _ => Scheduler::Mixed,
            },
        }
    }

    /// Whether any is asked for.
    #[must_use]
    pub const fn any(&self) -> bool {
        self.changes() || self.policers > 0 || self.queues > 0
    }

    /// Whether any changes frames.
    #[must_use]
    pub const fn changes(&self) -> bool {
        self.routes > 0 || self.flows > 0
    }

    /// What a core of such a device has.
    #[must_use]
    pub fn services(&self, forwarding: Forwarding, batch: usize) -> Services {
        #[expect(clippy::cast_precision_loss, reason = "at most 1e12")]
        let (rate, burst) = self.policed.map_or(POLICED, |(rate, burst)| (rate as f64, burst));
        Services {
            forwarding,
            batch,
            nat: (self.flows > 0).then(|| Nat::new(self.flows)),
            policers: (self.policers > 0).then(|| Policers::new(self.policers, rate, burst)),
            queues: (self.queues > 0).then(|| ((1..=self.queues as u64).collect(), self.order)),
            ports: self.ports,
        }
    }

    /// Its routes: as many as it has, or fewer where the shape of the table has no more.
    #[must_use]
    pub fn routes(&self, seed: u64) -> Vec<Route> {
        let mut all = vec![Route { prefix: Prefix::ANY, hop: 0 }];
        all.extend(routes::generate(self.routes, &Shape::INTERNET, seed));
        all
    }

    /// The table of its routes, if any is asked for.
    ///
    /// # Errors
    /// Long prefixes that need too many groups.
    pub fn table(&self, seed: u64) -> Result<Option<Lpm>, LpmError> {
        (self.routes > 0).then(|| Lpm::build(&self.routes(seed))).transpose()
    }
}
