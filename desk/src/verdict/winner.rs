//! Knows how paired trials become a comparison with verdicts; never why one side is ahead.

use super::finding::{Comparison, PointResult, Verdict};
use super::merged::centred;
use super::pairing::{Contest, PairedPoint};
use super::region::regions;
use super::uneven::uneven;
use crate::record::{Better, Method, Metric, Settings, Value};
use crate::stats::{
    Course, Decision, Estimate, block_means, decide, decide_together, further_blocks, mean,
    mean_or_single_at,
};
use crate::unit::{Quantity, Unit};
use std::collections::BTreeMap;

/// A comparison with the log ratios on which its overall verdict rests.
pub(super) struct Judged {
    pub comparison: Comparison,
    /// Block and log ratio; round and log ratio where the factor needs a reboot.
    pub blocks: Vec<(u32, f64)>,
    /// The same by round of boots, means over its blocks: what other boots can be set against.
    pub rounds: Vec<(u32, f64)>,
}

/// A point with pairs: its place in the curve, and block and log ratio of each pair.
struct Live<'p> {
    place: usize,
    point: &'p PairedPoint<'p>,
    blocks: Vec<(u32, f64)>,
}

/// Which points of a contest have no verdict of their own, and what stands in its place: two states
/// or sides that are not comparable; in the order of its points.
type Barred = [Option<Verdict>];

/// What a ratio is judged by.
#[derive(Clone, Copy)]
pub(super) struct Rule<'r> {
    pub metric: &'r Metric,
    pub method: &'r Method,
}

impl Rule<'_> {
    /// A difference is told even inside the margin; it has precedence over equivalence.
    fn verdict(&self, logs: &[f64], decision: &Decision) -> Verdict {
        if decision.differs {
            let more = decision.ratio.low.value > 1.0;
            let ahead = more == (self.metric.better == Better::Higher);
            return if ahead { Verdict::Better } else { Verdict::Worse };
        }
        if decision.equivalent {
            return Verdict::Equivalent;
        }
        let more_blocks = further_blocks(
            logs,
            &Course {
                margin: self.method.margin.value,
                alpha: decision.alpha,
                looks: &self.method.looks,
                seed: self.method.seed,
            },
        );
        Verdict::Undecided { more_blocks }
    }
}

/// Judges a contest. None if no block has a valid pair anywhere.
///
/// A point that is barred is shown with its plain interval and is in no family of tests: where a
/// level has two states its ratio compares how often each was met, and sides that are not
/// comparable have none. It leaves the ratio of the curve for both levels. Only where no other
/// point is left does that ratio rest on such points, and then it has no verdict but theirs.
pub(super) fn judge(contest: &Contest<'_>, rule: Rule<'_>, barred: &Barred) -> Option<Judged> {
    let bar = |place: usize| barred.get(place).copied().flatten();
    let live: Vec<Live<'_>> = contest
        .points
        .iter()
        .enumerate()
        .filter(|(_, point)| !point.pairs.is_empty())
        .map(|(place, point)| Live { place, point, blocks: blocks(point) })
        .collect();
    let kept: Vec<&[(u32, f64)]> =
        live.iter().filter(|l| bar(l.place).is_none()).map(|l| l.blocks.as_slice()).collect();
    let mut decided = decide_together(&kept, rule.method.rule())?.into_iter();
    let mut placed = Vec::new();
    for Live { place, point, blocks } in &live {
        let logs = logs(blocks);
        let judged = if let Some(barred) = bar(*place) {
            (decide(&logs, rule.method.rule())?.ratio, barred, false)
        } else {
            let decision = decided.next()?;
            let verdict = rule.verdict(&logs, &decision);
            (decision.ratio, verdict, decision.equivalent)
        };
        placed.push((*place, point_result(point, judged, rule)?));
    }
    let whole = block_means(&kept);
    let overall = if kept.is_empty() {
        let all: Vec<&[(u32, f64)]> = live.iter().map(|l| l.blocks.as_slice()).collect();
        let verdict = Verdict::of_barred(live.iter().map(|l| bar(l.place)));
        (overall(&block_means(&all), &all, rule)?.0, verdict, false)
    } else {
        overall(&whole, &kept, rule)?
    };
    let regions = regions(&placed);
    let points: Vec<PointResult> = placed.into_iter().map(|(_, point)| point).collect();
    let comparison = comparison(contest, rule, overall);
    let uneven = uneven(&comparison, &points, (&logs(&whole), rule.method.rule()));
    let comparison = Comparison { points, regions, uneven, ..comparison };
    Some(Judged { comparison, rounds: rounds(contest, &whole), blocks: whole })
}

