//! Knows what every load measured by itself: absolute figures of each point under each treatment,
//! and why a point has none.
//!
//! Never: a comparison; no figure here stands against another.

use super::bottleneck::{MeasuredLimit, held};
use super::measure::programs_of;
use super::merged::{TooFew, centred, merged};
use super::rounds::{Rounds, rounds};
use super::storage;
use crate::plan::expand;
use crate::record::{
    Better, Derivation, Fault, LoadPoint, Metric, Plan, Replicate, Run, Settings, Treatment,
    TrialKind, TrialRecord,
};
use crate::stats::{Estimate, centre_of_blocks, mean, mean_or_single};
use crate::unit::{Quantity, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One load at one of its points under one treatment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuredPoint {
    /// Name of the load in the plan.
    pub load: String,
    /// Level of every factor of the plan.
    pub levels: BTreeMap<String, String>,
    /// Parameters of the load that the plan sweeps.
    pub at: Settings,
    /// Metrics of the valid trials, in the order in which the run describes them.
    pub figures: Vec<MeasuredFigure>,
    /// Counted visits in none of the figures, for a fault hit them.
    pub left_out: u32,
    /// Metrics that are quantiles and have no figure, for too few values carry them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub too_few: BTreeMap<String, TooFew>,
    /// Why there is no figure; none where there is one.
    pub lacking: Option<Lacking>,
    /// What held the load down, where a path or storage was loaded and its readings tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<MeasuredLimit>,
    /// Share of the bytes of the valid trials that block devices served, of a load of storage;
    /// above 1 where they moved more than was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_disk: Option<Estimate>,
    /// The block device behind a load of storage, where its records name one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// How the rate went over the window, of a load with rounds that has enough of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<Rounds>,
    /// CPU time of an operation that each program under test used, seconds, by its name; of loads
    /// whose deciding metric is operations a second.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub programs: BTreeMap<String, Estimate>,
}

impl MeasuredPoint {
    /// The figure of a metric.
    #[must_use]
    pub fn figure(&self, metric: &str) -> Option<&MeasuredFigure> {
        self.figures.iter().find(|figure| figure.metric == metric)
    }
}

/// A metric at a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuredFigure {
    /// Name of the metric.
    pub metric: String,
    /// Its centre over blocks; over rounds of boots where the compared levels need a boot.
    pub estimate: Estimate,
    /// The best of all valid trials, for a metric of which that is asked for.
    pub best: Option<Quantity>,
}

/// Why a point has no figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "why")]
pub enum Lacking {
    /// This machine cannot do it.
    NotAvailable {
        /// What is lacking.
        what: String,
    },
    /// No counted visit was valid.
    Invalid {
        /// The first fault.
        fault: Fault,
    },
    /// No counted visit was made, or it gave no metric that the run describes.
    NotMeasured,
}

/// Whether the plan sets levels against each other.
#[must_use]
pub fn compares(plan: &Plan) -> bool {
    let compared = plan.factors.iter().find(|factor| factor.name == plan.method.compare);
    compared.is_some_and(|factor| factor.levels.len() > 1)
}

/// Every point of every load in the order of the plan, under every treatment: of the loads of the
/// system under test alone, and of all loads where the plan compares nothing. Other loads have
/// their figures beside their ratios.
pub(super) fn measured(run: &Run) -> Vec<MeasuredPoint> {
    let plan = &run.plan;
    let every = !compares(plan);
    let (points, treatments) = expand(plan);
    let mut all = Vec::new();
    for point in points.iter().filter(|point| every || plan.runs_alone(&point.load)) {
        for (treatment, _) in &treatments {
            all.push(one(run, point, treatment));
        }
    }
    all
}

