//! Knows how runs of different sessions are compared, session means of one side against those of
//! the other, where nothing pairs them.
//!
//! Never: a verdict where the runs are not comparable, or from few sessions.

use super::analyse::analyse;
use super::analysis::Analysis;
use super::claims::claims_of_two;
use super::comparability::{Comparability, Declared, compare_environments, declared};
use super::finding::{Caveat, ClaimCheck, Comparison, PointResult, Verdict};
use super::headroom::is_short;
use super::identity::{IdentityKey, UnlikeIdentity, changed, differing, identity};
use super::merged::{centred, merged};
use super::pairing::fixed_settings;
use super::region::regions;
use super::searched::all_observed;
use super::sessions::{SessionSpread, Sessions, Sides};
use crate::plan::expand;
use crate::record::{
    Better, FactorPlan, LoadPlan, Metric, Plan, Run, Settings, TrialKind, TrialRecord, Value,
};
use crate::stats::{
    Between, Estimate, EstimateMethod, HolmStep, LEVEL, Session, holm, mean, mean_or_single,
};
use crate::unit::{Quantity, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
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
    /// The sessions of both sides, and how far sessions differ among themselves.
    #[serde(default)]
    pub sessions: Sessions,
    /// Whether figures were made although the runs are not comparable. Then there is no verdict:
    /// all of them are undecided.
    pub forced: bool,
    /// A comparison a treatment and load; none where the runs are not comparable, unless forced.
    pub comparisons: Vec<Comparison>,
    /// Points that the two runs did not make by the same: they have no verdict.
    #[serde(default)]
    pub unlike: Vec<UnlikeIdentity>,
    /// Reasons to doubt the runs of the first side, and so all that is said of it here.
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
    /// A side without a run.
    #[error("a side of the comparison has no run; name one or more, with commas between them")]
    NoRun,
    /// A run that is no session of the side on which it was named.
    #[error(
        "run {run} is no further session of {of}: they differ in {keys}; sessions of one side have \
         one plan and one environment"
    )]
    NotOneSetUp {
        /// The run.
        run: String,
        /// The first of its side.
        of: String,
        /// In what they differ.
        keys: String,
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

/// Compares two runs, a session each: the first is the baseline.
///
/// # Errors
/// As [`compare_sessions`].
pub fn compare_runs(a: &Run, b: &Run, wanted: Wanted<'_>) -> Result<Unpaired, CompareError> {
    compare_sessions(Sides { a: &[a], b: &[b], others: &[] }, wanted)
}

/// Compares the sessions of two sides: the first is the baseline.
///
/// The unit of replication is the session. Its value at a load point and treatment that both sides
/// have is the mean log of its blocks (of a run with boots of its boots); values are compared by
/// [`Between`], over a curve with Holm's step-down, the whole of it by block means. Below
/// [`crate::stats::SESSIONS`] sessions a side all is undecided. A level that only one side has
/// stays without a partner, unless they differ in exactly one level of one factor: then these two
/// stand against each other.
///
/// # Errors
/// A metric that one of the runs lacks, a side without a run, runs of one side that are no sessions
/// of one set-up.
pub fn compare_sessions(sides: Sides<'_>, wanted: Wanted<'_>) -> Result<Unpaired, CompareError> {
    let runs = [sides.a, sides.b, sides.others].map(all_observed);
    let [a, b, others]: [Vec<&Run>; 3] =
        runs.each_ref().map(|runs| runs.iter().map(Cow::as_ref).collect());
    compare_observed(Sides { a: &a, b: &b, others: &others }, wanted)
}

fn compare_observed(sides: Sides<'_>, wanted: Wanted<'_>) -> Result<Unpaired, CompareError> {
    let ([a, ..], [b, ..]) = (sides.a, sides.b) else { return Err(CompareError::NoRun) };
    let name = wanted.metric.unwrap_or(&a.plan.method.primary);
    let shared = a.plan.loads.iter().filter(|load| shares(b, load));
    let deciding =
        shared.map(|load| a.plan.primary(&load.name)).filter(|_| wanted.metric.is_none());
    for name in wanted.metric.into_iter().chain(deciding) {
        metric(a, name)?;
        metric(b, name)?;
    }
    for (first, more) in [(a, sides.a), (b, sides.b), (a, sides.others)] {
        of_one_set_up(first, more)?;
    }
    let all: Declared = declared(&a.plan, &b.plan);
    let comparability = compare_environments(a, b, &all);
    let forced = wanted.force && !comparability.comparable();
    let analyses: [Vec<Analysis>; 2] =
        [sides.a, sides.b].map(|runs| runs.iter().copied().map(analyse).collect());
    let (comparisons, spreads, unlike) = match comparability.comparable() || forced {
        true => comparisons(sides, (wanted.metric, forced), &analyses),
        false => Default::default(),
    };
    let cells = analyses.each_ref().map(|all| all.iter().map(|f| f.cells.as_slice()).collect());
    let [in_a, in_b]: &[Vec<_>; 2] = &cells;
    // No sign may rest on runs that are not comparable.
    let claims = match comparability.comparable() {
        true => claims_of_two([(a, in_a), (b, in_b)], &comparisons),
        false => Vec::new(),
    };
    let [doubts_a, doubts_b] = analyses.map(doubts);
    Ok(Unpaired {
        a: a.id.clone(),
        b: b.id.clone(),
        metric: name.into(),
        comparability,
        sessions: Sessions::of(sides, spreads),
        forced,
        comparisons,
        unlike,
        doubts_a,
        doubts_b,
        claims,
    })
}

/// The doubts of all runs of a side, each once.
fn doubts(side: Vec<Analysis>) -> Vec<Caveat> {
    let mut all = Vec::new();
    for doubt in side.into_iter().flat_map(|found| found.caveats) {
        if !all.contains(&doubt) {
            all.push(doubt);
        }
    }
    all
}

fn of_one_set_up(first: &Run, more: &[&Run]) -> Result<(), CompareError> {
    for run in more.iter().filter(|run| !std::ptr::eq(**run, first)) {
        let found = compare_environments(first, run, &declared(&first.plan, &run.plan));
        let apart = found.confounders.into_iter().chain(found.factors);
        let keys: Vec<String> = apart.map(|difference| difference.key).collect();
        if !keys.is_empty() {
            let (run, of) = (run.id.clone(), first.id.clone());
            return Err(CompareError::NotOneSetUp { run, of, keys: keys.join(", ") });
        }
    }
    Ok(())
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

/// The logs of a metric by block or boot in every session at one point, as the runs are in order.
struct Point {
    at: Option<Value>,
    sides: [Vec<BTreeMap<u32, f64>>; 2],
    /// Those of sessions that are on neither side.
    others: Vec<BTreeMap<u32, f64>>,
    /// What stands in place of a verdict: a level has two states here, or the runs were not made by
    /// the same.
    bar: Option<Verdict>,
    /// In what they were not made by the same.
    unlike: Vec<IdentityKey>,
    /// Both sides by the quantile that the metric is, of all their values.
    merged: [Option<f64>; 2],
}

type Found = (Vec<Comparison>, Vec<SessionSpread>, Vec<UnlikeIdentity>);

fn comparisons(
    sides: Sides<'_>,
    (wanted, forced): (Option<&str>, bool),
    analyses: &[Vec<Analysis>; 2],
) -> Found {
    let torn = analyses.each_ref().map(|side| side.iter().flat_map(torn_cells).collect());
    let ([a, ..], [b, ..]) = (sides.a, sides.b) else { return Found::default() };
    let (runs, plan) = ([*a, *b], &a.plan);
    let swapped = swapped(runs.map(|run| &run.plan));
    let (_, treatments) = expand(plan);
    let (mut found, mut spreads, mut unlike) = Found::default();
    for load in &plan.loads {
        let decides = wanted.unwrap_or_else(|| plan.primary(&load.name));
        let Some(metric) = a.metric(&load.name, decides) else { continue };
        let curve = plan.curve(load);
        for fixed in fixed_settings(load, curve) {
            for (treatment, _) in &treatments {
                let levels = treatment.levels.clone();
                let partner =
                    swapped.as_ref().map_or_else(|| levels.clone(), |s| s.partner(&levels));
                let levels = [levels, partner];
                let changed = purpose(runs, &levels);
                let cell = Cell { load, fixed: fixed.clone(), curve, levels, changed };
                if let Some((comparison, spread, apart)) =
                    judge(&cell, sides, (metric, forced), &torn)
                {
                    found.push(comparison);
                    spreads.push(spread);
                    unlike.extend(apart);
                }
            }
        }
    }
    (found, spreads, unlike)
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
    fn unlike(&self, sides: Sides<'_>, at: Option<&Value>) -> Vec<IdentityKey> {
        let good = |side: usize| self.good(sides, side, at);
        let [base, other] = [0, 1].map(|side| identity(self.load, good(side)));
        // Where only one side was here there is nothing to differ.
        let both = [0, 1].map(|side| good(side).next().is_some());
        if both == [true, true] { differing(&base, &other, &self.changed) } else { Vec::new() }
    }

    /// The valid trials of a side at a place, of all its sessions.
    fn good<'r>(
        &self,
        sides: Sides<'r>,
        side: usize,
        at: Option<&Value>,
    ) -> impl Iterator<Item = &'r TrialRecord> {
        let runs = [sides.a, sides.b][side].iter().flat_map(|run| &run.records);
        runs.filter(move |r| r.outcome.fault.is_none() && self.holds(r, side, at))
    }

    /// The block values of a session at a place, and its trials in none of them. Of a trial that
    /// was run again the first good visit counts.
    fn session(
        &self,
        (run, side): (&Run, usize),
        metric: &str,
        at: Option<&Value>,
    ) -> (BTreeMap<u32, f64>, usize) {
        let mut boots: BTreeMap<u32, BTreeMap<u32, f64>> = BTreeMap::new();
        let mut seen = 0;
        for record in run.records.iter().filter(|r| self.holds(r, side, at)) {
            seen += 1;
            if let Some(log) = log(run, record, metric) {
                let trial = &record.trial;
                let number = if trial.boot > 0 { trial.boot } else { trial.block };
                boots.entry(number).or_default().entry(trial.block).or_insert(log);
            }
        }
        let used: usize = boots.values().map(BTreeMap::len).sum();
        (boots.into_iter().map(centre).collect(), seen - used)
    }

    /// Every place of the plan with the block values of all sessions, and the trials in none of
    /// them.
    fn points(&self, sides: Sides<'_>, metric: &str, torn: &[Torn; 2]) -> (Vec<Point>, u32) {
        let swept = self.load.over.iter().find(|(name, _)| Some(name.as_str()) == self.curve);
        let places =
            swept.map_or_else(|| vec![None], |(_, v)| v.iter().cloned().map(Some).collect());
        let (mut points, mut left_out) = (Vec::new(), 0);
        for at in places {
            let at_place = |runs: &[&Run], side| -> (Vec<BTreeMap<u32, f64>>, Vec<usize>) {
                runs.iter().map(|run| self.session((run, side), metric, at.as_ref())).unzip()
            };
            let ((a, lost_a), (b, lost_b)) = (at_place(sides.a, 0), at_place(sides.b, 1));
            left_out += lost_a.into_iter().chain(lost_b).sum::<usize>();
            let others = at_place(sides.others, 0).0;
            let of = sides.a.first().and_then(|run| run.metric(&self.load.name, metric));
            let whole = [0, 1].map(|side| merged(of?, self.good(sides, side, at.as_ref())));
            // A side that too few values carry has no figure here.
            let few = whole.iter().any(|side| matches!(side, Some(Err(_))));
            let (a, b) = if few { (Vec::new(), Vec::new()) } else { (a, b) };
            let merged = whole.map(|side| side?.ok());
            let torn = self.is_torn(torn, at.as_ref()).then_some(Verdict::TwoStates);
            let short = |side: usize| {
                let of = [sides.a, sides.b][side].first();
                of.is_some_and(|run| is_short(run, self.load, self.good(sides, side, at.as_ref())))
            };
            let bar = if short(0) || short(1) { Some(Verdict::NoHeadroom) } else { torn };
            let unlike = self.unlike(sides, at.as_ref());
            let bar = if unlike.is_empty() { bar } else { Some(Verdict::NotComparable) };
            let emulated = sides.a.iter().chain(sides.b).any(|run| run.is_emulated());
            let bar = if emulated { Some(Verdict::Emulated) } else { bar };
            points.push(Point { at, sides: [a, b], others, bar, unlike, merged });
        }
        (points, u32::try_from(left_out).unwrap_or(u32::MAX))
    }
}

