//! Knows what a simulated machine has besides CPUs and links, and how its limits join into a rate.
//!
//! Must not know how a load uses it, nor what the trial at hand has set.

use super::field::{
    At, byte_rate_or_none, bytes_or_none, length_or_never, of_share, rate_or_none, seconds, share,
    signed_seconds,
};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

/// Something that the bytes of a load pass through, whose capacity may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// The CPUs of the system under test, and of the clients too where they share the machine.
    Cpu,
    /// The link.
    Line,
    /// The bus that the adapter sits on.
    Pcie,
    /// Memory.
    Memory,
    /// The disk.
    Disk,
    /// What all clients together can send or take.
    Clients,
}

impl Resource {
    /// All of them, by the words of a physics.
    pub const ALL: [(&'static str, Self); 6] = [
        ("clients", Self::Clients),
        ("cpu", Self::Cpu),
        ("disk", Self::Disk),
        ("line", Self::Line),
        ("memory", Self::Memory),
        ("pcie", Self::Pcie),
    ];
}

/// Memory, shared by all who live on the machine.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Bytes read and written per second, by all CPUs together; none: never the limit.
    #[serde(deserialize_with = "byte_rate_or_none")]
    pub bandwidth: Option<f64>,
    /// How often each end of a stream touches a byte of payload; a copy is a read and a write.
    pub touches: f64,
}

/// A disk.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disk {
    /// Bytes per second; none: there is no disk.
    #[serde(deserialize_with = "byte_rate_or_none")]
    pub rate: Option<f64>,
    /// Time of one request, seconds.
    #[serde(deserialize_with = "seconds")]
    pub latency: f64,
    /// Requests that it serves at once, 1 or more.
    pub queue: u32,
}

/// Buffers of a connection.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sockets {
    /// Most that a receiver offers to take, bytes; none: never the limit. Where it is one, the
    /// factor `receive_buffer` stands above it.
    #[serde(deserialize_with = "bytes_or_none")]
    pub receive_buffer: Option<f64>,
    /// Most that a sender keeps until it is acknowledged, bytes; none: never the limit.
    #[serde(deserialize_with = "bytes_or_none")]
    pub send_buffer: Option<f64>,
}

/// Where received packets are worked on.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Softirq {
    /// On so many CPUs, the first; 0: on the CPU of the thread that receives them.
    pub cpus: u32,
}

/// How capacities become one rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Blend {
    /// The smallest is the rate.
    Hard,
    /// Each takes its share of the time of a byte.
    Shares,
}

/// What the bytes of a load pass through on their way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Through {
    /// Memory alone: the load makes and drops them.
    Memory,
    /// A file on the disk of the system under test.
    Disk,
}

/// How resources limit a load.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// How they join.
    pub blend: Blend,
    /// What the bytes pass through.
    pub through: Through,
    /// Share of the time of a byte that goes by in each resource; together 1.
    #[serde(deserialize_with = "shares")]
    pub shares: BTreeMap<Resource, f64>,
}

/// What the throttle counts of the kernel say of a CPU that is slowed down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tells {
    /// That it is.
    Events,
    /// That it is not: a lie.
    Zero,
    /// There are no such counts, as in most guests.
    Nothing,
}

/// CPUs that get hot.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Heat {
    /// Seconds of a fully busy CPU after which it is slowed down; none: never.
    #[serde(deserialize_with = "length_or_never")]
    pub after: Option<f64>,
    /// Share of its speed that a slow CPU has.
    #[serde(deserialize_with = "share")]
    pub speed: f64,
    /// Idle seconds in which it cools down all the way; it is quick again half-way down.
    #[serde(deserialize_with = "seconds")]
    pub cools: f64,
    /// What the counts say of it.
    pub tells: Tells,
}

/// The clock of one host, beside that of the conductor.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WrongClock {
    /// Its seconds for each true second, 0.5 to 2.
    pub rate: f64,
    /// By how much it is set forward, or back if below 0; seconds.
    #[serde(deserialize_with = "signed_seconds")]
    pub step: f64,
    /// When that happens.
    #[serde(deserialize_with = "super::field::moment")]
    pub at: At,
}

impl Default for WrongClock {
    fn default() -> Self {
        Self { rate: 1.0, step: 0.0, at: At::Share(0.5) }
    }
}

/// Where the clients live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Home {
    /// On the machine of the system under test.
    Shared,
    /// Each on a machine of its own.
    Own,
}

/// The clients.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clients {
    /// Where they live.
    pub machine: Home,
    /// CPUs of a client that has a machine of its own, 1 to 1024.
    pub cores: u32,
    /// Speed of such a CPU; 1 is that of the system under test.
    pub speed: f64,
    /// Share of the CPU time that they want and get.
    #[serde(deserialize_with = "share")]
    pub cpu: f64,
    /// Bits per second on the wire that each can send and take; none: never the limit.
    #[serde(deserialize_with = "rate_or_none")]
    pub rate: Option<f64>,
}

/// What of the machine can be read beside what every lab tells.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probes {
    /// Whether line rate, bus, memory and disk tell what they can do at most.
    pub ceilings: bool,
    /// Whether the kernel tells the time of each CPU in softirqs.
    pub softirq: bool,
}

/// A share for each of some resources.
fn shares<'d, D: Deserializer<'d>>(from: D) -> Result<BTreeMap<Resource, f64>, D::Error> {
    let texts = BTreeMap::<Resource, String>::deserialize(from)?;
    let read = |(resource, text): (Resource, String)| {
        Ok((resource, of_share(&text).map_err(serde::de::Error::custom)?))
    };
    texts.into_iter().map(read).collect()
}
