//! Knows when a build may pass: a rule over the comparisons of one run, each passed or failed with
//! evidence, or neither.
//!
//! Never: how a verdict is made; it reads those that there are.

use super::analysis::Analysis;
use super::finding::{Comparison, Cost, PointResult, Verdict, Withheld};
use super::measure::{CPU, DISPLACED, INDEX, PER_GIGABYTE, PER_OPERATION};
use super::objection::{figure, objection, objection_at};
use super::pairing::{Contest, contests};
use super::searched::observed;
use super::winner::name;
use crate::record::{Better, Completeness, Counted, LoadPlan, Metric, Plan, Run, Value};
use crate::stats::{Estimate, JUDGED_FROM, MoreBlocks};
use crate::unit::{Quantity, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What makes a gate fail. The limits of the margin m are 1 / (1 + m) and 1 + m; an interval is
/// that of the ratio, turned so that above 1 is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FailIf {
    /// Fails where the whole interval is below 1 and reaches below the margin; passes where it is
    /// above the margin's lower limit, or the two are equivalent by the plan's own test (whose 90 %
    /// interval lies within the margin where the one shown may stick out).
    Worse,
    /// Fails where the whole interval is below the margin's upper limit; passes where it is above 1
    /// and reaches above the margin.
    NotBetter,
    /// Fails where the interval leaves 1 out and reaches out of the margin; passes where the two
    /// are equivalent.
    NotEquivalent,
    /// Fails where the interval leaves 1 out, be it within the margin; passes where it holds 1
    /// and the two are equivalent.
    Different,
}

impl FailIf {
    /// As the command line has it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Worse => "worse",
            Self::NotBetter => "not-better",
            Self::NotEquivalent => "not-equivalent",
            Self::Different => "different",
        }
    }

    /// Whether a single point of a curve is evidence enough: a family of tests over the points
    /// keeps its error as small as that of the whole.
    const fn heeds_points(self) -> bool {
        !matches!(self, Self::NotBetter)
    }
}

/// How one comparison, or the whole gate, came out.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum GateOutcome {
    /// Shown to be as it must be.
    Passed,
    /// Neither shown.
    Inconclusive,
    /// No block has a valid trial of both levels.
    NotMeasured,
    /// Shown to be as it must not be.
    Failed,
}

/// What an outcome rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum GateReason {
    /// The ratio over all points.
    Overall,
    /// The ratio at one point of the curve.
    Point {
        /// Which.
        at: Value,
    },
    /// The interval is too wide.
    Wide {
        /// Further blocks that a decision takes, an 80 % interval, if that can be said.
        more_blocks: Option<MoreBlocks>,
    },
    /// A level is fast or slow for a whole trial; more blocks do not help.
    TwoStates,
    /// The two sides were not made by the same; more blocks do not help.
    NotComparable,
    /// A machine is emulated by software; more blocks do not help.
    Emulated,
    /// The generator has no headroom; more blocks do not help.
    NoHeadroom,
    /// The figure has no verdict here.
    Withheld {
        /// Why.
        withheld: Withheld,
    },
    /// It would have passed, but a level collapses now and then, so that the typical and the mean
    /// ratio answer differently.
    Uneven,
    /// It would have passed, but the run is partial or incomplete.
    Partial,
    /// It would have passed, but points of its curve have no pair of valid trials.
    Gaps {
        /// Which, in the order of the curve.
        at: Vec<Value>,
    },
    /// There is no pair of valid trials.
    NoPair,
}

/// One comparison before the gate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateCheck {
    /// Name of the comparison.
    pub comparison: String,
    /// Outcome.
    pub outcome: GateOutcome,
    /// What it rests on.
    pub why: GateReason,
    /// The ratio that decides, other / base; none where nothing was measured.
    pub effect: Option<Estimate>,
    /// The whole comparison; none where nothing was measured.
    pub found: Option<Comparison>,
}

