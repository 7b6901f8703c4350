//! Knows which part of a path held a load down, by taking parts out one at a time.
//!
//! A rung of a ladder is the one before it without a part. A step is a comparison of the two,
//! within each block, as any other is made. All steps of a run are judged together: differences as
//! [`stepped_down`] has them, equality within the margin by Holm. A rung without a valid trial is
//! left out; the next one is then compared with the last that has one. Never: what a part is.

use super::bottleneck::{MeasuredLimit, held};
use super::ceiling::use_of;
use super::compared::{Asked, Compared, asked, by_condition};
use super::finding::LimitKind;
use super::measure::{by_host, is_client, is_server};
use super::pairing::Contest;
use crate::record::{Better, Level, Metric, Run, Settings, TrialRecord, Value};
use crate::stats::{
    Estimate, JUDGED_FROM, decide, equivalence_p, holm_adjusted, mean_or_single_at, stepped_down,
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
    /// What differs from the rung before; none at the first. Of several it is not known which
    /// counts.
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

/// Every ladder of a run, in the order of the plan; all steps of all of them are one family.
pub(super) fn ladders<'r>(
    run: &'r Run,
    compared: impl Iterator<Item = &'r Compared<'r>>,
) -> Vec<Ladder> {
    let is_ladder =
        |factor: &str| run.plan.factors.iter().any(|one| one.ladder && one.name == factor);
    let groups =
        compared.filter(|one| is_ladder(one.factor)).flat_map(|one| by_condition(&one.asked));
    let climbs: Vec<Climb<'r>> = groups.flat_map(|group| climbs(run, group)).collect();
    let mut judged = judged(run, climbs.iter().flat_map(|climb| &climb.taken)).into_iter();
    climbs.into_iter().map(|climb| climb.ladder(run, &mut judged)).collect()
}

/// A level with a valid trial, all its visits at a point, and what limits it.
struct Visited<'r> {
    level: &'r Level,
    visits: Vec<&'r TrialRecord>,
    limit: Option<MeasuredLimit>,
}

/// A step as it was measured.
struct Taken {
    /// Block and log ratio.
    blocks: Vec<(u32, f64)>,
    ratio: Option<Estimate>,
    /// Whether no verdict is due: two states, too few values, sides made by something else,
    /// machines that are emulated, or a load that was set and carried on both rungs.
    barred: bool,
}

/// The rungs at a point under a condition, and the steps between them.
struct Climb<'r> {
    /// The contest of some level with the first rung, and the metric.
    contest: Contest<'r>,
    metric: &'r Metric,
    at: Option<Value>,
    rungs: Vec<Visited<'r>>,
    taken: Vec<Taken>,
}

