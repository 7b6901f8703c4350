//! Knows which trials stand against which: same load, stratum and parameters, paired in blocks, or
//! boot against boot in rounds where the factor needs a reboot.
//!
//! Never: whether their difference means anything.

use super::merged::{TooFew, merged};
use crate::record::{
    FactorPlan, Fault, Level, LoadPlan, Metric, Plan, Replicate, Run, Settings, TrialKind,
    TrialRecord, Value,
};
use crate::stats::{log_ratio, mean};
use std::collections::{BTreeMap, BTreeSet};

/// What is taken from a trial for a comparison: the figure, none if the trial lacks it.
pub(super) type Measure<'m> = dyn Fn(&TrialRecord) -> Option<f64> + 'm;

/// One level against the baseline at one load, everything else equal, with its trials.
#[derive(Clone)]
pub(super) struct Contest<'r> {
    pub load: &'r LoadPlan,
    /// Whether the plan has no other load.
    pub only_load: bool,
    pub factor: &'r FactorPlan,
    /// What one pair is of, and n counts.
    pub replicate: Replicate,
    pub base: &'r Level,
    pub other: &'r Level,
    /// Whether both levels come to the same settings.
    pub aa: bool,
    pub stratum: BTreeMap<String, String>,
    pub fixed: Settings,
    pub curve: Option<&'r str>,
    /// Every point of the plan, in its order; one without a pair is kept as a gap.
    pub points: Vec<PairedPoint<'r>>,
    /// Counted trials that found no place in a pair.
    pub left_out: u32,
}

/// The pairs at one point of the curve.
#[derive(Clone)]
pub(super) struct PairedPoint<'r> {
    pub at: Option<Value>,
    /// Every counted visit here, whatever came of it, by level: baseline, other.
    pub visits: [Vec<&'r TrialRecord>; 2],
    pub pairs: Vec<Pair<'r>>,
    /// Both levels by the quantile that they are paired by, of all their values; none where they
    /// are paired by something else.
    pub merged: Option<[f64; 2]>,
    /// Why nothing is paired by a quantile here.
    pub too_few: Option<TooFew>,
}

/// Both levels in one block, or in one round of boots.
#[derive(Clone)]
pub(super) struct Pair<'r> {
    /// Number of the block, or of the round where the factor needs a reboot.
    pub block: u32,
    /// Number of the round of boots; 0 in a plan without.
    pub round: u32,
    pub base: Side<'r>,
    pub other: Side<'r>,
    /// ln(other / base).
    pub log: f64,
}

/// What one level shows in a pair: a trial, or all those of a boot.
#[derive(Clone)]
pub(super) struct Side<'r> {
    pub trials: Vec<Measured<'r>>,
    /// The figure of the trial; of a boot the exponential of its mean log.
    pub value: f64,
}

/// A trial and what was measured in it, in the unit of its metric.
#[derive(Clone, Copy)]
pub(super) struct Measured<'r> {
    pub record: &'r TrialRecord,
    pub value: f64,
}

/// All contests of a run over the factor that its plan compares, in the order of the plan, paired
/// by its primary metric; none if the plan lacks that factor.
pub(super) fn contests(run: &Run) -> Vec<Contest<'_>> {
    contests_of(run, &run.plan.method.compare)
}

/// The same over any factor of the plan, by its name.
pub(super) fn contests_of<'r>(run: &'r Run, compared: &str) -> Vec<Contest<'r>> {
    let plan = &run.plan;
    let factor = plan.factors.iter().find(|f| f.name == compared);
    let Some((factor, (base, others))) = factor.and_then(|f| Some((f, f.levels.split_first()?)))
    else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for load in &plan.loads {
        let curve = plan.curve(load);
        let settings = |level: &Level| plan.effective(&level.settings);
        let empty = |stratum, fixed, other| Contest {
            load,
            only_load: plan.loads.len() == 1,
            factor,
            replicate: plan.replicate_of(&[compared]),
            base,
            other,
            aa: settings(base) == settings(other),
            stratum,
            fixed,
            curve,
            points: Vec::new(),
            left_out: 0,
        };
        for stratum in strata(plan, compared) {
            for fixed in fixed_settings(load, curve) {
                for other in others {
                    let filled = empty(stratum.clone(), fixed.clone(), other).filled(run);
                    all.push(filled.paired(run));
                }
            }
        }
    }
    all
}

fn strata(plan: &Plan, compared: &str) -> Vec<BTreeMap<String, String>> {
    let rest = plan.factors.iter().filter(|f| f.name != compared);
    combinations(rest.map(|f| (&f.name, f.levels.iter().map(|l| l.name.clone()).collect())))
}

pub(super) fn fixed_settings(load: &LoadPlan, curve: Option<&str>) -> Vec<Settings> {
    let rest = load.over.iter().filter(|(name, _)| Some(name.as_str()) != curve);
    combinations(rest.map(|(name, values)| (name, values.clone())))
}

/// Every combination of one value an axis, the last axis running fastest.
fn combinations<'a, T: Clone>(
    axes: impl Iterator<Item = (&'a String, Vec<T>)>,
) -> Vec<BTreeMap<String, T>> {
    axes.fold(vec![BTreeMap::new()], |made, (name, values)| {
        let extend = |one: &BTreeMap<String, T>| {
            let one = one.clone();
            values.iter().map(move |value| {
                let mut next = one.clone();
                next.insert(name.clone(), value.clone());
                next
            })
        };
        made.iter().flat_map(|one| extend(one).collect::<Vec<_>>()).collect()
    })
}

