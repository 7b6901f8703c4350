//! Knows the list of factors, how each is set, and the rows of those that act on links and hosts.

use super::cpus_row::{self, CPUS};
use super::link_row::{LinkRow, OnLink};
use super::machine_rows as machine;
use super::mechanism::Mechanism;
use super::quota_row::{self, CLIENT_QUOTA, SERVER_QUOTA};
use crate::lab::ethtool::Number;
use crate::lab::ia32cap;
use desk::record::{FactorSpec, ParamKind, Scope};
use desk::unit::Kind;

/// `on` or `off`.
const SWITCH: ParamKind = ParamKind::choice(&["on", "off"]);

/// Queues of one kind, descriptors of a ring, packets of an interrupt, and how long one is held
/// back.
const QUEUES: ParamKind = ParamKind::count(1, 4096);
const RING: ParamKind = ParamKind::count(1, 1 << 20);
const FRAMES: ParamKind = ParamKind::count(0, 1 << 16);
const DELAY: ParamKind = ParamKind::within(Kind::Duration, 0.0, 65.535e-3).by(1e-6);

const fn link(name: &'static str, about: &'static str, kind: ParamKind) -> FactorSpec {
    FactorSpec { name, about, scope: Scope::Link, kind }
}

const fn host(name: &'static str, about: &'static str, kind: ParamKind) -> FactorSpec {
    FactorSpec { name, about, scope: Scope::Host, kind }
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
const RECEIVE_BUFFER: FactorSpec = host(
    "receive_buffer",
    "receive buffer with which TCP connections begin (second field of tcp_rmem)",
    ParamKind::size(4096, 1 << 26),
);
const RATE: FactorSpec = link(
    "rate",
    "token bucket on the link of the system under test, both directions",
    ParamKind::within(Kind::Rate, 1e5, 1e12),
);
const TSO: FactorSpec = link("tso", "TCP segmentation offload of the adapters", SWITCH);
const ADAPTIVE_RX: FactorSpec =
    link("adaptive_rx", "the driver chooses how receive interrupts are coalesced", SWITCH);
const ADAPTIVE_TX: FactorSpec =
    link("adaptive_tx", "the driver chooses how transmit interrupts are coalesced", SWITCH);
const COMBINED_QUEUES: FactorSpec =
    link("combined_queues", "queues of the adapters that receive and transmit", QUEUES);
const EEE: FactorSpec = link("eee", "energy-efficient Ethernet (IEEE 802.3az)", SWITCH);
const PAUSE_RX: FactorSpec =
    link("pause_rx", "pause frames are obeyed where it is not negotiated (IEEE 802.3x)", SWITCH);
const PAUSE_TX: FactorSpec =
    link("pause_tx", "pause frames are sent where it is not negotiated (IEEE 802.3x)", SWITCH);
const RX_FRAMES: FactorSpec =
    link("rx_frames", "packets after which a receive interrupt comes", FRAMES);
const RX_QUEUES: FactorSpec = link("rx_queues", "queues of the adapters that receive only", QUEUES);
const RX_RING: FactorSpec = link("rx_ring", "descriptors of a receive ring", RING);
const RX_USECS: FactorSpec =
    link("rx_usecs", "longest that a receive interrupt is held back", DELAY);
const TX_FRAMES: FactorSpec =
    link("tx_frames", "packets after which a transmit interrupt comes", FRAMES);
const TX_QUEUES: FactorSpec =
    link("tx_queues", "queues of the adapters that transmit only", QUEUES);
const TX_RING: FactorSpec = link("tx_ring", "descriptors of a transmit ring", RING);
const TX_USECS: FactorSpec =
    link("tx_usecs", "longest that a transmit interrupt is held back", DELAY);
const SEND_BUFFER: FactorSpec = host(
    "send_buffer",
    "send buffer with which TCP connections begin (second field of tcp_wmem)",
    ParamKind::size(4096, 1 << 26),
);
const TCP_CONGESTION: FactorSpec = host(
    "tcp_congestion",
    "congestion control of all sockets that choose none; of tcp_allowed_congestion_control",
    ParamKind::WORD,
);
const TCP_SACK: FactorSpec = host("tcp_sack", "selective acknowledgements (RFC 2018)", SWITCH);
const TCP_TIMESTAMPS: FactorSpec =
    host("tcp_timestamps", "timestamps in every segment (RFC 7323)", SWITCH);

/// All factors, sorted by name.
pub const ALL: &[FactorSpec] = &[
    ADAPTIVE_RX,
    ADAPTIVE_TX,
    machine::AUTOGROUP,
    machine::BUSY_POLL,
    machine::BUSY_READ,
    CHECKSUM,
    CLIENT_QUOTA,
    COMBINED_QUEUES,
    CONGESTION,
    CPUS,
    EEE,
    machine::GOVERNOR,
    GRO,
    GSO,
    machine::IO_SCHEDULER,
    machine::MAX_FREQUENCY,
    MTU,
    machine::NETDEV_BACKLOG,
    machine::NETDEV_BUDGET,
    machine::NUMA_BALANCING,
    OPENSSL_IA32CAP,
    PATH,
    PAUSE_RX,
    PAUSE_TX,
    machine::PREFETCHERS,
    PROFILE,
    RATE,
    machine::READ_AHEAD,
    RECEIVE_BUFFER,
    RX_FRAMES,
    RX_QUEUES,
    RX_RING,
    RX_USECS,
    SEND_BUFFER,
    SERVER_QUOTA,
    machine::SMT,
    machine::SWAPPINESS,
    TCP_CONGESTION,
    TCP_SACK,
    TCP_TIMESTAMPS,
    machine::THP,
    machine::THP_DEFRAG,
    TSO,
    machine::TURBO,
    TX_FRAMES,
    TX_QUEUES,
    TX_RING,
    TX_USECS,
];

static LINK_ROWS: [LinkRow; 25] = [
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
    LinkRow { spec: &ADAPTIVE_RX, on: OnLink::Number(Number::AdaptiveRx) },
    LinkRow { spec: &ADAPTIVE_TX, on: OnLink::Number(Number::AdaptiveTx) },
    LinkRow { spec: &COMBINED_QUEUES, on: OnLink::Number(Number::CombinedQueues) },
    LinkRow { spec: &EEE, on: OnLink::Number(Number::Eee) },
    LinkRow { spec: &PAUSE_RX, on: OnLink::Number(Number::PauseRx) },
    LinkRow { spec: &PAUSE_TX, on: OnLink::Number(Number::PauseTx) },
    LinkRow { spec: &RX_FRAMES, on: OnLink::Number(Number::RxFrames) },
    LinkRow { spec: &RX_QUEUES, on: OnLink::Number(Number::RxQueues) },
    LinkRow { spec: &RX_RING, on: OnLink::Number(Number::RxRing) },
    LinkRow { spec: &RX_USECS, on: OnLink::Number(Number::RxUsecs) },
    LinkRow { spec: &TX_FRAMES, on: OnLink::Number(Number::TxFrames) },
    LinkRow { spec: &TX_QUEUES, on: OnLink::Number(Number::TxQueues) },
    LinkRow { spec: &TX_RING, on: OnLink::Number(Number::TxRing) },
    LinkRow { spec: &TX_USECS, on: OnLink::Number(Number::TxUsecs) },
    LinkRow { spec: &SEND_BUFFER, on: OnLink::Field("ipv4/tcp_wmem", 1) },
    LinkRow { spec: &TCP_CONGESTION, on: OnLink::Field("ipv4/tcp_congestion_control", 0) },
    LinkRow { spec: &TCP_SACK, on: OnLink::Field("ipv4/tcp_sack", 0) },
    LinkRow { spec: &TCP_TIMESTAMPS, on: OnLink::Field("ipv4/tcp_timestamps", 0) },
];

/// How a factor is set, by its name; none where the load itself applies it, for the choice of the
/// link and for profiles, and where there is no such factor.
#[must_use]
pub fn mechanism(name: &str) -> Option<Mechanism> {
    let link = || LINK_ROWS.iter().find(|row| row.spec.name == name).map(Mechanism::Link);
    let machine = || machine::row_of(name).map(Mechanism::Machine);
    let quota = || quota_row::row_of(name).map(Mechanism::Quota);
    let cpus = || cpus_row::row_of(name).map(Mechanism::Cpus);
    link().or_else(machine).or_else(quota).or_else(cpus)
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
            let row = mechanism(name);
            let (fits, named) = match row {
                Some(Mechanism::Link(row)) => {
                    (matches!(factor.scope, Scope::Link | Scope::Host), row.spec.name)
                }
                Some(Mechanism::Machine(row)) => (factor.scope == Scope::Machine, row.spec.name),
                Some(Mechanism::Quota(row)) => (factor.scope == Scope::Side, row.spec.name),
                Some(Mechanism::Cpus(row)) => (factor.scope == Scope::Side, row.spec.name),
                None => {
                    use Scope::{Path, Profile, Program, Socket};
                    (matches!(factor.scope, Path | Profile | Program | Socket), name)
                }
            };
            assert!(fits && named == name, "{name}: {row:?}");
        }
        assert!(mechanism("no_such").is_none());
    }
}
