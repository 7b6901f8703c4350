//! Knows how the search of a plan becomes a rule, the records of its trials a history, and its end
//! an observation.
//!
//! Never: the order of trials, nor how observations compare.

use super::mlr::{MlrBounds, MlrGoal, MlrNext, MlrRule, MlrTrial, mlr, mlr_bounds};
use super::range::{Range, Within};
use super::shares::{draw, shared};
use super::{
    Bisect, FULL, Goal, Next, Rung, Step, bisect, goal, power_peak, ramp, states, states_of,
};
use crate::record::{
    Better, Direction, LoadPlan, Metric, MetricRole, ParamRole, Plan, SearchGoal, SearchKind,
    SearchPlan, TrialRecord, Value,
};
use crate::unit::Unit;

/// A figure within this share of its goal is taken three times.
const DOUBT: f64 = 0.2;

/// A load of a record may have been rounded by this share.
const ROUNDED: f64 = 1e-9;

/// What a search that has ended gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The load that was found; none where none in its range is good enough.
    pub load: Option<f64>,
    /// Its results, in the order of [`names`]; 0 where nothing was found.
    pub results: Vec<f64>,
}

/// The loads of a ramp, doubling from the least to the largest.
#[must_use]
pub fn ladder([least, most]: [f64; 2]) -> Vec<f64> {
    let doubled = std::iter::successors(Some(least), |load| Some(2.0 * load));
    doubled.take_while(|load| *load < most).chain([most]).collect()
}

/// What follows from the steps of a search so far, in their order; `chance` draws the order of
/// states, and of shares of what was found.
#[must_use]
pub fn next(search: &SearchPlan, steps: &[Step], chance: u64) -> Next {
    if search.kind == SearchKind::States {
        return states(&states_of(search), steps, chance);
    }
    let (sought, shared) = apart(steps);
    match seek(search, &sought) {
        Next::Enough(Some(found)) => {
            draw(search, &shared, found, chance).unwrap_or(Next::Enough(Some(found)))
        }
        other => other,
    }
}

/// Steps that sought a load, and those at shares of what was found.
fn apart(steps: &[Step]) -> (Vec<Step>, Vec<Step>) {
    steps.iter().partition(|step| step.share.is_none())
}

/// Most steps that seek.
fn most(search: &SearchPlan) -> usize {
    (search.steps as usize).saturating_sub(search.shares.len())
}

/// The load that is sought next, by the steps that sought it so far.
fn seek(search: &SearchPlan, steps: &[Step]) -> Next {
    if search.kind == SearchKind::Mlr {
        return several(search, steps);
    }
    let range = Range {
        within: within(search),
        resolution: search.limit.as_ref().map_or(0.0, |limit| limit.resolution.value),
        whole: matches!(search.from, Value::Count(_)),
        steps: most(search),
    };
    match (search.kind, good(search)) {
        (SearchKind::Goal, Some(within)) => goal(steps, &Goal { range, within, doubt: DOUBT }),
        (SearchKind::Bisect, Some(within)) => bisect(steps, &Bisect { range, within }),
        _ => ramp(&rungs(steps), &ladder(range.within)),
    }
}

/// What a trial of a load gave as a step of its search; none of a load without one. A figure that
/// the trial lacks is no number, which is good enough for nothing.
#[must_use]
pub fn step(load: &LoadPlan, record: &TrialRecord) -> Option<Step> {
    let search = load.search.as_ref()?;
    let params = &record.trial.point.params;
    let has_states = search.kind == SearchKind::States;
    let at = params.get(&search.over)?.number().or(has_states.then_some(FULL))?;
    // At a small load few values make the quantile; it is the figure of the step all the same.
    let figure = match &search.quantile {
        Some(of) => record.outcome.distribution(of).and_then(|all| all.quantile(of.at)),
        None => record.outcome.metric(&search.metric).map(|figure| figure.value),
    };
    let figure = figure.unwrap_or(f64::NAN);
    let of_load = search.limit.as_ref().is_some_and(|limit| limit.of_load);
    let direction = load.param(ParamRole::Direction, params).and_then(Value::word);
    let ways = match direction.and_then(Direction::of) {
        Some(Direction::Duplex) => 2.0,
        _ => 1.0,
    };
    let figure = match (of_load, has_states) {
        (true, _) => figure / (at * ways),
        (_, true) => figure / ways,
        _ => figure,
    };
    let told = record.trial.search;
    let window_s = told.and_then(|step| step.window).map_or(0.0, |w| w.value);
    let share = told.and_then(|step| step.share).map(|share| share.value);
    Some(Step { load: at, figure, window_s, share })
}

