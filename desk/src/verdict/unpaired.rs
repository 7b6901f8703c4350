//! Knows how two runs of different sessions are compared, trial means of one against those of the
//! other, where nothing pairs them.
//!
//! Never: a verdict where the runs are not comparable.

use super::analyse::analyse;
use super::analysis::Analysis;
use super::claims::claims_of_two;
use super::comparability::{Comparability, Declared, compare_environments, declared};
use super::finding::{Caveat, ClaimCheck, Comparison, PointResult, Verdict};
use super::identity::{IdentityKey, UnlikeIdentity, changed, differing, identity};
use super::pairing::fixed_settings;
use super::region::regions;
use super::winner::alpha;
use crate::plan::expand;
use crate::record::{
    Better, FactorPlan, LoadPlan, Metric, Plan, Run, Settings, TrialKind, TrialRecord, Value,
};
use crate::stats::{Estimate, EstimateMethod, HolmStep, LEVEL, Welch, holm, mean, mean_or_single};
use crate::unit::{Quantity, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// What the first run is called in every sentence: it is the baseline.
const A: &str = "A";
/// What the second is called.
const B: &str = "B";

/// Two runs and how they compare.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unpaired {
    /// Name of the first run, the baseline.
    pub a: String,
    /// Name of the second.
    pub b: String,
    /// The metric compared.
    pub metric: String,
    /// In what they differ besides.
    pub comparability: Comparability,
    /// Whether figures were made although the runs are not comparable. Then there is no verdict:
    /// all of them are undecided.
    pub forced: bool,
    /// A comparison a treatment and load; none where the runs are not comparable, unless forced.
    pub comparisons: Vec<Comparison>,
    /// Points that the two runs did not make by the same: they have no verdict.
    #[serde(default)]
    pub unlike: Vec<UnlikeIdentity>,
    /// Reasons to doubt the first run, and so all that is said of it here.
    #[serde(default)]
    pub doubts_a: Vec<Caveat>,
    /// Those of the second.
    #[serde(default)]
    pub doubts_b: Vec<Caveat>,
    /// The published claims about a feature that a person switches, where the runs differ in it.
    #[serde(default)]
    pub claims: Vec<ClaimCheck>,
}

impl Unpaired {
    /// The keys that make the figures worthless as a comparison; none where they are not.
    #[must_use]
    pub fn watermark(&self) -> Option<Vec<&str>> {
        let keys = || self.comparability.confounders.iter().map(|d| d.key.as_str()).collect();
        (self.forced && !self.comparability.comparable()).then(keys)
    }
}

/// Why two runs were not compared at all.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CompareError {
    /// No such metric.
    #[error("there is no metric '{name}' in run {run}; it has {known}")]
    NoMetric {
        /// As asked for.
        name: String,
        /// The run that lacks it.
        run: String,
        /// What it has.
        known: String,
    },
}

/// What is wanted of a comparison.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'w> {
    /// Another metric than the primary one of the first run.
    pub metric: Option<&'w str>,
    /// Figures although the runs are not comparable.
    pub force: bool,
}

/// Compares two runs: the first is the baseline.
///
/// Every load point and treatment that both have is compared by the logs of the block values (of a
/// run with boots by the means of its boots, for its blocks share what a boot brought along) with
/// Welch's t test, over a curve with Holm's step-down, the whole of it by block means. A level that
/// only one run has stays without a partner, unless the runs differ in exactly one level of one
/// factor: then these two stand against each other.
///
/// # Errors
/// A metric that one of the runs lacks.
pub fn compare_runs(a: &Run, b: &Run, wanted: Wanted<'_>) -> Result<Unpaired, CompareError> {
    let name = wanted.metric.unwrap_or(&a.plan.method.primary);
    let shared = a.plan.loads.iter().filter(|load| shares(b, load));
    let deciding =
        shared.map(|load| a.plan.primary(&load.name)).filter(|_| wanted.metric.is_none());
    for name in wanted.metric.into_iter().chain(deciding) {
        metric(a, name)?;
        metric(b, name)?;
    }
    let all: Declared = declared(&a.plan, &b.plan);
    let comparability = compare_environments(a, b, &all);
    let forced = wanted.force && !comparability.comparable();
    let analyses = [a, b].map(analyse);
    let (comparisons, unlike) = match comparability.comparable() || forced {
        true => comparisons([a, b], (wanted.metric, forced), &analyses),
        false => (Vec::new(), Vec::new()),
    };
    let [in_a, in_b] = &analyses;
    // No sign may rest on runs that are not comparable.
    let claims = match comparability.comparable() {
        true => claims_of_two([(a, &in_a.cells), (b, &in_b.cells)], &comparisons),
        false => Vec::new(),
    };
    let [doubts_a, doubts_b] = analyses.map(|found| found.caveats);
    Ok(Unpaired {
        a: a.id.clone(),
        b: b.id.clone(),
        metric: name.into(),
        comparability,
        forced,
        comparisons,
        unlike,
        doubts_a,
        doubts_b,
        claims,
    })
}

