//! Knows the list of factors, and the rows of those that act on links and hosts; each is a row
//! over one of four mechanisms.

use super::Factor;
use super::cpus_row::CPUS;
use super::link_row::{LinkRow, Mechanism};
use super::machine_rows as machine;
use super::quota_row::{CLIENT_QUOTA, SERVER_QUOTA};
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
    LinkRow { spec: &CHECKSUM, mechanism: Mechanism::Feature(&["tx-checksum-ip-generic"]) },
    LinkRow { spec: &GRO, mechanism: Mechanism::Feature(&["rx-gro"]) },
    LinkRow { spec: &GSO, mechanism: Mechanism::Feature(&["tx-generic-segmentation"]) },
    LinkRow { spec: &MTU, mechanism: Mechanism::Mtu },
    LinkRow { spec: &RATE, mechanism: Mechanism::TokenBucket },
    LinkRow { spec: &RECEIVE_BUFFER, mechanism: Mechanism::Field("ipv4/tcp_rmem", 1) },
    LinkRow {
        spec: &TSO,
        mechanism: Mechanism::Feature(&[
            "tx-tcp-segmentation",
            "tx-tcp-ecn-segmentation",
            "tx-tcp-mangleid-segmentation",
            "tx-tcp6-segmentation",
        ]),
    },
];

/// The factor of a name that is set on links or hosts; none for factors of another scope.
#[must_use]
pub fn find(name: &str) -> Option<&'static dyn Factor> {
    LINK_ROWS.iter().find(|row| row.spec.name == name).map(|row| row as &dyn Factor)
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
    fn the_list_is_sorted_and_every_factor_of_links_hosts_and_machine_has_a_row() {
        assert!(ALL.is_sorted_by_key(|f| f.name));
        for factor in ALL {
            let set_by_row = matches!(factor.scope, Scope::Link | Scope::Host);
            assert_eq!(find(factor.name).is_some(), set_by_row, "{}", factor.name);
            let of_machine = factor.scope == Scope::Machine;
            let row = machine::find_machine(factor.name);
            assert_eq!(row.is_some(), of_machine, "{}", factor.name);
            assert!(row.is_none_or(|row| row.spec.name == factor.name));
            let of_side = factor.scope == Scope::Side;
            let held = super::super::find_quota(factor.name).is_some()
                || super::super::find_cpus(factor.name).is_some();
            assert_eq!(held, of_side, "{}", factor.name);
        }
    }
}
