// tidy: table
//! Knows the settings of the kernel that are factors by their own dotted names: those that a network
//! namespace has for itself, and those of the machine.
//!
//! Must not know which are wanted. Fields of a line, and settings with levels of their own, are rows
//! beside the others.

use super::link_row::{LinkRow, OnLink};
use super::machine_form::Form;
use super::machine_row::{MachineRow, Place};
use desk::record::{FactorSpec, ParamKind, Scope};
use desk::unit::Kind;

const SWITCH: ParamKind = ParamKind::choice(&["on", "off"]);
const WORDS: &[(&str, &str)] = &[("on", "1"), ("off", "0")];
const MICROSECONDS: ParamKind = ParamKind::within(Kind::Duration, 1e-6, 1.0).by(1e-6);
/// `dirty_expire_centisecs` and the like.
const CENTISECONDS: ParamKind = ParamKind::within(Kind::Duration, 0.0, 3600.0).by(0.01);

const fn host(name: &'static str, about: &'static str, kind: ParamKind) -> FactorSpec {
    FactorSpec { name, about, scope: Scope::Host, kind }
}

const fn machine(name: &'static str, about: &'static str, kind: ParamKind) -> FactorSpec {
    FactorSpec { name, about, scope: Scope::Machine, kind }
}

const fn upto(most: u64) -> ParamKind {
    ParamKind::count(0, most)
}

/// Sorted by name. What a level of several bits means stands in `Documentation/networking/ip-sysctl.rst`.
#[rustfmt::skip]
pub(super) const HOSTS: [LinkRow; 22] = [
    LinkRow { spec: &host("net.core.somaxconn", "connections that wait for accept, at most", ParamKind::count(1, 65_535)), on: OnLink::Field("core/somaxconn", 0) },
    LinkRow { spec: &host("net.ipv4.tcp_autocorking", "small writes wait for a frame that is still queued", SWITCH), on: OnLink::Field("ipv4/tcp_autocorking", 0) },
    LinkRow { spec: &host("net.ipv4.tcp_backlog_ack_defer", "one ACK for a backlog of segments", SWITCH), on: OnLink::Field("ipv4/tcp_backlog_ack_defer", 0) },
    LinkRow { spec: &host("net.ipv4.tcp_comp_sack_nr", "SACKs that one ACK may stand for", upto(255)), on: OnLink::Field("ipv4/tcp_comp_sack_nr", 0) },
    LinkRow { spec: &host("net.ipv4.tcp_dsack", "duplicate SACKs are sent (RFC 2883)", SWITCH), on: OnLink::Field("ipv4/tcp_dsack", 0) },
    LinkRow { spec: &host("net.ipv4.tcp_early_retrans", "tail loss probes: 0 off, 3 on", upto(4)), on: OnLink::Field("ipv4/tcp_early_retrans", 0) },
    LinkRow { spec: &host("net.ipv4.tcp_ecn", "ECN (RFC 3168): 0 off, 1 asked for, 2 where the peer asks", upto(5)), on: OnLink::Field("ipv4/tcp_ecn", 0) },
    LinkRow { spec: &host("net.ipv4.tcp_fastopen", "TCP Fast Open (RFC 7413), bits: 1 client, 2 server", upto(0x607)), on: OnLink::Field("ipv4/tcp_fastopen", 0) },
    LinkRow { spec: &host("net.ipv4.tcp_frto", "spurious time-outs are found (F-RTO, RFC 5682)", upto(2)), on: OnLink::Field("ipv4/tcp_frto", 0) },
    LinkRow { spec: &host("net.ipv4.tcp_limit_output_bytes", "bytes of a socket in the queues below TCP", ParamKind::size(4096, 1 << 30)), on: OnLink::Field("ipv4/tcp_limit_output_bytes", 0) },
    LinkRow { spec: &host("net.ipv4.tcp_max_syn_backlog", "half-open connections of a listener", ParamKind::count(1, 1 << 20)), on: OnLink::Field("ipv4/tcp_max_syn_backlog", 0) },
    LinkRow { spec: &host("net.ipv4.tcp_min_tso_segs", "segments of a TSO frame, at least", ParamKind::count(1, 255)), on: OnLink::Field("ipv4/tcp_min_tso_segs", 0) },
    LinkRow { spec: &host("net.ipv4.tcp_moderate_rcvbuf", "receive buffers grow by themselves", SWITCH), on: OnLink::Field("ipv4/tcp_moderate_rcvbuf", 0) },
    LinkRow { spec: &host("net.ipv4.tcp_mtu_probing", "path MTU is probed: 0 off, 1 at a black hole, 2 always", upto(2)), on: OnLink::Field("ipv4/tcp_mtu_probing", 0) },
    LinkRow { spec: &host("net.ipv4.tcp_notsent_lowat", "unsent bytes up to which a socket is writable", ParamKind::size(0, 4_294_967_295)), on: OnLink::Field("ipv4/tcp_notsent_lowat", 0) },
    LinkRow { spec: &host("net.ipv4.tcp_pacing_ss_ratio", "pacing rate in slow start, per cent of window over RTT", upto(1000)), on: OnLink::Field("ipv4/tcp_pacing_ss_ratio", 0) },
    LinkRow { spec: &host("net.ipv4.tcp_recovery", "loss detection, bits: 1 RACK (RFC 8985)", upto(7)), on: OnLink::Field("ipv4/tcp_recovery", 0) },
    LinkRow { spec: &host("net.ipv4.tcp_slow_start_after_idle", "the window shrinks while a connection idles", SWITCH), on: OnLink::Field("ipv4/tcp_slow_start_after_idle", 0) },
    LinkRow { spec: &host("net.ipv4.tcp_syncookies", "SYN cookies: 0 off, 1 when the backlog is full, 2 always", upto(2)), on: OnLink::Field("ipv4/tcp_syncookies", 0) },
    LinkRow { spec: &host("net.ipv4.tcp_tso_win_divisor", "part of the window that one TSO frame may take", upto(1000)), on: OnLink::Field("ipv4/tcp_tso_win_divisor", 0) },
    LinkRow { spec: &host("net.ipv4.tcp_tw_reuse", "ports in TIME-WAIT are used again: 0 off, 1 on, 2 on loopback", upto(2)), on: OnLink::Field("ipv4/tcp_tw_reuse", 0) },
    LinkRow { spec: &host("net.ipv4.tcp_window_scaling", "window scaling (RFC 7323)", SWITCH), on: OnLink::Field("ipv4/tcp_window_scaling", 0) },
];