/// Means of blocks over each round of boots, in rising order.
fn rounds(contest: &Contest<'_>, blocks: &[(u32, f64)]) -> Vec<(u32, f64)> {
    let pairs = || contest.points.iter().flat_map(|point| &point.pairs);
    let round_of: BTreeMap<u32, u32> = pairs().map(|pair| (pair.block, pair.round)).collect();
    let mut rounds: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (block, log) in blocks {
        if let Some(round) = round_of.get(block) {
            rounds.entry(*round).or_default().push(*log);
        }
    }
    rounds.into_iter().map(|(round, logs)| (round, mean(&logs))).collect()
}

fn blocks(point: &PairedPoint<'_>) -> Vec<(u32, f64)> {
    point.pairs.iter().map(|pair| (pair.block, pair.log)).collect()
}

fn logs(blocks: &[(u32, f64)]) -> Vec<f64> {
    blocks.iter().map(|(_, log)| *log).collect()
}

/// A ratio, the verdict on it, and whether it is shown to lie within the margin.
pub(super) type Ruled = (Estimate, Verdict, bool);

/// Judges log ratios that stand alone, one a block. None for no block.
pub(super) fn judge_alone(logs: &[f64], rule: Rule<'_>) -> Option<Ruled> {
    let decision = decide(logs, rule.method.rule())?;
    let verdict = rule.verdict(logs, &decision);
    Some((decision.ratio, verdict, decision.equivalent))
}

fn point_result(
    point: &PairedPoint<'_>,
    (ratio, verdict, within): Ruled,
    rule: Rule<'_>,
) -> Option<PointResult> {
    let (unit, level) = (rule.metric.unit, 1.0 - rule.method.alpha());
    let base: Vec<f64> = point.pairs.iter().map(|pair| pair.base.value).collect();
    let other: Vec<f64> = point.pairs.iter().map(|pair| pair.other.value).collect();
    let runs = |values: &[f64]| values.iter().map(|v| Quantity::new(*v, unit)).collect();
    let of = |values: &[f64], side: usize| {
        let estimate = mean_or_single_at(values, unit, level)?;
        Some(match point.merged {
            Some(whole) => centred(estimate, whole[side]),
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
        within,
        blocks: point.pairs.iter().map(|pair| pair.block).collect(),
        base_runs: runs(&base),
        other_runs: runs(&other),
    })
}

/// The curve as one ratio. With no whole block it is the mean over the points, of n = 0 blocks and
/// without a verdict.
fn overall(whole: &[(u32, f64)], points: &[&[(u32, f64)]], rule: Rule<'_>) -> Option<Ruled> {
    if points.is_empty() {
        return None;
    }
    if whole.is_empty() {
        let means: Vec<f64> = points.iter().map(|point| mean(&logs(point))).collect();
        let centre = Quantity::new(mean(&means).exp(), Unit::Ratio);
        let estimate = Estimate { n: 0, ..Estimate::exact(centre) };
        return Some((estimate, Verdict::Undecided { more_blocks: None }, false));
    }
    judge_alone(&logs(whole), rule)
}

fn comparison(
    contest: &Contest<'_>,
    rule: Rule<'_>,
    (overall, verdict, within): Ruled,
) -> Comparison {
    Comparison {
        id: name(contest),
        factor: contest.factor.name.clone(),
        base: contest.base.name.clone(),
        other: contest.other.name.clone(),
        aa: contest.aa,
        stratum: contest.stratum.clone(),
        fixed: contest.fixed.clone(),
        load: contest.load.name.clone(),
        metric: rule.metric.name.clone(),
        better: rule.metric.better,
        margin: rule.method.margin,
        curve: contest.curve.map(Into::into),
        points: Vec::new(),
        overall,
        verdict,
        together: None,
        within,
        uneven: None,
        regions: Vec::new(),
        left_out: contest.left_out,
    }
}

/// All that tells one comparison of a plan from another: factor, level, load if there are several,
/// stratum, parameters.
pub(super) fn name(contest: &Contest<'_>) -> String {
    let mut parts = vec![contest.factor.name.clone(), contest.other.name.clone()];
    if !contest.only_load {
        parts.push(contest.load.name.clone());
    }
    parts.extend(contest.stratum.iter().flat_map(|(key, level)| [key.clone(), level.clone()]));
    parts.extend(fixed_words(&contest.fixed));
    let slug = |c: char| if c.is_alphanumeric() { c } else { '-' };
    parts.join("-").to_lowercase().chars().map(slug).collect()
}

/// A word speaks for itself (`transmit`), a number needs its name (`clients-4`).
pub(super) fn fixed_words(fixed: &Settings) -> Vec<String> {
    let write = |(key, value): (&String, &Value)| match value {
        Value::Word(word) => word.clone(),
        number => format!("{key}-{number}"),
    };
    fixed.iter().map(write).collect()
}
