//! Knows what came out of a trial: samples or a fault, always with the work actually done.

use super::distribution::Distribution;
use super::flow::Flows;
use super::host::HostName;
use super::spec::{Metric, Quantile};
use super::trial::Settings;
use crate::unit::{Quantity, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use thiserror::Error;

/// The measured window on the monotonic clock of the conductor's host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    /// When it opened, nanoseconds.
    pub opened_ns: u64,
    /// When it closed, nanoseconds.
    pub closed_ns: u64,
}

impl Window {
    /// Length in seconds.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53 ns")]
    pub const fn seconds(self) -> f64 {
        self.closed_ns.saturating_sub(self.opened_ns) as f64 / 1e9
    }
}

/// One measured figure of the workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// Name of the metric, as in the workload's spec.
    pub metric: String,
    /// The figure.
    pub quantity: Quantity,
}

/// One figure of a probe, read at the edges of the window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reading {
    /// Name of the probe.
    pub probe: String,
    /// The host it looked at.
    pub host: HostName,
    /// What it read, for instance `busy`, `busy.cpu0`.
    pub key: String,
    /// The figure.
    pub quantity: Quantity,
}

/// What a probe sampled within the window, in steps of it. It shows a shape: figures are readings,
/// whose edges are exact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Track {
    /// Name of the probe.
    pub probe: String,
    /// The host it looked at.
    pub host: HostName,
    /// What it sampled, for instance `busy`, `rx_bytes.eth0`.
    pub key: String,
    /// Unit of every value.
    pub unit: Unit,
    /// Length of a step; the first begins when the window opens, the last ends when it closes and
    /// may be shorter.
    pub step: Quantity,
    /// The mean over each step, to four digits.
    pub values: Vec<f64>,
}

/// A figure of the workload in steps of the window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// Name of the metric, as in the workload's spec.
    pub metric: String,
    /// Unit of every value.
    pub unit: Unit,
    /// Length of a step; the first begins when the window opens, the last ends when it closes and
    /// may be shorter.
    pub step: Quantity,
    /// The mean over each step.
    pub values: Vec<f64>,
}

/// Work that was really done, counted over the whole trial and not only the window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Work {
    /// Payload bytes handed to the kernel by all senders.
    pub sent_bytes: u64,
    /// Payload bytes taken from the kernel by all receivers.
    pub received_bytes: u64,
    /// Requests, transactions or frames that were completed.
    pub operations: u64,
    /// Those that failed, by class: `refused`, `reset`, `timeout`, `wrong`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: BTreeMap<String, u64>,
    /// Places where the content was compared with what it had to be.
    pub content_checks: u64,
    /// FNV-1a, folded to 32 bits, of the content that the work was made of: payload, arrays, links,
    /// messages. The same seed on the same machine gives the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<u32>,
}

impl Work {
    /// A digest of 64 bits in 32, by exclusive or of its halves.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "the lower half is what is wanted")]
    pub const fn folded(digest: u64) -> u32 {
        (digest ^ (digest >> 32)) as u32
    }
}

/// Why a trial gave no figure. A fault of the thing measured is data, not an error of stend; its
/// words are for the person.
#[derive(Clone, Debug, PartialEq, Error, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Fault {
    /// A host went away.
    #[error("host {host} went away")]
    DeadHost {
        /// Which.
        host: HostName,
    },
    /// A host did not answer in time.
    #[error("host {host} did not answer in time")]
    Frozen {
        /// Which.
        host: HostName,
    },
    /// The work was not done as asked: content, counts.
    #[error("the work was not done as asked: {what}")]
    WrongWork {
        /// What was wrong, with both values.
        what: String,
    },
    /// A stream moved nothing from go to the close of the window.
    #[error("stream {stream} moved nothing")]
    DeadStream {
        /// Which.
        stream: String,
    },
    /// A factor did not take.
    #[error("a factor did not take: {what}")]
    Factor {
        /// Which, and what was read back.
        what: String,
    },
    /// Something else on a host failed.
    #[error("host {host}: {what}")]
    Failed {
        /// Which host.
        host: HostName,
        /// Its own words.
        what: String,
    },
    /// Something else on the machine disturbed the measurement.
    #[error("host {host}: {what}")]
    Disturbed {
        /// Which host.
        host: HostName,
        /// How, with the figure.
        what: String,
    },
    /// The hypervisor gave the machine's CPUs to others.
    #[error("the hypervisor took {share} of the CPU time")]
    Steal {
        /// Share of the window, over all CPUs.
        share: Quantity,
    },
    /// A CPU was slowed down by heat or power.
    #[error("host {host}: a CPU was throttled, {what}")]
    Throttled {
        /// Which host, `machine` if all share it.
        host: HostName,
        /// How often or for how long.
        what: String,
    },
    /// A link went down or came up.
    #[error("host {host}: a link flapped, {what}")]
    LinkFlap {
        /// Which host.
        host: HostName,
        /// Which link, and how often.
        what: String,
    },
    /// The clients could not make the load: the figure is theirs and not the server's.
    #[error("host {host} was at its limit as a generator: {what}")]
    GeneratorLimit {
        /// Which client, or `clients`.
        host: HostName,
        /// What shows it, with the figure.
        what: String,
    },
    /// The rate was not level when the window opened.
    #[error("the rate was not steady: {what}")]
    NotSteady {
        /// What was waited for.
        what: String,
    },
    /// This machine cannot do what was asked: another visit would find the same.
    #[error("not available here: {what}")]
    NotAvailable {
        /// What is lacking.
        what: String,
    },
    /// The person stopped it.
    #[error("stopped on request")]
    Cancelled,
}