fn one(run: &Run, point: &LoadPoint, treatment: &Treatment) -> MeasuredPoint {
    let swept = run.plan.loads.iter().filter(|load| load.name == point.load);
    let swept = swept.flat_map(|load| &load.over).map(|(name, _)| name);
    let at: Settings =
        swept.filter_map(|k| Some((k.clone(), point.params.get(k)?.clone()))).collect();
    let is_here = |r: &&TrialRecord| {
        let params = &r.trial.point.params;
        r.trial.point.load == point.load
            && r.trial.treatment == *treatment
            && at.iter().all(|(key, value)| params.get(key) == Some(value))
    };
    let visits: Vec<&TrialRecord> = run.records.iter().filter(is_here).collect();
    let counted: Vec<&TrialRecord> =
        visits.iter().filter(|r| r.trial.kind == TrialKind::Counted).copied().collect();
    let (mut figures, mut too_few) = (Vec::new(), BTreeMap::new());
    for metric in run.metrics_of(&point.load) {
        match figure(&run.plan, metric, &counted) {
            Ok(found) => figures.extend(found),
            Err(few) => drop(too_few.insert(metric.name.clone(), few)),
        }
    }
    let lacking = figures.is_empty().then(|| lacking(&visits, &counted));
    let hit = |r: &&&TrialRecord| {
        !matches!(r.outcome.fault, None | Some(Fault::NotAvailable { .. } | Fault::Cancelled))
    };
    let good: Vec<&TrialRecord> =
        counted.iter().filter(|r| r.outcome.fault.is_none()).copied().collect();
    MeasuredPoint {
        limit: held(run, &counted),
        from_disk: storage::served(&good),
        device: storage::device(&good),
        rounds: rounds(run, &point.load, &good),
        programs: programs(run, &point.load, &counted),
        load: point.load.clone(),
        levels: treatment.levels.clone(),
        left_out: u32::try_from(counted.iter().filter(hit).count()).unwrap_or(u32::MAX),
        at,
        figures,
        too_few,
        lacking,
    }
}

/// CPU time of an operation by program.
fn programs(run: &Run, load: &str, counted: &[&TrialRecord]) -> BTreeMap<String, Estimate> {
    let primary = run.metric(load, run.plan.primary(load));
    let Some(primary) = primary.filter(|metric| metric.unit == Unit::OperationPerSecond) else {
        return BTreeMap::new();
    };
    let mut all: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (record, rate) in valid(primary, counted).filter(|(_, rate)| *rate > 0.0) {
        for (name, reading) in programs_of(record) {
            all.entry(name).or_default().push(reading.quantity.value / rate);
        }
    }
    let mean = |(name, values): (&str, Vec<f64>)| {
        Some((name.to_owned(), mean_or_single(&values, Unit::Second)?))
    };
    all.into_iter().filter_map(mean).collect()
}

/// A metric over the counted visits that are valid, and the best of them; none of none.
pub(super) fn figure(
    plan: &Plan,
    metric: &Metric,
    counted: &[&TrialRecord],
) -> Result<Option<MeasuredFigure>, TooFew> {
    let values = by_replicate(plan.replicate(), metric, counted);
    let values: Vec<f64> = values.into_values().collect();
    let estimate = centre_of_blocks(&values, metric.unit, 1.0 - plan.method.alpha());
    let good = counted.iter().filter(|r| r.outcome.fault.is_none()).copied();
    let estimate = match merged(metric, good).transpose()? {
        Some(whole) => estimate.map(|estimate| centred(estimate, whole)),
        None => estimate,
    };
    let Some(estimate) = estimate else { return Ok(None) };
    let all = valid(metric, counted).map(|(_, value)| value);
    let best = match metric.better {
        Better::Higher => all.max_by(f64::total_cmp),
        Better::Lower => all.min_by(f64::total_cmp),
    };
    let load = counted.first().and_then(|record| plan.load(&record.trial.point.load));
    let mut asked = load.into_iter().flat_map(|load| load.asks(Derivation::Best));
    let is_best = asked.any(|derive| derive.metric == metric.name);
    Ok(Some(MeasuredFigure {
        metric: metric.name.clone(),
        estimate,
        best: best.filter(|_| is_best).map(|value| Quantity::new(value, metric.unit)),
    }))
}

