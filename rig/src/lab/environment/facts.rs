//! Knows which single values describe a machine and where each stands.
//! Never: processors, caches and adapters, which have records of their own, and what a difference
//! means, which the desk's table of keys says.

use super::fact::{digest, fact};
use super::tree::{Tree, field};
use super::{accounting, cmdline, container, kernel};
use desk::record::Fact;

/// Facts that are the whole content of one file: key, file.
const FILES: [(&str, &str); 52] = [
    ("bios.date", "sys/class/dmi/id/bios_date"),
    ("bios.vendor", "sys/class/dmi/id/bios_vendor"),
    ("bios.version", "sys/class/dmi/id/bios_version"),
    ("board.name", "sys/class/dmi/id/board_name"),
    ("board.vendor", "sys/class/dmi/id/board_vendor"),
    ("clocksource", "sys/devices/system/clocksource/clocksource0/current_clocksource"),
    ("cpu.energy_preference", "sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference"),
    ("cpu.frequency_driver", "sys/devices/system/cpu/cpu0/cpufreq/scaling_driver"),
    ("cpu.idle_driver", "sys/devices/system/cpu/cpuidle/current_driver"),
    ("cpu.idle_governor", "sys/devices/system/cpu/cpuidle/current_governor"),
    ("cpu.isolated", "sys/devices/system/cpu/isolated"),
    ("cpu.nohz_full", "sys/devices/system/cpu/nohz_full"),
    ("cpu.online", "sys/devices/system/cpu/online"),
    ("hugepages", "proc/sys/vm/nr_hugepages"),
    ("kernel.release", "proc/sys/kernel/osrelease"),
    ("kernel.security", "sys/kernel/security/lsm"),
    ("max_user_namespaces", "proc/sys/user/max_user_namespaces"),
    ("net.bpf_jit", "proc/sys/net/core/bpf_jit_enable"),
    ("net.busy_poll", "proc/sys/net/core/busy_poll"),
    ("net.busy_read", "proc/sys/net/core/busy_read"),
    ("net.default_qdisc", "proc/sys/net/core/default_qdisc"),
    ("net.dev_weight", "proc/sys/net/core/dev_weight"),
    ("net.netdev_budget", "proc/sys/net/core/netdev_budget"),
    ("net.netdev_budget_usecs", "proc/sys/net/core/netdev_budget_usecs"),
    ("net.netdev_max_backlog", "proc/sys/net/core/netdev_max_backlog"),
    ("net.rmem_default", "proc/sys/net/core/rmem_default"),
    ("net.rmem_max", "proc/sys/net/core/rmem_max"),
    ("net.wmem_default", "proc/sys/net/core/wmem_default"),
    ("net.wmem_max", "proc/sys/net/core/wmem_max"),
    ("numa_balancing", "proc/sys/kernel/numa_balancing"),
    ("system.product", "sys/class/dmi/id/product_name"),
    ("system.vendor", "sys/class/dmi/id/sys_vendor"),
    ("tcp.autocorking", "proc/sys/net/ipv4/tcp_autocorking"),
    ("tcp.congestion_allowed", "proc/sys/net/ipv4/tcp_allowed_congestion_control"),
    ("tcp.congestion_available", "proc/sys/net/ipv4/tcp_available_congestion_control"),
    ("tcp.congestion_default", "proc/sys/net/ipv4/tcp_congestion_control"),
    ("tcp.ecn", "proc/sys/net/ipv4/tcp_ecn"),
    ("tcp.limit_output_bytes", "proc/sys/net/ipv4/tcp_limit_output_bytes"),
    ("tcp.min_tso_segs", "proc/sys/net/ipv4/tcp_min_tso_segs"),
    ("tcp.moderate_rcvbuf", "proc/sys/net/ipv4/tcp_moderate_rcvbuf"),
    ("tcp.mtu_probing", "proc/sys/net/ipv4/tcp_mtu_probing"),
    ("tcp.notsent_lowat", "proc/sys/net/ipv4/tcp_notsent_lowat"),
    ("tcp.rmem", "proc/sys/net/ipv4/tcp_rmem"),
    ("tcp.sack", "proc/sys/net/ipv4/tcp_sack"),
    ("tcp.slow_start_after_idle", "proc/sys/net/ipv4/tcp_slow_start_after_idle"),
    ("tcp.timestamps", "proc/sys/net/ipv4/tcp_timestamps"),
    ("tcp.tso_rtt_log", "proc/sys/net/ipv4/tcp_tso_rtt_log"),
    ("tcp.tso_win_divisor", "proc/sys/net/ipv4/tcp_tso_win_divisor"),
    ("tcp.window_scaling", "proc/sys/net/ipv4/tcp_window_scaling"),
    ("tcp.wmem", "proc/sys/net/ipv4/tcp_wmem"),
    ("thp.khugepaged_defrag", "sys/kernel/mm/transparent_hugepage/khugepaged/defrag"),
    ("thp.use_zero_page", "sys/kernel/mm/transparent_hugepage/use_zero_page"),
];

/// Facts that are the choice in brackets of `always [madvise] never`: key, file.
const CHOICES: [(&str, &str); 3] = [
    ("thp", "sys/kernel/mm/transparent_hugepage/enabled"),
    ("thp.defrag", "sys/kernel/mm/transparent_hugepage/defrag"),
    ("thp.shmem", "sys/kernel/mm/transparent_hugepage/shmem_enabled"),
];

/// Numbers of single pieces, which are no one else's business: key, file. Most only root may read.
const SERIALS: [(&str, &str); 3] = [
    ("board.serial", "sys/class/dmi/id/board_serial"),
    ("system.serial", "sys/class/dmi/id/product_serial"),
    ("system.uuid", "sys/class/dmi/id/product_uuid"),
];

const VULNERABILITIES: &str = "sys/devices/system/cpu/vulnerabilities";

/// Everything that can be read, in no particular order.
pub(super) fn observe(tree: &Tree) -> Vec<Fact> {
    let text = |(key, path): &(&str, &str)| Some(fact(key, path, &tree.text(path)?));
    let chosen = |(key, path): &(&str, &str)| Some(fact(key, path, chosen(&tree.text(path)?)?));
    let hashed = |(key, path): &(&str, &str)| Some(fact(key, path, &digest(&tree.text(path)?)));
    let mitigations = tree.names(VULNERABILITIES).into_iter().filter_map(|name| {
        let path = format!("{VULNERABILITIES}/{name}");
        Some(fact(&format!("mitigation.{name}"), &path, &tree.text(&path)?))
    });
    let mut facts: Vec<Fact> = FILES.iter().filter_map(text).collect();
    facts.extend(CHOICES.iter().filter_map(chosen));
    facts.extend(SERIALS.iter().filter_map(hashed));
    facts.extend(mitigations);
    facts.extend(cmdline::observe(tree));
    facts.extend(container::observe(tree));
    facts.extend(kernel::observe(tree));
    facts.extend([os(tree), microcode(tree), accounting::observe(tree)].into_iter().flatten());
    facts
}

/// The word in brackets.
fn chosen(text: &str) -> Option<&str> {
    Some(text.split_once('[')?.1.split_once(']')?.0)
}

/// The distribution in its own words.
fn os(tree: &Tree) -> Option<Fact> {
    let path = "etc/os-release";
    let text = tree.text(path)?;
    let name = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(fact("os", path, name.trim_matches(['"', '\''])))
}

/// The microcode of the first CPU.
fn microcode(tree: &Tree) -> Option<Fact> {
    let path = "proc/cpuinfo";
    Some(fact("microcode", path, field(&tree.text(path)?, "microcode")?))
}
