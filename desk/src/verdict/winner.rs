//! Knows how paired trials become a comparison with verdicts; never why one side is ahead.

use super::finding::{Comparison, PointResult, Verdict};
use super::pairing::{Contest, PairedPoint};
use super::region::regions;
use crate::record::{Better, Metric, Settings, Value};
use crate::stats::{
    Estimate, EstimateMethod, HolmStep, LEVEL, equivalence_p, further_blocks, holm, mean_or_single,
    paired_p, ratio_t,
};
use crate::unit::{Quantity, Unit};
use std::collections::BTreeMap;

/// A comparison with the log ratios on which its overall verdict rests, one a block.
pub(super) struct Judged {
    pub comparison: Comparison,
    pub block_logs: Vec<f64>,
}

/// Which points of a contest have a level with two states, in the order of its points.
pub(super) type Torn = [bool];

/// What a ratio is judged by.
#[derive(Clone, Copy)]
pub(super) struct Rule<'r> {
    pub metric: &'r Metric,
    /// The declared margin, a share.
    pub margin: Quantity,
}

/// The outcome of both tests on one sample of log ratios.
struct Tests {
    differs: HolmStep,
    equivalent: HolmStep,
}

impl Rule<'_> {
    /// A difference is told even inside the margin; it has precedence over equivalence.
    fn verdict(&self, logs: &[f64], tests: &Tests) -> Verdict {
        if tests.differs.rejected {
            let more = logs.iter().sum::<f64>() > 0.0;
            let ahead = more == (self.metric.better == Better::Higher);
            return if ahead { Verdict::Better } else { Verdict::Worse };
        }
        if tests.equivalent.rejected {
            return Verdict::Equivalent;
        }
        let more_blocks = further_blocks(logs, self.margin.value, tests.differs.alpha);
        Verdict::Undecided { more_blocks }
    }

    /// Both families of tests over a curve, Holm's step-down in each.
    ///
    /// A point with one block cannot be tested: it stays in the family with p = 1.
    fn tests(&self, family: &[Vec<f64>]) -> Vec<Tests> {
        let differ: Vec<f64> = family.iter().map(|l| paired_p(l).unwrap_or(1.0)).collect();
        let equal = family.iter().map(|l| equivalence_p(l, self.margin.value).unwrap_or(1.0));
        let alpha = 1.0 - LEVEL;
        let equal = holm(&equal.collect::<Vec<_>>(), alpha);
        let both = holm(&differ, alpha).into_iter().zip(equal);
        both.map(|(differs, equivalent)| Tests { differs, equivalent }).collect()
    }
}