/// The log of a program under test that has failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramLog {
    /// Name of its file in the directory of the run: program, trial and attempt.
    pub name: String,
    /// Its end.
    pub text: String,
}

impl ProgramLog {
    /// Whether its name is that of a log in the directory itself.
    #[must_use]
    pub fn has_plain_name(&self) -> bool {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        self.name.ends_with(".log") && self.name.chars().all(is_plain)
    }
}

/// What came out of a trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// The common window of all generators.
    pub window: Window,
    /// Figures of the workload. With a fault they are what was seen, and enter no statistics.
    pub samples: Vec<Sample>,
    /// The same within the window, where the workload tells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<Series>,
    /// How quantities of single operations were distributed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub distributions: Vec<Distribution>,
    /// The flows that made them.
    #[serde(default, skip_serializing_if = "Flows::is_empty")]
    pub flows: Flows,
    /// Work actually done.
    pub work: Work,
    /// How the load was made: engine and placement as asked, congestion control as read back.
    pub made_with: Settings,
    /// Whether the slope test found the rate steady before the window opened.
    pub steady: bool,
    /// Time from go to the opening of the window.
    pub settle: Option<Quantity>,
    /// Why there are no figures.
    pub fault: Option<Fault>,
    /// Logs of the programs that the fault is of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logs: Vec<ProgramLog>,
}

impl Outcome {
    /// An outcome that is only a fault.
    #[must_use]
    pub fn faulty(fault: Fault) -> Self {
        Self { fault: Some(fault), ..Self::default() }
    }

    /// Names the logs of a fault after their programs and the visit, and the fault names them.
    pub fn name_logs(&mut self, trial: u32, attempt: u32) {
        let Some(Fault::Failed { what, .. } | Fault::WrongWork { what }) = &mut self.fault else {
            return;
        };
        for (at, log) in self.logs.iter_mut().enumerate() {
            // A program may have failed several times.
            let again = if at > 0 { format!("-{}", at + 1) } else { String::new() };
            log.name = format!("{}-{trial}-{attempt}{again}.log", log.name);
            what.push_str(&format!("; the log is in {}", log.name));
        }
    }

    /// The figure of a metric: what its workload wrote, or the quantile of its distribution. None
    /// of a quantile beyond which no value is expected ([`Quantile::needs`] 1).
    #[must_use]
    pub fn figure(&self, metric: &Metric) -> Option<Quantity> {
        let Some(quantile) = &metric.quantile else { return self.metric(&metric.name) };
        let of = self.distribution(quantile).filter(|of| of.count >= quantile.needs(1))?;
        Some(Quantity::new(of.quantile(quantile.at)?, of.unit))
    }

    /// What a quantile is one of.
    #[must_use]
    pub fn distribution(&self, quantile: &Quantile) -> Option<&Distribution> {
        self.distributions.iter().find(|one| one.name == quantile.of)
    }

    /// The figure that the workload wrote; none of a metric that is a quantile.
    #[must_use]
    pub fn metric(&self, name: &str) -> Option<Quantity> {
        self.samples.iter().find(|s| s.metric == name).map(|s| s.quantity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_names_the_file_of_its_log() {
        let fault = Fault::Failed { host: "sut".into(), what: "it has ended".into() };
        let log = ProgramLog { name: "nginx".into(), text: "out of cheese".into() };
        let mut outcome = Outcome { logs: vec![log], ..Outcome::faulty(fault) };
        outcome.name_logs(7, 2);
        let said = outcome.fault.unwrap().to_string();
        assert_eq!(said, "host sut: it has ended; the log is in nginx-7-2.log");
        assert!(outcome.logs[0].has_plain_name());
        for name in ["../x.log", "/x.log", "records.json"] {
            let text = String::new();
            assert!(!ProgramLog { name: name.into(), text }.has_plain_name(), "{name}");
        }
    }
}
