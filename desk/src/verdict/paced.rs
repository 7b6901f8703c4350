//! Knows what power each state of a load takes, and what work it gives for that: idle and quarters
//! of the largest load, or the offered loads that a plan sweeps.
//!
//! Never: an estimate of watts that nobody measured or entered.

use super::finding::PowerSource;
use super::measured::replicated;
use super::worth::Meter;
use crate::plan::expand;
use crate::record::{
    LoadPlan, LoadPoint, ManualFact, Metric, MetricRole, ParamRole, Plan, Run, SearchKind,
    Settings, Treatment, TrialKind, TrialRecord, Value,
};
use crate::search::{Step, share_of, states_of, step};
use crate::stats::{Estimate, centre_of_blocks};
use crate::unit::{Quantity, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One load under one treatment, state by state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PacedPower {
    /// Name of the load in the plan.
    pub load: String,
    /// Level of every factor of the plan.
    pub levels: BTreeMap<String, String>,
    /// What else the load sweeps.
    pub fixed: Settings,
    /// Rate of work that the states have, by the name of its metric.
    pub metric: String,
    /// Where the watts are from; none where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<PowerSource>,
    /// States in rising order of the load.
    pub states: Vec<PacedState>,
    /// Idle watts over those of the full load, a share, over blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_share: Option<Estimate>,
}

/// A state of a load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PacedState {
    /// The share of the largest load, or the offered load as the plan sweeps it.
    pub at: Value,
    /// Work done; none in an idle window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<Estimate>,
    /// Power taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watts: Option<Estimate>,
    /// Work for each joule, in the unit of the work for each watt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_watt: Option<Estimate>,
}

/// The valid counted trials of one load under one treatment, each with its state.
struct Visits<'r> {
    run: &'r Run,
    metric: &'r Metric,
    /// What watts are read from, where they were measured.
    meter: Option<Meter>,
    trials: Vec<(Value, &'r TrialRecord)>,
}

/// Of every load whose states the plan asks for, under every treatment in the order of the plan;
/// of loads that sweep what they offer where watts were measured.
///
/// `run` has all steps of its searches.
pub(super) fn paced(run: &Run) -> Vec<PacedPower> {
    let meter = Meter::of(run);
    let (points, treatments) = expand(&run.plan);
    let mut all = Vec::new();
    for load in &run.plan.loads {
        let has_states = asks(run, load, meter.is_some());
        let offered = load.roles.get(&ParamRole::Offered);
        let sweeps = load.over.iter().any(|(name, values)| {
            let paced = values.iter().filter(|value| value.quantity().is_some());
            load.search.is_none() && Some(name) == offered && paced.count() > 1
        });
        if !(has_states || sweeps && meter.is_some()) {
            continue;
        }
        let mut seen: Vec<Settings> = Vec::new();
        for point in points.iter().filter(|point| point.load == load.name) {
            let fixed = fixed(load, point, offered);
            if seen.contains(&fixed) {
                continue;
            }
            let each = treatments.iter().map(|(treatment, _)| (treatment, &fixed));
            all.extend(each.filter_map(|at| one(run, load, at, meter)));
            seen.push(fixed);
        }
    }
    all
}

/// Whether the plan asks for the power of states: it names no shares, or there are watts.
fn asks(run: &Run, load: &LoadPlan, measured: bool) -> bool {
    let usual = load.search.as_ref().is_some_and(|search| search.shares.is_empty());
    let entered = || run.plan.facts.iter().any(|fact| fact.what == "power");
    has_states(load) && (usual || measured || entered())
}

fn has_states(load: &LoadPlan) -> bool {
    load.search.as_ref().is_some_and(|search| search.kind == SearchKind::States)
}

/// What a point sweeps but the offered load.
fn fixed(load: &LoadPlan, point: &LoadPoint, offered: Option<&String>) -> Settings {
    let names = load.over.iter().map(|(name, _)| name).filter(|name| Some(*name) != offered);
    names.filter_map(|name| Some((name.clone(), point.params.get(name)?.clone()))).collect()
}

fn one(
    run: &Run,
    load: &LoadPlan,
    (treatment, fixed): (&Treatment, &Settings),
    meter: Option<Meter>,
) -> Option<PacedPower> {
    let metric = match &load.search {
        Some(search) => run.metric(&load.name, &search.metric)?,
        None => run.metrics_of(&load.name).find(|metric| metric.role == MetricRole::Rate)?,
    };
    let visits = Visits { run, metric, meter, trials: trials(run, load, (treatment, fixed)) };
    // Watts are entered for states, not for the loads of a sweep.
    let told = has_states(load).then(|| Entered::of(&run.plan, treatment));
    let entered = told.unwrap_or_else(|| Entered(Vec::new()));
    let states: Vec<PacedState> =
        visits.states(load).into_iter().map(|at| visits.state(at, &entered)).collect();
    let told = states.iter().any(|state| state.watts.is_some());
    let source = match entered.0.is_empty() {
        true => meter.map_or(PowerSource::Packages, |meter| meter.source),
        false => PowerSource::Entered,
    };
    Some(PacedPower {
        load: load.name.clone(),
        levels: treatment.levels.clone(),
        fixed: fixed.clone(),
        metric: metric.name.clone(),
        source: told.then_some(source),
        states,
        idle_share: visits.idle_share(&entered),
    })
}

