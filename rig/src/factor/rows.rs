//! Knows the list of factors, how each is set, and the rows of those that act on links and hosts.

use super::cpus_row::{self, CPUS};
use super::link_row::{LinkRow, OnLink};
use super::machine_rows as machine;
use super::mechanism::Mechanism;
use super::quota_row::{self, CLIENT_QUOTA, SERVER_QUOTA};
use crate::lab::ia32cap;
use desk::record::{FactorSpec, ParamKind, Scope};
use desk::unit::Kind;

/// `on` or `off`.
const SWITCH: ParamKind = ParamKind::choice(&["on", "off"]);

const fn link(name: &'static str, about: &'static str, kind: ParamKind) -> FactorSpec {
    FactorSpec { name, about, scope: Scope::Link, kind }
}

const CHECKSUM: FactorSpec =
    link("checksum", "transmit checksums made by the adapter (off drags TSO off)", SWITCH);
const CONGESTION: FactorSpec = FactorSpec {
    name: "congestion",
    about: "congestion control of the sending sockets; 'kernel' leaves the kernel's own",
    scope: Scope::Socket,
    kind: ParamKind::WORD,
};
const GRO: FactorSpec = link("gro", "generic receive offload", SWITCH);
const GSO: FactorSpec = link("gso", "generic segmentation offload", SWITCH);
const MTU: FactorSpec = link(
    "mtu",
    "largest packet of the link, both ends and the bridge",
    ParamKind::size(576, 65535),
);
const OPENSSL_IA32CAP: FactorSpec = FactorSpec {
    name: "openssl_ia32cap",
    about: "features of the processor that OpenSSL may see; of loads whose engine reads it",
    scope: Scope::Program,
    kind: ParamKind::choice(ia32cap::LEVELS),
};
const PATH: FactorSpec = FactorSpec {
    name: "path",
    about: "which link of the system under test carries the traffic",
    scope: Scope::Path,
    kind: ParamKind::WORD,
};
const PROFILE: FactorSpec = FactorSpec {
    name: "profile",
    about: "settings of several other factors under one name",
    scope: Scope::Profile,
    kind: ParamKind::WORD,
};
const RECEIVE_BUFFER: FactorSpec = FactorSpec {
    name: "receive_buffer",
    about: "receive buffer with which TCP connections begin (second field of tcp_rmem)",
    scope: Scope::Host,
    kind: ParamKind::size(4096, 1 << 26),
};
const RATE: FactorSpec = link(
    "rate",
    "token bucket on the link of the system under test, both directions",
    ParamKind::within(Kind::Rate, 1e5, 1e12),
);
const TSO: FactorSpec = link("tso", "TCP segmentation offload of the adapters", SWITCH);

/// All factors, sorted by name.
pub const ALL: &[FactorSpec] = &[
    machine::AUTOGROUP,
    machine::BUSY_POLL,
    CHECKSUM,
    CLIENT_QUOTA,
    CONGESTION,
    CPUS,
    machine::GOVERNOR,
    GRO,
    GSO,
    machine::MAX_FREQUENCY,
    MTU,
    machine::NETDEV_BACKLOG,
    machine::NETDEV_BUDGET,
    machine::NUMA_BALANCING,
    OPENSSL_IA32CAP,
    PATH,
    machine::PREFETCHERS,
    PROFILE,
    RATE,
    RECEIVE_BUFFER,
    SERVER_QUOTA,
    machine::SMT,
    machine::SWAPPINESS,
    machine::THP,
    TSO,
    machine::TURBO,
];

static LINK_ROWS: [LinkRow; 7] = [
    LinkRow { spec: &CHECKSUM, on: OnLink::Feature(&["tx-checksum-ip-generic"]) },
    LinkRow { spec: &GRO, on: OnLink::Feature(&["rx-gro"]) },
    LinkRow { spec: &GSO, on: OnLink::Feature(&["tx-generic-segmentation"]) },
    LinkRow { spec: &MTU, on: OnLink::Mtu },
    LinkRow { spec: &RATE, on: OnLink::TokenBucket },
    LinkRow { spec: &RECEIVE_BUFFER, on: OnLink::Field("ipv4/tcp_rmem", 1) },
    LinkRow {
        spec: &TSO,
        on: OnLink::Feature(&[
            "tx-tcp-segmentation",
            "tx-tcp-ecn-segmentation",
            "tx-tcp-mangleid-segmentation",
            "tx-tcp6-segmentation",
        ]),
    },
];

/// How a factor is set, by its name; none where there is no such factor.
#[must_use]
pub fn mechanism(name: &str) -> Option<Mechanism> {
    let link = || LINK_ROWS.iter().find(|row| row.spec.name == name).map(Mechanism::Link);
    let machine = || machine::row_of(name).map(Mechanism::Machine);
    let quota = || quota_row::row_of(name).map(Mechanism::Quota);
    let cpus = || cpus_row::row_of(name).map(Mechanism::Cpus);
    let load = || spec(name).map(|_| Mechanism::Load);
    link().or_else(machine).or_else(quota).or_else(cpus).or_else(load)
}

/// A factor as data, by its name.
#[must_use]
pub fn spec(name: &str) -> Option<&'static FactorSpec> {
    ALL.iter().find(|spec| spec.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_every_factor_is_set_where_its_scope_says() {
        assert!(ALL.is_sorted_by_key(|f| f.name));
        for factor in ALL {
            let name = factor.name;
            let row = mechanism(name).unwrap();
            let (fits, named) = match row {
                Mechanism::Link(row) => {
                    (matches!(factor.scope, Scope::Link | Scope::Host), row.spec.name)
                }
                Mechanism::Machine(row) => (factor.scope == Scope::Machine, row.spec.name),
                Mechanism::Quota(row) => (factor.scope == Scope::Side, row.spec.name),
                Mechanism::Cpus(row) => (factor.scope == Scope::Side, row.spec.name),
                Mechanism::Load => {
                    use Scope::{Path, Profile, Program, Socket};
                    (matches!(factor.scope, Path | Profile | Program | Socket), name)
                }
            };
            assert!(fits && named == name, "{name}: {row:?}");
        }
        assert!(mechanism("no_such").is_none());
    }
}
