//! Knows what each load point of the system under test alone gave under each treatment.
//!
//! Never: what follows from it.

use crate::record::{Plan, Run, Settings, TrialKind, TrialRecord, Value};
use crate::stats::{Estimate, mean_or_single_at};
use crate::unit::{Quantity, Unit};
use crate::verdict::alpha;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Readings of the latency between two CPUs, key `0-1`.
const PAIR: &str = "core_pair";

/// What a load of the system under test alone gave at one point under one treatment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MachineCell {
    /// Name of the load in the plan.
    pub load: String,
    /// Its workload.
    pub workload: String,
    /// Every parameter.
    pub params: Settings,
    /// Level of every factor.
    pub levels: BTreeMap<String, String>,
    /// Name of the metric that decides.
    pub metric: String,
    /// Bytes that a thread worked in, as they really were, where the load tells.
    pub bytes: Option<Quantity>,
    /// Threads that it really had, where the load tells.
    pub threads: Option<u64>,
    /// Clocks a second of a core, as the load measured them beside its work; mean over the trials.
    pub clock: Option<Estimate>,
    /// Every figure, by the name of its metric: mean over the counted valid trials.
    pub figures: BTreeMap<String, Estimate>,
    /// Figure of each trial of the deciding metric, by block; of each boot of such a run by round.
    pub blocks: BTreeMap<u32, Quantity>,
    /// One-way latency between two CPUs by their names, `0-1`, where it was read.
    pub pairs: BTreeMap<String, Estimate>,
}

impl MachineCell {
    /// The figure that decides; none where not one trial gave it.
    #[must_use]
    pub fn figure(&self) -> Option<&Estimate> {
        self.figures.get(&self.metric)
    }

    /// The word of a parameter; empty where it is none.
    #[must_use]
    pub fn word(&self, name: &str) -> &str {
        self.params.get(name).and_then(Value::word).unwrap_or_default()
    }

    /// Its parameters without some.
    #[must_use]
    pub fn without(&self, names: &[&str]) -> Settings {
        let kept = self.params.iter().filter(|(name, _)| !names.contains(&name.as_str()));
        kept.map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

/// Where a record belongs: the same for all visits of one point and treatment.
fn place(record: &TrialRecord) -> (u32, String) {
    let (trial, levels) = (&record.trial, &record.trial.treatment.levels);
    let point = &trial.point;
    (trial.point_index, format!("{:?}", (&point.load, &point.params, levels)))
}

/// The levels of a treatment by their places in the plan, the baseline first.
fn order(plan: &Plan, record: &TrialRecord) -> Vec<usize> {
    let place = |factor: &crate::record::FactorPlan| {
        let level = record.trial.treatment.levels.get(&factor.name);
        factor.levels.iter().position(|l| Some(&l.name) == level).unwrap_or(0)
    };
    plan.factors.iter().map(place).collect()
}

/// Every cell of the loads of the system under test alone, in the order of the plan; one of which
/// no counted trial is valid is absent.
pub(in crate::verdict) fn cells(run: &Run) -> Vec<MachineCell> {
    let plan = &run.plan;
    let wanted = |r: &&TrialRecord| {
        r.trial.kind == TrialKind::Counted
            && r.outcome.fault.is_none()
            && plan.runs_alone(&r.trial.point.load)
    };
    let mut groups: BTreeMap<(usize, u32, Vec<usize>, String), Vec<&TrialRecord>> = BTreeMap::new();
    for record in run.records.iter().filter(wanted) {
        let load = plan.loads.iter().position(|l| l.name == record.trial.point.load).unwrap_or(0);
        let (index, name) = place(record);
        groups.entry((load, index, order(plan, record), name)).or_default().push(record);
    }
    groups.into_values().filter_map(|records| cell(run, &records)).collect()
}

fn cell(run: &Run, records: &[&TrialRecord]) -> Option<MachineCell> {
    let first = records.first()?;
    let (point, made) = (&first.trial.point, &first.outcome.made_with);
    let level = 1.0 - alpha(&run.plan.method);
    let mean = |values: &[(f64, Unit)]| {
        let unit = values.first()?.1;
        let values: Vec<f64> = values.iter().map(|(value, _)| *value).collect();
        mean_or_single_at(&values, unit, level)
    };
    let means = |all: BTreeMap<String, Vec<(f64, Unit)>>| -> BTreeMap<String, Estimate> {
        all.into_iter().filter_map(|(name, values)| Some((name, mean(&values)?))).collect()
    };
    let (mut figures, mut pairs) = (BTreeMap::new(), BTreeMap::new());
    let mut clocks = Vec::new();
    for record in records {
        for sample in &record.outcome.samples {
            keep(&mut figures, &sample.metric, sample.quantity);
        }
        for reading in record.readings.iter().filter(|r| r.probe == PAIR) {
            keep(&mut pairs, &reading.key, reading.quantity);
        }
        let clock = record.outcome.made_with.get("core_clock").and_then(Value::quantity);
        clocks.extend(clock.map(|clock| (clock.value, clock.unit)));
    }
    let size = |key: &str| made.get(key).and_then(Value::quantity);
    let asked = || point.params.get("size").and_then(Value::quantity);
    let bytes = size("bytes").or_else(|| size("size")).or_else(asked);
    let mut blocks = BTreeMap::new();
    for record in records {
        let number = if record.trial.boot > 0 { record.trial.round } else { record.trial.block };
        if let Some(figure) = record.figure(&run.plan) {
            blocks.entry(number).or_insert(figure);
        }
    }
    Some(MachineCell {
        load: point.load.clone(),
        workload: point.workload.clone(),
        params: point.params.clone(),
        levels: first.trial.treatment.levels.clone(),
        metric: run.plan.primary(&point.load).to_owned(),
        bytes: bytes.filter(|q| q.unit == Unit::Byte),
        threads: threads(first),
        clock: mean(&clocks),
        figures: means(figures),
        blocks,
        pairs: means(pairs),
    })
}

fn keep(all: &mut BTreeMap<String, Vec<(f64, Unit)>>, name: &str, figure: Quantity) {
    all.entry(name.to_owned()).or_default().push((figure.value, figure.unit));
}

/// Threads as they were made, else as they were asked for.
fn threads(record: &TrialRecord) -> Option<u64> {
    let made = record.outcome.made_with.get("threads").and_then(Value::count);
    let asked = || record.trial.point.params.get("threads").and_then(Value::count);
    made.or_else(asked)
}
