//! Knows which processes and control groups are the lab's own, for whoever reads the machine's.
//!
//! Must not know what they do.

use super::adapter::Away;
use super::cgroup::HostGroup;
use std::sync::Arc;

/// What of the machine belongs to a lab that stands; a copy, so that it can be looked at while the
/// lab works.
#[derive(Clone, Debug, Default)]
pub struct Ours {
    /// Name and process of every host, the switch too.
    pub hosts: Vec<(String, u32)>,
    /// Control groups of the server and of the clients; empty where none could be made.
    pub groups: Vec<HostGroup>,
    /// Adapters of the machine that are in the namespaces of hosts.
    pub away: Vec<Arc<Away>>,
}

impl Ours {
    /// Whether a process is a host of the lab or the conductor.
    #[must_use]
    pub fn has_process(&self, process: u32) -> bool {
        process == std::process::id() || self.hosts.iter().any(|(_, pid)| *pid == process)
    }
}
