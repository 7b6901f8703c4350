//! Knows what a machine was when it was measured; knows nothing of how that was found out.

use crate::unit::Quantity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a difference in a key means for a comparison.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum KeyClass {
    /// Must match: workload, revision.
    Identity,
    /// Declared in the plan: may differ.
    Factor,
    /// Must not differ undeclared.
    Critical,
    /// Shown only.
    Info,
}

/// One fact about the machine, with its source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fact {
    /// Key, dotted: `kernel.release`.
    pub key: String,
    /// Value as read.
    pub value: String,
    /// What a difference would mean.
    pub class: KeyClass,
    /// Where it was read.
    pub source: String,
}

/// The processors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cpu {
    /// Model name.
    pub model: String,
    /// Sockets.
    pub sockets: u32,
    /// Physical cores.
    pub cores: u32,
    /// Logical CPUs that are online.
    pub logical: u32,
    /// State of simultaneous multithreading as the kernel says it (`on`, `off`, `notsupported`).
    pub smt: Option<String>,
    /// Highest frequency the machine claims.
    pub frequency_max: Option<Quantity>,
    /// Frequency governor of the first CPU.
    pub governor: Option<String>,
    /// Hypervisor, if the machine is a guest.
    pub hypervisor: Option<String>,
    /// NUMA nodes.
    pub numa_nodes: u32,
}

/// One kind of cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cache {
    /// Level: 1, 2, 3.
    pub level: u32,
    /// `Data`, `Instruction` or `Unified`.
    pub kind: String,
    /// Size of one.
    pub size: Quantity,
    /// How many logical CPUs share one.
    pub shared_by: u32,
}

/// One network adapter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Adapter {
    /// Interface name.
    pub name: String,
    /// Driver.
    pub driver: Option<String>,
    /// Driver version.
    pub driver_version: Option<String>,
    /// Firmware version.
    pub firmware: Option<String>,
    /// Bus address, for instance `0000:03:00.0`.
    pub bus: Option<String>,
    /// Vendor and device, `8086:100e`.
    pub device_id: Option<String>,
    /// PCIe width and speed now, `x8 at 8.0 GT/s`.
    pub pcie_now: Option<String>,
    /// PCIe width and speed at best.
    pub pcie_best: Option<String>,
    /// Line rate now; absent where the device has no physical link.
    pub speed_now: Option<Quantity>,
    /// Line rate at best.
    pub speed_best: Option<Quantity>,
    /// Whether it has a carrier; none of an adapter that is off, of which the kernel knows none.
    pub carrier: Option<bool>,
    /// MTU, bytes.
    pub mtu: u32,
    /// Transmit queues.
    pub tx_queues: u32,
    /// Receive queues.
    pub rx_queues: u32,
    /// Descriptors of a transmit ring; absent where the driver does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx_ring: Option<u32>,
    /// Descriptors of a receive ring.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rx_ring: Option<u32>,
    /// NUMA node, if known.
    pub numa_node: Option<u32>,
    /// Offloads: name to `on`, `off`, `on [fixed]`, `off [fixed]`.
    pub offloads: Vec<(String, String)>,
    /// Whether it sits on a bus at all (a PCI or platform device).
    pub physical: bool,
}

/// Where the test hosts lived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LabKind {
    /// Network namespaces made as root.
    RootNamespaces,
    /// Network namespaces inside a user namespace of an ordinary user.
    UserNamespaces,
    /// Processes on the loopback interface: the kernel refused namespaces.
    Loopback,
    /// A model in simulated time: nothing was measured.
    Simulated,
}

/// What the machine was.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// Processors.
    pub cpu: Cpu,
    /// Caches.
    pub caches: Vec<Cache>,
    /// Main memory.
    pub memory: Option<Quantity>,
    /// Network adapters, the loopback left out.
    pub adapters: Vec<Adapter>,
    /// Everything else, sorted by key.
    pub facts: Vec<Fact>,
    /// Where the hosts lived and why there; set when the lab stands.
    pub lab: Option<(LabKind, String)>,
}

impl Adapter {
    /// Whether it is on and has a carrier.
    #[must_use]
    pub fn has_carrier(&self) -> bool {
        self.carrier == Some(true)
    }
}

impl Environment {
    /// Whether the lab is a model, so that nothing was measured at all.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        matches!(self.lab, Some((LabKind::Simulated, _)))
    }

    /// Whether software computes each instruction of the machine (QEMU's TCG). Then no time that it
    /// takes tells the speed of hardware.
    #[must_use]
    pub fn is_emulated(&self) -> bool {
        let known = |word: &str| word.contains("TCG");
        known(&self.cpu.model) || self.cpu.hypervisor.as_deref().is_some_and(known)
    }

    /// The quota of CPU time that the control groups of stend have, `1.50 CPUs`, where it is less
    /// than the machine has.
    #[must_use]
    pub fn quota(&self) -> Option<&str> {
        let cpus = |quota: &&str| quota.split_once(' ')?.0.parse::<f64>().ok();
        let quota = self.fact("cgroup.cpu_quota")?;
        (cpus(&quota)? < f64::from(self.cpu.logical)).then_some(quota)
    }

    /// The value of a fact.
    #[must_use]
    pub fn fact(&self, key: &str) -> Option<&str> {
        self.facts.iter().find(|f| f.key == key).map(|f| f.value.as_str())
    }
}
