//! Knows the list of factors, how each is set, and the rows of those that act on links and hosts.

use super::cpus_row::{self, CPUS};
use super::device_row::{self, BRIDGE_NETFILTER, FILTER_LIST, FILTER_SET};
use super::held_row::{self, C_STATE_LATENCY};
use super::link_row::{LinkRow, OnLink};
use super::machine_rows as machine;
use super::mechanism::Mechanism;
use super::path_row::{
    self, PATH_BUFFER, PATH_DELAY, PATH_JITTER, PATH_LOSS, PATH_RATE, PATH_REORDER,
};
use super::quota_row::{self, CLIENT_QUOTA, RELAY_QUOTA, SERVER_QUOTA};
use super::sysctl;
use super::version_row::{self, IP_VERSION};
use crate::lab::adapter_file::AdapterFile;
use crate::lab::ethtool::Number;
use crate::lab::ia32cap;
use desk::record::{FactorSpec, ParamKind, Scope};
use desk::unit::Kind;

/// `on` or `off`.
const SWITCH: ParamKind = ParamKind::choice(&["on", "off"]);

/// Queues of one kind, descriptors of a ring, packets of an interrupt, and how long one is held
/// back.
const QUEUES: ParamKind = ParamKind::count(1, 4096);
const CPUS_OF_QUEUES: ParamKind = ParamKind::cpus_or(&["none", "all"]);
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
const SUT: FactorSpec = FactorSpec {
    name: "sut",
    about: "which machine of the lab file is the system under test",
    scope: Scope::Sut,
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
const RECEIVE_BUFFER_MAX: FactorSpec = host(
    "receive_buffer_max",
    "receive buffer up to which TCP connections grow (third field of tcp_rmem)",
    ParamKind::size(4096, 1 << 30),
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
const BONDING: FactorSpec = link(
    "bonding",
    "how the two cables of each member of the link share its frames (cables = 2)",
    ParamKind::choice(&["off", "balance-alb", "balance-xor", "802.3ad"]),
);
const DEFER_IRQS: FactorSpec = link(
    "napi_defer_hard_irqs",
    "polls of NAPI without work until the interrupt is armed again (with gro_flush_timeout)",
    ParamKind::count(0, 1_000_000),
);
const GRO_FLUSH: FactorSpec = link(
    "gro_flush_timeout",
    "how long frames wait to be merged, and interrupts stay deferred",
    ParamKind::within(Kind::Duration, 0.0, 1.0).by(1e-9),
);
const IPSEC: FactorSpec = link(
    "ipsec",
    "ESP in transport mode with AES-GCM between the ends of the path (RFC 4303, RFC 4106)",
    ParamKind::choice(&["off", "aes-gcm-128", "aes-gcm-256"]),
);
const LINK_SPEED: FactorSpec = link(
    "link_speed",
    "speed of the line, negotiated where it was negotiated; the link goes down for seconds",
    ParamKind::within(Kind::Rate, 1e7, 8e11).by(1e6),
);
const RPS_CPUS: FactorSpec =
    link("rps_cpus", "CPUs to which every receive queue hands its packets (RPS)", CPUS_OF_QUEUES);
const RPS_FLOWS: FactorSpec = link(
    "rps_flows",
    "flows of each receive queue that follow their program (RFS), a power of two",
    ParamKind::count(0, 1 << 29),
);
const RSS: FactorSpec =
    link("rss", "receive queues over which RSS spreads evenly, from the first on", QUEUES);
const THREADED_NAPI: FactorSpec =
    link("threaded_napi", "NAPI polls in threads of the kernel, not in the softirq", SWITCH);
const XPS_CPUS: FactorSpec =
    link("xps_cpus", "CPUs that may send by every transmit queue (XPS)", CPUS_OF_QUEUES);
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
const SEND_BUFFER_MAX: FactorSpec = host(
    "send_buffer_max",
    "send buffer up to which TCP connections grow (third field of tcp_wmem)",
    ParamKind::size(4096, 1 << 30),
);
const TCP_CONGESTION: FactorSpec = host(
    "tcp_congestion",
    "congestion control of all sockets that choose none; of tcp_allowed_congestion_control",
    ParamKind::WORD,
);
const TCP_SACK: FactorSpec = host("tcp_sack", "selective acknowledgements (RFC 2018)", SWITCH);
const TCP_TIMESTAMPS: FactorSpec =
    host("tcp_timestamps", "timestamps in every segment (RFC 7323)", SWITCH);

const VLAN: FactorSpec = link(
    "vlan",
    "VLAN (IEEE 802.1Q) whose tag the frames of the link have; its addresses move to a VLAN link",
    ParamKind::count(1, 4094).or(&["off"]),
);

/// All factors, sorted by name.
pub const ALL: &[FactorSpec] = &all();

/// Those with a name of ours.
const OWN: [FactorSpec; 77] = [
    ADAPTIVE_RX,
    ADAPTIVE_TX,
    BONDING,
    BRIDGE_NETFILTER,
    machine::AUTOGROUP,
    machine::BUSY_POLL,
    machine::BUSY_READ,
    C_STATE_LATENCY,
    CHECKSUM,
    CLIENT_QUOTA,
    COMBINED_QUEUES,
    CONGESTION,
    CPUS,
    EEE,
    FILTER_LIST,
    FILTER_SET,
    machine::GOVERNOR,
    GRO,
    GRO_FLUSH,
    GSO,
    machine::HUGE_PAGES,
    machine::IO_SCHEDULER,
    IPSEC,
    IP_VERSION,
    machine::IRQ_AFFINITY,
    LINK_SPEED,
    machine::MAX_FREQUENCY,
    MTU,
    DEFER_IRQS,
    machine::NETDEV_BACKLOG,
    machine::NETDEV_BUDGET,
    machine::NUMA_BALANCING,
    machine::ONLINE_CPUS,
    OPENSSL_IA32CAP,
    PATH,
    PATH_BUFFER,
    PATH_DELAY,
    PATH_JITTER,
    PATH_LOSS,
    PATH_RATE,
    PATH_REORDER,
    PAUSE_RX,
    PAUSE_TX,
    machine::PREFETCHERS,
    PROFILE,
    RATE,
    machine::READ_AHEAD,
    RECEIVE_BUFFER,
    RECEIVE_BUFFER_MAX,
    RELAY_QUOTA,
    RPS_CPUS,
    RPS_FLOWS,
    RSS,
    RX_FRAMES,
    RX_QUEUES,
    RX_RING,
    RX_USECS,
    SEND_BUFFER,
    SEND_BUFFER_MAX,
    SERVER_QUOTA,
    machine::SMT,
    SUT,
    machine::SWAPPINESS,
    TCP_CONGESTION,
    TCP_SACK,
    TCP_TIMESTAMPS,
    machine::THP,
    machine::THP_DEFRAG,
    THREADED_NAPI,
    TSO,
    machine::TURBO,
    TX_FRAMES,
    TX_QUEUES,
    TX_RING,
    TX_USECS,
    VLAN,
    XPS_CPUS,
];

static SYSCTLS: [LinkRow; sysctl::HOSTS.len()] = sysctl::HOSTS;

static LINK_ROWS: [LinkRow; 38] = [
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
    LinkRow { spec: &DEFER_IRQS, on: OnLink::File(AdapterFile::DeferHardIrqs) },
    LinkRow { spec: &GRO_FLUSH, on: OnLink::File(AdapterFile::GroFlushTimeout) },
    LinkRow { spec: &IPSEC, on: OnLink::Ipsec },
    LinkRow { spec: &LINK_SPEED, on: OnLink::Line },
    LinkRow { spec: &RECEIVE_BUFFER_MAX, on: OnLink::Field("ipv4/tcp_rmem", 2) },
    LinkRow { spec: &RPS_CPUS, on: OnLink::File(AdapterFile::RpsCpus) },
    LinkRow { spec: &RPS_FLOWS, on: OnLink::File(AdapterFile::RpsFlows) },
    LinkRow { spec: &RSS, on: OnLink::Rss },
    LinkRow { spec: &SEND_BUFFER_MAX, on: OnLink::Field("ipv4/tcp_wmem", 2) },
    LinkRow { spec: &THREADED_NAPI, on: OnLink::File(AdapterFile::ThreadedNapi) },
    LinkRow { spec: &BONDING, on: OnLink::Bonding },
    LinkRow { spec: &VLAN, on: OnLink::Vlan },
    LinkRow { spec: &XPS_CPUS, on: OnLink::File(AdapterFile::XpsCpus) },
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

/// Those of ours and those with names of the kernel, as one list: each is put behind the last that
/// does not come after it.
const fn all() -> [FactorSpec; OWN.len() + sysctl::HOSTS.len() + sysctl::SPECS.len()] {
    let mut all = [OWN[0]; OWN.len() + sysctl::HOSTS.len() + sysctl::SPECS.len()];
    let mut filled = 0;
    while filled < all.len() {
        let (hosts, machines) = (sysctl::HOSTS.len(), sysctl::SPECS.len());
        let next = if filled < OWN.len() {
            OWN[filled]
        } else if filled < OWN.len() + hosts {
            *sysctl::HOSTS[filled - OWN.len()].spec
        } else {
            sysctl::SPECS[filled + machines - all.len()]
        };
        let mut at = filled;
        while at > 0 && comes_before(next.name.as_bytes(), all[at - 1].name.as_bytes()) {
            all[at] = all[at - 1];
            at -= 1;
        }
        all[at] = next;
        filled += 1;
    }
    all
}

const fn comes_before(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at < other.len() && (at == one.len() || one[at] < other[at])
}

/// How a factor is set, by its name; none where the load itself applies it, for the choice of the
/// link and for profiles, and where there is no such factor.
#[must_use]
pub fn mechanism(name: &str) -> Option<Mechanism> {
    let links = || LINK_ROWS.iter().chain(&SYSCTLS);
    let link = || links().find(|row| row.spec.name == name).map(Mechanism::Link);
    let machine = || machine::row_of(name).map(Mechanism::Machine);
    let held = || held_row::row_of(name).map(Mechanism::Held);
    let quota = || quota_row::row_of(name).map(Mechanism::Quota);
    let cpus = || cpus_row::row_of(name).map(Mechanism::Cpus);
    let path = || path_row::row_of(name).map(Mechanism::Path);
    let device = || device_row::row_of(name).map(Mechanism::Device);
    let version = || version_row::row_of(name).map(Mechanism::Version);
    let of_sides = || quota().or_else(cpus).or_else(device).or_else(path).or_else(version);
    link().or_else(machine).or_else(held).or_else(of_sides)
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
                Some(Mechanism::Held(row)) => (factor.scope == Scope::Machine, row.spec.name),
                Some(Mechanism::Quota(row)) => {
                    (matches!(factor.scope, Scope::Side | Scope::Relay), row.spec.name)
                }
                Some(Mechanism::Cpus(row)) => (factor.scope == Scope::Side, row.spec.name),
                Some(Mechanism::Path(row)) => (factor.scope == Scope::Relay, row.spec.name),
                Some(Mechanism::Device(row)) => (factor.scope == Scope::Host, row.spec.name),
                Some(Mechanism::Version(row)) => (factor.scope == Scope::Network, row.spec.name),
                None => {
                    use Scope::{Path, Profile, Program, Socket, Sut};
                    (matches!(factor.scope, Path | Profile | Program | Socket | Sut), name)
                }
            };
            assert!(fits && named == name, "{name}: {row:?}");
        }
        assert!(mechanism("no_such").is_none());
    }
}
