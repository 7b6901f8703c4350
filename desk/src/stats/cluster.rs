//! Knows how to see that trials which should be alike fall into two groups; never why they do.

/// Least distance of the two centres in pooled spreads.
const APART: f64 = 7.0;
/// A spread below this (of logs, so about 5 %) is taken as this: two tight groups prove little.
const SPREAD: f64 = 0.05;
/// Least ratio of the centres of the rates.
const RATE: f64 = 1.15;
/// Least ratio of the centres of the mean segments, where those are known.
const SEGMENT: f64 = 1.1;
/// Least ratio of both where one group has a single trial.
const ALONE: f64 = 1.5;
/// Fewest trials that can show two groups.
const FEWEST: usize = 4;

/// The trials of the slow and of the fast group, as indices in rising order.
pub type Groups = [Vec<usize>; 2];

/// The two groups into which trials of one cell fall, if they clearly do.
///
/// `rates` are above 0 and of any one unit; `segments`, where known, are the mean segments of the
/// same trials. A trial stands at the mean of ln rate and ln segment, or at ln rate alone. The
/// split is the one of the ordered positions that leaves the least sum of squares within its
/// groups. It counts if the centres are [`APART`] pooled standard deviations (n - 2 degrees of
/// freedom) from each other, which is Ashman's D for groups of one spread (Ashman, Bird, Zepf,
/// Astronomical Journal 108 (1994), 2348), and if rate and segment both differ enough. D = 2 is
/// Ashman's bound for a mixture of known shape; a best split of few values exceeds it by chance, so
/// the bound here comes from simulation. The fast group must have the larger segments: a sender
/// that is never waited for merges more. A single trial is a group only beside known segments, for
/// one slow trial alone may be a disturbance.
///
/// Measured by the tests below, 4,000 cells each, log-normal noise of 2-20 %. False alarms with
/// n = 4, 5 and 10: 0.5, 0.5 and 0.0 % without segments; 0.2, 0.0 and 0.0 % beside segments with
/// noise of their own; 1.5, 1.1 and 0.2 % beside segments that carry the very noise of the rate.
/// Found of states 1.5 times apart in rate and segment with 5 % noise each, n = 5: 92 % where each
/// was met twice, 26 % where one was met once, for then half of them lie below the ratio asked.
///
/// None for fewer than four trials, for a value not above 0, or for unequal lengths.
#[must_use]
pub fn two_groups(rates: &[f64], segments: Option<&[f64]>) -> Option<Groups> {
    let usable = |values: &[f64]| values.iter().all(|v| *v > 0.0 && v.is_finite());
    let matching = segments.is_none_or(|s| s.len() == rates.len() && usable(s));
    if rates.len() < FEWEST || !usable(rates) || !matching {
        return None;
    }
    let place = |i: usize| match segments {
        Some(segments) => f64::midpoint(rates[i].ln(), segments[i].ln()),
        None => rates[i].ln(),
    };
    let places: Vec<f64> = (0..rates.len()).map(place).collect();
    let (groups, within) = best_split(&places);
    let spread = (within / count(rates.len() - 2)).sqrt().max(SPREAD);
    let apart =
        |values: &dyn Fn(usize) -> f64| centre(&groups[1], values) - centre(&groups[0], values);
    let rate = apart(&|i| rates[i].ln());
    let segment = segments.map(|s| apart(&|i| s[i].ln()));
    let alone = groups.iter().any(|group| group.len() == 1);
    let least = |usual: f64| if alone { ALONE } else { usual }.ln();
    let clear = apart(&|i| places[i]) >= APART * spread
        && rate >= least(RATE)
        && segment.map_or(!alone, |s| s >= least(SEGMENT));
    let ordered = |mut group: Vec<usize>| {
        group.sort_unstable();
        group
    };
    clear.then(|| groups.map(ordered))
}

/// The split of the ordered places with the least sum of squares within, and that sum.
fn best_split(places: &[f64]) -> (Groups, f64) {
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|a, b| places[*a].total_cmp(&places[*b]));
    let place = |i: usize| places[i];
    let within = |at: usize| {
        let (low, high) = order.split_at(at);
        squares(low, &place) + squares(high, &place)
    };
    let splits = (1..order.len()).map(|at| (at, within(at)));
    let best = splits.min_by(|a, b| a.1.total_cmp(&b.1));
    let (at, least) = best.unwrap_or((order.len(), 0.0));
    let (low, high) = order.split_at(at);
    ([low.to_vec(), high.to_vec()], least)
}

fn centre(group: &[usize], value: &dyn Fn(usize) -> f64) -> f64 {
    group.iter().map(|i| value(*i)).sum::<f64>() / count(group.len())
}

fn squares(group: &[usize], value: &dyn Fn(usize) -> f64) -> f64 {
    let middle = centre(group, value);
    group.iter().map(|i| (value(*i) - middle).powi(2)).sum()
}