/// A run before a gate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gate {
    /// The rule.
    pub fail_if: FailIf,
    /// The metric that is judged.
    pub metric: String,
    /// Differences below this are of no practical interest, a share.
    pub margin: Quantity,
    /// The worst outcome of all checks.
    pub outcome: GateOutcome,
    /// Why the run is partial, if it is.
    pub partial: Option<String>,
    /// Where nothing differs at all, at most this share of such gates fails: the sum over all tests
    /// (Bonferroni). None for a rule that then fails rightly.
    pub false_alarms: Option<Quantity>,
    /// Every comparison that the plan asks for, in its order.
    pub checks: Vec<GateCheck>,
}

/// Why a run cannot be put before a gate.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GateError {
    /// The run has no such metric.
    #[error("there is no metric '{name}' to judge by; this plan gives {known}")]
    NoMetric {
        /// As asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// The plan asks for no soaker.
    #[error(
        "the plan '{0}' measures no displaced work; write --displaced-work, or displaced_work = \
         true in its [method]"
    )]
    NoSoaker(String),
    /// The plan has no factor.
    #[error("the plan '{0}' compares nothing; add a table [factors.NAME] with two levels")]
    NothingCompared(String),
}

/// The metrics of a cost, which are made per trial.
const COSTS: [&str; 5] =
    [CPU.name, INDEX.name, PER_GIGABYTE.name, PER_OPERATION.name, DISPLACED.name];

/// Whether runs of a plan can be put before a gate on a metric, or on the primary one.
///
/// # Errors
/// A metric that is neither among those given nor made from a trial, displaced work in a plan that
/// does not measure it, or a plan without a factor.
pub fn gateable(plan: &Plan, metrics: &[Metric], metric: Option<&str>) -> Result<(), GateError> {
    if plan.factors.iter().all(|f| f.name != plan.method.compare) {
        return Err(GateError::NothingCompared(plan.title.clone()));
    }
    let known = || metrics.iter().map(|m| m.name.as_str()).chain(COSTS);
    match metric {
        Some(name) if known().all(|k| k != name) => Err(GateError::NoMetric {
            name: name.into(),
            known: known().collect::<Vec<_>>().join(", "),
        }),
        Some(name) if name == DISPLACED.name && !plan.method.displaced_work => {
            Err(GateError::NoSoaker(plan.title.clone()))
        }
        _ => Ok(()),
    }
}

/// The run as it is analysed for a gate on a metric: a sample metric becomes its primary one.
///
/// # Errors
/// As [`gateable`].
pub fn gated(run: &Run, metric: Option<&str>) -> Result<Run, GateError> {
    gateable(&run.plan, &run.metrics, metric)?;
    let mut run = run.clone();
    if let Some(name) = metric.filter(|name| !COSTS.contains(name)) {
        judge_by(&mut run, name);
    }
    Ok(run)
}

/// Makes a sample metric the one that decides at every load that gives it; others are not judged by
/// it, and stay out unless all lack it.
fn judge_by(run: &mut Run, metric: &str) {
    let giving: Vec<bool> = {
        // The result of a search is in no record of a step.
        let seen = observed(run);
        let gives = |load: &LoadPlan| {
            let mut of = seen.records.iter().filter(|r| r.trial.point.load == load.name);
            of.any(|record| seen.value(record, metric).is_some())
        };
        seen.plan.loads.iter().map(gives).collect()
    };
    if giving.contains(&true) {
        let mut giving = giving.into_iter();
        run.plan.loads.retain(|_| giving.next().unwrap_or(true));
    }
    run.plan.method.primary = metric.into();
    run.plan.loads.iter_mut().for_each(|load| load.primary = None);
}

