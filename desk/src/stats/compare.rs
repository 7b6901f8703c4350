//! Knows how two levels are compared from their log ratios, one a block; never what they measure.

use super::estimate::{Estimate, EstimateMethod};
use super::interval::{half_width, t_tail};
use super::signed_rank::Walsh;
use super::summary::Summary;
use crate::unit::{Quantity, Unit};

/// ln(other / base); none where either is not above zero or not finite, for it has no logarithm.
#[must_use]
pub fn log_ratio(base: f64, other: f64) -> Option<f64> {
    (has_log(base) && has_log(other)).then(|| (other / base).ln())
}

/// Whether a value has a logarithm.
pub(super) fn has_log(value: f64) -> bool {
    value > 0.0 && value.is_finite()
}

/// Blocks from which ranks are used instead of means; the rule depends on their number alone.
pub const RANKS_FROM: usize = 8;

/// Fewest blocks of a verdict: of 3 or 4 an error of 5 % could not be kept under drift when orders
/// were drawn freely, and their intervals see little.
pub const JUDGED_FROM: usize = 5;

/// Whether so many blocks are judged by signed ranks.
#[must_use]
pub const fn by_ranks(blocks: usize) -> bool {
    blocks >= RANKS_FROM
}

fn ratio(log: f64) -> Quantity {
    Quantity::new(log.exp(), Unit::Ratio)
}

/// The ratio of log ratios that stand alone, one a block, with its interval at `level` (0-1).
///
/// From 8 blocks on the Hodges-Lehmann estimate with the signed-rank interval ([`Walsh`]), below
/// the mean with Student's t. None for fewer than two blocks, or where so few blocks cannot reach
/// the level by ranks (8 blocks reach 99.2 %).
#[must_use]
pub fn ratio_of_blocks(logs: &[f64], level: f64) -> Option<Estimate> {
    if !by_ranks(logs.len()) {
        return ratio_t(logs, level, EstimateMethod::PairedLogT);
    }
    let walsh = Walsh::of(logs)?;
    let (low, high) = walsh.interval(level)?;
    Some(Estimate {
        centre: ratio(walsh.centre()),
        low: ratio(low),
        high: ratio(high),
        level,
        n: u32::try_from(logs.len()).ok()?,
        method: EstimateMethod::HodgesLehmann,
    })
}

/// exp of the mean log ratio with its Student t interval at `level` (0-1).
///
/// `method` says where the level came from. None for fewer than two blocks.
#[must_use]
pub fn ratio_t(logs: &[f64], level: f64, method: EstimateMethod) -> Option<Estimate> {
    let summary = Summary::of(logs)?;
    let half = half_width(&summary, level);
    Some(Estimate {
        centre: ratio(summary.mean),
        low: ratio(summary.mean - half),
        high: ratio(summary.mean + half),
        level,
        n: summary.n,
        method,
    })
}

/// P(T > excess / standard error). Without spread that is 0 or 1, and a half for no excess.
fn tail_beyond(excess: f64, summary: &Summary) -> f64 {
    if excess == 0.0 {
        return 0.5;
    }
    t_tail(excess / summary.standard_error(), summary.freedom())
}

/// Two-sided p value, 0-1, of the test that the ratio is 1: the signed-rank test from 8 blocks on,
/// the paired t test below.
///
/// At most 1 - level exactly where [`ratio_of_blocks`] at that level leaves 1 out. None for fewer
/// than two blocks.
#[must_use]
pub fn difference_p(logs: &[f64]) -> Option<f64> {
    if by_ranks(logs.len()) {
        return Some(Walsh::of(logs)?.p_differs(0.0));
    }
    let summary = Summary::of(logs)?;
    Some(2.0 * tail_beyond(summary.mean.abs(), &summary))
}

/// p value, 0-1, of the test that two levels are equal within the margin: that the typical ratio
/// and the mean ratio both are. It is the larger of [`typical_equivalence_p`] and
/// [`mean_equivalence_p`].
///
/// Ranks do not see a few trials that collapse: with one in ten at half the rate the typical ratio
/// stays at 1 while the mean falls. `margin` is a share, 0 or more. None for fewer than two blocks.
#[must_use]
pub fn equivalence_p(logs: &[f64], margin: f64) -> Option<f64> {
    Some(typical_equivalence_p(logs, margin)?.max(mean_equivalence_p(logs, margin)?))
}

