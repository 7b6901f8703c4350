//! Knows which workloads there are, a folder each.
//!
//! Gives: [`ALL`], [`find`].
//! Never: one workload knows another, or a factor, or a probe.
//! Start reading at `mem_copy/README.md`, a load of one machine; then `tcp_stream/README.md`.

use rig::workload::Entry;

/// Makes a module of each folder, and of their entries the list.
macro_rules! workloads {
    ($($name:ident),* $(,)?) => {
        $(mod $name;)*

        /// All workloads, sorted by name.
        pub const ALL: &[Entry] = &[$($name::ENTRY),*];
    };
}

// One line a workload, sorted; its folder has the same name.
workloads! {
    cipher,
    core_pair,
    mem_bandwidth,
    mem_copy,
    mem_latency,
    tcp_crr,
    tcp_rr,
    tcp_stream,
}

/// The workload of a name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.spec.name == name)
}
