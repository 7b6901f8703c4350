//! Knows where Linux says what the processors and their caches are; knows no load and no counter.

use super::tree::{Tree, cpu_list, field};
use desk::record::{Cache, Cpu};
use desk::unit::{Quantity, Unit};
use std::collections::BTreeSet;

const CPUS: &str = "sys/devices/system/cpu";

/// The processors that are online.
pub(super) fn observe(tree: &Tree) -> Cpu {
    let cpuinfo = tree.text("proc/cpuinfo").unwrap_or_default();
    let cpus = online(tree);
    let first = cpus.first().copied().unwrap_or(0);
    let listed = cpuinfo.lines().filter(|line| line.starts_with("processor")).count();
    Cpu {
        model: field(&cpuinfo, "model name").unwrap_or_default().to_owned(),
        sockets: distinct(tree, &cpus, "topology/physical_package_id"),
        // CPUs of one core list the same siblings; core numbers repeat between dies.
        cores: distinct(tree, &cpus, "topology/thread_siblings_list"),
        logical: count(if cpus.is_empty() { listed } else { cpus.len() }),
        smt: tree.text(&format!("{CPUS}/smt/control")),
        frequency_max: tree
            .number::<u32>(&format!("{CPUS}/cpu{first}/cpufreq/cpuinfo_max_freq"))
            .map(|kilohertz| Quantity::new(f64::from(kilohertz) * 1e3, Unit::Hertz)),
        governor: tree.text(&format!("{CPUS}/cpu{first}/cpufreq/scaling_governor")),
        hypervisor: hypervisor(tree, &cpuinfo),
        numa_nodes: numbered(tree, "sys/devices/system/node", "node")
            .count()
            .try_into()
            .unwrap_or(0),
    }
}

/// Every kind of cache once: CPUs of one sort have the same, hybrid processors have several.
pub(super) fn caches(tree: &Tree) -> Vec<Cache> {
    let mut kinds = BTreeSet::new();
    for cpu in online(tree) {
        let directory = format!("{CPUS}/cpu{cpu}/cache");
        for index in numbered(tree, &directory, "index") {
            kinds.extend(cache(tree, &format!("{directory}/index{index}")));
        }
    }
    let cache = |(level, kind, bytes, shared_by)| Cache {
        level,
        kind,
        size: Quantity::bytes(bytes),
        shared_by,
    };
    kinds.into_iter().map(cache).collect()
}

/// Level, kind, bytes and the number of CPUs that share one.
fn cache(tree: &Tree, index: &str) -> Option<(u32, String, u64, u32)> {
    let size = tree.text(&format!("{index}/size"))?;
    let kibibytes: u64 = size.strip_suffix('K')?.parse().ok()?;
    let shared = tree.text(&format!("{index}/shared_cpu_list"))?;
    Some((
        tree.number(&format!("{index}/level"))?,
        tree.text(&format!("{index}/type"))?,
        kibibytes * 1024,
        count(cpu_list(&shared).len()),
    ))
}

/// The CPUs that are online; all there are where the kernel keeps no list.
fn online(tree: &Tree) -> Vec<u32> {
    match tree.text(&format!("{CPUS}/online")) {
        Some(list) => cpu_list(&list),
        None => numbered(tree, CPUS, "cpu").collect(),
    }
}

/// The numbers behind a prefix in a directory: `cpu0`, `cpu1` but not `cpufreq`.
fn numbered(tree: &Tree, directory: &str, prefix: &str) -> impl Iterator<Item = u32> {
    let names = tree.names(directory).into_iter();
    names.filter_map(move |name| name.strip_prefix(prefix)?.parse().ok())
}

/// How many different contents a file has among the CPUs.
fn distinct(tree: &Tree, cpus: &[u32], file: &str) -> u32 {
    let read = |cpu: &u32| tree.text(&format!("{CPUS}/cpu{cpu}/{file}"));
    count(cpus.iter().filter_map(read).collect::<BTreeSet<_>>().len())
}

/// The name the hypervisor gives itself; a guest is known by the CPU flag or by the Xen directory.
fn hypervisor(tree: &Tree, cpuinfo: &str) -> Option<String> {
    if let Some(kind) = tree.text("sys/hypervisor/type") {
        return Some(kind);
    }
    flag(cpuinfo, "hypervisor").filter(|is| *is)?;
    let dmi = |file: &str| tree.text(&format!("sys/class/dmi/id/{file}"));
    let named: Vec<String> =
        [dmi("sys_vendor"), dmi("product_name")].into_iter().flatten().collect();
    Some(if named.is_empty() { "unnamed".to_owned() } else { named.join(" ") })
}

/// Whether the first CPU has a flag of `/proc/cpuinfo`; none where it tells of no flags.
pub(super) fn flag(cpuinfo: &str, name: &str) -> Option<bool> {
    Some(field(cpuinfo, "flags")?.split(' ').any(|flag| flag == name))
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
