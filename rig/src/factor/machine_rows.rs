//! Knows the list of settings of the machine itself; each is a row over files of the kernel.

use super::machine_form::{Form, SPREAD};
use super::machine_row::{MachineRow, Place, matching};
use super::sysctl;
use crate::lab::environment::cpu_flag;
use desk::record::{FactorSpec, MOST_CPUS, ParamKind, Scope};
use desk::unit::Kind;
use std::fs;
use std::path::Path;

const SWITCH: ParamKind = ParamKind::choice(&["on", "off"]);

/// A switch whose file holds 1 and 0.
const ONE_ZERO: &[(&str, &str)] = &[("on", "1"), ("off", "0")];

const fn machine(name: &'static str, about: &'static str, kind: ParamKind) -> FactorSpec {
    FactorSpec { name, about, scope: Scope::Machine, kind }
}

const fn place(pattern: &'static str) -> Place {
    switch(pattern, &[])
}

const fn switch(pattern: &'static str, words: &'static [(&'static str, &'static str)]) -> Place {
    Place { pattern, words, menu: None, register: None }
}

pub(super) const AUTOGROUP: FactorSpec =
    machine("autogroup", "groups of the scheduler by terminal session", SWITCH);
pub(super) const BUSY_POLL: FactorSpec = machine(
    "busy_poll",
    "how long poll and select look at the adapter before they sleep",
    ParamKind::within(Kind::Duration, 0.0, 10e-3).by(1e-6),
);
pub(super) const BUSY_READ: FactorSpec = machine(
    "busy_read",
    "how long a blocking read polls the adapter before it sleeps",
    ParamKind::within(Kind::Duration, 0.0, 10e-3).by(1e-6),
);
pub(super) const GOVERNOR: FactorSpec =
    machine("governor", "who chooses the frequency, on every CPU", ParamKind::WORD);
pub(super) const HUGE_PAGES: FactorSpec = machine(
    "huge_pages",
    "memory that is reserved as huge pages of the default size, a multiple of it",
    ParamKind::size(0, 1 << 46),
);
pub(super) const IRQ_AFFINITY: FactorSpec = machine(
    "irq_affinity",
    "CPUs of all vectors of the network adapters, or one each in turn; irqbalance may move them",
    ParamKind::cpus_or(&[SPREAD]),
);
pub(super) const ONLINE_CPUS: FactorSpec = machine(
    "online_cpus",
    "CPUs that are online, the first ones by number",
    ParamKind::count(1, MOST_CPUS as u64),
);
pub(super) const IO_SCHEDULER: FactorSpec =
    machine("io_scheduler", "I/O scheduler of every disk", ParamKind::WORD);
pub(super) const MAX_FREQUENCY: FactorSpec = machine(
    "max_frequency",
    "highest frequency of every CPU",
    ParamKind::within(Kind::Frequency, 1e3, 1e11).by(1e3),
);
pub(super) const NETDEV_BACKLOG: FactorSpec = machine(
    "netdev_backlog",
    "packets that may wait on a CPU's input queue",
    ParamKind::count(1, 1_000_000),
);
pub(super) const NETDEV_BUDGET: FactorSpec = machine(
    "netdev_budget",
    "packets that one round of the network softirq takes",
    ParamKind::count(1, 100_000),
);
pub(super) const NUMA_BALANCING: FactorSpec =
    machine("numa_balancing", "pages move to the node that uses them", SWITCH);
pub(super) const PREFETCHERS: FactorSpec = machine(
    "prefetchers",
    "all prefetchers of Intel's cores (four bits of register 0x1A4), on every CPU",
    SWITCH,
);
pub(super) const READ_AHEAD: FactorSpec = machine(
    "read_ahead",
    "how far ahead of a reader the kernel reads, on every disk",
    ParamKind::within(Kind::Size, 0.0, 1073741824.0).by(1024.0),
);
pub(super) const SMT: FactorSpec =
    machine("smt", "simultaneous multithreading: two or more CPUs a core", SWITCH);
pub(super) const SWAPPINESS: FactorSpec = machine(
    "swappiness",
    "how readily anonymous memory is swapped out, against files",
    ParamKind::count(0, 200),
);
pub(super) const THP: FactorSpec =
    machine("thp", "transparent huge pages", ParamKind::choice(&["always", "madvise", "never"]));
pub(super) const THP_DEFRAG: FactorSpec = machine(
    "thp_defrag",
    "whether a fault waits until a huge page is made",
    ParamKind::choice(&["always", "defer", "defer+madvise", "madvise", "never"]),
);
pub(super) const TURBO: FactorSpec = machine("turbo", "frequencies above the nominal one", SWITCH);