/// The climb at every point of the curve, if there is one.
fn climbs<'r>(run: &'r Run, group: &[Asked<'r>]) -> Vec<Climb<'r>> {
    let points = group.first().map_or(0, |one| one.contest.points.len());
    (0..points).filter_map(|place| climb(run, group, place)).collect()
}

fn climb<'r>(run: &'r Run, group: &[Asked<'r>], place: usize) -> Option<Climb<'r>> {
    let Asked { contest, rule, .. } = group.first()?;
    let point = contest.points.get(place)?;
    let others = group
        .iter()
        .filter_map(|one| Some((one.contest.other, &one.contest.points.get(place)?.visits[1])));
    let visited = |(level, visits): (&'r Level, &Vec<&'r TrialRecord>)| {
        let is_valid = |record: &&TrialRecord| record.outcome.fault.is_none();
        let any = visits.iter().any(is_valid);
        any.then(|| Visited { level, visits: visits.clone(), limit: held(run, visits) })
    };
    let all = std::iter::once((contest.base, &point.visits[0])).chain(others);
    let rungs: Vec<Visited<'r>> = all.filter_map(visited).collect();
    let taken: Vec<Taken> =
        rungs.windows(2).map(|two| taken(run, (contest, place), two)).collect::<Option<_>>()?;
    let at = point.at.clone();
    (!taken.is_empty()).then(|| Climb {
        contest: contest.clone(),
        metric: rule.metric,
        at,
        rungs,
        taken,
    })
}

/// The step from the first of two rungs to the second, as a comparison of both.
fn taken<'r>(
    run: &'r Run,
    (contest, place): (&Contest<'r>, usize),
    two: &[Visited<'r>],
) -> Option<Taken> {
    let [before, after] = two else { return None };
    let mut point = contest.points.get(place)?.clone();
    point.visits = [before.visits.clone(), after.visits.clone()];
    let (base, other, points) = (before.level, after.level, vec![point]);
    let between = Contest { base, other, points, ..contest.clone() }.paired(run);
    let Asked { contest, barred, .. } = asked(run, between)?.0;
    let point = contest.points.first()?;
    let blocks: Vec<(u32, f64)> = point.pairs.iter().map(|pair| (pair.block, pair.log)).collect();
    let logs: Vec<f64> = blocks.iter().map(|(_, log)| *log).collect();
    let was_carried = two
        .iter()
        .all(|one| one.limit.as_ref().is_some_and(|limit| limit.kind == LimitKind::OfferedLoad));
    let barred = barred.first().copied().flatten().is_some() || was_carried;
    let ratio = decide(&logs, run.plan.method.rule()).map(|decision| decision.ratio);
    Some(Taken { blocks, ratio, barred })
}

/// What each step is taken for, among all of them: better or worse by its sign, see [`Step`].
fn judged<'t>(run: &Run, taken: impl Iterator<Item = &'t Taken>) -> Vec<Judged> {
    let method = &run.plan.method;
    let blocks: Vec<&[(u32, f64)]> = taken.map(|one| one.blocks.as_slice()).collect();
    let even = |blocks: &&[(u32, f64)]| {
        let logs: Vec<f64> = blocks.iter().map(|(_, log)| *log).collect();
        let judged = logs.len() >= JUDGED_FROM;
        equivalence_p(&logs, method.margin.value).filter(|_| judged).unwrap_or(1.0)
    };
    let even = holm_adjusted(&blocks.iter().map(even).collect::<Vec<f64>>());
    let differs = stepped_down(&blocks, method.seed);
    let is_sure = |p: f64| p <= method.alpha();
    let both = differs.into_iter().zip(even);
    both.map(|(p, even)| Judged { differs: p.is_some_and(is_sure), same: is_sure(even) }).collect()
}

/// What is sure of a step among all.
struct Judged {
    differs: bool,
    same: bool,
}

impl Climb<'_> {
    /// The ladder, with the next verdicts for its steps.
    fn ladder(self, run: &Run, judged: &mut impl Iterator<Item = Judged>) -> Ladder {
        let Self { contest, metric, at, rungs, taken } = self;
        let step = |taken: &Taken, judged: Judged| {
            let more = taken.ratio.as_ref().is_some_and(|ratio| ratio.centre.value > 1.0);
            match judged {
                _ if taken.barred => Step::Open,
                // A difference that surely lies within the margin is of no interest.
                Judged { same: true, .. } => Step::Same,
                Judged { differs: false, .. } => Step::Open,
                _ if more == (metric.better == Better::Higher) => Step::Gain,
                _ => Step::Loss,
            }
        };
        let steps = taken.into_iter().zip(judged);
        let steps = steps.map(|(taken, judged)| (step(&taken, judged), taken.ratio));
        let steps = std::iter::once((Step::First, None)).chain(steps);
        let before = std::iter::once(None).chain(rungs.iter().map(|one| Some(one.level)));
        let all = rungs.iter().zip(before).zip(steps);
        let curve = contest.curve.zip(at).map(|(name, at)| (name.to_owned(), at));
        Ladder {
            factor: contest.factor.name.clone(),
            load: contest.load.name.clone(),
            stratum: contest.stratum,
            fixed: contest.fixed.into_iter().chain(curve).collect(),
            metric: metric.name.clone(),
            better: metric.better,
            margin: run.plan.method.margin,
            rungs: all.filter_map(|((one, before), step)| one.rung(run, before, step)).collect(),
        }
    }
}

impl Visited<'_> {
    fn rung(
        &self,
        run: &Run,
        before: Option<&Level>,
        (step, ratio): (Step, Option<Estimate>),
    ) -> Option<Rung> {
        // Of a trial that was visited again the first valid visit counts.
        let mut blocks: BTreeMap<u32, &TrialRecord> = BTreeMap::new();
        for record in self.visits.iter().filter(|record| record.outcome.fault.is_none()) {
            blocks.entry(record.trial.block).or_insert(record);
        }
        let mean = |unit: Unit, of: &dyn Fn(&TrialRecord) -> Option<f64>| {
            let values: Vec<f64> = blocks.values().filter_map(|record| of(record)).collect();
            mean_or_single_at(&values, unit, 1.0 - run.plan.method.alpha())
        };
        let cpus = |record: &TrialRecord, side: fn(&str) -> bool| {
            let mut its =
                by_host(record, "process", "cpu").filter(|r| side(r.host.name())).peekable();
            its.peek().is_some().then(|| its.map(|r| r.quantity.value).sum())
        };
        let unit = blocks.values().find_map(|record| run.figure(record))?.unit;
        Some(Rung {
            level: self.level.name.clone(),
            changes: before.map_or_else(Vec::new, |before| changes(before, self.level)),
            figure: mean(unit, &|record| Some(run.figure(record)?.value))?,
            line: mean(Unit::Share, &|record| use_of(run, record, &LINE)),
            server: mean(Unit::Cpu, &|record| cpus(record, is_server)),
            clients: mean(Unit::Cpu, &|record| cpus(record, is_client)),
            limit: self.limit.clone(),
            ratio,
            step,
        })
    }
}

/// What one level sets otherwise than another.
fn changes(before: &Level, after: &Level) -> Vec<Change> {
    let of = |(key, to): (&String, &Value)| {
        let from = before.settings.get(key)?;
        (from != to).then(|| Change { key: key.clone(), from: from.clone(), to: to.clone() })
    };
    after.settings.iter().filter_map(of).collect()
}
