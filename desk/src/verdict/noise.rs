//! Knows what a run of the same against itself tells of noise: how often it found a difference that
//! is none, and how far equal things lie apart.

use super::analysis::Analysis;
use super::finding::{Comparison, PointResult, Verdict};
use super::together::{leaves_one_out, numbered};
use crate::record::Value;
use crate::stats::{Estimate, Summary, lag_one, share_interval};
use crate::unit::{Quantity, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many of a number of verdicts called equal things different.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Alarms {
    /// Ratios whose own interval leaves 1 out.
    pub false_ones: u32,
    /// Ratios in all.
    pub of: u32,
    /// Their share, 0-1.
    pub share: Quantity,
    /// Lower end of its exact 95 % interval (Clopper and Pearson), a share.
    pub low: Quantity,
    /// Upper end.
    pub high: Quantity,
}

/// The noise of a plan on a machine, from all its comparisons of A against A.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NoiseFloor {
    /// Of the verdicts on whole comparisons.
    pub comparisons: Alarms,
    /// Of the verdicts on points; those of one curve are judged together and hang together.
    pub points: Alarms,
    /// Points where a level had two states, which is a verdict of its own.
    pub two_states: u32,
    /// Standard deviation of ln(other / base) of one block, pooled over the points, a share.
    pub of_ratio: Quantity,
    /// The same of one trial, or of the mean of one boot where the factor needs boots: that of the
    /// ratio over the square root of 2.
    pub of_trial: Quantity,
    /// That of one trial at the noisiest point.
    pub noisiest: Quantity,
    /// The comparison that it is a point of.
    pub noisiest_at: String,
    /// Its value of the curve parameter, if there is one.
    #[serde(default)]
    pub noisiest_point: Option<Value>,
    /// Width of the interval of a point's ratio over its centre, middle one of all points, a share.
    pub width: Quantity,
    /// The widest.
    pub widest: Quantity,
    /// Correlation of a block's ln ratio with that of the next, -1 to 1; none where a point has
    /// fewer than 3 blocks. About -1/n is expected of n blocks that do not hang together.
    pub lag_one: Option<f64>,
    /// Blocks of the point that has most.
    pub blocks: u32,
}

/// A comparison, and the value of its curve parameter at a point.
type Place<'a> = (&'a str, Option<&'a Value>);