/// What a search found by these steps; none while it goes on.
#[must_use]
pub fn found(search: &SearchPlan, steps: &[Step]) -> Option<Found> {
    let Next::Enough(end) = next(search, steps, 0) else { return None };
    let steps = &apart(steps).0;
    let rungs = rungs(steps);
    let load = if search.kind == SearchKind::Knee { power_peak(&rungs).or(end) } else { end };
    let at = load.unwrap_or(0.0);
    let peak = rungs.iter().find(|rung| Some(rung.concurrency) == load);
    let results = match search.kind {
        SearchKind::States if search.shares.is_empty() => Vec::new(),
        SearchKind::States => steps.first().map(|full| full.figure).into_iter().collect(),
        SearchKind::Mlr => {
            bounds(search, steps).iter().map(|goal| goal.lower.unwrap_or(0.0)).collect()
        }
        SearchKind::Ramp => vec![peak.map_or(0.0, |rung| rung.rate), at],
        _ => vec![at],
    };
    Some(Found { load, results })
}

/// The metrics that the searches of a plan give, of which `known` are those that they search by.
#[must_use]
pub fn metrics(plan: &Plan, known: &[Metric]) -> Vec<Metric> {
    let of = |load: &LoadPlan| -> Vec<Metric> {
        let Some(search) = &load.search else { return Vec::new() };
        let own = |metric: &&Metric| metric.workload.as_ref().is_none_or(|w| *w == load.workload);
        let at_shares = shared(load, known.iter().filter(own));
        let by = known.iter().filter(|metric| metric.name == search.metric);
        let Some(by) = by.clone().find(own).or_else(|| by.clone().next()) else {
            return at_shares;
        };
        let unit = search.from.quantity().map_or(Unit::Count, |quantity| quantity.unit);
        let role = match load.roles.get(&ParamRole::Offered) {
            Some(offered) if *offered == search.over => MetricRole::Rate,
            _ => MetricRole::Count,
        };
        let names = names(load).into_iter().zip(titles(search, &by.title));
        let metric = |(name, title)| Metric {
            name,
            title,
            role,
            unit,
            better: Better::Higher,
            quantile: None,
            workload: Some(load.workload.clone()),
        };
        let mut all: Vec<Metric> = names.map(metric).collect();
        if matches!(search.kind, SearchKind::Ramp | SearchKind::States) && !all.is_empty() {
            (all[0].role, all[0].unit) = (by.role, by.unit);
        }
        all.extend(at_shares);
        all
    };
    plan.loads.iter().flat_map(of).collect()
}

/// Names of the metrics that the search of a load gives, the first of which decides where the plan
/// names none, but for one of states; none of a load without a search.
#[must_use]
pub fn names(load: &LoadPlan) -> Vec<String> {
    if let Some(SearchPlan { kind: SearchKind::Mlr, goals, .. }) = &load.search {
        return (1..=goals.len()).map(|at| format!("{}_goal{at}", load.name)).collect();
    }
    let has_shares = load.search.as_ref().is_some_and(|search| !search.shares.is_empty());
    let endings: &[&str] = match load.search.as_ref().map(|search| search.kind) {
        Some(SearchKind::States) if has_shares => &["full"],
        None | Some(SearchKind::States | SearchKind::Mlr) => &[],
        Some(SearchKind::Goal | SearchKind::Bisect) => &["largest"],
        Some(SearchKind::Ramp) => &["peak", "peak_load"],
        Some(SearchKind::Knee) => &["knee"],
    };
    endings.iter().map(|ending| format!("{}_{ending}", load.name)).collect()
}