/// Whether the plan of a run has a load of this name.
fn shares(run: &Run, load: &LoadPlan) -> bool {
    run.plan.loads.iter().any(|other| other.name == load.name)
}

fn metric<'r>(run: &'r Run, name: &str) -> Result<&'r Metric, CompareError> {
    run.metrics.iter().find(|m| m.name == name).ok_or_else(|| CompareError::NoMetric {
        name: name.into(),
        run: run.id.clone(),
        known: run.metrics.iter().map(|m| m.name.as_str()).collect::<Vec<_>>().join(", "),
    })
}

/// One treatment at one load, in both runs.
struct Cell<'r> {
    load: &'r LoadPlan,
    fixed: Settings,
    curve: Option<&'r str>,
    /// Levels in the first run and in the second; they differ in at most one.
    levels: [BTreeMap<String, String>; 2],
    /// How the keys of the identity begin that these two levels change on purpose.
    changed: BTreeSet<String>,
}

/// The logs of a metric by block or boot, in both runs at one point.
struct Point {
    at: Option<Value>,
    sides: [BTreeMap<u32, f64>; 2],
    /// What stands in place of a verdict: a level has two states here, or the runs were not made by
    /// the same.
    bar: Option<Verdict>,
    /// In what they were not made by the same.
    unlike: Vec<IdentityKey>,
}

fn comparisons(
    runs: [&Run; 2],
    (wanted, forced): (Option<&str>, bool),
    analyses: &[Analysis; 2],
) -> (Vec<Comparison>, Vec<UnlikeIdentity>) {
    let torn = analyses.each_ref().map(torn_cells);
    let plan = &runs[0].plan;
    let swapped = swapped(runs.map(|run| &run.plan));
    let (_, treatments) = expand(plan);
    let (mut found, mut unlike) = (Vec::new(), Vec::new());
    for load in &plan.loads {
        let decides = wanted.unwrap_or_else(|| plan.primary(&load.name));
        let Some(metric) = runs[0].metric(&load.name, decides) else { continue };
        let curve = plan.curve(load);
        for fixed in fixed_settings(load, curve) {
            for (treatment, _) in &treatments {
                let levels = treatment.levels.clone();
                let partner =
                    swapped.as_ref().map_or_else(|| levels.clone(), |s| s.partner(&levels));
                let levels = [levels, partner];
                let changed = purpose(runs, &levels);
                let cell = Cell { load, fixed: fixed.clone(), curve, levels, changed };
                if let Some((comparison, apart)) = judge(&cell, runs, (metric, forced), &torn) {
                    found.push(comparison);
                    unlike.extend(apart);
                }
            }
        }
    }
    (found, unlike)
}

/// How the keys of the identity begin that the one level changes in which the sides differ.
fn purpose(runs: [&Run; 2], levels: &[BTreeMap<String, String>; 2]) -> BTreeSet<String> {
    let [a, b] = levels;
    let of = |(factor, level): (&String, &String)| {
        let other = b.get(factor).filter(|other| *other != level)?;
        let find = |run: &'_ Run, name: &str| -> Option<crate::record::Level> {
            let factor = run.plan.factors.iter().find(|f| f.name == *factor)?;
            factor.levels.iter().find(|l| l.name == name).cloned()
        };
        Some(changed([&find(runs[0], level)?, &find(runs[1], other)?]))
    };
    a.iter().filter_map(of).flatten().collect()
}

/// The one level in which two plans differ.
struct Swapped<'p> {
    factor: &'p str,
    levels: [&'p str; 2],
}

impl Swapped<'_> {
    fn partner(&self, levels: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let mut levels = levels.clone();
        if let Some(level) = levels.get_mut(self.factor).filter(|l| *l == self.levels[0]) {
            *level = self.levels[1].into();
        }
        levels
    }
}