#[expect(clippy::cast_precision_loss, reason = "a cell has at most a few hundred trials")]
const fn count(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use statrs::distribution::{ContinuousCDF, Normal};

    const CELLS: u32 = 4000;

    // By hand: ln rates 0, 0.02 | 0.5, 0.52. Within: 4 x 0.01² = 0.0004, spread 0.0141 -> 0.05.
    // Centres 0.5 apart are 10 spreads; at 0.34 they are 6.8.
    #[test]
    fn two_tight_groups_are_told_by_the_floor_of_the_spread() {
        let cell = |gap: f64| [0.0, gap, 0.02, gap + 0.02].map(f64::exp);
        assert_eq!(two_groups(&cell(0.5), None), Some([vec![0, 2], vec![1, 3]]));
        assert_eq!(two_groups(&cell(0.34), None), None);
        assert!(two_groups(&cell(0.36), None).is_some());
    }

    #[test]
    fn segments_must_differ_the_same_way() {
        let rates = [1.0, 1.02, 2.0, 2.04];
        let groups = |segments: [f64; 4]| two_groups(&rates, Some(&segments));
        assert_eq!(groups([1000.0, 1000.0, 2000.0, 2000.0]), Some([vec![0, 1], vec![2, 3]]));
        assert_eq!(groups([1000.0, 1000.0, 1050.0, 1050.0]), None, "less than a tenth");
        assert_eq!(groups([2000.0, 2000.0, 1000.0, 1000.0]), None, "the wrong way");
    }

    #[test]
    fn one_trial_is_a_group_only_with_its_segments_and_half_as_fast_again() {
        let rates = [1.0, 1.0, 1.0, 1.0, 1.6];
        assert_eq!(two_groups(&rates, None), None);
        let with = |segment: f64| two_groups(&rates, Some(&[1.0, 1.0, 1.0, 1.0, segment]));
        assert_eq!(with(1.6), Some([vec![0, 1, 2, 3], vec![4]]));
        assert_eq!(with(1.45), None);
    }

    #[test]
    fn few_trials_and_useless_values_show_nothing() {
        assert_eq!(two_groups(&[1.0, 1.0, 9.0], None), None);
        assert_eq!(two_groups(&[0.0, 1.0, 9.0, 9.0], None), None);
        assert_eq!(two_groups(&[1.0, 1.0, 9.0, 9.0], Some(&[1.0])), None);
        assert_eq!(two_groups(&[1.0; 6], None), None);
    }

    /// How the segments of a simulated cell come about.
    #[derive(Clone, Copy)]
    enum Segments {
        Unknown,
        Own,
        Following,
    }

    struct Chance(ChaCha8Rng);

    impl Chance {
        fn noise(&mut self, sd: f64) -> f64 {
            let normal = Normal::new(0.0, sd).unwrap();
            normal.inverse_cdf(self.0.random_range(1e-12..1.0)).exp()
        }

        /// Whether a cell of `n` trials, of which `fast` are 1.5 times as fast, shows two groups.
        fn shows(&mut self, (n, fast): (usize, usize), sd: f64, kind: Segments) -> bool {
            let state = |i: usize| if i < fast { 1.5 } else { 1.0 };
            let rates: Vec<f64> = (0..n).map(|i| state(i) * self.noise(sd)).collect();
            let segments: Option<Vec<f64>> = match kind {
                Segments::Unknown => None,
                Segments::Own => Some((0..n).map(|i| state(i) * self.noise(sd)).collect()),
                Segments::Following => Some(rates.clone()),
            };
            two_groups(&rates, segments.as_deref()).is_some()
        }
    }

    /// Per cent of cells that show two groups where there are none.
    fn false_alarms(n: usize, kind: Segments) -> f64 {
        let mut chance = Chance(ChaCha8Rng::seed_from_u64(7));
        let alarm = |cell: &u32| {
            let sd = 0.02 + 0.18 * f64::from(*cell) / f64::from(CELLS);
            chance.shows((n, 0), sd, kind)
        };
        let alarms = (0..CELLS).filter(alarm).count();
        100.0 * count(alarms) / f64::from(CELLS)
    }

    #[test]
    fn one_state_is_called_two_in_less_than_one_cell_of_a_hundred() {
        for kind in [Segments::Unknown, Segments::Own] {
            for n in [4, 5, 10] {
                let alarms = false_alarms(n, kind);
                println!("false alarms, n = {n}: {alarms:.2} %");
                assert!(alarms < 1.0, "n = {n}: {alarms} %");
            }
        }
    }

    /// Segments that carry the very noise of the rate are no second witness.
    #[test]
    fn segments_that_follow_the_noise_of_the_rate_cost_little() {
        for n in [4, 5, 10] {
            let alarms = false_alarms(n, Segments::Following);
            println!("false alarms, segments following, n = {n}: {alarms:.2} %");
            assert!(alarms < 2.0, "n = {n}: {alarms} %");
        }
    }

    /// Per cent of planted cells of five trials that are found.
    fn found(fast: [usize; 2]) -> f64 {
        let mut chance = Chance(ChaCha8Rng::seed_from_u64(8));
        let hit = |cell: &u32| {
            let fast = fast[usize::from(cell.is_multiple_of(2))];
            chance.shows((5, fast), 0.05, Segments::Own)
        };
        100.0 * count((0..CELLS).filter(hit).count()) / f64::from(CELLS)
    }

    #[test]
    fn planted_states_are_found_where_each_was_met_twice() {
        let (twice, once) = (found([2, 3]), found([1, 4]));
        println!("found: {twice:.1} % of those met twice, {once:.1} % of those met once");
        assert!(twice > 90.0, "{twice} %");
        assert!(once > 20.0, "{once} %");
    }
}