/// The mean of the logs of a boot, or the one of a block.
fn centre((number, logs): (u32, BTreeMap<u32, f64>)) -> (u32, f64) {
    (number, mean(&logs.into_values().collect::<Vec<f64>>()))
}

/// ln of the figure of a trial; none from a fault, or from a figure that has no logarithm.
fn log(run: &Run, record: &TrialRecord, metric: &str) -> Option<f64> {
    if record.outcome.fault.is_some() {
        return None;
    }
    let value = run.value(record, metric)?.value;
    (value > 0.0 && value.is_finite()).then(|| value.ln())
}

/// The sessions that have a value.
fn sessions(side: &[BTreeMap<u32, f64>]) -> Vec<Session> {
    let logs = |session: &BTreeMap<u32, f64>| session.values().copied().collect::<Vec<f64>>();
    side.iter().filter_map(|session| Session::of(&logs(session))).collect()
}

impl Point {
    fn between(&self) -> Option<Between> {
        let [a, b] = self.sides.each_ref().map(|side| sessions(side));
        Between::of([&a, &b], &sessions(&self.others))
    }

    /// The logs of a side that are shown: of its sessions, or of the blocks of the only one.
    fn shown(&self, side: usize) -> Vec<f64> {
        if self.sides.iter().any(|side| side.len() > 1) {
            sessions(&self.sides[side]).iter().map(|session| session.mean).collect()
        } else {
            self.sides[side].iter().flat_map(BTreeMap::values).copied().collect()
        }
    }