/// A row over places that are all there is to say of it.
const fn row(spec: &'static FactorSpec, places: &'static [Place]) -> MachineRow {
    MachineRow { spec, places, form: Form::Same, effect: None, administered: false }
}

static ROWS: [MachineRow; 19] = [
    row(&AUTOGROUP, &[switch("proc/sys/kernel/sched_autogroup_enabled", ONE_ZERO)]),
    row(&BUSY_POLL, &[place("proc/sys/net/core/busy_poll")]),
    row(&BUSY_READ, &[place("proc/sys/net/core/busy_read")]),
    row(
        &GOVERNOR,
        &[Place {
            menu: Some("scaling_available_governors"),
            ..place("sys/devices/system/cpu/cpu*/cpufreq/scaling_governor")
        }],
    ),
    MachineRow { form: Form::HugePages, ..row(&HUGE_PAGES, &[place("proc/sys/vm/nr_hugepages")]) },
    row(&IO_SCHEDULER, &[place("sys/block/*/queue/scheduler")]),
    MachineRow {
        form: Form::Vectors,
        ..row(&IRQ_AFFINITY, &[place("proc/irq/*/smp_affinity_list")])
    },
    row(&MAX_FREQUENCY, &[place("sys/devices/system/cpu/cpu*/cpufreq/scaling_max_freq")]),
    row(&NETDEV_BACKLOG, &[place("proc/sys/net/core/netdev_max_backlog")]),
    row(&NETDEV_BUDGET, &[place("proc/sys/net/core/netdev_budget")]),
    MachineRow {
        // `sysctl_numa_balancing` of the kernel's kernel/sched/core.c.
        administered: true,
        ..row(&NUMA_BALANCING, &[switch("proc/sys/kernel/numa_balancing", ONE_ZERO)])
    },
    MachineRow {
        form: Form::FirstCpus,
        ..row(&ONLINE_CPUS, &[place("sys/devices/system/cpu/cpu*/online")])
    },
    row(
        &PREFETCHERS,
        // A bit that is set takes a prefetcher away.
        &[Place {
            register: Some(no_register),
            ..switch("dev/cpu/*/msr", &[("on", "0x0"), ("off", "0xf")])
        }],
    ),
    row(&READ_AHEAD, &[place("sys/block/*/queue/read_ahead_kb")]),
    MachineRow {
        effect: Some(siblings),
        ..row(&SMT, &[place("sys/devices/system/cpu/smt/control")])
    },
    row(&SWAPPINESS, &[place("proc/sys/vm/swappiness")]),
    row(&THP, &[place("sys/kernel/mm/transparent_hugepage/enabled")]),
    row(&THP_DEFRAG, &[place("sys/kernel/mm/transparent_hugepage/defrag")]),
    row(
        &TURBO,
        &[
            // Of the driver's own file 1 means no.
            switch("sys/devices/system/cpu/intel_pstate/no_turbo", &[("on", "0"), ("off", "1")]),
            switch("sys/devices/system/cpu/cpufreq/boost", ONE_ZERO),
        ],
    ),
];

/// The row of a name; none for other factors.
pub(super) fn row_of(name: &str) -> Option<&'static MachineRow> {
    ROWS.iter().chain(&sysctl::MACHINES).find(|row| row.spec.name == name)
}

/// Why the register of the prefetchers cannot be one here: another maker's, or a guest, whose
/// hypervisor keeps it and may take a write without a word.
fn no_register(root: &Path) -> Option<String> {
    let text = fs::read_to_string(root.join("proc/cpuinfo")).unwrap_or_default();
    let field = |name: &str| {
        let lines = text.lines().filter_map(|line| line.split_once(':'));
        lines.into_iter().find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim())
    };
    match (field("vendor_id"), cpu_flag(root, "hypervisor")) {
        (Some("GenuineIntel"), Some(true)) => Some(
            "this machine is a guest, and its hypervisor keeps the register; measure on the \
                  machine itself"
                .into(),
        ),
        (Some("GenuineIntel"), _) => None,
        (vendor, _) => {
            let vendor = vendor.unwrap_or("an unknown maker");
            Some(format!("the register is that of Intel's processors, and this one is of {vendor}"))
        }
    }
}

/// SMT by its effect: whether any core has two threads online.
fn siblings(root: &Path) -> Option<&'static str> {
    let files = matching(root, "sys/devices/system/cpu/cpu*/topology/thread_siblings_list");
    let lists: Vec<String> = files.iter().filter_map(|f| fs::read_to_string(f).ok()).collect();
    let several = |list: &String| list.contains([',', '-']);
    (!lists.is_empty()).then(|| if lists.iter().any(several) { "on" } else { "off" })
}
