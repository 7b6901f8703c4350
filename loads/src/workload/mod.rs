//! Knows which workloads there are, a folder each.
//!
//! Gives: [`ALL`], [`find`]; [`plan_of_fio`] and [`fio_of_run`], between plans and jobs of fio;
//! [`overwrites`] and [`is_block_of_ours`], of disks; [`length_of_page`], of a server.
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
    disk,
    file_copy,
    forward,
    http,
    icmp_rr,
    mem_bandwidth,
    mem_copy,
    mem_latency,
    packet_pipeline,
    tcp_crr,
    tcp_rr,
    tcp_stream,
    udp_rr,
    udp_stream,
}

pub use disk::fio::{jobs as fio_of_run, plan as plan_of_fio};
pub use disk::{is_block_of_ours, overwrites};
pub use http::length_of_page;

/// The workload of a name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.spec.name == name)
}

#[cfg(test)]
mod tests {
    use super::ALL;
    use desk::record::Derivation;
    use std::collections::BTreeSet;

    #[test]
    fn what_a_spec_asks_for_names_its_own_parameters_words_and_metrics() {
        for spec in ALL.iter().map(|entry| entry.spec) {
            let param = |name: &str| spec.params.iter().find(|param| param.name == name);
            let metric = |name: &str| spec.metrics.iter().any(|metric| metric.name == name);
            for derive in spec.derives {
                let told = format!("{}: {derive:?}", spec.name);
                let along = derive.along;
                let is_there = match derive.what {
                    Derivation::Best => metric(along),
                    _ => along.is_empty() || param(along).is_some(),
                };
                assert!(is_there && (derive.metric.is_empty() || metric(derive.metric)), "{told}");
                for (name, words) in derive.only {
                    let known = param(name).unwrap().kind.words;
                    assert!(words.iter().all(|word| known.has(word)), "{told}");
                }
            }
            let roles: Vec<_> = spec.params.iter().filter_map(|param| param.role).collect();
            let distinct: BTreeSet<_> = roles.iter().collect();
            assert_eq!(roles.len(), distinct.len(), "{}: a role twice", spec.name);
        }
    }
}