/// The values of a metric by block or by round of boots: of every block its first, of every round
/// the exponential of their mean log.
pub(super) fn by_replicate(
    replicate: Replicate,
    metric: &Metric,
    counted: &[&TrialRecord],
) -> BTreeMap<u32, f64> {
    replicated(replicate, valid(metric, counted))
}

/// The same of any value of valid trials.
pub(super) fn replicated<'r>(
    replicate: Replicate,
    values: impl Iterator<Item = (&'r TrialRecord, f64)>,
) -> BTreeMap<u32, f64> {
    let mut blocks: BTreeMap<u32, (u32, f64)> = BTreeMap::new();
    for (record, value) in values {
        blocks.entry(record.trial.block).or_insert((record.trial.round, value));
    }
    if replicate == Replicate::Block {
        return blocks.into_iter().map(|(block, (_, value))| (block, value)).collect();
    }
    let mut rounds: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (round, value) in blocks.into_values() {
        rounds.entry(round).or_default().push(value.ln());
    }
    rounds.into_iter().map(|(round, logs)| (round, mean(&logs).exp())).collect()
}

/// The visits without a fault that gave a metric, with its value.
fn valid<'r>(
    metric: &Metric,
    counted: &[&'r TrialRecord],
) -> impl Iterator<Item = (&'r TrialRecord, f64)> {
    let value = |record: &&'r TrialRecord| {
        let value = record.outcome.figure(metric)?.value;
        Some((*record, value)).filter(|(_, value)| value.is_finite())
    };
    counted.iter().filter(|r| r.outcome.fault.is_none()).filter_map(value)
}

/// What this machine cannot do is known from any visit, the dry one too; a fault counts where a
/// counted visit has it.
fn lacking(visits: &[&TrialRecord], counted: &[&TrialRecord]) -> Lacking {
    let of = |records: &[&TrialRecord]| -> Vec<Fault> {
        records.iter().filter_map(|r| r.outcome.fault.clone()).collect()
    };
    let not_available = of(visits).into_iter().find_map(|fault| match fault {
        Fault::NotAvailable { what } => Some(Lacking::NotAvailable { what }),
        _ => None,
    });
    let invalid = || of(counted).into_iter().next().map(|fault| Lacking::Invalid { fault });
    not_available.or_else(invalid).unwrap_or(Lacking::NotMeasured)
}

#[cfg(test)]
mod tests {
    use super::super::analyse;
    use super::super::simulated::Simulated;
    use super::*;
    use crate::record::{DeriveSpec, Outcome, Value};
    use crate::stats::EstimateMethod;
    use crate::unit::Unit;

    fn alone(blocks: u32) -> Run {
        Simulated { blocks, sizes: vec![64, 1024], ..Simulated::default() }.only_measuring()
    }

    fn at(run: &Run, bytes: u64) -> Vec<usize> {
        let wanted = Value::Quantity(Quantity::bytes(bytes));
        let here = |i: &usize| run.records[*i].trial.point.params["size"] == wanted;
        (0..run.records.len()).filter(here).collect()
    }

    #[test]
    fn a_plan_without_factors_has_every_point_with_the_centre_of_its_counted_blocks() {
        let run = alone(5);
        let found = analyse(&run);
        assert!(found.comparisons.is_empty() && !compares(&run.plan));
        let sizes: Vec<String> = found.measured.iter().map(|m| m.at["size"].to_string()).collect();
        assert_eq!(sizes, ["64 B", "1 KiB"]);
        for (point, bytes) in found.measured.iter().zip([64, 1024]) {
            let values: Vec<f64> = at(&run, bytes)
                .into_iter()
                .map(|i| &run.records[i])
                .filter(|r| r.trial.kind == TrialKind::Counted)
                .map(|r| r.outcome.metric("throughput").unwrap().value)
                .collect();
            let estimate = &point.figure("throughput").unwrap().estimate;
            assert_eq!((values.len(), estimate.n), (5, 5));
            let logs: Vec<f64> = values.iter().map(|v| v.ln()).collect();
            assert!((estimate.centre.value / mean(&logs).exp() - 1.0).abs() < 1e-12);
            assert_eq!((estimate.method, estimate.level), (EstimateMethod::LogMeanT, 0.95));
            assert_eq!((point.left_out, &point.lacking), (0, &None));
        }
        let many = analyse(&alone(8));
        let method = many.measured[0].figures[0].estimate.method;
        assert_eq!(method, EstimateMethod::SignedRank);
    }

