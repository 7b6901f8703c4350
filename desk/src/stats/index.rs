//! Knows the index: several ratios as one, block by block; never which ratios belong together.

use std::collections::BTreeMap;

/// The mean log ratio over several series, of each block that all of them have, in rising order:
/// exp of it is the geometric mean of their ratios in that block.
///
/// Judged like the log ratios of a single comparison, they give the index and its interval, which
/// hold for these series and no others: what they are of is taken as fixed.
///
/// A block that one series lacks would move the mean for no other reason than that it is missing.
/// Empty without series.
#[must_use]
pub fn block_means(series: &[&[(u32, f64)]]) -> Vec<(u32, f64)> {
    let mut blocks: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (block, log) in series.iter().copied().flatten() {
        blocks.entry(*block).or_default().push(*log);
    }
    let whole = blocks.into_iter().filter(|(_, logs)| logs.len() == series.len());
    whole.map(|(block, logs)| (block, mean(&logs))).collect()
}

/// Arithmetic mean; NaN of nothing.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "blocks and points are counted in hundreds")]
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{EstimateMethod, ratio_of_blocks};

    fn series(ratio: f64, blocks: u32) -> Vec<(u32, f64)> {
        let noise = |b: u32| 0.001 * f64::from(b * b % 7);
        (1..=blocks).map(|b| (b, ratio.ln() + noise(b))).collect()
    }

    // By hand: the geometric mean of 2 and 8 is 4.
    #[test]
    fn an_index_is_the_geometric_mean_and_its_method_follows_from_the_blocks() {
        for (blocks, method) in
            [(7, EstimateMethod::PairedLogT), (8, EstimateMethod::HodgesLehmann)]
        {
            let (two, eight) = (series(2.0, blocks), series(8.0, blocks));
            let means: Vec<f64> = block_means(&[&two, &eight]).iter().map(|(_, x)| *x).collect();
            let both = ratio_of_blocks(&means, 0.95).unwrap();
            assert!((both.centre.value / 4.0 - 1.0).abs() < 0.005, "{both:?}");
            assert_eq!((both.n, both.method), (blocks, method));
        }
    }

    #[test]
    fn a_block_that_is_not_whole_is_in_no_index() {
        let (mut one, two) = (series(2.0, 5), series(3.0, 5));
        one.remove(2);
        let blocks: Vec<u32> = block_means(&[&one, &two]).iter().map(|(b, _)| *b).collect();
        assert_eq!(blocks, [1, 2, 4, 5]);
        assert!(block_means(&[]).is_empty());
    }
}