/// A file of the machine; a switch holds 1 and 0.
const fn row(spec: &'static FactorSpec, places: &'static [Place]) -> MachineRow {
    MachineRow { spec, places, form: Form::Same, effect: None, administered: false }
}

const fn at(pattern: &'static str) -> Place {
    Place { pattern, words: &[], menu: None, register: None }
}

const fn switch(pattern: &'static str) -> Place {
    Place { pattern, words: WORDS, menu: None, register: None }
}

const CFS_SLICE: FactorSpec = machine(
    "kernel.sched_cfs_bandwidth_slice_us",
    "quota that a CPU takes from its group at a time",
    MICROSECONDS,
);
const NMI_WATCHDOG: FactorSpec = machine(
    "kernel.nmi_watchdog",
    "hard lock-ups are looked for, by a counter of each CPU",
    SWITCH,
);
const TIMER_MIGRATION: FactorSpec =
    machine("kernel.timer_migration", "timers of idle CPUs move to busy ones", SWITCH);
const DEV_WEIGHT: FactorSpec = machine(
    "net.core.dev_weight",
    "packets that NAPI takes from a backlog at a time",
    ParamKind::count(1, 100_000),
);
const GRO_BATCH: FactorSpec = machine(
    "net.core.gro_normal_batch",
    "packets that GRO hands on together",
    ParamKind::count(1, 1024),
);
const BUDGET_TIME: FactorSpec = machine(
    "net.core.netdev_budget_usecs",
    "time of one round of the network softirq",
    MICROSECONDS,
);
const RMEM_MAX: FactorSpec = machine(
    "net.core.rmem_max",
    "receive buffer that a program may ask for",
    ParamKind::size(4096, 1 << 30),
);
const FLOW_ENTRIES: FactorSpec = machine(
    "net.core.rps_sock_flow_entries",
    "flows of RFS (with rps_flows of the queues), a power of two",
    upto(1 << 29),
);
const WMEM_MAX: FactorSpec = machine(
    "net.core.wmem_max",
    "send buffer that a program may ask for",
    ParamKind::size(4608, 1 << 30),
);
const COMPACTION: FactorSpec =
    machine("vm.compaction_proactiveness", "how hard memory is compacted ahead of need", upto(100));