/// Noise from the comparisons of a run that are A against A. None if there is none, or no point
/// with two blocks.
#[must_use]
pub fn noise_floor(found: &Analysis) -> Option<NoiseFloor> {
    let aa: Vec<&Comparison> = found.comparisons.iter().filter(|c| c.aa).collect();
    let points: Vec<&PointResult> = aa.iter().flat_map(|c| &c.points).collect();
    let logs: Vec<(Place<'_>, Vec<f64>)> = aa
        .iter()
        .flat_map(|c| c.points.iter().map(|p| ((c.id.as_str(), p.at.as_ref()), logs(p))))
        .filter(|(_, logs)| logs.len() > 1)
        .collect();
    let spreads = logs.iter().filter_map(|(at, logs)| Some((at, Summary::of(logs)?)));
    let spreads: Vec<(&Place<'_>, Summary)> = spreads.collect();
    let squares: f64 = spreads.iter().map(|(_, s)| s.sd * s.sd * s.freedom()).sum();
    let freedom: f64 = spreads.iter().map(|(_, s)| s.freedom()).sum();
    let (noisiest_at, noisiest) = spreads.iter().max_by(|a, b| a.1.sd.total_cmp(&b.1.sd))?;
    let of_ratio = (squares / freedom).sqrt();
    let widths = widths(&points);
    let share = |value| Quantity::new(value, Unit::Share);
    let trial = |of_ratio: f64| share(of_ratio / std::f64::consts::SQRT_2);
    let series: Vec<Vec<(u32, f64)>> = points.iter().map(|p| numbered(p)).collect();
    let series: Vec<&[(u32, f64)]> = series.iter().map(Vec::as_slice).collect();
    let is_torn = |verdict: &Verdict| matches!(verdict, Verdict::TwoStates);
    Some(NoiseFloor {
        comparisons: alarms(aa.iter().map(|c| (c.verdict, &c.overall))),
        points: alarms(points.iter().map(|p| (p.verdict, &p.ratio))),
        two_states: count(points.iter().filter(|p| is_torn(&p.verdict)).count()),
        of_ratio: share(of_ratio),
        of_trial: trial(of_ratio),
        noisiest: trial(noisiest.sd),
        noisiest_at: noisiest_at.0.into(),
        noisiest_point: noisiest_at.1.cloned(),
        width: share(widths.get(widths.len() / 2).copied()?),
        widest: share(widths.last().copied()?),
        lag_one: lag_one(&series),
        blocks: spreads.iter().map(|(_, s)| s.n).max()?,
    })
}

/// ln(other / base) of every block of a point, in the order of its blocks.
fn logs(point: &PointResult) -> Vec<f64> {
    numbered(point).into_iter().map(|(_, log)| log).collect()
}

/// Widths of the intervals of two blocks and more over their centres, rising.
fn widths(points: &[&PointResult]) -> Vec<f64> {
    let ratios = points.iter().map(|p| &p.ratio).filter(|r| r.n > 1);
    let mut widths: Vec<f64> =
        ratios.map(|r| (r.high.value - r.low.value) / r.centre.value).collect();
    widths.sort_by(f64::total_cmp);
    widths
}

/// How many are certain by themselves.
fn alarms<'v>(judged: impl Iterator<Item = (Verdict, &'v Estimate)>) -> Alarms {
    let judged: Vec<(Verdict, &Estimate)> = judged.collect();
    let is_false = |(verdict, ratio): &&(Verdict, &Estimate)| leaves_one_out(*verdict, ratio);
    let (false_ones, of) = (count(judged.iter().filter(is_false).count()), count(judged.len()));
    let (low, high) = share_interval(false_ones, of, crate::stats::LEVEL);
    let share = |value| Quantity::new(value, Unit::Share);
    let part = f64::from(false_ones) / f64::from(of.max(1));
    Alarms { false_ones, of, share: share(part), low: share(low), high: share(high) }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::simulated::Simulated;
    use super::super::{Analysis, analyse};
    use super::*;

    fn aa(noise: f64, seed: u64) -> NoiseFloor {
        let run = Simulated {
            blocks: 40,
            sizes: vec![64, 1024, 16384],
            noise,
            seed,
            ..Simulated::default()
        }
        .run();
        noise_floor(&analyse(&run)).unwrap()
    }

    #[test]
    fn the_planted_noise_of_a_trial_is_found() {
        for (noise, seed) in [(0.01, 3), (0.05, 4)] {
            let found = aa(noise, seed);
            // 120 log ratios: the standard error of a standard deviation is 6.5 % of it.
            assert!((found.of_trial.value / noise - 1.0).abs() < 0.2, "{found:?}");
            assert!((found.of_ratio.value / found.of_trial.value - 2_f64.sqrt()).abs() < 1e-9);
            assert!(found.noisiest.value >= found.of_trial.value);
            assert_eq!(found.noisiest_at, "path-pro1000-offload-on-transmit");
            assert!(found.noisiest_point.is_some());
            assert!(found.widest.value >= found.width.value && found.width.value > 0.0);
            assert!(found.lag_one.unwrap().abs() < 0.35, "{found:?}");
            assert_eq!((found.comparisons.of, found.points.of, found.blocks), (1, 3, 40));
        }
    }

    #[test]
    fn equal_things_are_called_different_as_often_as_the_level_says() {
        let found: Vec<NoiseFloor> = (0..60).map(|seed| aa(0.02, 100 + seed)).collect();
        let alarms: u32 = found.iter().map(|f| f.comparisons.false_ones).sum();
        // Binomial of 60 at 5 %: more than 9 have a probability of 0.1 %.
        assert!(alarms <= 9, "{alarms} of 60");
    }

    #[test]
    fn a_difference_between_equal_names_is_an_alarm_and_other_comparisons_are_no_noise() {
        let mut run = Simulated { truth: |_| 1.2, blocks: 10, ..Simulated::default() }.run();
        let found = noise_floor(&analyse(&run)).unwrap();
        assert_eq!((found.comparisons.false_ones, found.comparisons.share.value), (1, 1.0));
        run.plan.lab.links[1]
            .settings
            .insert("tso".into(), crate::record::Value::Word("off".into()));
        assert_eq!(noise_floor(&analyse(&run)), None);
        assert_eq!(noise_floor(&Analysis::default()), None);
    }
}
