//! Knows how workloads and factors describe themselves as data.
//!
//! Help, plan checks and docs come from it.

use super::ParamKind;
use super::derive::DeriveSpec;
use crate::unit::Unit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which way of a metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
}

/// What a parameter means, so that a rule needs no name of it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ParamRole {
    /// The offered rate, in the unit of a metric. A word, such as `full`, sets none.
    Offered,
    /// Bytes of a request, frame or block.
    Size,
    /// Which way the load goes: [`Direction`].
    Direction,
    /// How many at once: streams, connections, users of each client; threads of a machine.
    Concurrency,
    /// How many follow each other back to back, and then no more: frames.
    Burst,
    /// How many of the client hosts take part; a word, such as `all`, bounds nothing.
    Clients,
    /// Requests outstanding in each of these.
    Depth,
    /// Which CPUs they run on.
    Place,
    /// Bytes of memory that each of them works in, or a level of its hierarchy.
    WorkingSet,
    /// Whose code does the work, or by which calls.
    Engine,
    /// What is computed, or the way of it.
    Algorithm,
    /// How much there is to do for each unit of the load, such as rules that a packet is held
    /// against: more of it cannot be faster.
    Work,
    /// To how many addresses frames go.
    Targets,
    /// The VLAN whose tag all frames have, a number; a word sets none.
    Vlan,
    /// Time of a round: the steady state of the load is judged by its rate in each.
    Round,
}

/// Which way a load goes, seen from the system under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// It sends.
    Transmit,
    /// It receives.
    Receive,
    /// Both at once, a generator each way.
    Duplex,
    /// It takes no part: the first client sends to the others.
    Between,
}

impl Direction {
    /// The direction of a word, `transmit`, `receive`, `duplex` or `between`.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        match word {
            "transmit" => Some(Self::Transmit),
            "receive" => Some(Self::Receive),
            "duplex" => Some(Self::Duplex),
            "between" => Some(Self::Between),
            _ => None,
        }
    }
}

/// One parameter of a workload.
#[derive(Clone, Copy, Debug)]
pub struct ParamSpec {
    /// Key in the plan.
    pub name: &'static str,
    /// One line of help.
    pub about: &'static str,
    /// What it means to a rule, if to any.
    pub role: Option<ParamRole>,
    /// What it may be.
    pub kind: ParamKind,
    /// What it is when the plan is silent, as a plan would write it.
    pub default: &'static str,
}

/// What a metric means, so that a rule needs no name of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MetricRole {
    /// Work in a time: bits, bytes, operations, transactions, packets.
    Rate,
    /// Time of one operation.
    Latency,
    /// What the work took: CPU time, energy, money.
    Cost,
    /// How many of anything else, or of one for each other.
    Count,
    /// Payload bytes in a packet.
    Segment,
}

/// One figure that a workload gives.
#[derive(Clone, Copy, Debug)]
pub struct MetricSpec {
    /// Key in the plan and in records.
    pub name: &'static str,
    /// What a heading calls it.
    pub title: &'static str,
    /// What it means to a rule.
    pub role: MetricRole,
    /// Unit of every sample.
    pub unit: Unit,
    /// Which way is better.
    pub better: Better,
    /// What bounds it physically, in a phrase.
    pub limit: &'static str,
}

/// A metric that is a quantile of a distribution.
#[derive(Clone, Copy, Debug)]
pub struct QuantileSpec {
    /// The metric.
    pub metric: &'static str,
    /// The distribution, by its name in the outcome.
    pub of: &'static str,
    /// Which, 0-1.
    pub at: f64,
    /// Whether every load of the workload has it, and not only one that mixes operations.
    pub always: bool,
}

/// What a workload loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The way between the clients and the system under test, over a link.
    Path,
    /// The system under test alone: no client, no link.
    Machine,
}

/// A workload as data.
#[derive(Clone, Copy, Debug)]
pub struct WorkloadSpec {
    /// Key in the plan; also the folder's name.
    pub name: &'static str,
    /// The one-line question it answers.
    pub question: &'static str,
    /// What it loads.
    pub place: Place,
    /// Changes when figures before and after are no longer comparable.
    pub revision: u32,
    /// Parameters.
    pub params: &'static [ParamSpec],
    /// Figures; the first is the usual primary metric.
    pub metrics: &'static [MetricSpec],
    /// Which of them are quantiles of a distribution.
    pub quantiles: &'static [QuantileSpec],
    /// What is to be derived and drawn of them.
    pub derives: &'static [DeriveSpec],
}

impl WorkloadSpec {
    /// The quantile that a metric is, where it is one.
    #[must_use]
    pub fn quantile(&self, metric: &str) -> Option<Quantile> {
        let found = self.quantiles.iter().find(|quantile| quantile.metric == metric)?;
        Some(Quantile { of: found.of.into(), at: found.at })
    }

    /// Its metrics as a record keeps them.
    pub fn described(&self) -> impl Iterator<Item = Metric> {
        self.metrics.iter().map(|metric| {
            let quantile = self.quantile(metric.name);
            let (name, title) = (metric.name.into(), metric.title.into());
            let MetricSpec { role, unit, better, .. } = *metric;
            Metric { name, title, role, unit, better, quantile, workload: None }
        })
    }
}

/// What a factor's level acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Which link carries the traffic; its levels are links of the plan.
    Path,
    /// Which machine is the system under test; its levels are machines of the lab file.
    Sut,
    /// Both ends of every link, and the bridge between.
    Link,
    /// The network stack of the system under test and of every client.
    Host,
    /// The machine that the conductor runs on, and with it everything else there.
    Machine,
    /// The processes of one side of the lab: of the server, or of all clients.
    Side,
    /// The version of IP that loads go over: the addresses of hosts.
    Network,
    /// The relay on the path between clients and the system under test.
    Relay,
    /// What programs and libraries that the load runs are told; nothing of the machine changes.
    Program,
    /// The sockets of the load.
    Socket,
    /// A profile: levels of several other factors.
    Profile,
}

/// A factor as data.
#[derive(Clone, Copy, Debug)]
pub struct FactorSpec {
    /// Key in the plan.
    pub name: &'static str,
    /// One line of help.
    pub about: &'static str,
    /// What it acts on.
    pub scope: Scope,
    /// What a level may be.
    pub kind: ParamKind,
}

/// Which quantile of which distribution a metric is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Quantile {
    /// The distribution, by its name in the outcome.
    pub of: String,
    /// Which, 0-1.
    pub at: f64,
}

impl Quantile {
    /// Fewest values of a distribution of which this many are expected beyond the quantile, on its
    /// thinner side: `beyond` / min(at, 1 - at), rounded up. The largest number where none can be.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    pub fn needs(&self, beyond: u32) -> u64 {
        let thinner = self.at.min(1.0 - self.at).max(0.0);
        // 1 - 0.9 is a little less than a tenth.
        (f64::from(beyond) / thinner * (1.0 - 1e-9)).ceil() as u64
    }
}

/// A metric as a record keeps it, so that a stored run explains itself without its workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Metric {
    /// Key in records.
    pub name: String,
    /// What a heading calls it.
    pub title: String,
    /// What it means to a rule.
    pub role: MetricRole,
    /// Unit of every sample.
    pub unit: Unit,
    /// Which way is better.
    pub better: Better,
    /// The quantile that it is, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantile: Option<Quantile>,
    /// The workload that gives it, where others of the run mean something else by its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
}