/// The level that only the first has and the one that only the second has, if there is one of each
/// in one factor and all other factors are the same.
fn swapped<'p>([a, b]: [&'p Plan; 2]) -> Option<Swapped<'p>> {
    let only = |here: &'p FactorPlan, there: &FactorPlan| -> Vec<&'p str> {
        let lacks = |name: &str| there.levels.iter().all(|l| l.name != name);
        here.levels.iter().map(|l| l.name.as_str()).filter(|name| lacks(name)).collect()
    };
    let mut found = None;
    for here in &a.factors {
        let there = b.factors.iter().find(|f| f.name == here.name)?;
        match (only(here, there).as_slice(), only(there, here).as_slice()) {
            ([], []) => {}
            ([first], [second]) if found.is_none() => {
                found = Some(Swapped { factor: &here.name, levels: [first, second] });
            }
            _ => return None,
        }
    }
    found
}

/// Load, levels, fixed parameters and place of every level that has two states in a run.
type Torn = Vec<(String, BTreeMap<String, String>, Settings, Option<Value>)>;

fn torn_cells(analysis: &Analysis) -> Torn {
    let cell = |states: &super::finding::TwoStates| {
        let of = analysis.comparisons.iter().find(|c| c.id == states.comparison)?;
        let mut levels = of.stratum.clone();
        levels.insert(of.factor.clone(), states.level.clone());
        Some((of.load.clone(), levels, of.fixed.clone(), states.at.clone()))
    };
    analysis.two_states.iter().filter_map(cell).collect()
}

impl Cell<'_> {
    /// Whether a counted trial of the run on this side belongs here.
    fn holds(&self, record: &TrialRecord, side: usize, at: Option<&Value>) -> bool {
        let trial = &record.trial;
        let has = |(key, value): (&String, &Value)| trial.point.params.get(key) == Some(value);
        trial.kind == TrialKind::Counted
            && trial.point.load == self.load.name
            && trial.treatment.levels == self.levels[side]
            && self.curve.is_none_or(|curve| trial.point.params.get(curve) == at)
            && self.fixed.iter().all(has)
    }

    fn is_torn(&self, torn: &[Torn; 2], at: Option<&Value>) -> bool {
        torn.iter().zip(&self.levels).any(|(torn, levels)| {
            torn.iter().any(|(load, known, fixed, place)| {
                *load == self.load.name
                    && known == levels
                    && *fixed == self.fixed
                    && place.as_ref() == at
            })
        })
    }

    /// In what the runs were not made by the same at a place, but for what the levels change that
    /// stand against each other.
    fn unlike(&self, runs: [&Run; 2], at: Option<&Value>) -> Vec<IdentityKey> {
        let of = |side: usize| {
            let records = runs[side].records.iter();
            let good = |r: &&TrialRecord| r.outcome.fault.is_none() && self.holds(r, side, at);
            identity(records.filter(good))
        };
        let [base, other] = [of(0), of(1)];
        // Where only one run was here there is nothing to differ.
        let both = [0, 1].map(|side| {
            let mut all = runs[side].records.iter();
            all.any(|r| r.outcome.fault.is_none() && self.holds(r, side, at))
        });
        if both == [true, true] { differing(&base, &other, &self.changed) } else { Vec::new() }
    }

    /// Every place of the plan with the block values of both runs, and the trials in none of them.
    /// Of a trial that was run again the first good visit counts.
    fn points(&self, runs: [&Run; 2], metric: &str, torn: &[Torn; 2]) -> (Vec<Point>, u32) {
        let swept = self.load.over.iter().find(|(name, _)| Some(name.as_str()) == self.curve);
        let places =
            swept.map_or_else(|| vec![None], |(_, v)| v.iter().cloned().map(Some).collect());
        let (mut points, mut left_out) = (Vec::new(), 0);
        for at in places {
            let mut sides: [BTreeMap<u32, BTreeMap<u32, f64>>; 2] = Default::default();
            let mut seen = 0;
            for (side, run) in runs.into_iter().enumerate() {
                for record in run.records.iter().filter(|r| self.holds(r, side, at.as_ref())) {
                    seen += 1;
                    if let Some(log) = log(record, metric) {
                        let trial = &record.trial;
                        let number = if trial.boot > 0 { trial.boot } else { trial.block };
                        sides[side].entry(number).or_default().entry(trial.block).or_insert(log);
                    }
                }
            }
            let used = sides.iter().flat_map(BTreeMap::values).map(BTreeMap::len);
            left_out += seen - used.sum::<usize>();
            let sides = sides.map(|boots| boots.into_iter().map(centre).collect());
            let torn = self.is_torn(torn, at.as_ref()).then_some(Verdict::TwoStates);
            let unlike = self.unlike(runs, at.as_ref());
            let bar = if unlike.is_empty() { torn } else { Some(Verdict::NotComparable) };
            points.push(Point { at, sides, bar, unlike });
        }
        (points, u32::try_from(left_out).unwrap_or(u32::MAX))
    }
}