    #[test]
    fn the_best_of_all_valid_trials_is_kept_where_a_load_asks_for_it() {
        let mut run = alone(5);
        let asked = DeriveSpec::of(Derivation::Best, "throughput").stored();
        run.plan.loads[0].derives.push(asked);
        let here = at(&run, 64);
        run.records[here[1]].outcome.samples[0].quantity.value = 7e12;
        run.records[here[2]].outcome.samples[0].quantity.value = 9e12;
        run.records[here[2]].outcome.fault = Some(Fault::Cancelled);
        let best = |run: &Run| analyse(run).measured[0].figures[0].best.unwrap();
        assert_eq!(best(&run), Quantity::new(7e12, Unit::BitPerSecond));
        run.records[here[3]].outcome.samples[0].quantity.value = 3.0;
        run.metrics[0].better = Better::Lower;
        assert_eq!(best(&run).value, 3.0);
        assert_eq!(analyse(&alone(5)).measured[0].figures[0].best, None);
    }

    #[test]
    fn a_point_says_why_it_has_no_figure_and_another_how_many_visits_it_left_out() {
        let mut run = alone(3);
        let (first, second) = (at(&run, 64), at(&run, 1024));
        let what = "no AVX-512".to_owned();
        let not_available = Fault::NotAvailable { what: what.clone() };
        run.records[first[0]].outcome = Outcome::faulty(not_available);
        let gone = first[1..].to_vec();
        let mut place = 0;
        let steal = Fault::Steal { share: Quantity::new(0.2, Unit::Share) };
        run.records[second[2]].outcome.fault = Some(steal.clone());
        let all = run.clone();
        run.records.retain(|_| {
            place += 1;
            !gone.contains(&(place - 1))
        });
        let found = analyse(&run);
        let told = found.measured[0].lacking.clone();
        assert_eq!(told, Some(Lacking::NotAvailable { what }));
        assert_eq!((found.measured[1].left_out, &found.measured[1].lacking), (1, &None));
        assert_eq!(found.measured[1].figures[0].estimate.n, 2);
        assert!(found.caveats.iter().all(|c| !format!("{c:?}").contains("AVX")), "no doubt");
        let mut run = all;
        for i in second {
            run.records[i].outcome = Outcome::faulty(steal.clone());
        }
        let found = analyse(&run);
        assert_eq!(found.measured[1].lacking, Some(Lacking::Invalid { fault: steal }));
        run.records.clear();
        let found = analyse(&run);
        assert!(found.measured.iter().all(|m| m.lacking == Some(Lacking::NotMeasured)));
    }

    #[test]
    fn beside_a_comparison_only_loads_of_the_machine_are_measured_under_every_level() {
        let run = Simulated { truth: |_| 1.3, ..Simulated::default() }.with_latency();
        let found = analyse(&run);
        let told: Vec<(&str, &str)> =
            found.measured.iter().map(|m| (m.load.as_str(), m.levels["path"].as_str())).collect();
        assert_eq!(told, [("reach", "onboard"), ("reach", "pro1000")]);
        let c = found.comparisons.iter().find(|c| c.load == "reach").unwrap();
        for (ours, theirs) in found.measured.iter().zip([&c.points[0].base, &c.points[0].other]) {
            assert_eq!(ours.figure("latency").unwrap().estimate, *theirs);
        }
    }
}
