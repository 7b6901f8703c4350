//! Knows a whole run as it is stored: plan, machine, every trial.

use super::environment::Environment;
use super::host::{HostName, LOCAL};
use super::outcome::{Outcome, Reading, Track};
use super::plan::Plan;
use super::spec::{Metric, MetricRole};
use super::trial::{Settings, Trial};
use crate::unit::Quantity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// Version of the stored form: the only one so far that is read. Those below are of stend 0.1.
pub const RUN_SCHEMA: u32 = 3;

/// Whether a run went to its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Completeness {
    /// Every trial of the plan was visited.
    Complete,
    /// It ended before, and why.
    Partial {
        /// The reason.
        why: String,
    },
}

/// One finished trial; never changed afterwards.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialRecord {
    /// What was asked.
    pub trial: Trial,
    /// Levels read back from the machine after they were set, factor key to value.
    pub observed: Settings,
    /// What came out.
    pub outcome: Outcome,
    /// What the probes read over the window.
    pub readings: Vec<Reading>,
    /// What they sampled within it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tracks: Vec<Track>,
    /// Seconds since the start of the run; over a resumed run they go on, its pauses included.
    pub started_s: f64,
    /// Which visit to its trial this was, from 1.
    pub attempt: u32,
}

/// What is known of a machine that a run says nothing of.
static UNKNOWN: LazyLock<Environment> = LazyLock::new(Environment::default);

impl Run {
    /// The environments of a lab of one machine.
    #[must_use]
    pub fn of_local(environment: Environment) -> BTreeMap<String, Environment> {
        BTreeMap::from([(LOCAL.into(), environment)])
    }

    /// The machine of the system under test.
    #[must_use]
    pub fn environment(&self) -> &Environment {
        self.environments.get(LOCAL).unwrap_or(&UNKNOWN)
    }

    /// Whether a machine of the lab is emulated by software: then no figure has a verdict.
    #[must_use]
    pub fn is_emulated(&self) -> bool {
        self.environments.values().any(Environment::is_emulated)
    }

    /// A machine of the lab file; the first, which has a system under test, is the local one.
    #[must_use]
    pub fn environment_of(&self, machine: &str) -> Option<&Environment> {
        let first = self.plan.lab.machines.first().is_some_and(|at| at.machine == machine);
        self.environments.get(if first { LOCAL } else { machine })
    }

    /// The same, to be changed.
    pub fn environment_mut(&mut self) -> &mut Environment {
        self.environments.entry(LOCAL.into()).or_default()
    }

    /// The last block of which a trial was visited; none without records, 0 where only dry visits
    /// were made.
    #[must_use]
    pub fn last_block(&self) -> Option<u32> {
        self.records.iter().map(|record| record.trial.block).max()
    }

    /// The metric that decides on a load, by the name of the load; none where the run does not
    /// describe it.
    #[must_use]
    pub fn deciding(&self, load: &str) -> Option<&Metric> {
        self.metric(load, self.plan.primary(load))
    }

    /// What a load means by the name of a metric; none where the run does not describe it. A load
    /// that the plan does not have means what all mean.
    #[must_use]
    pub fn metric(&self, load: &str, name: &str) -> Option<&Metric> {
        let load = self.plan.load(load);
        let workload = load.map(|one| one.workload.as_str());
        let named = || self.metrics.iter().filter(|metric| metric.name == name);
        let own = named()
            .find(|metric| metric.workload.is_some() && metric.workload.as_deref() == workload);
        own.or_else(|| named().find(|metric| metric.workload.is_none())).or_else(|| named().next())
    }

    /// What a load means by every name of a metric, in the order of the run.
    pub fn metrics_of(&self, load: &str) -> impl Iterator<Item = &Metric> {
        let mut seen = BTreeSet::new();
        let names = self.metrics.iter().map(|metric| metric.name.as_str());
        let names = names.filter(move |name| seen.insert(*name));
        names.filter_map(move |name| self.metric(load, name))
    }

