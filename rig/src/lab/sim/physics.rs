//! Knows what a simulated lab is made of, in base units: seconds, bytes, bits per second, shares.
//!
//! Must not know how it was written, nor what a load makes of it.

use super::device::Device;
use super::fault::Planted;
use super::field::{At, Span, bus, bytes, length, moment, rate, seconds, share};
use super::power::Power;
use super::resource::{
    Clients, Disk, Heat, Home, Limits, Memory, Probes, Resource, Sockets, Softirq, Through,
    WrongClock,
};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A whole physics.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Physics {
    /// What a report calls it.
    pub title: String,
    /// Seed of chance, beside that of the plan.
    pub seed: u64,
    /// The machine that all hosts share.
    pub machine: Machine,
    /// What every link is.
    pub link: Link,
    /// What single links are instead.
    pub links: BTreeMap<String, LinkChange>,
    /// CPU time of one end.
    pub cost: Cost,
    /// The clients.
    pub clients: Clients,
    /// Memory.
    pub memory: Memory,
    /// The disk.
    pub disk: Disk,
    /// The box that frames are sent through.
    pub device: Device,
    /// Buffers of every connection.
    pub sockets: Sockets,
    /// Where received packets are worked on.
    pub softirq: Softirq,
    /// How all these limit a load.
    pub limits: Limits,
    /// CPUs that get hot.
    pub heat: Heat,
    /// Hosts whose clocks are wrong.
    pub clocks: BTreeMap<String, WrongClock>,
    /// The meter of the machine.
    pub power: Power,
    /// What can be read.
    pub probes: Probes,
    /// Chance on the logarithm of the rate.
    pub noise: Noise,
    /// A slow change.
    pub drift: Drift,
    /// A sudden change.
    pub step: Step,
    /// Factor to level to multiplier of the rate; `boot` and `launch` are factors whose levels are
    /// numbers from 1.
    pub effects: BTreeMap<String, BTreeMap<String, f64>>,
    /// Factor to level to multipliers of what resources can do.
    pub capacities: BTreeMap<String, BTreeMap<String, BTreeMap<Resource, f64>>>,
    /// What breaks.
    #[serde(default)]
    pub faults: Vec<Planted>,
}

/// The machine.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Cores, 1 to 1024.
    pub cores: u32,
    /// Threads of a core, each a CPU of its own, 1 to 8.
    pub threads: u32,
    /// What a core does with all its threads busy; 1 is what it does with one.
    pub smt_yield: f64,
    /// The kernel's own congestion control.
    pub congestion: String,
    /// CPUs that the idle lab keeps busy.
    #[serde(deserialize_with = "share")]
    pub baseline: f64,
}

/// A link.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Bits per second on the wire, each way.
    #[serde(deserialize_with = "rate")]
    pub line_rate: f64,
    /// Bytes of the wire that a frame takes beside its payload.
    #[serde(deserialize_with = "bytes")]
    pub overhead: f64,
    /// Largest payload of a frame unless a factor sets it, bytes.
    #[serde(deserialize_with = "bytes")]
    pub mtu: f64,
    /// Round-trip time of the empty link, seconds.
    #[serde(deserialize_with = "seconds")]
    pub rtt: f64,
    /// Bytes per second, each way, that the adapter's bus carries; infinite: never the limit.
    #[serde(deserialize_with = "bus")]
    pub pcie: f64,
}

/// What one link is instead of what every link is.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LinkChange {
    /// As [`Link::line_rate`].
    #[serde(deserialize_with = "super::field::rate_or")]
    pub line_rate: Option<f64>,
    /// As [`Link::overhead`].
    #[serde(deserialize_with = "super::field::bytes_or")]
    pub overhead: Option<f64>,
    /// As [`Link::mtu`].
    #[serde(deserialize_with = "super::field::bytes_or")]
    pub mtu: Option<f64>,
    /// As [`Link::rtt`].
    #[serde(deserialize_with = "super::field::seconds_or")]
    pub rtt: Option<f64>,
    /// As [`Link::pcie`].
    #[serde(deserialize_with = "super::field::bus_or")]
    pub pcie: Option<f64>,
}