/// Puts a run, as [`gated`] gives it, and its analysis before a gate.
///
/// A comparison without a pair is a check that was not measured. Of a partial or incomplete run
/// nothing passes, and no comparison that lacks a point of its curve: nobody knows how it would
/// have come out.
#[must_use]
pub fn gate(run: &Run, analysis: &Analysis, fail_if: FailIf, metric: Option<&str>) -> Gate {
    let metric = metric.unwrap_or(&run.plan.method.primary);
    let partial = match &run.completeness {
        Completeness::Complete => None,
        Completeness::Partial { why } => Some(why.clone()),
    };
    let lacks = partial.is_some() || !Counted::of(&run.records).is_enough();
    let mut checks = Vec::new();
    for contest in contests(run) {
        let found = found(analysis, &name(&contest), metric);
        checks.push(check(&contest, found, fail_if, lacks));
    }
    let worst = checks.iter().map(|c| c.outcome).max().unwrap_or(GateOutcome::NotMeasured);
    let all_unmeasured = checks.iter().all(|c| c.outcome == GateOutcome::NotMeasured);
    // One comparison that was not measured leaves the others: something can still be said.
    let outcome = match worst {
        GateOutcome::NotMeasured if !all_unmeasured => GateOutcome::Inconclusive,
        other => other,
    };
    Gate {
        fail_if,
        metric: metric.into(),
        margin: run.plan.method.margin,
        outcome,
        partial,
        false_alarms: false_alarms(fail_if, (run, metric), &checks),
        checks,
    }
}

/// A comparison, and the cost that it is a figure of, if it is one.
struct Found<'a> {
    comparison: &'a Comparison,
    cost: Option<&'a Cost>,
}

fn found<'a>(analysis: &'a Analysis, id: &str, metric: &str) -> Option<Found<'a>> {
    if !COSTS.contains(&metric) {
        let comparison = analysis.comparisons.iter().find(|c| c.id == id)?;
        return Some(Found { comparison, cost: None });
    }
    let cost = analysis.costs.iter().find(|c| c.comparison == id)?;
    Some(Found { comparison: figure(cost, metric)?, cost: Some(cost) })
}

impl Found<'_> {
    fn withheld(&self) -> Option<Withheld> {
        objection(self.cost?, &self.comparison.metric)
    }

    /// The points with a verdict of their own.
    fn points(&self) -> impl Iterator<Item = &PointResult> {
        let objects = |at: Option<&Value>| {
            self.cost.and_then(|cost| objection_at(cost, &self.comparison.metric, at))
        };
        self.comparison.points.iter().filter(move |p| objects(p.at.as_ref()).is_none())
    }

    /// Points of the plan that have no pair, and so are in no ratio.
    fn gaps(&self, contest: &Contest<'_>) -> Vec<Value> {
        let measured =
            |at: &Value| self.comparison.points.iter().any(|point| point.at.as_ref() == Some(at));
        let planned = contest.points.iter().filter_map(|point| point.at.as_ref());
        planned.filter(|at| !measured(at)).cloned().collect()
    }
}

fn check(
    contest: &Contest<'_>,
    found: Option<Found<'_>>,
    fail_if: FailIf,
    lacks: bool,
) -> GateCheck {
    let id = name(contest);
    let Some(found) = found else {
        let (outcome, why) = (GateOutcome::NotMeasured, GateReason::NoPair);
        return GateCheck { comparison: id, outcome, why, effect: None, found: None };
    };
    let comparison = found.comparison;
    let (outcome, why, effect) = judged(&found, fail_if);
    let gaps = found.gaps(contest);
    let (outcome, why) = match outcome {
        GateOutcome::Passed if comparison.uneven.is_some() => {
            (GateOutcome::Inconclusive, GateReason::Uneven)
        }
        GateOutcome::Passed if lacks => (GateOutcome::Inconclusive, GateReason::Partial),
        GateOutcome::Passed if !gaps.is_empty() => {
            (GateOutcome::Inconclusive, GateReason::Gaps { at: gaps })
        }
        other => (other, why),
    };
    let (effect, found) = (Some(effect.clone()), Some(comparison.clone()));
    GateCheck { comparison: id, outcome, why, effect, found }
}