/// p value, 0-1, of the two one-sided tests that the typical ratio lies within 1 / (1 + margin) and
/// 1 + margin, so within ± ln(1 + margin) of no difference: signed-rank tests from 8 blocks on, t
/// tests below.
///
/// It is at most alpha exactly when the interval at level 1 - 2 alpha lies within the margin
/// (Schuirmann 1987). `margin` is a share, 0 or more. None for fewer than two blocks.
#[must_use]
pub fn typical_equivalence_p(logs: &[f64], margin: f64) -> Option<f64> {
    if !by_ranks(logs.len()) {
        return mean_equivalence_p(logs, margin);
    }
    let room = margin.ln_1p();
    let walsh = Walsh::of(logs)?;
    Some(walsh.p_above(-room).max(walsh.p_below(room)))
}

/// The same of the mean ratio, exp of the mean log ratio, by t tests for any number of blocks.
#[must_use]
pub fn mean_equivalence_p(logs: &[f64], margin: f64) -> Option<f64> {
    let summary = Summary::of(logs)?;
    Some(tail_beyond(margin.ln_1p() - summary.mean.abs(), &summary))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: [f64; 5] = [101.2, 98.7, 103.9, 99.5, 100.8];
    const OTHER: [f64; 5] = [104.1, 99.9, 108.2, 103.0, 102.2];

    fn logs() -> Vec<f64> {
        BASE.iter().zip(OTHER).map(|(a, b)| log_ratio(*a, b).unwrap()).collect()
    }

    fn close(ours: f64, theirs: f64) {
        assert!((ours / theirs - 1.0).abs() < 1e-9, "{ours} is not {theirs}");
    }

    // scipy 1.17.1, d = np.log(b) - np.log(a):
    // s.ttest_1samp(d, 0).pvalue; np.exp(s.t.interval(.95, 4, d.mean(), s.sem(d)))
    #[test]
    fn the_paired_t_test_is_that_of_scipy() {
        close(difference_p(&logs()).unwrap(), 0.010064097112496213);
        let e = ratio_t(&logs(), 0.95, EstimateMethod::PairedLogT).unwrap();
        close(e.centre.value, 1.0261880540463144);
        close(e.low.value, 1.010285641662167);
        close(e.high.value, 1.0423407785295424);
    }

    // scipy 1.17.1, e = np.log1p(margin): max(
    // s.ttest_1samp(d, -e, alternative='greater').pvalue,
    // s.ttest_1samp(d, e, alternative='less').pvalue)
    #[test]
    fn the_two_one_sided_tests_are_those_of_scipy() {
        close(equivalence_p(&logs(), 0.02).unwrap(), 0.8285999278520546);
        close(equivalence_p(&logs(), 0.05).unwrap(), 0.007561844682542502);
        close(equivalence_p(&logs(), 0.10).unwrap(), 0.00012359035057077583);
    }

    #[test]
    fn equivalence_is_the_ninety_per_cent_interval_inside_the_margin() {
        let high = ratio_t(&logs(), 0.90, EstimateMethod::PairedLogT).unwrap().high.value;
        assert!(equivalence_p(&logs(), high - 1.0 + 1e-6).unwrap() < 0.05);
        assert!(equivalence_p(&logs(), high - 1.0 - 1e-6).unwrap() > 0.05);
    }

    // Two of twenty blocks at half the rate, the others equal to 0.1 %.
    #[test]
    fn a_level_that_collapses_now_and_then_is_not_equal() {
        let mut logs: Vec<f64> =
            (0..20).map(|i| 0.001 * (f64::from(i * 7 % 20) - 9.5) / 9.5).collect();
        assert!(equivalence_p(&logs, 0.02).unwrap() < 1e-4);
        (logs[4], logs[13]) = (0.5_f64.ln(), 0.5_f64.ln());
        assert!(typical_equivalence_p(&logs, 0.02).unwrap() < 0.01, "ranks do not see it");
        assert!(mean_equivalence_p(&logs, 0.02).unwrap() > 0.5, "the mean does");
        assert_eq!(equivalence_p(&logs, 0.02), mean_equivalence_p(&logs, 0.02));
    }

    #[test]
    fn a_sample_without_spread_decides_without_dividing_by_zero() {
        assert_eq!(difference_p(&[0.25, 0.25, 0.25]), Some(0.0));
        assert_eq!(difference_p(&[0.0, 0.0]), Some(1.0));
        assert_eq!(equivalence_p(&[0.0, 0.0], 0.02), Some(0.0));
        assert_eq!(equivalence_p(&[0.25, 0.25], 0.02), Some(1.0));
    }

    #[test]
    fn nothing_is_said_of_one_block_or_of_zero_values() {
        assert_eq!(difference_p(&[0.1]), None);
        assert_eq!(ratio_t(&[0.1], 0.95, EstimateMethod::PairedLogT), None);
        assert_eq!(log_ratio(0.0, 1.0), None);
        assert_eq!(log_ratio(1.0, f64::INFINITY), None);
    }
}
