//! Knows how log ratios are decided, alone or as the points of a curve; never what they measure.

use super::compare::{by_ranks, difference_p, equivalence_p, ratio_of_blocks, ratio_t};
use super::estimate::{Estimate, EstimateMethod};
use super::holm::holm;
use super::interval::t_tail;
use super::max_t::{Blocks, max_t};
use crate::unit::{Quantity, Unit};

/// What log ratios are decided by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// The declared margin, a share.
    pub margin: f64,
    /// Error probability of a family of tests, 0-1.
    pub alpha: f64,
    /// Seed of sign flips.
    pub seed: u64,
}

/// What is decided of one sample of log ratios.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The ratio; its interval excludes 1 exactly where `differs`.
    pub ratio: Estimate,
    /// Whether it is called different from 1.
    pub differs: bool,
    /// Whether it is shown to lie within the margin.
    pub equivalent: bool,
    /// Error probability of a t test of this sample alone that is as strict, 0-1.
    pub alpha: f64,
}

impl Decision {
    fn new(ratio: Estimate, alpha: f64, equivalent: bool) -> Self {
        let differs = ratio.low.value > 1.0 || ratio.high.value < 1.0;
        let differs = differs && ratio.method != EstimateMethod::Exact;
        Self { ratio, differs, equivalent, alpha }
    }

    /// A single block is shown and never decided.
    fn undecided(log: f64, alpha: f64) -> Self {
        let ratio = Estimate::exact(Quantity::new(log.exp(), Unit::Ratio));
        Self::new(ratio, alpha, false)
    }
}

/// Decides one sample, one log ratio a block.
///
/// Different if the interval at 1 - alpha excludes 1, equivalent by two one-sided tests at alpha
/// each. None for no block.
#[must_use]
pub fn decide(logs: &[f64], rule: Rule) -> Option<Decision> {
    if let [one] = logs {
        return Some(Decision::undecided(*one, rule.alpha));
    }
    let ratio = ratio_of_blocks(logs, 1.0 - rule.alpha)?;
    let equivalent = equivalence_p(logs, rule.margin)? <= rule.alpha;
    Some(Decision::new(ratio, rule.alpha, equivalent))
}

/// Decides the points of a curve together, in their order; the chance that any point without a
/// difference is called different is at most alpha.
///
/// A point of 8 or more blocks is judged by the largest |t| under sign flips ([`max_t`]), with
/// simultaneous intervals, and is equivalent where its own lies within the margin. Points of fewer
/// blocks are judged by Holm's step-down on t, for difference and for equivalence. Where a curve
/// has both, each kind gets alpha by its share of the points. A curve of one point is
/// [`decide`]d alone. A point with one block cannot be tested: it stays in the family with p = 1.
/// None if a point has no block.
#[must_use]
pub fn decide_together(points: &[&Blocks], rule: Rule) -> Option<Vec<Decision>> {
    if let [one] = points {
        return Some(vec![decide(&logs(one), rule)?]);
    }
    let many: Vec<&Blocks> = points.iter().copied().filter(|p| by_ranks(p.len())).collect();
    let few: Vec<&Blocks> = points.iter().copied().filter(|p| !by_ranks(p.len())).collect();
    let share = |part: &[&Blocks]| {
        let alpha = rule.alpha * real(part.len()) / real(points.len());
        Rule { alpha, ..rule }
    };
    let mut flipped = by_flips(&many, share(&many))?.into_iter();
    let mut stepped = by_steps(&few, share(&few))?.into_iter();
    let next = |p: &&Blocks| if by_ranks(p.len()) { flipped.next() } else { stepped.next() };
    points.iter().map(next).collect()
}

fn by_flips(points: &[&Blocks], rule: Rule) -> Option<Vec<Decision>> {
    if points.is_empty() {
        return Some(Vec::new());
    }
    let judged = max_t(points, rule.alpha, rule.seed)?;
    let decided = points.iter().zip(&judged.errors).map(|(point, error)| {
        let logs = logs(point);
        let centre = logs.iter().sum::<f64>() / real(logs.len());
        let half = judged.critical * error;
        let at = |log: f64| Quantity::new(log.exp(), Unit::Ratio);
        let ratio = Estimate {
            centre: at(centre),
            low: at(centre - half),
            high: at(centre + half),
            level: 1.0 - rule.alpha,
            n: u32::try_from(logs.len()).unwrap_or(u32::MAX),
            method: EstimateMethod::PairedLogMaxT,
        };
        let equivalent = centre.abs() + half < rule.margin.ln_1p();
        let alone = 2.0 * t_tail(judged.critical, real(logs.len() - 1));
        Decision::new(ratio, alone, equivalent)
    });
    Some(decided.collect())
}

fn by_steps(points: &[&Blocks], rule: Rule) -> Option<Vec<Decision>> {
    let all: Vec<Vec<f64>> = points.iter().map(|p| logs(p)).collect();
    let ps = |of: &dyn Fn(&[f64]) -> Option<f64>| -> Vec<f64> {
        all.iter().map(|logs| of(logs).unwrap_or(1.0)).collect()
    };
    let differs = holm(&ps(&difference_p), rule.alpha);
    let equal = holm(&ps(&|logs| equivalence_p(logs, rule.margin)), rule.alpha);
    let decided = all.iter().zip(differs).zip(equal).map(|((logs, differs), equal)| {
        if let [one] = logs[..] {
            return Some(Decision::undecided(one, differs.alpha));
        }
        let ratio = ratio_t(logs, 1.0 - differs.alpha, EstimateMethod::PairedLogTHolm)?;
        Some(Decision::new(ratio, differs.alpha, equal.rejected))
    });
    decided.collect()
}

fn logs(blocks: &Blocks) -> Vec<f64> {
    blocks.iter().map(|(_, log)| *log).collect()
}

#[expect(clippy::cast_precision_loss, reason = "a curve has at most 64 points")]
const fn real(n: usize) -> f64 {
    n as f64
}