/// Judges a contest. None if no block has a valid pair anywhere.
///
/// A point where a level has two states is shown with its plain interval and is in no family of
/// tests: its ratio compares how often each state was met. It leaves the ratio of the curve for
/// both levels. Only where no other point is left does that ratio rest on such points, and then it
/// has no verdict but [`Verdict::TwoStates`].
pub(super) fn judge(contest: &Contest<'_>, rule: Rule<'_>, torn: &Torn) -> Option<Judged> {
    let is_torn = |place: usize| torn.get(place).copied().unwrap_or(false);
    let live: Vec<(usize, &PairedPoint<'_>)> =
        contest.points.iter().enumerate().filter(|(_, p)| !p.pairs.is_empty()).collect();
    let kept: Vec<&PairedPoint<'_>> =
        live.iter().filter(|(place, _)| !is_torn(*place)).map(|(_, p)| *p).collect();
    let family: Vec<Vec<f64>> = kept.iter().map(|p| logs(p)).collect();
    let method =
        if family.len() > 1 { EstimateMethod::PairedLogTHolm } else { EstimateMethod::PairedLogT };
    let mut tests = rule.tests(&family).into_iter();
    let mut placed = Vec::new();
    for (place, point) in live.iter().copied() {
        let logs = logs(point);
        let (ratio, verdict) = if is_torn(place) {
            (ratio_or_single(&logs, LEVEL, EstimateMethod::PairedLogT)?, Verdict::TwoStates)
        } else {
            let tests = tests.next()?;
            let ratio = ratio_or_single(&logs, 1.0 - tests.differs.alpha, method)?;
            (ratio, rule.verdict(&logs, &tests))
        };
        placed.push((place, point_result(point, ratio, verdict, rule)?));
    }
    let block_logs = block_means(&kept);
    let (overall, verdict) = if family.is_empty() {
        let all: Vec<&PairedPoint<'_>> = live.iter().map(|(_, p)| *p).collect();
        let logs: Vec<Vec<f64>> = all.iter().map(|p| logs(p)).collect();
        (overall(&block_means(&all), &logs, rule)?.0, Verdict::TwoStates)
    } else {
        overall(&block_logs, &family, rule)?
    };
    let regions = regions(&placed);
    let points = placed.into_iter().map(|(_, point)| point).collect();
    let comparison = comparison(contest, rule, (overall, verdict));
    Some(Judged { comparison: Comparison { points, regions, ..comparison }, block_logs })
}

fn logs(point: &PairedPoint<'_>) -> Vec<f64> {
    point.pairs.iter().map(|pair| pair.log).collect()
}

/// Judges log ratios that stand alone, one a block. None for no block.
pub(super) fn judge_alone(logs: &[f64], rule: Rule<'_>) -> Option<(Estimate, Verdict)> {
    if logs.is_empty() {
        return None;
    }
    overall(logs, &[logs.to_vec()], rule)
}

fn point_result(
    point: &PairedPoint<'_>,
    ratio: Estimate,
    verdict: Verdict,
    rule: Rule<'_>,
) -> Option<PointResult> {
    let unit = rule.metric.unit;
    let base: Vec<f64> = point.pairs.iter().map(|pair| pair.base.value).collect();
    let other: Vec<f64> = point.pairs.iter().map(|pair| pair.other.value).collect();
    let runs = |values: &[f64]| values.iter().map(|v| Quantity::new(*v, unit)).collect();
    Some(PointResult {
        at: point.at.clone(),
        base: mean_or_single(&base, unit)?,
        other: mean_or_single(&other, unit)?,
        ratio,
        verdict,
        base_runs: runs(&base),
        other_runs: runs(&other),
    })
}

pub(super) fn ratio_or_single(
    logs: &[f64],
    level: f64,
    method: EstimateMethod,
) -> Option<Estimate> {
    match logs {
        [one] => Some(Estimate::exact(Quantity::new(one.exp(), Unit::Ratio))),
        _ => ratio_t(logs, level, method),
    }
}

/// The mean log ratio over the points of each block that is whole: one point missing would move
/// the mean of a block for no other reason than that it is missing.
fn block_means(live: &[&PairedPoint<'_>]) -> Vec<f64> {
    let mut blocks: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for pair in live.iter().flat_map(|point| &point.pairs) {
        blocks.entry(pair.block).or_default().push(pair.log);
    }
    blocks.into_values().filter(|logs| logs.len() == live.len()).map(|logs| mean(&logs)).collect()
}

#[expect(clippy::cast_precision_loss, reason = "a curve has at most 64 points")]
pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The curve as one ratio. With no whole block it is the mean over the points, of n = 0 blocks and
/// without a verdict.
fn overall(logs: &[f64], family: &[Vec<f64>], rule: Rule<'_>) -> Option<(Estimate, Verdict)> {
    if family.is_empty() {
        return None;
    }
    if logs.is_empty() {
        let centre = mean(&family.iter().map(|l| mean(l)).collect::<Vec<_>>()).exp();
        let estimate = Estimate { n: 0, ..Estimate::exact(Quantity::new(centre, Unit::Ratio)) };
        return Some((estimate, Verdict::Undecided { more_blocks: None }));
    }
    let tests = rule.tests(&[logs.to_vec()]).pop()?;
    let ratio = ratio_or_single(logs, LEVEL, EstimateMethod::PairedLogT)?;
    Some((ratio, rule.verdict(logs, &tests)))
}

fn comparison(
    contest: &Contest<'_>,
    rule: Rule<'_>,
    (overall, verdict): (Estimate, Verdict),
) -> Comparison {
    Comparison {
        id: name(contest),
        factor: contest.factor.name.clone(),
        base: contest.base.name.clone(),
        other: contest.other.name.clone(),
        stratum: contest.stratum.clone(),
        fixed: contest.fixed.clone(),
        load: contest.load.name.clone(),
        metric: rule.metric.name.clone(),
        better: rule.metric.better,
        margin: rule.margin,
        curve: contest.curve.map(Into::into),
        points: Vec::new(),
        overall,
        verdict,
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
fn fixed_words(fixed: &Settings) -> Vec<String> {
    let write = |(key, value): (&String, &Value)| match value {
        Value::Word(word) => word.clone(),
        number => format!("{key}-{number}"),
    };
    fixed.iter().map(write).collect()
}
