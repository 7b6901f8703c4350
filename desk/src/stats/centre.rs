//! Knows the centre of single values, one a block; never compares two samples.

use super::compare::by_ranks;
use super::estimate::{Estimate, EstimateMethod};
use super::interval::{logs_of, mean_or_single_at};
use super::signed_rank::Walsh;
use crate::unit::{Quantity, Unit};

/// The centre of values that are one a block, with its interval at `level` (0-1), in `unit`: the
/// same rule that ratios have, which depends on the number of blocks alone.
///
/// From 8 blocks on the Hodges-Lehmann estimate with the signed-rank interval ([`Walsh`]), of
/// rates, times, sizes and ratios on the log scale; below the mean ([`mean_or_single_at`]). None
/// for no value, for one that is not finite, or where so few blocks cannot reach the level by
/// ranks.
#[must_use]
pub fn centre_of_blocks(values: &[f64], unit: Unit, level: f64) -> Option<Estimate> {
    if values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    if !by_ranks(values.len()) {
        return mean_or_single_at(values, unit, level);
    }
    let logs = if unit.is_scaled() { logs_of(values) } else { None };
    let walsh = Walsh::of(logs.as_deref().unwrap_or(values))?;
    let (low, high) = walsh.interval(level)?;
    let at = |x: f64| Quantity::new(if logs.is_some() { x.exp() } else { x }, unit);
    Some(Estimate {
        centre: at(walsh.centre()),
        low: at(low),
        high: at(high),
        level,
        n: u32::try_from(values.len()).ok()?,
        method: EstimateMethod::SignedRank,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: [f64; 8] = [10.1, 9.8, 10.4, 9.9, 10.0, 10.2, 9.7, 35.0];

    #[test]
    fn the_rule_changes_at_eight_blocks_and_one_block_has_no_interval() {
        let of = |n: usize| centre_of_blocks(&VALUES[..n], Unit::Second, 0.95).unwrap();
        assert_eq!(of(1).method, EstimateMethod::Exact);
        assert_eq!((of(7).n, of(7).method), (7, EstimateMethod::LogMeanT));
        assert_eq!((of(8).n, of(8).method), (8, EstimateMethod::SignedRank));
        assert_eq!(centre_of_blocks(&[], Unit::Second, 0.95), None);
        assert_eq!(centre_of_blocks(&[1.0, f64::NAN], Unit::Second, 0.95), None);
    }

    // R 4: wilcox.test(x, conf.int = TRUE) gives the median of the Walsh averages; of n = 8 at 95 %
    // the fourth average from either end (quantile 4 of the signed ranks).
    #[test]
    fn one_wild_block_of_eight_moves_the_centre_little() {
        let calm = centre_of_blocks(&VALUES[..7], Unit::Celsius, 0.95).unwrap().centre.value;
        let wild = centre_of_blocks(&VALUES, Unit::Celsius, 0.95).unwrap();
        assert!((wild.centre.value / calm - 1.0).abs() < 0.02, "{wild:?} beside {calm}");
        let mut averages: Vec<f64> = Vec::new();
        for (at, one) in VALUES.iter().enumerate() {
            averages.extend(VALUES[at..].iter().map(|other| f64::midpoint(*one, *other)));
        }
        averages.sort_by(f64::total_cmp);
        let middle = f64::midpoint(averages[17], averages[18]);
        assert!((wild.centre.value - middle).abs() < 1e-12);
        assert_eq!((wild.low.value, wild.high.value), (averages[3], averages[32]));
        let rate = centre_of_blocks(&VALUES, Unit::BitPerSecond, 0.95).unwrap();
        let least = [9.7_f64, 9.8].iter().map(|x| x.ln()).sum::<f64>() / 2.0;
        assert!((rate.low.value - least.exp()).abs() < 0.1 && rate.low.value > 9.7, "{rate:?}");
    }
}
