//! Knows which part of a path held a load down, by taking parts out one at a time.
//!
//! A rung of a ladder is the one before it without a part. The log ratio of a rung to the one
//! before it is taken within each block, and all steps of a ladder are judged together: differences
//! as [`stepped_down`] has them, equality within the margin by Holm. A rung without a valid trial
//! is left out; the next one is then compared with the last that has one. Never: what a part is.

use super::bottleneck::{MeasuredLimit, held};
use super::ceiling::use_of;
use super::compared::{Asked, Compared, by_condition};
use super::finding::{LimitKind, Verdict};
use super::identity::{changed, differing, identity};
use super::measure::{by_host, is_client, is_server};
use crate::record::{Better, Level, LoadPlan, Run, Settings, TrialRecord, Value};
use crate::stats::{
    Estimate, JUDGED_FROM, decide, equivalence_p, holm_adjusted, log_ratio, mean_or_single,
    mean_or_single_at, stepped_down,
};
use crate::unit::{Quantity, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What bounds the payload of a line.
const LINE: [LimitKind; 2] = [LimitKind::SetRate, LimitKind::Goodput];

/// What a step of a ladder did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// It is the first rung: nothing is out yet.
    First,
    /// The figure is surely better than before: the part held the load down.
    Gain,
    /// The figure is surely worse than before.
    Loss,
    /// The figure is the same within the margin: the part did not hold the load down.
    Same,
    /// Not shown to differ, nor to be the same.
    Open,
}

/// What a rung changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// The setting.
    pub key: String,
    /// What it was.
    pub from: Value,
    /// What it is from here on.
    pub to: Value,
}

/// A rung: a path with some parts out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rung {
    /// Name of the level.
    pub level: String,
    /// What differs from the rung before; none at the first. Of several nobody can say which of
    /// them counts.
    pub changes: Vec<Change>,
    /// Mean of the metric over the blocks.
    pub figure: Estimate,
    /// Use of the line, 0 to 1: the figure over the payload that its rate allows.
    pub line: Option<Estimate>,
    /// CPU time of the server's processes, in CPUs.
    pub server: Option<Estimate>,
    /// That of all clients together.
    pub clients: Option<Estimate>,
    /// What limits it now.
    pub limit: Option<MeasuredLimit>,
    /// The metric over that of the rung before, a ratio, its interval by itself.
    pub ratio: Option<Estimate>,
    /// What that is taken for, all steps judged together.
    pub step: Step,
}

/// A ladder under one condition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ladder {
    /// The factor.
    pub factor: String,
    /// Name of the load in the plan.
    pub load: String,
    /// Levels of the other factors.
    pub stratum: BTreeMap<String, String>,
    /// Parameters of the load that the plan sweeps.
    pub fixed: Settings,
    /// Name of the metric.
    pub metric: String,
    /// Which way it is better.
    pub better: Better,
    /// The declared margin.
    pub margin: Quantity,
    /// The rungs in their order, two or more.
    pub rungs: Vec<Rung>,
}

impl Rung {
    /// Whether its step switches one of these settings, and nothing else.
    pub(super) fn switches(&self, keys: &[String]) -> bool {
        matches!(self.changes.as_slice(), [only] if keys.contains(&only.key))
    }
}

impl Ladder {
    /// The rungs of a kind.
    pub fn of(&self, step: Step) -> impl Iterator<Item = &Rung> {
        self.rungs.iter().filter(move |rung| rung.step == step)
    }
}

/// Every ladder of a run, in the order of the plan.
pub(super) fn ladders<'r>(
    run: &'r Run,
    compared: impl Iterator<Item = &'r Compared<'r>>,
) -> Vec<Ladder> {
    let is_ladder =
        |factor: &str| run.plan.factors.iter().any(|one| one.ladder && one.name == factor);
    let groups =
        compared.filter(|one| is_ladder(one.factor)).flat_map(|one| by_condition(&one.asked));
    groups.flat_map(|group| places(run, group)).collect()
}

/// The ladder at every point of the curve, if there is one.
fn places<'r>(run: &'r Run, group: &[Asked<'r>]) -> Vec<Ladder> {
    let points = group.first().map_or(0, |one| one.contest.points.len());
    (0..points).filter_map(|place| ladder(run, group, place)).collect()
}

/// The valid trials of a level at a point.
struct Visited<'r> {
    level: &'r Level,
    /// Whether no verdict is due: it has two states, or its machine is emulated.
    barred: bool,
    /// Of each block the first that is valid, and its figure.
    blocks: BTreeMap<u32, (&'r TrialRecord, f64)>,
    /// All, whatever came of them.
    all: Vec<&'r TrialRecord>,
}

impl<'r> Visited<'r> {
    /// None where no trial is valid.
    fn of(run: &Run, (level, barred): (&'r Level, bool), all: &[&'r TrialRecord]) -> Option<Self> {
        let mut blocks = BTreeMap::new();
        for record in all.iter().filter(|record| record.outcome.fault.is_none()) {
            if let Some(figure) = run.figure(record) {
                blocks.entry(record.trial.block).or_insert((*record, figure.value));
            }
        }
        (!blocks.is_empty()).then(|| Self { level, barred, blocks, all: all.to_vec() })
    }

    /// Block and log ratio to another.
    fn over(&self, before: &Self) -> Vec<(u32, f64)> {
        let log = |(block, (_, figure)): (&u32, &(&TrialRecord, f64))| {
            Some((*block, log_ratio(before.blocks.get(block)?.1, *figure)?))
        };
        self.blocks.iter().filter_map(log).collect()
    }

    fn mean(&self, unit: Unit, of: impl Fn(&TrialRecord) -> Option<f64>) -> Option<Estimate> {
        let values = self.blocks.values().filter_map(|(record, _)| of(record));
        mean_or_single(&values.collect::<Vec<_>>(), unit)
    }
}

