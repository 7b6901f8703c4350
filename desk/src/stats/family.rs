//! Knows how log ratios are decided, alone or as the points of a curve; never what they measure.

use super::compare::{
    JUDGED_FROM, by_ranks, difference_p, equivalence_p, ratio_of_blocks, ratio_t,
    typical_equivalence_p,
};
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
    /// The ratio; from 5 blocks on its interval excludes 1 exactly where `differs`.
    pub ratio: Estimate,
    /// Whether it is called different from 1; never of fewer than 5 blocks.
    pub differs: bool,
    /// Whether it is shown to lie within the margin; never of fewer than 5 blocks.
    pub equivalent: bool,
    /// Error probability of a t test of this sample alone that is as strict, 0-1.
    pub alpha: f64,
}

impl Decision {
    fn new(ratio: Estimate, alpha: f64, equivalent: bool) -> Self {
        let judged = ratio.n as usize >= JUDGED_FROM;
        let differs = judged && (ratio.low.value > 1.0 || ratio.high.value < 1.0);
        Self { ratio, differs, equivalent: judged && equivalent, alpha }
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
/// each on the typical and on the mean ratio ([`equivalence_p`]); neither of fewer than 5 blocks.
/// None for no block.
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
/// simultaneous intervals, and is equivalent where its own lies within the margin and so does the
/// typical ratio by itself. Points of fewer
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
        let typical = typical_equivalence_p(&logs, rule.margin).is_some_and(|p| p <= rule.alpha);
        let equivalent = typical && centre.abs() + half < rule.margin.ln_1p();
        let alone = 2.0 * t_tail(judged.critical, real(logs.len() - 1));
        Decision::new(ratio, alone, equivalent)
    });
    Some(decided.collect())
}