/// The mean of the logs of a boot, or the one of a block.
fn centre((number, logs): (u32, BTreeMap<u32, f64>)) -> (u32, f64) {
    (number, mean(&logs.into_values().collect::<Vec<f64>>()))
}

/// ln of the figure of a trial; none from a fault, or from a figure that has no logarithm.
fn log(record: &TrialRecord, metric: &str) -> Option<f64> {
    if record.outcome.fault.is_some() {
        return None;
    }
    let value = record.outcome.metric(metric)?.value;
    (value > 0.0 && value.is_finite()).then(|| value.ln())
}

impl Point {
    fn logs(&self, side: usize) -> Vec<f64> {
        self.sides[side].values().copied().collect()
    }

    fn welch(&self) -> Option<Welch> {
        Welch::of(&self.logs(0), &self.logs(1))
    }

    fn live(&self) -> bool {
        self.sides.iter().all(|side| !side.is_empty())
    }
}

/// What a test is judged by.
#[derive(Clone, Copy)]
struct Rule {
    better: Better,
    /// A share.
    margin: f64,
    /// Error probability of a family: that of a look, if a run could end at one.
    alpha: f64,
    forced: bool,
}

impl Rule {
    fn verdict(self, welch: Option<&Welch>, [differs, equivalent]: [HolmStep; 2]) -> Verdict {
        let undecided = Verdict::Undecided { more_blocks: None };
        let Some(welch) = welch.filter(|_| !self.forced) else { return undecided };
        let ahead = (welch.difference > 0.0) == (self.better == Better::Higher);
        match (differs.rejected, equivalent.rejected) {
            (true, _) if ahead => Verdict::Better,
            (true, _) => Verdict::Worse,
            (false, true) => Verdict::Equivalent,
            (false, false) => undecided,
        }
    }

    /// Both families of tests over a curve. What cannot be tested stays in them with p = 1.
    fn steps(self, family: &[Option<Welch>]) -> Vec<[HolmStep; 2]> {
        let differ: Vec<f64> = family.iter().map(|w| w.map_or(1.0, |w| w.p())).collect();
        let equal = family.iter().map(|w| w.map_or(1.0, |w| w.equivalence_p(self.margin)));
        let equal = holm(&equal.collect::<Vec<_>>(), self.alpha);
        holm(&differ, self.alpha).into_iter().zip(equal).map(|(d, e)| [d, e]).collect()
    }
}

/// The comparison of a cell; none where not one point has a figure in both runs.
fn judge(
    cell: &Cell<'_>,
    runs: [&Run; 2],
    (metric, forced): (&Metric, bool),
    torn: &[Torn; 2],
) -> Option<(Comparison, Vec<UnlikeIdentity>)> {
    let margin = runs[0].plan.method.margin;
    let alpha = alpha(&runs[0].plan.method).min(alpha(&runs[1].plan.method));
    let rule = Rule { better: metric.better, margin: margin.value, alpha, forced };
    let (points, left_out) = cell.points(runs, &metric.name, torn);
    let live: Vec<(usize, &Point)> =
        points.iter().enumerate().filter(|(_, point)| point.live()).collect();
    let kept: Vec<&Point> = live.iter().map(|(_, p)| *p).filter(|p| p.bar.is_none()).collect();
    let family: Vec<Option<Welch>> = kept.iter().map(|p| p.welch()).collect();
    let method =
        if family.len() > 1 { EstimateMethod::WelchLogHolm } else { EstimateMethod::WelchLog };
    let mut steps = rule.steps(&family).into_iter();
    let mut placed = Vec::new();
    for (place, point) in live.iter().copied() {
        let welch = point.welch();
        let (level, verdict, method) = if let Some(bar) = point.bar {
            (LEVEL, bar, EstimateMethod::WelchLog)
        } else {
            let steps = steps.next()?;
            (1.0 - steps[0].alpha, rule.verdict(welch.as_ref(), steps), method)
        };
        let ratio = match welch {
            Some(welch) => welch.ratio(level, method),
            None => alone(mean(&point.logs(1)) - mean(&point.logs(0))),
        };
        placed.push((place, result(point, ratio, verdict, metric.unit)?));
    }
    let all: Vec<&Point> = live.iter().map(|(_, p)| *p).collect();
    let (overall, verdict) = match (kept.is_empty(), all.is_empty()) {
        (_, true) => return None,
        (true, _) => {
            let unlike = all.iter().any(|p| p.bar == Some(Verdict::NotComparable));
            let bar = if unlike { Verdict::NotComparable } else { Verdict::TwoStates };
            (whole(&all, rule).0, bar)
        }
        (false, _) => whole(&kept, rule),
    };
    let regions = regions(&placed);
    let points = placed.into_iter().map(|(_, point)| point).collect();
    let bare = bare(cell, metric, margin, (overall, verdict));
    let apart = |point: &&&Point| !point.unlike.is_empty();
    let unlike = |point: &&Point| UnlikeIdentity {
        comparison: bare.id.clone(),
        at: point.at.clone(),
        keys: point.unlike.clone(),
    };
    let unlike = all.iter().filter(apart).map(unlike).collect();
    Some((Comparison { points, regions, left_out, ..bare }, unlike))
}