    /// The figure of a trial by the name of a metric, in the metric's unit.
    #[must_use]
    pub fn value(&self, record: &TrialRecord, name: &str) -> Option<Quantity> {
        match self.metric(&record.trial.point.load, name) {
            Some(metric) => record.outcome.figure(metric),
            None => record.outcome.metric(name),
        }
    }

    /// The figure that decides on the load of a trial.
    #[must_use]
    pub fn figure(&self, record: &TrialRecord) -> Option<Quantity> {
        self.value(record, self.plan.primary(&record.trial.point.load))
    }

    /// Payload bytes in a packet of a trial, from the metric of that role; none where it has none.
    #[must_use]
    pub fn segment(&self, record: &TrialRecord) -> Option<f64> {
        let mut its = self.metrics.iter().filter(|metric| metric.role == MetricRole::Segment);
        its.find_map(|metric| Some(record.outcome.metric(&metric.name)?.value))
    }
}

impl TrialRecord {
    /// The reading of a probe on a host.
    #[must_use]
    pub fn reading<H: ?Sized>(&self, probe: &str, host: &H, key: &str) -> Option<Quantity>
    where
        HostName: PartialEq<H>,
    {
        let wanted = |r: &&Reading| r.probe == probe && r.host == *host && r.key == key;
        self.readings.iter().find(wanted).map(|r| r.quantity)
    }
}

/// One stretch of a run in which the conductor lived; a resumed run has several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sitting {
    /// When it began, RFC 3339 UTC.
    pub started: String,
    /// The kernel's name of the boot, `/proc/sys/kernel/random/boot_id`; empty if unknown.
    pub boot: String,
    /// How many records the run had then.
    pub records_before: u32,
    /// Blocks that this stretch was begun to add; none where it went on with what was planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<Added>,
}

/// Blocks that were added to a run that had ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Added {
    /// Blocks after which it had ended.
    pub from: u32,
    /// Blocks in all with those that were added.
    pub to: u32,
}

/// A whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// [`RUN_SCHEMA`] of the writer.
    pub schema: u32,
    /// Name of the run: date, time and a few letters of its seed.
    pub id: String,
    /// When it began, RFC 3339 UTC.
    pub started: String,
    /// Version of stend.
    pub version: String,
    /// The command that makes the run again.
    pub command: String,
    /// The plan as resolved.
    pub plan: Plan,
    /// The plan as written, empty for an embedded one.
    pub plan_text: String,
    /// Metrics of the workloads of the plan.
    pub metrics: Vec<Metric>,
    /// Revision of every workload of the plan, by its name.
    pub workloads: BTreeMap<String, u32>,
    /// The machines by their names; that of the system under test is [`LOCAL`].
    pub environments: BTreeMap<String, Environment>,
    /// Trials in the order in which they ran, dry and faulty ones too.
    pub records: Vec<TrialRecord>,
    /// Whether it went to its end.
    pub completeness: Completeness,
    /// In which stretches it was measured.
    pub sittings: Vec<Sitting>,
    /// To how many significant digits the readings of probes were rounded, so that the file of a
    /// report could hold them; none: they are as measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digits: Option<u8>,
}

#[cfg(test)]
mod tests {
    use crate::unit::{Quantity, Unit};

    /// Found by fuzzing: without exact reading a figure moves by its last digit at every reading.
    #[test]
    fn a_figure_is_the_same_to_the_last_bit_after_it_was_written_and_read() {
        for value in [0.11922747774358133, 0.1 + 0.2, 5e-324, 1.7976931348623157e308] {
            let written = serde_json::to_string(&Quantity::new(value, Unit::Share)).unwrap();
            let read: Quantity = serde_json::from_str(&written).unwrap();
            assert_eq!(read.value.to_bits(), value.to_bits(), "{written}");
        }
    }
}
