//! Knows which words of the kernel's command line shape a measurement; the others are only counted
//! in a digest, for they may hold names of disks and secrets.

use super::fact::{digest, fact};
use super::tree::Tree;
use desk::record::Fact;
use std::collections::BTreeMap;

const PATH: &str = "proc/cmdline";

/// Parameters that are published with their values, each a fact `kernel.cmdline.NAME`.
const SHAPING: [&str; 72] = [
    "amd_iommu",
    "amd_pstate",
    "apparmor",
    "audit",
    "clocksource",
    "cpufreq.default_governor",
    "cpufreq.off",
    "cpuidle.governor",
    "cpuidle.off",
    "cpuidle_haltpoll.force",
    "default_hugepagesz",
    "gather_data_sampling",
    "haltpoll.guest_halt_poll_ns",
    "hpet",
    "hugepages",
    "hugepagesz",
    "idle",
    "init_on_alloc",
    "init_on_free",
    "intel_idle.max_cstate",
    "intel_iommu",
    "intel_pstate",
    "iommu",
    "iommu.passthrough",
    "iommu.strict",
    "ipv6.disable",
    "irqaffinity",
    "isolcpus",
    "kthread_cpus",
    "l1d_flush",
    "l1tf",
    "lsm",
    "maxcpus",
    "mce",
    "mds",
    "mem",
    "mitigations",
    "mmio_stale_data",
    "nmi_watchdog",
    "no_timer_check",
    "nohz",
    "nohz_full",
    "nopti",
    "nosmt",
    "nosoftlockup",
    "nospectre_v1",
    "nospectre_v2",
    "nowatchdog",
    "nr_cpus",
    "numa",
    "numa_balancing",
    "page_poison",
    "pcie_aspm",
    "preempt",
    "processor.max_cstate",
    "psi",
    "pti",
    "rcu_nocb_poll",
    "rcu_nocbs",
    "retbleed",
    "selinux",
    "skew_tick",
    "slab_nomerge",
    "spec_rstack_overflow",
    "spec_store_bypass_disable",
    "spectre_v2",
    "swiotlb",
    "threadirqs",
    "transparent_hugepage",
    "tsc",
    "tsx",
    "tsx_async_abort",
];

/// The parameters that shape a measurement, and what is left.
pub(super) fn observe(tree: &Tree) -> Vec<Fact> {
    let Some(line) = tree.text(PATH) else { return Vec::new() };
    let mut shaping: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut rest = Vec::new();
    // What follows two dashes is for the first process, not for the kernel.
    let of_kernel = line.split_whitespace().take_while(|word| *word != "--");
    for word in of_kernel {
        let (name, value) = word.split_once('=').unwrap_or((word, "on"));
        match SHAPING.binary_search(&name) {
            Ok(_) => shaping.entry(name).or_default().push(value),
            Err(_) => rest.push(word),
        }
    }
    let one = |(name, values): (&str, Vec<&str>)| {
        fact(&format!("kernel.cmdline.{name}"), PATH, &values.join(", "))
    };
    let mut facts: Vec<Fact> = shaping.into_iter().map(one).collect();
    if !rest.is_empty() {
        let value = format!("{} other words, digest {}", rest.len(), digest(&rest.join(" ")));
        facts.push(fact("kernel.cmdline.rest", PATH, &value));
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_sorted_so_that_they_are_found() {
        assert!(SHAPING.is_sorted());
    }
}