/// A ratio from a log that has no interval.
fn alone(log: f64) -> Estimate {
    Estimate::exact(Quantity::new(log.exp(), Unit::Ratio))
}

/// The points together: in each run the means over them of each block that has them all.
fn whole(points: &[&Point], rule: Rule) -> (Estimate, Verdict) {
    let blocks = |side: usize| -> Vec<f64> {
        let mut blocks: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for (block, log) in points.iter().flat_map(|p| &p.sides[side]) {
            blocks.entry(*block).or_default().push(*log);
        }
        blocks.into_values().filter(|logs| logs.len() == points.len()).map(|l| mean(&l)).collect()
    };
    let welch = Welch::of(&blocks(0), &blocks(1));
    let steps = rule.steps(&[welch]);
    let verdict = steps.first().map_or(Verdict::Undecided { more_blocks: None }, |steps| {
        rule.verdict(welch.as_ref(), *steps)
    });
    let ratio = match welch {
        Some(welch) => welch.ratio(1.0 - rule.alpha, EstimateMethod::WelchLog),
        None => {
            let apart = |p: &&Point| mean(&p.logs(1)) - mean(&p.logs(0));
            alone(mean(&points.iter().map(apart).collect::<Vec<_>>()))
        }
    };
    (ratio, verdict)
}

fn result(point: &Point, ratio: Estimate, verdict: Verdict, unit: Unit) -> Option<PointResult> {
    let values =
        |side: usize| point.sides[side].values().map(|log| log.exp()).collect::<Vec<f64>>();
    let (base, other) = (values(0), values(1));
    let runs = |values: &[f64]| values.iter().map(|v| Quantity::new(*v, unit)).collect();
    Some(PointResult {
        at: point.at.clone(),
        base: mean_or_single(&base, unit)?,
        other: mean_or_single(&other, unit)?,
        ratio,
        verdict,
        blocks: Vec::new(),
        base_runs: runs(&base),
        other_runs: runs(&other),
    })
}

/// A comparison without its points.
fn bare(
    cell: &Cell<'_>,
    metric: &Metric,
    margin: Quantity,
    (overall, verdict): (Estimate, Verdict),
) -> Comparison {
    let [a, b] = &cell.levels;
    let differs = a.iter().find(|(factor, level)| b.get(*factor) != Some(level));
    let stratum = a.iter().filter(|(factor, level)| b.get(*factor) == Some(level));
    let name = |run: &str, level: Option<&String>| match level {
        Some(level) => format!("{run} ({level})"),
        None => run.to_owned(),
    };
    let mut parts = vec!["unpaired".to_owned(), cell.load.name.clone()];
    parts.extend(a.values().cloned());
    parts.extend(cell.fixed.values().map(ToString::to_string));
    let slug = |c: char| if c.is_alphanumeric() { c } else { '-' };
    Comparison {
        id: parts.join("-").to_lowercase().chars().map(slug).collect(),
        factor: "run".into(),
        base: name(A, differs.map(|(_, level)| level)),
        other: name(B, differs.and_then(|(factor, _)| b.get(factor))),
        stratum: stratum.map(|(factor, level)| (factor.clone(), level.clone())).collect(),
        fixed: cell.fixed.clone(),
        load: cell.load.name.clone(),
        metric: metric.name.clone(),
        better: metric.better,
        margin,
        curve: cell.curve.map(Into::into),
        points: Vec::new(),
        overall,
        verdict,
        together: None,
        regions: Vec::new(),
        left_out: 0,
    }
}