/// CPU time of one end of a stream.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// A system call, seconds.
    #[serde(deserialize_with = "seconds")]
    pub call: f64,
    /// A packet through the stack, seconds.
    #[serde(deserialize_with = "seconds")]
    pub packet: f64,
    /// A segment cut or merged in software, seconds.
    #[serde(deserialize_with = "seconds")]
    pub cut: f64,
    /// A byte copied, seconds.
    #[serde(deserialize_with = "seconds")]
    pub byte: f64,
    /// A byte summed by the CPU, seconds.
    #[serde(deserialize_with = "seconds")]
    pub checksum: f64,
    /// Bytes in use beyond which a byte costs more.
    #[serde(deserialize_with = "bytes")]
    pub cache: f64,
    /// How many times more, 1 or more.
    pub beyond_cache: f64,
}

/// Something that happens in a share of the trials.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rare {
    /// In which share of the trials.
    #[serde(deserialize_with = "share")]
    pub share: f64,
    /// By which share the rate is lower then.
    #[serde(deserialize_with = "share")]
    pub size: f64,
    /// Standard deviation of the log of that size; without it the size is always the same.
    #[serde(default)]
    pub spread: f64,
}

/// What a launch of the lab brings along.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// Standard deviation of the log of the rate between launches.
    #[serde(deserialize_with = "share")]
    pub sd: f64,
    /// Visits of one launch; 0 for all until the lab is built anew.
    pub every: u32,
}

/// What a boot of the machine brings along.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Boot {
    /// Standard deviation of the log of the rate between boots.
    #[serde(deserialize_with = "share")]
    pub sd: f64,
}

/// What a run brings along: all that differs from one session to the next.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Session {
    /// Standard deviation of the log of the rate between runs of different seeds.
    #[serde(deserialize_with = "share")]
    pub sd: f64,
}

/// Chance.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Noise {
    /// Standard deviation of a trial.
    #[serde(deserialize_with = "share")]
    pub sd: f64,
    /// Correlation with the trial before, -1 to 1, both excluded.
    pub ar: f64,
    /// Standard deviation of CPU time.
    #[serde(deserialize_with = "share")]
    pub cpu: f64,
    /// Log-normal dips.
    pub dips: Rare,
    /// Outliers.
    pub outliers: Rare,
    /// The slower of two states.
    pub slow: Rare,
    /// Between launches.
    pub launch: Launch,
    /// Between boots.
    pub boot: Boot,
    /// Between runs.
    pub session: Session,
}

/// A slow change.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drift {
    /// By which share the rate has fallen at the end of the span.
    #[serde(deserialize_with = "share")]
    pub share: f64,
    /// The span.
    #[serde(deserialize_with = "length")]
    pub over: Span,
}

/// A sudden change.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// When.
    #[serde(deserialize_with = "moment")]
    pub at: At,
    /// By which share the rate is lower from then on.
    #[serde(deserialize_with = "share")]
    pub size: f64,
}

impl Physics {
    /// What a link is.
    #[must_use]
    pub fn link(&self, name: &str) -> Link {
        let change = self.links.get(name).cloned().unwrap_or_default();
        Link {
            line_rate: change.line_rate.unwrap_or(self.link.line_rate),
            overhead: change.overhead.unwrap_or(self.link.overhead),
            mtu: change.mtu.unwrap_or(self.link.mtu),
            rtt: change.rtt.unwrap_or(self.link.rtt),
            pcie: change.pcie.unwrap_or(self.link.pcie),
        }
    }

    /// Whether each client has a machine of its own.
    #[must_use]
    pub fn clients_apart(&self) -> bool {
        self.clients.machine == Home::Own
    }

    /// Whether there is a resource for the bytes of a load to pass through.
    #[must_use]
    pub fn has(&self, resource: Resource) -> bool {
        let mut buses = self.links.keys().map(|name| self.link(name).pcie);
        match resource {
            Resource::Cpu | Resource::Line => true,
            Resource::Pcie => self.link.pcie.is_finite() || buses.any(f64::is_finite),
            Resource::Memory => self.memory.bandwidth.is_some(),
            Resource::Disk => self.disk.rate.is_some() && self.limits.through == Through::Disk,
            Resource::Clients => self.clients_apart() || self.clients.rate.is_some(),
        }
    }
}
