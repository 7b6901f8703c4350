//! Knows figures of a load that are told beside a comparison: of some metrics, by point of the
//! curve and level of what is compared.
//!
//! Never: which level is better, nor what the metrics mean.

use super::pairing::Measure;
use super::searched::observed;
use super::series::{Series, Side, baseline, direction_of};
use crate::record::{Derivation, FactorPlan, LoadPlan, Plan, Replicate, Run, Value};
use crate::stats::{Estimate, mean_or_single};
use crate::unit::Unit;
use std::collections::BTreeMap;

/// Means over blocks, with the interval of t.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelTable {
    /// The load.
    pub load: String,
    /// The parameter along which it goes; none where nothing is swept.
    pub along: Option<String>,
    /// Factor and level of each group of cells; none where nothing is compared.
    pub levels: Vec<(String, String)>,
    /// A row a point.
    pub rows: Vec<LevelRow>,
}

/// A point, none where nothing is swept, and a group of cells a level, a cell a metric. A cell is
/// none without a valid trial.
pub type LevelRow = (Option<Value>, Vec<Vec<Option<Estimate>>>);

impl LevelTable {
    /// Of metrics that the records of a load have.
    pub(super) fn of(run: &Run, load: &LoadPlan, metrics: &[&str]) -> Self {
        let mut rows: Vec<LevelRow> = Vec::new();
        let levels = compared(&run.plan);
        for (group, level) in levels.iter().enumerate() {
            for metric in metrics {
                let unit = run.metric(&load.name, metric).map_or(Unit::Count, |spec| spec.unit);
                for (at, (place, blocks)) in
                    under(run, load, *level, metric).points.iter().enumerate()
                {
                    if rows.len() <= at {
                        rows.push((place.clone(), Vec::new()));
                    }
                    let groups = &mut rows[at].1;
                    groups.resize(group + 1, Vec::new());
                    groups[group].push(estimate(blocks, unit));
                }
            }
        }
        Self {
            load: load.name.clone(),
            along: run.plan.curve(load).map(str::to_owned),
            levels: levels.iter().flatten().map(|(f, l)| (f.name.clone(), (*l).into())).collect(),
            rows,
        }
    }
}

/// Shares of a declared line that a load reached, of every load that asks for them and has them.
#[must_use]
pub fn line_shares(run: &Run) -> Vec<LevelTable> {
    asked_tables(run, Derivation::LineShare)
}

/// The metric of a derivation, of every load that asks for it and has it; of a search that at the
/// load that it found.
pub(super) fn asked_tables(run: &Run, what: Derivation) -> Vec<LevelTable> {
    let run = &*observed(run);
    let has = |table: &LevelTable| {
        table.rows.iter().flat_map(|(_, groups)| groups).flatten().any(Option::is_some)
    };
    asking(run, what)
        .map(|(load, metric)| LevelTable::of(run, load, &[metric]))
        .filter(has)
        .collect()
}

/// The loads that ask for a derivation, with the metric that it is of.
pub(super) fn asking(run: &Run, what: Derivation) -> impl Iterator<Item = (&LoadPlan, &str)> {
    run.plan.loads.iter().flat_map(move |load| {
        load.asks(what).take(1).map(move |derive| (load, derive.metric.as_str()))
    })
}

/// The levels of what is compared; a single none where nothing is.
pub(super) fn compared(plan: &Plan) -> Vec<Option<(&FactorPlan, &str)>> {
    match plan.factors.iter().find(|factor| factor.name == plan.method.compare) {
        Some(factor) => factor.levels.iter().map(|l| Some((factor, l.name.as_str()))).collect(),
        None => vec![None],
    }
}

/// A metric under a level of one factor and the first of the others, in the first direction.
pub(super) fn under(
    run: &Run,
    load: &LoadPlan,
    level: Option<(&FactorPlan, &str)>,
    metric: &str,
) -> Series {
    let mut levels = baseline(&run.plan);
    levels.extend(level.map(|(factor, level)| (factor.name.clone(), level.to_owned())));
    let direction = direction_of(load);
    let side = Side { levels, direction, replicate: Replicate::Block };
    let measure: &Measure<'_> = &|record| record.outcome.metric(metric).map(|found| found.value);
    Series::of(run, load, &side, measure)
}

fn estimate(blocks: &BTreeMap<u32, f64>, unit: Unit) -> Option<Estimate> {
    mean_or_single(&blocks.values().copied().collect::<Vec<f64>>(), unit)
}