const DIRTY_EXPIRE: FactorSpec =
    machine("vm.dirty_expire_centisecs", "age from which dirty pages are written", CENTISECONDS);
const DIRTY_WRITEBACK: FactorSpec = machine(
    "vm.dirty_writeback_centisecs",
    "time between two rounds of writing dirty pages",
    CENTISECONDS,
);
const OVERCOMMIT: FactorSpec = machine(
    "vm.overcommit_memory",
    "promises of memory: 0 by a guess, 1 always, 2 up to a limit",
    upto(2),
);
const STAT_INTERVAL: FactorSpec = machine(
    "vm.stat_interval",
    "time between two updates of the memory counters",
    ParamKind::within(Kind::Duration, 1.0, 3600.0).by(1.0),
);
const CACHE_PRESSURE: FactorSpec = machine(
    "vm.vfs_cache_pressure",
    "how readily directory entries are dropped, against pages",
    upto(1000),
);
const ZONE_RECLAIM: FactorSpec = machine(
    "vm.zone_reclaim_mode",
    "memory of the own node is freed before another's is taken, bits",
    upto(7),
);

/// Sorted by name.
pub(super) static MACHINES: [MachineRow; 16] = [
    row(&NMI_WATCHDOG, &[switch("proc/sys/kernel/nmi_watchdog")]),
    row(&CFS_SLICE, &[at("proc/sys/kernel/sched_cfs_bandwidth_slice_us")]),
    row(&TIMER_MIGRATION, &[switch("proc/sys/kernel/timer_migration")]),
    row(&DEV_WEIGHT, &[at("proc/sys/net/core/dev_weight")]),
    row(&GRO_BATCH, &[at("proc/sys/net/core/gro_normal_batch")]),
    row(&BUDGET_TIME, &[at("proc/sys/net/core/netdev_budget_usecs")]),
    row(&RMEM_MAX, &[at("proc/sys/net/core/rmem_max")]),
    row(&FLOW_ENTRIES, &[at("proc/sys/net/core/rps_sock_flow_entries")]),
    row(&WMEM_MAX, &[at("proc/sys/net/core/wmem_max")]),
    row(&COMPACTION, &[at("proc/sys/vm/compaction_proactiveness")]),
    row(&DIRTY_EXPIRE, &[at("proc/sys/vm/dirty_expire_centisecs")]),
    row(&DIRTY_WRITEBACK, &[at("proc/sys/vm/dirty_writeback_centisecs")]),
    row(&OVERCOMMIT, &[at("proc/sys/vm/overcommit_memory")]),
    row(&STAT_INTERVAL, &[at("proc/sys/vm/stat_interval")]),
    row(&CACHE_PRESSURE, &[at("proc/sys/vm/vfs_cache_pressure")]),
    row(&ZONE_RECLAIM, &[at("proc/sys/vm/zone_reclaim_mode")]),
];

/// As data.
pub(super) const SPECS: [FactorSpec; 16] = [
    NMI_WATCHDOG,
    CFS_SLICE,
    TIMER_MIGRATION,
    DEV_WEIGHT,
    GRO_BATCH,
    BUDGET_TIME,
    RMEM_MAX,
    FLOW_ENTRIES,
    WMEM_MAX,
    COMPACTION,
    DIRTY_EXPIRE,
    DIRTY_WRITEBACK,
    OVERCOMMIT,
    STAT_INTERVAL,
    CACHE_PRESSURE,
    ZONE_RECLAIM,
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_row_is_at_the_place_that_its_name_says_and_this_kernel_has_it() {
        let path = |name: &str| format!("/proc/sys/{}", name.replace('.', "/"));
        let mut places: Vec<(&str, String)> = Vec::new();
        for row in &HOSTS {
            let OnLink::Field(at, 0) = row.on else { panic!("{} is a file", row.spec.name) };
            places.push((row.spec.name, format!("/proc/sys/net/{at}")));
        }
        for (row, spec) in MACHINES.iter().zip(&SPECS) {
            assert_eq!(row.spec.name, spec.name);
            places.push((spec.name, format!("/{}", row.places[0].pattern)));
        }
        for (name, place) in places {
            assert_eq!(place, path(name));
            if Path::new("/proc/sys/vm/zone_reclaim_mode").exists() {
                assert!(Path::new(&place).exists(), "{place} is of no kernel of today");
            }
        }
    }
}