fn ladder<'r>(run: &'r Run, group: &[Asked<'r>], place: usize) -> Option<Ladder> {
    let Asked { contest, rule, .. } = group.first()?;
    let point = contest.points.get(place)?;
    let base = ((contest.base, false), &point.visits[0]);
    let others = group.iter().filter_map(|one| {
        let visits = &one.contest.points.get(place)?.visits[1];
        let barred = one.barred.get(place).copied().flatten();
        let barred = barred.is_some_and(|barred| barred != Verdict::NotComparable);
        Some(((one.contest.other, barred), visits))
    });
    let all = std::iter::once(base).chain(others);
    let visited: Vec<Visited<'r>> =
        all.filter_map(|(level, visits)| Visited::of(run, level, visits)).collect();
    if visited.len() < 2 {
        return None;
    }
    let steps = steps(run, contest.load, (rule.metric.better, &visited));
    let first = std::iter::once((None, Step::First));
    let rungs = first.chain(steps).enumerate().filter_map(|(at, (ratio, step))| {
        let before = at.checked_sub(1).map(|before| visited[before].level);
        rung(run, &visited[at], (before, ratio, step), rule.metric.unit)
    });
    let curve = contest.curve.zip(point.at.as_ref());
    let curve = curve.map(|(name, at)| (name.to_owned(), at.clone()));
    Some(Ladder {
        factor: contest.factor.name.clone(),
        load: contest.load.name.clone(),
        stratum: contest.stratum.clone(),
        fixed: contest.fixed.clone().into_iter().chain(curve).collect(),
        metric: rule.metric.name.clone(),
        better: rule.metric.better,
        margin: rule.method.margin,
        rungs: rungs.collect(),
    })
}

/// Each rung but the first over the one before it, and what that is taken for.
fn steps(
    run: &Run,
    load: &LoadPlan,
    (better, visited): (Better, &[Visited<'_>]),
) -> Vec<(Option<Estimate>, Step)> {
    let method = &run.plan.method;
    let alpha = method.alpha();
    let blocks: Vec<Vec<(u32, f64)>> = visited.windows(2).map(|two| two[1].over(&two[0])).collect();
    let samples: Vec<&[(u32, f64)]> = blocks.iter().map(Vec::as_slice).collect();
    let differs = stepped_down(&samples, method.seed);
    let logs: Vec<Vec<f64>> =
        blocks.iter().map(|step| step.iter().map(|(_, log)| *log).collect()).collect();
    let even = |logs: &Vec<f64>| {
        let judged = logs.len() >= JUDGED_FROM;
        equivalence_p(logs, method.margin.value).filter(|_| judged).unwrap_or(1.0)
    };
    let even = holm_adjusted(&logs.iter().map(even).collect::<Vec<f64>>());
    let barred = visited
        .windows(2)
        .map(|two| two.iter().any(|one| one.barred) || is_unlike(load, [&two[0], &two[1]]));
    let mut steps = Vec::new();
    for (((logs, differs), even), barred) in logs.iter().zip(differs).zip(even).zip(barred) {
        let ratio = decide(logs, method.rule()).map(|decision| decision.ratio);
        let more = ratio.as_ref().is_some_and(|ratio| ratio.centre.value > 1.0);
        let step = match differs.is_some_and(|p| p <= alpha) {
            _ if barred => Step::Open,
            // A difference that surely lies within the margin is of no interest.
            _ if even <= alpha => Step::Same,
            true if more == (better == Better::Higher) => Step::Gain,
            true => Step::Loss,
            false => Step::Open,
        };
        steps.push((ratio, step));
    }
    steps
}

/// Whether two rungs differ in what did the work, beyond what the step changes.
fn is_unlike(load: &LoadPlan, two: [&Visited<'_>; 2]) -> bool {
    let [before, after] =
        two.map(|one| identity(load, one.blocks.values().map(|(record, _)| *record)));
    let wanted = changes(two[0].level, two[1].level).into_iter().map(|change| change.key);
    let wanted = wanted.chain(changed(two.map(|one| one.level))).collect();
    !differing(&before, &after, &wanted).is_empty()
}

fn rung(
    run: &Run,
    visited: &Visited<'_>,
    (before, ratio, step): (Option<&Level>, Option<Estimate>, Step),
    unit: Unit,
) -> Option<Rung> {
    let figures: Vec<f64> = visited.blocks.values().map(|(_, figure)| *figure).collect();
    let cpus = |record: &TrialRecord, side: fn(&str) -> bool| {
        let mut its = by_host(record, "process", "cpu").filter(|r| side(r.host.name())).peekable();
        its.peek().is_some().then(|| its.map(|r| r.quantity.value).sum())
    };
    Some(Rung {
        level: visited.level.name.clone(),
        changes: before.map_or_else(Vec::new, |before| changes(before, visited.level)),
        figure: mean_or_single_at(&figures, unit, 1.0 - run.plan.method.alpha())?,
        line: visited.mean(Unit::Share, |record| use_of(run, record, &LINE)),
        server: visited.mean(Unit::Cpu, |record| cpus(record, is_server)),
        clients: visited.mean(Unit::Cpu, |record| cpus(record, is_client)),
        limit: held(run, &visited.all),
        ratio,
        step,
    })
}

/// What one level sets otherwise than another.
fn changes(before: &Level, after: &Level) -> Vec<Change> {
    let of = |(key, to): (&String, &Value)| {
        let from = before.settings.get(key)?;
        (from != to).then(|| Change { key: key.clone(), from: from.clone(), to: to.clone() })
    };
    after.settings.iter().filter_map(of).collect()
}