    fn live(&self) -> bool {
        self.sides.iter().all(|side| side.iter().any(|session| !session.is_empty()))
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
    fn verdict(self, between: Option<&Between>, [differs, equivalent]: [HolmStep; 2]) -> Verdict {
        let undecided = Verdict::Undecided { more_blocks: None };
        let enough = between.filter(|found| !self.forced && found.is_enough());
        let Some(between) = enough else { return undecided };
        let ahead = (between.test.difference > 0.0) == (self.better == Better::Higher);
        match (differs.rejected, equivalent.rejected) {
            (true, _) if ahead => Verdict::Better,
            (true, _) => Verdict::Worse,
            (false, true) => Verdict::Equivalent,
            (false, false) => undecided,
        }
    }

    /// Both families of tests over a curve: beyond the margin, and within it. What cannot be tested
    /// stays in them with p = 1.
    fn steps(self, family: &[Option<Between>]) -> Vec<[HolmStep; 2]> {
        let of = |p: fn(&Between, f64) -> f64| {
            let all = family.iter().map(|w| w.as_ref().map_or(1.0, |w| p(w, self.margin)));
            holm(&all.collect::<Vec<f64>>(), self.alpha)
        };
        let differ = of(|between, margin| between.test.beyond_p(margin));
        let equal = of(|between, margin| between.test.equivalence_p(margin));
        differ.into_iter().zip(equal).map(|(d, e)| [d, e]).collect()
    }
}

/// The comparison of a cell; none where not one point has a figure on both sides.
fn judge(
    cell: &Cell<'_>,
    sides: Sides<'_>,
    (metric, forced): (&Metric, bool),
    torn: &[Torn; 2],
) -> Option<(Comparison, SessionSpread, Vec<UnlikeIdentity>)> {
    let [a, b] = [sides.a.first()?, sides.b.first()?];
    let margin = a.plan.method.margin;
    let alpha = a.plan.method.alpha().min(b.plan.method.alpha());
    let rule = Rule { better: metric.better, margin: margin.value, alpha, forced };
    let (points, left_out) = cell.points(sides, &metric.name, torn);
    let live: Vec<(usize, &Point)> =
        points.iter().enumerate().filter(|(_, point)| point.live()).collect();
    let kept: Vec<&Point> = live.iter().map(|(_, p)| *p).filter(|p| p.bar.is_none()).collect();
    let placed = placed(&live, rule, metric.unit)?;
    let all: Vec<&Point> = live.iter().map(|(_, p)| *p).collect();
    let (overall, verdict, between) = match (kept.is_empty(), all.is_empty()) {
        (_, true) => return None,
        (true, _) => {
            let bar = Verdict::of_barred(all.iter().map(|p| p.bar));
            let (overall, _, between) = whole(&all, rule);
            (overall, bar, between)
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
    let spread = SessionSpread::of(&bare.id, between, (margin.value, alpha));
    Some((Comparison { points, regions, left_out, ..bare }, spread, unlike))
}

/// The result at every point that both sides have, with its place on the curve.
fn placed(live: &[(usize, &Point)], rule: Rule, unit: Unit) -> Option<Vec<(usize, PointResult)>> {
    let kept = live.iter().filter(|(_, point)| point.bar.is_none());
    let family: Vec<Option<Between>> = kept.map(|(_, point)| point.between()).collect();
    let method =
        if family.len() > 1 { EstimateMethod::WelchLogHolm } else { EstimateMethod::WelchLog };
    let mut steps = rule.steps(&family).into_iter();
    let mut placed = Vec::new();
    for (place, point) in live.iter().copied() {
        let between = point.between()?;
        let (level, verdict, method) = if let Some(bar) = point.bar {
            (LEVEL, bar, EstimateMethod::WelchLog)
        } else {
            let steps = steps.next()?;
            (1.0 - steps[0].alpha, rule.verdict(Some(&between), steps), method)
        };
        placed.push((place, result(point, between.test.ratio(level, method), verdict, unit)?));
    }
    Some(placed)
}

/// A ratio from a log that has no interval.
fn alone(log: f64) -> Estimate {
    Estimate::exact(Quantity::new(log.exp(), Unit::Ratio))
}

/// The points together: in each session the means over them of each block that has them all.
fn whole(points: &[&Point], rule: Rule) -> (Estimate, Verdict, Option<Between>) {
    let session = |of: &dyn Fn(&Point) -> Option<&BTreeMap<u32, f64>>| -> Option<Session> {
        let mut blocks: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for (block, log) in points.iter().filter_map(|p| of(p)).flatten() {
            blocks.entry(*block).or_default().push(*log);
        }
        let whole = blocks.into_values().filter(|logs| logs.len() == points.len());
        Session::of(&whole.map(|logs| mean(&logs)).collect::<Vec<_>>())
    };
    let number = |of: fn(&Point) -> usize| points.iter().map(|p| of(p)).max().unwrap_or_default();
    let side = |side: usize, many: usize| -> Vec<Session> {
        (0..many).filter_map(|at| session(&|p: &Point| p.sides[side].get(at))).collect()
    };
    let a = side(0, number(|p| p.sides[0].len()));
    let b = side(1, number(|p| p.sides[1].len()));
    let others = 0..number(|p| p.others.len());
    let others: Vec<Session> =
        others.filter_map(|at| session(&|p: &Point| p.others.get(at))).collect();
    let between = Between::of([&a, &b], &others);
    let steps = rule.steps(&[between]);
    let verdict = steps.first().map_or(Verdict::Undecided { more_blocks: None }, |steps| {
        rule.verdict(between.as_ref(), *steps)
    });
    let ratio = match between {
        Some(found) => found.test.ratio(1.0 - rule.alpha, EstimateMethod::WelchLog),
        None => {
            let of = |p: &Point, side: usize| mean(&p.shown(side));
            alone(mean(&points.iter().map(|p| of(p, 1) - of(p, 0)).collect::<Vec<_>>()))
        }
    };
    (ratio, verdict, between)
}

fn result(point: &Point, ratio: Estimate, verdict: Verdict, unit: Unit) -> Option<PointResult> {
    let values = |side: usize| point.shown(side).into_iter().map(f64::exp).collect::<Vec<f64>>();
    let (base, other) = (values(0), values(1));
    let runs = |values: &[f64]| values.iter().map(|v| Quantity::new(*v, unit)).collect();
    let of = |values: &[f64], side: usize| {
        let estimate = mean_or_single(values, unit)?;
        Some(match point.merged[side] {
            Some(whole) => centred(estimate, whole),
            None => estimate,
        })
    };
    Some(PointResult {
        at: point.at.clone(),
        base: of(&base, 0)?,
        other: of(&other, 1)?,
        ratio,
        verdict,
        together: None,
        within: verdict == Verdict::Equivalent,
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
        aa: false,
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
        within: verdict == Verdict::Equivalent,
        uneven: None,
        regions: Vec::new(),
        left_out: 0,
    }
}