/// What headings call them.
fn titles(search: &SearchPlan, by: &str) -> Vec<String> {
    let SearchPlan { over, kind, limit, .. } = search;
    let over = over.replace('_', " ");
    match (kind, limit) {
        (SearchKind::Mlr, _) => {
            let title = |goal: &SearchGoal| {
                format!("largest {over} with {by} <= {}, exceed ratio {}", goal.loss, goal.exceed)
            };
            search.goals.iter().map(title).collect()
        }
        (SearchKind::States, _) => vec![format!("{by} at full pace")],
        (SearchKind::Ramp, _) => {
            vec![format!("peak of {by} over {over}"), format!("{over} at the peak of {by}")]
        }
        (_, Some(limit)) => {
            vec![format!("largest {over} with {by} {limit}")]
        }
        _ => vec![format!("{over} at the knee of {by}")],
    }
}

/// The rule of a multiple loss ratio search, and its trials.
fn of_goals(search: &SearchPlan, steps: &[Step]) -> (MlrRule, Vec<MlrTrial>) {
    let goal = |goal: &SearchGoal| MlrGoal {
        loss: goal.loss.value,
        exceed: goal.exceed.value,
        initial_s: goal.initial.value,
        final_s: goal.full.value,
        sum_s: goal.sum.value,
        width: goal.width.value,
        preceding: goal.preceding,
    };
    let trial =
        |step: &Step| MlrTrial { load: step.load, duration_s: step.window_s, loss: step.figure };
    let goals = search.goals.iter().map(goal).collect();
    (MlrRule { within: within(search), goals }, steps.iter().map(trial).collect())
}

/// The bounds of each goal by these steps.
fn bounds(search: &SearchPlan, steps: &[Step]) -> Vec<MlrBounds> {
    let (rule, trials) = of_goals(search, steps);
    mlr_bounds(&trials, &rule)
}

/// What follows in a search with several goals. The load that was found is the lower bound of the
/// first one, as its trials had it.
fn several(search: &SearchPlan, steps: &[Step]) -> Next {
    let (rule, trials) = of_goals(search, steps);
    let bounds = match mlr(&trials, &rule) {
        MlrNext::Try { load, duration_s } if steps.len() < most(search) => {
            return Next::TryFor(load, duration_s);
        }
        MlrNext::Try { .. } => mlr_bounds(&trials, &rule),
        MlrNext::Enough(bounds) => bounds,
    };
    let lower = bounds.first().and_then(|goal| goal.lower);
    let same = |step: &&Step| lower.is_some_and(|lower| (step.load / lower - 1.0).abs() < ROUNDED);
    Next::Enough(steps.iter().find(same).map(|step| step.load))
}

fn within(search: &SearchPlan) -> [f64; 2] {
    [&search.from, &search.to].map(|bound| bound.number().unwrap_or(f64::NAN))
}

fn good(search: &SearchPlan) -> Option<Within> {
    let limit = search.limit.as_ref()?;
    Some(Within { limit: limit.at.value, at_least: limit.better == Better::Higher })
}

/// A step of a closed loop as a rung: by Little's law the time of one piece of work is the number
/// at once over the rate. A rate that is no number is 0.
fn rungs(steps: &[Step]) -> Vec<Rung> {
    let rung = |step: &Step| {
        let (concurrency, rate) = (step.load, step.figure.max(0.0));
        Rung { concurrency, rate, time_s: concurrency / rate.max(f64::MIN_POSITIVE) }
    };
    steps.iter().map(rung).collect()
}