fn judged<'a>(found: &'a Found<'_>, fail_if: FailIf) -> (GateOutcome, GateReason, &'a Estimate) {
    let comparison = found.comparison;
    let whole = &comparison.overall;
    if let Some(withheld) = found.withheld() {
        let why = GateReason::Withheld { withheld };
        return (GateOutcome::Inconclusive, why, whole);
    }
    let by = Limits { fail_if, margin: comparison.margin.value, better: comparison.better };
    let outcome = by.of(whole, comparison.verdict);
    if outcome != GateOutcome::Failed && fail_if.heeds_points() && comparison.curve.is_some() {
        let failed =
            |p: &&PointResult| by.of(&p.ratio, p.verdict) == GateOutcome::Failed && p.at.is_some();
        let worst = found
            .points()
            .filter(failed)
            .max_by(|a, b| a.ratio.distance().total_cmp(&b.ratio.distance()));
        if let Some((point, at)) = worst.and_then(|p| Some((p, p.at.clone()?))) {
            return (GateOutcome::Failed, GateReason::Point { at }, &point.ratio);
        }
    }
    let why = match (outcome, comparison.verdict) {
        (GateOutcome::Inconclusive, Verdict::TwoStates) => GateReason::TwoStates,
        (GateOutcome::Inconclusive, Verdict::NotComparable) => GateReason::NotComparable,
        (GateOutcome::Inconclusive, Verdict::Emulated) => GateReason::Emulated,
        (GateOutcome::Inconclusive, Verdict::NoHeadroom) => GateReason::NoHeadroom,
        (GateOutcome::Inconclusive, Verdict::Undecided { more_blocks }) => {
            GateReason::Wide { more_blocks }
        }
        (GateOutcome::Inconclusive, _) => GateReason::Wide { more_blocks: None },
        _ => GateReason::Overall,
    };
    (outcome, why, whole)
}

/// What an interval is held against.
struct Limits {
    fail_if: FailIf,
    margin: f64,
    better: Better,
}

impl Limits {
    /// [`FailIf`] says the rules.
    fn of(&self, ratio: &Estimate, verdict: Verdict) -> GateOutcome {
        // Too few blocks have no verdict, and two states or unlike sides have no ratio.
        if verdict.is_barred() || (ratio.n as usize) < JUDGED_FROM {
            return GateOutcome::Inconclusive;
        }
        let (low, high) = match self.better {
            Better::Higher => (ratio.low.value, ratio.high.value),
            Better::Lower => (ratio.high.value.recip(), ratio.low.value.recip()),
        };
        let (least, most) = ((1.0 + self.margin).recip(), 1.0 + self.margin);
        // A difference must hold in its family.
        let differs = matches!(verdict, Verdict::Better | Verdict::Worse);
        let equivalent = verdict == Verdict::Equivalent;
        let inside = equivalent || (differs && low > least && high < most);
        let (passes, fails) = match self.fail_if {
            FailIf::Worse => (low > least || inside, differs && high < 1.0),
            FailIf::NotBetter => (differs && low > 1.0 && high >= most, high < most || inside),
            FailIf::NotEquivalent => (inside, differs),
            FailIf::Different => (equivalent, differs),
        };
        match (passes, fails) {
            (true, _) => GateOutcome::Passed,
            (false, true) => GateOutcome::Failed,
            (false, false) => GateOutcome::Inconclusive,
        }
    }
}

/// The chance of a false alarm over all checks: the comparisons are one family at the error of the
/// plan, points of curves and costs another at half of it ([`super::together`]), one side or both.
fn false_alarms(
    fail_if: FailIf,
    (run, metric): (&Run, &str),
    checks: &[GateCheck],
) -> Option<Quantity> {
    let sides = match fail_if {
        FailIf::Worse => 0.5,
        FailIf::NotEquivalent | FailIf::Different => 1.0,
        FailIf::NotBetter => return None,
    };
    let curve = |c: &GateCheck| c.found.as_ref().is_some_and(|f| f.curve.is_some());
    let families = match (COSTS.contains(&metric), checks.iter().any(curve)) {
        (true, _) => 0.5,
        (false, true) => 1.5,
        (false, false) => 1.0,
    };
    Some(Quantity::new(families * sides * run.plan.method.alpha(), Unit::Share))
}