fn by_steps(points: &[&Blocks], rule: Rule) -> Option<Vec<Decision>> {
    let all: Vec<Vec<f64>> = points.iter().map(|p| logs(p)).collect();
    let ps = |of: &dyn Fn(&[f64]) -> Option<f64>| -> Vec<f64> {
        let judged = |logs: &Vec<f64>| of(logs).filter(|_| logs.len() >= JUDGED_FROM);
        all.iter().map(|logs| judged(logs).unwrap_or(1.0)).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use statrs::distribution::{ContinuousCDF, Normal};

    const RULE: Rule = Rule { margin: 0.02, alpha: 0.05, seed: 5 };
    const SETS: u32 = 1000;

    struct Chance(ChaCha8Rng);

    impl Chance {
        fn new() -> Self {
            Self(ChaCha8Rng::seed_from_u64(9))
        }

        fn normal(&mut self, sd: f64) -> f64 {
            sd * Normal::standard().inverse_cdf(self.0.random_range(1e-12..1.0))
        }

        /// A curve of 13 points whose blocks also move as a whole.
        fn curve(&mut self, blocks: u32, effect: f64) -> Vec<Vec<(u32, f64)>> {
            let mut points = vec![Vec::new(); 13];
            for block in 1..=blocks {
                let shared = effect + self.normal(0.01);
                for point in &mut points {
                    point.push((block, shared + self.normal(0.01)));
                }
            }
            points
        }
    }

    fn together(points: &[Vec<(u32, f64)>]) -> Vec<Decision> {
        let points: Vec<&Blocks> = points.iter().map(Vec::as_slice).collect();
        decide_together(&points, RULE).unwrap()
    }

    fn per_cent(hits: u32) -> f64 {
        100.0 * f64::from(hits) / f64::from(SETS)
    }

    fn excludes_one(ratio: &Estimate) -> bool {
        ratio.low.value > 1.0 || ratio.high.value < 1.0
    }

    #[test]
    fn any_of_thirteen_points_differs_by_chance_in_one_curve_of_twenty() {
        for blocks in [8, 10] {
            let mut chance = Chance::new();
            let hits = (0..SETS).filter(|_| {
                together(&chance.curve(blocks, 0.0)).iter().any(|decision| decision.differs)
            });
            let alarms = per_cent(hits.count() as u32);
            println!("{blocks} blocks: {alarms:.1} % of curves have a false difference");
            assert!((1.5..=6.5).contains(&alarms), "{blocks}: {alarms} %");
        }
    }

    /// With large effects at every point the flips of the values alone would hold them all in
    /// 85 % of curves.
    #[test]
    fn the_intervals_of_a_curve_hold_all_true_ratios_at_once() {
        let mut chance = Chance::new();
        let held = (0..SETS).filter(|_| {
            let holds =
                |d: &Decision| (d.ratio.low.value..=d.ratio.high.value).contains(&0.05_f64.exp());
            together(&chance.curve(10, 0.05)).iter().all(holds)
        });
        let held = per_cent(held.count() as u32);
        println!("{held:.1} % of curves hold all");
        assert!(held >= 93.5, "{held} %");
    }

    #[test]
    fn the_points_of_a_curve_equal_no_more_than_the_margin_are_rarely_called_equivalent() {
        let mut chance = Chance::new();
        let edge = RULE.margin.ln_1p();
        let hits = (0..SETS)
            .filter(|_| together(&chance.curve(20, edge)).iter().any(|d| d.equivalent))
            .count();
        let wrong = per_cent(hits as u32);
        println!("{wrong:.1} % of curves on the margin have an equivalent point");
        assert!(wrong <= 6.5, "{wrong} %");
        let inside = together(&chance.curve(40, 0.0));
        assert!(inside.iter().any(|d| d.equivalent), "and equal ones are");
    }

    #[test]
    fn ranks_see_through_outliers_that_blind_the_mean() {
        let mut chance = Chance::new();
        let (mut ranks, mut means) = (0, 0);
        for _ in 0..SETS {
            let mut trial = |level: f64| {
                let out = chance.0.random_range(0.0..1.0) < 0.07;
                level + chance.normal(0.02) - if out { 0.2 } else { 0.0 }
            };
            let logs: Vec<f64> = (0..20).map(|_| trial(0.03) - trial(0.0)).collect();
            ranks += u32::from(decide(&logs, RULE).unwrap().differs);
            let mean = ratio_t(&logs, 0.95, EstimateMethod::PairedLogT).unwrap();
            means += u32::from(excludes_one(&mean));
        }
        let (ranks, means) = (per_cent(ranks), per_cent(means));
        println!("seen through outliers: {ranks:.0} % by ranks, {means:.0} % by means");
        assert!(ranks > means + 20.0, "{ranks} % and {means} %");
    }

    #[test]
    fn the_interval_excludes_one_exactly_where_a_difference_is_told() {
        let mut chance = Chance::new();
        let mut seen = [0, 0];
        for n in [2, 3, 5, 7, 8, 12, 13, 30, 60] {
            for step in 0..60 {
                let effect = 0.0005 * f64::from(step);
                let logs: Vec<f64> = (0..n).map(|_| effect + chance.normal(0.01)).collect();
                let one = decide(&logs, RULE).unwrap();
                let judged = n as usize >= JUDGED_FROM;
                assert_eq!(one.differs, judged && difference_p(&logs).unwrap() <= RULE.alpha);
                assert_eq!(one.differs, judged && excludes_one(&one.ratio));
                seen[usize::from(one.differs)] += 1;
                let curve = chance.curve(n, effect);
                let points: Vec<&Blocks> = curve.iter().map(Vec::as_slice).collect();
                let flips = by_ranks(n as usize).then(|| max_t(&points, 0.05, RULE.seed).unwrap());
                for (place, point) in together(&curve).iter().enumerate() {
                    assert_eq!(point.differs, judged && excludes_one(&point.ratio));
                    if let Some(flips) = &flips {
                        assert_eq!(point.differs, flips.adjusted[place] <= RULE.alpha);
                        assert_eq!(point.ratio.method, EstimateMethod::PairedLogMaxT);
                    } else {
                        assert_eq!(point.ratio.method, EstimateMethod::PairedLogTHolm);
                    }
                }
            }
        }
        assert!(seen[0] > 50 && seen[1] > 50, "{seen:?}");
    }

    #[test]
    fn points_that_lack_blocks_share_the_error_by_their_number() {
        let mut chance = Chance::new();
        let mut curve = chance.curve(10, 0.2);
        curve[0].truncate(7);
        curve[1].truncate(1);
        curve[2].truncate(9);
        let decided = together(&curve);
        let methods: Vec<EstimateMethod> = decided.iter().map(|d| d.ratio.method).take(4).collect();
        assert_eq!(
            methods,
            [
                EstimateMethod::PairedLogTHolm,
                EstimateMethod::Exact,
                EstimateMethod::PairedLogMaxT,
                EstimateMethod::PairedLogMaxT,
            ]
        );
        let levels = [decided[0].ratio.level, decided[2].ratio.level];
        assert!((levels[1] - (1.0 - 0.05 * 11.0 / 13.0)).abs() < 1e-12);
        assert!(levels[0] > levels[1], "{levels:?}");
        assert!(decided[0].differs && !decided[1].differs && decided[2].differs);
    }

    #[test]
    fn values_without_spread_are_decided_without_dividing_by_zero() {
        let flat = |log: f64| (1..=9).map(|b| (b, log)).collect::<Vec<(u32, f64)>>();
        let decided = together(&[flat(0.0), flat(0.25), flat(-0.1)]);
        let differs: Vec<bool> = decided.iter().map(|d| d.differs).collect();
        assert_eq!(differs, [false, true, true]);
        assert!(decided.iter().all(|d| d.ratio.low.value.is_finite()));
        assert!(decided[0].equivalent);
    }
}