impl<'r> Contest<'r> {
    /// The same contest with the trials of the run at every point, not yet paired.
    fn filled(mut self, run: &'r Run) -> Self {
        let swept = self.load.over.iter().find(|(name, _)| Some(name.as_str()) == self.curve);
        let at = swept.map_or_else(|| vec![None], |(_, v)| v.iter().cloned().map(Some).collect());
        for at in at {
            let visits = [self.base, self.other].map(|level| {
                let its = |r: &&TrialRecord| self.holds(r, (level, at.as_ref()));
                run.records.iter().filter(its).collect()
            });
            let (pairs, merged, too_few) = (Vec::new(), None, None);
            self.points.push(PairedPoint { at, visits, pairs, merged, too_few });
        }
        self
    }

    /// The same contest, its trials paired by the metric that decides there.
    pub(super) fn paired(&self, run: &Run) -> Self {
        let primary = |record: &TrialRecord| run.figure(record).map(|quantity| quantity.value);
        self.by(&primary).told(run.deciding(&self.load.name))
    }

    /// The same contest, its trials paired by another figure.
    pub(super) fn by(&self, measure: &Measure<'_>) -> Self {
        let mut paired = self.clone();
        paired.left_out = 0;
        for point in &mut paired.points {
            point.pairs = self.pairs(&point.visits, measure);
            point.merged = None;
            // A trial that was visited again is one trial.
            let trials = point.visits.each_ref().map(|visits| {
                visits.iter().map(|r| r.trial.block).collect::<BTreeSet<u32>>().len()
            });
            let used = point.sides().iter().map(Vec::len).sum();
            // What this machine cannot do was not lost.
            let impossible = point.visits.iter().flatten().any(|r| is_not_available(r));
            let all = trials.into_iter().sum::<usize>();
            let lost = if impossible { 0 } else { all.saturating_sub(used) };
            paired.left_out += u32::try_from(lost).unwrap_or(u32::MAX);
        }
        paired
    }

    /// The same contest without the pairs of points where too few values carry the quantile that
    /// the metric is, at either level.
    fn told(mut self, metric: Option<&Metric>) -> Self {
        for point in &mut self.points {
            let whole = point.visits.each_ref().map(|visits| {
                let good = visits.iter().filter(|record| record.outcome.fault.is_none());
                merged(metric?, good.copied())
            });
            match whole {
                [Some(Ok(base)), Some(Ok(other))] => point.merged = Some([base, other]),
                [Some(Err(few)), _] | [_, Some(Err(few))] => {
                    point.pairs.clear();
                    point.too_few = Some(few);
                }
                _ => {}
            }
        }
        self
    }

    /// Whether a counted trial is one of this level at this point of the curve, whatever came of
    /// it.
    fn holds(&self, record: &TrialRecord, (level, at): (&Level, Option<&Value>)) -> bool {
        let (trial, levels) = (&record.trial, &record.trial.treatment.levels);
        trial.kind == TrialKind::Counted
            && trial.point.load == self.load.name
            && self.curve.is_none_or(|curve| trial.point.params.get(curve) == at)
            && self.fixed.iter().all(|(key, value)| trial.point.params.get(key) == Some(value))
            && self.stratum.iter().all(|(key, value)| levels.get(key) == Some(value))
            && levels.get(&self.factor.name) == Some(&level.name)
    }

    /// Pairs within blocks, or of boots within rounds. Of a trial that was run again the first good
    /// visit counts.
    fn pairs(&self, visits: &[Vec<&'r TrialRecord>; 2], measure: &Measure<'_>) -> Vec<Pair<'r>> {
        let mut blocks: BTreeMap<u32, [BTreeMap<u32, Measured<'r>>; 2]> = BTreeMap::new();
        for (side, visits) in visits.iter().enumerate() {
            for measured in visits.iter().filter_map(|record| measured(record, measure)) {
                let trial = &measured.record.trial;
                let block = match self.replicate {
                    Replicate::Block => trial.block,
                    Replicate::Boot => trial.round,
                };
                blocks.entry(block).or_default()[side].entry(trial.block).or_insert(measured);
            }
        }
        let pair = |(block, sides): (u32, [BTreeMap<u32, Measured<'r>>; 2])| {
            let [base, other] = sides.map(|side| Side::of(side.into_values().collect()));
            let (base, other) = (base?, other?);
            let round = base.trials.first()?.record.trial.round;
            let log = log_ratio(base.value, other.value)?;
            Some(Pair { block, round, base, other, log })
        };
        blocks.into_iter().filter_map(pair).collect()
    }
}

impl<'r> Side<'r> {
    /// One trial, or the trials of a boot; of several those whose figure has a logarithm. None for
    /// none.
    fn of(mut trials: Vec<Measured<'r>>) -> Option<Self> {
        if let [one] = trials[..] {
            return Some(Self { trials, value: one.value });
        }
        trials.retain(|trial| trial.value > 0.0 && trial.value.is_finite());
        let logs: Vec<f64> = trials.iter().map(|trial| trial.value.ln()).collect();
        (!logs.is_empty()).then(|| Self { trials, value: mean(&logs).exp() })
    }
}

const fn is_not_available(record: &TrialRecord) -> bool {
    matches!(record.outcome.fault, Some(Fault::NotAvailable { .. }))
}

/// The figure of a trial; none from one with a fault.
fn measured<'r>(record: &'r TrialRecord, measure: &Measure<'_>) -> Option<Measured<'r>> {
    if record.outcome.fault.is_some() {
        return None;
    }
    measure(record).map(|value| Measured { record, value })
}

impl<'r> PairedPoint<'r> {
    /// The paired trials of both levels, baseline first.
    pub(super) fn sides(&self) -> [Vec<Measured<'r>>; 2] {
        let base = self.pairs.iter().flat_map(|pair| &pair.base.trials);
        let other = self.pairs.iter().flat_map(|pair| &pair.other.trials);
        [base.copied().collect(), other.copied().collect()]
    }
}