/// Trials with the state that each is in. Of a search the largest load is that of its first step.
fn trials<'r>(
    run: &'r Run,
    load: &LoadPlan,
    (treatment, fixed): (&Treatment, &Settings),
) -> Vec<(Value, &'r TrialRecord)> {
    let is_here = |record: &&TrialRecord| {
        let trial = &record.trial;
        trial.kind == TrialKind::Counted
            && record.outcome.fault.is_none()
            && trial.point.load == load.name
            && trial.treatment == *treatment
            && fixed.iter().all(|(key, value)| trial.point.params.get(key) == Some(value))
    };
    let mut firsts: BTreeMap<u32, Step> = BTreeMap::new();
    let state_of = |record: &'r TrialRecord| {
        let (Some(at), Some(search)) = (record.trial.search, &load.search) else {
            let offered = load.param(ParamRole::Offered, &record.trial.point.params)?;
            return Some((offered.clone(), record));
        };
        let step = step(load, record)?;
        let first = *firsts.entry(at.id).or_insert(step);
        let share = Quantity::new(share_of(search, &step, &first)?, Unit::Share);
        Some((Value::Quantity(share), record))
    };
    run.records.iter().filter(is_here).filter_map(state_of).collect()
}

impl Visits<'_> {
    /// The states in rising order, those of a search whether they were met or not; last a load that
    /// was as much as can be.
    fn states(&self, load: &LoadPlan) -> Vec<Value> {
        let share = |state: f64| Value::Quantity(Quantity::new(state, Unit::Share));
        if let Some(search) = load.search.as_ref().filter(|_| has_states(load)) {
            return states_of(search).into_iter().map(share).collect();
        }
        let mut all: Vec<Value> = load.values(ParamRole::Offered).cloned().collect();
        let rank = |value: &Value| value.number().unwrap_or(f64::INFINITY);
        all.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
        all
    }

    fn state(&self, at: Value, entered: &Entered) -> PacedState {
        let work = |record: &TrialRecord| Some(record.outcome.figure(self.metric)?.value);
        let watts = |record: &TrialRecord| entered.watts(&at, self.measured(record));
        let per_watt = |record: &TrialRecord| Some(work(record)? / watts(record)?);
        PacedState {
            work: self.estimate(&at, &work, self.metric.unit),
            watts: match entered.watts(&at, None).filter(|_| !entered.0.is_empty()) {
                Some(watts) => Some(Estimate::exact(Quantity::new(watts, Unit::Watt))),
                None => self.estimate(&at, &watts, Unit::Watt),
            },
            per_watt: self.estimate(&at, &per_watt, self.metric.unit),
            at,
        }
    }

    fn measured(&self, record: &TrialRecord) -> Option<f64> {
        self.meter?.watts(record)
    }

    /// A figure of the trials in a state over blocks, or rounds of boots.
    fn estimate(
        &self,
        at: &Value,
        of: &dyn Fn(&TrialRecord) -> Option<f64>,
        unit: Unit,
    ) -> Option<Estimate> {
        let values: Vec<f64> = self.by_block(at, of).into_values().collect();
        centre_of_blocks(&values, unit, 1.0 - self.run.plan.method.alpha())
    }

    fn by_block(&self, at: &Value, of: &dyn Fn(&TrialRecord) -> Option<f64>) -> BTreeMap<u32, f64> {
        let here = self.trials.iter().filter(|(state, _)| state == at);
        let values = here.filter_map(|(_, record)| Some((*record, of(record)?)));
        replicated(self.run.plan.replicate(), values.filter(|(_, value)| value.is_finite()))
    }

    /// Of entered watts their exact quotient; of measured ones by blocks in which both were.
    fn idle_share(&self, entered: &Entered) -> Option<Estimate> {
        let [idle, full] =
            [0.0, 1.0].map(|state| Value::Quantity(Quantity::new(state, Unit::Share)));
        if !entered.0.is_empty() {
            let share = entered.watts(&idle, None)? / entered.watts(&full, None)?;
            return Some(Estimate::exact(Quantity::new(share, Unit::Share)));
        }
        let watts = |record: &TrialRecord| self.measured(record);
        let full = self.by_block(&full, &watts);
        let idle = self.by_block(&idle, &watts).into_iter();
        let shares: Vec<f64> =
            idle.filter_map(|(block, idle)| Some(idle / full.get(&block)?)).collect();
        centre_of_blocks(&shares, Unit::Share, 1.0 - self.run.plan.method.alpha())
    }
}

/// Watts that a person entered for states of a treatment, share and watts.
struct Entered(Vec<(f64, f64)>);

impl Entered {
    /// Of the level of the compared factor, where it was told, else of any other.
    fn of(plan: &Plan, treatment: &Treatment) -> Self {
        let of = |factor: &String, level: &String| -> Vec<(f64, f64)> {
            let is_of = |fact: &&ManualFact| {
                fact.what == "power"
                    && fact.factor.as_ref() == Some(factor)
                    && fact.of.as_ref() == Some(level)
            };
            let told = |fact: &ManualFact| Some((fact.state?.value, fact.value.number()?));
            plan.facts.iter().filter(is_of).filter_map(told).collect()
        };
        let compared = treatment.levels.get_key_value(&plan.method.compare);
        let all = compared.into_iter().chain(&treatment.levels);
        let whole = || plan.facts.iter().filter(|fact| fact.of.is_none() && fact.what == "power");
        let of_bed = || whole().filter_map(|f| Some((f.state?.value, f.value.number()?))).collect();
        let mut told = all.map(|(factor, level)| of(factor, level));
        Self(told.find(|found| !found.is_empty()).unwrap_or_else(of_bed))
    }

    /// The watts of a state; where nobody entered any, those that were measured.
    fn watts(&self, at: &Value, measured: Option<f64>) -> Option<f64> {
        if self.0.is_empty() {
            return measured;
        }
        let share = at.number()?;
        self.0.iter().find(|(state, _)| (state - share).abs() < 1e-9).map(|(_, watts)| *watts)
    }
}
