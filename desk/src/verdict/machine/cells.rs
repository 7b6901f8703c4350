//! Knows what each load point of the system under test alone gave under each treatment.
//!
//! Never: what follows from it.

use crate::record::{
    Derivation, LoadPlan, ParamRole, Plan, Reading, Replicate, Run, Settings, TrialKind,
    TrialRecord, Value,
};
use crate::stats::{Estimate, mean_or_single_at};
use crate::unit::{Quantity, Unit};
use crate::verdict::measured::{by_replicate, figure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    /// Every figure, by the name of its metric: its centre over blocks, as of what was measured.
    pub figures: BTreeMap<String, Estimate>,
    /// Values of the deciding metric by block; where the run has boots by round, the exponential of
    /// the mean log of each.
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
    let point = &first.trial.point;
    let load = run.plan.load(&point.load)?;
    let tells_pairs = load.asks(Derivation::Matrix).next().is_some();
    let level = 1.0 - run.plan.method.alpha();
    let (mut pairs, mut clocks): (BTreeMap<String, Vec<f64>>, Vec<f64>) = Default::default();
    for record in records {
        let its = |r: &&Reading| tells_pairs && r.probe == point.workload;
        for reading in record.readings.iter().filter(its) {
            pairs.entry(reading.key.clone()).or_default().push(reading.quantity.value);
        }
        let clock = record.outcome.made_with.get("core_clock").and_then(Value::quantity);
        clocks.extend(clock.map(|clock| clock.value));
    }
    let mean = |values: &[f64], unit| mean_or_single_at(values, unit, level);
    let pairs = pairs.into_iter().filter_map(|(name, v)| Some((name, mean(&v, Unit::Second)?)));
    let figures = run.metrics_of(&point.load).filter_map(|metric| {
        let figure = figure(&run.plan, metric, records).ok()??;
        Some((figure.metric, figure.estimate))
    });
    let bytes = first.outcome.made_with.get("bytes");
    let bytes = bytes.or_else(|| as_made(load, first, ParamRole::WorkingSet));
    let metric = run.plan.primary(&point.load);
    let replicate = if first.trial.boot > 0 { Replicate::Boot } else { Replicate::Block };
    let blocks = run.deciding(&point.load).into_iter().flat_map(|metric| {
        let values = by_replicate(replicate, metric, records);
        values.into_iter().map(move |(block, value)| (block, Quantity::new(value, metric.unit)))
    });
    Some(MachineCell {
        load: point.load.clone(),
        workload: point.workload.clone(),
        params: point.params.clone(),
        levels: first.trial.treatment.levels.clone(),
        metric: metric.to_owned(),
        bytes: bytes.and_then(Value::quantity).filter(|q| q.unit == Unit::Byte),
        threads: as_made(load, first, ParamRole::Concurrency).and_then(Value::count),
        clock: mean(&clocks, Unit::Hertz),
        figures: figures.collect(),
        blocks: blocks.collect(),
        pairs: pairs.collect(),
    })
}

/// The parameter of a role as it was made, else as it was asked for.
fn as_made<'r>(load: &LoadPlan, record: &'r TrialRecord, role: ParamRole) -> Option<&'r Value> {
    let made = load.param(role, &record.outcome.made_with);
    made.or_else(|| load.param(role, &record.trial.point.params))
}
