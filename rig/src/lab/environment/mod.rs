//! Environment: what the machine was when it was measured.
//!
//! Knows: where Linux says what processors, caches, memory, adapters and settings there are.
//! Gives: [`here`]; [`observe`] over a file tree, [`complete_adapters`] for what only a driver can
//! say, [`adapter()`] for one by its name, [`libraries`] for what this process runs on.
//! Never: whether a difference matters to a verdict, or how a fact is put into words.
//! Start reading at [`observe`]. A file that is missing is an absent fact, never an error.

mod accounting;
mod adapter;
mod ceiling;
mod cmdline;
mod complete;
mod container;
mod cpu;
mod drive;
mod fact;
mod facts;
mod kernel;
mod library;
mod pcie;
#[cfg(test)]
mod tests;
mod tree;

pub use ceiling::{AdapterCeiling, adapter_ceiling, largest_cache};
pub use complete::complete_adapters;
pub use drive::drive_program;
pub use library::libraries;
pub(in crate::lab) use tree::cpu_list;

use desk::record::{Adapter, Environment};
use desk::unit::Quantity;
use std::path::Path;
use tree::Tree;

/// Reads what the machine is from `proc`, `sys` and `etc` under `root` (`/` in production).
///
/// What cannot be read is left absent; the fields that only a driver can fill (driver version,
/// firmware, rings, offloads, best line rate) are left to [`complete_adapters`], and `lab` to the
/// lab.
#[must_use]
pub fn observe(root: &Path) -> Environment {
    let tree = Tree::at(root);
    let adapters = adapter::observe(&tree);
    let mut facts = facts::observe(&tree);
    facts.extend(adapters.iter().filter_map(|a| adapter::duplex(&tree, a)));
    facts.sort_by(|a, b| a.key.cmp(&b.key));
    Environment {
        cpu: cpu::observe(&tree),
        caches: cpu::caches(&tree),
        memory: memory(&tree),
        adapters,
        facts,
        lab: None,
    }
}

/// All that can be known of the machine that this process runs on: what [`observe`] reads, what
/// drivers and drives say, and the libraries.
#[must_use]
pub fn here() -> Environment {
    let mut environment = observe(Path::new("/"));
    complete_adapters(&mut environment);
    environment.facts.extend(libraries());
    environment.facts.extend(drive::drives());
    environment
}

/// An adapter of this machine by its name, of whatever kind, with what its driver says.
#[must_use]
pub fn adapter(name: &str) -> Adapter {
    let adapters = vec![adapter::adapter(&Tree::at(Path::new("/")), name.to_owned())];
    let mut environment = Environment { adapters, ..Environment::default() };
    complete_adapters(&mut environment);
    environment.adapters.pop().unwrap_or_default()
}

/// Whether the time of interrupts is kept by a clock, so that the columns `irq` and `softirq` of
/// `/proc/stat` are exact; elsewhere they are samples, wrong by a factor.
#[must_use]
pub fn keeps_interrupts(root: &Path) -> bool {
    accounting::keeps_interrupts(&Tree::at(root))
}

/// Whether the CPUs have a flag of `/proc/cpuinfo`; none where the kernel tells of no flags.
#[must_use]
pub fn cpu_flag(root: &Path, name: &str) -> Option<bool> {
    cpu::flag(&Tree::at(root).text("proc/cpuinfo")?, name)
}

/// Bytes that are free below the limits of our control groups; none where nothing is limited.
#[must_use]
pub fn free_in_groups(root: &Path) -> Option<u64> {
    container::free(&Tree::at(root))
}

/// Main memory that the kernel manages, bytes; less than what is fitted by what firmware keeps.
fn memory(tree: &Tree) -> Option<Quantity> {
    let meminfo = tree.text("proc/meminfo")?;
    let kibibytes = tree::field(&meminfo, "MemTotal")?.strip_suffix(" kB")?.trim();
    Some(Quantity::bytes(kibibytes.parse::<u64>().ok()? * 1024))
}
